# SPDX-License-Identifier: Apache-2.0
"""Read handwritten digits with plain NumPy, then ship the very same code as an ONNX model.

A nearest-neighbour classifier in five small NumPy functions. `jit_onnx` runs them through
onnxruntime and writes them as one model for each of several opsets, which onnxruntime alone
then runs. Each answer has to equal NumPy's, else the script exits with status 1.

Run it with `python examples/digits_knn.py` (needs scikit-learn for its copy of the images);
`python examples/digits_knn.py build` keeps the models in the folder `build`.
"""

import sys
import warnings

import numpy as np
from side_by_side import in_folder, show
from sklearn.datasets import load_digits

from onnxjit import float64, jit_onnx
from onnxjit.errors import FallbackWarning

NEIGHBOURS = 5
COMPONENTS = 24
KNOWN = 1347  # three quarters of the images; the rest is to be classified


# The program: NumPy, and nothing that knows of ONNX.


def standardise(x, mean, std):
    """Centre and scale each pixel; one that never varies becomes 0, an outlier is cut at 4."""
    constant = std == 0
    z = (x - mean) / np.where(constant, 1, std)
    z[:, constant] = 0
    z[z > 4] = 4
    z[z < -4] = -4
    return z


def project(x, components):
    """Coordinates along the principal components."""
    return x @ components.T


def distances(a, b):
    """Squared Euclidean distance of each row of `a` from each row of `b`."""
    return (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * (a @ b.T)


def neighbours(d, k):
    """Columns of the `k` smallest entries of each row, nearest first."""
    return np.argsort(d, axis=1, kind="stable")[:, :k]


def vote(labels):
    """Most frequent digit of each row; the smallest one wins a draw."""
    counts = (labels[:, :, None] == np.arange(10)).sum(axis=1)
    return counts.argmax(axis=1)


def fit(images, size):
    """Mean, spread and leading principal components of the images, once, in NumPy."""
    flat = images.reshape(len(images), -1)
    mean, std = flat.mean(axis=0), flat.std(axis=0)
    _, _, components = np.linalg.svd(standardise(flat, mean, std), full_matrices=False)
    return mean, std, components[:size]


def classifier(images, labels):
    """Return the jitted function that classifies further images by these."""
    mean, std, components = fit(images, COMPONENTS)

    def embed(images):
        flat = images.reshape(len(images), -1)
        return project(standardise(flat, mean, std), components)

    points = embed(images)

    @jit_onnx
    def digits_knn(images):
        nearest = neighbours(distances(embed(images), points), NEIGHBOURS)
        return vote(labels[nearest])

    return digits_knn


def run(folder):
    """Print what comes out; True if every answer was NumPy's."""
    warnings.filterwarnings("error", category=FallbackWarning)  # all of it has to be traced
    images, labels = load_digits().images, load_digits().target
    test, truth = images[KNOWN:], labels[KNOWN:]
    digits_knn = classifier(images[:KNOWN], labels[:KNOWN])
    right = (digits_knn(test) == truth).mean()
    print(f"{len(images):,} images of 8 x 8 pixels, {KNOWN:,} of them known")
    print(f"{right:.1%} of the other {len(test)} are read correctly\n")
    batches = {f"{n} images": (test[:n],) for n in (len(test), 100)} | {"1 image": (test[:1],)}
    return show(digits_knn, batches, (float64["images", 8, 8],), folder)


if __name__ == "__main__":
    sys.exit(in_folder(run, __doc__))
