"""Lower bounds for the traffic of any program, whatever the placement and the routing.

Ideas:

hosts
    A rank keeps at most T - 1 partners on its host of T slots, so the messages to its other partners leave the host, on
    links of known capacity.
hops
    The nearest places of any node are known. If every rank has its partners with most bytes there, bytes times hops are
    least. The links together must carry them.
cuts
    If all slots are full, a part of the network with k slots holds k of n ranks. At least c k (n - k) / n bytes cross its
    border, with the second smallest eigenvalue c of the Laplacian matrix of the traffic.

Phases follow one another, so their bounds add up.
Source: W. E. Donath, A. J. Hoffman, "Lower bounds for the partitioning of graphs", IBM J. Res. Dev. 17 (1973), for cuts.
Cost: eigenvalues of a dense matrix of up to `MOST_RANKS` ranks; distances between all nodes up to `MOST_NODES`.
"""

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.network.network import Arcs
from pencilmap.model.placement.allocation import Site
from pencilmap.model.traffic.program import Phase, Traffic

MOST_RANKS = 1500
MOST_NODES = 1024
ROUNDING = 1e-9  # part of a bound that rounding may have added


def program_bound(site: Site, traffic: Traffic) -> float:
    """Return the least sum over the phases of the busiest links, in bytes of a cable of the fastest class.

    Parameters
    ----------
    site : Site
    traffic : Traffic

    Examples
    --------
    Two ranks on two nodes with one link each way:

    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> program_bound(Site(Torus((2,))), one_phase(2, pairs_of([0], [1], [100])))
    100.0
    """
    arcs = site.network.arcs()
    cuts, near = _cuts(site, arcs), _nearest(site, arcs)
    return float(sum(_phase_bound(site, arcs, phase, cuts, near) for phase in traffic.phases if phase.bytes.nnz))


def _phase_bound(site, arcs, phase: Phase, cuts, near) -> float:
    out = [_kept_inside(matrix, site, near) for matrix in (phase.bytes, phase.bytes.T.tocsr())]
    nodes = site.allocation.nodes
    found = [0.0]
    for (leaving, _), ends in zip(out, (arcs.source, arcs.target)):
        width = np.bincount(ends, arcs.capacity, arcs.n_vertices)[nodes]
        if width.min() > 0:
            found += [float(leaving.max()) / width.max(), float(leaving.sum()) / width.sum()]
    if near is not None and len(arcs.capacity):
        found.append(max(hop_bytes for _, hop_bytes in out) / arcs.capacity.sum())
    n = phase.n_ranks
    if cuts and n == site.n_slots and n <= MOST_RANKS:
        matrix = phase.bytes.toarray().astype(float)
        matrix = matrix + matrix.T
        laplacian = np.diag(matrix.sum(axis=1)) - matrix
        least = np.linalg.eigvalsh(laplacian)[1] if n > 1 else 0.0
        least = max(0.0, least - ROUNDING * matrix.sum(axis=1).max())
        found += [least * k * (n - k) / n / width for k, width in cuts]
    best = max(found)
    return best if best == int(best) else best * (1 - ROUNDING)


def _kept_inside(matrix, site, near) -> tuple[Floats, float]:
    """Return for each rank the bytes that must leave its host, and the least sum of bytes times hops."""
    T = site.tasks_per_node
    leaving, hop_bytes = np.zeros(matrix.shape[0]), 0.0
    for rank in range(matrix.shape[0]):
        row = slice(matrix.indptr[rank], matrix.indptr[rank + 1])
        others = matrix.indices[row] != rank
        data = np.sort(matrix.data[row][others])[::-1].astype(float)
        leaving[rank] = data[T - 1:].sum()
        if near is not None:
            hop_bytes += float((data * near[:len(data)]).sum())
    return leaving, hop_bytes


def _nearest(site: Site, arcs: Arcs) -> Floats | None:
    """Return a lower bound for the hops from any node to its k nearest other places, k = 1, 2, ...; None if unknown."""
    nodes, T = site.allocation.nodes, site.tasks_per_node
    if len(nodes) > MOST_NODES:
        return None
    hops = np.sort(arcs.distances(nodes.tolist())[:, nodes], axis=1).min(axis=0)  # there and back: the least of both
    back = arcs.back
    hops = np.minimum(hops, np.sort(back.distances(nodes.tolist())[:, nodes], axis=1).min(axis=0))
    return np.repeat(hops, T)[1:]


def _cuts(site: Site, arcs: Arcs) -> list[tuple[int, float]]:
    """Return for some parts of the network the usable slots, and the capacity of the links across the border, both ways."""
    network, T = site.network, site.tasks_per_node
    usable = site.allocation.is_usable()
    parts = []
    if network.has_products:
        where = network.coordinates(np.arange(network.n_nodes))
        parts = [where[:, i] < half for i, n in enumerate(network.shape) for half in range(1, n // 2 + 1)]
    for level in network.levels:
        parts += [level.unit == number for number in range(min(len(level.names), MOST_NODES))]
    parts.append(np.arange(arcs.n_vertices) == site.allocation.nodes[0])
    found = []
    for part in parts:
        width = float(arcs.capacity[part[arcs.source] != part[arcs.target]].sum())
        slots = int((part[:network.n_nodes] & usable).sum()) * T
        if width > 0 and 0 < slots < site.n_slots:
            found.append((slots, width))
    return sorted(set(found))
