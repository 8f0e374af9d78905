# SPDX-License-Identifier: Apache-2.0
"""What a name holds that depends on data in a way no array holds."""

from __future__ import annotations

import operator
from collections import deque
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from onnxjit._trace.lists import List, rows_of
from onnxjit.errors import DataDependentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onnxjit._trace.array import Array

__all__ = ["MUTABLE", "Either", "Open", "Unsure", "inner_first", "open_part", "replaced"]

_LISTS: Final = (list, tuple, List)
#: what holds nothing that data chooses
_CLOSED: Final = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})
#: containers of which two are never one, whatever they hold
MUTABLE: Final = (list, dict, set, deque)


class Open:
    """Base of objects that are not yet one of several: nothing can be done with them."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> NoReturn:
        raise DataDependentError(self._reason())

    def _reason(self) -> str:
        raise NotImplementedError

    def parts(self) -> list[Any]:
        """Return what it may be."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    __bool__ = __iter__ = __len__ = __getitem__ = __call__ = __index__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __float__ = __int__ = _refuse
    __array__ = __str__ = _refuse
    # a TypeError by Python would be taken for one that the user's code raises
    __setitem__ = __delitem__ = __next__ = __reversed__ = __enter__ = __exit__ = _refuse
    __divmod__ = __rdivmod__ = __round__ = __complex__ = __format__ = __bytes__ = _refuse
    __neg__ = __pos__ = __abs__ = __invert__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse
    __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = _refuse
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse

    def __eq__(self, other: object) -> NoReturn:
        self._refuse()

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        self._refuse()


class Either(Open):
    """One of two objects that no array holds: text, None, other structures.

    It can be returned and chosen from again.  What else is done to it, is done to each of the
    two in a branch of its own; one that raises there is not what the run has to choose.

    Attributes
    ----------
    pred : Array, () bool
        Chooses the first.
    first, second : object
    source : Source or None
        Where it was chosen.
    """

    __slots__ = ("first", "pred", "second", "source")

    #: ``choose(pred, first, second, functions)``, set where branches are made
    choose: ClassVar[Callable[..., Any]]
    #: ``ordered(x)`` gives each kind of things one place in a chain, set there
    ordered: ClassVar[Callable[[Any], Any]]

    def __init__(self, pred: Array, first: Any, second: Any, source: Any) -> None:
        self.pred: Final = pred
        self.first: Final = first
        self.second: Final = second
        self.source: Final = source

    def __repr__(self) -> str:
        return f"{self.first!r:.30} or {self.second!r:.30}"

    def _reason(self) -> str:
        return (
            f"data chooses at {self.source} between {self.first!r:.60} and "
            f"{self.second!r:.60}, which only a run knows: return it as it is, or give both "
            "one structure and number of dimensions"
        )

    def parts(self) -> list[Any]:
        """Return both objects."""
        return [self.first, self.second]

    def choices(self) -> list[Either]:
        """Return this choice and those that it chooses from, the innermost first."""
        return inner_first(
            self, lambda x: [p for p in (x.first, x.second) if isinstance(p, Either)]
        )

    def apply(self, f: Callable[[Any], Any]) -> Any:
        """Return what a function gives for the one that is chosen."""
        first, second = self.first, self.second
        there = (lambda: (first, second), *_reaching(f))  # what is in them is no copy
        return Either.choose(self.pred, lambda: f(first), lambda: f(second), there)

    def change(self, f: Callable[[Any], Any]) -> None:
        """Let a function change the one that is chosen."""
        first, second = self.first, self.second

        def yes() -> None:
            f(first)

        def no() -> None:
            f(second)

        Either.choose(self.pred, yes, no, (yes, no))

    def __iter__(self) -> Any:
        found = self.apply(_iterable)
        if isinstance(found, Either):
            self._refuse()
        return iter(found)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.apply(
            lambda x: getattr(ufunc, method)(
                *replaced(inputs, self, x), **replaced(kwargs, self, x)
            )
        )

    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self.apply(
            lambda x: func(*replaced(args, self, x), **replaced(kwargs, self, x))
        )


def _reaching(f: Callable[[Any], Any]) -> tuple[Callable[..., Any], ...]:
    """Return a function that holds what another one does: a load may store, by a property.

    Its own variables stay as they are in the branches.
    """
    if not isinstance(f, FunctionType):
        return ()
    held = tuple(cell.cell_contents for cell in f.__closure__ or ())
    return (lambda: held,)


def inner_first(x: Any, parts: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Return an object and all parts of parts of it, each once and after its own parts.

    Choices of choices share what they choose from, so that looking at each path would take
    time that doubles with each of them.
    """
    done: dict[int, Any] = {}
    stack = [x]
    while stack:
        one = stack[-1]
        new = [] if id(one) in done else [p for p in parts(one) if id(p) not in done]
        if new:
            stack.extend(new)
        else:
            done[id(one)] = stack.pop()
    return list(done.values())


def _iterable(x: Any) -> Any:
    if x is None:
        msg = "cannot unpack non-iterable NoneType object"
        raise TypeError(msg)
    return x


def replaced(where: Any, old: Any, new: Any) -> Any:
    """Return arguments with another object in the place of one."""
    if where is old:
        return new
    if type(where) is dict:
        return {key: replaced(x, old, new) for key, x in where.items()}
    if type(where) is slice:
        return slice(*replaced((where.start, where.stop, where.step), old, new))
    if type(where) in _LISTS and rows_of(where) is None:
        return type(where)(replaced(x, old, new) for x in where)
    return where


def open_part(x: Any) -> Either | None:
    """Return the first object of a subscript, or among arguments, that data chooses."""
    if isinstance(x, Either):
        return x
    if type(x) is slice:
        x = (x.start, x.stop, x.step)
    if type(x) not in _LISTS or rows_of(x) is not None:
        return None
    for part in x:
        if type(part) not in _CLOSED:
            found = open_part(part)
            if found is not None:
                return found
    return None


def _operator(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *other: self.apply(lambda x: f(x, *other))


def _reflected(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self.apply(lambda x: f(other, x))


_BINARY: Final = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift",
)  # fmt: skip
_OTHERS: Final = ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "getitem")
for _name in (*_BINARY, *_OTHERS):
    setattr(Either, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))
for _name in _BINARY:
    setattr(Either, f"__r{_name}__", _reflected(getattr(operator, f"__{_name}__")))


class Unsure(Open):
    """The value of a name that has one only on some paths.

    Attributes
    ----------
    defined : Array, () bool, or bool
        Whether it has one.
    content : object
        The value; a stand-in where it has none.
    """

    __slots__ = ("content", "defined")

    def __init__(self, defined: Any, content: Any) -> None:
        self.defined: Final = defined
        self.content: Final = content

    def parts(self) -> list[Any]:
        """Return the value."""
        return [self.content]

    def _reason(self) -> str:
        return "a variable is used that has a value only on some paths of the function"
