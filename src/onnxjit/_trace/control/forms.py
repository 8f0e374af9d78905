# SPDX-License-Identifier: Apache-2.0
"""Branches and loops as functions, for code that says what it means without statements.

In a traced function a condition or a number of iterations that only a run knows makes them
ONNX If and Loop; elsewhere, on ndarrays, NumPy scalars and eager arrays, they run as the
Python code in their descriptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .ranges import range_
from .statements import for_, while_
from .truth import compare, ifexp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["cond", "fori_loop", "switch", "while_loop"]

T = TypeVar("T")


def cond(
    pred: Any, true_fun: Callable[..., T], false_fun: Callable[..., T], *operands: Any
) -> T:
    """Call one of two functions.

    Does what ``true_fun(*operands) if pred else false_fun(*operands)`` does.

    Parameters
    ----------
    pred : bool, or array of one element
        Which one to call.
    true_fun, false_fun : callable
        Take `operands`, may use values around them, and may change arrays. In a graph what
        they return must have the same structure and ranks; dtypes are promoted, and sizes may
        differ.
    *operands
        Arguments of both, of any kind.

    Returns
    -------
    object
        What the called function returns.

    Notes
    -----
    ONNX If.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import cond, jit_onnx
    >>> @jit_onnx
    ... def root(x):
    ...     return cond(x > 0, np.sqrt, np.negative, x)
    >>> root(np.float64(9.0)), root(np.float64(-2.0))
    (np.float64(3.0), np.float64(2.0))
    """
    return ifexp(pred, lambda: true_fun(*operands), lambda: false_fun(*operands))  # type: ignore[no-any-return]  # what they return


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions.

    Does what ``branches[min(max(index, 0), len(branches) - 1)](*operands)`` does.

    Parameters
    ----------
    index : int, or integer array of one element
        Which one to call; beyond the ends the first or the last.
    branches : sequence of callable
        See `cond`.
    *operands
        Arguments of each.

    Returns
    -------
    object
        What the called function returns.

    Raises
    ------
    ValueError
        There are no branches.

    Notes
    -----
    ONNX If, nested.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import jit_onnx, switch
    >>> @jit_onnx
    ... def act(kind, x):
    ...     return switch(kind, [np.tanh, np.negative, np.square], x)
    >>> act(np.int64(2), np.array([2.0, 3.0]))
    array([4., 9.])
    """
    if not branches:
        msg = "switch needs at least one branch"
        raise ValueError(msg)
    if len(branches) == 1:
        return branches[0](*operands)
    middle = len(branches) // 2
    return ifexp(
        compare("<", index, middle),
        lambda: switch(index, branches[:middle], *operands),
        lambda: switch(index - middle, branches[middle:], *operands),
    )


def while_loop(cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T) -> T:
    """Call a function on its own result as long as a condition holds.

    Does what this does::

        val = init_val
        while cond_fun(val):
            val = body_fun(val)
        return val

    Parameters
    ----------
    cond_fun : callable
        ``cond_fun(val)`` -> bool, or an array of one element.
    body_fun : callable
        ``body_fun(val)`` -> the next `val`, of the same structure and ranks; sizes may change.
    init_val : object
        Numbers and arrays in tuples, lists or dicts.

    Returns
    -------
    object
        The last `val`.

    Notes
    -----
    ONNX Loop.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import jit_onnx, while_loop
    >>> @jit_onnx
    ... def halve(x):
    ...     return while_loop(lambda x: x.max() > 1, lambda x: x / 2, x)
    >>> halve(np.array([5.0, 1.0]))
    array([0.625, 0.125])
    """
    val = init_val

    def test() -> Any:
        return cond_fun(val)

    def body() -> None:
        nonlocal val
        val = body_fun(val)

    names = ("val",)
    while_(test, body, names, names, names, ())
    return val


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, T], T], init_val: T) -> T:
    """Call a function on its own result for each integer of a range.

    Does what this does::

        val = init_val
        for i in range(lower, upper):
            val = body_fun(i, val)
        return val

    Parameters
    ----------
    lower, upper : int, or integer array of one element
        First integer, and the one after the last.
    body_fun : callable
        ``body_fun(i, val)`` -> the next `val`, of the same structure and ranks.
    init_val : object
        Numbers and arrays in tuples, lists or dicts.

    Returns
    -------
    object
        The last `val`.

    Notes
    -----
    ONNX Loop; few iterations of a known number are unrolled.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxjit import fori_loop, jit_onnx
    >>> @jit_onnx
    ... def power(x, n):
    ...     return fori_loop(0, n, lambda i, y: y * x, 1.0)
    >>> power(np.float64(2.0), 10)
    np.float64(1024.0)
    """
    val = init_val

    def body(i: Any) -> None:
        nonlocal val
        val = body_fun(i, val)

    names = ("val",)
    for_(range_(lower, upper), body, None, names, names, names, ())
    return val
