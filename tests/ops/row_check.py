# SPDX-License-Identifier: Apache-2.0
"""Run the samples of rows through a trace and onnxruntime, and compare with NumPy."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from onnxjit._core.dims import evaluate, symbols_of
from onnxjit._eager.entry import Entry, Rerun
from onnxjit._eager.leaves import Leaf, flatten, leaf_names, map_tree
from onnxjit._eager.record import Recording, record
from onnxjit._eager.run import call_traced
from onnxjit._lower.opsets import supported
from onnxjit._ops.row import Function, Sample, Ufunc

__all__ = ["classes", "compare", "is_data", "numpy_result", "recorded", "run_samples"]

Array = np.ndarray[Any, Any]
Row = Function | Ufunc


def is_data(x: Any) -> bool:
    """Whether a part of a call is an argument of the traced one."""
    return isinstance(x, (np.ndarray, np.generic))


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function as code that is traced does."""
    return function(*args, **kwargs)


class Calls:
    """Samples of a row as one function of all their arrays."""

    def __init__(self, row: Row, samples: Sequence[Sample]) -> None:
        self.row = row
        self.samples = samples
        self.leaves: list[Leaf] = []
        for sample in samples:
            map_tree((sample.args, sample.kwargs), self._leaf)

    def _leaf(self, x: Any, _top: bool) -> Any:
        if is_data(x):
            flatten(x, "x", self.leaves)
        return x

    @property
    def values(self) -> list[Any]:
        return [copy.deepcopy(leaf.value) for leaf in self.leaves]

    def body(self, tracer: Any, traced: list[Any]) -> tuple[list[Any], list[Any]]:
        new = iter(traced)
        results, captures = [], []
        for sample in self.samples:
            args, kwargs = map_tree(
                (sample.args, sample.kwargs), lambda x, _: next(new) if is_data(x) else x
            )
            result, found = call_traced(tracer, _call, (self.row.numpy, args, kwargs), {})
            results.append(result)
            captures += found
        return results, captures


