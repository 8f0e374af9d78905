# SPDX-License-Identifier: Apache-2.0
"""Functions and methods that are chosen by the type of an argument, and orders made of one."""

import functools

import numpy as np

from tests.control.record import program

A = np.array([3.0, -1.0, 4.0])
B = np.array([-2.0, 0.5])


@functools.singledispatch
def described(v):
    return 0, v


@described.register
def _(v: np.ndarray):
    return 1, v.sum() if v[0] > 0 else v.max()


@described.register
def _(v: float):
    return 2, v * 2


@described.register(list)
def _(v):
    return 3, [described(e) for e in v]


class Scale:
    k = 3.0

    @functools.singledispatchmethod
    def of(self, v):
        return v

    @of.register
    def _(self, v: np.ndarray):
        return v * self.k

    @of.register
    def _(self, v: int):
        return v + self.k


@program((A,), (B,), (-A,))
def by_a_type(x):
    return described(x), described([x, 3]), described(x[0]), described(2.5)


@program((A,), (B,))
def by_a_type_of_an_argument(x):
    scale = Scale()
    return scale.of(x), scale.of(3), scale.of(None) is None
