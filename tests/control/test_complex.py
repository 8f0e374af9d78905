# SPDX-License-Identifier: Apache-2.0
"""Branches and loops whose state is complex, in calls, eagerly and as models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnxjit import asarray, cond, fori_loop, jit_onnx, scan

if TYPE_CHECKING:
    from collections.abc import Callable


def escape(c: Any, most: Any) -> Any:
    z, steps = 0j, 0
    while abs(z) < 2 and steps < most:
        z = z * z + c
        steps += 1
    return z, steps


def newton(z: Any) -> Any:
    for _ in range(60):
        if abs(z**3 - 1) < 1e-12:
            break
        z -= (z**3 - 1) / (3 * z * z)
    return z


def running(z: Any) -> Any:
    out = np.zeros(z.shape[0], complex)
    total = 1 + 0j
    for i in range(z.shape[0]):
        total *= z[i]
        out[i] = total
    return out, total


def turned(z: Any) -> Any:
    result = z.conj()
    if z.real.sum() > 0:
        result = z * 1j
    return result


def parts_in_a_loop(z: Any) -> Any:
    z = z.copy()
    for i in range(z.shape[0]):
        if z[i].imag < 0:
            z.imag[i] = -z[i].imag
        else:
            z.real[i] = 0
    return z


def growing(z: Any) -> Any:
    kept = []
    for x in z:
        if abs(x) > 1:
            kept.append(x * 2)  # noqa: PERF401  a list that grows
    return np.array(kept)


Z = np.exp(1j * np.arange(7.0)) * np.linspace(0.5, 1.5, 7)
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (escape, (np.complex128(0.3 + 0.5j), 40)),
    (escape, (np.complex128(1 + 1j), 40)),
    (escape, (np.complex64(-1), 5)),
    (newton, (np.complex128(1 + 2j),)),
    (running, (Z,)),
    (running, (np.exp(1j * np.arange(400.0)),)),
    (turned, (Z,)),
    (turned, (-Z,)),
    (parts_in_a_loop, (Z,)),
    (growing, (Z,)),
]


def name(program: Any) -> str:
    return getattr(program, "__name__", "")


@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=name)
def test_calls(program: Callable[..., Any], args: tuple[Any, ...]) -> None:
    fn = jit_onnx(program, fallback="error")
    for _ in range(2):
        for got, want in zip(flat(fn(*args)), flat(program(*args)), strict=True):
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-10)


def flat(x: Any) -> list[Any]:
    return [*x] if isinstance(x, tuple) else [x]


@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=name)
def test_models(program: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found = jit_onnx(program).verify(*args, opsets=[13, 28], target="onnxruntime", rtol=1e-5)
    assert found.ok, str(found)


def test_eager_arrays() -> None:
    z = asarray(Z.copy())
    z.imag[1:3] = 5
    z *= 2j
    want = Z.copy()
    want.imag[1:3] = 5
    want *= 2j
    np.testing.assert_array_equal(np.asarray(z), want)
    np.testing.assert_array_equal(np.asarray(parts_in_a_loop(z)), parts_in_a_loop(want))


def test_functional_forms() -> None:
    def forms(z: Any) -> Any:
        last, every = scan(lambda s, x: (s * x, s), np.complex128(1), z)
        chosen = cond(z.real.sum() > 0, lambda: z, z.conj)
        power = fori_loop(0, 5, lambda _, s: s * (1 + 1j), np.complex128(1j))
        return last, every, chosen, power

    last, every, chosen, power = jit_onnx(forms, fallback="error")(Z)
    np.testing.assert_allclose(last, Z.prod(), rtol=1e-12)
    np.testing.assert_allclose(every, np.concatenate([[1], Z.cumprod()[:-1]]), rtol=1e-12)
    np.testing.assert_array_equal(chosen, Z if Z.real.sum() > 0 else Z.conj())
    np.testing.assert_allclose(power, 1j * (1 + 1j) ** 5, rtol=1e-12)
