# SPDX-License-Identifier: Apache-2.0
"""Complex arrays at the boundary of calls and models, and views of their parts."""

from __future__ import annotations

import cmath
import json
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import asarray, complex64, complex128, jit_onnx
from onnxjit._transform.pipeline import run_passes
from tests.jit.harness import run_model
from tests.ops.harness import trace

rng = np.random.default_rng(5)


def normal(*shape: int, dtype: str = "c16") -> Any:
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


LAYOUTS = {
    "C": normal(3, 4),
    "transposed": normal(4, 3).T,
    "F": np.asfortranarray(normal(3, 4)),
    "strided": normal(6, 4)[::2],
    "reversed": normal(3, 4)[:, ::-1],
    "repeated": np.broadcast_to(normal(4), (3, 4)),
    "big-endian": normal(3, 4).astype(">c16"),
    "complex64": normal(3, 4, dtype="c8"),
    "no rows": normal(0, 4),
    "no columns": normal(3, 0),
    "0-d": np.array(2 - 1j),
    "scalar": np.complex128(2 - 1j),
    "complex64 scalar": np.complex64(2 - 1j),
    "parts": normal(3, 8).real[:, ::2] + 0j,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_of_any_layout(layout: str) -> None:
    z = LAYOUTS[layout]
    fn = jit_onnx(lambda z: (z * 2 + 1j, z, abs(z)), fallback="error")
    want = (z * 2 + 1j, z, abs(z))
    for _ in range(3):
        got = fn(z)
        assert got[1] is z
        for g, w in zip(got, want, strict=True):
            assert type(g) is type(w)
            assert g is w or g.dtype == w.dtype.newbyteorder("=")
            np.testing.assert_allclose(g, w, rtol=1e-6)


def test_arguments_are_changed_in_place() -> None:
    @jit_onnx(fallback="error")
    def turn(z: Any) -> None:
        z *= 1j
        z.real[0] = 7

    z = normal(5)
    want = z * 1j
    want.real[0] = 7
    turn(z)
    np.testing.assert_allclose(z, want)


def test_constants_are_complex() -> None:
    table, large = normal(4), normal(300, 300)
    fn = jit_onnx(lambda i, x: (table[i], large[:4] @ x, 3j), fallback="error")
    x = normal(300)
    picked, product, number = fn(np.int64(2), x)
    assert picked == table[2]
    np.testing.assert_allclose(product, large[:4] @ x)
    assert number == 3j


def test_models_hold_parts_on_a_last_axis() -> None:
    fn = jit_onnx(lambda z, w, x: (z @ w, z, x * 1j, np.array([1j, 2]), abs(z)))
    z, w, x = normal(2, 3, dtype="c8"), normal(3, dtype="c8"), np.ones(2, np.float32)
    model = fn.to_onnx(z, w, x)
    shapes = [
        [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]
        for value in (*model.graph.input, *model.graph.output)
    ]
    assert [shape[-1] for shape in shapes] == [2, 2, "x_0", 2, 2, 2, 2, shapes[-1][-1]]
    session = ort.InferenceSession(model.SerializeToString())
    feeds = {
        "z": z[..., None].view(np.float32), "w": w[..., None].view(np.float32), "x": x,
    }  # fmt: skip
    got = session.run(None, feeds)
    for g, want in zip(got[:4], (z @ w, z, x * np.complex64(1j), [1j, 2]), strict=True):
        whole = g.view(np.complex64 if g.dtype == np.float32 else np.complex128)[..., 0]
        np.testing.assert_allclose(whole, want, rtol=1e-5)
    np.testing.assert_allclose(got[4], abs(z), rtol=1e-6)
    properties = {p.key: p.value for p in model.metadata_props}
    assert json.loads(properties["onnxjit.complex"]) == {
        "z": "complex64", "w": "complex64", "output_0": "complex64", "output_1": "complex64",
        "output_2": "complex64", "output_3": "complex128",
    }  # fmt: skip


def test_specifications() -> None:
    model = jit_onnx(lambda z, c: z * c).to_onnx(complex128["N", None], complex64)
    first, second = (v.type.tensor_type for v in model.graph.input)
    assert [d.dim_param or d.dim_value for d in first.shape.dim][0::2] == ["N", 2]
    assert [d.dim_value for d in second.shape.dim] == [2]
    assert (first.elem_type, second.elem_type) == (11, 1)


def test_tools_compare_complex_results() -> None:
    fn = jit_onnx(lambda z: (np.exp(z), z[0], z.sum()))
    z = normal(4)
    found = fn.verify(z, opsets=[13, 28])
    assert found.ok
    assert "complex128[4]" in str(found)
    assert "x: complex128[:]" in _explained(fn, z)
    assert "results agree" in str(jit_onnx(lambda z: z * 2).benchmark(z, repeat=1))


def _explained(fn: Any, z: Any) -> str:
    fn(z)
    return str(fn.explain()).replace("(z: ", "(x: ")


def assigned(z: Any) -> None:
    z.real = 3.0
    z.imag = z.real * 2


VIEWS = {
    "parts": lambda z: (z.real * 2, z.imag.copy()),
    "written real": lambda z: z.real.__setitem__(slice(1, 3), 9.0),
    "written imag": lambda z: z.imag.__iadd__(1.0),
    "assigned": assigned,
    "of a slice": lambda z: z[1:].T.real.__setitem__(0, 4.0),
    "pairs": lambda z: z.view(np.float64) * 2,
    "written pairs": lambda z: z.view(np.float64).__setitem__((slice(None), 1), 8.0),
    "back": lambda z: z.view(np.float64).view(np.complex128).__setitem__(0, 5j),
    "reshaped pairs": lambda z: z.view(np.float64).reshape(-1, 2)[:, 0].sum(),
    "kept": lambda z: (z.real, z.__imul__(2))[0],
}


@pytest.mark.parametrize("what", VIEWS)
def test_parts_are_views(what: str) -> None:
    look = VIEWS[what]

    def program(z: Any) -> Any:
        z = z.copy()
        return look(z), z

    z = normal(4, 3)
    want, after = program(z)
    got, changed = jit_onnx(program, fallback="error")(z)
    np.testing.assert_allclose(changed, after)
    for g, w in zip(results(got), results(want), strict=True):
        np.testing.assert_allclose(g, w)


def results(x: Any) -> list[Any]:
    """Return the arrays among results."""
    return [v for v in (x if isinstance(x, tuple) else (x,)) if hasattr(v, "dtype")]


def test_pairs_become_complex_numbers() -> None:
    x = rng.normal(size=(3, 4))
    fn = jit_onnx(lambda x: x.view(np.complex128) * 1j, fallback="error")
    np.testing.assert_allclose(fn(x), x.view(np.complex128) * 1j)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.array(1j), "f8"), (normal(4, 3).T, "f8"), (np.ones((2, 3)), "c16"),
        (np.ones((4, 6))[:, ::2], "c16"),
    ],
)  # fmt: skip
def test_views_that_numpy_refuses(x: Any, dtype: str) -> None:
    with pytest.raises(ValueError) as want:  # noqa: PT011  the text is compared
        x.view(dtype)
    with pytest.raises(ValueError) as got:  # noqa: PT011
        jit_onnx(lambda x: x.view(dtype), fallback="error")(x)
    assert str(got.value).splitlines()[0] == str(want.value)


