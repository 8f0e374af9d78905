# SPDX-License-Identifier: Apache-2.0
"""What can be jitted and what jitted code can call."""

import copy
import functools
import importlib.util
import math
import pickle
from typing import Any

import numpy as np
import numpy.linalg as la
import pytest
from numpy import sqrt as root

from onnxjit import FallbackWarning, SideEffectError, jit_onnx
from tests.jit.harness import agrees, same

V = np.array([3.0, -1.5, 2.25])
M = np.array([[2.0, 1.0], [1.0, 3.0]])


def plain(x):
    return np.sin(x) + 1


@jit_onnx
def decorated(x):
    return np.exp(x) * 2


@jit_onnx(fallback="error", opset=18)
def with_options(x):
    return x + 1


class Scaler:
    factor = 2.0

    def __init__(self, shift):
        self.shift = shift

    @jit_onnx
    def apply(self, x):
        return x * self.factor + self._moved(x)

    def _moved(self, x):
        return x - self.shift

    @classmethod
    @jit_onnx
    def of_class(cls, x):
        return x * cls.factor

    @staticmethod
    @jit_onnx
    def of_nobody(x):
        return x + 1

    @jit_onnx
    @classmethod
    def outside_class(cls, x):
        return x * cls.factor

    @jit_onnx
    @staticmethod
    def outside_static(x):
        return x + 2

    def plain(self, x):
        return x * self.shift

    def __private(self, x):
        return x * 7

    @jit_onnx
    def private(self, x):
        return self.__private(x)

    def __call__(self, x):
        return x + self.shift


class Child(Scaler):
    factor = 3.0

    @jit_onnx
    def apply(self, x):
        return super().apply(x) + 1

    def _moved(self, x):
        return super()._moved(x) * 10


# ------------------------------------------------------------------ kinds


def test_methods():
    obj = Scaler(1.0)
    same(obj.apply(V), V * 2 + V - 1)
    same(Scaler.apply(obj, V), V * 2 + V - 1)
    same(Child(1.0).apply(V), V * 3 + (V - 1) * 10 + 1)
    same(obj.private(V), V * 7)


def test_class_and_static_methods():
    obj = Child(1.0)
    for owner in (obj, Child):
        same(owner.of_class(V), V * 3)
        same(owner.of_nobody(V), V + 1)
        same(owner.outside_class(V), V * 3)
        same(owner.outside_static(V), V + 2)
    same(Scaler.of_class(V), V * 2)


def test_bound_methods():
    obj = Scaler(4.0)
    agrees(obj.plain, (V,), graphs=1)
    same(jit_onnx(obj.apply)(V), obj.apply(V))


def test_callable_objects():
    agrees(Scaler(4.0), (V,), graphs=1)


def test_partials():
    def f(a, b, c=0.0):
        return a - b * c

    agrees(functools.partial(f, V), (V,), graphs=1)
    agrees(functools.partial(f, c=2.0), (V, V), graphs=1)
    agrees(functools.partial(functools.partial(f, V), c=V), (V,), graphs=1)
    agrees(functools.partial(np.sum, axis=0), (M,), graphs=1)


def test_lambdas_on_one_line():
    f, g = (lambda x: x + 1), (lambda x: x * 2)
    agrees(f, (V,))
    agrees(g, (V,))


def test_closures():
    def make(k):
        def inner(x):
            return x * k

        return inner

    agrees(make(2), (V,))
    agrees(make(V), (V,))


def test_decorated_functions_keep_their_decorator():
    def doubled(fn):
        @functools.wraps(fn)
        def call(*args, **kwargs):
            return fn(*args, **kwargs) * 2

        return call

    @doubled
    def f(x):
        return x + 1

    jit = agrees(f, (V,), graphs=1)
    same(jit(V), (V + 1) * 2)


def test_numpy_functions_and_ufuncs():
    agrees(np.sin, (V,), graphs=1)
    agrees(np.sum, (V,), graphs=1)
    agrees(np.concatenate, ([V, V],), graphs=1)
    agrees(np.linalg.norm, (V,), graphs=1)


def test_the_wrapper_looks_like_the_function():
    assert decorated.__name__ == "decorated"
    assert decorated.__wrapped__(V)[0] == np.exp(V)[0] * 2
    assert decorated.__doc__ is None
    assert "decorated" in repr(decorated)
    assert decorated.__module__ == __name__
    jit = jit_onnx(plain)
    assert jit.__wrapped__ is plain
    assert callable(jit)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="takes a function"):
        jit_onnx(3)


# ------------------------------------------------------------------ what is called


