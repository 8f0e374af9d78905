# SPDX-License-Identifier: Apache-2.0
"""Run a program in one mode and compare it with plain Python."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import signal
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime as ort

import onnxjit
from onnxjit import AssumptionWarning, eager_onnx, jit_onnx
from onnxjit._lower.opsets import supported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import onnx

    from tests.control.record import Program

__all__ = ["MODES", "TooSlowError", "attempt", "graphs", "inputs_of", "limited", "plain"]

#: relative bounds of results that are not bit-exact, by dtype
_BOUNDS: Final = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}
_MISSING: Final = "the model has no such output"


class TooSlowError(AssertionError):
    """A program took longer than it may."""


class _AlarmError(BaseException):
    """Not an Exception: code under test must not catch it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the code inside after some time; only in the main thread."""

    def stop(_number: int, _frame: Any) -> None:
        raise _AlarmError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _AlarmError:
        msg = f"still running after {seconds} s"
        raise TooSlowError(msg) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def inputs_of(program: Program, *, large: bool = False) -> Sequence[tuple[Any, ...]]:
    """Return the inputs of a program: all small ones, or the example and large ones."""
    if not large:
        return program.inputs
    assert program.large is not None
    return *program.inputs[:1], *program.large()


def attempt(program: Program, mode: str, *, large: bool = False) -> None:
    """Run a program in a mode on all its inputs; raise if anything differs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # warnings are compared nowhere: a graph knows nothing of NumPy's
        warnings.simplefilter("ignore")
        MODES[mode](program, inputs_of(program, large=large))


# --- plain Python ----------------------------------------------------------------------------


@dataclasses.dataclass
class Outcome:
    """What a call did: its result or exception, and arguments and owner afterwards."""

    result: Any
    error: Exception | None
    args: tuple[Any, ...]
    state: dict[str, Any] = dataclasses.field(default_factory=dict)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], owner: Any) -> Outcome:
    args = copy.deepcopy(args)
    result, error = None, None
    try:
        result = fn(*args)
    except Exception as e:  # noqa: BLE001  compared with Python's
        error = e
    if owner is None:
        return Outcome(result, error, args)
    # the object changes with each call, and each run of the program has its own
    result = "the object itself" if result is owner else result
    return Outcome(result, error, args, copy.deepcopy(vars(owner)))


def plain(program: Program, inputs: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """Call the function as it is; only the exceptions that the program declares may come."""
    fn, owner = program.bound()
    wanted = [_call(fn, args, owner) for args in inputs]
    for want in wanted:
        if want.error is not None and type(want.error) is not program.raises:
            raise want.error
    return wanted


# --- calls -----------------------------------------------------------------------------------


def _calls(convert: Callable[..., Any], rounds: int) -> Callable[[Program, Any], None]:
    """Return the mode that calls one converted function on all inputs, so many times."""

    def run(program: Program, inputs: Sequence[tuple[Any, ...]]) -> None:
        inputs = [*inputs] * rounds
        wanted = plain(program, inputs)
        fn, owner = program.bound()
        converted = convert(fn)
        groups: dict[str, list[Outcome]] = {}
        for args, want in zip(inputs, wanted, strict=True):
            groups.setdefault(_signature(args), []).append(want)
        checks = {key: Check(program, _joined(group)) for key, group in groups.items()}
        for number, (args, want) in enumerate(zip(inputs, wanted, strict=True)):
            got = _call(converted, args, owner)
            where = f"input {number}"
            if want.error is not None or got.error is not None:
                _same_error(got.error, want.error, where)
                continue
            check = checks[_signature(args)]
            check(got.result, want.result, f"{where}, result")
            check(list(got.args), list(want.args), f"{where}, arguments", strict=True)
            check(_settled(got.state), want.state, f"{where}, object", strict=True)

    return run


def _settled(x: Any) -> Any:
    """Replace the eager arrays that eager code leaves in objects."""
    if isinstance(x, onnxjit.Array):
        return np.asarray(x) if x.ndim else np.asarray(x)[()]
    if isinstance(x, dict):
        return {k: _settled(v) for k, v in x.items()}
    return [_settled(v) for v in x] if type(x) is list else x


def _same_error(got: Exception | None, want: Exception | None, where: str) -> None:
    if want is None:
        assert got is not None
        raise got
    assert got is not None, f"{where}: nothing raised instead of {want!r}"
    if type(got) is not type(want):
        msg = f"{where}: {type(got).__name__} instead of {want!r}: {got}"
        raise AssertionError(msg) from got
    # how an index is out of range, a kernel says in its own words
    alike = isinstance(want, IndexError) or str(got) == str(want)
    assert alike, f"{where}: {got!r} instead of {want!r}"


# --- exports ---------------------------------------------------------------------------------

#: what a Python number is in a model, which has no Python numbers
_SPECS: Final = {int: (np.int64, onnxjit.int64), float: (np.float64, onnxjit.float64)}


def _as_fed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_SPECS[type(x)][0](x) if type(x) in _SPECS else x for x in args)


