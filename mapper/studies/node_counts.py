"""Numbers of nodes compared: the best shapes of each by the ranking of plans, and how a transform scales over them.

Only grids and their best products are ranked here, in sequence and with all messages at once. No placement is searched.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pencilmap.mapper.choose import LONGEST_RING, plan
from pencilmap.mapper.placements import BEST
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.arrays import prime_factors
from pencilmap.model.base.errors import GridError, PartitionError
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.certificates import machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.loads import m_time


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
        The only grid to try; all of `decomposition` by default.
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
    >>> [str(s.torus) for s in rank_shapes([Torus((2, 4, 8)), Torus((4, 4, 4)), Torus((1, 8, 8))], top=2)][:2]
    ['4x4x4', '2x4x8']
    """
    tori = list(tori)
    where = Question(site=Site(tori[0], tasks_per_node), transform=transform, costs=costs, decomposition=decomposition)
    choices = plan(where, effort="quick", grids=None if grid is None else [grid], placements=(BEST,), schedules=(SEQUENCE,),
                   exchanges=(DEFAULT_ALGORITHM,), shapes=tori, top=top or len(tori))
    of_shape: dict[Torus, list[Prediction]] = {}
    for p in choices.predictions:
        of_shape.setdefault(as_torus(p.network), []).append(p)
    return [RankedShape(torus, _bound_s(torus, transform), tuple(ranked[:grids])) for torus, ranked in of_shape.items()] + [
        RankedShape(torus, _bound_s(torus, transform)) for torus in map(as_torus, choices.left_out)]


def _bound_s(torus: Torus, transform: Transform | None) -> float | None:
    return None if transform is None else m_time(machine_bound(torus), torus, transform.total_bytes)


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
    for prime in prime_factors(ratio.denominator)[::-1]:
        axis = max((i for i in range(3) if n[i] % prime == 0), key=lambda i: (n[i], i), default=None)
        if axis is None:
            raise GridError(f"transform {transform} cannot shrink by {prime}, which divides none of its extents; name the "
                            "smallest number of nodes first, or a transform with more factors")
        n[axis] //= prime
    for prime in prime_factors(ratio.numerator)[::-1]:
        axis = min(range(3), key=lambda i: (n[i], i))
        n[axis] *= prime
    return replace(transform, nx=n[0], ny=n[1], nz=n[2])


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

    Returns
    -------
    list of ScalingPoint
        One for each number of nodes.

    Raises
    ------
    PartitionError
        If every shape of a number of nodes is too long to search.

    Examples
    --------
    >>> from pencilmap.mapper.shapes import torus_shapes
    >>> points = scale(lambda n: torus_shapes(n, 2), [16, 64], Transform(32, 32, 32), "strong")
    >>> [str(point.shapes[0].torus) for point in points]
    ['4x4', '8x8']
    """
    points = []
    for n_nodes in node_counts:
        own = weak_transform(transform, Fraction(n_nodes, node_counts[0])) if transform and kind == "weak" else transform
        ranked = rank_shapes(shapes_of(n_nodes), transform=own, **options)
        if ranked[0].best is None:
            raise PartitionError(f"{n_nodes} nodes: every shape has a dimension of more than {LONGEST_RING} nodes; take "
                                 "more dimensions")
        points.append(ScalingPoint(n_nodes, own, ranked))
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
