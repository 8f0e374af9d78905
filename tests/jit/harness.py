# SPDX-License-Identifier: Apache-2.0
"""Call a function plainly and jitted on copies of the same arguments, and compare."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort

from onnxjit import jit_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["agrees", "run_model", "same", "same_error"]

#: relative bounds of results that are not bit-exact, by dtype
_BOUNDS = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13}


def same(got: Any, want: Any, where: str = "result") -> None:
    """Assert that two results are alike: types, dtypes, shapes and values, at every depth."""
    assert type(got) is type(want), f"{where}: {type(got)} instead of {type(want)}"
    if isinstance(want, (np.ndarray, np.generic)):
        assert got.dtype == want.dtype, f"{where}: {got.dtype} instead of {want.dtype}"
        assert got.shape == want.shape, f"{where}: {got.shape} instead of {want.shape}"
        if want.dtype.kind in "UO":
            np.testing.assert_array_equal(got, want, err_msg=where)
            return
        bound = _BOUNDS.get(want.dtype.name, 0.0)
        close: Any = np.testing.assert_allclose
        close(got, want, rtol=bound, atol=bound, err_msg=where)
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want), f"{where}: {len(got)} items instead of {len(want)}"
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{where}[{i}]")
    elif isinstance(want, dict):
        assert list(got) == list(want), f"{where}: keys {list(got)} instead of {list(want)}"
        for key in want:
            same(got[key], want[key], f"{where}[{key!r}]")
    elif dataclasses.is_dataclass(want):
        for field in dataclasses.fields(want):
            name = field.name
            same(getattr(got, name), getattr(want, name), f"{where}.{name}")
    elif isinstance(want, float):
        np.testing.assert_allclose(got, want, rtol=1e-13, err_msg=where)
    else:
        assert got == want, f"{where}: {got!r} instead of {want!r}"


def copied(args: Any) -> Any:
    """Copy arguments deeply; modules among them stay."""
    return copy.deepcopy(args, {id(np): np})


def agrees(
    fn: Callable[..., Any],
    *calls: tuple[Any, ...],
    graphs: int | None = None,
    eager: int = 0,
    fallback: str = "error",
) -> Any:
    """Assert that a jitted function does what the plain one does; return the jitted one.

    Each call is made twice, so that a warm call is looked at too, and arguments are compared
    after it.  `graphs` is how many graphs there must be at the end.
    """
    jit = jit_onnx(fn, fallback=fallback)
    for args in calls:
        for _ in range(2):
            plain, jitted = copied(args), copied(args)
            want = fn(*plain)
            same(jit(*jitted), want)
            same(jitted, plain, "arguments")
    if graphs is not None:
        assert jit.cache_info() == {"graphs": graphs, "eager": eager}
    return jit


def same_error(fn: Callable[..., Any], *args: Any) -> BaseException:
    """Assert that a jitted function raises what the plain one raises; return the exception."""
    try:
        fn(*copied(args))
    except Exception as e:  # noqa: BLE001  whatever NumPy raises is right
        want = e
    else:
        raise AssertionError("NumPy raises nothing")  # noqa: EM101, TRY003  said once
    try:
        got = jit_onnx(fn, fallback="error")(*copied(args))
    except Exception as e:  # noqa: BLE001  compared next
        assert type(e) is type(want), f"{type(e)}: {e} instead of {type(want)}: {want}"  # noqa: PT017
        return e
    msg = f"{got!r} instead of {type(want)}: {want}"
    raise AssertionError(msg)


def run_model(model: Any, *feeds: Any) -> list[Any]:
    """Run a model in plain onnxruntime: feeds in the order of its inputs."""
    session = ort.InferenceSession(model.SerializeToString())
    names = [i.name for i in session.get_inputs()]
    assert len(names) == len(feeds)
    results: list[Any] = session.run(None, dict(zip(names, feeds, strict=True)))
    return results