def recorded(row: Row, samples: Sequence[Sample]) -> tuple[Calls, Recording]:
    """Trace the calls of samples as one program."""
    calls = Calls(row, samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # NumPy warns as well
        return calls, record(calls.body, calls.leaves, leaf_names(calls.leaves))


def _operations(block: Any) -> Iterator[Any]:
    for equation in block.equations:
        yield equation.op
        for inner in equation.blocks:
            yield from _operations(inner)


def classes(recording: Recording) -> list[int]:
    """Return one opset for each set of lowering rules that a program is written with.

    The newest of the last class, which is what calls use, and the oldest of the others, which
    has most detours around missing kernels.
    """
    ops = {id(op): op for op in _operations(recording.program.block)}.values()
    oldest: dict[tuple[Any, ...], int] = {}
    for opset in supported():
        oldest.setdefault(tuple(id(op.rule(opset)) for op in ops), opset)
    return [*list(oldest.values())[:-1], supported()[-1]]


def numpy_result(row: Row, sample: Sample) -> tuple[Any, list[Any]]:
    """Return NumPy's result or exception, and the arrays given, which it may have changed."""
    args, kwargs = copy.deepcopy((sample.args, sample.kwargs))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result: Any = row.numpy(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it raises is the specification
            result = error
    changed: list[Any] = []
    map_tree((args, kwargs), lambda x, _: changed.append(x) if is_data(x) else x)
    return result, changed


# --- comparison ---------------------------------------------------------------------------


def distance(got: Array, want: Array, floor: float, *, ties: bool) -> float:
    """Return the largest error in units in the last place; inf where not comparable.

    The parts of a complex number are counted in the units of the larger one.
    """
    if want.dtype.kind == "c":
        part = np.dtype(f"f{want.itemsize // 2}")
        got, want = (np.ravel(x).view(part).reshape(-1, 2) for x in (got, want))
        sizes = np.where(np.isfinite(want), np.abs(want), 0).max(axis=1, keepdims=True)
        least = np.maximum(np.broadcast_to(sizes, want.shape), floor).astype(part)
    elif want.dtype.kind == "f":
        least = np.full(want.shape, floor, want.dtype)
    else:
        return 0.0 if np.array_equal(got, want) else np.inf
    nan = np.isnan(want)
    if not np.array_equal(nan, np.isnan(got)):
        return np.inf
    g, w, least = got[~nan], want[~nan], least[~nan]
    zero = (w == 0) & (g == 0)
    if not ties and (np.signbit(g) != np.signbit(w))[zero].any():
        return np.inf
    finite = np.isfinite(w) & np.isfinite(g)
    if (g != w)[~finite].any():
        return np.inf
    g, w, least = g[finite], w[finite], least[finite]
    with np.errstate(over="ignore"):
        unit = np.spacing(np.maximum(np.abs(w), least))
    unit[np.isinf(unit)] = np.spacing(np.nextafter(np.finfo(w.dtype).max, w.dtype.type(0)))
    far = np.abs(g.astype("f8") - w.astype("f8")) / unit.astype("f8")
    return float(far.max(initial=0.0))


def _scale(row: Row, sample: Sample, dtype: np.dtype[Any]) -> float:
    """Return the number in whose units errors are counted, at least."""
    if row.floor != "operands":
        return float(row.floor)
    largest = [0.0]

    def look(x: Any, _top: bool) -> Any:
        if is_data(x) and x.dtype.kind in "biufc":
            with np.errstate(over="ignore", invalid="ignore"):
                sizes = np.abs(np.asarray(x, "c16"))
            largest.append(float(sizes[np.isfinite(sizes)].max(initial=0.0)))
        return x

    map_tree((sample.args, sample.kwargs), look)
    return min(max(largest), float(np.finfo(dtype).max))


def _has_complex(sample: Sample) -> bool:
    return any(is_data(x) and x.dtype.kind == "c" for x in sample.args)


def compare(row: Row, sample: Sample, got: Any, want: Any, where: str = "") -> None:
    """Assert that a result is NumPy's: type, dtype, shape and values."""
    note = f"{row} {sample.id} {where}"
    assert type(got) is type(want), (note, type(got), type(want))
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), note
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            compare(row, sample, g, w, f"{where}[{i}]")
        return
    if not is_data(want):
        assert got == want, (note, got, want)
        return
    assert got.dtype == want.dtype, (note, got.dtype, want.dtype)
    assert got.shape == want.shape, (note, got.shape, want.shape)
    g, w = np.asarray(got), np.asarray(want)
    if isinstance(row, Function) and row.unordered:
        g, w = np.sort(g, axis=None), np.sort(w, axis=None)
    floor = _scale(row, sample, w.dtype) if w.dtype.kind in "fc" else 0.0
    bound = row.ulp.get(w.dtype.name, 0.0)
    if isinstance(row, Ufunc) and row.on_complex is not None and _has_complex(sample):
        bound, floor = row.on_complex
    far = distance(g, w, floor, ties=row.ties)
    assert far <= bound, (note, f"{far} ulp, {bound} stated", _first(g, w))


def _first(g: Array, w: Array) -> str:
    """Return where two arrays differ first."""
    with np.errstate(all="ignore"):
        bad = (g != w) & ~((g != g) & (w != w))
        for a, b in ((g.real, w.real), (g.imag, w.imag)):
            if b.dtype.kind == "f":
                bad |= np.signbit(a) != np.signbit(b)
    places = np.argwhere(bad)[:1]
    if not len(places):
        return ""
    at = tuple(places[0])
    return f"{g[at]!r} instead of {w[at]!r} at {at}, {int(bad.sum())} of {bad.size}"


# --- samples ------------------------------------------------------------------------------

Opsets = Callable[[Recording], Iterable[int]]


def run_samples(
    row: Row, samples: Iterable[Sample], opsets: Opsets | None = None, *, together: int = 12
) -> None:
    """Compare samples with NumPy, several samples in one graph.

    Parameters
    ----------
    opsets : callable, optional
        ``opsets(recording)`` names the opsets of a program.  By default each program runs at
        one, taking turns among its `classes`: a row has programs for many dtypes, and so every
        class comes up.
    """
    pending: list[tuple[Sample, Any, list[Any]]] = []
    for sample in samples:
        want, changed = numpy_result(row, sample)
        if isinstance(want, Exception):
            _raises(row, sample, want)
        else:
            pending.append((sample, want, changed))
    for number, start in enumerate(range(0, len(pending), together)):
        _run(row, pending[start : start + together], opsets, number)


def _raises(row: Row, sample: Sample, want: Exception) -> None:
    """Require an exception that is caught wherever NumPy's is."""
    try:
        calls, recording = recorded(row, [sample])
        try:
            Entry(recording, calls.leaves).run(calls.values)
        except Rerun as e:
            if e.__cause__ is None:
                return  # a check failed: NumPy makes the call, and raises
            raise e.__cause__ from None  # what a call lets Python raise
    except Exception as error:
        if isinstance(error, type(want)) or isinstance(want, type(error)):
            return
        msg = f"{row} {sample.id}: {error!r} instead of {want!r}"
        raise AssertionError(msg) from error
    msg = f"{row} {sample.id}: nothing raised instead of {want!r}"
    raise AssertionError(msg)


Group = Sequence[tuple[Sample, Any, list[Any]]]


def _check_shapes(row: Row, group: Group, entry: Entry, values: Sequence[Any]) -> None:
    """Require that the sizes recorded for results are those of the arrays computed."""
    arrays = [np.asarray(v) for v in values]
    program = entry.recording.program
    inputs = {v.id: a for v, a in zip(program.inputs, arrays, strict=True)}
    sizes = {}
    for symbol in entry.recording.tracer.env.symbols:
        if not symbol.data and symbol.origin is not None:
            origin: Any = symbol.origin
            source, axis = origin
            if source.id in inputs and axis is not None:
                sizes[symbol] = inputs[source.id].shape[axis]
    for value, array in zip(program.outputs, entry.compiled.results(arrays), strict=True):
        shape = value.shape
        known = [isinstance(n, int) or all(s in sizes for s in symbols_of(n)) for n in shape]
        assert len(shape) == array.ndim, (row, [s.id for s, _, _ in group])
        for n, is_known, real in zip(shape, known, array.shape, strict=True):
            if is_known:
                recorded_size = evaluate(n, sizes)
                assert recorded_size == real, (row, [s.id for s, _, _ in group], shape)


def _turn(recording: Recording, number: int) -> list[int]:
    found = classes(recording)
    return [found[-1 - number % len(found)]]


def _run(row: Row, group: Group, opsets: Opsets | None, number: int = 0) -> None:
    try:
        calls, recording = recorded(row, [sample for sample, _, _ in group])
    except Exception as error:
        if len(group) == 1:
            sample, want, _ = group[0]
            error.add_note(f"{row} {sample.id}: NumPy gives {want!r}")
            raise
        for each in group:
            _run(row, [each], opsets)
        raise
    for opset in opsets(recording) if opsets is not None else _turn(recording, number):
        given = calls.values
        try:
            entry = Entry(recording, calls.leaves, opset=opset)
            results = entry.run(given)
        except Exception as error:
            error.add_note(f"{row} {[s.id for s, _, _ in group]} at opset {opset}")
            raise
        if opset == supported()[-1] or opsets is None:
            _check_shapes(row, group, entry, calls.values)
        left = iter(given)
        for (sample, want, changed), got in zip(group, results, strict=True):
            compare(row, sample, got, want, f"opset {opset}")
            for place, after in enumerate(changed):
                before = next(left)
                if isinstance(row, Function) and row.writes:
                    compare(row, sample, before, after, f"opset {opset} argument {place}")
