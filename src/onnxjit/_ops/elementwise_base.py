# SPDX-License-Identifier: Apache-2.0
"""What the elementwise families share: result rules, row factories, formulas over `Emit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from onnxjit._core.aval import Tensor
from onnxjit._core.bind import bind, bind_one, running_trace
from onnxjit._core.dims import DimLike, are_same, broadcast_shapes, key
from onnxjit._core.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, DType
from onnxjit._core.op import Emit, Handle, Op, Rule
from onnxjit.errors import LoweringError

from .row import Floor, Samples, Ufunc
from .samples import pairs

if TYPE_CHECKING:
    from onnxjit._core.program import Equation, Value

__all__ = [
    "Term",
    "by_kind",
    "direct",
    "formula",
    "joined_shape",
    "pick",
    "polynomial",
    "primitive",
    "same",
    "truth",
]

Formula = Callable[..., "Term | tuple[Term, ...]"]


# --- shapes and dtypes of results ---------------------------------------------------------


def joined_shape(*shapes: tuple[DimLike, ...]) -> tuple[DimLike, ...]:
    """Return the shape that shapes broadcast to; equal ones and scalars take no guard."""
    others = [shape for shape in shapes if shape]
    if not others or are_same(others):
        return others[0] if others else ()
    distinct: dict[Any, tuple[DimLike, ...]] = {}
    for shape in others:
        distinct.setdefault(tuple(map(key, shape)), shape)
    if len(distinct) < 2:
        return others[0]
    env = running_trace().env
    known = env.memo.get(("joined", *distinct))
    if known is None:
        known = env.memo["joined", *distinct] = broadcast_shapes(env, *distinct.values())
    return known


def same(*avals: Tensor, **_: object) -> Tensor:
    """Broadcast shape, dtype of the first operand."""
    return _of(avals, avals[0].dtype)


def truth(*avals: Tensor, **_: object) -> Tensor:
    """Broadcast shape, bool."""
    return _of(avals, BOOL)


def _of(avals: Sequence[Tensor], dtype: DType) -> Tensor:
    """Return the broadcast type of a dtype: an operand's own where it is that."""
    shape = joined_shape(*[a.shape for a in avals])
    for aval in avals:
        if aval.shape is shape and aval.dtype is dtype and not aval.weak:
            return aval
    return Tensor(dtype, shape)


# --- rules --------------------------------------------------------------------------------


def direct(op_type: str, **attributes: Any) -> Rule:
    """Return the rule that is one ONNX operator."""

    def rule(e: Emit, equation: Equation, *handles: Handle) -> Handle:
        return e.op(op_type, *handles, out=equation.outputs[0].dtype, **attributes)

    return rule


def by_kind(other: Rule | None = None, **rules: Rule) -> Rule:
    """Return the rule that chooses by NumPy's kind letter of the first operand's dtype."""

    def rule(e: Emit, equation: Equation, *handles: Handle) -> Handle | tuple[Handle, ...]:
        dtype = handles[0].dtype
        chosen = rules.get(dtype.kind, other)
        if chosen is None:
            msg = f"{equation.op.name} of {dtype} has no ONNX form"
            raise LoweringError(msg)
        return chosen(e, equation, *handles)

    return rule


def keep(_e: Emit, _equation: Equation, x: Handle) -> Handle:
    """Return the operand: the rule of functions that change nothing for a dtype."""
    return x


class Term:
    """A handle with arithmetic, so that a lowering formula reads like the formula."""

    __slots__ = ("e", "h")

    def __init__(self, e: Emit, h: Handle) -> None:
        self.e: Final = e
        self.h: Final = h

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.h.dtype

    def const(self, value: Any) -> Term:
        """Return a constant of this term's dtype."""
        return Term(self.e, self.e.const(np.asarray(value, self.dtype.numpy), self.dtype))

    def like(self, value: Any) -> Term:
        """Return a term as it is, a number as a constant."""
        return value if isinstance(value, Term) else self.const(value)

    def op(
        self, op_type: str, *others: Any, out: DType | None = None, **attributes: Any
    ) -> Term:
        """Apply an ONNX operator to this term and others."""
        handles = [self.like(v).h for v in others]
        out = self.dtype if out is None else out
        return Term(self.e, self.e.op(op_type, self.h, *handles, out=out, **attributes))

    def to(self, dtype: DType) -> Term:
        """Cast."""
        return Term(self.e, self.e.cast(self.h, dtype))

    def __add__(self, other: Any) -> Term:
        return self.op("Add", other)

    def __sub__(self, other: Any) -> Term:
        return self.op("Sub", other)

    def __mul__(self, other: Any) -> Term:
        return self.op("Mul", other)

    def __truediv__(self, other: Any) -> Term:
        return self.op("Div", other)

    def __radd__(self, other: Any) -> Term:
        return self.like(other).op("Add", self)

    def __rsub__(self, other: Any) -> Term:
        return self.like(other).op("Sub", self)

    def __rmul__(self, other: Any) -> Term:
        return self.like(other).op("Mul", self)

    def __rtruediv__(self, other: Any) -> Term:
        return self.like(other).op("Div", self)

    def __neg__(self) -> Term:
        return self.op("Neg")

    def __abs__(self) -> Term:
        return self.op("Abs")

    def __lt__(self, other: Any) -> Term:
        return self.op("Less", other, out=BOOL)

    def __le__(self, other: Any) -> Term:
        return self.op("LessOrEqual", other, out=BOOL)

    def __gt__(self, other: Any) -> Term:
        return self.op("Greater", other, out=BOOL)

    def __ge__(self, other: Any) -> Term:
        return self.op("GreaterOrEqual", other, out=BOOL)

    def equals(self, other: Any) -> Term:
        """Compare for equality (bool)."""
        return self.op("Equal", other, out=BOOL)

    def __and__(self, other: Any) -> Term:
        return self.op("And", other)

    def __or__(self, other: Any) -> Term:
        return self.op("Or", other)

    def __xor__(self, other: Any) -> Term:
        return self.op("Xor", other)

    def __invert__(self) -> Term:
        """Negate a bool; not with Not, which onnxruntime swaps into a Where that follows."""
        return self.op("Xor", True)

    def square(self) -> Term:
        """Multiply by itself."""
        return self * self

    def is_nan(self) -> Term:
        """Test for NaN (bool)."""
        return self.op("IsNaN", out=BOOL)


