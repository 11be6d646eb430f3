"""Where the search for a placement begins on a kind of network: the interface, and a table from the name of the kind.

A kind with seeds of its own has a file here, whose `SEEDS` is a `Seeds`, and a line in the table.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.search import Search
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.late import LateTable
from pencilmap.model.kinds import kind_of
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.loads import Objective


class Twin(NamedTuple):
    """A network as another one on which more placements are known; costs of placements are the same there."""

    site: Site
    in_order: Site  #: the same site on its own network, with the nodes in the order of the twin
    back: Callable[[Mapping], Mapping]  #: a mapping of either site -> on the nodes of the network


def twin_on(site: Site, twin: Site | None = None) -> Twin:
    """Return the twin of a graph, by default the graph with its hosts in the order of its kind."""
    graph: Any = site.network
    found = twin_at(site, graph.in_order, graph.place_of_host)
    return found if twin is None else found._replace(site=twin)


def twin_at(site: Site, network: Network, place: Ints) -> Twin:
    """Return the twin on another network, where each node has a place."""
    node, ordered = np.argsort(place), site.moved(network, place)

    def back(mapping: Mapping) -> Mapping:
        return replace(mapping, network=site.network, node_of_rank=node[mapping.node_of_rank])

    return Twin(ordered, ordered, back)


class Seeds:
    """What is known of the best placements on a kind of network: here nothing."""

    def twin(self, site: Site) -> Twin | None:
        """Return the twin of a site, None if there is none.

        A file may list its hosts in any order; their order in the kind is known to be good.
        """
        graph: Any = site.network
        return twin_on(site) if graph.recognised and graph.in_order is not graph else None

    def starts(self, site: Site, grid: ProcessGrid) -> Iterable[Mapping]:
        """Return placements at which the search by swaps may begin, on a network that is no torus."""
        return ()

    def has_closed(self, site: Site, grid: ProcessGrid) -> bool:
        """Return whether `closed` has placements. Only a network with coordinates is asked."""
        return False

    def closed(self, site: Site, grid: ProcessGrid, objective: Objective, within: Search) -> list[Mapping]:
        """Return placements of a family that is searched by itself for even blocks, the best last; none if it has none.

        Parameters
        ----------
        site : Site
        grid : ProcessGrid
        objective : Objective
            Objective to minimise.
        within : Search
        """
        return []


_PLACES = {  # name of the kind: file:name
    "torus": "graph:OF_TORUS",
    "twisted-torus": "twisted_torus:SEEDS",
    "torus-graph": "graph:SEEDS",
    "twisted-torus-graph": "graph:SEEDS",
}
SEEDS = LateTable[Seeds](__name__, _PLACES)


def seeds_of(network: Network) -> Seeds:
    """Return the seeds of a network."""
    name = kind_of(network).name
    return SEEDS[name] if name in SEEDS else Seeds()
