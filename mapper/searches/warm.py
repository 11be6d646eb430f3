"""Compile the inner loops of all searches, so that no command has to wait for them: ``python -m`` this module."""

from pencilmap.mapper.searches.annealing import Budget, search
from pencilmap.mapper.searches.lattice_search import best_tiling
from pencilmap.mapper.searches.network_search import best_mapping
from pencilmap.model.kinds import network_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid


def warm() -> None:
    """Run every search for a moment."""
    torus = Torus((5, 5))
    best_tiling(torus, ProcessGrid(5, 5), evaluations=100)
    best_mapping(Site(network_named("hyperx:2x2,hosts=1")), ProcessGrid(2, 2), evaluations=100)
    search(Site(torus, allocation=Allocation(torus).without([0])), ProcessGrid(4, 6), budget=Budget(100))


if __name__ == "__main__":
    warm()
