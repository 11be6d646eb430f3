"""Files of switches and cables (`pencilmap.mapper.graphs`), as the network that a job runs on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pencilmap.mapper.allocations.found import Fact, Found
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import GRAPHS, parse_graph, read_named
from pencilmap.mapper.graphs.parts import PartsError
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.units import counted
from pencilmap.model.kinds import kind_of

READ = ("simgrid", "netloc-ndat", "topograph", "ibnetdiscover", "netloc", "slurm-addresses", "metis", "dot", "graphml")
_ARTICLES = {"graph": "a graph", "fat-tree": "a fat tree", "torus-graph": "a torus"}


def looks_like(document: Document) -> bool:
    return any(GRAPHS[name].looks_like(document) for name in READ)


def find(document: Document) -> Found:
    """Return the network of the file."""
    return with_network(Found(), document, refuse=True)


def named(text: str, found: Found) -> Found:
    """Return the network of a file that is named as one, ``topology.conf`` or ``topology.conf,taper=2``.

    Facts that are found in the file stay if the file is a network by its content, too.
    """
    network, parts = _network_or_parts(lambda: read_named(text))
    found = found if found.network or found.parts or found.torus == str(network) else Found()
    facts = tuple(fact for fact in found.facts if fact.what not in ("torus", "network"))
    if network and network.has_coordinates:
        return replace(found, facts=(Fact("torus", str(network), text), *facts), torus=str(network), network=None, path=None)
    return replace(found, facts=(_fact(network, parts, text), *facts), torus=None, network=network, parts=parts, path=text)


def _network_or_parts(read: Callable[[], Any]) -> tuple[Any, PartsError | None]:
    try:
        return read(), None
    except PartsError as parts:
        return None, parts


def _fact(network, parts, source):
    return Fact("network", parts.summary if parts else summary(network), source)


def with_network(found: Found, document: Document, refuse: bool = False) -> Found:
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
        return replace(found, missing=str(error))
    if network and network.has_coordinates:
        return found
    own = () if any(fact.what == "network" for fact in found.facts) else (_fact(network, parts, document.label),)
    return replace(found, facts=(*found.facts, *own), network=network, parts=parts, path=document.label)


def summary(network: Any) -> str:
    """Return the kind of a network and its counts.

    >>> from pencilmap.model.kinds import network_named
    >>> summary(network_named("fat-tree:leaves=4,hosts=4,up=2"))
    'a fat tree of 16 hosts, 6 switches, 4 leaves'
    """
    levels = [counted(level.count, level.name) for level in network.levels]
    kind = _ARTICLES.get(kind_of(network).name, f"a {kind_of(network).name}")
    return ", ".join([f"{kind} of {counted(network.n_nodes, 'host')}", counted(network.real_switches, "switch"), *levels])