def _example(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what to trace with: arrays as they are, numbers as scalar inputs."""
    return tuple(_SPECS[type(x)][1] if type(x) in _SPECS else x for x in args)


def _parts(x: Any) -> list[Any] | None:
    if isinstance(x, dict):
        return list(x.values())
    return list(x) if isinstance(x, (tuple, list)) else None


def _leaves(x: Any) -> list[Any]:
    parts = _parts(x)
    return [x] if parts is None else [leaf for part in parts for leaf in _leaves(part)]


def _is_fed(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic))


def _signature(args: tuple[Any, ...]) -> str:
    """Tell which inputs one model serves: dtypes, ranks, and values that are constants."""

    def text(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return x.dtype.str, x.ndim
        if type(x) in _SPECS:
            return type(x).__name__
        return type(x).__name__, [inner(y) for y in _parts(x) or ()] or repr(x)

    def inner(x: Any) -> Any:
        return repr(x) if type(x) in _SPECS else text(x)

    return repr([text(x) for x in args])


def _exports(opset: int) -> Callable[[Program, Any], None]:
    """Return the mode that exports by the first input of each signature and feeds all."""

    def run(program: Program, inputs: Sequence[tuple[Any, ...]]) -> None:
        plain(program, inputs)
        groups: dict[str, list[tuple[Any, ...]]] = {}
        for args in inputs:
            groups.setdefault(_signature(args), []).append(args)
        for group in groups.values():
            _export(program, group, opset)

    return run


def _exported(fn: Any, example: Any, opset: int) -> onnx.ModelProto:
    """Return a model for every size: lists over an axis need the axis to have a name."""

    def export(**options: Any) -> onnx.ModelProto:
        jit: Any = jit_onnx(fn)
        args = copy.deepcopy(example)
        made: onnx.ModelProto = jit.to_onnx(*args, opset=opset, mutated="outputs", **options)
        return made

    model = export()
    shapes = {i.name: i.type.tensor_type.shape.dim for i in model.graph.input}
    if not any(d.HasField("dim_value") for shape in shapes.values() for d in shape):
        return model
    axes = {name: {k: f"{name}_{k}" for k in range(len(s))} for name, s in shapes.items()}
    return export(dynamic=axes)


def _export(program: Program, group: list[tuple[Any, ...]], opset: int) -> None:
    fn, _owner = program.bound()
    fed = [_as_fed(args) for args in group]
    wanted = [_call(fn, args, None) for args in fed]
    for want in wanted:
        if want.error is not None and type(want.error) is not program.raises:
            raise want.error
    kept = [(a, w) for a, w in zip(fed, wanted, strict=True) if w.error is None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        model = _exported(fn, _example(group[0]), opset)
    options = ort.SessionOptions()
    options.log_severity_level = 4  # what fails is raised too
    session = ort.InferenceSession(model.SerializeToString(), options)
    names = [i.name for i in session.get_inputs()]
    outputs = [o.name for o in session.get_outputs()]
    data = {p.key: p.value for p in model.metadata_props}
    tree = json.loads(data["onnxjit.result_tree"])
    check = Check(program, _joined([w for _, w in kept]), types=False)
    for number, (args, want) in enumerate(kept):
        feeds = [np.asarray(x) for x in _leaves(args) if _is_fed(x)]
        got = dict(
            zip(
                outputs,
                session.run(outputs, dict(zip(names, feeds, strict=True))),
                strict=True,
            )
        )
        where = f"input {number} of the model"
        results = [x for name, x in got.items() if name.startswith("output_")]
        _compare_tree(check, tree, want.result, results, f"{where}, result")
        _compare_written(check, names, (args, want), got, where)


def _compare_tree(check: Check, tree: Any, want: Any, got: list[Any], where: str) -> None:
    """Compare the outputs of a model, in the order of its tree of results, with a result."""
    shown = bool(got) and _only_constants(tree)
    outputs = iter(got)

    def visit(node: Any, x: Any, path: str, at: tuple[Any, ...]) -> None:
        if isinstance(node, dict) and "stacked" in node:
            columns = [next(outputs, _MISSING) for _ in node["stacked"]]
            _compare_stacked(check, columns, x, path)
        elif isinstance(node, dict) and not {"static", "size"} & set(node):
            (inner,) = node.values()
            parts = inner.values() if isinstance(inner, dict) else inner
            given = _parts(x)
            assert given is not None, f"{path}: a container instead of {x!r}"
            assert len(given) == len(parts), f"{path}: {len(parts)} items for {len(given)}"
            for i, (part, item) in enumerate(zip(parts, given, strict=True)):
                visit(part, item, f"{path}[{i}]", (*at, i))
        elif not isinstance(node, dict) or (shown and isinstance(x, (bool, int, float))):
            check(next(outputs, _MISSING), x, path, at=at)
        elif "static" in node:
            value = node["static"]
            alike = value == x or repr(x) == value or (value != value and x != x)
            assert alike, f"{path}: always {value!r}, now {x!r}"

    visit(tree, want, where, ())
    assert next(outputs, None) is None, f"{where}: more outputs than results"


def _compare_stacked(check: Check, columns: list[Any], want: Any, where: str) -> None:
    """Compare the outputs that stand for a list of unknown length."""
    leaves = [[x] if len(columns) == 1 else _leaves(x) for x in want]
    for j, column in enumerate(columns):
        assert len(column) == len(want), f"{where}: {len(column)} elements for {len(want)}"
        if want:
            check(column, np.array([each[j] for each in leaves]), where)


def _only_constants(tree: Any) -> bool:
    """Whether no result of a model is an array, which makes plain values its outputs."""
    if not isinstance(tree, dict):
        return False
    if {"static", "size"} & set(tree):
        return True
    if "stacked" in tree:
        return False
    (inner,) = tree.values()
    return all(_only_constants(x) for x in (inner.values() if type(inner) is dict else inner))


def _compare_written(
    check: Check, names: list[str], call: Any, written: dict[str, Any], where: str
) -> None:
    args, want = call
    before = [x for x in _leaves(args) if _is_fed(x)]
    after = [x for x in _leaves(want.args) if _is_fed(x)]
    for name, x, y in zip(names, before, after, strict=True):
        if f"{name}_out" in written:
            check(written[f"{name}_out"], y, f"{where}, {name} afterwards", strict=True)
        else:
            same = np.array_equal(x, y, equal_nan=y.dtype.kind in "fc")
            assert same, f"{where}: {name} is written, which is no output"


# --- comparison ------------------------------------------------------------------------------


def _joined(wanted: list[Outcome]) -> dict[tuple[Any, ...], np.dtype[Any]]:
    """Return the common dtype of all results, by their place."""
    found: dict[tuple[Any, ...], list[Any]] = {}

    def visit(x: Any, at: tuple[Any, ...]) -> None:
        parts = _parts(x)
        for i, part in enumerate(parts or ()):
            visit(part, (*at, i))
        if isinstance(x, (np.ndarray, np.generic)):
            found.setdefault(at, []).append(x.dtype)
        elif isinstance(x, (bool, int, float)):
            found.setdefault(at, []).append(x)

    for want in wanted:
        if want.error is None:
            visit(want.result, ())
    return {at: np.result_type(*kinds) for at, kinds in found.items()}


class Check:
    """Compares results with those of plain Python.

    Parameters
    ----------
    program : Program
    joined : dict
        Common dtypes of results.
    types : bool
        Whether Python types are compared; a model has arrays only, of the common dtype.
    """

    def __init__(
        self, program: Program, joined: dict[Any, Any], *, types: bool = True
    ) -> None:
        self._program: Final = program
        self._joined: Final = joined
        self._types: Final = types

    def __call__(
        self,
        got: Any,
        want: Any,
        where: str,
        *,
        at: tuple[Any, ...] = (),
        strict: bool = False,
    ) -> None:
        """Assert that two results are alike, at every depth."""
        loose = bool(self._program.joins) and not strict
        parts = _parts(want)
        if parts is not None:
            assert type(got) is type(want), f"{where}: {_of(got)} instead of {_of(want)}"
            if isinstance(want, dict):
                assert list(got) == list(want), f"{where}: keys {list(got)}"
            given = _parts(got) or []
            assert len(given) == len(parts), f"{where}: {len(given)} items, not {len(parts)}"
            for i, (g, w) in enumerate(zip(given, parts, strict=True)):
                self(g, w, f"{where}[{i}]", at=(*at, i), strict=strict)
            return
        if self._types and not loose:
            assert type(got) is type(want), f"{where}: {_of(got)} instead of {_of(want)}"
        if not isinstance(want, (np.ndarray, np.generic, bool, int, float)):
            assert got == want, f"{where}: {got!r} instead of {want!r}"
            return
        assert not isinstance(got, str), f"{where}: {got}"
        g, w = np.asarray(got), np.asarray(want)
        common = w.dtype if strict else self._joined.get(at, w.dtype)
        allowed = {common} if not self._types else {w.dtype, *([common] if loose else ())}
        assert g.dtype in allowed, f"{where}: {g.dtype} instead of {w.dtype}"
        assert g.shape == w.shape, f"{where}: {g.shape} instead of {w.shape}"
        bound = self._program.rtol or _BOUNDS.get(w.dtype.name, 0.0)
        wide = w.astype(g.dtype)
        if bound and g.dtype.kind in "fc":
            alike = np.isclose(g, wide, rtol=bound, atol=bound, equal_nan=True)
        else:
            alike = np.equal(g, wide)
        assert np.all(alike), f"{where}: {_short(got)} instead of {_short(want)}"


def _of(x: Any) -> str:
    return f"{type(x).__name__} {_short(x)}"


def _short(x: Any) -> str:
    text = " ".join(repr(x).split())
    return text if len(text) < 90 else text[:87] + "..."


# by name at each call: the tests of this file replace them


def _jitted(fn: Callable[..., Any]) -> Callable[..., Any]:
    jitted: Callable[..., Any] = jit_onnx(fn, fallback="error")
    return jitted


def graphs(program: Program) -> tuple[int, int]:
    """Return how many graphs the calls of a program need, and how many they should need.

    One for each signature; more where a branch or a number of steps is settled by a guard.
    """
    fn, _owner = program.bound()
    jit = jit_onnx(fn, fallback="error")
    for args in program.inputs:
        _call(jit, args, None)
    return jit.cache_info()["graphs"], len({_signature(args) for args in program.inputs})


def _eagerly(fn: Callable[..., Any]) -> Callable[..., Any]:
    return eager_onnx(fn)


MODES: Final[dict[str, Callable[[Program, Any], None]]] = {
    "jit": _calls(_jitted, 2),
    "eager": _calls(_eagerly, 1),
    "opset13": _exports(13),
    "newest": _exports(supported()[-1]),
}
