# SPDX-License-Identifier: Apache-2.0
"""Classes with operators, orders and truth values of their own, which look at data."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0, 0.5])
B = np.array([-2.0, 0.5, 0.0, 0.0])
C = np.array([0.0, 0.0, 1.0, 1.0])
TRIPLES = ((A,), (B,), (C,), (-A,))


@dataclass
class Vector:
    x: float
    y: float

    def __add__(self, other):
        if isinstance(other, (int, float)):
            other = Vector(other, other)
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    __radd__ = __add__

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k) if k > 0 else Vector(0.0, 0.0)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __bool__(self):
        return bool(self.x or self.y)

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __iter__(self):
        yield self.x
        if self.y is not None:
            yield self.y

    @functools.cached_property
    def angle(self):
        return math.atan2(self.y, self.x) if self else 0.0


class Dual:
    """A number and its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return other + -1 * self

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(
            self.value * other.value, self.value * other.slope + self.slope * other.value
        )

    __rmul__ = __mul__

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __gt__(self, other):
        return self.value > (other.value if isinstance(other, Dual) else other)


@functools.total_ordering
class Score:
    def __init__(self, points, name):
        self.points, self.name = points, name

    def __eq__(self, other):
        return self.points == other.points

    def __lt__(self, other):
        return self.points < other.points

    __hash__ = None


@dataclass(order=True)
class Version:
    major: int
    minor: int


class Bag:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return int((self.items > 0).sum())

    def __contains__(self, x):
        return (self.items == x).any()

    def __getitem__(self, i):
        return self.items[i] if self.items[i] > 0 else -self.items[i]

    def __call__(self, x):
        return x if x in self else x + 1


@program(*TRIPLES, joins="a length that data chooses is a number of NumPy's")
def vectors(x):
    u, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    w = 2 * u + v * x[0] + 1
    small = u if u < v else v
    first, second = -w
    return first, second, abs(w), u @ v, small.x, w.angle, w.angle


@program(*TRIPLES)
def truths(x):
    u, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    both = 1 if u and v else 0
    return both, not u, u == v, u != v, u == Vector(x[0], x[1])


@program(*TRIPLES)
def derivatives(x):
    t = Dual(x[0], 1.0)
    y = 3 * t**2 - t + 1 - (2 - t) * t
    if y > 2:
        y = y * y
    return y.value, y.slope


@program(*TRIPLES)
def total_orders(x):
    p, q = Score(x[0], 1), Score(x[2], 2)
    best = p.name if p >= q else q.name
    return p <= q, p > q, p != q, best


@program(*TRIPLES)
def orders_of_fields(x):
    a = Version(x[0].astype(np.int64), x[1].astype(np.int64))
    b = Version(x[2].astype(np.int64), x[3].astype(np.int64))
    return a < b, a >= b, a == b, (1 if a > b else 2)


@program(*TRIPLES)
def containers(x):
    bag = Bag(x)
    return len(bag), 4.0 in bag, 7.0 not in bag, bag[1], bag(x[0] + 1), (1 if bag else 0)
