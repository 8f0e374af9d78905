# SPDX-License-Identifier: Apache-2.0
"""Program -> passes -> model -> session."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from onnxjit._compat.onnxruntime import ERRORS, LOAD_ERRORS
from onnxjit._lower.large import detach, is_large
from onnxjit._lower.model import lower_results
from onnxjit._lower.opsets import check_opset
from onnxjit._runtime.base import Array, Plan, Segment
from onnxjit._runtime.options import WIDE, Options
from onnxjit._runtime.ort import OrtExecutor, OrtRunner
from onnxjit._runtime.pairs import PARTS, from_pairs, to_pairs
from onnxjit._transform.pipeline import simplify

from .errors import explain_run_error, load_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxjit._core.program import Equation, Program, Value
    from onnxjit._lower.kernels import Target

__all__ = ["Compiled", "compile_program"]


class Compiled:
    """A program ready to run.

    Attributes
    ----------
    inputs : tuple of int
        Positions of the program's inputs that are fed; the others have no effect on results.
    input_names, output_names : tuple of str
        The session's names, in the order of `inputs` and of the computed results.
    outputs : tuple
        For each result of the program ``("computed", k)``, ``("input", i)`` or
        ``("constant", array)``: element k of `run`'s list, input i itself, a known array.
    dtypes : tuple of numpy.dtype
        Of the computed results; complex ones are computed as pairs of parts.
    runner : OrtRunner or None
        None when no result has to be computed.
    equations : list of Equation
        Equations by the number in the names of nodes.
    nodes : int
        Number of nodes of the model's outermost graph.
    narrow : bool
        Whether `runner` has no threads of its own, because no work that was worth them has
        been seen.  `run` gives large arrays to a session that has them.
    wide : OrtRunner or None
        The session that has threads, once there was work for it.
    """

    __slots__ = (
        "_model",
        "_weights",
        "dtypes",
        "equations",
        "input_names",
        "inputs",
        "narrow",
        "nodes",
        "output_names",
        "outputs",
        "runner",
        "wide",
    )  # fmt: skip

    def __init__(
        self, program: Program, opset: int, target: Target, options: Options | None
    ) -> None:
        computed, self.outputs = _sources(program)
        self.dtypes: Final = tuple(v.dtype.numpy for v in computed)
        self.inputs: tuple[int, ...] = ()
        self.input_names: tuple[str, ...] = ()
        self.output_names: tuple[str, ...] = ()
        self.equations: list[Equation] = []
        self.nodes = 0
        self._model: Any = None
        self.runner: OrtRunner | None = None
        self.wide: OrtRunner | None = None
        self.narrow = options is None
        if computed:
            lowered = lower_results(program, computed, opset=opset, target=target)
            self.inputs = lowered.inputs
            self.input_names = tuple(program.input_names[i] for i in lowered.inputs)
            self.output_names = lowered.outputs
            self.equations = lowered.equations
            self.nodes = len(lowered.model.graph.node)
            self._model = lowered.model
            self._weights = detach(lowered.model) if is_large(lowered.model) else {}
            self.runner = self._open(options or _NARROW)

    def _open(self, options: Options) -> OrtRunner:
        segment = Segment(
            self.model, self.input_names, self.output_names, weights=self._weights
        )
        try:
            return OrtExecutor(options).prepare(Plan([segment]))
        except LOAD_ERRORS as error:
            raise load_error(error, segment.model, self.equations) from error

    @property
    def constant_outputs(self) -> dict[int, Array]:
        """Results that are constants, by position."""
        return {i: o[1] for i, o in enumerate(self.outputs) if o[0] == "constant"}

    @property
    def model(self) -> bytes:
        """The session's model, serialised, without weights above 2 GB; empty without one."""
        return self._model.SerializeToString() if self._model is not None else b""

    def run(self, feeds: Sequence[Array]) -> list[Array]:
        """Compute the computed results from the inputs named by `inputs`.

        Raises
        ------
        Exception
            What NumPy would raise, for a failing operation that knows; onnxruntime's own
            exception otherwise.  Either has a note with the user's line.
        """
        if self.runner is None:
            return []
        try:
            return (
                self._run_narrow(self.runner, feeds) if self.narrow else self.runner.run(feeds)
            )
        except ERRORS as error:
            raise explain_run_error(error, self.equations) from error

    def runner_for(self, feeds: Sequence[Array]) -> OrtRunner | None:
        """Return the session that runs arrays of these sizes."""
        if self.narrow and self.runner is not None and any(f.size >= WIDE for f in feeds):
            return self._with_threads()
        return self.runner

    def _run_narrow(self, runner: OrtRunner, feeds: Sequence[Array]) -> list[Array]:
        """Run without threads, unless arrays are large; long work gets them next time."""
        if any(feed.size >= WIDE for feed in feeds):
            return self._with_threads().run(feeds)
        started = perf_counter()
        done = runner.run(feeds)
        if perf_counter() - started > LONG:
            self.runner, self.narrow = self._with_threads(), False
        return done

    def _with_threads(self) -> OrtRunner:
        if self.wide is None:
            self.wide = self._open(_WIDE)
        return self.wide

    def results(self, arrays: Sequence[Array]) -> list[Array]:
        """Return every result for arrays of all inputs; inputs are returned themselves."""
        fed = [arrays[i] for i in self.inputs]
        made = self.run([to_pairs(a) if a.dtype in PARTS else a for a in fed])
        done = [
            from_pairs(a, dtype) if dtype in PARTS else a
            for a, dtype in zip(made, self.dtypes, strict=True)
        ]
        from_ = {"computed": done, "input": arrays}
        return [a if kind == "constant" else from_[kind][a] for kind, a in self.outputs]

    def close(self) -> None:
        """Close the sessions."""
        for runner in (self.runner, self.wide):
            if runner is not None:
                runner.close()


Output = tuple[str, Any]


def _sources(program: Program) -> tuple[list[Value], tuple[Output, ...]]:
    """Tell results that must be computed from those that need not be."""
    inputs = {v.id: i for i, v in enumerate(program.inputs)}
    computed: dict[int, Value] = {}
    outputs: list[Output] = []
    for value in program.outputs:
        if value.known is not None:
            outputs.append(("constant", value.known))
        elif value.id in inputs:
            outputs.append(("input", inputs[value.id]))
        else:
            computed.setdefault(value.id, value)
            outputs.append(("computed", list(computed).index(value.id)))
    return list(computed.values()), tuple(outputs)


#: seconds of a run from which threads pay
LONG: Final = 2e-3
_NARROW: Final = Options(threads=1)
_WIDE: Final = Options()


def compile_program(
    program: Program,
    *,
    opset: int | None = None,
    target: Target = "onnxruntime",
    options: Options | None = None,
) -> Compiled:
    """Return a program ready to run on onnxruntime.

    Raises
    ------
    OpsetError, LoweringError
        The opset or a dtype cannot express an operation.
    InternalError
        onnxruntime refuses the model.
    """
    return Compiled(simplify(program), check_opset(opset), target, options)
