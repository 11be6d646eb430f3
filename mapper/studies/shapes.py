"""Partition shapes ranked by the time of a transform, so that a user can ask for the right partition.

Idea: search every shape over all grids in closed form, the shape with the lowest bound first. The bound of a shape needs
no search (`pencilmap.model.bounds.any_routing.machine_bound`). Once enough shapes are found, a shape is skipped if its
bound is no better than the time of the last of them, because its time would be no better either.
Cost: about a millisecond for each shape and grid; rings of more than `LONGEST_RING` nodes have too many digit patterns and
are not searched.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from pencilmap.mapper.searches.grids import filled_grids
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.model.base.errors import GridError, PartitionError
from pencilmap.model.base.factors import factorisations
from pencilmap.model.bounds.any_routing import machine_bound
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.machines.machine import Machine, machine_partitions
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus
from pencilmap.model.placement.grid import ProcessGrid, check_tasks, per_node
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict_product
from pencilmap.model.predict.results import Prediction, worst
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.loads import m_time

LONGEST_RING = 256
MAX_SHAPES = 20_000


@dataclass(frozen=True)
class RankedShape:
    """A partition shape with its bound and its predictions.

    Parameters
    ----------
    torus : Torus
    bound_s : float or None
        Seconds of all exchanges together that no mapping can beat, by the busiest link.
    predictions : tuple of Prediction
        The best product placement of each wanted grid, the fastest grid first; empty if the shape was not searched.
    """

    torus: Torus
    bound_s: float | None
    predictions: tuple[Prediction, ...] = ()

    @property
    def best(self) -> Prediction | None:
        """Prediction for the fastest grid, None if the shape was not searched."""
        return self.predictions[0] if self.predictions else None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures for JSON."""
        return {**self.torus.as_dict(), "bound_s": self.bound_s, "predictions": [p.as_dict() for p in self.predictions]}


def rank_shapes(tori: Iterable[Torus], tasks_per_node: int = 1, transform: Transform | None = None, costs: Costs = Costs(),
                top: int | None = None, grids: int | None = None, grid: ProcessGrid | None = None,
                decomposition: Decomposition = PENCIL) -> list[RankedShape]:
    """Rank shapes of the same number of nodes.

    Parameters
    ----------
    tori : iterable of Torus
    tasks_per_node : int
    transform : Transform, optional
        Without a transform the sum of the worst lengths ranks the shapes.
    costs : Costs
    top : int, optional
        Number of shapes to find; all by default.
    grids : int, optional
        Number of grids to find for each shape; all by default.
    grid : ProcessGrid, optional
        The only grid to try; all of `decomposition` by default. Blocks are taken as even.
    decomposition : Decomposition

    Returns
    -------
    list of RankedShape
        First the searched shapes, the fastest first. Then the others, the lowest bound first.

    Raises
    ------
    GridError
        If `grid` does not fill the slots.

    Examples
    --------
    >>> [str(s.torus) for s in rank_shapes(torus_shapes(64, 3), top=2)][:2]
    ['4x4x4', '2x4x8']
    """
    ordered = sorted(tori, key=lambda torus: (_floor(torus), max(torus.shape), torus.shape))
    allowed = _grids(ordered[0].n_nodes, tasks_per_node, transform, grid, decomposition)
    found, rest, limit = [], [], None
    for torus in ordered:
        bound_s = None if transform is None else m_time(machine_bound(torus), torus, transform.total_bytes)
        least = _floor(torus) if bound_s is None else bound_s
        if max(torus.shape) > LONGEST_RING or (limit is not None and least > limit):
            rest.append(RankedShape(torus, bound_s))
            continue
        products = [best_product(torus, g, tasks_per_node) for g in allowed]
        found.append(RankedShape(torus, bound_s, tuple(_fastest(products, transform, costs, grids))))
        found.sort(key=lambda shape: shape.predictions[0].order)
        limit = found[top - 1].predictions[0].worth if top and len(found) >= top else None
    return found + rest


