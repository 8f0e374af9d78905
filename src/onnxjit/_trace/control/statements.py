# SPDX-License-Identifier: Apache-2.0
"""What the statements of rewritten code mean while a function is traced.

A condition or number of runs that Python knows is left to Python. What only a run of the
model knows becomes a conditional or a loop of the graph.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.dims import Dim
from onnxjit._core.source import caller
from onnxjit._trace.lists import Generated, List
from onnxjit._trace.moved import check_moved
from onnxjit._trace.raising import AlwaysRaises, is_plain
from onnxjit._trace.trace import current_tracer, note_control

from .branch import branch
from .kept import SKIPPED, Lazy, Maybe, sure
from .keys import refuse_unsure
from .loop import Names
from .steps import Steps, steps_of, taken
from .truth import and_, chain, compare, decide, ifexp, not_, or_
from .unroll import For, While, unrolled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


__all__ = [
    "and_", "assert_", "chain", "comp", "compare", "for_", "if_", "ifexp", "list_", "not_",
    "or_", "while_",
]  # fmt: skip


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
def trying(types: Callable[[], Any] | None = None) -> Iterator[None]:
    """Run the body of a ``try`` with handlers: whether they run is not for data to decide.

    Parameters
    ----------
    types : callable, optional
        Gives the types of exceptions that they handle; all by default.
    """
    tracer = current_tracer()
    if tracer is None:
        yield
        return
    tracer.tries += 1
    tracer.handlers.append(types)
    tracer.has_handlers |= not tracer.sources
    try:
        yield
    finally:
        tracer.tries -= 1
        tracer.handlers.pop()


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
    if tracer is None:
        while test():
            body()
        return
    names = Names(stores, live, rebound, mutated)
    While(tracer, test, body, names, caller()).run()


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
    loop = For(tracer, steps, body, test, Names(stores, live, rebound, mutated), source)
    if isinstance(steps.length, Dim):
        loop.capture_or_freeze(steps.length)
    else:
        loop.run(steps.length)


def _run_through(iterable: Any, body: Any, test: Any) -> None:
    """Run over an iterator; a test that only a run knows makes the rest conditional."""
    source = None if current_tracer() is None else caller()
    check_moved(iterable)
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
            left = list(iterator)
            rest = For(tracer, steps_of(left), body, test, Names((), (), (), ()))  # type: ignore[arg-type]
            rest.guarded(0, found, len(left))
            return
    note_control("for", unrolled(runs), source)


def _nothing() -> None:
    return None


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
    check_moved(iterable)
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
