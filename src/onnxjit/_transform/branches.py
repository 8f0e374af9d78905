# SPDX-License-Identifier: Apache-2.0
"""Small branches computed both, and the results chosen.

An If takes longer than a few nodes on single numbers, and an array that comes out of one is
copied.  A branch that writes one place of an array becomes a write of either the new element
or the one that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.bind import DIM
from onnxjit._core.dims import key
from onnxjit._ops.gather import GATHER, GATHER_ND, SCATTER_ND, gather_nd, scatter_nd
from onnxjit._ops.structure import RESHAPE, UNSQUEEZE, VECTOR, reshape, same_shape, unsqueeze

from .fold import better_choice
from .forward import element_of, read_places
from .places import Facts, is_inside, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnxjit._core.dims import DimLike
    from onnxjit._core.program import Block, Equation, Value

__all__ = ["join_branches"]

#: operations of both branches that take no longer than an If
_MOST: Final = 8
#: elements of a value that is as quickly computed as one number
_SMALL: Final = 16
_FREE: Final = frozenset({DIM, VECTOR, RESHAPE, UNSQUEEZE})


def join_branches(equation: Equation, block: Block, facts: Facts) -> list[Value] | None:
    """Return the results of an If without it, None where it has to stay.

    New equations go to the end of `block`, in which the If stands.
    """
    branches = _Branches(equation, block, facts)
    return branches.joined() if branches.fit() else None


def _is_small(value: Value) -> bool:
    size = value.tensor.size
    return isinstance(size, int) and size <= _SMALL


class _Branches:
    """The two blocks of an If."""

    __slots__ = ("block", "equation", "facts", "no", "seen", "written", "yes")

    def __init__(self, equation: Equation, block: Block, facts: Facts) -> None:
        self.equation: Final = equation
        self.block: Final = block
        self.facts: Final = facts
        self.yes, self.no = equation.blocks
        self.seen: set[tuple[object, object]] | None = None
        #: by id of an array that the first branch wrote to: place, array before, element
        self.written: Final[dict[int, tuple[Any, Value, Value]]] = {}

    # --- whether it can be done

    def fit(self) -> bool:
        """Whether both branches are small, and cannot fail."""
        both = [*self.yes.equations, *self.no.equations]
        if sum(e.op not in _FREE for e in both) > _MOST:
            return False
        if not all(map(self._is_total, both)):
            return False
        pairs = zip(self.yes.outputs, self.no.outputs, strict=True)
        return all(self._has_choice(a, b) for a, b in pairs)

    def _is_total(self, equation: Equation) -> bool:
        op = equation.op
        if equation.blocks or op.stateful:
            return False
        if op in {GATHER, GATHER_ND, SCATTER_ND}:
            sizes = read_places(equation)
            small = equation.inputs[2] if op is SCATTER_ND else equation.outputs[0]
            return sizes is not None and _is_small(small) and self._is_there(equation, sizes)
        values = (*equation.inputs, *equation.outputs)
        return not op.may_fail and all(map(_is_small, values))

    def _is_there(self, equation: Equation, places: Sequence[DimLike]) -> bool:
        x = equation.inputs[0]
        if self.seen is None:
            self.seen = set(_reads(self.block.equations))
        if (_places_key(places), _shape_key(x)) in self.seen:
            return True
        env = self.block.trace.env
        pairs = zip(places, x.shape, strict=False)
        return all(is_inside(env, at, n, self.facts) for at, n in pairs)

    def _has_choice(self, a: Value, b: Value) -> bool:
        if a is b:
            return True
        roots = self._root(a, self.yes), self._root(b, self.no)
        if roots[0] is not a or roots[1] is not b:
            return roots[0] is roots[1]
        is_alike = a.dtype is b.dtype and same_shape(a.shape, b.shape)
        return is_alike and _is_small(a) and _is_small(b)

    def _root(self, value: Value, branch: Block) -> Value:
        """Return the array that a branch starts to write to."""
        while (
            value.block is branch
            and value.equation is not None
            and value.equation.op is SCATTER_ND
        ):
            value = value.equation.inputs[0]
        return value

    # --- doing it

    def joined(self) -> list[Value]:
        """Compute both branches in the block around them, and choose."""
        new: dict[int, Value] = {}
        self._run(self.yes, new, {})
        done = [new.get(v.id, v) for v in self.yes.outputs]
        roots = {
            self._root(a, self.yes).id: v
            for a, v in zip(self.yes.outputs, done, strict=True)
            if self._root(a, self.yes) is not a
        }
        self._run(self.no, new, roots)
        results: list[Value] = []
        for a, b, v in zip(self.yes.outputs, self.no.outputs, done, strict=True):
            if a is b:
                results.append(v)
            elif self._root(b, self.no) is not b:
                results.append(new[b.id])
            elif self._root(a, self.yes) is not a:
                results.append(v)
            else:
                results.append(better_choice(self.equation.inputs[0], v, new.get(b.id, b)))
        return results

    def _run(self, branch: Block, new: dict[int, Value], roots: dict[int, Value]) -> None:
        """Move a branch out; writes take what is there where the branch is not taken."""
        for equation in branch.equations:
            root = equation.inputs[0] if equation.inputs else None
            equation.inputs = tuple(new.get(v.id, v) for v in equation.inputs)
            if equation.op is SCATTER_ND and root is not None:
                base = roots.get(root.id, equation.inputs[0])
                new[equation.outputs[0].id] = self._written(branch, equation, base)
                continue
            for value in equation.outputs:
                value.block = self.block
            self.block.equations.append(equation)

    def _written(self, branch: Block, equation: Equation, base: Value) -> Value:
        index = equation.inputs[1]
        element = element_of(equation)
        other = self.written.get(base.id)
        places = places_of(index)
        is_same = other is not None and places is not None and _places_key(places) == other[0]
        before = other[1] if is_same and other is not None else base
        if is_same and other is not None and branch is self.no:
            pair = other[2], element
        else:
            there = gather_nd(before, reshape(index, (index.shape[-1],)))
            pair = (element, there) if branch is self.yes else (there, element)
        base = before
        chosen = better_choice(self.equation.inputs[0], *pair)
        done = scatter_nd(base, index, unsqueeze(chosen, [0]))
        if branch is self.yes and places is not None:
            self.written[done.id] = (_places_key(places), base, element)
        return done


def _reads(equations: Sequence[Equation]) -> Iterator[tuple[object, object]]:
    """Yield places that were read already, so that they are there."""
    for equation in equations:
        if equation.op in {GATHER, GATHER_ND, SCATTER_ND}:
            places = read_places(equation)
            if places is not None:
                yield _places_key(places), _shape_key(equation.inputs[0])


def _places_key(places: Sequence[DimLike]) -> tuple[object, ...]:
    return tuple(map(key, places))


def _shape_key(x: Value) -> tuple[object, ...]:
    return tuple(map(key, x.shape))
