# SPDX-License-Identifier: Apache-2.0
"""Eager elements and reductions behave as NumPy's scalars do, in Python code too."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import onnxjit
from onnxjit import Array, eager_onnx, jit_onnx
from onnxjit._trace.array import ARRAY, SCALAR
from tests.jit.harness import same

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES: Final[dict[str, Any]] = {
    "bool": np.array([True, False]), "int64": np.array([5, -3]),
    "uint8": np.array([7, 2], np.uint8), "float64": np.array([2.5, -1.25]),
    "float32": np.array([2.5, -1.25], np.float32), "complex128": np.array([1 + 2j, 3 - 1j]),
}  # fmt: skip
ATTRIBUTES: Final = (
    "real", "imag", "T", "dtype", "shape", "ndim", "size", "itemsize", "nbytes",
)  # fmt: skip
METHODS: Final = (
    "conjugate", "conj", "is_integer", "as_integer_ratio", "item", "tolist", "tobytes",
    "bit_count", "copy", "flatten", "ravel", "sum", "mean", "max", "argmax", "all", "any",
    "squeeze", "cumsum", "round", "view", "transpose", "prod", "std", "nonzero", "hex",
)  # fmt: skip
USES: Final[dict[str, Callable[[Any], Any]]] = {
    **{name: operator.attrgetter(name) for name in ATTRIBUTES},
    **{f"{name}()": operator.methodcaller(name) for name in METHODS}, "float": float,
    "int": int, "complex": complex, "bool": bool, "index": operator.index,
    "hash": lambda s: hash(s) == hash(s.item()), "abs": abs, "negative": operator.neg,
    "invert": operator.invert, "round": round, "round to": lambda s: round(s, 1),
    "divmod": lambda s: divmod(s, 2), "power": lambda s: s**2, "of two": lambda s: 2**s,
    "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "str": str,
    "text": lambda s: f"{s} {s:.2f} {s!s}",
    "percent": lambda s: operator.mod("%s %.1f", (s, s)),
    "[()]": lambda s: s[()],
    "[...]": lambda s: s[...], "[None]": lambda s: s[None], "[0]": lambda s: s[0],
    "len": len, "iter": iter, "in": lambda s: 1 in s, "set": lambda s: len({s, s}),
    "largest": lambda s: max(s, 1), "sum of": lambda s: sum([s, s]),
    "range": lambda s: list(range(s)), "list times": lambda s: [1, 2] * s,
    "times tuple": lambda s: s * (1,), "text times": lambda s: "ab" * s,
    "place": lambda s: list(range(9))[s], "pickle": lambda s: pickle.loads(pickle.dumps(s)),
    "copy of": copy.copy, "deep copy of": copy.deepcopy, "plus text": lambda s: s + "a",
    "is None": lambda s: operator.eq(s, None),
    "is not None": lambda s: operator.ne(s, None),
    "is text": lambda s: s == "a",
    "plus list": lambda s: operator.add(s, [1, 2]), "plus": lambda s: s + 1,
    "plus half": lambda s: s + 1.5, "times float32": lambda s: s * np.float32(2),
    "over 0": lambda s: s / 0, "shifted": lambda s: s << 1, "and 1": lambda s: s & 1,
    "array": np.array, "arrays": lambda s: np.array([s, s]),
    "shape of": lambda s: np.ones(s), "where": lambda s: np.where(s > 1, s, 0),
    "float64": np.float64, "astype": lambda s: s.astype("f4"),
    "reshape": lambda s: s.reshape(1), "clip": lambda s: s.clip(0, 1), "np.sum": np.sum,
    "np.copy": np.copy, "np.ravel": np.ravel, "np.real": np.real,
    "repeat": lambda s: np.repeat(s, 2), "full": lambda s: np.full(2, s),
    "stack": lambda s: np.stack([s, s]), "zeros": np.zeros_like,
    "in place": lambda s: operator.iadd(s, 1), "more": lambda s: s > 0,
    "missing": lambda s: s.nope,
}  # fmt: skip


def _shown(use: Callable[[Any], Any], x: Any) -> Any:
    """Return what a use comes to: kind, dtype, shape and text, or the exception's type."""
    try:
        with np.errstate(all="ignore"):
            made = use(x)
    except Exception as error:  # noqa: BLE001  compared with NumPy's
        return type(error)
    return _told(made)


def _told(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x), [_told(item) for item in x]
    if isinstance(x, (Array, np.generic, np.ndarray)):
        is_scalar = x._kind == SCALAR if isinstance(x, Array) else isinstance(x, np.generic)
        return is_scalar, x.dtype, x.shape, str(x)
    return type(x), x


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("name", USES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
def test_elements_are_used_as_numpys(name: str, dtype: str) -> None:
    values, use = VALUES[dtype], USES[name]
    assert _shown(use, onnxjit.asarray(values)[0]) == _shown(use, values[0])


def test_reductions_are_scalars_as_numpys_are() -> None:
    x: Any = onnxjit.asarray([[1.0, 2.0]])
    scalars: Any = (x.sum(), x[0, 1], x.mean(), np.max(x), np.dot(x[0], x[0]))
    arrays: Any = (x[0, 1, ...], np.where(x.sum() > 1, 1, 2), x.sum(0))
    assert {r._kind for r in scalars} == {SCALAR}
    assert {r._kind for r in arrays} == {ARRAY}


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
def test_functions_give_numpys_scalars() -> None:
    def f(x: Any) -> Any:
        z = x + 1j
        return x.sum(), x[0], x.max() > 1, z.sum(), z[0], x.argmax(), abs(z[0]), x[0].item()

    x = np.array([1.0, 2.0])
    same(eager_onnx(f)(x), f(x))


def test_real_arrays_are_their_own_conjugates() -> None:
    def f(x: Any) -> Any:
        y = x.conj()
        y[0] = 9
        return y, np.conj(x)

    for run in (jit_onnx(f, fallback="error"), eager_onnx(f)):
        x = np.array([1.0, 2.0])
        got = run(x)
        assert got[0] is x
        assert got[1] is not x
        assert x[0] == 9


@pytest.mark.filterwarnings("ignore::onnxjit.errors.FallbackWarning")
def test_scalars_repeat_sequences() -> None:
    def f(x: Any) -> Any:
        return [0, 1] * x[0], x[1] * (2,), "ab" * x[0], x[:1] * [3], x[0] == None  # noqa: E711

    x = np.array([2, 3])
    for run in (jit_onnx(f), eager_onnx(f)):
        same(run(x), f(x))


def test_printed_arrays_look_as_numpys(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> None:
        print(x, x.sum(), f"{x[0]}", str(x))  # noqa: T201  what is looked at

    x = np.array([1.5, 2.0])
    f(x)
    eager_onnx(f)(x)
    plain, eager = capsys.readouterr().out.splitlines()
    assert eager == plain