#: dtypes that Where lacks, and the one that carries them without loss (by wrapping for uint64)
_WHERE_THROUGH: Final = {"int16": INT32, "uint16": INT32, "uint64": INT64, "float16": FLOAT32}


def pick(condition: Term, x: Any, y: Any) -> Term:
    """Choose by a condition; a chosen `x` must not be -0.0 (onnxruntime drops its sign)."""
    like: Term = x if isinstance(x, Term) else y
    a, b = like.like(x), like.like(y)
    if like.dtype is BOOL:
        return (condition & a) | (~condition & b)
    through = _WHERE_THROUGH.get(like.dtype.name, like.dtype)
    chosen = condition.op("Where", a.to(through), b.to(through), out=through)
    return chosen.to(like.dtype)


def pick_signed(condition: Term, x: Term, y: Term, unlike: Term | None = None) -> Term:
    """Choose by a condition among floats of which both can be -0.0.

    Where keeps the sign of its last operand only, so each side is chosen last against 1 and
    the two are multiplied.  `unlike` is the negated condition, where there is one.
    """
    unlike = ~condition if unlike is None else unlike
    return pick(unlike, 1, x) * pick(condition, 1, y)


def signed_zero(x: Term) -> Term:
    """Return 0.0 with the sign of `x` (NaN for NaN)."""
    return x.op("Min", 1).op("Max", -1) * 0


def polynomial(z: Term, *coefficients: float) -> Term:
    """Evaluate a polynomial by Horner's rule, highest power first."""
    total: Any = coefficients[0]
    for c in coefficients[1:]:
        total = z * total + c
    return total if isinstance(total, Term) else z.const(total)


_NARROW: Final = {FLOAT16: FLOAT32}
_DOUBLE: Final = {FLOAT16: FLOAT64, FLOAT32: FLOAT64}


def _through(e: Emit, x: Handle, dtype: DType) -> Handle:
    """Cast a computed value to its result dtype; float64 reaches float16 by way of float32."""
    if x.dtype is FLOAT64 and dtype is FLOAT16:
        x = e.cast(x, FLOAT32)
    return e.cast(x, dtype)


def formula(f: Formula, *, double: bool = False) -> Rule:
    """Return the rule of a formula over terms.

    float16 operands are computed in float32 and rounded once; with `double` float32 ones go
    through float64 as well.
    """
    wider = _DOUBLE if double else _NARROW

    def rule(e: Emit, equation: Equation, *handles: Handle) -> Handle | tuple[Handle, ...]:
        terms = (Term(e, e.cast(h, wider.get(h.dtype, h.dtype))) for h in handles)
        results = f(*terms)
        if not isinstance(results, tuple):
            return _through(e, results.h, equation.outputs[0].dtype)
        return tuple(
            _through(e, r.h, v.dtype) for r, v in zip(results, equation.outputs, strict=True)
        )

    return rule


# --- rows ---------------------------------------------------------------------------------


def primitive(  # noqa: PLR0913  facts of a row
    numpy: np.ufunc,
    lower: Mapping[int, Rule | None] | Rule,
    *,
    result: Callable[..., Any] = same,
    api: str | None = None,
    ulp: dict[str, float] | None = None,
    samples: Samples | None = None,
    floor: Floor = 0.0,
    ties: bool = False,
    **facts: Any,
) -> Ufunc:
    """Return the row of a ufunc that is a primitive of the same name.

    Parameters
    ----------
    numpy : numpy.ufunc
        Key, reference, and what computes constants.
    lower : rule or mapping of int to rule
        As in `Op`; a single rule serves every opset.
    result : callable
        `same`, `truth`, or another rule.
    samples : callable, optional
        All pairs of special values by default.
    """
    rules = {1: lower} if callable(lower) else lower
    op = Op(numpy.__name__, result=result, lower=rules, evaluate=numpy, rowwise=True, **facts)
    apply = partial(bind_one if numpy.nout == 1 else bind, op)
    return Ufunc(
        numpy, apply, api=api, ulp=ulp, floor=floor, ties=ties, samples=samples or pairs(numpy)
    )


def known_scalar(value: Value) -> Any:
    """Return the Python number of a known one-element value, else None."""
    if value.known is None or value.known.size != 1:
        return None
    return value.known.reshape(()).item()
