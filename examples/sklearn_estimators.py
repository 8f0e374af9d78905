# SPDX-License-Identifier: Apache-2.0
"""Fit scikit-learn's estimators through onnxruntime, then ship them as ONNX models.

scikit-learn calls the array API namespace of whatever arrays it is given. On arrays of onnxjit
it so fits on onnxruntime, and what it calls to transform and predict can be exported as well.
Each answer has to equal NumPy's, else the script exits with status 1.

Run it with `python examples/sklearn_estimators.py` (needs scikit-learn).
"""

import os
import sys
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn wants it, before SciPy is imported

import numpy as np
import onnxruntime
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import onnxjit as oj

OPSET = 18


def data():
    """Return measurements, classes and targets."""
    random = np.random.default_rng(0)
    x = random.normal(size=(120, 6)) @ random.normal(size=(6, 6))
    target = x @ np.arange(6.0) + 0.1 * random.normal(size=120)
    return x, (target > np.median(target)).astype(np.int64), target


X, CLASSES, TARGET = data()
ESTIMATORS = [
    (StandardScaler(), (), ["transform", "inverse_transform"]),
    (PCA(3, svd_solver="full"), (), ["transform"]),
    (PCA(3, svd_solver="covariance_eigh"), (), ["transform"]),
    (LinearDiscriminantAnalysis(), (CLASSES,), ["transform", "predict", "predict_proba"]),
    (Ridge(solver="svd"), (TARGET,), ["predict"]),
]


def difference(got, want):
    """Return the largest difference relative to the largest number.

    A singular vector may point either way, and so does what is projected on it.
    """
    got = np.asarray(got)
    if got.ndim == 2:
        got = got * np.where((got * want).sum(axis=0) < 0, -1, 1)
    return float(np.max(np.abs(got - want)) / max(np.max(np.abs(want)), 1.0))


def exported(method):
    """Return what runs a method of a fitted estimator as an exported model."""

    # a function of ours is traced, scikit-learn's own code is called by it
    @oj.jit_onnx
    def call(x):
        return method(x)

    with warnings.catch_warnings(action="ignore", category=oj.AssumptionWarning):
        model = call.to_onnx(X, opset=OPSET)  # it assumes that there is a row
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return lambda x: session.run(None, {"x": x})[0]


def compare(estimator, targets, methods):
    """Print how far each method is from NumPy's, and return the largest difference."""
    reference = sklearn.clone(estimator).fit(X, *targets)
    worst = 0.0
    # whether an element is NaN cannot be asked in a graph
    with sklearn.config_context(array_api_dispatch=True, assume_finite=True):
        estimator.fit(oj.asarray(X), *map(oj.asarray, targets))
        for name in methods:
            want = getattr(reference, name)(X)
            method = getattr(estimator, name)
            eager = difference(method(oj.asarray(X)), want)
            model = difference(exported(method)(X), want)
            print(f"{type(estimator).__name__:28s} {name:18s} {eager:8.1e} {model:8.1e}")
            worst = max(worst, eager, model)
    return worst


def main():
    """Compare all estimators."""
    print(f"{'difference from NumPy':47s} {'eager':>8s} {'model':>8s}")
    worst = max(compare(*each) for each in ESTIMATORS)
    return 0 if worst < 1e-8 else 1


if __name__ == "__main__":
    sys.exit(main())
