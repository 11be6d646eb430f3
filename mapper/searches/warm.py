"""Compile the inner loops of all searches, so that no command has to wait for them: ``python -m`` this module."""

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.annealing import search
from pencilmap.mapper.searches.traffic_search import search_traffic
from pencilmap.mapper.seeds.tilings import best_tiling
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.program import one_phase, pairs_of


def warm() -> None:
    """Run every search for a moment."""
    torus = Torus((5, 5))
    best_tiling(torus, ProcessGrid(5, 5), within=Search(10_000))
    traffic = one_phase(4, pairs_of([0, 1, 2, 3], [1, 2, 3, 0], 1))
    search_traffic(Site(Torus((4,))), traffic, DimensionOrder(), Search(1000), scotch=False)
    search(Site(torus, allocation=Allocation(torus).without([0])), ProcessGrid(4, 6), Search(100_000))


if __name__ == "__main__":
    warm()
