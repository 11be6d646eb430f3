"""netloc: hosts and switches of an InfiniBand or Ethernet network in the files of netloc's tools.

hwloc after version 2.9 has no netloc (open-mpi/hwloc pull request 590), but exports remain:

- ``IB-*-nodes.txt`` of hwloc 2.0 to 2.9 (netloc/topology.c, utils/netloc/infiniband/netloc_ib_extract_dats.c): version,
  subnet, directory of hwloc files (all three missing in early versions), number of nodes; a line for each node
  ``id,lid,type,partitions,description,host`` with type 0 for hosts and 1 for switches; a line for each node's links
  ``id(,neighbour,gbits,partitions,n(,number,port,port,width,speed,gbits,description,other,partitions) n times)...``.
- ``*-nodes.ndat`` of netloc 0.5: JSON with ``node_info`` (``node_type`` 1: switch, 2: host) and ``edge_info``.
- the GraphML of netloc 0.5 (netloc/export.c): undirected by its head, but every link is listed once from each end.

Bandwidth comes from width and speed (``4x``, ``QDR``), not from the field gbits: netloc_ib_extract_dats takes every speed
except SDR for SDR. Data rates of a lane: InfiniBand Architecture Specification, vol. 2.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import graphml
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import parse_json

GBITS_OF_LANE = {"SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 13.64, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0}


def looks_like_graphml(document: Document) -> bool:
    return graphml.looks_like(document) and 'id="physical_id"' in document.text[:4000]


def looks_like_ndat(document: Document) -> bool:
    return document.text.lstrip().startswith("{") and '"node_info"' in document.text


def looks_like_text(document: Document) -> bool:
    lines = document.text.splitlines()[:5]
    return any(re.fullmatch(r"[0-9]+", first.strip()) and re.fullmatch(r"[0-9a-fA-F:.-]+,[0-9-]+,[0-9],[^,]*,.*", second)
               for first, second in itertools.pairwise(lines))


class Node(NamedTuple):
    """A host or switch: its id, its kind, and a name that may not be unique."""

    identity: str
    kind: str
    name: str


class Link(NamedTuple):
    """One direction of a cable."""

    source: str
    target: str
    width: str
    speed: str


def read_graphml(document: Document) -> Any:
    """Return the graph of a GraphML export."""
    graph = graphml.read_any(document, directed=True)
    nodes = [Node(str(v), "switch" if "switch" in str(data.get("type", "")).lower() else "host",
                  str(data.get("description", ""))) for v, data in graph.nodes(data=True)]
    links = [Link(str(a), str(b), str(data.get("width", "")), str(data.get("speed", "")))
             for a, b, data in graph.edges(data=True)]
    return _graph(document, nodes, links)


def read_ndat(document: Document) -> Any:
    """Return the graph of a JSON data file.

    Raises
    ------
    GraphError
        If the document is not netloc data.
    """
    try:
        data = parse_json(document.text)
        nodes = [Node(str(node["phy_id"]), {1: "switch", 2: "host"}[int(node["node_type"])], str(node.get("desc", "")))
                 for node in data["node_info"].values()]
        links = [Link(*(str(link[key]) for key in ("src_node_id", "dest_node_id", "width", "speed")))
                 for link in data["edge_info"].values()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GraphError(f"{document.label} is not netloc data: {type(error).__name__}: {str(error)[:120]}") from error
    return _graph(document, nodes, links)


def read_text(document: Document) -> Any:
    """Return the graph of a text file.

    Raises
    ------
    GraphError
        If the document is not a netloc file or ends too early.
    """
    lines = list(enumerate(document.text.splitlines(), 1))
    start = 0 if len(lines) > 1 and "," in lines[1][1] else 3
    if len(lines) <= start or not re.fullmatch("[0-9]{1,7}", lines[start][1].strip()):
        raise GraphError(f"{document.label} is not a netloc file: line 1 or line 4 must be the number of nodes")
    n = int(lines[start][1])
    if len(lines) < start + 1 + 2 * n:
        raise GraphError(f"{document.label} ends after {len(lines)} lines; {n} nodes need {start + 1 + 2 * n}")
    body = lines[start + 1:start + 1 + 2 * n]
    nodes = [_node(document, number, line) for number, line in body[:n]]
    links = [link for number, line in body[n:] for link in _links(document, number, line)]
    return _graph(document, nodes, links)


def _node(document: Document, number: int, line: str) -> Node:
    fields = line.split(",")
    if len(fields) < 6 or fields[2] not in ("0", "1", "2"):
        raise GraphError(f"{document.label} line {number}: a node has the fields id,lid,type,partitions,description,"
                         f"host with type 0 to 2, not {line[:60]!r}")
    return Node(fields[0], "host" if fields[2] == "0" else "switch", fields[-1] or ",".join(fields[4:-1]))


def _links(document: Document, number: int, line: str) -> Iterator[Link]:
    """Return the links of one node. Descriptions must not hold commas, which netloc does not escape."""
    source, *fields = line.split(",")
    at = 0
    while at < len(fields):
        head = fields[at:at + 4]
        if len(head) < 4 or not re.fullmatch("[0-9]{1,6}", head[3]) or at + 4 + 9 * int(head[3]) > len(fields):
            raise GraphError(f"{document.label} line {number} field {at + 2}: a neighbour has the fields "
                             "id,gbits,partitions,n and 9 fields for each of its n links")
        for link in range(int(head[3])):
            width = at + 7 + 9 * link  # the position of the width, before that of the speed
            yield Link(source, head[0], fields[width], fields[width + 1])
        at += 4 + 9 * int(head[3])


def _graph(document: Document, nodes: list[Node], links: list[Link]) -> Any:
    """Return vertices with unique names, and links as listed."""
    import networkx as nx  # slow to import, and only graphs need networkx

    plain = {node.identity: _plain(node) for node in nodes}
    twice = {name for name, k in Counter(plain.values()).items() if k > 1}
    names = {identity: f"{name} {identity}" if name in twice else name for identity, name in plain.items()}
    graph = nx.MultiDiGraph()
    for node in nodes:
        graph.add_node(names[node.identity], kind=node.kind)
    for link in links:
        for end in (link.source, link.target):
            if end not in names:
                raise GraphError(f"{document.label}: a link ends at {end[:40]!r}, not one of the {len(nodes)} nodes")
        rate = bandwidth(link.width, link.speed)
        graph.add_edge(names[link.source], names[link.target], **({"bandwidth": rate} if rate else {}))
    return graph


def _plain(node: Any) -> str:
    """Return the host's name, the first word of the description; the id for a switch or without a description.

    >>> _plain(Node("0002:c903:0006:dc31", "host", "'fourmi005 HCA-1'"))
    'fourmi005'
    >>> _plain(Node("0008:f105:0065:0d3a", "switch", "'Infiniscale-IV'"))
    '0008:f105:0065:0d3a'
    """
    words = node.name.strip(" '\"").split()
    return words[0] if words and node.kind == "host" else node.identity


def bandwidth(width: str, speed: str) -> float | None:
    """Return bytes per second of a link from its lanes (``4x``) and its speed, by name or in bits per second.

    None if lanes or speed are unknown.

    >>> bandwidth("4x", "QDR"), bandwidth("1", "10000000000"), bandwidth("1", "1")
    (4000000000.0, 1250000000.0, None)
    """
    lanes = re.fullmatch(r"([0-9]{1,3})[xX]?", width.strip())
    lane = GBITS_OF_LANE.get(speed.strip().upper())
    if lane is None and re.fullmatch("[0-9]{7,15}", speed.strip()):
        lane = int(speed) / 1e9
    return int(lanes[1]) * lane * 1e9 / 8 if lanes and lane and int(lanes[1]) else None
