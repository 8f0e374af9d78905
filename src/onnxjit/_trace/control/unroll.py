# SPDX-License-Identifier: Apache-2.0
"""Loops that run in Python, as long as that is short or they cannot be loops of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim, has_data, hint_of
from onnxjit._core.guards import holds
from onnxjit._trace.array import wrap
from onnxjit._trace.trace import Tracer, note_control
from onnxjit.errors import AliasError, DataDependentError, OnnxJitError, UnsupportedError

from .branch import branch
from .loop import Names, capture
from .truth import and_, compare, decide

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnxjit._core.program import Value
    from onnxjit._core.source import Source

    from .steps import Steps

__all__ = ["For", "While", "unrolled"]

#: equations that an unrolled loop may have before the rest of it is captured
_UNROLLED: Final = 200
#: equations after which a loop that cannot be captured is given up
_MOST: Final = 50_000
#: iterations that a loop over a size may have if a call has to unroll it for this size
_FROZEN: Final = 200
#: equations that it may have then
_MOST_FROZEN: Final = 4_000
#: iterations that may run before a loop to settle types
_PEELED: Final = 2
#: what stands in the way of a Loop only: unrolled, ``tables[i]`` of a list is one element
_REFUSALS: Final = (AliasError, DataDependentError, UnsupportedError)


def unrolled(runs: int) -> str:
    """Return what has become of a loop that Python has run."""
    return f"unrolled {runs} time{'' if runs == 1 else 's'}"


def _refused(tracer: Tracer, capture: Callable[..., None], *args: Any) -> OnnxJitError | None:
    """Capture a loop that could be unrolled too; return what stands in the way."""
    refusal = tracer.refusal
    try:
        capture(*args)
    except _REFUSALS as error:
        tracer.refusal = refusal
        return error
    return None


def _with_way_out(refusal: OnnxJitError, length: Dim) -> OnnxJitError:
    """Return a refusal that says how a loop over a size without an example can be unrolled."""
    said = "with a fixed size" in refusal.args[0]
    if said or hint_of(length) is not None or has_data(length):
        return refusal
    msg = f"{refusal.args[0]}; or export with a fixed size for {length}, to unroll the loop"
    return type(refusal)(msg).with_traceback(refusal.__traceback__)


def _raised(tracer: Tracer, grown: int) -> int:
    if grown > _MOST:
        msg = (
            f"the loop at {tracer.source} cannot become a Loop, and unrolled it has more than "
            f"{_MOST} operations"
        )
        raise UnsupportedError(msg)
    return grown * 4


class While:
    """A loop with a test."""

    def __init__(
        self,
        tracer: Tracer,
        test: Callable[[], Any],
        body: Callable[[], Any],
        names: Names,
        source: Source | None,
    ) -> None:
        self.tracer: Final = tracer
        self.source: Final = source
        self.test: Final = test
        self.body: Final = body
        self.names: Final = names
        self.ran = 0  # iterations that have run in Python, not in a branch of the graph

    def run(self) -> None:
        """Run in Python while that is short; then capture the rest."""
        tracer = self.tracer
        before, limit = len(tracer.block.equations), _UNROLLED
        while (found := self._tested()) is not False:
            grown, ran = len(tracer.block.equations) - before, self.ran
            if found is not True or (grown > limit and ran):
                refusal = _refused(tracer, self._capture, None if found is True else found)
                if refusal is None:
                    return
                if found is not True:
                    self._unroll(found, refusal)
                    return
                limit = _raised(tracer, grown)
                if self.ran > ran:
                    continue
            self.body()
            self.ran += 1
        note_control("while", unrolled(self.ran), self.source)

    def _tested(self) -> bool | Value:
        with self.tracer.asking():
            return decide(self.test(), self.tracer)

    def _capture(self, first: Value | None, peeled: int = 0, *, inside: bool = False) -> None:
        """Capture what remains; an iteration that makes more precise types stays outside.

        `inside` of a branch, it is undone where the others cannot be captured.
        """
        names, functions = self.names, (self.test, self.body)
        undone = inside or first is not None

        def once(_: Any) -> None:
            self.body()

        if capture(
            self.tracer, once, self.test, functions, names,
            trips=None, first=first, exact=peeled < _PEELED,
        ):  # fmt: skip
            return

        def rest() -> None:
            self.body()
            self.ran += not undone
            found = self._tested()
            if found is not False:
                again = None if found is True else found
                self._capture(again, peeled + 1, inside=undone)

        if first is None:
            rest()
        else:
            stores, live = tuple(names.stores), tuple(names.live)
            branch(self.tracer, first, (rest, _nothing), live, stores, functions)

    def _unroll(self, test: Value, refusal: OnnxJitError) -> None:
        """Go on in Python with the sizes frozen that the test is made of.

        Raises
        ------
        Exception
            `refusal`, where a test is not of sizes, or there would be too many operations.
        """
        tracer = self.tracer
        most = len(tracer.block.equations) + _most_frozen(tracer)
        found: bool | Value = test
        while found is not False:
            found = found if found is True else self._frozen(found, refusal)
            if found:
                if len(tracer.block.equations) > most:
                    raise refusal
                self.body()
                self.ran += 1
                found = self._tested()
        note_control("while", unrolled(self.ran), self.source)

    def _frozen(self, test: Value, refusal: OnnxJitError) -> bool:
        condition = self.tracer.conditions.get(test.id)
        if condition is None:
            raise refusal
        kind, poly = condition
        if poly.hint is None or poly.data:
            raise refusal
        size = self.tracer.env.dim(poly)
        if isinstance(size, Dim):
            size = size.env.freeze(size, "the test of a loop")
        return holds(kind, size)


def _most_frozen(tracer: Tracer) -> int:
    return _MOST_FROZEN if tracer.env.policy == "guard" else _MOST


def _nothing() -> None:
    return None


class For:
    """A loop over elements by place."""

    def __init__(
        self,
        tracer: Tracer,
        steps: Steps,
        body: Any,
        test: Any,
        names: Names,
        source: Source | None = None,
    ) -> None:
        self.tracer: Final = tracer
        self.source: Final = source
        self.steps: Final = steps
        self.body: Final = body
        self.test: Final = test
        self.names: Final = names
        self.ran = 0  # iterations that have run in Python, not in a branch of the graph

    def capture(
        self, done: int, first: Value | None = None, peeled: int = 0, *, inside: bool = False
    ) -> None:
        """Capture the iterations after the first `done`.

        Where the next one makes a more precise type of what it is given, it stays outside.
        `inside` of a branch, it is undone where the others cannot be captured.
        """
        at, body = self.steps.at, self.body
        trips = self.steps.length - done

        def run(i: Any) -> None:
            body(at(i + done))

        if capture(
            self.tracer, run, self.test, (body, self.test), self.names,
            trips=trips, first=first, exact=peeled < _PEELED,
        ):  # fmt: skip
            return

        names = self.names
        runs = decide(_runs(self.tracer, trips, first))

        def rest() -> None:
            body(at(done))
            undone = inside or runs is not True
            if not undone:
                self.ran = done + 1
            go_on = True if self.test is None else decide(self.test(), self.tracer)
            if go_on is not False:
                again = None if go_on is True else go_on
                self.capture(done + 1, again, peeled + 1, inside=undone)

        if runs is True:
            rest()
        elif runs is not False:
            stores, live = tuple(names.stores), tuple(names.live)
            branch(self.tracer, runs, (rest, _nothing), live, stores, (body, self.test))

    def capture_or_freeze(self, length: Dim) -> None:
        """Capture a loop over a size; what cannot be a Loop holds for this size only."""
        refusal = _refused(self.tracer, self.capture, 0)
        if refusal is None:
            return
        if not self._may_freeze(length):
            raise _with_way_out(refusal, length)
        self._unroll(length.env.freeze(length, "the number of iterations"), refusal)

    def _may_freeze(self, length: Dim) -> bool:
        """Whether a size has an example, and one that is not too large to unroll."""
        hint = hint_of(length)
        if hint is None or has_data(length):
            return False
        return hint <= _FROZEN or length.env.policy != "guard"

    def _unroll(self, length: int, refusal: OnnxJitError) -> None:
        """Unroll all iterations; raise `refusal` where that would be too long."""
        tracer = self.tracer
        most = _most_frozen(tracer)
        before, start = len(tracer.block.equations), self.ran
        for i in range(start, length):
            found = self._goes_on(i)
            if found is False:
                length = i
                break
            if found is not True:
                self.guarded(i, found, length)
                return
            self.body(self.steps.at(i))
            grown = len(tracer.block.equations) - before
            if grown // (i + 1 - start) * length > most:
                raise refusal
        note_control("for", unrolled(length), self.source)

    def _goes_on(self, i: int) -> bool | Value:
        """Return whether iteration `i` runs."""
        return True if i == 0 or self.test is None else decide(self.test(), self.tracer)

    def run(self, length: int) -> None:
        """Unroll while that is short; then capture the rest."""
        tracer = self.tracer
        before, limit = len(tracer.block.equations), _UNROLLED
        for i in self.steps.places(length):
            if i < self.ran:
                continue
            found = self._goes_on(i)
            if found is False:
                note_control("for", unrolled(i), self.source)
                return
            grown = len(tracer.block.equations) - before
            long = i > 0 and i < length - 1 and grown / i * length > limit
            if found is not True or long:
                first = None if found is True else found
                refusal = _refused(tracer, self.capture, i, first)
                if refusal is None:
                    return
                if found is not True:
                    self.guarded(i, found, length)
                    return
                limit = max(_raised(tracer, grown), grown // i * length * 4)
                if grown // i * length > _MOST:
                    raise refusal
            if i >= self.ran:
                self.body(self.steps.at(i))
        note_control("for", unrolled(length), self.source)

    def guarded(self, done: int, go: Value, length: int) -> None:
        """Unroll what remains as nested conditionals."""
        if done >= length:
            return

        def rest() -> None:
            self.body(self.steps.at(done))
            if done + 1 >= length:
                return
            found = decide(self.test(), self.tracer)
            if found is True:
                self.guarded(done + 1, self.tracer.constant(True), length)
            elif found is not False:
                self.guarded(done + 1, found, length)

        functions = (self.body, self.test)
        branch(self.tracer, go, (rest, _nothing), functions=functions)


def _runs(tracer: Tracer, trips: Any, first: Value | None) -> Any:
    """Return whether an iteration runs.

    A size is asked in exports too: without iterations the results have another dtype.
    """
    begin = True if first is None else wrap(first)
    if has_data(trips):
        return and_(begin, lambda: compare(">", trips, 0))
    symbolic, tracer.symbolic = tracer.symbolic, False
    try:
        return begin if trips > 0 else False
    finally:
        tracer.symbolic = symbolic