def test_python_numbers() -> None:
    got = jit_onnx(numbers, fallback="error")(np.array([3.0]), 4.0)
    want = numbers(np.array([3.0]), 4.0)
    assert got == want
    assert list(map(type, got)) == list(map(type, want))


def test_functions_of_cmath() -> None:
    def many(z: Any) -> Any:
        z = complex(z[0])
        one = [cmath.exp(z), cmath.log(z), cmath.log(z, 2), cmath.sqrt(z), cmath.atanh(z)]
        return (*one, cmath.phase(z), cmath.isnan(z), cmath.isfinite(z))

    z = np.array([-1.5 + 0.5j])
    got, want = jit_onnx(many, fallback="error")(z), many(z)
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert list(map(type, got)) == list(map(type, want))


def numbers(x: Any, y: Any) -> Any:
    z = complex(x[0], y)
    one = np.complex64(x[0])
    return z, abs(z), z.real, z.imag, z.conjugate(), complex(z) * 2, one, np.complex128(y)


def test_the_pass_leaves_complex_values_at_the_boundary_only() -> None:
    def program(z: Any) -> Any:
        from onnxjit._ops import elementwise as ew
        from onnxjit._ops.structure import transpose

        return [transpose(ew.multiply(z, z), [1, 0]), z]

    traced, changed = run_passes(trace(program, normal(2, 3)))
    assert changed
    inner = [e for e in traced.walk() if e.op.name != "make_complex"]
    assert all(v.dtype.kind == "f" for e in inner for v in e.outputs)
    assert [v.dtype.name for v in traced.outputs] == ["complex128", "complex128"]


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [-1, 0.5, 2, -1.0, 2.0, 1, 0, 3, 2 + 0j, np.int64(-1)])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_short_ways_to_a_power(exponent: Any, dtype: str) -> None:
    z = np.empty((7, 7), dtype)
    z.real, z.imag = SPECIAL[:, None], SPECIAL

    def power(z: Any) -> Any:
        return z**exponent, np.power(z, exponent), z[5, 6] ** exponent

    def in_place(z: Any) -> Any:
        z **= exponent
        return (z,)

    for program in (power, in_place):
        want = program(z.copy())
        calls = (jit_onnx(program, fallback="error"), lambda z, f=program: f(asarray(z)))
        for call in calls:
            for g, w in zip(call(z.copy()), want, strict=True):
                for part, other in ((np.real(g), w.real), (np.imag(g), w.imag)):
                    np.testing.assert_allclose(part, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("number", [1j, np.complex64(2), np.bool_(True), np.array(1j)])
@pytest.mark.parametrize("function", [round, range])
def test_numbers_that_are_not_rounded_and_not_counted_to(number: Any, function: Any) -> None:
    with pytest.raises(TypeError) as want:
        function(number)
    for fallback in ("error", "eager"):
        with pytest.raises(TypeError) as got:
            jit_onnx(lambda x: function(x), fallback=fallback)(number)
        assert str(got.value).splitlines()[0] == str(want.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [np.nanmax, np.nanmin])
def test_models_of_any_length_find_nan_where_nothing_else_is(function: Any) -> None:
    z = np.array([[np.nan + 1j, np.nan * 1j], [1 + 1j, np.nan]])
    model = jit_onnx(lambda z: function(z, axis=1)).to_onnx(z)
    (got,) = run_model(model, z.view(np.float64).reshape(2, 2, 2))
    assert np.isnan(got).any(axis=-1).tolist() == [True, False]


def test_the_imaginary_part_of_real_numbers_is_read_only() -> None:
    def write(x: Any) -> Any:
        x.imag[0] = 1.0
        return x

    for call in (write, jit_onnx(write, fallback="error"), lambda x: write(asarray(x))):
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            call(np.ones(3))
    parts = jit_onnx(lambda x: (x.imag + 1, x.imag.flags.writeable), fallback="error")(
        np.ones(3)
    )
    np.testing.assert_array_equal(parts[0], np.ones(3))
    assert parts[1] is False
