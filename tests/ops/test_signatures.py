# SPDX-License-Identifier: Apache-2.0
"""Implementations against NumPy's signatures: names, defaults, and loud refusals."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import jit_onnx
from onnxjit._ops.row import Function
from onnxjit._ops.table import rows
from onnxjit.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Parameter = inspect.Parameter
FUNCTIONS = [row for row in rows() if isinstance(row, Function)]

#: parameters that the caller of an implementation handles
HANDLED = {"out"}
#: parameters of deprecated spellings that some NumPy versions still have
OLD = {"newshape"}


def name_of(row: Function) -> str:
    """Return the name of a row in tests."""
    return f"{row.numpy.__module__}.{row.numpy.__name__}".removeprefix("numpy.")


def signature(row: Function) -> inspect.Signature | None:
    """Return NumPy's signature, None of a function of C that has none."""
    try:
        return inspect.signature(row.numpy)
    except ValueError:
        return None


def named(found: inspect.Signature) -> dict[str, Parameter]:
    """Return the parameters that are not variadic."""
    variadic = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return {p.name: p for p in found.parameters.values() if p.kind not in variadic}


def same_default(mine: Any, numpys: Any) -> bool:
    """Whether defaults are alike; "no value" may have marks of its own."""
    if mine is numpys or type(mine) is object:
        return True
    if numpys is np._NoValue:
        return mine is None or mine is False
    return type(mine) is type(numpys) and mine == numpys


@pytest.mark.parametrize("row", FUNCTIONS, ids=name_of)
def test_parameters_are_numpys(row: Function) -> None:
    theirs = signature(row)
    if theirs is None:
        pytest.skip("NumPy gives no signature")
    mine = named(inspect.signature(row.implementation))
    numpys = named(theirs)
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in theirs.parameters.values())
    for name, parameter in mine.items():
        if name in OLD and name not in numpys:
            continue
        assert name in numpys or takes_any, f"NumPy has no parameter {name}"
        if name in numpys and not OLD & set(mine):
            default = numpys[name].default
            assert same_default(parameter.default, default), (name, parameter.default, default)
    passes_on = any(
        p.kind is Parameter.VAR_KEYWORD
        for p in inspect.signature(row.implementation).parameters.values()
    )
    left = set() if passes_on else set(numpys) - set(mine) - HANDLED - set(row.omits)
    assert not left, "neither taken nor in `omits`"


@pytest.mark.parametrize("row", FUNCTIONS, ids=name_of)
def test_omitted_parameters_exist(row: Function) -> None:
    theirs = signature(row)
    known = set() if theirs is None else set(theirs.parameters)
    assert set(row.omits) <= known
    assert not set(row.omits) & set(inspect.signature(row.implementation).parameters)


def _first_call(row: Function) -> tuple[tuple[Any, ...], dict[str, Any]]:
    assert row.samples is not None
    for sample in row.samples():
        with np.errstate(all="ignore"):
            try:
                row.numpy(*sample.args, **sample.kwargs)
            except Exception:  # noqa: BLE001  a sample of an error
                continue
        return sample.args, sample.kwargs
    raise AssertionError(row)


def _omissions() -> Iterator[Any]:
    for row in FUNCTIONS:
        for parameter in row.omits:
            yield pytest.param(row, parameter, id=f"{name_of(row)}-{parameter}")


@pytest.mark.parametrize(("row", "parameter"), list(_omissions()))
def test_omitted_parameters_are_refused_by_name(row: Function, parameter: str) -> None:
    args, kwargs = _first_call(row)

    def call(x: Any) -> Any:
        changed = x if args and args[0] is first else args[0]
        given = {**kwargs, parameter: x if parameter == "like" else _Unlike()}
        return row.numpy(changed, *args[1:], **given)

    first = args[0] if isinstance(args[0], np.ndarray) else np.ones(2)
    with pytest.raises(UnsupportedError, match=f"{parameter}="):
        jit_onnx(call, fallback="error")(first)


DEVICES = [
    row for row in FUNCTIONS if "device" in named(inspect.signature(row.implementation))
]


@pytest.mark.parametrize("row", DEVICES, ids=name_of)
def test_there_is_no_other_device(row: Function) -> None:
    args, kwargs = _first_call(row)
    traced = isinstance(args[0], np.ndarray)

    def call(x: Any) -> Any:
        return row.numpy(x if traced else args[0], *args[1:], **kwargs, device="moon")

    with pytest.raises(ValueError, match="Device not understood"):
        jit_onnx(call, fallback="error")(args[0] if traced else np.ones(2))


class _Unlike:
    """A value that is no parameter's default."""


@pytest.mark.parametrize("row", FUNCTIONS, ids=name_of)
def test_unknown_keywords_are_type_errors(row: Function) -> None:
    theirs = signature(row)
    args, kwargs = _first_call(row)
    if theirs is None or any(
        p.kind is Parameter.VAR_KEYWORD for p in theirs.parameters.values()
    ):
        return

    def call(first: Any) -> Any:
        return row.numpy(first, *args[1:], **kwargs, unheard_of=1)

    if not args:
        return
    with pytest.raises(TypeError, match="unheard_of"):
        jit_onnx(call, fallback="error")(args[0])


#: what no option takes
BAD: Any = "bad"
#: without types
numpy: Any = np
#: calls with an option that NumPy refuses
BAD_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "add-keyword": lambda x: numpy.add(x, x, unheard_of=1),
    "add-axis": lambda x: numpy.add(x, x, axis=0),
    "add-casting": lambda x: numpy.add(x, x, casting=BAD),
    "add-order": lambda x: numpy.add(x, x, order=BAD),
    "add-subok": lambda x: numpy.add(x, x, subok=BAD),
    "add-few": lambda x: numpy.add(*[x]),
    "add-many": lambda x: numpy.add(x, x, x, x),
    "reduce": lambda x: numpy.add.reduce(x, unheard_of=1),
    "accumulate": lambda x: numpy.add.accumulate(x, unheard_of=1),
    "outer": lambda x: numpy.add.outer(x, x, unheard_of=1),
    "matmul-axis": lambda x: numpy.matmul(x, x, axis=2),
    "matmul-where": lambda x: numpy.matmul(x, x, where=True),
    "sort": lambda x: numpy.sort(x, kind=BAD),
    "take": lambda x: numpy.take(x, [0], mode=BAD),
    "searchsorted": lambda x: numpy.searchsorted(x, 1.0, side=BAD),
    "quantile": lambda x: numpy.quantile(x, 0.5, method=BAD),
    "pad": lambda x: numpy.pad(x, 1, mode=BAD),
    "reshape": lambda x: numpy.reshape(x, (3, 1), order=BAD),
    "ravel": lambda x: numpy.ravel(x, order=BAD),
    "copy": lambda x: numpy.copy(x, order=BAD),
    "zeros_like": lambda x: numpy.zeros_like(x, order=BAD),
    "concatenate": lambda x: numpy.concatenate([x, x], casting=BAD),
}


@pytest.mark.parametrize("call", BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_raise_what_numpy_raises(call: Callable[[Any], Any]) -> None:
    x = np.arange(3.0)
    with pytest.raises((TypeError, ValueError)) as numpys:
        call(x)
    with pytest.raises(numpys.type):
        jit_onnx(call, fallback="error")(x)
