# SPDX-License-Identifier: Apache-2.0
"""Run random programs in all modes, count what comes out, and make failing ones smaller.

``python -m tests.control.random_runs FIRST COUNT`` prints differences, and refusals by cause;
with ``--every`` one seed in four each runs eagerly and as models too, with ``--shrink`` it
prints the smallest programs. Some 10 programs take a second: run a change of control flow
through 20,000 seeds, in chunks of 2,000, two at a time. Processes read the source when they
start: run them on a copy of ``src`` and ``tests`` while you edit.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import copy
import faulthandler
import multiprocessing
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxruntime as ort

from onnxjit import (
    AssumptionWarning,
    InternalError,
    OnnxJitError,
    eager_onnx,
    float64,
    int64,
    jit_onnx,
)
from onnxjit._lower.opsets import supported
from tests.control.modes import TooSlowError, limited
from tests.control.random_programs import make
from tests.control.random_source import HELPERS, Line, Made, inputs_of, loaded, source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Found", "check", "checked", "shrunk"]

_SECONDS: Final = 30.0
#: what a worker may take for a program before it ends itself: a kernel ignores signals
_HARD: Final = 90.0


class Found(Exception):  # noqa: N818  a finding
    """What is wrong with a program.

    Attributes
    ----------
    kind : "differs", "crash", "hang", "refused" or "unread"
    cause : str
        The same for programs that fail alike.
    """

    def __init__(self, kind: str, cause: str, detail: str = "") -> None:
        super().__init__(kind, cause, detail)
        self.kind = kind
        self.cause = cause
        self.detail = detail


Call = tuple[Any, "Exception | None", tuple[Any, ...]]


def _call(fn: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    args = tuple(copy.deepcopy(args))
    try:
        return fn(*args), None, args
    except Exception as e:  # noqa: BLE001  compared with Python's
        return None, e, args


def _general(text: str) -> str:
    """Return the first line of a message, without what differs from program to program."""
    text = text.partition("\n")[0]
    text = re.sub(r"at [^ ]*[:\"<(].*?line \d+[^,;.]*", "at PLACE", text)
    text = re.sub(r"<random[^>]*>[^ ,;]*", "PLACE", text)
    text = re.sub(r"\[[^\]]*\]", "[..]", text)
    text = re.sub(r"\b[a-z]\d+\b", "NAME", text)
    return re.sub(r"-?\d+(\.\d+)?", "#", text)[:160]


# --- comparison


def _parts(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


def _joined(fn: Callable[..., Any], args: Any) -> Callable[[], list[Any]]:
    """Return what gives the dtypes of results that are computed in a joined dtype.

    Small integers of one branch and float32 of the other are float32 in the graph, and
    ``* 0.5`` of that is float32, where NumPy makes float64 of the integers alone: so it says
    on the page of branches and loops.  Those are the dtypes that NumPy gives if the integers
    are float32 from the start.
    """

    def dtypes() -> list[Any]:
        arrays = [a.astype("f4") if a.dtype.kind in "bi" and a.itemsize < 4 else a
                  for a in args[:2]]  # fmt: skip
        result, error, _ = _call(fn, (*arrays, *args[2:]))
        return [] if error is not None else [np.asarray(v).dtype for v in _parts(result)]

    return dtypes


def _compare(
    got: Any,
    want: Any,
    where: str,
    *,
    strict: bool = False,
    types: bool = True,
    joined: Callable[[], list[Any]] = list,
) -> None:
    """Assert that values are alike; a result may have the dtype of another branch.

    `joined` gives what else the dtypes may be.  Of Python's truth values and NumPy's in two
    branches the graph makes NumPy's, whose sum is a truth value where Python's is an integer.
    """
    given, wanted = _parts(got), _parts(want)
    assert len(given) == len(wanted), f"{where}: {len(given)} results, not {len(wanted)}"
    for i, (g, w) in enumerate(zip(given, wanted, strict=True)):
        a, b = np.asarray(g), np.asarray(w)
        place = f"{where}[{i}]"
        assert a.shape == b.shape, f"{place}: shape {a.shape} instead of {b.shape}"
        if types:
            array = isinstance(w, np.ndarray)
            assert isinstance(g, np.ndarray) == array, (
                f"{place}: {type(g)} instead of {type(w)}"
            )
        if not strict and a.dtype == bool and not a.ndim and type(w) is int:
            b = np.asarray(w := bool(w))
        both = np.result_type(g, w) if not strict else b.dtype
        known = a.dtype == both or (b.dtype == np.float64 and a.dtype in joined()[i : i + 1])
        assert known, f"{place}: dtype {a.dtype} instead of {b.dtype}"
        close = np.isclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)
        assert close.all(), f"{place}: {g!r} instead of {w!r}"


def _same(got: Call, want: Call, where: str, joined: Callable[[], list[Any]]) -> None:
    g, w = got[1], want[1]
    if isinstance(g, (OnnxJitError, RecursionError)) and type(g) is not type(w):
        raise g
    if w is None:
        if g is not None:
            raise g
        _compare(got[0], want[0], f"{where}, result", joined=joined)
    else:
        if g is None and isinstance(w, IndexError):
            raise Found(kind="unread", cause="an element is read in vain, and there is none")
        assert g is not None, f"{where}: nothing raised instead of {w!r}"
        assert type(g) is type(w), f"{where}: {g!r} instead of {w!r}"
        alike = isinstance(w, IndexError) or str(g) == str(w)
        assert alike, f"{where}: {g!r} instead of {w!r}"
    _compare(got[2][:2], want[2][:2], f"{where}, arguments", strict=True)


# --- modes


def _calls(convert: Callable[..., Any]) -> Callable[..., None]:
    def run(fn: Callable[..., Any], inputs: Sequence[Any], wanted: Sequence[Call]) -> None:
        converted = convert(fn)
        for number, (args, want) in enumerate(zip(inputs, wanted, strict=True)):
            _same(_call(converted, args), want, f"input {number}", _joined(fn, args))

    return run


def _eager(fn: Callable[..., Any]) -> Callable[..., Any]:
    converted = eager_onnx(fn)

    def call(*args: Any) -> Any:
        found = converted(*args)
        parts = found if isinstance(found, tuple) else (found,)
        parts = tuple(
            x if isinstance(x, (int, float, np.generic, np.ndarray)) else _numpy(x)
            for x in parts
        )
        return parts if isinstance(found, tuple) else parts[0]

    return call


def _numpy(x: Any) -> Any:
    return np.asarray(x) if x.ndim else np.asarray(x)[()]


def _export(opset: int) -> Callable[..., None]:
    def run(fn: Callable[..., Any], inputs: Sequence[Any], wanted: Sequence[Call]) -> None:
        x, y, *_ = inputs[0]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", AssumptionWarning)
            try:
                model = jit_onnx(fn).to_onnx(
                    *copy.deepcopy((x, y)), float64, int64,
                    opset=opset, mutated="outputs",
                )  # fmt: skip
            except OnnxJitError:
                raise
            except Exception as e:
                if wanted[0][1] is not None:
                    return  # there is nothing to export
                raise Found(
                    kind="differs", cause=f"export: {type(e).__name__}", detail=repr(e)
                ) from e
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(model.SerializeToString(), options)
        names = [i.name for i in session.get_inputs()]
        outputs = [o.name for o in session.get_outputs()]
        assumed = any(issubclass(w.category, AssumptionWarning) for w in warned)
        assumed |= any(p.key == "onnxjit.assumptions" for p in model.metadata_props)
        for number, (args, want) in enumerate(zip(inputs, wanted, strict=True)):
            if want[1] is not None or (assumed and number):
                continue
            feeds = dict(zip("xysn", map(np.asarray, args), strict=True))
            found = session.run(outputs, {k: feeds[k] for k in names})
            got = dict(zip(outputs, found, strict=True))
            where = f"input {number} of the model"
            results = tuple(v for k, v in got.items() if k.startswith("output_"))
            wide = _parts(want[0])
            if len(results) == len(wide):  # constants are in the metadata
                joined = _joined(fn, args)
                _compare(results, tuple(wide), where, types=False, joined=joined)
            for k, v in zip("xy", want[2], strict=False):
                _compare(got.get(f"{k}_out", feeds[k]), v, f"{where}, {k}", strict=True)

    return run


MODES: Final[dict[str, Callable[..., None]]] = {
    "jit": _calls(lambda fn: jit_onnx(fn, fallback="error")),
    "eager": _calls(_eager),
    "opset13": _export(13),
    "newest": _export(max(supported())),
}


def check(made: Made, modes: Iterable[str] = ("jit",), seconds: float = _SECONDS) -> None:
    """Run a program in some modes; raise `Found` if a result differs from Python's."""
    fn = loaded(made)
    inputs = inputs_of(made)
    mode = "Python"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), limited(seconds):
            warnings.simplefilter("ignore")
            wanted = [_call(fn, args) for args in inputs]
            for mode in modes:
                MODES[mode](fn, inputs, wanted)
    except Found:
        raise
    except Exception as e:
        raise _found(e, mode) from e


