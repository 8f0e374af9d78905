# SPDX-License-Identifier: Apache-2.0
"""`JitFunction.verify`: NumPy, onnxruntime and onnx's reference evaluator side by side."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._bench.report import table
from onnxjit._compat.onnxruntime import add_weights, open_session
from onnxjit._eager.leaves import native
from onnxjit._lower.large import detach, is_large
from onnxjit._lower.opsets import check_opset, supported
from onnxjit._runtime.base import Plan, Segment
from onnxjit._runtime.options import Options as SessionOptions
from onnxjit._runtime.pairs import PARTS, WHOLES, from_pairs, to_pairs
from onnxjit._runtime.reference import ReferenceExecutor
from onnxjit._runtime.reference_faults import faults_of, node_runs
from onnxjit.errors import SpecError

from .arguments import Arguments
from .compare import Check, compare
from .export import Exported, Options, assumption_texts
from .factors import compare_factors, parts_with_freedom
from .start import Start, settled
from .wanted import wanted_outputs
from .whole import compare_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx import ModelProto

    from .function import JitFunction

__all__ = ["Row", "Verification", "verify"]

Array = np.ndarray[Any, Any]

#: the reference evaluator takes some 10 to 100 us a node
NODE_RUNS: Final = 100_000
_COLUMNS: Final = ("onnxruntime", "reference")
_TARGETS: Final = {None: _COLUMNS, "onnxruntime": _COLUMNS[:1], "spec": _COLUMNS[1:]}
#: steps of a loop that ends by a condition
_SOME_STEPS: Final = 1000


class Row:
    """One result at one opset.

    Attributes
    ----------
    opset : int or None
        None for a plain call of the jitted function.
    output : str
        Name of the result.
    numpy : str
        Dtype and shape of NumPy's result.
    checks : dict of str to Check
        By ``"onnxruntime"`` and ``"reference"``.
    """

    __slots__ = ("checks", "numpy", "opset", "output")

    def __init__(
        self, opset: int | None, output: str, numpy: str, checks: Mapping[str, Check]
    ) -> None:
        self.opset: Final = opset
        self.output: Final = output
        self.numpy: Final = numpy
        self.checks: Final = dict(checks)

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return all(c.ok for c in self.checks.values())

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain data."""
        checks = {name: c.to_json() for name, c in self.checks.items()}
        return {"opset": self.opset, "output": self.output, "numpy": self.numpy, **checks}

    def __repr__(self) -> str:
        return f"Row({self.opset}, {self.output}, {self.checks})"


class Verification:
    """What `JitFunction.verify` found; ``print`` shows a table.

    Attributes
    ----------
    name : str
        The function.
    rows : list of Row
    ok : bool
        Whether every result agrees with NumPy's; ``n/a`` counts as agreement.
    assumptions : tuple of str
        What the models take for granted.
    """

    __slots__ = ("assumptions", "name", "rows")

    def __init__(self, name: str, rows: Iterable[Row], assumptions: Sequence[str]) -> None:
        self.name: Final = name
        self.rows: Final = list(rows)
        self.assumptions: Final = tuple(assumptions)

    @property
    def ok(self) -> bool:
        """Whether every row is."""
        return all(row.ok for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "function": self.name,
            "ok": self.ok,
            "assumptions": list(self.assumptions),
            "rows": [row.to_json() for row in self.rows],
        }

    def __str__(self) -> str:
        columns = [c for c in _COLUMNS if any(c in row.checks for row in self.rows)]
        header = ["opset", "output", "numpy"]
        for column in columns:
            header += [column, "max error", "max ulp", ""]
        notes: dict[str, int] = {}
        rows = [_cells(row, columns, notes) for row in self.rows]
        failed = [c for row in self.rows for c in row.checks.values() if not c.ok]
        verdict = "agrees with NumPy" if self.ok else "DIFFERS from NumPy"
        if failed and all(c.status == "error" for c in failed):
            verdict = "FAILS in part; what ran agrees with NumPy"
        parts = [f"{self.name} {verdict}"]
        if self.assumptions:
            parts.append("models assume " + " and ".join(self.assumptions))
        parts.append(table(header, rows, right="r  " + " rr " * len(columns)))
        return "\n".join([*parts, *(f"[{number}] {text}" for text, number in notes.items())])

    __repr__ = __str__


def _cells(row: Row, columns: Sequence[str], notes: dict[str, int]) -> list[str]:
    """Return the cells of a row; its texts become numbered notes."""
    cells = ["call" if row.opset is None else str(row.opset), row.output, row.numpy]
    for column in columns:
        check = row.checks.get(column)
        cells += ["", "", ""] if check is None else check.cells()
        text = "" if check is None else check.text
        cells.append(f"[{notes.setdefault(text, len(notes) + 1)}]" if text else "")
    return cells


