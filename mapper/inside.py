"""Placements inside the nodes: the slot of each rank on its node, and the cores of the slots.

Idea: the inside of a node is one more network, a tree of packages, NUMA nodes and caches with the slots as its hosts. The
search for programs places the ranks of each node there, after the nodes of all ranks are known. Its cost is that of
TreeMatch: bytes times hops, each link of the tree a hop. Nodes whose ranks send the same bytes are searched once.

Some launchers bind each rank as a file says. Others know one list of cores, which all nodes share, for their first, second
and further rank. For these one order is searched, with the bytes of all nodes together.
Source: E. Jeannot, G. Mercier, F. Tessier, "Process placement in multicore clusters: algorithmic issues and practical
techniques", IEEE TPDS 25 (2014).
Cost: a search for each different node, all with one budget.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.node import Node
from pencilmap.mapper.base.search import Search
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.seeds.traffic import hops_between
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange, Halo, exchanges, messages_within
from pencilmap.model.traffic.program import Traffic, one_phase, pairs_of

MOST_BY_SCOTCH = 8    # different nodes for which Scotch is asked, because each call is a process
HEAVIEST = 1 << 40    # bytes of the heaviest pair of ranks in a search, if its bytes are only parts of an array
Messages = Sequence[tuple[Exchange, float]]


class Inner(NamedTuple):
    """Bytes times links of the tree, over all nodes; bytes into or out of the busiest package of any node."""

    hop_bytes: float
    package_bytes: float


@dataclass(frozen=True, eq=False)
class Inside:
    """A placement inside the nodes.

    Parameters
    ----------
    mapping : Mapping
        With the slots of the ranks.
    job : Job
        With the cores of the slots.
    order : str
        The usual order of the ranks of a node that has the fewest bytes times hops.
    first, found : Inner
        Of that order, and of this placement.
    in_bytes : bool
        Whether the values are bytes, or parts of the array of a transform without a size.
    """

    mapping: Mapping
    job: Job
    order: str
    first: Inner
    found: Inner
    in_bytes: bool = True

    @property
    def gain(self) -> float:
        """How many times more bytes times hops the usual order has."""
        return self.first.hop_bytes / self.found.hop_bytes if self.found.hop_bytes else 1.0

    @property
    def package_gain(self) -> float | None:
        """How many times more bytes cross the busiest package in the usual order; None if none do in this placement."""
        return self.first.package_bytes / self.found.package_bytes if self.found.package_bytes else None

    def as_dict(self) -> dict[str, Any]:
        """Return the placement as JSON values."""
        values = {"launch_order": self.first._asdict(), "placement": self.found._asdict()} if self.in_bytes else {}
        return {"node": self.job.node and self.job.node.name, "order": self.order, "gain": self.gain,
                "package_gain": self.package_gain, **values}


def messages_of(grid: ProcessGrid, transform: Transform | None, halo: Halo | None = None) -> Messages:
    """Return the messages of a transform and its halos, each with the weight of its bytes: 1, or without a size their part
    of the array.
    """
    result = [(exchange, 1.0 if transform else 1 / exchange.total_bytes) for exchange in exchanges(grid, transform)]
    return [*result, (halo.messages(grid, transform), halo.weight)] if halo and transform else result


def messages_of_program(traffic: Traffic) -> Messages:
    """Return the messages of a program."""
    return [(phase.exchange, 1.0) for phase in traffic.phases if phase.bytes.nnz]


def place_inside(mapping: Mapping, messages: Messages, job: Job, alike: bool, within: Search | None,
                 in_bytes: bool = True) -> Inside:
    """Return the placement inside the nodes with few bytes times hops, never more than those of the usual orders.

    Parameters
    ----------
    mapping : Mapping
    messages : sequence of (Exchange, float)
        See `messages_of`.
    job : Job
        With its `node`.
    alike : bool
        Whether one list of cores binds the ranks of every node.
    within : Search, optional
        Without it the slots stay as they are. Without a budget the best start will be the answer.
    in_bytes : bool
        See `Inside`.
    """
    node = job.node
    if node is None:
        raise ValueError("the inside of the nodes is not known")
    T, host = node.n_slots, mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank // node.n_slots
    ranks = np.split(np.argsort(host, kind="stable"), np.flatnonzero(np.diff(np.sort(host))) + 1)
    matrices = _matrices(messages, host, ranks)
    hops, orders = _hops(node), _orders(node)

    def inner(slots: Iterable[Ints]) -> Inner:
        result = [_inner(matrix, hops, node.package, some) for matrix, some in zip(matrices, slots)]
        return Inner(sum(each.hop_bytes for each in result), max(each.package_bytes for each in result))

    name, first = min(((name, inner([order] * len(ranks))) for name, order in orders.items()), key=lambda each: each[1][0])
    if within is None:
        slots = [mapping.slot_of_rank[rank] % T for rank in ranks]
        return Inside(mapping, job, name, first, inner(slots), in_bytes)
    if alike:
        slot = _searched([_summed(matrices, T)], node, list(orders.items()), within)[0]
        slots, used = [slot] * len(ranks), [np.arange(T)] * len(ranks)
        job = replace(job, node=node.in_order(slot))
    else:
        slots = used = _searched(matrices, node, list(orders.items()), within)
    slot_of_rank = mapping.slot_of_rank // T * T
    for rank, slot in zip(ranks, used):
        slot_of_rank[rank] += slot[:len(rank)]
    return Inside(replace(mapping, slot_of_rank=slot_of_rank), job, name, first, inner(slots), in_bytes)


def _matrices(messages: Messages, host: Ints, ranks: Sequence[Ints]) -> list[Any]:
    """Return the bytes between the ranks of each host: float arrays, shape (n, n)."""
    P = len(host)
    number, place, result = np.empty(P, np.int64), np.empty(P, np.int64), [np.zeros((len(rank),) * 2) for rank in ranks]
    for i, rank in enumerate(ranks):
        number[rank], place[rank] = i, np.arange(len(rank))
    for exchange, weight in messages:
        pairs = messages_within(exchange, host)
        order = np.argsort(number[pairs.row], kind="stable")
        row, col, data = pairs.row[order], pairs.col[order], pairs.data[order] * weight
        ends = np.searchsorted(number[row], np.arange(len(ranks) + 1))
        for matrix, a, b in zip(result, ends, ends[1:]):
            matrix[place[row[a:b]], place[col[a:b]]] += data[a:b]
    return result


def _summed(matrices: Iterable[Floats], T: int) -> Floats:
    """Return the bytes from the i-th to the j-th rank of all nodes together."""
    whole = np.zeros((T, T))
    for matrix in matrices:
        whole[:len(matrix), :len(matrix)] += matrix
    return whole


def _hops(node: Node) -> Floats:
    """Return the links of the tree between slots: float array, shape (T, T)."""
    slot = np.arange(node.n_slots)
    tables = None if node.tree is None else _rule(node.tree).routes(node.tree, slot, np.zeros_like(slot))
    return np.zeros((node.n_slots,) * 2) if tables is None else hops_between(tables)


def _rule(tree: Network) -> Any:
    return routing(default_routing(tree), tree)


def _orders(node: Node) -> dict[str, Ints]:
    """Return the slots of the ranks of a node in the usual orders of launchers."""
    in_order = np.arange(node.n_slots)
    rounds = [np.lexsort((unit, [np.count_nonzero(unit[:i] == each) for i, each in enumerate(unit)]))
              for unit in (node.package, node.numa)]
    return {"ranks in the order of the cores": in_order, "ranks round the packages": rounds[0],
            "ranks round the NUMA nodes": rounds[1]}


def _inner(matrix: Floats, hops: Floats, package: Ints, slots: Ints) -> Inner:
    """Return the bytes inside one node."""
    slots = slots[:len(matrix)]
    away = matrix * (package[slots][:, None] != package[slots])
    sums = [np.bincount(package[slots], away.sum(axis=axis)).max(initial=0) for axis in (0, 1)]
    return Inner(float((matrix * hops[np.ix_(slots, slots)]).sum()), float(max(sums)))


def _searched(matrices: Sequence[Floats], node: Node, known: list[tuple[str, Ints]], within: Search) -> list[Ints]:
    """Return the slots of the ranks of each node, from one search for each different matrix."""
    different = {matrix.tobytes(): matrix for matrix in matrices}
    result: dict[bytes, Ints] = {}
    for key, matrix in different.items():
        last = list(result.values())[-1:]
        starts = [(name, slots[:len(matrix)]) for name, slots in (*known, *(("another node", slots) for slots in last))
                  if len(slots) >= len(matrix)]
        part = within.part(1 / len(different))
        result[key] = _search(matrix, node, starts, part, len(different) <= MOST_BY_SCOTCH)
    return [result[matrix.tobytes()] for matrix in matrices]


def _search(matrix: Floats, node: Node, known: list[tuple[str, Ints]], within: Search, scotch: bool) -> Ints:
    if node.tree is None or not matrix.any():
        return np.arange(len(matrix))
    from pencilmap.mapper.searches.traffic_search import search_traffic  # numba is loaded only for a search

    whole = (matrix == np.rint(matrix)).all()
    source, target = np.nonzero(matrix)
    sent = np.rint(matrix if whole else matrix * (HEAVIEST / matrix.max()))[source, target]
    traffic = one_phase(len(matrix), pairs_of(source, target, sent))
    site = Site(node.tree, idle=True)
    return search_traffic(site, traffic, _rule(node.tree), within, scotch, by_hops=True, known=known).places