def _fastest(products, transform, costs, wanted):
    """Return predictions for the products, the fastest first.

    The contention term costs more to compute than all others. A time without contention is a bound. So once enough products
    are found, contention is computed only for a bound better than the time of the last of them.
    """
    bounds = sorted((predict_product(p, transform, costs=replace(costs, contention=None)) for p in products),
                    key=lambda p: p.order)
    if costs.contention is None or transform is None:
        return bounds[:wanted]
    found = []
    for bound in bounds:
        if wanted and len(found) >= wanted and bound.order >= found[wanted - 1].order:
            break
        found = sorted([*found, predict_product(bound.product, transform, costs=costs)], key=lambda p: p.order)
    return found[:wanted]


def _floor(torus):
    """Return a lower bound for any mapping on a torus, on the m scale; comparable between shapes with as many nodes."""
    return worst(machine_bound(torus), torus)


def _grids(n_nodes, tasks_per_node, transform, grid, decomposition):
    n_tasks = n_nodes * tasks_per_node
    if grid is not None:
        check_tasks(grid, n_tasks, f"a partition of {n_nodes} nodes with {per_node(tasks_per_node)}")
        return [grid]
    return filled_grids(n_tasks, transform, decomposition)


def torus_shapes(n_nodes: int, n_dimensions: int, like: Torus | None = None, wrap: bool = True) -> list[Torus]:
    """Return every shape of `n_nodes` nodes in `n_dimensions` dimensions.

    Parameters
    ----------
    n_nodes, n_dimensions : int
    like : Torus, optional
        Gives bandwidths and cables; if its dimensions differ, shapes with extents in another order count as different.
    wrap : bool
        Whether dimensions close to rings.

    Returns
    -------
    list of Torus

    Raises
    ------
    PartitionError
        If a number is out of range or there are too many shapes.

    Examples
    --------
    >>> [str(t) for t in torus_shapes(12, 2)]
    ['1x12', '2x6', '3x4']
    """
    if not 1 <= n_dimensions <= MAX_DIMENSIONS:
        raise PartitionError(f"{n_dimensions} dimensions; a torus has 1 to {MAX_DIMENSIONS}")
    if n_nodes < 1:
        raise PartitionError(f"{n_nodes} nodes; a partition has at least one")
    bandwidth, cables = (like.bandwidth, like.cables) if like else (None, ())
    alike = like is None or len(set(zip(bandwidth or cables, cables))) == 1
    shapes = list(islice(factorisations(n_nodes, n_dimensions, 1 if alike else None), MAX_SHAPES + 1))
    if len(shapes) > MAX_SHAPES:
        raise PartitionError(f"{n_nodes} nodes have more than {MAX_SHAPES} shapes of {n_dimensions} dimensions; take fewer "
                             "dimensions, or a machine with a rule for partitions")
    return [Torus(shape, (wrap,) * n_dimensions, bandwidth, cables) for shape in shapes]


def partition_shapes(machine: Machine, n_nodes: int) -> list[Torus]:
    """Return the partitions of a machine, one for each set of extents in any order.

    Raises
    ------
    MachineError
        If the machine file has no rule for partitions.
    PartitionError
        If the machine hands out no partition of `n_nodes` nodes.

    Examples
    --------
    >>> from pencilmap.model.machines.machine import load_machine
    >>> [str(t) for t in partition_shapes(load_machine("bluegene-l"), 2048)]
    ['8x16x16', '8x8x32']
    """
    different: dict[tuple[Any, ...], Torus] = {}
    for torus in machine_partitions(machine, n_nodes):
        different.setdefault(_kind(torus), torus)
    if not different:
        sizes = machine.partition_rule().sizes()
        near = sorted(sorted(sizes, key=lambda size: abs(size - n_nodes))[:4])
        raise PartitionError(f"machine {machine.name} hands out no partition of {n_nodes} nodes; the nearest sizes are "
                             f"{', '.join(map(str, near))}")
    return list(different.values())


