# SPDX-License-Identifier: Apache-2.0
"""The tables that lowering reads: opset keys, first opsets, detours around missing kernels."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from onnx import defs

import onnxjit._ops
from onnxjit._core.op import Op
from onnxjit._lower.kernel_table import TABLE
from onnxjit._lower.kernels import MOVERS, TRUTHS, detour, parameters
from onnxjit._lower.opsets import OLDEST, supported
from onnxjit._ops.table import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnxjit._core.dtypes import DType
    from onnxjit._lower.kernels import Parameter

rows()  # imports every family
for _module in pkgutil.iter_modules(onnxjit._ops.__path__):
    importlib.import_module(f"onnxjit._ops.{_module.name}")
#: without those that tests define
OPS = sorted(
    (
        x
        for x in gc.get_objects()
        if type(x) is Op and getattr(x.result, "__module__", "onnxjit").startswith("onnxjit")
    ),
    key=lambda op: op.name,
)
HISTORY = {
    (s.name, s.since_version) for s in defs.get_all_schemas_with_history() if s.domain == ""
}

#: (operation, key of a later form) -> the ONNX operator whose version of that opset it uses
REASONS: Final = {
    ("bincount", 16): "ScatterElements",
    ("bitcast", 26): "BitCast",
    ("bitwise_and", 18): "BitwiseAnd",
    ("bitwise_or", 18): "BitwiseOr",
    ("bitwise_xor", 18): "BitwiseXor",
    ("boolean_index", 14): "Reshape",
    ("cast", 26): "BitCast",
    ("copysign", 26): "BitCast",
    ("cumprod", 26): "CumProd",
    ("invert", 18): "BitwiseNot",
    ("largest", 18): "ReduceMax",
    ("left_shift", 28): "BitShift",
    ("nextafter", 26): "BitCast",
    ("reduce_all", 18): "ReduceMin",
    ("reduce_any", 18): "ReduceMax",
    ("reduce_max", 18): "ReduceMax",
    ("reduce_min", 18): "ReduceMin",
    ("reduce_prod", 18): "ReduceProd",
    ("remainder", 28): "Mod",
    ("reshape", 14): "Reshape",
    ("right_shift", 28): "BitShift",
    ("scatter_elements_add", 16): "ScatterElements",
    ("scatter_elements_max", 18): "ScatterElements",
    ("scatter_elements_min", 18): "ScatterElements",
    ("scatter_elements_mul", 16): "ScatterElements",
    ("scatter_nd_add", 16): "ScatterND",
    ("scatter_nd_max", 18): "ScatterND",
    ("scatter_nd_min", 18): "ScatterND",
    ("scatter_nd_mul", 16): "ScatterND",
    ("signbit", 26): "BitCast",
    ("triangle", 14): "Trilu",
    ("where", 26): "BitCast",
}

#: operations that need a later opset than the oldest supported one; an entry for another fails
FIRST_OPSETS: Final = {
    "scatter_elements_add": 16,
    "scatter_elements_max": 18,
    "scatter_elements_min": 18,
    "scatter_elements_mul": 16,
}


def test_names_are_unique() -> None:
    names = [op.name for op in OPS]
    assert len(names) > 100
    assert len(set(names)) == len(names)


def test_later_forms_use_a_version_of_their_opset() -> None:
    later = {(op.name, key) for op in OPS for key in op.lower if key > OLDEST}
    assert later == set(REASONS)
    assert {(operator, key) for (_, key), operator in REASONS.items()} <= HISTORY


def test_oldest_forms_need_no_key_of_their_own() -> None:
    for op in OPS:
        old = [key for key in op.lower if key <= OLDEST]
        assert len(old) <= 1, f"{op.name}: only one of {old} is ever used"


@pytest.mark.parametrize("opset", supported())
def test_every_operation_resolves(opset: int) -> None:
    without = {op.name for op in OPS if op.rule(opset) is None}
    assert without == {name for name, first in FIRST_OPSETS.items() if first > opset}


def test_first_opsets_are_those_of_the_rules() -> None:
    late = {op.name: op.first_opset() for op in OPS if (op.first_opset() or 0) > OLDEST}
    assert late == FIRST_OPSETS


def test_rules_do_not_read_the_opset() -> None:
    (folder,) = onnxjit._ops.__path__
    for file in Path(folder).glob("*.py"):
        assert ".opset" not in file.read_text(encoding="utf-8"), file.name


def _gaps() -> Iterator[tuple[str, Parameter, DType]]:
    """Yield operators with dtypes that the standard allows and onnxruntime does not run."""
    for operator in dict.fromkeys(line.split(" ")[0] for line in TABLE.splitlines()):
        for opset in supported():
            for parameter in parameters(operator, opset):
                for dtype in parameter.legal - parameter.native:
                    yield operator, parameter, dtype


def test_detours_lose_nothing() -> None:
    seen = 0
    for operator, parameter, dtype in _gaps():
        through = detour(operator, dtype, parameter.native)
        if through is None:
            continue
        seen += 1
        assert through in parameter.native
        safe = np.can_cast(dtype.numpy, through.numpy, "safe")
        moved = operator in MOVERS and dtype.bits == through.bits
        assert safe or moved or operator in TRUTHS, (operator, dtype, through)
    assert seen


def test_no_dtype_is_listed_twice() -> None:
    for line in TABLE.splitlines():
        for letters in line.split(" ")[4:]:
            assert len(set(letters)) == len(letters), line
