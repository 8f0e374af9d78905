# SPDX-License-Identifier: Apache-2.0
"""Read handwritten digits with plain NumPy, then ship the very same code as an ONNX model.

A nearest-neighbour classifier in five small NumPy functions. `jit_onnx` runs them through
onnxruntime and writes them as one model, which onnxruntime alone then runs. Each answer has
to equal NumPy's, else the script exits with status 1.

Run it with `python examples/digits_knn.py` (needs scikit-learn for its copy of the images).
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import onnxruntime
from sklearn.datasets import load_digits

from onnxjit import jit_onnx
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
    def predict(images):
        nearest = neighbours(distances(embed(images), points), NEIGHBOURS)
        return vote(labels[nearest])

    return predict


# The model: onnxruntime, and nothing that knows of onnxjit.


def load(path):
    """Return a function that runs the model file with onnxruntime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (feed,) = session.get_inputs()

    def run(images):
        (digits,) = session.run(None, {feed.name: images})
        return digits

    return run


# The comparison.


class Row(NamedTuple):
    """One line of the table."""

    way: str
    images: int
    milliseconds: float
    right: float
    same: bool


def best_ms(run: Callable[[], object], repeats: int = 9) -> float:
    """Shortest time of several runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def measure(way, classify, images, truth, expected):
    """Compare one way of classifying with the expected answers, and time it."""
    found = classify(images)  # also the first call, which is not timed
    same = found.dtype == expected.dtype and np.array_equal(found, expected)
    elapsed = best_ms(lambda: classify(images))
    return Row(way, len(images), elapsed, float((found == truth).mean()), same)


def main() -> int:
    """Print the table; 0 if every answer was NumPy's."""
    warnings.filterwarnings("error", category=FallbackWarning)  # all of it has to be traced
    images, labels = load_digits().images, load_digits().target
    test, truth = images[KNOWN:], labels[KNOWN:]
    predict = classifier(images[:KNOWN], labels[:KNOWN])
    in_numpy = predict.__wrapped__
    expected = in_numpy(test)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits_knn.onnx")
        predict.save(path, test[:3])
        size, nodes = path.stat().st_size, len(onnx.load(path).graph.node)
        by_model = load(path)

    rows = [
        measure("NumPy", in_numpy, test, truth, expected),
        measure("onnxjit, warm call", predict, test, truth, expected),
        *(
            measure("onnxruntime, saved model", by_model, test[:n], truth[:n], expected[:n])
            for n in (len(test), 100, 1)
        ),
    ]

    print(f"{len(images):,} images of 8 x 8 pixels, {KNOWN:,} of them known\n")
    print(f"{'':26}{'images':>8}{'time':>12}{'accuracy':>10}   same as NumPy")
    for way, count, elapsed, right, same in rows:
        verdict = "yes" if same else "NO"
        print(f"{way:26}{count:8}{elapsed:9.2f} ms{right:10.1%}   {verdict}")
    print(f"\n{path.name}: {size / 1024:,.0f} KiB, {nodes} nodes")
    return 0 if all(row.same for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