def _kind(torus):
    """Return the properties that decide a time: extents, rings, bandwidths, cables, in any order."""
    rates = torus.bandwidth or (None,) * torus.n_dimensions
    return tuple(sorted(zip(torus.shape, map(torus.is_ring, range(torus.n_dimensions)), rates, torus.cables)))


def weak_transform(transform: Transform, ratio: Fraction | int) -> Transform:
    """Return the transform with `ratio` times as many elements, so that each node holds the same amount.

    The shortest axis grows by the largest prime factor, then the next; for less than 1 the longest axes shrink.

    Raises
    ------
    GridError
        If no axis can shrink by a factor.

    Examples
    --------
    >>> [str(weak_transform(Transform(512, 512, 512), k)) for k in (2, 8, Fraction(3, 4))]
    ['1024x512x512', '1024x1024x1024', '512x768x256']
    """
    ratio = Fraction(ratio)
    n = [transform.nx, transform.ny, transform.nz]
    for prime in _primes(ratio.denominator):
        axis = max((i for i in range(3) if n[i] % prime == 0), key=lambda i: (n[i], i), default=None)
        if axis is None:
            raise GridError(f"transform {transform} cannot shrink by {prime}, which divides none of its extents; name the "
                            "smallest number of nodes first, or a transform with more factors")
        n[axis] //= prime
    for prime in _primes(ratio.numerator):
        axis = min(range(3), key=lambda i: (n[i], i))
        n[axis] *= prime
    return replace(transform, nx=n[0], ny=n[1], nz=n[2])


def _primes(n):
    """Return the prime factors, the largest first.

    >>> _primes(60)
    [5, 3, 2, 2]
    """
    found, k = [], 2
    while k * k <= n:
        while n % k == 0:
            found.append(k)
            n //= k
        k += 1
    return sorted([*found, *([n] if n > 1 else [])], reverse=True)


@dataclass(frozen=True)
class ScalingPoint:
    """One number of nodes of a scaling study."""

    n_nodes: int
    transform: Transform | None
    shapes: list[RankedShape]  #: the result of `rank_shapes`

    @property
    def best(self) -> Prediction:
        """Prediction for the fastest shape and grid."""
        best = self.shapes[0].best
        assert best is not None  # `scale` refuses
        return best

    @property
    def worst_bound_s(self) -> float | None:
        """Lower bound of the exchanges on the worst shape, in seconds; None without bandwidth."""
        return max((s.bound_s for s in self.shapes if s.bound_s is not None), default=None)


def scale(shapes_of: Callable[[int], list[Torus]], node_counts: Sequence[int], transform: Transform | None, kind: str,
          **options: Any) -> list[ScalingPoint]:
    """Return the best shape of each number of nodes.

    Parameters
    ----------
    shapes_of : callable
        Gives the shapes of a number of nodes.
    node_counts : sequence of int
    transform : Transform or None
        Transform of the first number of nodes; of all numbers if `kind` is strong.
    kind : {"strong", "weak"}
    **options
        For `rank_shapes`.

    Raises
    ------
    PartitionError
        If every shape of a number of nodes is too long to search.
    """
    points = []
    for n_nodes in node_counts:
        here = weak_transform(transform, Fraction(n_nodes, node_counts[0])) if transform and kind == "weak" else transform
        ranked = rank_shapes(shapes_of(n_nodes), transform=here, **options)
        if ranked[0].best is None:
            raise PartitionError(f"{n_nodes} nodes: every shape has a dimension of more than {LONGEST_RING} nodes; take "
                                 "more dimensions")
        points.append(ScalingPoint(n_nodes, here, ranked))
    return points


def efficiency(points: Sequence[ScalingPoint], kind: str) -> list[float | None]:
    """Return the efficiency of each point relative to the first, None without times.

    Strong scaling: first time times its nodes over time times nodes; weak scaling: first time over time.
    """
    times = [p.best.known_s or 0.0 for p in points]
    if not all(times):
        return [None] * len(points)
    nodes = [p.n_nodes if kind == "strong" else 1 for p in points]
    return [times[0] * nodes[0] / (t * n) for t, n in zip(times, nodes)]
