# SPDX-License-Identifier: Apache-2.0
"""What a loop carries that is one of several things: None or a number, one text or another.

Each kind of thing has its place in a chain of `Either`, always in the same order, so that an
iteration leaves the structure that it was given.
"""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from onnxjit._ops.ufunc import as_weak
from onnxjit._trace.array import wrap
from onnxjit._trace.entering import running_tracer
from onnxjit._trace.lists import List

from .either import MUTABLE, Either, Unsure
from .join import JoinError, ListsDifferError, flatten, rebuild, stand_in, type_of, unify
from .truth import ifexp, not_

__all__ = ["arranged", "ordered"]

#: kinds of things that one place may hold
_MOST: Final = 16


def arranged(like: Any, content: Any) -> tuple[Any, Any]:
    """Return a content in the structure of another one.

    Returns
    -------
    like : object
        The structure; another object if kinds had to be added, which are not there yet.
    content : object
        The content, in this structure if no kind had to be added.

    Raises
    ------
    JoinError
        There is no such structure.
    """
    if isinstance(like, Unsure):
        wider, inner = arranged(like.content, content.content)
        if wider is not like.content:
            return Unsure(like.defined, wider), content
        return like, Unsure(content.defined, inner)
    if type(like) is tuple and type(content) is tuple and len(like) == len(content):
        pairs = [arranged(x, y) for x, y in zip(like, content, strict=True)]
        same = all(new is x for (new, _), x in zip(pairs, like, strict=True))
        return like if same else tuple(new for new, _ in pairs), tuple(y for _, y in pairs)
    kinds = _kinds(like)
    known, wider = len(kinds), like
    if any(map(_may_change, (*kinds, *_kinds(content)))):
        msg = "a container is chosen, which may change"
        raise JoinError(msg)
    for x in _kinds(content):
        if not any(_alike(kind, x) for kind in kinds):
            _check(kinds, x)
            kinds.append(x)
            wider = _extended(wider, _absent(x))
    if len(kinds) > known:
        return wider, content
    return like, _chain(kinds, _sorted(kinds, content))


def ordered(x: Any) -> Any:
    """Return a content in which each kind of things has one place."""
    if isinstance(x, Unsure):
        content = ordered(x.content)
        return x if content is x.content else Unsure(x.defined, content)
    if type(x) is tuple:
        parts = [ordered(part) for part in x]
        return x if all(map(operator.is_, parts, x)) else tuple(parts)
    if not isinstance(x, Either) or any(isinstance(k, MUTABLE) for k in _kinds(x)):
        return x
    kinds: list[Any] = []
    for each in _kinds(x):
        if not any(_alike(kind, each) for kind in kinds):
            kinds.append(each)
    return _chain(kinds, _sorted(kinds, x))


def _may_change(x: Any) -> bool:
    """Whether no copy can be carried in the place of a container."""
    return isinstance(x, MUTABLE) and (not isinstance(x, List) or x.rows is not None)


def _kinds(x: Any) -> list[Any]:
    return [*_kinds(x.first), *_kinds(x.second)] if isinstance(x, Either) else [x]


def _alike(kind: Any, x: Any) -> bool:
    try:
        unify(kind, x, [])
    except ListsDifferError:
        raise
    except JoinError:
        return False
    return True


def _check(kinds: list[Any], x: Any) -> None:
    """Refuse numbers, arrays or containers that differ: something can be done about those."""
    for kind in kinds:
        numbers = type_of(kind) is not None and type_of(x) is not None
        if numbers or (isinstance(kind, _CONTAINERS) and isinstance(x, _CONTAINERS)):
            msg = "they differ"
            raise JoinError(msg)
    if len(kinds) >= _MOST:
        msg = f"there are more than {_MOST}"
        raise JoinError(msg)


_CONTAINERS: Final = (list, tuple, dict)


def _absent(x: Any) -> Any:
    """Return a content of the same kind that nobody reads."""
    leaves: list[Any] = []
    template = flatten(x, leaves)
    types = [type_of(leaf) for leaf in leaves]
    return rebuild(template, iter([stand_in(t) for t in types if t is not None]))


def _extended(x: Any, new: Any) -> Any:
    """Return a chain with one kind more at its end."""
    if isinstance(x, Either):
        return Either(x.pred, x.first, _extended(x.second, new), x.source)
    return Either(True, x, new, None)  # type: ignore[arg-type]  # a leaf's example


def _sorted(kinds: list[Any], x: Any) -> list[tuple[Any, Any] | None]:
    """Return, for each kind, when a content is of that kind, and what it then is."""
    if isinstance(x, Either):
        sides = zip(_sorted(kinds, x.first), _sorted(kinds, x.second), strict=True)
        return [_merged(x.pred, a, b) for a, b in sides]
    at = next(i for i, kind in enumerate(kinds) if _alike(kind, x))
    if isinstance(x, List):
        x.freeze()  # what is carried is a copy
    return [(True, x) if i == at else None for i in range(len(kinds))]


def _merged(
    pred: Any, a: tuple[Any, Any] | None, b: tuple[Any, Any] | None
) -> tuple[Any, Any] | None:
    if a is None or b is None:
        found = a or b
        return None if found is None else (_both(pred, a is not None, found[0]), found[1])
    return _chosen(pred, a[0], b[0]), _chosen(pred, a[1], b[1])


def _chosen(pred: Any, x: Any, y: Any) -> Any:
    """Return one of two contents of a kind."""
    if x is y:
        return x
    if isinstance(x, List):
        found = List(_chosen(pred, tuple(x), tuple(y)))
        found.freeze()
        return found
    return ifexp(pred, lambda: x, lambda: y, ())


def _both(pred: Any, side: bool, when: Any) -> Any:
    """Return whether a choice falls to a side, and a condition holds."""
    own = pred if side else not_(pred)
    if when is True:
        return own
    found: Any = np.logical_and(own, when)
    return wrap(as_weak(found._value))


def _chain(kinds: list[Any], parts: list[tuple[Any, Any] | None]) -> Any:
    last = parts[-1]
    found = kinds[-1] if last is None else last[1]
    for kind, part in zip(kinds[-2::-1], parts[-2::-1], strict=True):
        when: Any
        when, value = part or (False, kind)
        found = Either(when, value, found, running_tracer().source)
    return found


Either.ordered = staticmethod(ordered)