def test_jit_in_jit():
    jit = agrees(lambda x: decorated(x) + decorated(x * 2), (V,), graphs=1)
    model = jit.to_onnx(V)
    assert sum(n.op_type == "Exp" for n in model.graph.node) == 2


def test_a_jitted_method_in_jit():
    obj = Scaler(2.0)
    agrees(lambda x: obj.apply(x) + Child.of_class(x), (V,), graphs=1)


def test_nested_jit_with_other_options():
    agrees(lambda x: with_options(x) * 2, (V,), graphs=1)


def test_jit_of_jit():
    same(jit_onnx(decorated, fallback="error")(V), np.exp(V) * 2)


def test_local_imports():
    def f(x):
        import math as m

        import numpy  # noqa: ICN001
        from numpy import cos, zeros

        return numpy.sin(x) + cos(x) * m.pi + zeros(x.shape[0])

    agrees(f, (V,), (V[:2],), graphs=1)


def module_of(text, folder):
    """Import a module written to a file."""
    path = folder / "traps.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("onnxjit_traps", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_star_imports(tmp_path):
    text = (
        "from numpy import *\n\ndef f(x):\n"
        "    return exp(x) + zeros(x.shape) + max(abs(x)) + sum(x, axis=0) + round(x[0], 1)\n"
    )
    agrees(module_of(text, tmp_path).f, (V,), (V[:2],), graphs=1)


def test_a_name_of_its_own():
    agrees(lambda x: root(np.abs(x)), (V,), graphs=1)


def test_module_aliases():
    agrees(lambda x: la.norm(x) * x + np.linalg.norm(x), (V,), graphs=1)


def test_numpy_passed_as_an_argument():
    agrees(lambda x, xp: xp.sin(x) + xp.zeros(x.shape[0]), (V, np), graphs=1)


def test_numpy_as_a_default():
    def f(x, xp=np):
        return xp.sin(x) + xp.linalg.norm(x)

    agrees(f, (V,), graphs=1)


def test_numpy_in_an_attribute():
    class Backend:
        xp = np

        def __call__(self, x):
            return self.xp.arange(x.shape[0]) * x

    agrees(Backend(), (V,), (V[:1],), graphs=1)


def test_functions_in_containers():
    table: dict[str, Any] = {"relu": lambda x: np.maximum(x, 0), "sin": np.sin}
    steps: list[Any] = [np.cos, plain, np.abs]

    def f(x, name):
        for step in steps:
            x = step(x)
        return table[name](x)

    agrees(f, (V, "relu"), (V, "sin"), graphs=2)


def test_functions_as_arguments():
    agrees(lambda x, g: g(x) + 1, (V, np.tanh), (V, plain), graphs=2)


def test_recursion_of_static_depth():
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * x

    agrees(lambda x: power(x, 5), (V,), graphs=1)


def test_recursion_over_a_shape():
    def total(x):
        if len(x) == 1:
            return x[0]
        half = len(x) // 2
        return total(x[:half]) + total(x[half:])

    agrees(total, (np.arange(8.0),), (np.arange(5.0),))


def test_comprehensions_and_generators():
    def f(x):
        squares = [x * i for i in range(3)]
        total = sum(x[i] for i in range(x.shape[0]))
        named = {k: x + i for i, k in enumerate("ab")}
        pairs = [(i, j) for i in range(2) for j in range(i)]
        return squares, total, named, pairs, max(i * 2 for i in range(3))

    agrees(f, (V,), graphs=1)


def test_generator_functions():
    def steps(x, n):
        for i in range(n):
            yield x * i

    def f(x):
        return sum(steps(x, 3)) + np.stack(list(steps(x, 2))).sum()

    agrees(f, (V,), graphs=1)


def test_map_filter_zip_reduce():
    def f(x):
        doubled = list(map(lambda v: v * 2, [x, x + 1]))  # noqa: C417
        kept = list(filter(None, [0, 1, 2]))
        pairs = [a - b for a, b in zip(doubled, [x, x], strict=True)]
        return functools.reduce(np.add, pairs) * len(kept)

    agrees(f, (V,), graphs=1)


def test_nested_functions_and_nonlocal():
    def f(x):
        count = 0

        def bump(v):
            nonlocal count
            count += 1
            return v + count

        return bump(x) * bump(x) + count

    agrees(f, (V,), graphs=1)


def test_classes_made_inside():
    def f(x):
        class Acc:
            def __init__(self):
                self.total = 0.0

            def add(self, v):
                self.total = self.total + v
                return self

        return Acc().add(x).add(x * 2).total

    agrees(f, (V,), graphs=1)


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.maximum(x @ self.w, 0)

    def __matmul__(self, other):
        return Layer(self.w @ other.w)


