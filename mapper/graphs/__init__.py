"""Graph files: a table from a format's name to its recogniser and its reader.

A reader gives a networkx graph with the attributes that `pencilmap.model.network.graph.from_networkx` takes. A new
format is a file here and a line below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.formats.foreign import GRAPH, refuse_foreign
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs import edge_list, graphml, hwloc, netloc
from pencilmap.mapper.graphs.attributes import refuse_unmarked_switches
from pencilmap.model.base.errors import GraphError, near
from pencilmap.model.base.reading import reading
from pencilmap.model.network.graph import GraphNetwork, from_networkx


@dataclass(frozen=True)
class GraphFormat:
    """A format of graph files.

    Parameters
    ----------
    title : str
        A line for lists of formats.
    looks_like : callable
        Document -> bool.
    read : callable
        Document -> networkx graph.
    """

    title: str
    looks_like: Callable[[Document], bool]
    read: Callable[[Document], Any]


GRAPHS = {  # if no format is named, the first format that recognises the file is used
    "netloc-graphml": GraphFormat("netloc 0.5, GraphML export", netloc.looks_like_graphml, netloc.read_graphml),
    "graphml": GraphFormat("GraphML, as networkx and others write it", graphml.looks_like, graphml.read),
    "hwloc": GraphFormat("hwloc XML (lstopo --of xml), tasks on cores", hwloc.looks_like, hwloc.read_cores),
    "hwloc-numa": GraphFormat("the same, tasks on NUMA nodes", lambda document: False, hwloc.read_numa),
    "hwloc-package": GraphFormat("the same, tasks on packages", lambda document: False, hwloc.read_packages),
    "netloc-ndat": GraphFormat("netloc 0.5, *-nodes.ndat", netloc.looks_like_ndat, netloc.read_ndat),
    "netloc": GraphFormat("netloc of hwloc 2.0 to 2.9, IB-*-nodes.txt", netloc.looks_like_text, netloc.read_text),
    "edge-list": GraphFormat("one edge per line: a b, a b 12.5 GB/s, or as networkx writes it", edge_list.looks_like,
                             edge_list.read),
}


def read_graph(path: str | PathLike[str], format_name: str | None = None, bandwidth: float | None = None) -> GraphNetwork:
    """Return the network in a graph file.

    Parameters
    ----------
    path : str or PathLike
    format_name : str, optional
        A name of `GRAPHS`; guessed from the content by default.
    bandwidth : float, optional
        Bytes per second of edges without a bandwidth in the file.

    Returns
    -------
    GraphNetwork

    Raises
    ------
    GraphError
        If the file is not understood. The message names the file, and the line if there is one.
    """
    return parse_graph(read_document(path, GraphError), format_name, bandwidth)


def parse_graph(document: Document, format_name: str | None = None, bandwidth: float | None = None) -> GraphNetwork:
    """Return the network in a document, as `read_graph` does for a file.

    Parameters
    ----------
    document : Document
    format_name, bandwidth
        As for `read_graph`.

    Raises
    ------
    GraphError
        If the document is not understood.
    """
    if not document.text.strip():
        raise GraphError(f"{document.label} is empty; a graph has at least one edge")
    with reading(document.label, GraphError, len(document.text)):
        name = format_name or _recognise(document)
    if name not in GRAPHS:
        raise GraphError(f"graph format {name!r} is unknown{near(name, GRAPHS)}; known are {', '.join(GRAPHS)}")
    with reading(document.label, GraphError, len(document.text)):
        graph = GRAPHS[name].read(document)
        network = from_networkx(graph, Path(document.label).name, bandwidth)
        refuse_unmarked_switches(document, graph)
        return network


def _recognise(document: Document) -> str:
    refuse_foreign(document, GRAPH, GraphError)
    for name, form in GRAPHS.items():
        if form.looks_like(document):
            return name
    raise GraphError(f"{document.label} is not a recognised graph; name one of {', '.join(GRAPHS)}. An edge list has a line "
                     "for each cable, e.g. host1 switch1 12.5 GB/s, and switch1 {'kind': 'switch'} for each switch")
