# SPDX-License-Identifier: Apache-2.0
"""Numbers: root finding, number theory, bits, series."""

import numpy as np

from tests.control.record import program


@program((2.0, 1e-10), (1.0, 1e-3), (0.0, 1e-6), (144.0, 1e-12), (1e-8, 1e-14))
def newton_sqrt(a, tol):
    if a == 0.0:
        return 0.0
    x = a if a > 1.0 else 1.0
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@program(
    (np.array([1.0, -6.0, 11.0, -6.1]), 3.5, 50),
    (np.array([1.0, 0.0, -2.0, 2.0]), 0.0, 7),
    (np.array([1.0, -2.0]), 2.0, 5),
    (np.array([1.0, 0.0, 0.0]), 0.0, 5),
    (np.array([2.0, 0.0, 1.0]), 3.0, 0),
    joins="without a step the result is the argument, a Python float",
)
def newton_polynomial(coefs, x, max_steps):
    """Newton's method with Horner's rule for value and slope."""
    converged = False
    for _step in range(max_steps):
        value = 0.0
        slope = 0.0
        for c in coefs:
            slope = slope * x + value
            value = value * x + c
        if slope == 0.0:
            break
        move = value / slope
        x = x - move
        if abs(move) < 1e-12:
            converged = True
            break
    return x, converged


@program(
    (np.array([-2.0, 0.0, 1.0]), 0.0, 2.0),
    (np.array([-1.0, 1.0]), 0.0, 2.0),
    (np.array([1.0, 0.0, 1.0]), -1.0, 1.0),
    (np.array([0.0, 1.0]), 0.0, 1.0),
    raises=ValueError,
)
def bisection(coefs, low, high):
    def f(t):
        total = 0.0
        for k in range(len(coefs) - 1, -1, -1):
            total = total * t + coefs[k]
        return total

    at_low = f(low)
    if at_low * f(high) > 0:
        raise ValueError("no change of sign")
    while high - low > 1e-9:
        mid = (low + high) / 2
        at_mid = f(mid)
        if at_mid == 0.0:
            return mid
        if at_low * at_mid < 0:
            high = mid
        else:
            low, at_low = mid, at_mid
    return (low + high) / 2


@program((1.0, 2.0, 612.0), (0.0, 0.0, 4.0), (10.0, 30.0, 612.0), (3.0, 3.5, 9.0))
def secant(x0, x1, target):
    steps = 0
    while True:
        y0, y1 = x0 * x0 - target, x1 * x1 - target
        if y1 == y0:
            break
        x0, x1 = x1, x1 - y1 * (x1 - x0) / (y1 - y0)
        steps += 1
        if abs(x1 - x0) < 1e-8:
            break
    return x1, steps