def test_user_classes_are_made_and_called():
    def f(x, w):
        layer = Layer(w) @ Layer(w)
        return layer(x)

    agrees(f, (M, M), graphs=1)


def test_context_managers():
    def f(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.log(np.abs(x))
        return y  # noqa: RET504

    agrees(f, (V,), graphs=1)


def test_try_except_of_static_things():
    def f(x):
        try:
            table: dict[str, int] = {}
            return x + table["missing"]
        except KeyError:
            return x + 1
        finally:
            pass

    agrees(f, (V,), graphs=1)


def test_match_statements():
    def f(x, mode):
        match mode:
            case "a":
                return x + 1
            case {"k": k}:
                return x * k
            case [a, *_]:
                return x - a
            case _:
                return x

    agrees(f, (V, "a"), (V, {"k": 2}), (V, [3, 4]), (V, None))


def test_walrus_and_chained_comparison():
    def f(x):
        if (n := x.shape[0]) > 1 and 0 < n < 10:
            return x * n
        return x

    agrees(f, (V,), (V[:1],))


def test_helpers_of_another_module(tmp_path):
    text = "import numpy as np\n\nK = 3.0\n\ndef scale(x):\n    return np.sin(x) * K\n"
    module = module_of(text, tmp_path)
    jit = agrees(lambda x: module.scale(x), (V,), graphs=1)
    module.K = 5.0
    same(jit(V), np.sin(V) * 5)


# ------------------------------------------------------------------ without source


def compiled(text, **names):
    namespace = {"np": np, "math": math, **names}
    exec(text, namespace)
    return namespace["f"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return np.sin(x) + np.zeros(x.shape[0])",
        "def f(x): return np.arange(len(x)) * x",
        "def f(x): return sum(x) + max(x[0], x[1])",
        "def f(x): return TABLE * x",
        "def f(x): return TABLE[np.argsort(x)]",
        "def f(x): return helper(x) + 1",
        "def f(x): return [v * 2 for v in x]",
        "def f(x): return isinstance(x, np.ndarray) and x.ndim == 1",
        "def f(x):\n  y = x.copy()\n  y += 1\n  return y",
        "f = lambda x: np.linalg.norm(x) * x",
    ],
)
def test_code_without_source(text):
    table = np.array([1.0, 2.0, 3.0])
    fn = compiled(text, TABLE=table, helper=lambda x: np.cos(x) * len(x))
    agrees(fn, (V,), graphs=1)


def test_stores_without_source_fall_back():
    fn = compiled("def f(x):\n  global G\n  G = x\n  return x + 1")
    with pytest.raises(SideEffectError):
        jit_onnx(fn, fallback="error")(V)
    with pytest.warns(FallbackWarning):
        same(jit_onnx(fn)(V), V + 1)


def test_functions_that_read_their_frame():
    def f(x):
        return x + len(locals())

    agrees(f, (V,), graphs=1)


def test_functions_that_evaluate_text():
    def f(x):
        return eval("np.sin(x) + 1")

    agrees(f, (V,), graphs=1)


# ------------------------------------------------------------------ copies


def test_a_decorated_function_pickles_by_name():
    again = pickle.loads(pickle.dumps(decorated))
    assert again is decorated


def test_a_wrapped_function_pickles():
    jit = jit_onnx(plain, opset=18, fallback="error")
    jit(V)
    again = pickle.loads(pickle.dumps(jit))
    assert again is not jit
    same(again(V), plain(V))
    assert again.to_onnx(V).opset_import[0].version == 18
    assert again.cache_info() == {"graphs": 1, "eager": 0}


def test_bound_methods_pickle():
    again = pickle.loads(pickle.dumps(Scaler(3.0).apply))
    same(again(V), Scaler(3.0).apply(V))


def test_a_jitted_function_copies():
    jit = jit_onnx(plain)
    same(copy.copy(jit)(V), plain(V))
    same(copy.deepcopy(jit)(V), plain(V))
    assert copy.copy(decorated) is decorated


def test_redefinition_of_a_helper_is_seen():
    namespace = {"np": np}
    exec("def g(x): return x + 1", namespace)
    exec("def f(x): return g(x) * 2", namespace)
    jit = jit_onnx(namespace["f"], fallback="error")
    same(jit(V), (V + 1) * 2)
    exec("def g(x): return x - 1", namespace)
    same(jit(V), (V - 1) * 2)
