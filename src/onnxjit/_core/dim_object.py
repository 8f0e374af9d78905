# SPDX-License-Identifier: Apache-2.0
"""`Dim`, the Python face of a symbolic size, and the hooks through which it meets arrays."""

from __future__ import annotations

import math
import numbers
import operator
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .dim_polynomial import constant
from .dim_rules import floordiv, pos
from .dim_text import display

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dim_polynomial import Poly
    from .guards import Kind
    from .shape_env import ShapeEnv

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_PYTHON: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
}
_TYPED = (float, complex, np.generic)
_LARGEST_POWER = 8


def _unset(*_: object, **__: object) -> Any:
    message = "the array layer of onnxjit is not loaded"
    raise RuntimeError(message)


def _data_test(dim: Dim, what: str) -> Exception:
    return RuntimeError(f"{what} needs the value of {dim}, which depends on array data")


def _no_hint(dim: Dim, what: str) -> Exception:
    return RuntimeError(f"{what} needs the value of {dim}, which has no example size")


def _no_source() -> object:
    return None


def _frozen_array(dim: Dim, dtype: Any, *, copy: bool | None) -> Any:
    del copy  # a new array in any case
    return np.asarray(dim.specialise("__array__"), dtype)


class Hooks:
    """What the array layer does for dimensions; filled once at import.

    Attributes
    ----------
    dim_array
        `(dim) -> array`: a 0-d weak integer array with every operator.
    ufunc
        `(ufunc, method, inputs, kwargs)`: result of a NumPy ufunc that was given a Dim.
    array
        `(dim, dtype, *, copy)`: result of `__array__`; freezes the dimension by default.
    data_test, no_hint
        `(dim, what)`: the exception to raise when a value is needed but depends on data,
        or has no example. `what` is text such as `the test N > 3` or `__index__`.
    integer
        `(ufunc, a, b)`: result of a ufunc on two integers, as a Python integer.
    nonzero
        `(dim)`: a divisor is used that depends on data.
    source
        `()`: the user's line, stored with a guard.
    """

    __slots__ = (
        "array",
        "data_test",
        "dim_array",
        "integer",
        "no_hint",
        "nonzero",
        "source",
        "ufunc",
    )

    def __init__(self) -> None:
        self.dim_array: Callable[[Dim], Any] = _unset
        self.ufunc: Callable[[np.ufunc, str, tuple[Any, ...], dict[str, Any]], Any] = _unset
        self.array: Callable[..., Any] = _frozen_array
        self.data_test: Callable[[Dim, str], Exception] = _data_test
        self.no_hint: Callable[[Dim, str], Exception] = _no_hint
        self.source: Callable[[], object] = _no_source
        self.integer: Callable[[np.ufunc, Any, Any], Any] = _unset
        self.nonzero: Callable[[Dim], None] = _unset


HOOKS = Hooks()