@program((6,), (1,), (27,), (7,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(
    (np.array([6, 1, 9, 2]),),
    (np.array([1]),),
    (np.zeros(0, np.int64),),
    (np.arange(1, 12),),
    large=lambda: ((np.arange(1, 400),),),
)
def collatz_lengths(values):
    """Step all numbers at once until none is left."""
    n = values.copy()
    steps = np.zeros(len(n), dtype=np.int64)
    while (n > 1).any():
        busy = n > 1
        steps[busy] += 1
        n = np.where(busy, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return steps


@program((48, 36), (17, 5), (0, 9), (9, 0), (-12, 18))
def gcd(a, b):
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@program((240, 46), (7, 0), (13, 5), (0, 4))
def extended_gcd(a, b):
    x, last_x = 0, 1
    y, last_y = 1, 0
    while b != 0:
        q = a // b
        a, b = b, a - q * b
        x, last_x = last_x - q * x, x
        y, last_y = last_y - q * y, y
    return a, last_x, last_y


@program((np.array([12, 18, 30]),), (np.array([7]),), (np.array([4, 9, 25, 8]),))
def gcd_of_all(values):
    result = 0
    for v in values:
        a, b = result, v
        while b != 0:
            a, b = b, a % b
        result = a
        if result == 1:
            break
    return result


@program((99,), (0,), (1,), (100,), (10**12 + 3,))
def integer_sqrt(n):
    low, high = 0, n + 1 if n < 2000000 else 2000000
    while high - low > 1:
        mid = (low + high) // 2
        if mid * mid <= n:
            low = mid
        else:
            high = mid
    return low


@program((29,), (1,), (2,), (9,), (91,), (100,), (-7,), large=lambda: ((999983,),))
def is_prime(n):
    if n < 2:
        return False
    if n < 4:
        return True
    if n % 2 == 0:
        return False
    d = 3
    while d * d <= n:
        if n % d == 0:
            return False
        d += 2
    return True


@program((30,), (2,), (3,), (100,), (1,), large=lambda: ((5000,),))
def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return np.nonzero(prime)[0]


@program((60,), (1,), (97,), (64,))
def largest_factor(n):
    best = 1
    p = 2
    while n > 1:
        if p * p > n:
            best = max(best, n)
            break
        while n % p == 0:
            n //= p
            best = p
        p += 1
    return best


@program((0b1011,), (0,), (2**40 - 1,), (255,))
def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


@program(
    (np.array([3, 0, 255, 16], np.uint8),),
    (np.zeros(0, np.uint8),),
    (np.array([1], np.uint8),),
)
def bit_reverse(values):
    out = np.zeros_like(values)
    for i in range(len(values)):
        v = values[i]
        r = np.uint8(0)
        for _ in range(8):
            r = (r << np.uint8(1)) | (v & np.uint8(1))
            v = v >> np.uint8(1)
        out[i] = r
    return out


@program((3, 13, 7), (2, 0, 5), (10, 1, 6), (5, 117, 19))
def power_mod(base, exponent, modulus):
    result = 1
    base = base % modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


@program((10,), (0,), (1,), (60,))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program((5,), (1,), (0,), (9,))
def pascal(n):
    triangle = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        triangle[i, 0] = 1
        for j in range(1, i + 1):
            triangle[i, j] = triangle[i - 1, j - 1] + triangle[i - 1, j]
    return triangle


@program(
    (np.array([1.0, -2.0, 0.5]), 3.0),
    (np.zeros(0), 2.0),
    (np.array([4.0]), -1.0),
    joins="without a step the result is the 0.0 of Python",
)
def horner(coefs, x):
    total = 0.0
    for c in coefs:
        total = total * x + c
    return total


@program((1.0, 1e-12), (0.0, 1e-12), (-3.0, 1e-10), (5.0, 100.0))
def exp_series(x, tol):
    term = 1.0
    total = 1.0
    n = 1
    while abs(term) > tol:
        term *= x / n
        total += term
        n += 1
    return total, n


@program(
    (1.0, 0.5),
    (2.0, 2.0),
    (24.0, 6.0),
    (0.0, 3.0),
    joins="a Python float becomes NumPy's in the second step",
)
def arithmetic_geometric_mean(a, g):
    if a == 0.0 or g == 0.0:
        return 0.0
    for _ in range(60):
        if np.abs(a - g) <= 1e-14 * a:
            break
        a, g = (a + g) / 2, np.sqrt(a * g)
    return a


@program((2024,), (1900,), (2000,), (2023,))
def leap_year(year):
    return (year % 4 == 0 and year % 100 != 0) or year % 400 == 0


@program((12345,), (0,), (7,), (990,))
def digit_sum(n):
    total = 0
    while n > 0:
        n, digit = divmod(n, 10)
        total += digit
    return total


@program((0.5, 20), (1.0, 0), (3.9, 3), (3.2, 100))
def logistic_map(r, steps):
    x = 0.5
    for _ in range(steps):
        x = r * x * (1 - x)
        if x < 1e-6:
            return 0.0
    return x
