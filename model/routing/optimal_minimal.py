"""The best routing along shortest paths: a linear program.

Idea: every message may be split over its shortest paths in any way; the split is chosen for the whole exchange to minimise
the time of the busiest link. All messages of one source are one commodity: on the arcs that lead away from the source, every
flow is a mixture of shortest paths. On a torus, if a placement looks the same from several nodes, the average of an optimal
flow over these shifts is also optimal, so one source and one link of each kind suffice.
Source: the path-flow and commodity-flow forms of minimum congestion routing, e.g. R. K. Ahuja, T. L. Magnanti, J. B. Orlin,
"Network Flows" (1993), ch. 17; the use of symmetry is ours. Solved by HiGHS through scipy.
Cost: a variable for each distinct source and arc on its shortest paths; seconds for ten thousand of them. Refused above
MAX_FLOWS.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.network.network import Arcs, Network
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange, node_traffic
from pencilmap.model.traffic.loads import LinkLoads

MAX_FLOWS = 40_000
MAX_NODES = 1024


@dataclass(frozen=True)
class OptimalMinimal(Rule):
    """The rule as a value."""

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the loads of the links for the least time of the busiest link.

        The busiest link is optimal to the solver's accuracy (1e-7). The other loads are from one of many optima.

        Raises
        ------
        RoutingError
            If the program has more than MAX_FLOWS variables, or the network more than MAX_NODES nodes.
        """
        if network.n_nodes > MAX_NODES:
            raise RoutingError(f"optimal-minimal routing is a linear program for up to {MAX_NODES} nodes, and "
                               f"{network.title} has {network.n_nodes}; use the cut bound as lower and another rule as "
                               "upper limit")
        traffic = node_traffic(exchange, node_of_rank, network.n_nodes)
        values = np.zeros(network.link_shape)
        if traffic.nnz:
            arcs, kind = network.arcs(), first_kinds(self.symmetries(network), traffic)
            values.reshape(-1)[arcs.index] = _solve(network, arcs, traffic, kind)
        return LinkLoads(network, values, exchange.total_bytes)

    def symmetries(self, network: Any) -> Iterable[Ints]:
        """Moves of all nodes that change no link: the node that each node moves to; here none are known."""
        return ()


OPTIMAL_MINIMAL = without_argument(
    "optimal-minimal", "the best routing along shortest paths: a linear program, for small or regular cases",
    OptimalMinimal())


def first_kinds(symmetries: Iterable[Ints], traffic: Any) -> Ints:
    """Return for each node the first node to which moves that do not change the traffic lead: int array, shape (N,)."""
    dense = traffic.toarray()
    kind = np.arange(len(dense))
    for moved in symmetries:
        if np.array_equal(dense[moved[0]][moved], dense[0]) and np.array_equal(dense[np.ix_(moved, moved)], dense):
            kind = np.minimum(kind, kind[moved])
    return kind


def _solve(network: Network, arcs: Arcs, traffic: Any, kind: Ints) -> NDArray[Any]:
    """Return the load of every arc."""
    from scipy.optimize import linprog  # slow to import, and other rules do not need it
    from scipy.sparse import block_diag, coo_array, csr_array, hstack

    used = _flows(network, arcs, traffic, kind)
    flows = np.concatenate(list(used.values()))
    group, strength = _groups_of_arcs(arcs, kind)
    unit = float(traffic.max())
    arriving, received = zip(*(_arriving(arcs, targets, s, traffic) for s, targets in used.items()))
    arriving = block_diag(arriving, format="csr")
    load = coo_array((np.ones(flows.size), (group[flows], np.arange(flows.size))), shape=(strength.size, flows.size))
    solution = linprog(np.append(np.zeros(flows.size), 1.0), method="highs-ipm",
                       A_ub=hstack([load, csr_array(-strength[:, None])], format="csr"), b_ub=np.zeros(strength.size),
                       A_eq=hstack([arriving, csr_array((arriving.shape[0], 1))], format="csr"),
                       b_eq=np.concatenate(received) / unit)
    if solution.status != 0:
        raise RoutingError(f"the linear program of optimal-minimal routing on {network.title} was not solved: "
                           f"{solution.message}")
    return (np.bincount(group[flows], solution.x[:-1], strength.size) * unit)[group]


def _flows(network: Network, arcs: Arcs, traffic: Any, kind: Ints) -> dict[int, Ints]:
    """Return for one source of each kind the arcs on its shortest paths: dict from node to int array."""
    every = arcs.distances()
    sources = np.intersect1d(kind, np.flatnonzero(np.diff(traffic.indptr)))
    used = {s: _useful_arcs(arcs, every, s, traffic[[s]].indices) for s in sources.tolist()}
    flows = sum(map(len, used.values()))
    if flows > MAX_FLOWS:
        raise RoutingError(f"optimal-minimal routing on {network.title} is a linear program of {flows} flows, more than "
                           f"{MAX_FLOWS}; use a smaller network or a more regular placement, or the cut bound as lower "
                           "and another rule as upper limit")
    return used


def _useful_arcs(arcs: Arcs, every: Floats, source: int, targets: Ints) -> Ints:
    """Return the arcs on the shortest paths from a source to some targets: int array."""
    near = every[source]
    on_the_way = (near[:, None] + every[:, targets] == near[targets]).any(axis=1)
    return np.flatnonzero((near[arcs.target] == near[arcs.source] + 1) & on_the_way[arcs.target])


def _groups_of_arcs(arcs: Arcs, kind: Ints) -> tuple[Ints, Floats]:
    """Return groups of arcs with equal loads: group of each arc, int array, and cables of each group, float array."""
    kind = np.append(kind, np.arange(kind.size, arcs.n_vertices))
    _, first, group = np.unique(arcs.index - arcs.source + kind[arcs.source], return_index=True, return_inverse=True)
    return group, arcs.capacity[first]


def _arriving(arcs: Arcs, targets: Ints, source: int, traffic: Any) -> tuple[Any, Floats]:
    """Return inflow minus outflow of some arcs at each vertex (csr array), and the demand there."""
    from scipy.sparse import coo_array

    vertices = np.unique(arcs.target[targets])
    rows = [np.searchsorted(vertices, ends) for ends in (arcs.target[targets], arcs.source[targets])]
    inner = arcs.source[targets] != source
    flow = np.arange(targets.size)
    matrix = coo_array((np.append(np.ones(targets.size), -np.ones(inner.sum())),
                        (np.append(rows[0], rows[1][inner]), np.append(flow, flow[inner]))),
                       shape=(vertices.size, targets.size))
    received = np.zeros(arcs.n_vertices)
    row = traffic[[source]].tocoo()
    received[row.col] = row.data
    return matrix, received[vertices]
