# SPDX-License-Identifier: Apache-2.0
"""The kernel table and the detours around its gaps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import defs

from onnxjit._core.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from onnxjit._lower.kernel_table import RUNTIME, TABLE
from onnxjit._lower.kernels import MOVERS, TRUTHS, WIDER, detour, parameters
from onnxjit._transform.simplify import holds


def test_the_table_is_what_the_runtime_says():
    if onnxruntime.__version__ != RUNTIME:
        pytest.skip(f"the table is of onnxruntime {RUNTIME}")
    script = Path(__file__).parents[2] / "tools/probe_kernels.py"
    assert (
        subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0
    )


def test_operators_and_versions_exist():
    known = {
        (s.name, s.since_version)
        for s in defs.get_all_schemas_with_history()
        if s.domain == ""
    }
    for line in TABLE.splitlines():
        op, since, *_ = line.split(" ")
        assert (op, int(since)) in known, line
    names = {name for name, _ in known}
    assert names >= MOVERS | TRUTHS


def test_wider_dtypes_hold_every_value():
    for narrow, chain in WIDER.items():
        assert len(set(chain)) == len(chain)
        for wide in chain:
            assert holds(wide, narrow)
            assert np.can_cast(narrow.numpy, wide.numpy, "safe")


@pytest.mark.parametrize(
    ("op_type", "opset", "dtype", "through"),
    [
        ("Where", 13, BOOL, UINT8),
        ("Where", 18, UINT16, INT32),
        ("Where", 18, UINT64, INT64),
        ("NonZero", 18, FLOAT64, BOOL),
        ("NonZero", 18, UINT64, BOOL),
        ("Max", 18, INT16, INT32),
        ("Add", 13, INT16, INT32),
        ("Add", 13, UINT8, INT32),
        ("Tan", 18, FLOAT16, FLOAT32),
        ("Tan", 18, FLOAT64, None),
        ("ReduceMax", 18, UINT32, INT64),
        ("ReduceMax", 18, UINT64, None),
        ("ReduceMax", 18, BOOL, UINT8),
        ("Pow", 18, UINT8, INT32),
    ],
)
def test_detours(op_type: str, opset: int, dtype: object, through: object):
    places = [p for p in parameters(op_type, opset) if p.outputs or op_type == "NonZero"]
    assert dtype not in places[0].native
    assert detour(op_type, dtype, places[0].native) is through  # type: ignore[arg-type]


def test_native_dtypes_need_none():
    assert {FLOAT32, FLOAT64, INT32, INT64, UINT32} <= parameters("Where", 16)[-1].native
    assert not parameters("Reshape", 21)
    assert INT16 not in parameters("Add", 13)[0].native
    assert INT16 in parameters("Add", 14)[0].native