class _Request:
    """Options of one verification, taken out of the keyword arguments."""

    __slots__ = ("columns", "kwargs", "limit", "opsets", "rtol")

    def __init__(self, given: Mapping[str, Any], default_opset: int | None) -> None:
        given = dict(given)
        opsets = given.pop("opsets", None)
        if opsets is None:
            opsets = [check_opset(default_opset)]
        elif isinstance(opsets, str):
            if opsets != "all":
                msg = f"opsets is {opsets!r}; it must be 'all', a list of opsets or None"
                raise SpecError(msg)
            opsets = supported()
        elif isinstance(opsets, int):
            opsets = [opsets]
        self.opsets: Final = [check_opset(o) for o in opsets]
        target = given.pop("target", None)
        if target not in _TARGETS:
            msg = f"target is {target!r}; it must be one of {tuple(_TARGETS)}"
            raise SpecError(msg)
        self.columns: Final = _TARGETS[target]
        self.limit: Final = given.pop("node_runs", NODE_RUNS)
        self.rtol: Final = given.pop("rtol", None)
        self.kwargs: Final = {**(given.pop("kwargs", None) or {}), **given}


class _Model:
    """What the models of a function are fed, and what they must give."""

    __slots__ = (
        "complex",
        "exported",
        "factors",
        "feeds",
        "largest",
        "limit",
        "names",
        "rtol",
        "wanted",
    )

    def __init__(
        self,
        exported: Exported,
        feeds: dict[str, Array],
        result: Any,
        wanted: Sequence[Array | None],
        request: _Request,
    ) -> None:
        self.exported: Final = exported
        self.feeds: Final = feeds
        program = exported.program
        outputs = zip(program.output_names, program.outputs, wanted, strict=True)
        compared = [(name, v, want) for name, v, want in outputs if want is not None]
        self.names: Final = [name for name, _, _ in compared]
        self.complex: Final = [v.dtype.kind == "c" for _, v, _ in compared]
        self.wanted: Final = [want for _, _, want in compared]
        self.factors: Final = list(parts_with_freedom(result))
        self.limit: Final = request.limit
        self.rtol: Final = request.rtol
        sizes = [n for a in (*feeds.values(), *self.wanted) for n in a.shape]
        self.largest: Final = max(_SOME_STEPS, *sizes) if sizes else _SOME_STEPS

    def _compared(self, got: Sequence[Array]) -> list[Check]:
        """Compare outputs; factors that are not unique as a whole."""
        whole = [
            _whole(g, w, is_complex=c)
            for g, w, c in zip(got, self.wanted, self.complex, strict=True)
        ]
        checks = [
            compare(g, w, rtol=self.rtol) for g, w in zip(whole, self.wanted, strict=True)
        ]
        places = {id(w): i for i, w in enumerate(self.wanted)}
        for parts in self.factors:
            found = [places[id(w)] for w in parts if id(w) in places]
            if len(found) == len(parts):
                check = compare_factors([whole[i] for i in found], parts, self.rtol)
                checks = [check if i in found else c for i, c in enumerate(checks)]
        return checks

    def checks(self, column: str, opset: int) -> list[Check]:
        """Return one check for each output."""
        kind = "onnxruntime" if column == "onnxruntime" else "spec"
        run = _on_onnxruntime if column == "onnxruntime" else _on_reference
        try:
            model = self.exported.model(opset, kind)
        except Exception as e:  # noqa: BLE001  shown in the table
            return [Check.failed(e)] * len(self.wanted)
        if run is _on_reference and is_large(model):
            text = "the reference evaluator takes no models above 2 GB"
            return [Check("n/a", text=text)] * len(self.wanted)
        if run is _on_reference and self.limit is not None:
            runs = node_runs(model.graph, self.largest)
            if runs > self.limit:
                text = f"about {runs} node runs; node_runs=None runs it nevertheless"
                return [Check("n/a", text=text)] * len(self.wanted)
        try:
            got = run(model, self.feeds, self.names)
        except Exception as e:  # noqa: BLE001  shown in the table
            checks = [Check.failed(e)] * len(self.wanted)
        else:
            checks = self._compared(got)
        return _excused(checks, model) if run is _on_reference else checks


def _whole(got: Array, want: Array, *, is_complex: bool) -> Array:
    """Return the array of a model's pairs of parts.

    Where the data tell NumPy that a result is real, that of a model has imaginary parts of 0.
    """
    if not is_complex or got.dtype not in WHOLES or got.shape[-1:] != (2,):
        return got
    whole = from_pairs(np.ascontiguousarray(got), WHOLES[got.dtype])
    return whole if want.dtype in PARTS or whole.imag.any() else whole.real


