"""The kind of network that the cables of a file form.

Each kind of the table below is asked in turn. It builds its network from the hosts, switches and cables, and takes it only
if it has exactly the cables and rates of the file. Otherwise the graph stays. Recognition adds bounds, places where a search
begins, and routings. It never changes the default routing, nor names and order of the hosts.
Cost: time of the cables.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from pencilmap.model.kinds import recognise_dragonfly, recognise_fat_tree, recognise_hyperx, recognise_torus
from pencilmap.model.kinds.cabling import Cabling, NotThisKind, cabling_of
from pencilmap.model.kinds.reading import Rates
from pencilmap.model.network.graph import GraphNetwork

NOTE = "recognised: "


class Recogniser(NamedTuple):
    """How a kind is recognised: its network of a cabling, and the numbers of this network in words."""

    of: Callable[[Cabling], GraphNetwork]
    described: Callable[[Any], str]


RECOGNISERS = {
    "fat-tree": Recogniser(recognise_fat_tree.recognise, recognise_fat_tree.described),
    "hyperx": Recogniser(recognise_hyperx.recognise, recognise_hyperx.described),
    "dragonfly": Recogniser(recognise_dragonfly.recognise, recognise_dragonfly.described),
    "dragonfly-plus": Recogniser(recognise_dragonfly.recognise_plus, recognise_dragonfly.described),
    "torus": Recogniser(recognise_torus.recognise, recognise_torus.described),
}


def recognised(graph: GraphNetwork, bandwidth: Rates | None = None,
               implied: frozenset[int] = frozenset()) -> GraphNetwork | None:
    """Return the network of the first kind that a graph is, with a note; None if it is of no kind.

    Parameters
    ----------
    graph : GraphNetwork
    bandwidth : str, float or dict, optional
        Rates of the classes of links if the cables have none, see `pencilmap.model.kinds.reading.bandwidths`.
    implied : frozenset of int
        Vertices that stand for cables past a level, see `GraphNetwork`.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> recognised(from_networkx(nx.grid_graph((3, 4)), "net")).notes
    ('recognised: mesh 3x4',)
    """
    try:
        cabling = cabling_of(graph, bandwidth, implied)
    except NotThisKind:
        return None
    for kind in RECOGNISERS.values():
        try:
            found = kind.of(cabling)
        except NotThisKind:
            continue
        return replace(found, recognised=True, notes=(*graph.notes, f"{NOTE}{kind.described(found)}"))
    return None