class Dim:
    """Symbolic integer; behaves like a Python int and stays symbolic where it can.

    Tests that cannot be proved add a guard to the environment; `__index__`, `__int__`,
    `__float__` and `__hash__` freeze the value with a guard. Made by `ShapeEnv` only: one
    object for equal expressions, and never for a constant.
    """

    __slots__ = ("__weakref__", "env", "poly")

    def __init__(self, poly: Poly, env: ShapeEnv) -> None:
        self.poly = poly
        self.env = env

    # -- text and copies

    def __repr__(self) -> str:
        return display(self.poly)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self.specialise("__format__"), spec) if spec else repr(self)

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, _: object) -> Dim:
        return self

    # -- values

    def specialise(self, what: str) -> int:
        """Freeze to the example's value, with a guard."""
        return self.env.specialise(self, what)

    def __index__(self) -> int:
        return self.specialise("__index__")

    def __int__(self) -> int:
        return self.specialise("__int__")

    def __float__(self) -> float:
        return float(self.specialise("__float__"))

    def __complex__(self) -> complex:
        return complex(self.specialise("__complex__"))

    def __hash__(self) -> int:
        return hash(self.specialise("__hash__"))

    def __bool__(self) -> bool:
        known = self.env.proves("ne", self.poly)
        if known is None:
            return self.env.test("ne", self.poly, self, f"the truth of {self}")
        return known

    def bit_length(self) -> int:
        """Bits of the frozen value."""
        return self.specialise("bit_length").bit_length()

    # -- comparisons

    def __lt__(self, other: object) -> bool:
        return self._compare(other, "<")

    def __le__(self, other: object) -> bool:
        return self._compare(other, "<=")

    def __gt__(self, other: object) -> bool:
        return self._compare(other, ">")

    def __ge__(self, other: object) -> bool:
        return self._compare(other, ">=")

    def __eq__(self, other: object) -> bool:
        return other is self or self._compare(other, "==")

    def __ne__(self, other: object) -> bool:
        return other is not self and self._compare(other, "!=")

    def _compare(self, other: object, sign: str) -> bool:
        if isinstance(other, (np.integer, np.bool_)):
            other = int(other)
        poly = self._operand(other)
        if poly is not None:
            kind, side = _sides(self.poly, poly, sign)
            known = self.env.proves(kind, side)  # before any text is made
            if known is None:
                return self.env.test(kind, side, self, f"the test {self} {sign} {other}")
            return known
        if isinstance(other, (float, np.floating)):
            return self._compare_float(float(other), sign)
        return NotImplemented  # type: ignore[no-any-return]

    def _compare_float(self, other: float, sign: str) -> bool:
        if not math.isfinite(other):
            return _COMPARE[sign](0, other)
        if other.is_integer():
            return self._compare(int(other), sign)
        if sign in {"==", "!="}:
            return sign == "!="
        below = math.floor(other)
        return self._compare(below, "<=") if sign[0] == "<" else self._compare(below, ">")

    # -- arithmetic

    def _operand(self, other: object) -> Poly | None:
        if isinstance(other, int):
            return constant(int(other))
        if not isinstance(other, Dim):
            return None
        if other.env is not self.env:
            message = f"{self} and {other} are sizes of two different traces"
            raise ValueError(message)
        return other.poly

    def _binary(self, other: object, compute: Callable[..., Any], apply: Any) -> Any:
        """Compute on polynomials, or apply an operator to arrays for typed numbers."""
        poly = self._operand(other)
        if poly is not None:
            return compute(self.env, self.poly, poly)
        return (
            apply(HOOKS.dim_array(self), other)
            if isinstance(other, _TYPED)
            else NotImplemented
        )

    def _reflected(self, other: object, compute: Callable[..., Any], apply: Any) -> Any:
        poly = self._operand(other)
        if poly is not None:
            return compute(self.env, poly, self.poly)
        return (
            apply(other, HOOKS.dim_array(self))
            if isinstance(other, _TYPED)
            else NotImplemented
        )

    def __add__(self, other: object) -> Any:
        if type(other) is int:  # by far the most frequent
            return self.env.dim(self.poly.shifted(other))
        return self._binary(other, _add, operator.add)

    def __radd__(self, other: object) -> Any:
        return self._reflected(other, _add, operator.add)

    def __sub__(self, other: object) -> Any:
        if type(other) is int:  # by far the most frequent
            return self.env.dim(self.poly.shifted(-other))
        return self._binary(other, _sub, operator.sub)

    def __rsub__(self, other: object) -> Any:
        return self._reflected(other, _sub, operator.sub)

    def __mul__(self, other: object) -> Any:
        if type(other) is int:  # by far the most frequent
            return self.env.dim(self.poly * other)
        return self._binary(other, _mul, operator.mul)

    def __rmul__(self, other: object) -> Any:
        return self._reflected(other, _mul, operator.mul)

    def __floordiv__(self, other: object) -> Any:
        return self._binary(other, _floordiv, operator.floordiv)

    def __rfloordiv__(self, other: object) -> Any:
        return self._reflected(other, _floordiv, operator.floordiv)

    def __mod__(self, other: object) -> Any:
        return self._binary(other, _mod, operator.mod)

    def __rmod__(self, other: object) -> Any:
        return self._reflected(other, _mod, operator.mod)

    def __divmod__(self, other: object) -> Any:
        return self._binary(other, _divmod, divmod)

    def __rdivmod__(self, other: object) -> Any:
        return self._reflected(other, _divmod, divmod)

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, Dim):
            return HOOKS.dim_array(self) / HOOKS.dim_array(other)
        known = isinstance(other, (int, *_TYPED))
        return HOOKS.dim_array(self) / other if known else NotImplemented

    def __rtruediv__(self, other: object) -> Any:
        known = isinstance(other, (int, *_TYPED))
        return other / HOOKS.dim_array(self) if known else NotImplemented

    def __pow__(self, other: object, modulus: int | None = None) -> Any:
        if modulus is not None:
            return pow(self.specialise("pow"), operator.index(other), modulus)  # type: ignore[arg-type]
        if isinstance(other, int) and 0 <= other <= _LARGEST_POWER:
            return self.env.dim(self.poly.power(int(other)))
        if isinstance(other, int) and other < 0:
            return (HOOKS.dim_array(self) * 1.0) ** float(other)  # a float, as in Python
        if isinstance(other, Dim):
            return HOOKS.dim_array(self) ** HOOKS.dim_array(other)
        known = isinstance(other, (int, *_TYPED))
        return HOOKS.dim_array(self) ** other if known else NotImplemented

    def __rpow__(self, other: object) -> Any:
        known = isinstance(other, (int, *_TYPED))
        return other ** HOOKS.dim_array(self) if known else NotImplemented

    def __neg__(self) -> Any:
        return self.env.dim(-self.poly)

    def __pos__(self) -> Dim:
        return self

    def __abs__(self) -> Any:
        return self.env.dim(pos(self.poly) * 2 - self.poly)

    # -- bits: shifts and low masks by numbers are arithmetic

    def __invert__(self) -> Any:
        return self.env.dim(-self.poly - 1)

    def __lshift__(self, other: object) -> Any:
        if _is_count(other):
            return self * (1 << other)
        return self._bits(np.left_shift, other)

    def __rshift__(self, other: object) -> Any:
        if _is_count(other):
            return self // (1 << other)
        return self._bits(np.right_shift, other)

    def __rlshift__(self, other: object) -> Any:
        return self._bits(np.left_shift, other, reflected=True)

    def __rrshift__(self, other: object) -> Any:
        return self._bits(np.right_shift, other, reflected=True)

    def __and__(self, other: object) -> Any:
        if isinstance(other, int) and other >= 0 and not other & (other + 1):
            return self % (other + 1)
        return self._bits(np.bitwise_and, other)

    __rand__ = __and__

    def __or__(self, other: object) -> Any:
        return self._bits(np.bitwise_or, other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Any:
        return self._bits(np.bitwise_xor, other)

    __rxor__ = __xor__

    def _bits(self, ufunc: np.ufunc, other: object, *, reflected: bool = False) -> Any:
        if not isinstance(other, (int, Dim)):
            return NotImplemented
        if isinstance(other, int) and not -(2**63) <= other < 2**63:
            value = self.specialise(ufunc.__name__)
            return _PYTHON[ufunc](*((other, value) if reflected else (value, other)))
        return HOOKS.integer(ufunc, *((other, self) if reflected else (self, other)))

    # -- the number tower

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits >= 0:
            return self
        return round(self.specialise("__round__"), digits)

    def __floor__(self) -> Dim:
        return self

    __ceil__ = __trunc__ = __floor__

    def conjugate(self) -> Dim:
        """Return the number itself."""
        return self

    @property
    def real(self) -> Dim:
        """The number itself."""
        return self

    @property
    def numerator(self) -> Dim:
        """The number itself."""
        return self

    @property
    def imag(self) -> int:
        """Zero."""
        return 0

    @property
    def denominator(self) -> int:
        """One."""
        return 1

    # -- NumPy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return HOOKS.array(self, dtype, copy=copy)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        return HOOKS.ufunc(ufunc, method, inputs, kwargs)


numbers.Integral.register(Dim)

DimLike = int | Dim


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and value >= 0


def _sides(left: Poly, right: Poly, sign: str) -> tuple[Kind, Poly]:
    if sign == "==":
        return "eq", left - right
    if sign == "!=":
        return "ne", left - right
    difference = left - right if sign[0] == ">" else right - left
    return "ge", difference if sign.endswith("=") else difference - 1


def _add(env: ShapeEnv, left: Poly, right: Poly) -> DimLike:
    return env.dim(left + right)


def _sub(env: ShapeEnv, left: Poly, right: Poly) -> DimLike:
    return env.dim(left - right)


def _mul(env: ShapeEnv, left: Poly, right: Poly) -> DimLike:
    return env.dim(left * right)


def _floordiv(env: ShapeEnv, left: Poly, right: Poly) -> DimLike:
    env.require_nonzero(right, "integer division or modulo by zero")
    return env.dim(floordiv(left, right))


def _mod(env: ShapeEnv, left: Poly, right: Poly) -> DimLike:
    env.require_nonzero(right, "integer modulo by zero")
    return env.dim(left - right * floordiv(left, right))


def _divmod(env: ShapeEnv, left: Poly, right: Poly) -> tuple[DimLike, DimLike]:
    quotient = _floordiv(env, left, right)
    return quotient, _mod(env, left, right)


def as_poly(value: DimLike) -> Poly:
    """Polynomial of a dimension."""
    return value.poly if isinstance(value, Dim) else constant(int(value))
