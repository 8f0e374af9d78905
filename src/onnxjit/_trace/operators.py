# SPDX-License-Identifier: Apache-2.0
"""Python operators of `Array`: each is a NumPy ufunc."""

from __future__ import annotations

from typing import Any

import numpy as np

from .doors import DOORS

__all__ = ["Operators"]


class Operators:
    """Arithmetic, comparison, bitwise and in-place operators, subscripts, protocols."""

    __slots__ = ()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        return DOORS.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return DOORS.function(func, args, kwargs)

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: Any = False
    ) -> Any:
        """Return a result of NumPy's own code as it is."""
        return array[()] if return_scalar and not array.ndim else array

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return DOORS.namespace(api_version)

    def __getitem__(self, index: Any) -> Any:
        return DOORS.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        DOORS.setitem(self, index, value)

    def __delitem__(self, index: Any) -> None:
        msg = "cannot delete array elements"
        raise ValueError(msg)

    def __add__(self, other: Any) -> Any:
        return DOORS.operator(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return DOORS.operator(np.add, other, self)

    def __iadd__(self, other: Any) -> Any:
        return DOORS.inplace(np.add, self, other)

    def __sub__(self, other: Any) -> Any:
        return DOORS.operator(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return DOORS.operator(np.subtract, other, self)

    def __isub__(self, other: Any) -> Any:
        return DOORS.inplace(np.subtract, self, other)

    def __mul__(self, other: Any) -> Any:
        return DOORS.operator(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return DOORS.operator(np.multiply, other, self)

    def __imul__(self, other: Any) -> Any:
        return DOORS.inplace(np.multiply, self, other)

    def __truediv__(self, other: Any) -> Any:
        return DOORS.divide(np.true_divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return DOORS.divide(np.true_divide, other, self)

    def __itruediv__(self, other: Any) -> Any:
        return DOORS.divide(np.true_divide, self, other, inplace=True)

    def __floordiv__(self, other: Any) -> Any:
        return DOORS.divide(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return DOORS.divide(np.floor_divide, other, self)

    def __ifloordiv__(self, other: Any) -> Any:
        return DOORS.divide(np.floor_divide, self, other, inplace=True)

    def __mod__(self, other: Any) -> Any:
        return DOORS.divide(np.remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return DOORS.divide(np.remainder, other, self)

    def __imod__(self, other: Any) -> Any:
        return DOORS.divide(np.remainder, self, other, inplace=True)

    def __divmod__(self, other: Any) -> Any:
        return DOORS.divide(np.divmod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return DOORS.divide(np.divmod, other, self)

    def __pow__(self, other: Any) -> Any:
        return DOORS.divide(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return DOORS.divide(np.power, other, self)

    def __ipow__(self, other: Any) -> Any:
        return DOORS.divide(np.power, self, other, inplace=True)

    def __matmul__(self, other: Any) -> Any:
        return DOORS.operator(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return DOORS.operator(np.matmul, other, self)

    def __imatmul__(self, other: Any) -> Any:
        return DOORS.inplace(np.matmul, self, other)

    def __and__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_and, other, self)

    def __iand__(self, other: Any) -> Any:
        return DOORS.inplace(np.bitwise_and, self, other)

    def __or__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_or, other, self)

    def __ior__(self, other: Any) -> Any:
        return DOORS.inplace(np.bitwise_or, self, other)

    def __xor__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return DOORS.operator(np.bitwise_xor, other, self)

    def __ixor__(self, other: Any) -> Any:
        return DOORS.inplace(np.bitwise_xor, self, other)

    def __lshift__(self, other: Any) -> Any:
        return DOORS.operator(np.left_shift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return DOORS.operator(np.left_shift, other, self)

    def __ilshift__(self, other: Any) -> Any:
        return DOORS.inplace(np.left_shift, self, other)

    def __rshift__(self, other: Any) -> Any:
        return DOORS.operator(np.right_shift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return DOORS.operator(np.right_shift, other, self)

    def __irshift__(self, other: Any) -> Any:
        return DOORS.inplace(np.right_shift, self, other)

    def __lt__(self, other: Any) -> Any:
        return DOORS.operator(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return DOORS.operator(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return DOORS.operator(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return DOORS.operator(np.greater_equal, self, other)

    def __eq__(self, other: object) -> Any:
        return DOORS.operator(np.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return DOORS.operator(np.not_equal, self, other)

    __hash__ = None  # type: ignore[assignment]  # Array defines it for scalars

    def __neg__(self) -> Any:
        return DOORS.unary(np.negative, self)

    def __pos__(self) -> Any:
        return DOORS.unary(np.positive, self)

    def __abs__(self) -> Any:
        return DOORS.unary(np.absolute, self)

    def __invert__(self) -> Any:
        return DOORS.unary(np.invert, self)
