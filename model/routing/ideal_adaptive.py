"""The best that adaptive routers of a dragonfly can do: a linear program over the global cables.

Idea: the bytes from each group to each other group may be divided in any way over the direct cables and the ways through any
third group. The division is chosen to minimise the load of the busiest global cable. Local cables count as free, and the
cables between two groups are shared evenly. So no adaptive routing has less load on a global cable, and the hosts' own
links are exact.
Source: the path form of minimum congestion routing, e.g. R. K. Ahuja, T. L. Magnanti, J. B. Orlin, "Network Flows" (1993),
ch. 17. Solved by HiGHS through scipy.
Cost: a variable for each pair of groups with traffic and each third group, seconds for `MOST_WAYS` of them. Above this
number the loads are those of the cuts of single groups, which no division can avoid.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.routing.host_links import loads_with_hosts
from pencilmap.model.routing.minimal import Minimal, by_groups
from pencilmap.model.routing.rule import without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads

MOST_WAYS = 34_000  # 33 groups that all send to each other: 2 seconds


@dataclass(frozen=True)
class IdealAdaptive(Minimal):
    """The rule as a value; searches use the minimal routes."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the loads: exact for hosts, the least possible for global cables, 0 for local cables."""
        used, some = by_groups(network, exchange, node_of_rank)
        traffic = np.zeros((network.groups, network.groups))
        traffic[np.ix_(used, used)] = some.sum(axis=(1, 3))
        np.fill_diagonal(traffic, 0)
        links, _ = network.cables_of_pair
        cables = (links >= 0).sum(axis=2)
        few = np.count_nonzero(traffic) * (network.groups - 1) <= MOST_WAYS
        carried = best_division(traffic, cables) if few else single_groups(traffic, cables)
        loads = np.zeros(2 * len(network.global_ends))
        loads[links[links >= 0]] = (carried / np.maximum(1, cables))[:, :, None].repeat(links.shape[2], 2)[links >= 0]
        local = np.zeros(2 * len(network.local_ends))
        return loads_with_hosts(network, exchange, node_of_rank, [local, loads])


def best_division(traffic: Floats, cables: Floats) -> Floats:
    """Return the bytes from each group to each other group over their own cables, for the least load of a cable.

    Parameters
    ----------
    traffic, cables : arrays, shape (G, G)
        Bytes and cables from group to group.

    Examples
    --------
    >>> best_division(np.array([[0, 3.0, 0], [0, 0, 0], [0, 0, 0]]), 1 - np.eye(3)).round(6).tolist()
    [[0.0, 1.5, 1.5], [0.0, 0.0, 0.0], [0.0, 1.5, 0.0]]
    """
    from scipy.optimize import linprog  # slow to import, and only this rule needs it
    from scipy.sparse import coo_array

    G, most = len(traffic), float(traffic.max(initial=0))
    source, target = np.nonzero(traffic)
    if not len(source):
        return np.zeros((G, G))
    pair = np.arange(len(source)).repeat(G)
    s, t, k = source.repeat(G), target.repeat(G), np.tile(np.arange(G), len(source))
    kept = k != s                                                # through group k; k = t is the direct way
    pair, s, t, k = (some[kept] for some in (pair, s, t, k))
    way, amount = np.arange(len(pair)), traffic[s, t] / most
    through = k != t
    rows = np.concatenate([s * G + k, (k * G + t)[through]])
    columns, values = np.concatenate([way, way[through]]), np.concatenate([amount, amount[through]])
    put_on = coo_array((values, (rows, columns)), shape=(G * G, len(way))).tocsr()
    used = np.flatnonzero(cables.reshape(-1))
    limit = coo_array((-cables.reshape(-1)[used].astype(float), (np.arange(len(used)), np.full(len(used), len(way)))),
                      shape=(len(used), len(way) + 1)).tocsr()
    upper = coo_array(put_on[used])
    upper = coo_array((upper.data, (upper.row, upper.col)), shape=limit.shape).tocsr() + limit
    equal = coo_array((np.ones(len(way)), (pair, way)), shape=(len(source), len(way) + 1)).tocsr()
    cost = np.zeros(len(way) + 1)
    cost[-1] = 1
    found = linprog(cost, A_ub=upper, b_ub=np.zeros(len(used)), A_eq=equal, b_eq=np.ones(len(source)), method="highs-ipm")
    return np.asarray(put_on @ found.x[:-1]).reshape(G, G) * most


def single_groups(traffic: Floats, cables: Floats) -> Floats:
    """Return the least that the cables of single groups carry, for networks above the limit: bytes between groups.

    All cables of the group that needs longest carry an equal share of the traffic that leaves or enters it.
    """
    found = np.zeros(traffic.shape)
    leaving, entering = traffic.sum(axis=1) / cables.sum(axis=1), traffic.sum(axis=0) / cables.sum(axis=0)
    found += leaving.max() * cables * (np.arange(len(traffic)) == leaving.argmax())[:, None]
    other = entering.max() * cables * (np.arange(len(traffic)) == entering.argmax())[None, :]
    return np.maximum(found, other)


RULE = without_argument(
    "ideal-adaptive", "on a dragonfly: the least load of global cables by any adaptive routers; a linear program up to 33 "
    "groups, above it the cut of a group", IdealAdaptive())
