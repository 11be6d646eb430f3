"""Rules of a torus on the graph of its cables: loads are computed on the torus and carried over to the links of the file."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.routing.rule import Rule
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class Carried(Rule):
    """A rule that works on the torus of a graph."""

    rule: Any

    def loads(self, graph: TorusGraph, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link of the graph."""
        found = self.rule.loads(graph.torus, exchange, graph.node_of_host[node_of_rank])
        values = found.values.reshape(-1)[graph.place_in_torus].reshape(graph.link_shape)
        return LinkLoads(graph, values, found.total_bytes, found.denominator)