def _found(e: Exception, mode: str) -> Found:
    """Tell what an exception says of a program."""
    text = str(e)
    cause = f"{mode}: {type(e).__name__}: {_general(text)}"
    if isinstance(e, TooSlowError):
        return Found("hang", mode)
    if isinstance(e, AssertionError):
        return Found("differs", f"{mode}: {_general(text)}", text)
    if isinstance(e, OnnxJitError) and not isinstance(e, InternalError):
        return Found("refused", cause, text)
    return Found("crash", cause, "".join(traceback.format_exception(e)[-6:]))


def checked(
    made: Made, modes: Iterable[str] = ("jit",), seconds: float = _SECONDS
) -> Found | None:
    """Return what is wrong with a program, None if nothing is."""
    try:
        check(made, modes, seconds)
    except Found as found:
        return found
    return None


# --- smaller programs


def _smaller(lines: list[Line]) -> Iterator[list[Line]]:
    """Yield programs with a statement less, or with the block of one in its place."""
    for i, line in enumerate(lines):
        rest = lines[i + 1 :]
        if not line.needed or line.text.startswith(("t =", "u =", "w =", "b =")):
            yield [*lines[:i], *rest]
        if line.body and not line.text.startswith(("def", "elif", "else", "for", "while")):
            yield [*lines[:i], *line.body, *rest]
        for body in _smaller(line.body):
            yield [*lines[:i], Line(line.text, body, needed=line.needed), *rest]
    if lines and "," in lines[-1].text and lines[-1].text.startswith("return "):
        values = _split(lines[-1].text[len("return ") :])
        for k in range(len(values) if len(values) > 1 else 0):
            kept = ", ".join(v for j, v in enumerate(values) if j != k)
            yield [*lines[:-1], Line(f"return {kept}", needed=True)]


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


