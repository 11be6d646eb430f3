"""GraphML by networkx: vertices with ``kind``, edges with ``bandwidth`` and ``cables``.

A bandwidth is text with a unit. GraphML has no units of its own, so a bandwidth without a unit is refused. Other numbers of
an edge except ``weight``, and a bandwidth under another name, e.g. ``speed``, are refused as well.
"""

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.parts import note_weights, refuse_bare_number, refuse_other_numbers
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import parse_xml


def looks_like(document: Document) -> bool:
    return re.search(r"<(\w+:)?graphml\b", document.text[:4000]) is not None


def read(document: Document) -> Any:
    """Return the graph; refuse edges with numbers that would be ignored or misread.

    Raises
    ------
    GraphError
        If the document is not GraphML or has such numbers.
    """
    graph = read_any(document)
    for a, b, data in graph.edges(data=True):
        where = f"{document.label}: edge {str(a)[:40]!r} - {str(b)[:40]!r}"
        refuse_bare_number(where, data)
        refuse_other_numbers(where, data)
    graph.graph.clear()  # attributes of the whole graph say nothing about its edges
    graph.graph["both_ways"] = 'write edgedefault="undirected"'
    note_weights(document, graph, {data.get("weight") for _, _, data in graph.edges(data=True)})
    return graph


def read_any(document: Document, directed: bool = False) -> Any:
    """Return the graph with any attributes.

    Parameters
    ----------
    document : Document
    directed : bool
        Take every edge as directed, as written, although the head of the file says undirected.

    Raises
    ------
    GraphError
        If the document is not GraphML.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    text = document.text.replace('edgedefault="undirected"', 'edgedefault="directed"') if directed else document.text
    try:
        root = parse_xml(text)
        _check_whole(root)
        of_all = _keys_of_all(root)
        graph = nx.parse_graphml(ElementTree.tostring(root, "unicode") if of_all else text)
    except (nx.NetworkXError, ElementTree.ParseError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError) as error:
        raise GraphError(f"{document.label} is not GraphML: {str(error)[:200]}") from error
    if defaults := {name: value for name, value in graph.graph.get("edge_default", {}).items() if name in of_all}:
        graph.graph["node_default"] = {**defaults, **graph.graph.get("node_default", {})}
    for every, default in (((data for _, data in graph.nodes(data=True)), "node_default"),
                           ((data for *_, data in graph.edges(data=True)), "edge_default")):
        for data in every if graph.graph.get(default) else ():  # networkx leaves the defaults of keys aside
            data.update({**graph.graph[default], **data})
    return graph


def _keys_of_all(root: Element) -> set[str | None]:
    """Give the keys for all elements, whose defaults networkx leaves out, to edges; return the names of their values."""
    keys = [key for key in root.iter() if str(key.tag).rpartition("}")[2] == "key" and key.get("for", "all") == "all"]
    for key in keys:
        key.set("for", "edge")
    return {key.get("attr.name") for key in keys}


def _check_whole(root: Element) -> None:
    """Raise ValueError for what networkx leaves out or adds: other graphs, vertices named twice or by an edge alone."""
    elements: dict[str, list[Any]] = {"graph": [], "node": [], "edge": [], "hyperedge": []}
    for element in root.iter():
        elements.get(str(element.tag).rpartition("}")[2], []).append(element)
    if elements["hyperedge"]:
        raise ValueError("it has a <hyperedge>, which joins any number of vertices; write a <node> of kind switch in its "
                         "place, and an <edge> from it to each of the vertices")
    groups = sum(node.get("yfiles.foldertype") == "group" for node in elements["node"])
    if len(elements["graph"]) > 1 + groups:
        raise ValueError(f"it has {len(elements['graph']) - groups} graphs; leave one, with all vertices and edges")
    names = Counter(node.get("id") for node in elements["node"])
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise ValueError(f"vertex {twice[:40]!r} is given twice")
    default = elements["graph"][0].get("edgedefault") == "directed" if elements["graph"] else False
    for edge in elements["edge"]:
        a, b = edge.get("source"), edge.get("target")
        where = f"edge {str(a)[:40]!r} - {str(b)[:40]!r}"
        if missing := [str(end) for end in (a, b) if end not in names]:
            raise ValueError(f"{where}: no <node> has the id {missing[0][:40]!r}")
        if edge.get("directed", str(default).lower()) != str(default).lower():
            raise ValueError(f"{where} differs from edgedefault; leave directed= out, or write each cable from both ends, "
                             "all directed")
