# SPDX-License-Identifier: Apache-2.0
"""Whether a result of no axes is a NumPy scalar or an array: as NumPy has it, call by call."""

import linecache
import warnings

import numpy as np
import pytest

from onnxjit import jit_onnx
from tests.jit.harness import same

NAMES = {
    "V": np.array([1.0, 2.0, 4.0]), "Z": np.array(2.0), "S": np.float64(2.0), "K": np.array(1),
    "J": np.int64(1), "M": np.eye(3) + 1, "B": np.array([True, False]), "T": np.array(True),
}  # fmt: skip
GROUPS = {
    "functions of one": """
        np.clip(Z, 0, 1); np.clip(S, 0, 1); np.round(Z); np.round(S); np.around(S, 1);
        np.real(Z); np.real(S); np.nan_to_num(Z); np.nan_to_num(S); np.sinc(Z); np.fix(Z);
        np.squeeze(V[:1]); np.squeeze(S); np.squeeze(Z); np.copy(S); np.copy(Z);
        np.isin(S, [1]); np.isin(Z, [1]); np.cumsum(Z); np.cumsum(S); np.pad(Z, 0);
        np.roll(Z, 1); np.flip(Z); np.flip(S); np.transpose(Z); np.transpose(S);
        np.reshape(S, ()); np.reshape(Z, ()); np.ravel(S); np.expand_dims(S, 0);
        np.broadcast_to(S, ()); np.broadcast_to(Z, ()); np.atleast_1d(S); np.array(S);
        np.array(Z); np.asarray(S); np.full((), S); np.full_like(Z, 1); np.zeros_like(S);
        np.isreal(Z); np.isnan(S); np.isposinf(Z); np.conj(S); np.tile(S, 2); np.repeat(S, 2)
    """,
    "functions of several": """
        np.searchsorted(V, S); np.searchsorted(V, Z); np.interp(S, V, V); np.interp(Z, V, V);
        np.digitize(S, V); np.digitize(Z, V); np.dot(Z, Z); np.dot(V, V); np.take(V, J);
        np.take(V, K); np.take(V, 1); np.choose(J, [V[0], V[1]]); np.choose(K, [V[0], V[1]]);
        np.where(T, 1, 2); np.where(T, S, 2); np.select([T], [S]); np.isclose(S, 1);
        np.isclose(Z, 1); np.inner(V, V); np.vdot(V, V); np.einsum("i,i", V, V);
        np.einsum("i,i->", V, V); np.tensordot(V, V, 1); np.matmul(V, V); V @ V; np.kron(S, S);
        np.unravel_index(K, (2, 3)); np.unravel_index(J, (2, 3)); np.linspace(0, S, 3);
        np.ravel_multi_index((K, K), (2, 3)); np.polyval([1, 2], Z); np.polyval([1, 2], S)
    """,
    "reductions": """
        np.sum(Z); np.sum(S); np.max(Z); np.mean(S); np.prod(Z); np.min(S); np.any(T);
        np.all(B); np.std(V); np.nansum(V); np.nanmax(V); np.median(V); np.percentile(V, 50);
        np.average(V); np.ptp(V); np.count_nonzero(V); np.argmax(V); np.trace(M); np.cov(V);
        np.corrcoef(V); np.trapezoid(V); np.linalg.norm(V); np.linalg.norm(M, axis=0);
        np.sum(V, keepdims=True); np.max(M, initial=5); np.sum(M, axis=(0, 1));
        np.add.reduce(V); np.maximum.reduce(V); np.add.reduce(M, axis=None); np.var(V, ddof=1);
        np.add.outer(Z, Z);
        np.count_nonzero(M, axis=0); np.sum(V, where=V > 1); np.linalg.vector_norm(V)
    """,
    "ufuncs and operators": """
        np.add(Z, 1); np.add(S, Z); np.maximum(Z, S); np.divmod(S, 2); np.divmod(Z, 2);
        np.modf(S); np.frexp(S); np.square(S); np.signbit(S); np.hypot(S, S); Z + 1; S + 1;
        Z + Z; -Z; abs(Z); Z ** 2; 2 ** Z; Z // 2; Z % 2; Z > 1; S > 1; Z == Z; ~T; T & T;
        K << 1; J & 1; divmod(Z, 2); Z * V; S * V; np.logical_not(T)
    """,
    "methods": """
        Z.sum(); S.sum(); Z.max(); Z.copy(); S.copy(); Z.astype(int); S.astype(int);
        Z.reshape(()); S.reshape(()); Z.T; S.T; Z.ravel(); Z.squeeze(); S.squeeze(); Z.round();
        S.round(); Z.clip(0, 1); S.clip(0, 1); Z.real; S.real; Z.item(); S.item(); Z.tolist();
        S.tolist(); Z.any(); Z.argmax(); Z.cumsum(); Z.dot(Z); V.take(1); V.take(K);
        V.searchsorted(S); M.trace(); V.item(0); M.sum(axis=None)
    """,
    "subscripts": """
        Z[()]; S[()]; Z[...]; S[...]; Z[None]; V[0]; V[K]; V[J]; V[0, ...]; V[..., 0]; M[0, 0];
        M[K, K]; M[0][K]; M[K]; M[0, ..., 0]; V[np.array(0)]; M[(0, 0)]; V[True, 0]
    """,
    "Python's": """
        np.float32(Z); np.float32(S); np.float64(V); np.int32(V); np.bool_(Z); float(Z);
        int(Z);
        round(S); round(S, 1); abs(S); max(S, Z); max(V[0], V[1]); sum(V); sum([S, Z]); [*V];
        complex(1); bool(S); divmod(S, 2); pow(S, 2); np.max([S, Z]); np.mean([S, S]); (S, Z)
    """,
}
CALLS = [c.strip() for text in GROUPS.values() for c in text.split(";")]


def function_of(call):
    """Return a function of one line, whose source can be found."""
    text = f"def f({', '.join(NAMES)}): return {call}\n"
    name = f"<kind {call}>"
    linecache.cache[name] = (len(text), None, [text], name)
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("call", CALLS)
def test_kinds_are_numpys(call):
    fn = function_of(" ".join(call.split()))
    args = NAMES.values()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        want = fn(*args)
    same(jit_onnx(fn, fallback="error")(*args), want)
