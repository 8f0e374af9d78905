# SPDX-License-Identifier: Apache-2.0
"""Dimension polynomials as text: for people, for ONNX dim_params, for generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dim_atoms import UNIT, Bcast, FloorDiv, Pos, Symbol
from .dim_polynomial import Poly, atom_poly, make

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .dim_atoms import Atom, Monomial

_SIGNS = {"eq": "==", "ne": "!=", "ge": ">="}
_FLIPPED = {"eq": "==", "ne": "!=", "ge": "<="}


class Printer:
    """Writes polynomials as Python expressions.

    Parameters
    ----------
    names
        Text of each symbol; None takes display names.
    code
        True writes only what Python can evaluate, False writes named functions.
    """

    __slots__ = ("code", "names")

    def __init__(
        self, names: Mapping[Symbol, str] | None = None, *, code: bool = False
    ) -> None:
        self.names, self.code = names, code

    def poly(self, poly: Poly) -> str:
        """Text of a sum; needs parentheses as an operand of anything but + and comma."""
        best = _as_extreme(poly)
        if best is not None:
            name, left, right = best
            return f"{name}({self.poly(left)}, {self.poly(right)})"
        out = ""
        for monomial, factor in sorted(poly.terms, key=lambda term: term[1] < 0):
            sign = (" - " if factor < 0 else " + ") if out else ("-" if factor < 0 else "")
            out += sign + self._term(monomial, abs(factor), tight=sign == "-")
        return out or "0"

    def compare(self, kind: str, poly: Poly) -> str:
        """Text of `poly == 0`, `poly != 0` or `poly >= 0`, without negative terms."""
        left = make(tuple([(m, c) for m, c in poly.terms if c > 0]))
        right = make(tuple([(m, -c) for m, c in poly.terms if c < 0]))
        signs = _SIGNS
        if left.value is not None:
            left, right, signs = right, left, _FLIPPED
        return f"{self.poly(left)} {signs[kind]} {self.poly(right)}"

    def _term(self, monomial: Monomial, factor: int, *, tight: bool) -> str:
        if monomial is UNIT:
            return str(factor)
        parts = [str(factor)] if factor != 1 else []
        tight = tight or bool(parts) or len(monomial.pairs) > 1
        for atom, power in monomial.pairs:
            text = self._atom(atom, tight=tight or power > 1)
            parts.append(text if power == 1 else f"{text}**{power}")
        return "*".join(parts)

    def _atom(self, atom: Atom, *, tight: bool) -> str:
        if isinstance(atom, Symbol):
            return atom.name if self.names is None else self.names[atom]
        if isinstance(atom, Pos):
            return f"max({self.poly(atom.args[0])}, 0)"
        if isinstance(atom, FloorDiv):
            text = f"{self.operand(atom.args[0])}//{self.operand(atom.args[1])}"
            return f"({text})" if tight else text
        args = [self.poly(arg) for arg in atom.args]
        if isinstance(atom, Bcast):
            form = "({1} if {0} == 1 else {0})" if self.code else "broadcast({0}, {1})"
        else:
            form = "({1} if {0} < 0 else {2})" if self.code else "where({0} < 0, {1}, {2})"
        return form.format(*args)

    def operand(self, poly: Poly) -> str:
        """Text of a polynomial, in parentheses unless it needs none anywhere."""
        text = self.poly(poly)
        number = poly.value
        atom = poly.atom
        simple = _as_extreme(poly) is not None or (number is not None and number >= 0)
        simple = simple or (atom is not None and not isinstance(atom, FloorDiv))
        return text if simple else f"({text})"


def _as_extreme(poly: Poly) -> tuple[str, Poly, Poly] | None:
    """Recognise r + max(z, 0) as max(z + r, r), r - max(z, 0) as min(r, r - z)."""
    for monomial, factor in poly.terms:
        atom = monomial.atom
        if abs(factor) != 1 or not isinstance(atom, Pos) or poly is atom_poly(atom):
            continue
        inner, rest = atom.args[0], poly - atom_poly(atom) * factor
        other = rest + inner * factor
        if _size(rest) + _size(other) < _size(inner) + _size(rest):
            name = "max" if factor > 0 else "min"
            return (name, rest, other) if rest.value is None else (name, other, rest)
    return None


def _size(poly: Poly) -> int:
    return max(len(poly.terms), 1)


def display(poly: Poly | int) -> str:
    """Text for people and for ONNX dim_params."""
    if isinstance(poly, int):
        return str(poly)
    atom = poly.atom
    return atom.name if isinstance(atom, Symbol) else Printer().poly(poly)
