"""Predictions in the order of a user's preference."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from pencilmap.model.kinds import LINEAR_PROGRAMS
from pencilmap.model.predict.results import Prediction, summed
from pencilmap.model.times.timing import TIE

TRANSFORM, EXCHANGES = BY = "transform", "exchanges"  # objectives of a ranking: the whole transform, or its exchanges alone

T = TypeVar("T")


def worth(p: Prediction, by: str = TRANSFORM) -> float | Fraction:
    """Return the number that ranks a prediction; less is better.

    Parameters
    ----------
    p : Prediction
    by : {"transform", "exchanges"}
        ``transform``: the time of the whole transform as far as the costs are known, see `Prediction.worth`. ``exchanges``:
        the time of the exchanges and remaps by all known terms. Without times, both are the lengths. Halos are included.
    """
    if by == TRANSFORM:
        return p.worth
    found = p if p.schedule is None else p.schedule
    seconds = found.t_s if found.time_s is None else found.time_s
    if seconds is None:
        return found.cost + p.halo_cost
    moved_s = 0.0 if p.schedule is None else summed(r.time_s for r in p.remaps) or 0.0
    return float(f"{seconds + moved_s + p.halo_s:.10g}")


def order(p: Prediction, by: str = TRANSFORM) -> tuple[Any, ...]:
    """Return the sort key of a prediction: see `Prediction.order`. Among exchanges, idle tasks always come last."""
    last, _, *rest = p.order
    return (last if by == TRANSFORM else p.idle_tasks > 0, worth(p, by), *rest)


def ranked(predictions: Iterable[Prediction], by: str = TRANSFORM) -> list[Prediction]:
    """Return predictions with the fastest first.

    Predictions within one per cent of the fastest are a tie. In a tie grids without idle tasks come first, then the fewest
    messages, or, between bricks, the fewest moved bytes. If the time of the computing is unknown, grids with idle tasks will
    come after all others. Only the first keeps its bracket of routing rules, which takes long to compute.

    Parameters
    ----------
    predictions : iterable of Prediction
    by : {"transform", "exchanges"}
        See `worth`.

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.predict import predict
    >>> from pencilmap.mapper.searches.product_search import best_product
    >>> from pencilmap.model.network.torus import Torus
    >>> ring = Torus((8, 8, 8))
    >>> [str(p.grid) for p in ranked(predict(best_product(ring, ProcessGrid(r, 512 // r))) for r in (8, 64, 2, 16))]
    ['8x64', '64x8', '2x256', '16x32']
    """
    found = ranked_by(lambda p: p, predictions, by)
    return [*found[:1], *map(without_bracket, found[1:])]


def without_bracket(p: Prediction) -> Prediction:
    """Return a prediction without the predictions under the other rules of adaptive routers."""
    return p if p.under is None else replace(p, under=None)


def quick(p: Prediction) -> Prediction:
    """Return a prediction without anything that takes seconds: linear programs, and bounds by eigenvalues."""
    under, bounds = p.under, replace(p.bounds, brief=True)
    schedule = p.schedule and replace(p.schedule, bounds=p.schedule.bounds and bounds)
    return replace(p, under=under and (lambda rule: None if rule in LINEAR_PROGRAMS else under(rule)), bounds=bounds,
                   schedule=schedule)


def ranked_by(prediction: Callable[[T], Prediction], found: Iterable[T], by: str = TRANSFORM) -> list[T]:
    """Return elements in the order of `ranked`; `prediction` gives the prediction of an element."""
    keyed = sorted(((order(prediction(each), by), each) for each in found), key=lambda some: some[0])
    done: list[T] = []
    while keyed:
        (last, least, *_), _ = keyed[0]
        tied = [each for (late, cost, *_), each in keyed if late == last and cost <= least * TIE]
        done += sorted(tied, key=lambda each: _in_tie(prediction(each)))
        keyed = keyed[len(tied):]
    return done


def is_tie(p: Prediction, best: Prediction, by: str = TRANSFORM) -> bool:
    """Return whether a prediction is as good as the first of a ranking: within one per cent, and by idle tasks and messages.
    """
    return order(p, by)[0] == order(best, by)[0] and worth(p, by) <= worth(best, by) * TIE and _in_tie(p) == _in_tie(best)


def _in_tie(p):
    return p.idle_tasks, p.moved_bytes, p.n_messages  # bytes: between bricks only
