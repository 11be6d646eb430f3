"""Predictions in the order in which a user wants to see them."""

from collections.abc import Iterable

from pencilmap.model.predict import Prediction
from pencilmap.model.timing import TIE


def ranked(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Predictions with the fastest first. Those within one per cent of the fastest are a tie: then the one with the fewest
    messages stands first, or, between bricks, the one that moves the fewest bytes.

    >>> from pencilmap.model.grid import ProcessGrid
    >>> from pencilmap.model.predict import predict
    >>> from pencilmap.mapper.product_search import best_product
    >>> from pencilmap.model.torus import Torus
    >>> ring = Torus((8, 8, 8))
    >>> [str(p.grid) for p in ranked(predict(best_product(ring, ProcessGrid(r, 512 // r))) for r in (8, 64, 2, 16))]
    ['8x64', '64x8', '2x256', '16x32']
    """
    rest, found = sorted(predictions, key=lambda p: p.order), []
    while rest:
        tied = [p for p in rest if p.order[0] <= rest[0].order[0] * TIE]
        found += sorted(tied, key=lambda p: (p.moved_bytes, p.n_messages))  # no bytes are counted without bricks
        rest = rest[len(tied):]
    return found
