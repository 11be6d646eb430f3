"""Sites on the torus that a graph was recognised as: the same nodes by their coordinates."""

from dataclasses import replace
from typing import cast

import numpy as np

from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.mapping import Mapping


def of_torus(site: Site) -> Site:
    """Return the same site on the torus that its network was recognised as; the site itself if there is none.

    Bounds and costs of placements are the same there.
    """
    graph = site.network
    return _moved(site, graph, graph.torus) if isinstance(graph, TorusGraph) else site


def in_order(site: Site) -> Site:
    """Return the same site on the same graph in the order of its torus."""
    graph = cast(TorusGraph, site.network)
    return _moved(site, graph, graph.in_order)


def _moved(site, graph, network):
    allocation = site.allocation
    whole = allocation.order is None and (graph.node_of_host == np.arange(graph.n_nodes)).all()
    hosts = None if allocation.hosts is None else graph.node_of_host[allocation.hosts]
    return replace(site, network=network, allocation=Allocation(
        network, None if whole else graph.node_of_host[allocation.nodes], hosts, allocation.listed))


def on_graph(mapping: Mapping, graph: TorusGraph) -> Mapping:
    """Return a mapping to the nodes of a torus, or to the graph in its order, as a mapping to the hosts of the graph."""
    return replace(mapping, network=graph, node_of_rank=graph.host_of_node[mapping.node_of_rank])
