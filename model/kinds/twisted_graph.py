"""The twisted torus that hosts and their cables form.

Hosts of a twisted torus are sums of steps, and steps commute. So each cable of a host is a step, and leads back by the
opposite step. If u is a neighbour of v, the step k from v leads to a neighbour of the host to which k leads from u. From the
steps of the first host this gives those of all others, host by host. If several hosts are possible, as on rings of four, one
is taken, and another one if the first fails. Walks along the steps then give the extents and twists.

A usual twisted torus is compared with the graph as a whole, for on small ones many wrong steps fit.

The same torus has several texts. The one with the shortest longest ring, and then with the fewest twists, is taken.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice, permutations, product
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TorusError
from pencilmap.model.kinds import twisted_torus
from pencilmap.model.kinds.cabling import Cabling, Neighbours, NotThisKind, alike
from pencilmap.model.kinds.graph import KIND as GRAPH, TorusGraphKind, carried
from pencilmap.model.kinds.reading import bandwidths
from pencilmap.model.network.torus_graph import TorusGraph, TwistedTorusGraph
from pencilmap.model.network.twisted_torus import TwistedTorus, usual_twists_of

MOST_DIMENSIONS = 4
MOST_TRIES = 200  # choices of the steps of a host

Steps = list[list[int]]  # for each host its neighbour by each step


def recognise(cabling: Cabling) -> TwistedTorusGraph:
    """Return the graph of a cabling together with the twisted torus that it is.

    Raises
    ------
    NotThisKind
        If it is none.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.kinds import network_named
    >>> from pencilmap.model.kinds.cabling import cabling_of
    >>> from pencilmap.model.network.graph import from_networkx
    >>> arcs = network_named("4x8:twisted").arcs()
    >>> graph = nx.Graph(zip(arcs.source.tolist(), arcs.target.tolist()))
    >>> str(recognise(cabling_of(from_networkx(graph, "net"))).torus)
    '4x8:twisted'
    """
    n = cabling.n_hosts
    near = Neighbours(n, cabling.ends)
    degree = int(near.degree.max(initial=0))
    if cabling.n_switches or not 2 < degree < min(n - 1, 2 * MOST_DIMENSIONS + 1) or (near.degree != degree).any() \
            or n > twisted_torus.MOST_NODES:
        raise NotThisKind
    sort = _sorts(cabling)
    for usual in _usual(n, degree) if len(set(sort.values())) == 1 else ():
        arcs = usual.arcs()
        ends = np.stack([arcs.source, arcs.target], axis=1)[arcs.source < arcs.target]
        ours, theirs = (np.pad(some, ((0, 0), (0, 1))) for some in (cabling.ends, ends))  # all of class 0
        if (host := alike(n, ours, theirs, np.zeros(n, dtype=np.int64))) is not None:
            return _found(cabling, usual.shape, usual.twists, [*sort.values()][:usual.n_dimensions], host)
    for opposite, mine in _of_first(near, sort):
        steps = _steps(near, sort, opposite, mine)
        axes = [(k, back) for k, back in enumerate(opposite) if k <= back]
        if steps is None or len(axes) > MOST_DIMENSIONS:
            continue
        for shape, twists, order, host in _texts(steps, axes, n):
            with suppress(TorusError):
                return _found(cabling, shape, twists, [sort[0, steps[0][k]] for k in order], host)
    raise NotThisKind


def _usual(n: int, degree: int) -> Iterator[TwistedTorus]:
    """Yield the usual twisted tori of n nodes, all of whose nodes have so many cables.

    >>> [str(torus) for torus in _usual(16, 6)]
    ['2x2x4:twisted']
    """
    for d in range(2, MOST_DIMENSIONS + 1):
        for longer in range(1, d):
            k = round((n / 2**longer) ** (1 / d))
            shape = (k,) * (d - longer) + (2 * k,) * longer
            if k > 1 and prod(shape) == n:
                torus = TwistedTorus(shape, usual_twists_of(shape) or ())
                if (np.bincount(torus.arcs().source) == degree).all():
                    yield torus


def _found(cabling: Cabling, shape: Any, twists: Any, sorts: list[Any], host: Ints) -> TwistedTorusGraph:
    """Return the graph with its twisted torus, given cables and rate of each dimension and the host of each node."""
    plain, graph = TwistedTorus(shape, twists, cables=tuple(cables for cables, _ in sorts)), cabling.graph
    rates: Any = cabling.named if cabling.rate is None else [rate for _, rate in sorts]
    result = replace(plain, bandwidth=bandwidths(rates, plain.link_classes))
    cabling.check(result, host)
    return TwistedTorusGraph(graph.name, graph.vertices, cabling.n_hosts, graph.source, graph.target, graph.cables,
                             graph.bandwidth, count=graph.count, torus=result, node_of_host=np.argsort(host))


def described(network: TorusGraph) -> str:
    """Return the shape of a torus in words."""
    return network.torus.title


def _sorts(cabling: Cabling) -> dict[tuple[int, int], tuple[int, float | None]]:
    """Return cables and rate between each two neighbours."""
    rates = [None] * len(cabling.ends) if cabling.rate is None else cabling.rate.tolist()
    result = dict(zip(map(tuple, cabling.ends.tolist()), zip(cabling.cables.tolist(), rates)))
    return result | {(b, a): sort for (a, b), sort in result.items()}


def _of_first(near: Neighbours, sort: dict[Any, Any]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the opposite of each step, and the neighbours of host 0 by step, for each way to pair them.

    Two neighbours of a host are rarely opposite if they have another common neighbour, so those pairs come last.
    """
    mine = near.of(0).tolist()
    others = [set(near.of(host).tolist()) - {0} for host in mine]

    def paired(left: list[int]) -> Iterator[dict[int, int]]:
        if not left:
            yield {}
            return
        first, *rest = left
        for other in sorted(rest, key=lambda k: len(others[first] & others[k])):
            if sort[0, mine[first]] == sort[0, mine[other]]:
                for item in paired([k for k in rest if k != other]):
                    yield item | {first: other, other: first}
        for item in paired(rest):
            yield item | {first: first}

    for pairs in paired(list(range(len(mine)))):
        yield [pairs[k] for k in range(len(mine))], mine


