"""Compact groups of slots for the starts of the local search: blobs, spectral parts, and columns matched to rows.

Idea: groups along one dimension of the grid are compact parts of the usable nodes. Blobs grow from the slot farthest from
the middle: each step adds the slot nearest to the blob. Recursive cuts along the second eigenvector of the graph of the
nodes give spectral parts. Links of later dimensions count a little less, so that the eigenvector is unique on tori and
cubes. The order inside the groups makes the groups across. A matching with the least sum of distances pairs members that
sit alike in all groups, relative to the middle of their group. So the groups across spread evenly, as cosets of a lattice.
Source: M. Fiedler, "Algebraic connectivity of graphs", Czechoslovak Math. J. 23 (1973); A. Pothen, H. Simon, K.-P. Liou,
"Partitioning sparse matrices with eigenvectors of graphs", SIAM J. Matrix Anal. Appl. 11 (1990); H. W. Kuhn, "The Hungarian
method for the assignment problem", Naval Res. Logist. 2 (1955), by `scipy.optimize.linear_sum_assignment`.
Cost: O(S^2) for blobs and for the eigenvectors of S slots, O(size^3) for each matched group.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site

MOST_SLOTS = 1024  # beyond, eigenvectors take longer than the search
MOST_CUTS = 1024   # that are kept for other grids on the same slots
MATCHINGS = 3      # rounds; the pattern of a round is the mean places of the round before
FADING = 0.01      # how much less a link of the next dimension counts

Groups = list[np.ndarray]


def blobs(site: Site, sizes: Sequence[int]) -> Groups:
    """Return groups of slots that grow by distance.

    Parameters
    ----------
    site : Site
    sizes : sequence of int
        Slots of each group.

    Returns
    -------
    list of ndarray of int
        The slots of each group, nearest first.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> [group.tolist() for group in blobs(Site(Torus((6,), (False,))), [3, 3])]
    [[0, 1, 2], [5, 4, 3]]
    """
    apart = distances(site)
    far, free, found = apart.sum(axis=1), np.ones(len(apart), dtype=bool), []
    for size in sizes:
        each = int(np.argmax(np.where(free, far, -1)))
        group, near = [each], apart[each].copy()
        free[each] = False
        for _ in range(size - 1):
            each = int(np.argmin(np.where(free, near, np.iinfo(np.int64).max)))
            group.append(each)
            free[each] = False
            near += apart[each]
        found.append(np.array(group))
    return found


def spectral(site: Site, sizes: Sequence[int]) -> Groups:
    """Return groups of slots by recursive cuts along the second eigenvector.

    Parameters
    ----------
    site : Site
    sizes : sequence of int
        Slots of each group.

    Returns
    -------
    list of ndarray of int
        The slots of each group.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> sorted(sorted(group.tolist()) for group in spectral(Site(Torus((4, 2), (False, False))), [4, 4]))
    [[0, 1, 4, 5], [2, 3, 6, 7]]
    """
    return _cut((as_torus(site.network), site.tasks_per_node, site.allocation.nodes.tobytes()), np.arange(site.n_slots),
                list(sizes))


def _cut(where, some, sizes):
    if len(sizes) == 1:
        return [some[:sizes[0]]]
    half, order = len(sizes) // 2, _along(*where, some.tobytes())
    left = len(order) * sum(sizes[:half]) // sum(sizes)
    return _cut(where, order[:left], sizes[:half]) + _cut(where, order[left:], sizes[half:])


@lru_cache(maxsize=MOST_CUTS)
def _along(torus, tasks_per_node, nodes, some):
    """Return slots in the order of the second eigenvector of their graph. Grids whose parts are alike share the cuts."""
    some = np.frombuffer(some, dtype=np.int64)
    part = _affinity(torus, tasks_per_node, nodes)[np.ix_(some, some)]
    _, vectors = np.linalg.eigh(np.diag(part.sum(axis=1)) - part)
    along = vectors[:, 1]
    along = along * np.sign(along[np.argmax(np.abs(along) > 1e-6)])  # eigenvectors have no sign of their own
    return some[np.argsort(along.round(9), kind="stable")]


@lru_cache(maxsize=1)
def _affinity(torus, tasks_per_node, nodes):
    """Return how strongly two slots belong together: 2 on one node, about 1 on neighbours, small but positive beyond."""
    places = np.repeat(torus.coordinates(np.frombuffer(nodes, dtype=np.int64)), tasks_per_node, axis=0)
    apart = hops_apart(torus, places, places)
    found = np.where(apart == 0, 2.0, 1e-3 / (1.0 + apart) ** 2)
    for i in range(torus.n_dimensions):
        found[(apart == 1) & (places[:, None, i] != places[None, :, i])] = 1.0 - FADING * i
    np.fill_diagonal(found, 0.0)
    return found


def matched(site: Site, groups: Groups) -> Groups:
    """Return the groups, all of equal size, with members of the same number in like places of their groups."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    torus, where = as_torus(site.network), _places(site)
    offsets = [_offsets(torus, where[group]) for group in groups]
    pattern, orders = offsets[0], [np.arange(len(group)) for group in groups]
    for _ in range(MATCHINGS):
        orders = [linear_sum_assignment(np.abs(pattern[:, None, :] - each[None, :, :]).sum(axis=2))[1] for each in offsets]
        pattern = np.mean([each[order] for each, order in zip(offsets, orders)], axis=0)
    return [group[order] for group, order in zip(groups, orders)]


def _offsets(torus, where):
    """Return places relative to the middle of a group; on a ring the shorter way from the first member."""
    n = np.array(torus.shape)
    ring = np.array([torus.is_ring(i) for i in range(torus.n_dimensions)])
    offsets = where - where[0]
    offsets = np.where(ring, (offsets + n // 2) % n - n // 2, offsets)
    return offsets - offsets.mean(axis=0)


def _places(site):
    """Return the coordinates of the node of every slot: int array, shape (S, d)."""
    return np.repeat(site.network.coordinates(site.allocation.nodes), site.tasks_per_node, axis=0)


def distances(site: Site) -> np.ndarray:
    """Return the hops between any two slots: int array, shape (S, S)."""
    where = _places(site)
    return hops_apart(as_torus(site.network), where, where)


def hops_apart(torus: Torus, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the hops between any two coordinates of two sets.

    Parameters
    ----------
    torus : Torus
    some, others : int array, shapes (A, d) and (B, d)
        Coordinates of nodes.

    Returns
    -------
    int array, shape (A, B)
    """
    found = np.zeros((len(some), len(others)), dtype=np.int64)
    for i, n in enumerate(torus.shape):
        hops = np.abs(some[:, None, i] - others[None, :, i])
        found += np.minimum(hops, n - hops) if torus.is_ring(i) else hops
    return found


def grown(site: Site, count: int, size: int, geometric: Callable[[], Groups]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield named orders of slots: blobs, spectral and geometric parts as groups, all matched.

    Parameters
    ----------
    site : Site
    count, size : int
        Number of groups, and slots of each.
    geometric : callable
        Gives the geometric parts.
    """
    if site.n_slots > MOST_SLOTS or min(count, size) < 2:
        return
    for name, make in (("blobs", lambda: blobs(site, [size] * count)), ("spectral", lambda: spectral(site, [size] * count)),
                       ("parts", geometric)):
        yield name, np.concatenate(matched(site, make()))
