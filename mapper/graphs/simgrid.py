"""Platforms of SimGrid (XML): hosts, routers, and the links between two of them.

A route over one link is a cable between its ends. A ``cluster`` is a star, a torus or a fat tree (``TORUS``, ``FAT_TREE``).
A link with ``sharing_policy="SHARED"`` is one cable for both directions in SimGrid, and a cable with a direction each here,
which a note says. Routes over several links tell no cables and are refused, except if single links join the same ends.
Source: "The platform file's reference" of SimGrid 3.32.
"""

import itertools
import re
from typing import Any
from xml.etree import ElementTree

from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import parse_xml
from pencilmap.model.network.graph import MAX_VERTICES

_RATE = re.compile(r"([0-9.eE+-]+)\s*([kMGTP]i?)?(Bps|bps|B/s)?")


def looks_like(document: Document) -> bool:
    return re.search(r"<platform\b", document.text[:4000]) is not None


def read(document: Document) -> Any:
    """Return the graph.

    Raises
    ------
    GraphError
        If the document is not a platform, or its routes tell no cables.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    root = _root(document)
    graph = nx.MultiGraph(notes=[])
    for cluster in root.iter("cluster"):
        _cluster(document, graph, cluster)
    if graph and root.find(".//host") is not None:
        raise GraphError(f"{document.label} has clusters and single hosts; give a platform of one kind, or an edge list")
    for host in root.iter("host"):
        graph.add_node(_given(document, host, "id"), kind="host")
    for router in root.iter("router"):
        graph.add_node(_given(document, router, "id"), kind="switch")
    _routes(document, root, graph)
    return graph


def _root(document):
    try:
        root = parse_xml(document.text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        line = getattr(error, "position", (None,))[0]
        raise GraphError(f"{document.label}{f' line {line}' if line else ''} is not XML: {error}") from error
    if root.tag != "platform":
        raise GraphError(f"{document.label} is not a platform of SimGrid, but <{root.tag[:40]}>")
    return root


def _given(document, element, name):
    value = element.get(name)
    if value is None:
        raise GraphError(f"{document.label}: an element <{element.tag}> has no {name}=")
    return value


def rate(document: Document, text: str) -> str:
    """Return a bandwidth of SimGrid (``125MBps``, bytes per second without a unit) as text with our unit."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise GraphError(f"{document.label}: bandwidth {text[:40]!r} is none of SimGrid, e.g. 125MBps or 10Gbps")
    return f"{found[1]} {found[2] or ''}{'bit/s' if found[3] == 'bps' else 'B/s'}"


def _routes(document, root, graph):
    links = {_given(document, link, "id"): link for link in root.iter("link")}
    shared = False
    for route in root.iter("route"):
        ends = [_given(document, route, key) for key in ("src", "dst")]
        over = [_given(document, each, "id") for each in route if each.tag == "link_ctn"]
        if strange := next((end for end in ends if end not in graph), None):
            raise GraphError(f"{document.label}: a route ends at {strange[:40]!r}, which is no host and no router")
        if len(over) != 1:
            raise GraphError(f"{document.label}: the route from {ends[0][:40]} to {ends[1][:40]} has {len(over)} links, and "
                             "so the file does not say which ends a link joins; write routes of one link each between hosts "
                             'and routers (routing="Floyd" finds the paths)')
        if over[0] not in links:
            raise GraphError(f"{document.label}: the route from {ends[0][:40]} to {ends[1][:40]} names link "
                             f"{over[0][:40]!r}, which is not defined")
        link = links[over[0]]
        shared |= link.get("sharing_policy", "SHARED") == "SHARED"
        if not graph.has_edge(*ends, key=over[0]):
            graph.add_edge(*ends, key=over[0], bandwidth=rate(document, _given(document, link, "bandwidth")))
    if shared:
        graph.graph["notes"].append(f"{document.label}: links that both directions share in SimGrid (SHARED) are read as a "
                                    "cable with this bandwidth in each direction")


# ---- clusters -------------------------------------------------------------------------------------------------------------


