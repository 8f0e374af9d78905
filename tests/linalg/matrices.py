# SPDX-License-Identifier: Apache-2.0
"""Matrices on which factorisations go wrong, and how to run one model on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime as ort

from onnxjit import jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SIZES", "general", "hermitian", "model_of", "orthogonal", "unlike"]

Array = np.ndarray[Any, Any]

SIZES: Final = (1, 2, 3, 4, 5, 8, 13, 24)


def orthogonal(n: int, rng: np.random.Generator) -> Array:
    """Return an orthogonal matrix."""
    return np.asarray(np.linalg.qr(rng.normal(size=(n, n)))[0])


def hermitian(n: int) -> dict[str, Array]:
    """Return symmetric matrices of n rows by name."""
    rng = np.random.default_rng(n)
    q, i = orthogonal(n, rng), np.arange(n)
    full = rng.normal(size=(n, n))
    graded = 10.0 ** -(i * 12.0 / max(n - 1, 1))
    return {
        "random": full + full.T,
        "graded": (q * graded) @ q.T,
        "repeated": (q * np.where(i < n // 2, 2.0, -1.0)) @ q.T,
        "deficient": np.outer(full[0], full[0]),
        "hilbert": 1.0 / (i[:, None] + i + 1),
        "diagonal": np.diag(rng.permutation(n) - n / 2.0),
        "identity": np.eye(n),
        "zero": np.zeros((n, n)),
        "ones": np.ones((n, n)),
        "path": np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1),
        "large": 1e300 * (full + full.T),
        "small": 1e-300 * (full + full.T),
        "tiny": 5e-324 * np.ones((n, n)),
        "scaled": graded[:, None] * (full + full.T) * graded,
    }


def general(m: int, n: int) -> dict[str, Array]:
    """Return (m, n) matrices by name."""
    rng = np.random.default_rng(100 * m + n)
    full = rng.normal(size=(m, n))
    graded = 10.0 ** -(np.arange(n) * 12.0 / max(n - 1, 1))
    i, j = np.arange(m)[:, None], np.arange(n)
    return {
        "random": full,
        "columns": full * graded,
        "rows": full * 10.0 ** -(i * 12.0 / max(m - 1, 1)),
        "deficient": rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)),
        "hilbert": 1.0 / (i + j + 1),
        "kahan": np.triu(-0.9 * np.ones((m, n)), 1) * 0.4**i + np.eye(m, n) * 0.4**i,
        "shift": np.eye(m, n, 1),
        "identity": np.eye(m, n),
        "zero": np.zeros((m, n)),
        "ones": np.ones((m, n)),
        "empty column": full * (j > 0),
        "large": 1e300 * full,
        "small": 1e-300 * full,
    }


def unlike(vectors: Array) -> float:
    """Return how far columns are from orthonormal ones."""
    v = vectors.astype(complex)
    return float(np.abs(v.conj().T @ v - np.eye(v.shape[1])).max(initial=0))


def model_of(
    function: Callable[..., Any], example: Array, *, opset: int = 13
) -> Callable[[Array], list[Array]]:
    """Return what runs a function of one matrix as a model whose sizes are free.

    A complex matrix goes in as an array of parts, and so do complex results come out.
    """
    session = ort.InferenceSession(
        jit_onnx(function).to_onnx(example, opset=opset).SerializeToString()
    )
    name = session.get_inputs()[0].name

    def run(a: Array) -> list[Array]:
        if a.dtype.kind == "c":
            a = np.stack([a.real, a.imag], axis=-1)
        results: list[Array] = session.run(None, {name: a})
        return results

    return run
