# SPDX-License-Identifier: Apache-2.0
"""Make random calls out of `table_calls` and compare NumPy, jitted calls and exported models.

A case is text, a seed and an opset; everything follows from them.  Cases run in forked
processes, because a fault of a runtime can end one.

Run ``python -m tests.ops.table_fuzz --first 0 --count 2000`` for a search.
"""

from __future__ import annotations

import argparse
import copy
import json
import linecache
import os
import pickle
import random
import re
import select
import signal
import struct
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime as ort
from onnx.reference import ReferenceEvaluator

from onnxjit import AssumptionWarning, OnnxJitError, eager_onnx, jit_onnx
from onnxjit._ops.table import UFUNCS
from onnxjit._runtime.reference_faults import faults_of
from tests.ops import table_calls
from tests.ops.table_compare import (
    Outcome,
    bound,
    described,
    difference,
    is_excused,
    leaves,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import onnx

__all__ = ["Case", "Fault", "cases", "faults", "try_case"]

Array = np.ndarray[Any, Any]

INTS: Final = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FLOATS: Final = ("f2", "f4", "f8")
#: dtypes of an argument by the letter of its kind; frequent ones are repeated
KINDS: Final = {
    "a": ("?", *INTS, *FLOATS, "f8", "f4", "i8", "u1"),
    "f": (*FLOATS, "f8", "f8"),
    "d": ("f4", "f8"),
    "i": INTS,
    "b": ("?",),
    "k": ("i8", "i8", "i4", "u1", "i2"),
    "s": ("f8", "f8", "f4", "i8", "f2"),
    "u": ("i8", "i8", "i4", "u1"),
}
#: sizes n, m, p; a function is traced for the first of them
SIZES: Final = (
    (3, 4, 2),
    (1, 1, 1),
    (0, 3, 2),
    (3, 0, 2),
    (2, 2, 2),
    (7, 5, 3),
    (0, 0, 0),
    (1, 4, 1),
)
OPSETS: Final = (21, 28, 18, 13, 15, 21)
NAME: Final = re.compile(r"\b([afdibksuhw])(\d?)_([nmp1-9]*)\b")
CHOICE: Final = re.compile(r"\{([^{}]*\|[^{}]*)\}")
#: seconds for a case
PATIENCE: Final = 120


class Fault:
    """A way in which a case went wrong."""

    __slots__ = ("case", "kind", "text")

    def __init__(self, case: Case, kind: str, text: str) -> None:
        self.case = case
        self.kind = kind
        self.text = text

    def __repr__(self) -> str:
        text = self.text.replace("\n", " ")[:420]
        return f"{self.kind}: {self.case}\n      {text}"


class Case:
    """A function as text, and the seed of its arguments."""

    __slots__ = ("body", "opset", "seed", "sizes")

    def __init__(
        self, body: str, seed: int, opset: int, sizes: Sequence[tuple[int, int, int]] = SIZES
    ) -> None:
        self.body = body
        self.seed = seed
        self.opset = opset
        self.sizes = sizes

    def __repr__(self) -> str:
        return f"Case({self.body!r}, {self.seed}, {self.opset})"

    @property
    def names(self) -> list[str]:
        """Names of the arguments, in the order in which they appear."""
        return list(dict.fromkeys(m.group() for m in NAME.finditer(self.body)))

    def function(self) -> Callable[..., Any]:
        """Return the case as a function whose source can be found."""
        text = self.body if "return" in self.body else f"return {self.body}"
        head = "".join(f"    {s} = {t}\n" for s, t in self._locals())
        source = f"def call({', '.join(self.names)}):\n{head}    {text}\n"
        file = f"<case {hash(source)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        scope: dict[str, Any] = {"np": np}
        exec(compile(source, file, "exec"), scope)
        function: Callable[..., Any] = scope["call"]
        return function

    def _locals(self) -> Iterator[tuple[str, str]]:
        for letter in "nmp":
            if re.search(rf"\b{letter}\b", self.body):
                for name in self.names:
                    axes = name.partition("_")[2]
                    if letter in axes and name[0] not in "hw":
                        yield letter, f"{name}.shape[{axes.index(letter)}]"
                        break

    def arguments(self) -> Iterator[list[Any]]:
        """Return the arguments of each call, in the same dtypes."""
        rng = random.Random(self.seed)
        dtypes = {n: rng.choice(KINDS.get(n[0], ("i8",))) for n in self.names}
        if rng.random() < 0.45 and len(dtypes) > 1:
            dtypes |= {n: dtypes[self.names[0]] for n in dtypes if n[0] == self.names[0][0]}
        special = rng.random() < 0.5
        layout = rng.choice(("C", "C", "C", "F", "strided", "reversed", "readonly", "big"))
        if "=" in self.body and layout in {"readonly", "big"}:
            layout = "strided"
        for number, sizes in enumerate(self.sizes):
            of = dict(zip("nmp", sizes, strict=True))
            yield [
                _argument(n, dtypes[n], of, self.seed + number, special, layout)
                for n in self.names
            ]


def _argument(
    name: str, dtype: str, of: dict[str, int], seed: int, special: bool, layout: str
) -> Any:
    kind, axes = name[0], name.partition("_")[2]
    rng = np.random.default_rng([*name.encode(), seed])
    if kind == "h":
        return int(rng.choice([2, 3, 0, 1, -1, -2, 5, 100] if special else [2, 1, 3, 4]))
    if kind == "w":
        return float(
            rng.choice([0.5, -2.0, 3.0, np.nan, np.inf, -0.0] if special else [0.5, 2.0, 3.5])
        )
    shape = tuple(of[c] if c in of else int(c) for c in axes)
    x = _values(kind, np.dtype(dtype), shape, rng, special)
    return _laid(x, layout)


def _values(kind: str, dtype: Any, shape: Any, rng: Any, special: bool) -> Array:
    if kind in "ku":
        low = -1 if kind == "k" and special and dtype.kind == "i" else 0
        return np.asarray(rng.integers(low, 3, shape)).astype(dtype)
    if kind == "s":
        return np.asarray(np.sort(np.asarray(rng.integers(-4, 9, shape) / 2), axis=-1)).astype(
            dtype
        )
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind == "f":
        x = np.asarray(np.round(rng.normal(size=shape) * 3, 1 if special else 0)).astype(dtype)
        if special and x.ndim and x.size:
            at = rng.integers(0, x.size, 2)
            x.flat[at[0]] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
            x.flat[at[1]] = rng.choice([np.nan, 1e300 if dtype == "f8" else 6e4, -0.0])
        return x
    low = 0 if dtype.kind == "u" else -6
    x = np.asarray(rng.integers(low, 9, shape)).astype(dtype)
    if special and x.size:
        info = np.iinfo(dtype)
        x.flat[rng.integers(0, x.size)] = rng.choice([info.max, info.min])
    return x


def _laid(x: Array, layout: str) -> Array:
    if layout == "F":
        return np.asfortranarray(x) if x.ndim else x
    if layout == "strided" and x.ndim:
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if layout == "reversed" and x.ndim:
        return np.ascontiguousarray(x[::-1])[::-1]
    if layout == "big":
        return x.astype(x.dtype.newbyteorder(">"))
    if layout == "readonly":
        x.setflags(write=False)
    return x


# --- cases ---


def _chosen(text: str, rng: random.Random) -> str:
    while found := CHOICE.search(text):
        text = text[: found.start()] + rng.choice(found[1].split("|")) + text[found.end() :]
    return text


def _ufunc_text(rng: random.Random) -> str:
    ufunc = rng.choice([*UFUNCS])
    name = f"np.{ufunc.__name__}"
    if not hasattr(np, ufunc.__name__) or ufunc is not getattr(np, ufunc.__name__):
        return _ufunc_text(rng)
    if ufunc.signature is not None or ufunc is np.clip:
        return _ufunc_text(rng)
    given = ["{a_nm|f_nm|a_n1}", "{a1_nm|a1_m|a1_|a_nm|2|0|-3|1.5|w_|h_|True}"][: ufunc.nin]
    call = f"{name}({', '.join(given)}"
    option = rng.choice(("plain", "plain", "plain", "plain", "where", "out", "dtype"))
    if ufunc.nout > 1 and option in {"where", "out"}:
        option = "plain"
    dtype = rng.choice(_DTYPES[option])
    casting = rng.choice(("", ", casting='unsafe'"))
    if option == "where":
        # `out` for what is left out; NumPy itself can end the process where it is empty
        mask = rng.choice(("b_nm", "b_m"))
        return (
            f"out = np.zeros((max(n, 1), max(m, 1)), {dtype})\n"
            f"    {call}, where={mask}, out=out, casting='unsafe')\n    return out"
        )
    if option == "out":
        return (
            f"out = np.ones((n, m), {dtype})\n"
            f"    r = {call}, out=out{casting})\n    return r, out, r is out"
        )
    return f"{call}, dtype={dtype}{casting})" if option == "dtype" else f"{call})"


#: dtypes of `out`, or to compute in
_DTYPES: Final = {
    "plain": ("",),
    "where": ("np.float64", "bool", "np.int64"),
    "out": ("np.float32", "np.float64", "np.int32", "np.int64", "bool"),
    "dtype": ("np.float32", "np.float64", "np.float16", "np.int32", "np.uint8", "bool"),
}


_POOLS: Final = (
    table_calls.CALLS,
    table_calls.METHODS,
    table_calls.OPERATORS,
    table_calls.ARRAYS,
    table_calls.UFUNC_METHODS,
)


def _text(rng: random.Random, only: str | None) -> str:
    while True:
        pool: Any = rng.choices(
            (*_POOLS, None),
            (8, 2, 3, 3, 2, 4),
        )[0]
        raw = _ufunc_text(rng) if pool is None else rng.choice(pool)
        text = _chosen(raw, rng).replace(" OR ", " | ")
        if pool is table_calls.ARRAYS:
            first = NAME.search(text)
            assert first is not None
            text += f"\n    return {first[0]}"
        if only is None or re.search(only, text):
            return text


def cases(
    first: int, count: int, *, only: str | None = None, **options: Any
) -> Iterator[Case]:
    """Return `count` cases; `only` is an expression that their text must match."""
    for seed in range(first, first + count):
        rng = random.Random(seed)
        text = _text(rng, only)
        n = rng.randrange(len(SIZES))
        sizes = options.get("sizes") or (
            SIZES if rng.random() < 0.7 else SIZES[n:] + SIZES[:n]
        )
        yield Case(text, seed, options.get("opset") or OPSETS[seed % len(OPSETS)], sizes)


# --- trying a case ---


def _compared(case: Case, got: Outcome, want: Outcome) -> tuple[str, str] | None:
    if want.undefined and want.error is None and got.error is None:
        return None
    if isinstance(got.error, OnnxJitError) and not (
        want.error is not None and isinstance(got.error, type(want.error))
    ):
        if want.error is not None:
            return None
        return f"refused {type(got.error).__name__}", str(got.error)
    if want.error is not None:
        if got.error is None:
            return "raises nothing", f"instead of {want.error!r}"
        if type(got.error) is not type(want.error):
            known_first = isinstance(got.error, TypeError) and "out of bounds" in str(
                want.error
            )
            return (
                "earlier exception" if known_first else "other exception",
                f"{got.error!r} instead of {want.error!r}",
            )
        return None
    if got.error is not None:
        return "raises", f"{type(got.error).__name__}: {got.error}"
    limit = bound(want)
    text = difference(got.value, want.value, bound=limit)
    if text and is_excused(case.body, text, want):
        text = ""
    if text:
        return ("signed zero" if "signed zero" in text else "wrong"), text
    text = difference(got.arguments, want.arguments, "arguments", bound=limit)
    return ("wrong arguments", text) if text else None


def _jit_faults(case: Case, function: Any, calls: list[list[Any]]) -> Iterator[Fault]:
    rng = random.Random(case.seed)
    jits = {"jit": jit_onnx(function, fallback="error", opset=case.opset)}
    if rng.random() < 0.2:
        jits["eager"] = eager_onnx(function)
    for name, jit in jits.items():
        refused = False
        for arguments in calls:
            want = Outcome(function, copy.deepcopy(arguments))
            found = _compared(case, Outcome(jit, copy.deepcopy(arguments)), want)
            if found is None:
                continue
            yield Fault(case, f"{name} {found[0]}", f"{found[1]} for {described(arguments)}")
            refused = found[0].startswith("refused")
            break
        if refused and name == "jit":
            again = jit_onnx(function, opset=case.opset)
            for arguments in calls:
                want = Outcome(function, copy.deepcopy(arguments))
                found = _compared(case, Outcome(again, copy.deepcopy(arguments)), want)
                if found is not None:
                    yield Fault(
                        case, f"fallback {found[0]}", f"{found[1]} for {described(arguments)}"
                    )
                    break


def _runner(model: Any, target: str) -> Callable[[dict[str, Any]], list[Any]]:
    if target == "spec":
        evaluator = ReferenceEvaluator(model)
        return lambda feeds: list(evaluator.run(None, feeds))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options)
    return lambda feeds: list(session.run(None, feeds))


