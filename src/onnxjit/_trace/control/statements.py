# SPDX-License-Identifier: Apache-2.0
"""What the statements of rewritten code mean while a function is traced.

A condition or number of runs that Python knows is left to Python. What only a run of the
model knows becomes a conditional or a loop of the graph.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim, has_data
from onnxjit._core.source import caller
from onnxjit._trace.array import wrap
from onnxjit._trace.lists import Generated, List
from onnxjit._trace.raising import AlwaysRaises, is_plain
from onnxjit._trace.trace import Tracer, current_tracer, note_control
from onnxjit.errors import AliasError, UnsupportedError

from .branch import branch
from .kept import SKIPPED, Lazy, Maybe, sure
from .keys import refuse_unsure
from .loop import Names, capture
from .steps import Steps, steps_of, taken
from .truth import and_, chain, compare, decide, ifexp, not_, or_

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnxjit._core.program import Value
    from onnxjit._core.source import Source

__all__ = [
    "and_", "assert_", "chain", "comp", "compare", "for_", "if_", "ifexp", "list_", "not_",
    "or_", "while_",
]  # fmt: skip

#: equations that an unrolled loop may have before the rest of it is captured
_UNROLLED: Final = 200
#: equations after which a loop that cannot be captured is given up
_MOST: Final = 50_000
#: iterations that may run before a loop to settle types
_PEELED: Final = 2


def if_(
    test: Any,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    stores: Sequence[str],
    live: Sequence[str],
    functions: Sequence[Any] | None = None,
) -> None:
    """Run ``if test: then() else: orelse()``."""
    found = decide(test)
    if isinstance(found, bool):
        note_control("if", "static")
        (then if found else orelse)()
        return
    tracer: Any = found.block.trace
    branch(tracer, found, (then, orelse), live, stores, functions)


def assert_(test: Any, message: Callable[[], Any] | None) -> None:
    """Run ``assert test, message()``; a test of data is checked by the call."""
    found = decide(test)
    if isinstance(found, bool):
        if not found:
            raise AssertionError(*([] if message is None else [message()]))
        return
    tracer: Any = found.block.trace
    tracer.fail_if(found, holds=False)


def raised(make: Callable[[], Any]) -> Any:
    """Return the exception that the code raises.

    If its text is made of values that only a run knows, Python makes the call again and
    raises it; the same holds for any exception in a branch or loop of the graph.
    """
    tracer = current_tracer()
    if tracer is None:
        return make()
    refusal = tracer.refusal
    try:
        error = make()
        if isinstance(error, type):
            error = error()  # as a raise statement does
        if tracer.refusal is refusal and is_plain(error):
            tracer.meant = id(error)
            return error
    except Exception:
        if tracer.refusal is refusal:
            raise  # it depends on no data
    tracer.refusal = refusal
    msg = f"the function raises at {tracer.source}, with a text that only a run knows"
    return AlwaysRaises(msg)


@contextmanager
def trying() -> Iterator[None]:
    """Run the body of a ``try`` with handlers: whether they run is not for data to decide."""
    tracer = current_tracer()
    if tracer is None:
        yield
        return
    tracer.tries += 1
    tracer.has_handlers |= not tracer.sources
    try:
        yield
    finally:
        tracer.tries -= 1


def while_(
    test: Callable[[], Any],
    body: Callable[[], Any],
    stores: Sequence[str],
    live: Sequence[str],
    rebound: Sequence[str],
    mutated: Sequence[str],
) -> None:
    """Run ``while test(): body()``.

    The loop runs in Python until its test is one that only a run knows, or until it has
    become long; what remains is captured.
    """
    tracer = current_tracer()
    source = None if tracer is None else caller()
    names = Names(stores, live, rebound, mutated)
    before = 0 if tracer is None else len(tracer.block.equations)
    limit, runs = _UNROLLED, 0
    while True:
        found = _tested(tracer, test)
        if found is False:
            note_control("while", _unrolled(runs), source)
            return
        if tracer is not None:
            grown = len(tracer.block.equations) - before
            if found is not True or (grown > limit and runs):
                first = found if found is not True else None
                if _captured(tracer, lambda _: body(), test, (test, body), names, first=first):
                    return
                if found is not True:
                    _capture_while(tracer, lambda _: body(), test, (test, body), names, first)
                    return
                limit = _raised(tracer, grown)
        body()
        runs += 1


def _tested(tracer: Tracer | None, test: Callable[[], Any]) -> bool | Value:
    if tracer is None:
        return bool(test())
    with tracer.asking():
        return decide(test(), tracer)


def _captured(
    tracer: Tracer,
    body: Any,
    test: Any,
    functions: Sequence[Any],
    names: Names,
    *,
    first: Value | None = None,
) -> bool:
    """Capture a ``while`` loop that could be unrolled too, if that works."""
    refusal = tracer.refusal
    try:
        _capture_while(tracer, body, test, functions, names, first)
    except (AliasError, UnsupportedError):
        tracer.refusal = refusal
        return False
    return True


def _capture_while(
    tracer: Tracer,
    body: Any,
    test: Any,
    functions: Sequence[Any],
    names: Names,
    first: Value | None,
    peeled: int = 0,
) -> None:
    """Capture a ``while`` loop; an iteration that makes more precise types stays outside."""
    exact = peeled < _PEELED
    if capture(tracer, body, test, functions, names, trips=None, first=first, exact=exact):
        return

    def rest() -> None:
        body(None)
        found = _tested(tracer, test)
        if found is not False:
            again = None if found is True else found
            _capture_while(tracer, body, test, functions, names, again, peeled + 1)

    begin = True if first is None else wrap(first)
    if_(begin, rest, _nothing, tuple(names.stores), tuple(names.live), functions)


def _raised(tracer: Tracer, grown: int) -> int:
    if grown > _MOST:
        msg = (
            f"the loop at {tracer.source} cannot become a Loop, and unrolled it has more than "
            f"{_MOST} operations"
        )
        raise UnsupportedError(msg)
    return grown * 4


def for_(
    iterable: Any,
    body: Callable[[Any], Any],
    test: Callable[[], Any] | None,
    stores: Sequence[str],
    live: Sequence[str],
    rebound: Sequence[str],
    mutated: Sequence[str],
) -> None:
    """Run ``for e in iterable: body(e)``, as long as ``test()`` holds."""
    tracer = current_tracer()
    iterable = taken(iterable, whole=test is None)
    steps = None if tracer is None else steps_of(iterable)
    if tracer is None or steps is None:
        refuse_unsure(iterable)
        _run_through(iterable, body, test)
        return
    source = caller()
    loop = _For(tracer, steps, body, test, Names(stores, live, rebound, mutated), source)
    if isinstance(steps.length, Dim):
        loop.capture(0)
    else:
        loop.run(steps.length)


class _For:
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

    def capture(self, done: int, first: Value | None = None, peeled: int = 0) -> None:
        """Capture the iterations after the first `done`.

        Where the next one makes a more precise type of what it is given, it stays outside.
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

        def rest() -> None:
            body(at(done))
            go_on = True if self.test is None else decide(self.test(), self.tracer)
            if go_on is not False:
                self.capture(done + 1, None if go_on is True else go_on, peeled + 1)

        names = self.names
        runs = _runs(self.tracer, trips, first)
        if_(runs, rest, _nothing, tuple(names.stores), tuple(names.live), (body, self.test))

    def run(self, length: int) -> None:
        """Unroll while that is short; then capture the rest."""
        tracer = self.tracer
        before, limit = len(tracer.block.equations), _UNROLLED
        for i in self.steps.places(length):
            found = True if i == 0 or self.test is None else decide(self.test(), tracer)
            if found is False:
                note_control("for", _unrolled(i), self.source)
                return
            grown = len(tracer.block.equations) - before
            long = i > 0 and i < length - 1 and grown / i * length > limit
            if found is not True or long:
                if self._captured(i, None if found is True else found):
                    return
                if found is not True:
                    self._guarded(i, found)
                    return
                limit = max(_raised(tracer, grown), grown // i * length * 4)
                if grown // i * length > _MOST:
                    self.capture(i)  # raises what stands in the way
                    return
            self.body(self.steps.at(i))
        note_control("for", _unrolled(length), self.source)

    def _captured(self, done: int, first: Value | None) -> bool:
        refusal = self.tracer.refusal
        try:
            self.capture(done, first)
        except (AliasError, UnsupportedError):
            self.tracer.refusal = refusal
            return False
        return True

    def _guarded(self, done: int, go: Value) -> None:
        """Unroll what remains as nested conditionals."""
        length = self.steps.length
        assert isinstance(length, int)  # only such loops are unrolled
        if done >= length:
            return

        def rest() -> None:
            self.body(self.steps.at(done))
            if done + 1 >= length:
                return
            found = decide(self.test(), self.tracer)
            if found is True:
                self._guarded(done + 1, self.tracer.constant(True))
            elif found is not False:
                self._guarded(done + 1, found)

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


def _unrolled(runs: int) -> str:
    return f"unrolled {runs} time{'' if runs == 1 else 's'}"


def _nothing() -> None:
    return None


def _run_through(iterable: Any, body: Any, test: Any) -> None:
    """Run over an iterator; a test that only a run knows makes the rest conditional."""
    source = None if current_tracer() is None else caller()
    iterator, runs = iter(iterable), 0
    for element in iterator:
        body(element)
        runs += 1
        if test is None:
            continue
        found = decide(test())
        if found is False:
            break
        if found is not True:
            tracer: Any = found.block.trace
            rest = _For(tracer, steps_of(list(iterator)), body, test, Names((), (), (), ()))  # type: ignore[arg-type]
            rest._guarded(0, found)
            return
    note_control("for", _unrolled(runs), source)


def list_(items: list[Any]) -> list[Any]:
    """Return a new list; the lists of traced code can come to grow in the graph."""
    return items if current_tracer() is None else List(items)


def comp(kind: str, iterable: Any, function: Callable[[Any], list[Any]]) -> Any:
    """Return a comprehension; `function` gives the results for one element.

    Over a symbolic number of elements, a generator is a list too: all of it is evaluated.
    """
    tracer = current_tracer()
    iterable = taken(iterable, whole=True)
    steps = None if tracer is None else steps_of(iterable)
    if tracer is not None and steps is not None and isinstance(steps.length, Dim):
        found = List()
        for_(steps, _adder(found, function), None, (), (), (), ())
        if kind == "generator":
            found.__class__ = Generated
        return found if kind in ("list", "generator") else _KINDS[kind](found)
    if kind == "list" and tracer is not None:
        found = List()
        add = _adder(found, function)
        for e in iterable:
            add(e)
        return found
    if kind == "generator" and tracer is not None:
        raw = (r for e in iterable for r in function(e) if r is not SKIPPED)
        return Lazy(raw, _add)
    results = (sure(r) for e in iterable for r in function(e) if r is not SKIPPED)
    return results if kind == "generator" else _KINDS[kind](results)


_KINDS: Final[dict[str, Callable[..., Any]]] = {"list": list, "set": set, "dict": dict}


def _adder(found: List, function: Callable[[Any], list[Any]]) -> Callable[[Any], None]:
    """Return what adds the results for an element to a list."""

    def add(e: Any) -> None:
        for result in function(e):
            _add(found, result)

    return add


def _add(found: List, result: Any) -> None:
    """Add a result of a comprehension to a list, where it is not left out."""
    if isinstance(result, Maybe):
        make = result.make

        def then() -> None:
            found.append(make())

        tracer: Any = result.pred.block.trace
        branch(tracer, result.pred, (then, _nothing), functions=(then,))
    elif result is not SKIPPED:
        found.append(result)


def _listed(steps: Steps) -> List:
    found: List = comp("list", steps, lambda e: [e])
    return found


Steps.listed = staticmethod(_listed)
