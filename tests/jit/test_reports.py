# SPDX-License-Identifier: Apache-2.0
"""Programs of the kinds that people ask for, each with several inputs, against NumPy.

A call must give what NumPy gives: value, dtype, shape, exception, and what was written into
arguments.  A graph or model may be refused; where there is one, it must be right.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import eager_onnx, jit_onnx
from onnxjit.errors import AssumptionWarning, FallbackWarning, OnnxJitError
from tests.jit.harness import same
from tests.jit.report_programs import CALLS as FIRST
from tests.jit.report_programs_more import CALLS as MORE
from tests.jit.report_programs_numbers import CALLS as NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

#: older than any call
RANDOM = np.random.default_rng(1)
CALLS = FIRST | NUMBERS | MORE

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::FutureWarning")


def _outcome(fn: Callable[..., Any], args: Any) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"):
            return fn(*args), None
    except Exception as e:  # noqa: BLE001  compared with NumPy's
        return None, e


def _agrees(fn: Any, name: str, *, refuses: bool) -> None:
    plain, calls = CALLS[name]
    for number, args in enumerate(calls):
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        want, error = _outcome(plain, theirs)
        got, raised = _outcome(fn, mine)
        if refuses and isinstance(raised, OnnxJitError):
            continue
        where = f"{name}, input {number}"
        if error is not None or raised is not None:
            assert error is not None, (where, raised)
            assert isinstance(raised, type(error)), (where, raised, error)
            continue
        near(got, want, where)
        near(mine, theirs, f"{where}, arguments")


def near(got: Any, want: Any, where: str) -> None:
    """Assert that results are alike; sums in another order may differ in the last places."""
    if isinstance(want, dict):
        assert list(got) == list(want), where
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want), where
        assert len(got) == len(want), where
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            near(g, w, f"{where}[{i}]")
    elif isinstance(want, (np.ndarray, np.generic)) and want.dtype.kind in "fc":
        assert type(got) is type(want), (where, type(got), type(want))
        assert (got.dtype, got.shape) == (want.dtype, want.shape), where
        bound = 64 * float(np.finfo(want.dtype).eps)
        check: Any = np.testing.assert_allclose
        check(got, want, rtol=bound, atol=bound * 16, err_msg=where)
    elif isinstance(want, (np.ndarray, np.generic)) and want.dtype.kind in "mMU":
        # how wide text is, only its longest element says
        np.testing.assert_array_equal(got, want, err_msg=where)
    else:
        same(got, want, where)


@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_numpy_gives(name: str) -> None:
    """Whether as one graph or operation by operation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        _agrees(jit_onnx(CALLS[name][0]), name, refuses=False)


