"""Network files: a table from a format's name to its recogniser and its reader.

A reader gives a networkx graph with the attributes that `pencilmap.model.network.graph.from_networkx` takes. The graph may
have ``notes``, sentences about what its file leaves out. A new format is a file here and a line below.

The network of a question, as the option `network` names it: a text or a file, alone or on a machine.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike, fspath
from os.path import exists, isdir
from pathlib import Path
from typing import Any

from pencilmap.mapper.formats.foreign import GRAPH, named_format, refuse_foreign
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.parts import PartsError, parts_of, refuse_one_way, refuse_unmarked_switches
from pencilmap.mapper.graphs.switch_tree import OPTIONS, option, without_implied
from pencilmap.model.base.errors import GraphError, MachineError, NetworkError, near
from pencilmap.model.base.late import late_of
from pencilmap.model.base.reading import reading
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import KINDS, is_network, network_named, recognised, with_bandwidth
from pencilmap.model.kinds.reading import Rates
from pencilmap.model.machines.machine import Machine
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import Network
from pencilmap.model.network.twisted_torus import is_folded


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

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("s {'kind': 'switch'}\\na s\\nb s\\n")
    ...     file.flush()
    ...     read_graph(file.name, bandwidth="1 GB/s").n_nodes
    2
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
    ends = [n for n in range(len(parts), 0, -1) if exists(",".join(parts[:n]))]
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
    if strange := next((value for value in options or () if value not in form.options), None):
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


def _named(document: Document, name: str | None) -> Any:
    """Name the format of a document that is refused in a named format."""
    if name is None:
        return nullcontext()
    tests = {other: partial(form.looks_like, document) for other, form in GRAPHS.items()
             if other == name or other != "edge-list"}
    return named_format("hwloc" if name.startswith("hwloc") else name, document, tests, GraphError)


def _network(document: Document, bandwidth: Any, plain: bool, has_kinds: bool, form: GraphFormat, graph: Any) -> Any:
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


def _plain_rates(rates: float | str | None) -> float | dict[str, float] | None:
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


SHAPE = re.compile(r"[0-9]{1,6}w?(x[0-9]{1,6}w?)+(:mesh|:torus)?|[0-9]{1,6}(x[0-9]{1,6})*:box=[0-9wx]+")
USAGE = "a shape such as 8x8x8, 8x8x8:mesh or 6 (a ring), or a file of its cables"


def nobody() -> tuple[str, ...]:
    """Return the hosts of no job."""
    return ()


def given_network(network: str | PathLike[str], bandwidth: str | None = None,
                  hosts: Callable[[], Iterable[str]] = nobody) -> Network:
    """Return the network of a text or a file.

    Parameters
    ----------
    network : str or path
        A text of `pencilmap.model.kinds.network_named`, or ``FILE[,FORMAT][,taper=2]``, see
        `pencilmap.mapper.graphs.GRAPHS`.
    bandwidth : str, optional
        Rate of every link, or of each class of links; in a file, of links without a rate.
    hosts : callable, optional
        Returns the hosts of the job. It will be called only if no cable joins some hosts of a file.

    Raises
    ------
    NetworkError, TorusError, GraphError
        If the text is neither a network nor a file, if the file is not understood, or if its hosts are in several parts and
        those of the job not in one of them.

    Examples
    --------
    >>> str(given_network("8wx8x4w")), given_network("4x4", "1 GB/s").bandwidth
    ('8wx8x4w', (1000000000.0, 1000000000.0))
    """
    text = fspath(network)
    if not is_network(text):
        if names_file(text):
            try:
                return read_named(text, bandwidth)
            except PartsError as parts:
                return parts.holding(hosts())
        if not text[:1].isdigit():
            nearest = near(text.partition(":")[0], KINDS)
            raise NetworkError(f"network {text[:60]!r} is neither a file nor a network{nearest}; give {USAGE}")
    return network_named(text, bandwidth=bandwidth)


def is_file(name: str | PathLike[str]) -> bool:
    """Return whether a name is that of a file or a pipe, and not of a folder."""
    return exists(name) and not isdir(name)  # also of a text that is too long for a name


def names_file(text: str) -> bool:
    """Return whether a text is ``FILE[,FORMAT][,taper=2]`` with a file that exists."""
    return is_file(file_and_words(text)[0])


def network_on(machine: Machine, network: str | PathLike[str] | None, bandwidth: str | None = None,
               hosts: Callable[[], Iterable[str]] = nobody) -> Network:
    """Return a network of a machine: one of its partitions if the text is a plain shape, else the wraps that it names.

    None stands for the usual shape of the machine. A network of another kind, or of a file, gets the machine's rates. For
    `hosts` see `given_network`.

    Raises
    ------
    PartitionError
        If the machine hands out no partition of a plain shape.
    MachineError
        If the machine has different rates, and the network has other classes of links.
    """
    if network is None:
        return with_bandwidth(machine.network, bandwidth)
    text = fspath(network)
    is_shape = not is_network(text) and not names_file(text)
    if is_shape and machine.network.has_coordinates:
        return with_bandwidth(_shaped(machine, text), bandwidth)
    return given_network(text, bandwidth or _rates(machine, text, hosts), hosts)


def _rates(machine: Machine, text: str, hosts: Callable[[], Iterable[str]]) -> str:
    """Return the machine's rates for the links of another network, as the option `bandwidth` gives them."""
    rates, classes = machine.network.bandwidth, machine.network.link_classes
    if len(set(rates)) == 1:
        return f"{rates[0]:g} B/s"
    network = given_network(text, hosts=hosts)
    if network.link_classes == classes:
        return ",".join(f"{name}={rate:g} B/s" for name, rate in zip(classes, rates))
    own = ", ".join(f"{name} {rate / 1e9:g} GB/s" for name, rate in zip(classes, rates))
    raise MachineError(f"machine {machine.name} has links of {own}, and {network.title} has links of "
                       f"{', '.join(network.link_classes)}: give their rates with `bandwidth`")


def is_plain(network: str) -> bool:
    """Return whether a text is a shape that leaves the wraps to a machine, or a box of its partitions.

    >>> is_plain("4x6x16"), is_plain("4x6x16:torus"), is_plain("4wx6x16"), is_plain("4x6x16:box=2x2x8x2x3wx2")
    (True, False, False, True)
    """
    return is_folded(network) or (bool(SHAPE.fullmatch(network)) and not re.search("w|:", network))


def _shaped(machine: Machine, text: str) -> Any:
    if is_plain(text) and machine.partitions is not None:
        return machine.partition(text)
    return machine.with_shape(text).torus
