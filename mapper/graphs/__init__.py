"""Network files: a table from a format's name to its recogniser and its reader.

A reader gives a networkx graph with the attributes that `pencilmap.model.network.graph.from_networkx` takes. The graph may
have ``notes``, sentences about what its file leaves out. A new format is a file here and a line below.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.formats.foreign import GRAPH, named_format, refuse_foreign
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.parts import PartsError, parts_of, refuse_one_way, refuse_unmarked_switches
from pencilmap.mapper.graphs.switch_tree import OPTIONS, option, without_implied
from pencilmap.model.base.errors import GraphError, near
from pencilmap.model.base.late import late_of
from pencilmap.model.base.reading import reading
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import network_named, recognised
from pencilmap.model.kinds.reading import Rates
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import Network


@dataclass(frozen=True)
class GraphFormat:
    """A format of network files.

    Parameters
    ----------
    title : str
        A line for lists of formats.
    looks_like : callable
        Document -> bool.
    read : callable
        Document, and the options as keywords -> networkx graph, or the text of a network that the file names.
    options : tuple of str
        Options that may follow the name of the file.
    """

    title: str
    looks_like: Callable[[Document], bool]
    read: Callable[..., Any]
    _: KW_ONLY
    options: tuple[str, ...] = ()


_in: Callable[..., tuple[Any, ...]] = partial(late_of, __name__)  # functions of a file here

GRAPHS = {  # if no format is named, the first format that recognises the file is used
    "netloc-graphml": GraphFormat("netloc 0.5, GraphML export", *_in("netloc", "looks_like_graphml", "read_graphml")),
    "graphml": GraphFormat("GraphML, as networkx and others write it", *_in("graphml", "looks_like", "read")),
    "hwloc": GraphFormat("hwloc XML (lstopo --of xml), tasks on cores", *_in("hwloc", "looks_like", "read_cores")),
    "hwloc-numa": GraphFormat("the same, tasks on NUMA nodes", lambda document: False, *_in("hwloc", "read_numa")),
    "hwloc-package": GraphFormat("the same, tasks on packages", lambda document: False, *_in("hwloc", "read_packages")),
    "simgrid": GraphFormat("SimGrid platform: zones, clusters, routes",
                           *_in("simgrid", "looks_like", "read")),
    "netloc-ndat": GraphFormat("netloc 0.5, *-nodes.ndat", *_in("netloc", "looks_like_ndat", "read_ndat")),
    "topograph": GraphFormat("NVIDIA topograph, JSON of the engine graph",
                             *_in("switch_tree", "looks_like", "read"), options=OPTIONS),
    "ibnetdiscover": GraphFormat("ibnetdiscover: an InfiniBand fabric",
                                 *_in("ibnetdiscover", "looks_like", "read")),
    "netloc": GraphFormat("netloc of hwloc 2.0 to 2.9, IB-*-nodes.txt", *_in("netloc", "looks_like_text", "read_text")),
    "slurm": GraphFormat("Slurm: topology.conf, topology.yaml, scontrol show topology",
                         *_in("slurm", "looks_like", "read"), options=OPTIONS),
    "slurm-addresses": GraphFormat("SLURM_TOPOLOGY_ADDR of each node, one in each line",
                                   *_in("slurm", "looks_like_addresses", "read_addresses"), options=OPTIONS),
    "scotch": GraphFormat("Scotch target: torus3D 4 4 2, hcub, cmplt, tleaf",
                          *_in("scotch", "looks_like", "read"), options=OPTIONS),
    "metis": GraphFormat("METIS graph, every vertex a host", *_in("scotch", "looks_like_metis", "read_metis")),
    "dot": GraphFormat("DOT (Graphviz)", *_in("dot", "looks_like", "read")),
    "edge-list": GraphFormat("one edge per line: a b, a b 12.5 GB/s, or as networkx writes it",
                             *_in("edge_list", "looks_like", "read")),
}


PLAIN = "graph"  # after the name of a file: no kind is recognised


def read_graph(path: str | PathLike[str], format_name: str | None = None, bandwidth: Rates | None = None,
               options: Mapping[str, str] | None = None, plain: bool = False) -> Network:
    """Return the network in a file.

    Parameters
    ----------
    path : str or PathLike
    format_name : str, optional
        A name of `GRAPHS`; guessed from the content by default.
    bandwidth : str, float or dict, optional
        Rate of links without a rate in the file: of all, or of each class, see `pencilmap.model.kinds.reading.bandwidths`.
    options : mapping, optional
        ``taper`` or ``up`` for files that tell no numbers of cables, see `pencilmap.mapper.graphs.switch_tree`.
    plain : bool, optional
        Whether the network stays a graph, even if its cables form a kind (`pencilmap.model.kinds.recognised`).

    Returns
    -------
    Network
        Of the kind that its cables form, else a graph; the network that the file names, if it names one.

    Raises
    ------
    GraphError
        If the file is not understood. The message will name the file, and the line if there is one.
    """
    return parse_graph(read_document(path, GraphError), format_name, bandwidth, options, plain)


def read_named(text: str, bandwidth: Rates | None = None) -> Network:
    """Return the network in ``FILE[,FORMAT][,taper=2][,graph]``, see `read_graph`; ``graph`` leaves it a graph."""
    path, words = file_and_words(text)
    pairs = [word.partition("=")[::2] for word in words if "=" in word]
    if len(options := dict(pairs)) < len(pairs):
        raise GraphError(f"{text[:60]}: an option is given twice; give each once")
    names = [word for word in words if "=" not in word and word != PLAIN]
    return read_graph(path, ",".join(names) or None, bandwidth, options, PLAIN in words)


def file_and_words(text: str) -> tuple[str, list[str]]:
    """Return the name of a file and the words after it; a file whose own name has commas comes first."""
    parts = text.split(",")
    ends = [n for n in range(len(parts), 0, -1) if Path(",".join(parts[:n])).exists()]
    end = ends[0] if ends else 1
    return ",".join(parts[:end]), [word for word in parts[end:] if word]


def parse_graph(document: Document, format_name: str | None = None, bandwidth: Rates | None = None,
                options: Mapping[str, str] | None = None, plain: bool = False) -> Network:
    """Return the network in a document, as `read_graph` does for a file.

    Parameters
    ----------
    document : Document
    format_name, bandwidth, options, plain
        As for `read_graph`.

    Raises
    ------
    PartsError
        If no cable joins some of its hosts.
    GraphError
        If the document is not understood.
    """
    if not document.text.strip():
        raise GraphError(f"{document.label} is empty; a graph has at least one edge")
    with reading(document.label, GraphError, len(document.text)):
        name = format_name or _recognise(document)
    if name not in GRAPHS:
        raise GraphError(f"graph format {name!r} is unknown{near(name, GRAPHS)}; known are {', '.join(GRAPHS)}")
    form = GRAPHS[name]
    if strange := next((given for given in options or () if given not in form.options), None):
        raise GraphError(f"{document.label}: {strange[:20]}= is no option of a file of format {name}; "
                         + (f"options are {', '.join(form.options)}" if form.options else "its cables are in the file"))
    with _named(document, format_name), reading(document.label, GraphError, len(document.text)):
        graph = form.read(document, **option(document.label, options or {}))
        if isinstance(graph, str):
            return network_named(graph, bandwidth=bandwidth)
        has_kinds = any("kind" in data for _, data in graph.nodes(data=True))
        network_of = partial(_network, document, bandwidth, plain, has_kinds, form)
        if len(parts := parts_of(graph)) > 1:
            raise PartsError(document.label, graph, parts, network_of)
        refuse_one_way(document, graph)
        return network_of(graph)


def _named(document, name):
    """Name the format of a document that is refused in a named format."""
    if name is None:
        return nullcontext()
    tests = {other: partial(form.looks_like, document) for other, form in GRAPHS.items()
             if other == name or other != "edge-list"}
    return named_format("hwloc" if name.startswith("hwloc") else name, document, tests, GraphError)


def _network(document, bandwidth, plain, has_kinds, form, graph):
    """Return the network of a graph or of a part of one; `has_kinds` says whether any vertex of the file has a kind.

    A note says which kind was recognised, unless the cables are those that an option of the format assumes.
    """
    name = Path(document.label).name
    network = from_networkx(graph, name, _plain_rates(bandwidth))
    if not has_kinds:
        refuse_unmarked_switches(document, graph)
    number = {vertex: i for i, vertex in enumerate(network.vertices)}
    implied = frozenset(number[str(v)] for v, data in graph.nodes(data=True) if data.get("implied"))
    kind = None if plain else recognised(network, bandwidth, implied)
    if kind is None and implied:
        return from_networkx(without_implied(graph), name, _plain_rates(bandwidth))
    return replace(kind, notes=network.notes) if kind and form.options else kind or network


def _plain_rates(rates):
    """Return rates as bytes per second: one, or one for each class."""
    if isinstance(rates, str) and "=" in rates:
        pairs = (pair.partition("=") for pair in rates.split(","))
        return {name.strip(): parse(rate.strip(), "byte/s") for name, _, rate in pairs}
    return parse(rates, "byte/s") if isinstance(rates, str) else rates


def _recognise(document: Document) -> str:
    for name, form in GRAPHS.items():
        if name != "edge-list" and form.looks_like(document):
            return name
    refuse_foreign(document, GRAPH, GraphError)
    if GRAPHS["edge-list"].looks_like(document):
        return "edge-list"
    raise GraphError(f"{document.label} is not a recognised graph; name one of {', '.join(GRAPHS)}. An edge list has a line "
                     "for each cable, e.g. host1 switch1 12.5 GB/s, and switch1 {'kind': 'switch'} for each switch")
