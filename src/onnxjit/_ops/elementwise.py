# SPDX-License-Identifier: Apache-2.0
"""The ufuncs as functions on values, with NumPy's promotion: what composites are made of.

Each takes values, ndarrays, NumPy and Python scalars and sizes, and the keywords of
`ufunc_call`.  ``ROWS`` has the rows of all elementwise families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnxjit._core.bind import as_value
from onnxjit._core.dtypes import BOOL

# loops over complex numbers are added to the rows by these
from . import complex_power as _complex_power  # noqa: F401
from . import complex_trigonometric as _complex_trigonometric  # noqa: F401
from . import elementwise_arithmetic as arithmetic
from . import elementwise_exponential as exponential
from . import elementwise_float as floating
from . import elementwise_integer as integer
from . import elementwise_logical as logical
from . import elementwise_trigonometric as trigonometric
from .cast import cast
from .elementwise_where import choose
from .ufunc import promoted, rowwise_call

if TYPE_CHECKING:
    from onnxjit._core.program import Value

    from .row import Function, Ufunc

add = rowwise_call(arithmetic.ADD)
subtract = rowwise_call(arithmetic.SUBTRACT)
multiply = rowwise_call(arithmetic.MULTIPLY)
divide = rowwise_call(arithmetic.DIVIDE)
maximum = rowwise_call(arithmetic.MAXIMUM)
minimum = rowwise_call(arithmetic.MINIMUM)
fmax = rowwise_call(arithmetic.FMAX)
fmin = rowwise_call(arithmetic.FMIN)
negative = rowwise_call(arithmetic.NEGATIVE)
absolute = rowwise_call(arithmetic.ABSOLUTE)
positive = rowwise_call(arithmetic.POSITIVE)
sign = rowwise_call(arithmetic.SIGN)
square = rowwise_call(arithmetic.SQUARE)
reciprocal = rowwise_call(arithmetic.RECIPROCAL)
sqrt = rowwise_call(arithmetic.SQRT)
floor = rowwise_call(arithmetic.FLOOR)
ceil = rowwise_call(arithmetic.CEIL)
trunc = rowwise_call(arithmetic.TRUNC)
rint = rowwise_call(arithmetic.RINT)

floor_divide = rowwise_call(integer.FLOOR_DIVIDE)
remainder = rowwise_call(integer.REMAINDER)
fmod = rowwise_call(integer.FMOD)
divmod_ = rowwise_call(integer.DIVMOD)
power = rowwise_call(integer.POWER)
gcd = rowwise_call(integer.GCD)
lcm = rowwise_call(integer.LCM)

equal = rowwise_call(logical.EQUAL)
not_equal = rowwise_call(logical.NOT_EQUAL)
less = rowwise_call(logical.LESS)
less_equal = rowwise_call(logical.LESS_EQUAL)
greater = rowwise_call(logical.GREATER)
greater_equal = rowwise_call(logical.GREATER_EQUAL)
logical_and = rowwise_call(logical.LOGICAL_AND)
logical_or = rowwise_call(logical.LOGICAL_OR)
logical_xor = rowwise_call(logical.LOGICAL_XOR)
logical_not = rowwise_call(logical.LOGICAL_NOT)
bitwise_and = rowwise_call(logical.BITWISE_AND)
bitwise_or = rowwise_call(logical.BITWISE_OR)
bitwise_xor = rowwise_call(logical.BITWISE_XOR)
invert = rowwise_call(logical.INVERT)
left_shift = rowwise_call(logical.LEFT_SHIFT)
right_shift = rowwise_call(logical.RIGHT_SHIFT)

isnan = rowwise_call(logical.ISNAN)
isinf = rowwise_call(logical.ISINF)
isfinite = rowwise_call(logical.ISFINITE)

exp = rowwise_call(exponential.EXP)
exp2 = rowwise_call(exponential.EXP2)
expm1 = rowwise_call(exponential.EXPM1)
log = rowwise_call(exponential.LOG)
log2 = rowwise_call(exponential.LOG2)
log10 = rowwise_call(exponential.LOG10)
log1p = rowwise_call(exponential.LOG1P)
cbrt = rowwise_call(exponential.CBRT)
hypot = rowwise_call(exponential.HYPOT)
logaddexp = rowwise_call(exponential.LOGADDEXP)
logaddexp2 = rowwise_call(exponential.LOGADDEXP2)

sin = rowwise_call(trigonometric.SIN)
cos = rowwise_call(trigonometric.COS)
tan = rowwise_call(trigonometric.TAN)
arcsin = rowwise_call(trigonometric.ARCSIN)
arccos = rowwise_call(trigonometric.ARCCOS)
arctan = rowwise_call(trigonometric.ARCTAN)
arctan2 = rowwise_call(trigonometric.ARCTAN2)
sinh = rowwise_call(trigonometric.SINH)
cosh = rowwise_call(trigonometric.COSH)
tanh = rowwise_call(trigonometric.TANH)
arcsinh = rowwise_call(trigonometric.ARCSINH)
arccosh = rowwise_call(trigonometric.ARCCOSH)
arctanh = rowwise_call(trigonometric.ARCTANH)
deg2rad = rowwise_call(trigonometric.DEG2RAD)
rad2deg = rowwise_call(trigonometric.RAD2DEG)

conjugate = rowwise_call(floating.CONJUGATE)
signbit = rowwise_call(floating.SIGNBIT)
copysign = rowwise_call(floating.COPYSIGN)
heaviside = rowwise_call(floating.HEAVISIDE)
frexp = rowwise_call(floating.FREXP)
ldexp = rowwise_call(floating.LDEXP)
nextafter = rowwise_call(floating.NEXTAFTER)
spacing = rowwise_call(floating.SPACING)


def where(condition: Any, x: Any, y: Any) -> Value:
    """Return `x` where `condition` is true, else `y`, at their common dtype."""
    return choose(cast(as_value(condition), BOOL), *promoted(x, y))


FAMILIES: Final = (arithmetic, integer, logical, exponential, trigonometric, floating)

ROWS: list[Function | Ufunc] = [row for family in FAMILIES for row in family.ROWS]
