"""Seeds on graphs that were recognised as a torus: the placements of the torus."""

from functools import partial

from pencilmap.mapper.seeds.seeds import Seeds, Twin
from pencilmap.model.kinds.graph import in_order, of_torus, on_graph
from pencilmap.model.placement.allocation import Site


class _TorusGraphSeeds(Seeds):
    def twin(self, site: Site) -> Twin:
        return Twin(of_torus(site), in_order(site), partial(on_graph, graph=site.network))  # type: ignore[arg-type]


SEEDS = _TorusGraphSeeds()