def _steps(near: Neighbours, sort: dict[Any, Any], opposite: Sequence[int], mine: list[int]) -> Steps | None:
    """Return the neighbour of each host by each step, given those of host 0; None if none are found."""
    n, D = near.n, len(mine)
    neighbours = [set(near.of(host).tolist()) for host in range(n)]
    left = MOST_TRIES

    def choices(steps: dict[int, list[int]], host: int) -> list[list[int]]:
        """Return the possible steps of a host next to hosts whose steps are known."""
        known = {}
        for other in neighbours[host] & steps.keys():
            known[opposite[steps[other].index(host)]] = other
        allowed = []
        for k in range(D):
            if k in known:
                allowed.append([known[k]])
                continue
            some = neighbours[host] - set(known.values())
            for other in known.values():
                some &= neighbours[steps[other][k]]
            allowed.append(sorted(w for w in some if sort[host, w] == sort[0, mine[k]]
                                  and all(steps[other][k] != w for other in neighbours[w] & steps.keys())))
        return list(islice(_different(allowed), MOST_TRIES))

    trail: list[tuple[dict[int, list[int]], list[int]]] = []
    steps, waiting = {0: mine}, list(mine)
    while waiting:
        host = waiting.pop(0)
        if host in steps:
            continue
        some = choices(steps, host)
        if len(some) > 1:
            left -= len(some)
            trail += [(steps | {host: other}, [*waiting, *other]) for other in some[:0:-1]]
        if not some:
            if not trail or left < 0:
                return None
            steps, waiting = trail.pop()
            continue
        steps[host] = some[0]
        waiting += some[0]
    return [steps[host] for host in range(n)] if len(steps) == n else None


def _different(allowed: list[list[int]]) -> Iterator[list[int]]:
    """Yield choices of one of each list, all different."""
    if not allowed:
        yield []
        return
    k = min(range(len(allowed)), key=lambda i: len(allowed[i]))
    for one in allowed[k]:
        rest = [[w for w in some if w != one] for i, some in enumerate(allowed) if i != k]
        for item in _different(rest):
            yield [*item[:k], one, *item[k:]]


def _texts(steps: Steps, axes: list[tuple[int, int]], n: int) -> list[Any]:
    """Return shape, twists, step of each dimension and host of each node of all texts of a torus, the simplest first."""
    to, result = np.array(steps), []
    if (np.sort(to, axis=0) != np.arange(n)[:, None]).any():  # some step leads to a host twice
        return []
    for order in chain(*(product(*permutation) for permutation in permutations(axes))):
        host, lengths, rows = np.zeros(1, dtype=np.int64), list[int](), list[list[int]]()
        for k in order:
            ring, at = [host], to[0, k]
            while at not in host:
                ring.append(to[ring[-1], k])
                at = to[at, k]
            place = int(np.flatnonzero(host == at)[0])
            rows.append([place // int(np.prod(lengths[:i])) % length for i, length in enumerate(lengths)])
            lengths.append(len(ring))
            host = np.concatenate(ring)
        if len(host) == n and len(np.unique(host)) == n and min(lengths) > 1:
            result.append(_sorted(lengths, rows, order, host))
    return sorted(result, key=lambda text: (max(text[0]), np.count_nonzero(text[1]), text[1] != usual_twists_of(text[0]),
                                            text[:2]))


def _sorted(lengths: list[int], rows: list[list[int]], order: Sequence[int], host: Ints) -> Any:
    """Return a text with its shortest rings first."""
    d = len(lengths)
    by_length = sorted(range(d), key=lambda i: (lengths[i], -i))
    twists = tuple(tuple(rows[i][j] if j < i else 0 for j in by_length) for i in by_length)
    nodes = host.reshape(lengths[::-1]).transpose([d - 1 - i for i in by_length[::-1]]).ravel()
    return tuple(lengths[i] for i in by_length), twists, [order[i] for i in by_length], nodes


KIND = TorusGraphKind(
    "twisted-torus-graph", "", "a twisted torus that was recognised in the cables of a file", "link", TwistedTorusGraph,
    GRAPH.parse, (*GRAPH.rules, *(carried(rule) for rule in twisted_torus.KIND.rules if rule.name not in GRAPH.routings)),
    recognise=recognise, described=described, of=twisted_torus.KIND)
