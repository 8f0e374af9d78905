# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Plain and jitted objects, and their states after the same calls."""

import collections
import copy

import numpy as np

from onnxjit import jit_onnx

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
Y = np.array([1.0, -2.0, 0.5])
V = np.array([1.0, 0.5, 2.25])


def jitted(cls, *, fallback="error"):
    """Return a class of its own whose public methods are jitted."""
    methods = {
        name: jit_onnx(member, fallback=fallback)
        for base in reversed(cls.__mro__[:-1])
        for name, member in vars(base).items()
        if callable(member) and not name.startswith("_")
    }
    return type(cls.__name__, (cls,), {**methods, "__module__": cls.__module__})


def same(got, want, where=""):
    assert type(got) is type(want), f"{where}: {type(got)} instead of {type(want)}"
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype, where
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=where)
    elif isinstance(want, dict):
        assert list(got) == list(want), where
        for k, v in want.items():
            same(got[k], v, f"{where}[{k!r}]")
    elif isinstance(want, (list, tuple, collections.deque)):
        assert len(got) == len(want), where
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{where}[{i}]")
    elif isinstance(want, (float, np.floating)):
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=where)
    elif hasattr(want, "__dict__") and not isinstance(want, type):
        same(vars(got), vars(want), where)
    else:
        assert got == want, where


def agree(cls, steps, *, graphs=None, fallback="error"):
    """Run calls on a plain object and on a jitted one; compare results and state after each.

    `graphs` is the number of graphs of each method in the end.
    """
    kind = jitted(cls, fallback=fallback)
    plain, other = cls(), kind()
    for number, (name, *args) in enumerate(steps):
        mine = copy.deepcopy(args)
        want = getattr(plain, name)(*args)
        with np.errstate(all="ignore"):
            got = getattr(other, name)(*mine)
        where = f"call {number}"
        if want is plain:
            assert got is other, where
        else:
            same(got, want, f"{where}, result")
        same(mine, args, f"{where}, arguments")
        same(_state(other), _state(plain), f"{where}, state")
    if graphs is not None:
        for name in {step[0] for step in steps}:
            info = vars(kind)[name].cache_info()
            assert info == {"graphs": graphs, "eager": 0}, f"{name}: {info}"
    return other


def _state(obj):
    slots = [n for c in type(obj).__mro__ for n in vars(c).get("__slots__", ())]
    held = {n: getattr(obj, n) for n in slots if hasattr(obj, n)}
    return {**held, **getattr(obj, "__dict__", {})}


class Online:
    def __init__(self):
        self.w = np.zeros(2)
        self.n = 0
        self.lr = 0.5

    def partial_fit(self, x, y):
        self.w -= self.lr * (x.T @ (x @ self.w - y)) / len(y)
        self.n += len(y)
        return self

    def rebind(self, x, y):
        self.w = self.w - self.lr * (x.T @ (x @ self.w - y)) / len(y)
        self.lr *= 0.9
        return self

    def one(self, i, v):
        self.w[i] = v

    def predict(self, x):
        return x @ self.w


class Running:
    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.m2 = 0.0
        self.best = None
        self.low = np.float32(3)

    def add(self, x):
        self.count += 1
        delta = x - self.mean
        self.mean += delta / self.count
        self.m2 = self.m2 + delta * (x - self.mean)
        return self.m2 / self.count

    def all(self, x):
        for v in x:
            self.count += 1
            self.mean += v
        return self.count

    def keep(self, x):
        if x.sum() > 2:
            self.best = x
        return x * 2

    def least(self, x):
        self.low = min(self.low, x.min())
        return self.low