def _cluster(document, graph, cluster):
    name = _given(document, cluster, "id")
    radical = _given(document, cluster, "radical")
    if not re.fullmatch(r"[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?)*", radical):
        raise GraphError(f"{document.label}: radical {radical[:40]!r} of cluster {name[:40]} is not numbers such as 0-63")
    numbers = expand_hosts(f"n[{radical}]", MAX_VERTICES)
    hosts = [f"{cluster.get('prefix', '')}{number[1:]}{cluster.get('suffix', '')}" for number in numbers]
    topology, speed = cluster.get("topology", "FLAT"), rate(document, _given(document, cluster, "bw"))
    sizes = [list(map(int, part.split(","))) for part in cluster.get("topo_parameters", "").split(";")
             if re.fullmatch(r"[0-9]{1,6}(,[0-9]{1,6})*", part)]
    for host in hosts:
        graph.add_node(host, kind="host")
    if topology == "FLAT":
        graph.add_node(f"{name}_switch", kind="switch")
        graph.add_edges_from((host, f"{name}_switch", {"bandwidth": speed}) for host in hosts)
    elif topology == "TORUS" and len(sizes) == 1:
        _check(document, name, hosts, sizes[0])
        number = dict(zip(_ring_grid(sizes[0]), hosts))
        graph.add_edges_from((number[a], number[b], {"bandwidth": speed}) for a, b in _ring_grid(sizes[0]).edges)
    elif topology == "FAT_TREE" and len(sizes) == 4 and len(sizes[0]) == 1 and {len(s) for s in sizes[1:]} == {sizes[0][0]}:
        _check(document, name, hosts, sizes[1])
        _fat_tree(graph, name, hosts, sizes, speed)
    else:
        raise GraphError(f"{document.label}: cluster {name[:40]} has topology {topology[:20]} "
                         f"{cluster.get('topo_parameters', '')[:40]!r}; FLAT, TORUS 4,4,2 and FAT_TREE 2;4,4;1,2;1,2 are "
                         "read; for a dragonfly give the text dragonfly:... as `network`")


def _check(document, name, hosts, shape):
    count = 1
    for n in shape:
        count *= n
    if count != len(hosts):
        raise GraphError(f"{document.label}: cluster {name[:40]} has {len(hosts)} hosts, and its topology {count}")


def _ring_grid(shape):
    """Return the torus of places in coordinates, the first the fastest, as SimGrid numbers its hosts."""
    import networkx as nx  # slow to import, and only graphs need networkx

    graph = nx.Graph()
    nodes = [where[::-1] for where in itertools.product(*(range(n) for n in reversed(shape)))]
    graph.add_nodes_from(nodes)
    graph.add_edges_from((where, (*where[:i], (where[i] + 1) % n, *where[i + 1:])) for where in nodes
                         for i, n in enumerate(shape) if n > 1)
    return graph


def _fat_tree(graph, name, hosts, sizes, speed):
    """Add the switches of a fat tree: numbers of children, of parents, and of cables, for each level from the hosts.

    A vertex of level l has a place in l coordinates that count switches beside each other, and in the rest of the
    coordinates that count units; it is joined to the parents that differ from it in no other coordinate.
    """
    _, below, above, cables = sizes
    level = [(host, (), _place(i, below)) for i, host in enumerate(hosts)]
    for i in range(len(below)):
        parents = {}
        for vertex, beside, unit in level:
            for j in range(above[i]):
                key = (*beside, j), unit[1:]
                parent = parents.setdefault(key, f"{name}_L{i + 1}_{len(parents)}")
                graph.add_node(parent, kind="switch")
                graph.add_edge(vertex, parent, bandwidth=speed, cables=cables[i])
        level = [(vertex, beside, unit) for (beside, unit), vertex in parents.items()]


def _place(number, below):
    """Return the place of a host in its unit of each level, the smallest units first."""
    found = []
    for n in below:
        number, digit = divmod(number, n)
        found.append(digit)
    return tuple(found)
