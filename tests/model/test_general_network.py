"""A kind of network that no table by class knows: loads, bounds, tables of routes and searches work by its links alone."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.placements.best import candidates
from pencilmap.model.kinds import KINDS, routing
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.network.network import Arcs, CoordinateNetwork
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, cut_bound, machine_bound
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.networks.routes import routes_on
from pencilmap.scripts.pictures.text import image_text, loads_table

RULES = ("shortest-path", "each-hop", "optimal-minimal")


@dataclass(frozen=True)
class Mirrored(CoordinateNetwork):
    """A torus of two dimensions whose rings along x come back mirrored in y."""

    shape: tuple[int, int]
    bandwidth: tuple[float, ...] | None = None
    axes = "xy"
    cables = (1, 2)

    def arcs(self):
        x, y = self.coordinates(np.arange(self.n_nodes)).T
        (n, m), rates = self.shape, np.array(self.bandwidth or (1.0, 1.0))
        along_x = [self.node(np.stack([to % n, np.where((to < 0) | (to >= n), m - 1 - y, y)], axis=1))
                   for to in (x + 1, x - 1)]
        along_y = [self.node(np.stack([x, to % m], axis=1)) for to in (y + 1, y - 1)]
        return Arcs(self.n_nodes, np.tile(np.arange(self.n_nodes), 4), np.concatenate(along_x + along_y),
                    np.arange(4 * self.n_nodes), np.repeat(rates * self.cables / rates.max(), 2 * self.n_nodes))

    def as_dict(self):
        return {"shape": list(self.shape)}

    def __str__(self):
        return "x".join(map(str, self.shape))


@pytest.fixture(params=[(3, 3), (4, 3)])
def network(request, monkeypatch):
    monkeypatch.setitem(KINDS, "mirrored", Kind("mirrored", "", "", "", Mirrored, Mirrored,
                                                  (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL)))
    return Mirrored(request.param, (1e9, 3e9))


def drawn_mapping(network, seed=3):
    n = network.n_nodes
    return Mapping(network, ProcessGrid(3, n // 3), 1, np.random.default_rng(seed).permutation(n), np.zeros(n, int))


@pytest.mark.parametrize("rule", RULES[:2])
def test_loads_tables_and_routes_of_single_messages_agree(network, rule):
    mapping, value = drawn_mapping(network), routing(rule, network)
    index = network.arcs().index
    tables = value.routes(network, np.arange(network.n_nodes), np.zeros(network.n_nodes, int))
    routes = routes_on(network, rule)
    for exchange in exchanges(mapping.grid):
        walked, listed = np.zeros(len(index)), np.zeros(len(index))
        for a, b in (pair for group in mapping.node_of_rank[exchange.members] for pair in permutations(group.tolist(), 2)):
            row = slice(*tables.start[a * network.n_nodes + b:][:2])
            np.add.at(listed, tables.link[row], tables.load[row])
            for link, part in routes.links((a, b)).items():
                walked[link] += float(part)
        loads = np.asarray(value.loads(network, exchange, mapping.ends).bytes(), dtype=float).reshape(-1)[index]
        message = loads.sum() / walked.sum()
        assert loads == pytest.approx(message * walked, rel=1e-9, abs=1e-9)
        assert listed == pytest.approx(walked / np.array([float(x) for x in network.capacities]))


@pytest.mark.parametrize("rule", RULES)
def test_bounds_hold(network, rule):
    for seed in range(3):
        mapping = drawn_mapping(network, seed)
        for exchange in exchanges(mapping.grid):
            loads = routing(rule, network).loads(network, exchange, mapping.ends).largest()
            weights = [3, 1]
            least = max(float(x) * w for x, w in zip(cut_bound(network, exchange, mapping.node_of_rank), weights))
            assert 0 < least <= max(float(x) * w for x, w in zip(loads, weights)) * (1 + 1e-9)
        bounds = Bounds(Site(network), mapping.grid)
        assert 0 < bounds.together.value <= bounds.in_sequence.value <= predict(mapping, routing_name=rule).cost
    assert max(machine_bound(network)) > 0


@pytest.mark.thorough
def test_the_search_beats_the_launch_order_and_pictures_show_the_answer(network):
    grid = ProcessGrid(3, network.n_nodes // 3)
    best, default = candidates(Site(network), grid, within=Search(5_000_000))[-1], place("default", Site(network), grid)
    assert predict(best).cost <= predict(default).cost
    assert any("row 0: 3 ranks" in line for line in image_text(best, {"row": 0, "column": 0}, 80))
    exchange = exchanges(grid)[0]
    columns = [("rows", [("", routing(RULES[0], network).loads(network, exchange, best.ends))])]
    assert 2 < len(loads_table(columns, False, network.n_nodes)) <= 2 + 2