def shrunk(made: Made, found: Found, modes: Iterable[str], seconds: float = 60.0) -> Made:
    """Return the smallest program found in some time that fails in the same way."""
    end = time.monotonic() + seconds
    again = True
    # a program with fewer statements may fail in another way: only causes alike count
    key = found.kind, found.cause.partition(":")[0] if found.kind == "differs" else found.cause
    while again and time.monotonic() < end:
        again = False
        for body in _smaller(made.body):
            if time.monotonic() > end:
                break
            smaller = Made(made.seed, body, made.arrays)
            with contextlib.suppress(Exception):
                other = checked(smaller, modes, 5.0 if found.kind == "hang" else _SECONDS)
                if other is None:
                    continue
                cause = (
                    other.cause.partition(":")[0] if other.kind == "differs" else other.cause
                )
                if (other.kind, cause) == key and not _is_python_error(smaller):
                    made, again = smaller, True
                    break
    return made


def _is_python_error(made: Made) -> bool:
    """Whether leaving statements out has left names without a value."""
    fn = loaded(made)
    codes = [fn.__code__, *(c for c in fn.__code__.co_consts if hasattr(c, "co_names"))]
    known = {*vars(builtins), *fn.__globals__}
    if any(re.fullmatch(r"[a-z]\d*", n) and n not in known for c in codes for n in c.co_names):
        return True
    errors = [_call(loaded(made), args)[1] for args in inputs_of(made)]
    return any(isinstance(e, NameError) for e in errors)


# --- many programs


def _modes_of(seed: int, every: bool) -> tuple[str, ...]:
    more = {0: "eager", 1: "opset13", 2: "newest"}.get(seed % 4)
    return ("jit",) if more is None or not every else ("jit", more)


def _work(connection: Any, first: int, last: int, every: bool) -> None:
    for seed in range(first, last):
        connection.send(("start", seed))
        faulthandler.dump_traceback_later(_HARD, exit=True)
        try:
            found = checked(make(seed), _modes_of(seed, every))
        except Exception as e:  # noqa: BLE001  reported
            found = Found("generator", repr(e)[:200])
        faulthandler.cancel_dump_traceback_later()
        connection.send(("done", seed, found and (found.kind, found.cause, found.detail)))
    connection.send(("end",))


def sweep(first: int, count: int, every: bool, chunk: int = 100) -> Iterator[tuple[int, Any]]:
    """Yield seeds and what was found, with each chunk in a process of its own.

    The processes start afresh: a forked one would inherit locks of threads that it has not.
    """
    context = multiprocessing.get_context("spawn")
    seed, last = first, first + count
    while seed < last:
        mine, theirs = context.Pipe(duplex=False)
        stop = min(seed + chunk, last)
        process = context.Process(target=_work, args=(theirs, seed, stop, every))
        process.start()
        theirs.close()
        try:
            while True:
                message = mine.recv()
                if message[0] == "end":
                    break
                if message[0] == "done":
                    seed = message[1] + 1
                    yield message[1], message[2] and Found(*message[2])
        except EOFError:
            yield seed, Found("hang", "the process ended")
            seed += 1
        process.join()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Run programs and print what came out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--every", action="store_true", help="eager code and models too")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--show", help="shrink and print this kind of finding too")
    args = parser.parse_args()
    kinds: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    examples: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for seed, found in sweep(args.first, args.count, args.every):
        kinds["fine" if found is None else found.kind] += 1
        if found is None:
            continue
        causes[f"{found.kind}: {found.cause}"] += 1
        examples.setdefault(f"{found.kind}: {found.cause}", seed)
        if found.kind in {"refused", "unread"} and (
            not args.show or args.show not in found.cause
        ):
            continue
        seen[found.cause] += 1
        _say(f"--- {seed} {found.kind} {found.cause}\n{found.detail[-1500:]}")
        if args.shrink and seen[found.cause] < 3 and found.kind != "hang":
            mode = found.cause.partition(":")[0]
            small = shrunk(make(seed), found, [mode], 40.0)
            _say(
                f"{source(small)[len(HELPERS) :]}{small.arrays}\n>>> {checked(small, [mode])}"
            )
    _say(f"{dict(kinds)}")
    for cause, number in causes.most_common():
        _say(f"{number:6d}  {cause}   (as {examples[cause]})")


if __name__ == "__main__":
    main()
