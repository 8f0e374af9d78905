# SPDX-License-Identifier: Apache-2.0
"""What the examples share: one ONNX file for each opset, compared with NumPy and timed.

The files are run by onnxruntime alone, as somebody would who has never heard of onnxjit.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

Run = Callable[..., Any]

#: opsets to write, besides the newest that onnx has released and onnxruntime loads
OPSETS = (13, 17, 18, 21)


def load(path: Path) -> Run:
    """Return a function that runs a model file with onnxruntime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def run(*arrays):
        (result,) = session.run(None, dict(zip(names, arrays, strict=True)))
        return result

    return run


def best_ms(run: Run, arguments: tuple[Any, ...], repeats: int = 9) -> float:
    """Shortest time of several runs, in milliseconds, after one that is not timed."""
    run(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run(*arguments)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def is_same(found: Any, expected: Any) -> bool:
    """Whether two results have the same type, shape and elements."""
    return found.dtype == expected.dtype and np.array_equal(found, expected)


def described(path: Path) -> str:
    """Nodes and size of a model file."""
    nodes = len(onnx.load(path).graph.node)
    return f"{nodes} nodes, {path.stat().st_size / 1024:,.0f} KiB"


def show(
    jit: Any,
    batches: Mapping[str, tuple[Any, ...]],
    example: tuple[Any, ...],
    folder: Path,
) -> bool:
    """Write a model for each opset, print two tables, and say whether all agrees with NumPy.

    Parameters
    ----------
    jit : jitted function
    batches : mapping of str to tuple
        Arguments by what they are called in the table; the first are also given to `verify`.
    example : tuple
        What the models are traced with: arrays or specifications.
    folder : Path
        Where the models go.
    """
    verified = jit.verify(*next(iter(batches.values())), opsets=[*OPSETS, None])
    opsets = sorted({row.opset for row in verified.rows if row.opset is not None})
    plain = jit.__wrapped__
    expected = {name: plain(*arguments) for name, arguments in batches.items()}
    ways = [("NumPy", plain, ""), ("onnxjit, warm call", jit, "")]
    for opset in opsets:
        path = folder / f"{plain.__name__}_{opset}.onnx"
        jit.save(path, *example, opset=opset)
        ways.append((path.name, load(path), described(path)))

    width = max(len(way) for way, _, _ in ways)
    columns = {name: max(len(name), 9) for name in batches}
    head = "".join(f"  {name:>{size}}" for name, size in columns.items())
    print(f"{'':{width}}{head}   same as NumPy")
    every = verified.ok
    for way, run, about in ways:
        same = all(is_same(run(*batches[name]), expected[name]) for name in batches)
        times = "".join(
            f"  {best_ms(run, batches[name]):{n - 3}.2f} ms" for name, n in columns.items()
        )
        print(f"{way:{width}}{times}   {'yes' if same else 'NO':15}{about}".rstrip())
        every = every and same
    print(f"\n{verified}")
    return every


def in_folder(run: Callable[[Path], bool], about: str) -> int:
    """Call a program with the folder of the command line, or with one for the moment."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where to keep the models")
    folder = parser.parse_args().folder
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return 0 if run(Path(temporary)) else 1
    folder.mkdir(parents=True, exist_ok=True)
    return 0 if run(folder) else 1
