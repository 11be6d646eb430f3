"""Predictions in the order of a user's preference."""

from collections.abc import Iterable
from dataclasses import replace

from pencilmap.model.predict.results import Prediction
from pencilmap.model.times.timing import TIE


def ranked(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Predictions with the fastest first. Those within one per cent of the fastest are a tie: then the grid with the fewest
    idle tasks stands first, and the one with the fewest messages, or, between bricks, the one that moves the fewest bytes.

    Predictions within one per cent of the fastest are a tie. In a tie grids without idle tasks come first, then the fewest
    messages, or, between bricks, the fewest moved bytes. If the time of the computing is unknown, grids with idle tasks
    come after all others. Only the first keeps its bracket of routing rules, which takes long to compute.

    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.predict import predict
    >>> from pencilmap.mapper.searches.product_search import best_product
    >>> from pencilmap.model.network.torus import Torus
    >>> ring = Torus((8, 8, 8))
    >>> [str(p.grid) for p in ranked(predict(best_product(ring, ProcessGrid(r, 512 // r))) for r in (8, 64, 2, 16))]
    ['8x64', '64x8', '2x256', '16x32']
    """
    rest, found = sorted(predictions, key=lambda p: p.order), []
    while rest:
        tied = [p for p in rest if p.worth <= rest[0].worth * TIE and p.is_last == rest[0].is_last]
        found += sorted(tied, key=lambda p: (p.idle_tasks, p.moved_bytes, p.n_messages))  # bytes: between bricks only
        rest = rest[len(tied):]
    return [*found[:1], *(p if p.under is None else replace(p, under=None) for p in found[1:])]
