# SPDX-License-Identifier: Apache-2.0
"""Nodes before they are protobuf, and how they become that.

A node is written as bytes, which protobuf reads at once: making its messages from Python takes
several times longer, and models have thousands of nodes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from onnx import AttributeProto, GraphProto, NodeProto, StringStringEntryProto

from onnxjit._core.dtypes import DType

from .tensor import attribute

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from onnx import ValueInfoProto

__all__ = ["SOURCE_KEY", "Graph", "Node", "add_nodes", "names_read"]

#: key of a node's metadata that holds the user's line
SOURCE_KEY: Final = "onnxjit.source"


class Node:
    """A node of a graph.

    Parameters
    ----------
    op_type, name : str
    reads, makes : list of str
        Names of tensors; an input that is left out is empty.
    attributes : mapping of str to object
        Python values, as in `Emit.op`; a nested graph is a `Graph`.
    domain : str
    source, text : str
        The user's line, for the metadata and for readers of models without it; empty for none.
    """

    __slots__ = (
        "attributes", "domain", "makes", "name", "op_type", "reads", "source", "text",
    )  # fmt: skip

    def __init__(
        self,
        op_type: str,
        name: str,
        reads: list[str],
        makes: list[str],
        attributes: Mapping[str, Any],
        domain: str,
    ) -> None:
        self.op_type = op_type
        self.name = name
        self.reads = reads
        self.makes = makes
        self.attributes = attributes
        self.domain = domain
        self.source = ""
        self.text = ""


class Graph:
    """A nested graph; `reads` has every name that it or a graph inside it reads."""

    __slots__ = ("inputs", "name", "nodes", "outputs", "reads")

    def __init__(
        self,
        name: str,
        nodes: list[Node],
        inputs: Sequence[ValueInfoProto],
        outputs: Sequence[ValueInfoProto],
        reads: set[str],
    ) -> None:
        self.name: Final = name
        self.nodes: Final = nodes
        self.inputs: Final = inputs
        self.outputs: Final = outputs
        self.reads: Final = reads

    def proto(self) -> GraphProto:
        """Return the graph as protobuf."""
        graph = GraphProto(name=self.name, input=self.inputs, output=self.outputs)
        add_nodes(graph, self.nodes)
        return graph


def names_read(node: Node) -> Iterable[str]:
    """Return the names that a node reads, inside its graphs too."""
    if not node.attributes:
        return node.reads
    inner = [v.reads for v in node.attributes.values() if type(v) is Graph]
    return node.reads if not inner else {*node.reads, *set().union(*inner)}


def add_nodes(graph: GraphProto, nodes: Iterable[Node]) -> None:
    """Add nodes to a graph."""
    sized = _Sized()
    done: list[bytes] = []
    for node in nodes:
        fields: list[bytes] = []
        for name in node.reads:
            fields += (_INPUT, sized[name])
        for name in node.makes:
            fields += (_OUTPUT, sized[name])
        fields += (_NAME, sized[node.name], _OP_TYPE, sized[node.op_type])
        if node.attributes or node.domain or node.source or node.text:
            fields += _rest(node, sized)
        body = b"".join(fields)
        done += (_NODE, _varint(len(body)), body)
    graph.MergeFromString(b"".join(done))


def _rest(node: Node, sized: _Sized) -> list[bytes]:
    """Return the fields that few nodes have."""
    fields = [_attribute(n, v) for n, v in node.attributes.items() if v is not None]
    if node.text:
        fields += (_DOC_STRING, sized[node.text])
    if node.domain:
        fields += (_DOMAIN, sized[node.domain])
    if node.source:
        entry = StringStringEntryProto(key=SOURCE_KEY, value=node.source)
        fields.append(_field(_METADATA_PROPS, entry.SerializeToString()))
    return fields


def _attribute(name: str, value: Any) -> bytes:
    if type(value) in _REPEATED:
        return _repeated_attribute(name, value, type(value).__name__)
    if type(value) is Graph:
        made = AttributeProto(name=name, type=AttributeProto.GRAPH, g=value.proto())
    else:
        made = attribute(name, value)
    return _field(_ATTRIBUTE, made.SerializeToString())


#: types of attributes that are few, and equal where they are the same
_REPEATED: Final = frozenset({int, bool, str, DType})


@lru_cache(4096)
def _repeated_attribute(name: str, value: Hashable, _: str) -> bytes:
    return _field(_ATTRIBUTE, attribute(name, value).SerializeToString())


# --- protobuf's wire format ---------------------------------------------------------------


def _tag(message: Any, field: str) -> bytes:
    """Return what stands before a field whose value has a length; numbers are below 16."""
    return bytes([message.DESCRIPTOR.fields_by_name[field].number << 3 | 2])


_NODE: Final = _tag(GraphProto, "node")
_INPUT: Final = _tag(NodeProto, "input")
_OUTPUT: Final = _tag(NodeProto, "output")
_NAME: Final = _tag(NodeProto, "name")
_OP_TYPE: Final = _tag(NodeProto, "op_type")
_ATTRIBUTE: Final = _tag(NodeProto, "attribute")
_DOC_STRING: Final = _tag(NodeProto, "doc_string")
_DOMAIN: Final = _tag(NodeProto, "domain")
_METADATA_PROPS: Final = _tag(NodeProto, "metadata_props")


@lru_cache(4096)
def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _field(tag: bytes, data: bytes) -> bytes:
    return tag + _varint(len(data)) + data


class _Sized(dict[str, bytes]):
    """Text as bytes with their number before them, made when first asked for."""

    __slots__ = ()

    def __missing__(self, text: str) -> bytes:
        data = text.encode()
        made = self[text] = _varint(len(data)) + data
        return made