@pytest.mark.parametrize("name", CALLS)
def test_eager_calls_give_what_numpy_gives(name: str) -> None:
    """Every operation at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        _agrees(eager_onnx(CALLS[name][0]), name, refuses=False)


@pytest.mark.parametrize("name", CALLS)
def test_models_are_right_for_other_sizes_and_values(name: str) -> None:
    """A model of the first input, run on all that have its dtypes and ranks."""
    fn, calls = CALLS[name]
    arrays = [a for a in calls if all(isinstance(x, np.ndarray) for x in a)]
    if not arrays:
        pytest.skip("no call has arrays only")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = jit_onnx(fn, fallback="error").to_onnx(*copy.deepcopy(arrays[0]))
        except OnnxJitError:
            return
    is_named = any(issubclass(w.category, AssumptionWarning) for w in caught)
    session = ort.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in session.get_inputs()]
    kinds = [[(x.dtype, x.ndim) for x in a] for a in arrays]
    for args in (a for a, k in zip(arrays, kinds, strict=True) if k == kinds[0]):
        want, error = _outcome(fn, copy.deepcopy(args))
        got, raised = _outcome(
            lambda *x: session.run(None, dict(zip(names, x, strict=True))), args
        )
        leaves = list(want) if isinstance(want, (tuple, list)) else [want]
        if raised is None and any('"stacked"' in p.value for p in model.metadata_props):
            leaves = _columns(leaves, got)
        if is_named or raised is not None or any(not hasattr(x, "dtype") for x in leaves):
            continue
        assert error is None, f"{name}: no error for {error!r}"
        near([np.asarray(g) for g in got], [np.asarray(w) for w in leaves], name)


def _columns(rows: list[Any], like: list[Any]) -> list[Any]:
    """Return a list of unknown length as a model does: an array per part of an element."""
    if not rows:
        return [g[:0] for g in like]
    parts = zip(*rows, strict=True) if isinstance(rows[0], (tuple, list)) else [rows]
    return [np.array(part) for part in parts]


def test_dates_run_in_numpy_after_one_warning() -> None:
    """What is not carried is computed all the same."""
    days = np.array(["2024-02-29", "NaT"], "datetime64[D]")
    jit = jit_onnx(lambda t, k: (t + np.timedelta64(1, "D"), np.isnat(t) & (k > 1)))
    with pytest.warns(FallbackWarning, match="datetime64") as caught:
        results = [jit(days, np.array([2, 3])) for _ in range(2)]
    assert len([w for w in caught if "runs eagerly" in str(w.message)]) == 1
    after, missing = results[1]
    assert after.dtype == days.dtype
    np.testing.assert_array_equal(missing, [False, True])


def test_models_refuse_dates() -> None:
    """By name, with what to do."""
    with pytest.raises(OnnxJitError, match="datetime64"):
        jit_onnx(lambda t: t, fallback="error").to_onnx(np.zeros(2, "datetime64[s]"))


def test_deep_arithmetic_of_sizes_ends() -> None:
    """Quotients inside quotients are frozen; every call is right."""

    def steps(x: np.ndarray[Any, Any]) -> tuple[Any, int]:
        n, k = x.shape[0], 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            k += 1
        return x.sum(), k

    jit = jit_onnx(steps, fallback="error")
    for n in (27, 6, 1, 27):
        near(jit(np.ones(n)), steps(np.ones(n)), f"n = {n}")


def test_text_has_no_python_values_in_a_graph() -> None:
    """The refusal is the one of numbers, so that a call goes on eagerly."""
    words = np.array(["red", "blue"])
    with pytest.raises(OnnxJitError, match="needs the values"):
        jit_onnx(lambda x: x.tolist(), fallback="error")(words)
    with pytest.warns(FallbackWarning):
        assert jit_onnx(lambda x: x.tolist())(words) == ["red", "blue"]


@pytest.mark.parametrize("power", [0, 1, 2, 3, 2.0])
def test_powers_of_truth_values(power: Any) -> None:
    """The operator has a shortcut for squares, the ufunc has none."""
    x = np.array([True, False])
    want = x**power, np.power(x, power)
    for run in (jit_onnx, eager_onnx):
        near(run(lambda b: (b**power, np.power(b, power)))(x), want, f"power {power}")


def test_shuffled_rows_are_the_rows() -> None:
    """NumPy swaps rows of what is no ndarray, which loses some where rows are views."""

    def shuffled(x: np.ndarray[Any, Any]) -> tuple[Any, Any]:
        y = x * 2
        np.random.default_rng(3).shuffle(y)
        return y, y.sum(0)

    x = np.arange(12).reshape(6, 2)
    for fallback in ("error", "eager"):
        near(jit_onnx(shuffled, fallback=fallback)(x), shuffled(x), "shuffled")
    near(eager_onnx(shuffled)(x), shuffled(x), "shuffled eagerly")
    with pytest.raises(OnnxJitError):
        jit_onnx(lambda y: RANDOM.shuffle(y * 2), fallback="error")(x)
    near(jit_onnx(shuffled)(x[:0]), shuffled(x[:0]), "no rows")
