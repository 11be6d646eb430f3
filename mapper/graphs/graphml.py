"""GraphML by networkx: vertices with ``kind``, edges with ``bandwidth`` and ``cables``.

A bandwidth is text with a unit. GraphML has no units of its own, so a bandwidth without a unit is refused. Other numbers of
an edge except ``weight``, and a bandwidth under another name, e.g. ``speed``, are refused as well.
"""

from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.attributes import note_weights, refuse_bare_number, refuse_other_numbers
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import check_xml


def looks_like(document: Document) -> bool:
    return "<graphml" in document.text[:4000]


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
        check_xml(text)
        graph = nx.read_graphml(BytesIO(text.encode("utf-8")))
    except (nx.NetworkXError, ElementTree.ParseError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError) as error:
        raise GraphError(f"{document.label} is not GraphML: {str(error)[:120]}") from error
    for every, default in (((data for _, data in graph.nodes(data=True)), "node_default"),
                           ((data for *_, data in graph.edges(data=True)), "edge_default")):
        for data in every if graph.graph.get(default) else ():  # networkx leaves the defaults of keys aside
            data.update({**graph.graph[default], **data})
    return graph