def _export(case: Case, function: Any, call: list[Any], target: str) -> tuple[Any, bool]:
    """Return the model of a call, and whether it takes more for granted than equal sizes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = jit_onnx(function).to_onnx(
            *copy.deepcopy(call), opset=case.opset, target=target
        )
    noted = [
        text
        for p in model.metadata_props
        if p.key == "onnxjit.assumptions"
        for text in json.loads(p.value)
    ]
    assumes = any(issubclass(w.category, AssumptionWarning) for w in caught)
    return model, assumes or not all(re.fullmatch(r"\w+ == \w+", text) for text in noted)


def _export_faults(case: Case, function: Any, calls: list[list[Any]]) -> Iterator[Fault]:
    target = "spec" if case.seed % 7 == 3 else "onnxruntime"
    if Outcome(function, copy.deepcopy(calls[0])).error is not None:
        return
    try:
        model, assumes = _export(case, function, calls[0], target)
        # the reference evaluator has faults of its own
        run = _runner(model, "onnxruntime" if faults_of(model) else target)
    except OnnxJitError:
        return
    except Exception as e:  # noqa: BLE001  reported
        yield Fault(
            case, "export raises", f"{type(e).__name__}: {e} for {described(calls[0])}"
        )
        return
    plain = [i for i, n in enumerate(case.names) if n[0] in "hw"]
    for number, call in enumerate(calls):
        if any(repr(call[i]) != repr(calls[0][i]) for i in plain):
            continue  # Python numbers are constants of a model
        found = _run_fault(case, function, call, calls[0], model, run)
        if found is not None:
            kind = f"{target} {found[0]}{' (assumed)' if number and assumes else ''}"
            yield Fault(case, kind, f"{found[1]} for {described(call)}")
            return


def _run_fault(
    case: Case, function: Any, call: list[Any], example: list[Any], model: Any, run: Any
) -> tuple[str, str] | None:
    """Return how a run of a model differs from NumPy, None where it does not.

    A model takes for granted that arrays lie in memory as its examples do (decision 0005), so
    that NumPy is given such.
    """
    want = Outcome(function, [_lying_as(x, e) for x, e in zip(call, example, strict=True)])
    given = [
        np.ascontiguousarray(x).astype(x.dtype.newbyteorder("=")).reshape(x.shape)
        for x in call
        if isinstance(x, np.ndarray)
    ]
    if want.undefined or not _declared(model, given):
        return None
    names = [i.name for i in model.graph.input]
    try:
        got = run(dict(zip(names, given, strict=True)))
    except Exception as e:  # noqa: BLE001  reported
        return None if want.error is not None else ("fails", str(e))
    wanted = leaves(want.value)
    if want.error is not None or len(wanted) != len(got):
        return None
    text = difference(got, wanted, types=False, bound=bound(want))
    if not text or is_excused(case.body, text, want):
        return None
    return "signed zero" if "signed zero" in text else "wrong", text


def _lying_as(x: Any, example: Any) -> Any:
    """Return a copy of an argument, in C or Fortran order where the example is."""
    if not isinstance(x, np.ndarray):
        return x
    if example.flags.c_contiguous:
        return x.copy("C")
    return x.copy("F") if example.flags.f_contiguous else copy.deepcopy(x)


def _declared(model: onnx.ModelProto, given: Sequence[Array]) -> bool:
    """Return whether arrays have the sizes that a model declares."""
    known: dict[str, int] = {}
    for info, x in zip(model.graph.input, given, strict=True):
        for d, n in zip(info.type.tensor_type.shape.dim, x.shape, strict=True):
            if d.HasField("dim_value"):
                if d.dim_value != n:
                    return False
            elif known.setdefault(d.dim_param, n) != n:
                return False
    return True


def try_case(case: Case) -> list[Fault]:
    """Run a case in this process."""
    function = case.function()
    with np.errstate(all="ignore"):
        calls = list(case.arguments())
        return [*_jit_faults(case, function, calls), *_export_faults(case, function, calls)]


# --- processes ---


def _send(pipe: int, message: Any) -> None:
    data = pickle.dumps(message)
    os.write(pipe, struct.pack("<q", len(data)))
    while data:
        data = data[os.write(pipe, data) :]


def _receive(pipe: int, patience: float) -> Any:
    """Return the next message, None at the end, TimeoutError when nothing comes."""
    if not select.select([pipe], [], [], patience)[0]:
        return TimeoutError
    head = os.read(pipe, 8)
    if len(head) < 8:
        return None
    (left,) = struct.unpack("<q", head)
    data = b""
    while len(data) < left:
        part = os.read(pipe, left - len(data))
        if not part:
            return None
        data += part
    return pickle.loads(data)


def _child(todo: Sequence[Case], pipe: int) -> None:
    for case in todo:
        try:
            found = [(f.kind, f.text) for f in try_case(case)]
        except BaseException as e:  # noqa: BLE001  reported by the parent
            found = [("harness", repr(e))]
        _send(pipe, found)


def faults(todo: Sequence[Case]) -> Iterator[Fault]:
    """Run cases in forked processes; one that ends its process is a fault too."""
    at = 0
    while at < len(todo):
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            try:
                _child(todo[at : at + 150], writer)
            finally:
                os._exit(0)
        os.close(writer)
        end = min(at + 150, len(todo))
        while at < end:
            message = _receive(reader, PATIENCE)
            if message is TimeoutError:
                os.kill(pid, signal.SIGKILL)
                yield Fault(todo[at], "hangs", "")
            elif message is not None:
                yield from (Fault(todo[at], *m) for m in message)
                at += 1
                continue
            break
        _, status = os.waitpid(pid, 0)
        os.close(reader)
        if at < end:
            if message is None:
                yield Fault(todo[at], "crash", f"signal {os.WTERMSIG(status)}")
            at += 1


def main() -> None:
    """Search and print what was found, by kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--only")
    parser.add_argument("--opset", type=int)
    options = parser.parse_args()
    todo = list(cases(options.first, options.count, only=options.only, opset=options.opset))
    seen: dict[str, int] = {}
    for fault in faults(todo):
        seen[fault.kind] = seen.get(fault.kind, 0) + 1
        print(fault, flush=True)  # noqa: T201  a command
    print(json.dumps(seen, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