def _on_onnxruntime(
    model: ModelProto, feeds: Mapping[str, Array], names: Sequence[str]
) -> list[Array]:
    """Run a model as its users will: with onnxruntime's default optimisations."""
    options = SessionOptions(level="all").session_options()
    kept = add_weights(options, detach(model) if is_large(model) else {})
    session = open_session(options, model.SerializeToString(), ())
    results = [np.asarray(a) for a in session.run(list(names), dict(feeds), None)]
    del session, kept  # in this order
    return results


def _on_reference(
    model: ModelProto, feeds: Mapping[str, Array], names: Sequence[str]
) -> list[Array]:
    segment = Segment(model.SerializeToString(), tuple(feeds), tuple(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ReferenceExecutor().prepare(Plan([segment])).run(list(feeds.values()))


def _excused(checks: list[Check], model: ModelProto) -> list[Check]:
    """Blame known faults of the reference evaluator for what fails there."""
    if all(c.ok for c in checks):
        return checks
    faults = faults_of(model)
    if not faults:
        return checks
    text = "; ".join(map(str, faults))
    return [c if c.ok else Check("n/a", text=f"{text} ({c.text or c.status})") for c in checks]


def verify(
    jit: JitFunction, owner: Any, args: tuple[Any, ...], given: Mapping[str, Any]
) -> Verification:
    """Compare a jitted function with NumPy, on these arguments; see `Tools.verify`."""
    request = _Request(given, jit._opset)
    plain = jit._function(owner)
    name = getattr(jit.__wrapped__, "__qualname__", repr(jit.__wrapped__))
    start = Start(plain, args, request.kwargs)  # each run begins there
    mine = Arguments(args, request.kwargs)
    want, mine = settled(mine.run(plain), mine)
    start.restore()
    rows = []
    if "onnxruntime" in request.columns:
        rows.append(
            _call_row(jit, owner, Arguments(args, request.kwargs), (want, mine), request)
        )
        start.restore()
    options = {"mutated": "outputs", "kwargs": request.kwargs}
    fresh = Arguments(args, request.kwargs)
    try:
        exported = Exported(jit, owner, fresh.args, Options(options, jit._opset))
    except Exception as e:  # noqa: BLE001  shown in the table
        failed = dict.fromkeys(request.columns, Check.failed(e))
        rows += [Row(opset, "", "", failed) for opset in request.opsets]
        return Verification(name, rows, ())
    model = _Model(
        exported,
        _feeds(exported, fresh),
        want,
        wanted_outputs(exported.recording, want, mine.leaves),
        request,
    )
    for opset in request.opsets:
        rows += _model_rows(model, opset, request.columns)
    return Verification(name, rows, assumption_texts(exported.recording))


def _call_row(
    jit: JitFunction,
    owner: Any,
    mine: Arguments,
    wanted: tuple[Any, Arguments],
    request: _Request,
) -> Row:
    """Compare a plain call: results, their types, and the arguments after it."""
    want, after = wanted
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            got = jit._call(mine.args, dict(mine.kwargs), owner)
    except Exception as e:  # noqa: BLE001  shown in the table
        return Row(None, "all", _described(want), {"onnxruntime": Check.failed(e)})
    pairs = ((got, mine.leaves), (want, after.leaves))
    check = compare_results(*pairs, rtol=request.rtol)
    told = {str(w.message): None for w in caught}
    check = check.with_text("; ".join([*filter(None, [check.text]), *told]))
    return Row(None, "all", _described(want), {"onnxruntime": check})


def _model_rows(model: _Model, opset: int, columns: Sequence[str]) -> list[Row]:
    by_column = {column: model.checks(column, opset) for column in columns}
    return [
        Row(opset, name, _described(want), {c: by_column[c][i] for c in columns})
        for i, (name, want) in enumerate(zip(model.names, model.wanted, strict=True))
    ]


def _described(x: Any) -> str:
    if isinstance(x, (np.ndarray, np.generic)):
        return f"{x.dtype.name}[{', '.join(map(str, x.shape))}]"
    return type(x).__name__


def _feeds(exported: Exported, mine: Arguments) -> dict[str, Array]:
    names = exported.program.input_names
    arrays = [np.asarray(x) for x in mine.leaves]
    native_arrays = [a.astype(native(a.dtype), copy=False) for a in arrays]
    fed = [to_pairs(a) if a.dtype in PARTS else a for a in native_arrays]
    return dict(zip(names, fed, strict=True))
