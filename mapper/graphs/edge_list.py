"""Edge list: the two ends of an edge in each line, then nothing, a bandwidth, or a dict as networkx writes it.

    a b
    a b 3.0
    a b 12.5 GB/s
    a b {'bandwidth': '12.5 GB/s', 'cables': 2}
    s1 {'kind': 'switch'}

A number without a unit is the weight that networkx writes (``write_weighted_edgelist``); it says nothing about bandwidth and
is passed over, as the ``weight`` in a dict is. A line of one name gives a vertex its attributes. ``#`` starts a comment.
Names have no blanks.
"""

import re
from ast import literal_eval
from typing import Any
from warnings import catch_warnings

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.errors import GraphError

_LINE = re.compile(r"\s*(?P<a>[^\s{]+)(?:\s+(?P<b>[^\s{]+))?\s*(?P<rest>.*?)\s*")
_WEIGHT = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_VERTEX, _EDGE = ("kind",), ("bandwidth", "cables", "weight")


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    return bool(lines) and _LINE.fullmatch(lines[0][1]) is not None and not lines[0][1].lstrip().startswith(("<", "{"))


def read(document: Document) -> Any:
    """The graph; several lines for one edge are parallel edges.

    >>> from pencilmap.mapper.formats.lines import Document
    >>> read(Document(b"a s 1 GB/s\\nb s 1 GB/s\\ns {'kind': 'switch'}", "demo")).edges(data=True)
    MultiEdgeDataView([('a', 's', {'bandwidth': '1 GB/s'}), ('s', 'b', {'bandwidth': '1 GB/s'})])
    """
    import networkx as nx  # slow to import; only graphs need it

    graph = nx.MultiGraph()
    for number, line in document.lines():
        a, b, rest = _parts(document, number, line)
        if b is None:
            graph.add_node(a, **_attributes(document, number, rest, _VERTEX))
        else:
            graph.add_edge(a, b, **_attributes(document, number, rest, _EDGE))
    return graph


def _parts(document, number, line):
    found = _LINE.fullmatch(line)
    if found is None or not (found["b"] or found["rest"]):
        raise GraphError(f"{document.label} line {number}: {line.strip()[:40]!r} is not an edge; write the names of its two "
                         "ends, e.g. a b or a b 12.5 GB/s, or for a vertex s1 {'kind': 'switch'}")
    return found["a"], found["b"], found["rest"]


def _attributes(document, number, text, known):
    if re.fullmatch(_WEIGHT, text):
        return {}
    if not text.startswith("{"):
        return {"bandwidth": text} if text else {}
    try:
        with catch_warnings(action="ignore"):  # warnings about invalid escape sequences
            data = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise GraphError(f"{document.label} line {number}: {text[:60]!r} is not a dict such as "
                         "{'bandwidth': '12.5 GB/s'}") from error
    unknown = [key for key in data if key not in known] if isinstance(data, dict) else [text]
    if unknown:
        raise GraphError(f"{document.label} line {number}: {str(unknown[0])[:40]!r} is not one of the attributes "
                         f"{', '.join(known)}")
    return {key: value for key, value in data.items() if key != "weight"}
