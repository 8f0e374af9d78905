# SPDX-License-Identifier: Apache-2.0
"""Methods and attributes of `Array`: each is a NumPy function."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from .doors import DOORS

__all__ = ["Methods"]

#: kDLCPU in DLPack's dlpack.h
_CPU: Final = 1


def _given(**options: Any) -> dict[str, Any]:
    """Keep the options that were given: `None` and NumPy's "no value" are left out."""
    return {k: v for k, v in options.items() if v is not None and v is not np._NoValue}


class Methods:
    """ndarray's methods; see the NumPy function of the same name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Return what only an array with values has (``tobytes``, ``flags``, ``strides``)."""
        return DOORS.attribute(self, name)

    def __round__(self, ndigits: Any = None) -> Any:
        """Return a NumPy scalar or Python number rounded; arrays have `round` only."""
        return DOORS.round(self, ndigits)

    def __trunc__(self) -> Any:
        """Return a float64 scalar rounded towards zero; NumPy has this for no other type."""
        return DOORS.trunc(self)

    def all(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        """Whether all elements are true."""
        return DOORS.function(
            np.all,
            (self,),
            _given(
                axis=axis,
                out=out,
                keepdims=keepdims or None,
                where=None if where is True else where,
            ),
        )

    def any(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        """Whether any element is true."""
        return DOORS.function(
            np.any,
            (self,),
            _given(
                axis=axis,
                out=out,
                keepdims=keepdims or None,
                where=None if where is True else where,
            ),
        )

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        """Index of the first largest element."""
        return DOORS.function(
            np.argmax, (self,), _given(axis=axis, out=out, keepdims=keepdims or None)
        )

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        """Index of the first smallest element."""
        return DOORS.function(
            np.argmin, (self,), _given(axis=axis, out=out, keepdims=keepdims or None)
        )

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Cumulative product."""
        return DOORS.function(np.cumprod, (self,), _given(axis=axis, dtype=dtype, out=out))

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Cumulative sum."""
        return DOORS.function(np.cumsum, (self,), _given(axis=axis, dtype=dtype, out=out))

    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Largest element."""
        return DOORS.function(
            np.max,
            (self,),
            _given(
                axis=axis,
                out=out,
                keepdims=keepdims or None,
                initial=initial,
                where=None if where is True else where,
            ),
        )

    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Smallest element."""
        return DOORS.function(
            np.min,
            (self,),
            _given(
                axis=axis,
                out=out,
                keepdims=keepdims or None,
                initial=initial,
                where=None if where is True else where,
            ),
        )

    def mean(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = True,
    ) -> Any:
        """Arithmetic mean."""
        return DOORS.function(
            np.mean,
            (self,),
            _given(
                axis=axis,
                dtype=dtype,
                out=out,
                keepdims=keepdims or None,
                where=None if where is True else where,
            ),
        )

    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Product of the elements."""
        return DOORS.function(
            np.prod,
            (self,),
            _given(
                axis=axis,
                dtype=dtype,
                out=out,
                keepdims=keepdims or None,
                initial=initial,
                where=None if where is True else where,
            ),
        )

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = np._NoValue,
    ) -> Any:
        """Return the standard deviation."""
        return DOORS.function(
            np.std,
            (self,),
            _given(
                axis=axis,
                dtype=dtype,
                out=out,
                ddof=ddof,
                keepdims=keepdims or None,
                where=None if where is True else where,
                mean=mean,
            ),
        )

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = np._NoValue,
    ) -> Any:
        """Variance."""
        return DOORS.function(
            np.var,
            (self,),
            _given(
                axis=axis,
                dtype=dtype,
                out=out,
                ddof=ddof,
                keepdims=keepdims or None,
                where=None if where is True else where,
                mean=mean,
            ),
        )

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        """Sum of the elements."""
        return DOORS.function(
            np.sum,
            (self,),
            _given(
                axis=axis,
                dtype=dtype,
                out=out,
                keepdims=keepdims or None,
                initial=initial,
                where=None if where is True else where,
            ),
        )

    def argsort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Any:
        """Return the indices that sort the array."""
        return DOORS.function(
            np.argsort,
            (self,),
            {"axis": axis, **_given(kind=kind, order=order, stable=stable)},
        )

    def argpartition(
        self, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
    ) -> Any:
        """Return the indices that partition the array."""
        return DOORS.function(
            np.argpartition, (self, kth), {"axis": axis, **_given(order=order)}
        )

    def choose(self, *choices: Any, out: Any = None, mode: Any = "raise") -> Any:
        """Pick from `choices` by index: one sequence, or several arguments."""
        given = choices[0] if len(choices) == 1 else choices
        return DOORS.function(np.choose, (self, given), _given(out=out, mode=mode))

    def diagonal(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
        """Diagonals (read-only)."""
        return DOORS.function(
            np.diagonal, (self,), _given(offset=offset, axis1=axis1, axis2=axis2)
        )

    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        """Repeat elements."""
        return DOORS.function(np.repeat, (self, repeats), _given(axis=axis))

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Round to `decimals` decimals, half to even."""
        return DOORS.function(np.round, (self,), _given(decimals=decimals, out=out))

    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Where `v` would be inserted."""
        return DOORS.function(np.searchsorted, (self, v), _given(side=side, sorter=sorter))

    def squeeze(self, axis: Any = None) -> Any:
        """Drop axes of length one."""
        return DOORS.function(np.squeeze, (self,), _given(axis=axis))

    def swapaxes(self, axis1: Any, axis2: Any) -> Any:
        """Exchange two axes."""
        return DOORS.function(np.swapaxes, (self, axis1, axis2), {})

    def take(
        self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
    ) -> Any:
        """Elements at indices along an axis."""
        return DOORS.function(np.take, (self, indices), _given(axis=axis, out=out, mode=mode))

    def trace(
        self,
        offset: Any = 0,
        axis1: Any = 0,
        axis2: Any = 1,
        dtype: Any = None,
        out: Any = None,
    ) -> Any:
        """Sum along diagonals."""
        return DOORS.function(
            np.trace,
            (self,),
            _given(offset=offset, axis1=axis1, axis2=axis2, dtype=dtype, out=out),
        )

    def nonzero(
        self,
    ) -> Any:
        """Return the indices of the non-zero elements."""
        return DOORS.function(np.nonzero, (self,), {})

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> Any:
        """Set elements of the flat array."""
        return DOORS.function(np.put, (self, indices, values), _given(mode=mode))

    def astype(
        self,
        dtype: Any,
        order: Any = "K",
        casting: Any = "unsafe",
        subok: Any = True,
        copy: Any = True,
    ) -> Any:
        """Cast the elements to another dtype."""
        return DOORS.astype(self, dtype, casting, copy, order)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """Limit the elements to an interval."""
        return DOORS.function(np.clip, (self, min, max), {**_given(out=out), **kwargs})

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """Slices along an axis where `condition` is true."""
        return DOORS.function(np.compress, (condition, self), _given(axis=axis, out=out))

    def conj(self) -> Any:
        """Complex conjugate: the array itself where it is real."""
        return DOORS.conj(self)

    def conjugate(self) -> Any:
        """Complex conjugate: the array itself where it is real."""
        return DOORS.conj(self)

    def copy(self, order: Any = "C") -> Any:
        """Return a copy that shares nothing."""
        return DOORS.copy(self, order)

    def dot(self, b: Any, out: Any = None) -> Any:
        """Dot product."""
        return DOORS.function(np.dot, (self, b), _given(out=out))

    def fill(self, value: Any) -> None:
        """Set every element."""
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", False):
            like = np.zeros((2,) * value.ndim) if hasattr(value, "ndim") else [0]
            np.zeros(1, self.dtype).fill(like)  # NumPy's refusal
        DOORS.setitem(self, ..., value)

    def flatten(self, order: Any = "C") -> Any:
        """Return a one-dimensional copy."""
        return DOORS.copy(DOORS.function(np.ravel, (self,), {"order": order}))

    def item(self, *args: Any) -> Any:
        """Return one element as a Python scalar."""
        return DOORS.item(self, args)

    def partition(
        self, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
    ) -> None:
        """Partition in place."""
        DOORS.setitem(self, ..., DOORS.function(np.partition, (self, kth), {"axis": axis}))

    def ravel(self, order: Any = "C") -> Any:
        """Return one dimension, a view where the memory allows."""
        return DOORS.function(np.ravel, (self,), {} if order == "C" else {"order": order})

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """Give another shape, a view where the memory allows."""
        if not shape:
            msg = "reshape() takes a shape"
            raise TypeError(msg)
        target = shape[0] if len(shape) == 1 else shape
        options = _given(order=None if order == "C" else order, copy=copy)
        return DOORS.function(np.reshape, (self, target), options)

    def sort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Sort in place."""
        axis = operator.index(axis)  # None means all of them in np.sort only
        options = _given(kind=kind, order=order, stable=stable)
        DOORS.setitem(self, ..., DOORS.function(np.sort, (self,), {"axis": axis, **options}))

    def tolist(self) -> Any:
        """Return nested lists of Python scalars."""
        return DOORS.tolist(self)

    def transpose(self, *axes: Any) -> Any:
        """Permute the axes (a view)."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return DOORS.function(np.transpose, (self,), _given(axes=order))

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return another look at the same memory.

        In traces of the same dtype, of complex numbers as parts, or of pairs as complex ones.
        """
        return DOORS.view(self, dtype, type)

    def resize(self, *shape: Any, refcheck: Any = True) -> None:
        """Refused: ndarray.resize changes memory in place."""
        DOORS.refuse("ndarray.resize", "use np.resize or reshape")

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Set the write flag."""
        DOORS.setflags(self, write)

    @property
    def T(self) -> Any:  # noqa: N802  NumPy's name
        """Axes reversed (a view)."""
        return DOORS.function(np.transpose, (self,), {})

    @property
    def mT(self) -> Any:  # noqa: N802  NumPy's name
        """Last two axes exchanged (a view)."""
        return DOORS.function(np.matrix_transpose, (self,), {})

    @property
    def real(self) -> Any:
        """Real part."""
        return DOORS.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        DOORS.setpart(self, "real", value)

    @property
    def imag(self) -> Any:
        """Imaginary part."""
        return DOORS.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        DOORS.setpart(self, "imag", value)

    @property
    def flat(self) -> Any:
        """Iterator over the elements in C order."""
        return DOORS.flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        DOORS.flat(self)[...] = value

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Where the elements are."""
        return "cpu"

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the elements for another library, which may share their memory."""
        options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        return np.asarray(self).__dlpack__(stream=stream, **options)

    def __dlpack_device__(self, /) -> tuple[Any, int]:
        """Return the device as the protocol says it: type and number."""
        return (_CPU, 0)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return self: there is one device."""
        if device != "cpu" or stream is not None:
            msg = f"there is no device {device!r}; only 'cpu'"
            raise ValueError(msg)
        return self
