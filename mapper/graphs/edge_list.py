"""Edge list: the two ends of an edge in each line, then nothing, a bandwidth, or a dict as networkx writes it.

    a b
    a b 3.0
    a b 12.5 GB/s
    a b {'bandwidth': '12.5 GB/s', 'cables': 2}
    s1 {'kind': 'switch'}

A number without a unit is the weight that networkx writes (``write_weighted_edgelist``). Weights say nothing about
bandwidth and are ignored, also the ``weight`` in a dict. If each edge is listed from both ends, as by tools that ask each
switch for its neighbours, both lines are one cable. A line with a single name gives a vertex its attributes. ``#``
starts a comment. Quotes around a name or bandwidth are removed, as by a shell. Names without quotes have no blanks, commas
or semicolons.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from typing import Any

from pencilmap.mapper.formats.lines import MAX_LINE, Document
from pencilmap.mapper.graphs.parts import EDGE, note_weights, refuse_bare_number
from pencilmap.model.base.errors import GraphError, UnitError
from pencilmap.model.base.reading import MOST_UNITS, parse_literal
from pencilmap.model.base.units import parse

_LINE = re.compile(r"(?P<a>[^\s{]+)(?:\s+(?P<b>[^\s{]+))?\s*(?P<rest>.*)")  # of a line without blanks at its ends
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WEIGHT = re.compile(rf"{_NUMBER}|\{{'weight': {_NUMBER}\}}")
_VERTEX = ("kind",)


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    first = lines[0][1][:MAX_LINE].strip() if lines else ""
    return _LINE.fullmatch(first) is not None and not first.startswith(("<", "{"))


def read(document: Document) -> Any:
    """Return the graph; several lines for one edge are parallel edges, but one cable if each edge is listed from both ends.

    Raises
    ------
    GraphError
        If a line is not understood, or there are too many kinds of edges.

    Examples
    --------
    >>> from pencilmap.mapper.formats.lines import Document
    >>> read(Document(b"a s 1 GB/s\\nb s 1 GB/s\\ns {'kind': 'switch'}", "demo")).edges(data=True)
    MultiEdgeDataView([('a', 's', {'bandwidth': '1 GB/s'}), ('s', 'b', {'bandwidth': '1 GB/s'})])
    >>> read(Document(b"a b\\nb a\\n", "demo")).is_directed()
    True
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    vertices: dict[str, dict[str, Any]] = {}
    edges: list[tuple[str, str, dict[str, Any]]] = []
    attributes: dict[tuple[bool, str], dict[str, Any]] = {}
    weights: set[str] = set()
    for number, line in document.lines():
        a, b, rest = _parts(document, number, line)
        if a == b:
            raise GraphError(f"{document.label} line {number}: {line.strip()[:40]!r} joins {a[:40]!r} to itself; if the "
                             "lines are coordinates of nodes, name the file with `nodes`, else delete the line")
        kind = b is None, rest
        if kind not in attributes and b and _WEIGHT.fullmatch(rest):
            kind = False, ""
            if len(weights) < 2:
                weights.add(rest)
        if kind not in attributes:
            if len(attributes) == MOST_UNITS:
                raise GraphError(f"{document.label} line {number}: {rest[:40]!r}: more than {MOST_UNITS} kinds of edges"
                                 "; round bandwidths")
            attributes[kind] = _attributes(document, number, line, kind[1], _VERTEX if kind[0] else EDGE)
        vertices.setdefault(a, {})
        if b is None:
            vertices[a] = {**vertices[a], **attributes[kind]}
        else:
            vertices.setdefault(b, {})
            edges.append((a, b, attributes[kind]))
    ways = Counter((a, b) for a, b, _ in edges)
    from_both = bool(edges) and all(ways[b, a] == count for (a, b), count in ways.items())
    graph = nx.MultiDiGraph() if from_both else nx.MultiGraph()
    if from_both:
        graph.graph["notes"] = [f"{document.label} lists each edge from both ends; both lines are one cable"]
    graph.add_nodes_from(vertices.items())
    graph.add_edges_from(edges)
    note_weights(document, graph, weights)
    return graph


def _parts(document: Document, number: int, line: str) -> tuple[str, str | None, str]:
    head, brace, rest = line.partition("{")
    if '"' in head or "'" in head:
        return _quoted(document, number, head, brace + rest.rstrip())
    words = line.split(None, 2)
    if "," in words[0] or ";" in words[0]:
        raise GraphError(f"{document.label} line {number}: {line.strip()[:40]!r} looks like a line of a CSV table, which is "
                         "not read as a graph; write its cells with blanks between them")
    if len(words) > 1 and "{" not in line:  # most lines; this test takes a fraction of the time
        return words[0], words[1], words[2].rstrip() if len(words) > 2 else ""
    match = _LINE.fullmatch(line.strip())
    if match is None or not (match["b"] or match["rest"]):
        raise _not_an_edge(document, number, line)
    return match["a"], match["b"], match["rest"]


def _quoted(document: Document, number: int, head: str, attributes: str) -> tuple[str, str | None, str]:
    """Return the parts of a line with words in quotes before its attributes."""
    try:
        names, rate = (words := shlex.split(head))[:2], " ".join(words[2:])
    except ValueError as error:
        raise _not_an_edge(document, number, head + attributes) from error
    if not all(names) or (attributes and rate) or not (attributes or len(names) == 2):
        raise _not_an_edge(document, number, head + attributes)
    return names[0], names[1] if len(names) == 2 else None, attributes or rate


def _not_an_edge(document: Document, number: int, line: str) -> GraphError:
    return GraphError(f"{document.label} line {number}: {line.strip()[:40]!r} is not an edge; write the names of its two "
                      "ends, e.g. a b or a b 12.5 GB/s, or for a vertex s1 {'kind': 'switch'}")


def _rate(document: Document, number: int, line: str, text: str) -> str:
    """Return the text of a bandwidth. Other text shows that the line is no edge, unless it is a number with some unit."""
    try:
        parse(text, "byte/s")
    except UnitError as error:
        if re.fullmatch(rf"{_NUMBER}\s*[A-Za-z/]\S*", text):
            raise GraphError(f"{document.label} line {number}: {error}") from error
        raise _not_an_edge(document, number, line) from error
    return text


def _attributes(document: Document, number: int, line: str, text: str, known: Iterable[str]) -> dict[str, int | str]:
    if not text.startswith("{"):
        return {"bandwidth": _rate(document, number, line, text)} if text else {}
    try:
        data = parse_literal(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise GraphError(f"{document.label} line {number}: {text[:60]!r} is not a dict such as "
                         "{'bandwidth': '12.5 GB/s'}") from error
    unknown = [key for key in data if key not in known] if isinstance(data, dict) else [text]
    if unknown:
        raise GraphError(f"{document.label} line {number}: {str(unknown[0])[:40]!r} is not one of the attributes "
                         f"{', '.join(known)}")
    refuse_bare_number(f"{document.label} line {number}", data)
    return {key: value for key, value in data.items() if key != "weight"}
