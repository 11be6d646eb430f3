"""Floors on the worst length of an exchange that were proved by computation, case by case.

The floors hold if rows of equal size fill a torus with one task a node, for even blocks, equal links, and dimension
order with ties split. `model/data/row_floors.csv` has the floors, docs/theory.md the arguments.
"""

import csv
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

from pencilmap.model.bounds.known_optima import reduced_torus
from pencilmap.model.network.torus import Torus


def proved_floor(torus: Torus, size: int) -> Fraction:
    """Return the least length of rows of `size` nodes on a torus, on the m scale; 0 without a proof.

    >>> proved_floor(Torus((4, 4, 4)), 8), proved_floor(Torus((4, 4, 4)), 2)
    (Fraction(2, 1), Fraction(0, 1))
    """
    return _table().get((str(reduced_torus(torus)), size), Fraction(0))


@lru_cache
def _table():
    text = files("pencilmap.model").joinpath("data", "row_floors.csv").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {(row["torus"], int(row["size"])): Fraction(row["floor"]) for row in csv.DictReader(lines)}
