# SPDX-License-Identifier: Apache-2.0
"""Lists and objects that data chooses among the results of models, and in `verify`."""

import numpy as np
import onnxruntime as ort
import pytest

from onnxjit import float32, jit_onnx

X = np.arange(6, dtype=np.float32).reshape(3, 2) - 2


def rows(x):
    return [row * 2 for row in x]


def nested(x):
    return {"pairs": [(row, row.max()) for row in x], "all": list(x)}


def chosen_rows(x):
    found = []
    for row in x:
        if row.sum() > 0:
            found.append(row)  # noqa: PERF401  as people write it
    return found


def differences(x):
    return [x[i + 1] - x[i] for i in range(len(x) - 1)]


def outputs(model, x):
    session = ort.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: x})


def sizes_of_input(model):
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return [d.dim_param or d.dim_value for d in dims]


@pytest.mark.parametrize("dynamic", [True, False])
def test_one_output_for_each_row_of_an_example(dynamic):
    model = jit_onnx(rows).to_onnx(X, dynamic=dynamic)
    got = outputs(model, X)
    assert len(got) == 3
    for output, want in zip(got, rows(X), strict=True):
        np.testing.assert_array_equal(output, want, strict=True)
    assert sizes_of_input(model) == [3, "x_1" if dynamic else 2]


def test_other_axes_stay_open():
    model = jit_onnx(rows).to_onnx(X)
    wide = np.ones((3, 5), np.float32)
    for output, want in zip(outputs(model, wide), rows(wide), strict=True):
        np.testing.assert_array_equal(output, want, strict=True)


@pytest.mark.parametrize("n", [0, 1, 3, 7])
@pytest.mark.parametrize(
    ("spec", "options"),
    [(float32["N", 2], {}), (X, {"dynamic": {"x": {0: "N"}}})],
    ids=["spec", "named"],
)
def test_an_axis_with_a_name_gives_one_stacked_output(spec, options, n):
    model = jit_onnx(rows).to_onnx(spec, **options)
    x = np.ones((n, 2), np.float32)
    (got,) = outputs(model, x)
    np.testing.assert_array_equal(got, x * 2, strict=True)


def test_lengths_computed_from_sizes():
    model = jit_onnx(differences).to_onnx(X)
    assert sizes_of_input(model) == [3, "x_1"]
    for output, want in zip(outputs(model, X), differences(X), strict=True):
        np.testing.assert_array_equal(output, want, strict=True)


def test_structures_of_lists():
    got = outputs(jit_onnx(nested).to_onnx(X), X)
    want = [leaf for row in X for leaf in (row, row.max())] + list(X)
    assert len(got) == len(want)
    for output, each in zip(got, want, strict=True):
        np.testing.assert_array_equal(output, each, strict=True)


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_length_of_data_is_one_stacked_output(n):
    x = np.linspace(-1, 2, 2 * n, dtype=np.float32).reshape(n, 2)
    (got,) = outputs(jit_onnx(chosen_rows).to_onnx(X), x)
    np.testing.assert_array_equal(got, np.array(chosen_rows(x)).reshape(-1, 2), strict=True)


def maybe_none(x):
    return x + 1 if x.sum() > 0 else None


def other_structure(x):
    return (x, 1.0) if x.sum() > 0 else "nothing"


def lists_of_lists(x):
    found = []
    k = 0
    while k < x.sum():
        found.append([x, [x[0], float(k)]])
        k += 1
    return found, (None if k == 0 else k)


def rows_of_rows(x):
    return [[row[k] * 2 for k in range(2)] for row in x if row[0] > 0]


PROGRAMS = [
    rows, nested, chosen_rows, maybe_none, other_structure, lists_of_lists, rows_of_rows,
]  # fmt: skip


@pytest.mark.parametrize("scale", [1, -1])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_verify_takes_what_python_returns(fn, scale):
    found = jit_onnx(fn).verify(X * scale, target="onnxruntime")
    assert found.ok, str(found)
    assert len(found.rows) > 1


def test_verify_leaves_out_what_the_other_branch_gives():
    taken = jit_onnx(maybe_none).verify(abs(X), target="onnxruntime")
    other = jit_onnx(maybe_none).verify(-abs(X), target="onnxruntime")
    assert [row.output for row in taken.rows] == ["all", "output_0", "output_1"]
    assert [row.output for row in other.rows] == ["all", "output_0"]
