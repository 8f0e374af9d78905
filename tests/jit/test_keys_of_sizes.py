# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
"""Older dicts, sets and lists that are looked into by a size: what they hold may change."""

import numpy as np
import pytest

from onnxjit import DataDependentError, eager_onnx, float64, jit_onnx
from tests.jit.harness import run_model, same

TABLE = {}
ROW = []
KNOWN = set()


def item(x):
    return x * TABLE[len(x)]


def item_by_shape(x):
    return x + TABLE[x.shape]


def made_once(x):
    if x.shape not in TABLE:
        TABLE[x.shape] = np.arange(len(x)) * 2.0
    return x * TABLE[x.shape]


def changed(x):
    n = len(x)
    TABLE[n] = TABLE[n] + 1
    return x * TABLE[n]


def methods(x):
    n = len(x)
    return TABLE.get(n, 0.0) * x + TABLE.get(x.shape, 1.0) + TABLE.setdefault(n + 10, 3.0)


def is_known(x):
    return x if len(x) in KNOWN or x.shape in KNOWN else -x


def element(x):
    return x * ROW[len(x) - 1]


def elements(x):
    total = 0.0
    for i in range(len(x)):
        total = total + ROW[i] * x[i]
    return total, sum(ROW[: len(x)])


def element_by_number(x):
    return np.sum([ROW[k] for k in x.astype(int)])


def stored_element(x):
    ROW[len(x) - 1] = x.sum()
    return ROW[len(x) - 1]


FUNCTIONS = [
    item, item_by_shape, made_once, changed, methods, is_known, element, elements,
    element_by_number, stored_element,
]  # fmt: skip


def results(fn):
    """Return what calls give while the containers change between them, and these."""
    TABLE.clear()
    TABLE.update({3: 2.0, (3,): 4.0, 4: 9.0, (4,): 7.0})
    ROW[:] = [1.0, 2.0, 3.0, 4.0, 5.0]
    KNOWN.clear()
    KNOWN.update((1, 3, (4,)))
    found = []
    for n in (3, 4, 3, 5, 3, 4):
        try:
            found.append(fn(np.arange(n) + 0.0))
        except KeyError as e:
            found.append(str(e))
        TABLE[3] += 1
        TABLE[3,] = 5.0
        TABLE.setdefault((5,), 2.0)
        KNOWN.symmetric_difference_update((3, (4,)))
        ROW[2] += 1
    return found, dict(TABLE), list(ROW)


@pytest.mark.parametrize("convert", [jit_onnx, eager_onnx])
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_what_changes_between_calls_is_seen(fn, convert):
    got, want = results(convert(fn)), results(fn)
    same(list(map(np.asarray, _flat(got))), list(map(np.asarray, _flat(want))))


def _flat(x):
    if isinstance(x, dict):
        return [*map(str, x), *_flat(list(x.values()))]
    return [y for part in x for y in _flat(part)] if isinstance(x, (list, tuple)) else [x]


def test_an_item_that_is_stored_under_a_size_is_found_in_an_export():
    results(item)
    model = jit_onnx(changed).to_onnx(np.ones(4), mutated="drop")
    same(run_model(model, np.ones(4))[0], np.full(4, 10.0))
    assert TABLE[4] == 9.0


def test_a_key_of_a_size_without_an_example_is_named():
    pattern = r"a key of a dict or set at .*test_keys_of_sizes\.py.* needs the value of N"
    for fn in (item, is_known):
        with pytest.raises(DataDependentError, match=pattern):
            jit_onnx(fn).to_onnx(float64["N"])
