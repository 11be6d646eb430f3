"""Files of switches and cables (`pencilmap.mapper.graphs`), as the network that a job runs on.

netloc exports: hosts and switches of a network as GraphML, or as the XML of hwloc 2.0 to 2.9.

hwloc no longer has netloc (open-mpi/hwloc #590), but exports remain. An export gives hosts without torus coordinates: these
come from the names, or from a separate table. GraphML: netloc 0.5, ``netloc_topology_export_graphml`` (read by networkx);
XML: elements ``node`` with ``type`` and ``name`` (hwloc 2, netloc/topology.c).

Scotch target files (``.tgt``): those of tori and meshes give coordinates.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import ParseError

from pencilmap.mapper.allocations.found import NO_TORUS, Fact, Found, shortened
from pencilmap.mapper.formats.lines import Document, xml_root
from pencilmap.mapper.graphs import GRAPHS, parse_graph, read_named, scotch
from pencilmap.mapper.graphs.parts import PartsError
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import check_xml
from pencilmap.model.base.units import counted
from pencilmap.model.kinds import kind_of

READ = ("simgrid", "netloc-ndat", "topograph", "ibnetdiscover", "netloc", "slurm-addresses", "metis", "dot", "graphml")
_ARTICLES = {"graph": "a graph", "fat-tree": "a fat tree", "torus-graph": "a torus",
             "twisted-torus-graph": "a twisted torus"}


def looks_like(document: Document) -> bool:
    return any(GRAPHS[name].looks_like(document) for name in READ)


def find(document: Document) -> Found:
    """Return the network of the file."""
    return with_network(Found(), document, refuse=True)


def named(text: str, before: Found) -> Found:
    """Return the network of a file that is named as one, ``topology.conf`` or ``topology.conf,taper=2``.

    Facts that are found in the file stay if the file is a network by its content, too.
    """
    network, parts = _network_or_parts(lambda: read_named(text))
    before = before if before.network or before.parts or before.torus == str(network) else Found()
    facts = tuple(fact for fact in before.facts if fact.what not in ("torus", "network"))
    if network and network.has_coordinates:
        return replace(before, facts=(Fact("torus", str(network), text), *facts), torus=str(network), network=None,
                       path=None)
    return replace(before, facts=(_fact(network, parts, text), *facts), torus=None, network=network, parts=parts, path=text)


def _network_or_parts(read: Callable[[], Any]) -> tuple[Any, PartsError | None]:
    try:
        return read(), None
    except PartsError as parts:
        return None, parts


def _fact(network: Any, parts: Any, source: str) -> Fact:
    return Fact("network", parts.summary if parts else summary(network), source)


def with_network(description: Found, document: Document, refuse: bool = False) -> Found:
    """Return facts together with the network of their file, or with the reason why the file is no network.

    Raises
    ------
    PencilmapError
        With `refuse`, in place of the reason.
    """
    try:
        network, parts = _network_or_parts(lambda: parse_graph(document))
    except PencilmapError as error:
        if refuse:
            raise
        return replace(description, missing=str(error))
    if network and network.has_coordinates:
        return description
    own = () if any(fact.what == "network" for fact in description.facts) else (_fact(network, parts, document.label),)
    return replace(description, facts=(*description.facts, *own), network=network, parts=parts, path=document.label)


def summary(network: Any) -> str:
    """Return the kind of a network and its counts.

    >>> from pencilmap.model.kinds import network_named
    >>> summary(network_named("fat-tree:leaves=4,hosts=4,up=2"))
    'a fat tree of 16 hosts, 6 switches, 4 leaves'
    """
    levels = [counted(level.count, level.name) for level in network.levels]
    kind = _ARTICLES.get(kind_of(network).name, f"a {kind_of(network).name}")
    return ", ".join([f"{kind} of {counted(network.n_nodes, 'host')}", counted(network.real_switches, "switch"), *levels])


HOSTS = ("host", "ca", "1", "netloc_node_type_host")


def looks_like_netloc(document: Document) -> bool:
    head = document.text[:4000]
    if "<graphml" in head:  # other graphs are networks without types of nodes
        return (re.search(r"""attr\.name=["']type["']""", head) is not None
                and re.search(r">\s*(host|ca|netloc_node_type_host)\s*</data>", document.text, re.IGNORECASE) is not None)
    return bool(re.search(r"<(network|netloc|subnet|machine|topology)\b[^>]*>.{0,2000}?<node\b", head, re.DOTALL))


def find_netloc(document: Document) -> Found:
    hosts, switches = _graphml(document) if "<graphml" in document.text[:4000] else _xml(document)
    if not hosts:
        raise document.refuse("has no node of type host")
    facts = (Fact("network", f"{counted(len(hosts), 'host')}, {counted(switches, 'switch')}, no coordinates",
                  document.label),
             Fact("hosts", shortened(hosts), document.label))
    return Found(facts, hosts=tuple(hosts), missing=f"{NO_TORUS}give this file with `network`" if switches else None)


def _graphml(document: Document) -> Any:
    import networkx as nx

    try:
        check_xml(document.text)
        graph = nx.read_graphml(BytesIO(document.text.encode("utf-8")))
    except (nx.NetworkXError, ParseError, ValueError, KeyError, RecursionError) as error:
        raise document.refuse(f"is not GraphML: {str(error)[:120]}") from error
    return _sorted_out((str(name), data) for name, data in graph.nodes(data=True))


def _xml(document: Document) -> tuple[tuple[Any, ...], int]:
    return _sorted_out((element.get("mac_addr", "?"), element.attrib) for element in xml_root(document).iter("node"))


def _sorted_out(nodes: Iterable[Any]) -> tuple[tuple[Any, ...], int]:
    """Return the names of the hosts, each once, and the number of other nodes."""
    hosts, others = {}, 0
    for identity, data in nodes:
        low = {str(key).lower(): str(value) for key, value in data.items()}
        kind = next((low[k] for k in ("type", "node_type", "kind") if k in low), "")
        name = next((low[k] for k in ("name", "hostname", "description", "label") if low.get(k)), identity)
        if kind.lower() in HOSTS:
            hosts[name.split()[0] if name.split() else identity] = True
        else:
            others += 1
    return tuple(hosts), others


def find_scotch(document: Document) -> Found:
    """Return the shape of a target that is a torus or a mesh, and the network of any other target."""
    torus = scotch.read(document)
    if not isinstance(torus, str):
        return find(document)
    what = "mesh" if torus.endswith(":mesh") else "torus"
    return Found((Fact(what, torus, f"{document.label} ({document.text.split()[0]})"),), torus)
