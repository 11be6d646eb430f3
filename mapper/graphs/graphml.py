"""GraphML by networkx: vertices with ``kind``, edges with ``bandwidth`` and ``cables``."""

from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.errors import GraphError
from pencilmap.model.reading import check_xml


def looks_like(document: Document) -> bool:
    return "<graphml" in document.text[:4000]


def read(document: Document, directed: bool = False) -> Any:
    """The graph, whatever attributes it has.

    With `directed` every edge is taken as directed, as written, whatever the file says about the graph.
    """
    import networkx as nx  # slow to import, and only graphs need it

    text = document.text.replace('edgedefault="undirected"', 'edgedefault="directed"') if directed else document.text
    try:
        check_xml(text)
        return nx.read_graphml(BytesIO(text.encode("utf-8")))
    except (nx.NetworkXError, ElementTree.ParseError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError) as error:
        raise GraphError(f"{document.label} is not GraphML: {str(error)[:120]}") from error
