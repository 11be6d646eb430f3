"""Searches reproduce their results: same text and seed, same placement, on any machine; no result becomes worse.

A mistake in a search gives another placement, which is still valid. After an improvement, run
``python -m tests.mapper.test_known_searches > tests/mapper/known_searches.csv``.
"""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict

KNOWN = Path(__file__).with_name("known_searches.csv")
CASES = [  # torus, tasks of a node, missing nodes, grid, placement
    ("4x4x4", 1, 4, (6, 10), "search:seed=1,evaluations=4000"), ("4x4x4", 1, 4, (6, 10), "search:seed=2,evaluations=4000"),
    ("4x4x4:mesh", 2, 4, (8, 15), "search:evaluations=3000"), ("5x3x2w", 1, 3, (3, 9), "search:evaluations=3000"),
    ("6x6", 2, 1, (10, 7), "search:evaluations=3000"), ("16", 1, 2, (3, 4), "search:evaluations=2000"),
    ("7x5x3", 1, 0, (7, 15), "search:evaluations=2000"), ("4x4x2", 2, 0, (7, 7), "search:seed=3,evaluations=2000"),
    ("8x8:mesh", 1, 0, (4, 16), "search:evaluations=3000"), ("6x6", 1, 0, (6, 6), "search:evaluations=2000"),
    ("5x5", 1, 0, (5, 5), "lattice:evaluations=4000"), ("6x6", 1, 0, (6, 6), "lattice:evaluations=4000"),
    ("8x4", 2, 0, (8, 8), "lattice:seed=2,evaluations=4000"), ("4x4x2", 1, 0, (4, 8), "lattice:evaluations=4000"),
    ("4x4x4", 1, 0, (8, 8), "best"), ("6x4x2", 2, 0, (8, 12), "best"), ("8x6:mesh", 1, 0, (4, 12), "best"),
    ("6x6", 1, 0, (4, 9), "best"), ("8x8", 1, 5, (4, 14), "best"), ("12x4", 1, 0, (8, 6), "ring"),
    ("8x8x2", 1, 0, (16, 8), "ring"),
    ("4x4x4x2", 1, 0, (8, 16), "ring"), ("8x4", 2, 0, (4, 16), "ring"),
]


def found(torus, T, missing, grid, text):
    """Return the case, the cost of its placement, and a checksum of all places."""
    network = parse_torus(torus)
    holes = np.random.default_rng(5).choice(network.n_nodes, missing, replace=False)
    where = Site(network, T, Allocation(network).without(holes) if missing else None, idle=True)
    mapping = as_mapping(place(text, where, ProcessGrid(*grid)), text)
    places = " ".join(map(str, (mapping.node_of_rank * T + mapping.slot_of_rank).tolist()))
    return [f"{torus} x {T} without {missing}, {grid[0]}x{grid[1]}, {text}", f"{float(predict(mapping).cost):.9g}",
            hashlib.sha256(places.encode()).hexdigest()[:16]]


@pytest.mark.parametrize("case, known", [
    pytest.param(case, known, marks=[pytest.mark.slow] * (case[-1] == "best" and case[0] != "6x6"), id=known[0])
    for case, known in zip(CASES, csv.reader(KNOWN.read_text("utf-8").splitlines()), strict=True)])
def test_a_search_finds_what_it_found(case, known):
    assert found(*case) == known


if __name__ == "__main__":
    print("\n".join(",".join(f'"{text}"' for text in found(*case)) for case in CASES))
