# SPDX-License-Identifier: Apache-2.0
"""Nodes written as bytes are the nodes that protobuf's own messages would be."""

from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, helper

from onnxjit._core.dtypes import FLOAT32
from onnxjit._core.op import Handle
from onnxjit._lower.emit import value_info
from onnxjit._lower.tensor import tensor
from onnxjit._lower.wire import SOURCE_KEY, Graph, Node, add_nodes

LONG = "x" * 300
#: what attributes can be, and what they are in a message
ATTRIBUTES: dict[str, tuple[Any, Any]] = {
    "int": (-3, -3),
    "truth": (True, 1),
    "float": (0.5, 0.5),
    "zero": (-0.0, -0.0),
    "text": ("é", "é"),
    "long": (LONG, LONG),
    "ints": ([3, 1, 2], [3, 1, 2]),
    "floats": ((1.0, 2.0), [1.0, 2.0]),
    "dtype": (FLOAT32, 1),
}


def written(*nodes: Node) -> GraphProto:
    """Return a graph of nodes."""
    graph = GraphProto(name="g")
    add_nodes(graph, nodes)
    return graph


@pytest.mark.parametrize("name", ["n", "größe_3", LONG, "size2/é.1"])
def test_names_of_any_length_and_script(name: str):
    graph = written(Node("Add", name, [name, "", "b"], [name, f"{name}:1"], {}, ""))
    want = NodeProto(op_type="Add", name=name, input=[name, "", "b"])
    want.output.extend([name, f"{name}:1"])
    assert list(graph.node) == [want]
    assert graph.name == "g"


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name: str):
    value, plain = ATTRIBUTES[name]
    graph = written(Node("Op", "n", [], ["y"], {"left_out": None, name: value}, ""))
    assert list(graph.node[0].attribute) == [helper.make_attribute(name, plain)]


def test_equal_numbers_of_other_types_are_told_apart():
    values: list[dict[str, Any]] = [{"k": 1}, {"k": True}, {"k": 1.0}, {"k": 0.0}, {"k": -0.0}]
    graph = written(*(Node("Op", "n", [], ["y"], v, "") for v in values))
    got = [helper.get_attribute_value(n.attribute[0]) for n in graph.node]
    assert [type(v) for v in got] == [int, int, float, float, float]
    assert np.signbit(got[-1])


def test_the_other_fields():
    node = Node("Op", "n", ["x"], ["y"], {"value": np.arange(3)}, "com.example")
    node.source, node.text = "a.py:3", "b.py:4"
    (got,) = written(node).node
    assert got.domain == "com.example"
    assert got.doc_string == "b.py:4"
    assert [(p.key, p.value) for p in got.metadata_props] == [(SOURCE_KEY, "a.py:3")]
    assert got.attribute[0].t == tensor(np.arange(3))


def test_graphs_inside_graphs():
    info = [value_info(Handle("y", FLOAT32), 1)]
    leaf = Graph("leaf", [Node("Neg", "a", ["x"], ["y"], {}, "")], [], info, {"x"})
    middle = Graph(
        "middle",
        [Node("If", "b", ["c"], ["y"], {"then_branch": leaf}, "")],
        [],
        info,
        {"x", "c"},
    )
    (got,) = written(Node("If", "d", ["c"], ["y"], {"then_branch": middle}, "")).node
    inner = got.attribute[0].g
    assert inner.name == "middle"
    assert inner.node[0].attribute[0].g.node[0].op_type == "Neg"
    assert list(inner.output) == info
