"""The true optima of small tori and meshes, found by trying every placement.

They hold for even blocks, equal links, and dimension order with ties split. A grid RxC has the optimum of CxR. A torus
has the optimum of the torus with its dimensions in reversed order, because every route is reversed.
The table is `model/data/optima.csv`.
"""

import csv
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.kinds.kind import Optima
from pencilmap.model.network.torus import Torus, parse_torus

OBJECTIVES = ("sequence", "joint")


def optima(torus: Torus, tasks_per_node: int, R: int, C: int) -> Optima | None:
    """Return the optima of an RxC grid on all slots of a torus, or None if not all placements were tried.

    >>> found = optima(Torus((4, 4)), 1, 2, 8)
    >>> str(found.sequence), str(found.joint)
    ('3', '2')
    >>> optima(Torus((5, 5)), 1, 5, 5), optima(Torus((4, 2), bandwidth=(1.0, 2.0)), 1, 2, 4)
    (None, None)
    """
    if len(set(torus.bandwidth or (1.0,))) > 1 or max(torus.cables) > 1:
        return None
    small = reduced_torus(torus)
    found = _table().get((str(small), tasks_per_node, min(R, C), max(R, C)))
    if found is None:
        return None
    node = _nodes(torus, small)
    return Optima(found.sequence, found.joint, *(
        _placed(rows, node, R > C) for rows in (found.rows_sequence, found.rows_joint)))


def reduced_torus(torus: Torus) -> Torus:
    """Return the torus or mesh that represents all with the same optima: without extents of 1, in one of the two orders.

    >>> str(reduced_torus(Torus((3, 1, 2), (False, True, False))))
    '2wx3'
    """
    kept = [(n, torus.is_ring(i) or n == 2) for i, n in enumerate(torus.shape) if n > 1]
    kept = min(kept, kept[::-1])
    return Torus(tuple(n for n, _ in kept), tuple(wrap for _, wrap in kept)) if kept else Torus((1,))


def _nodes(torus, small):
    """Return the node of a torus that represents each node of the reduced torus: int array."""
    where = small.coordinates(np.arange(small.n_nodes))
    kept = [i for i, n in enumerate(torus.shape) if n > 1]
    kinds = [(torus.shape[i], torus.is_ring(i) or torus.shape[i] == 2) for i in kept]
    full = np.zeros((small.n_nodes, torus.n_dimensions), dtype=np.int64)
    full[:, kept] = where if kinds <= kinds[::-1] else where[:, ::-1]
    return torus.node(full)


def _placed(rows, node, turned):
    placed = tuple(tuple(int(node[at]) for at in row) for row in rows)
    return tuple(zip(*placed)) if turned else placed


@lru_cache(maxsize=1)
def _table():
    lines = (files("pencilmap.model.data") / "optima.csv").read_text(encoding="ascii").splitlines()
    found = {}
    for line in csv.DictReader(line for line in lines if not line.startswith("#")):
        R, C = map(int, line["grid"].split("x"))
        found[line["torus"], int(line["tasks_per_node"]), R, C] = Optima(
            Fraction(line["sequence"]), Fraction(line["joint"]), _rows(line["placement"]), _rows(line["placement_joint"]))
    return found


def _rows(text):
    return tuple(tuple(map(int, row.split("."))) for row in text.split("/"))


def every_case() -> list[tuple[Torus, int, int, int]]:
    """Return torus, tasks on a node and grid of each line of the table."""
    return [(parse_torus(torus), T, R, C) for torus, T, R, C in _table()]


def line_of(torus: Torus, tasks_per_node: int, R: int, C: int, found: Sequence[tuple[Fraction, Ints] | None]) -> str:
    """Return a line of the table, with the optimum and the nodes of its rows for each of `OBJECTIVES`.

    The line is empty if an optimum is missing.

    >>> line_of(Torus((2, 2)), 1, 2, 2, [(Fraction(2), np.array([[0, 1], [2, 3]]))] * 2)
    '2x2,1,2x2,2,0.1/2.3,2,0.1/2.3'
    """
    if None in found:
        return ""
    cells = [f"{each[0]},{'/'.join('.'.join(map(str, row)) for row in each[1].tolist())}" for each in found if each]
    return f"{torus},{tasks_per_node},{R}x{C},{','.join(cells)}"
