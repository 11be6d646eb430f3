"""Placements of a transform beside a halo: counted again message by message, never worse than the launch order."""

from fractions import Fraction

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.searches.traffic_search import swaps_of_transform
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GridError
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.traffic.exchange import exchanges, halo
from pencilmap.model.traffic.loads import in_sequence

pytestmark = pytest.mark.usefixtures("brief_searches")

CASES = [  # network, tasks per node, transform, decomposition, grid, planes, weight
    ("4x4", 1, "64:r2c", None, "4x4", 7, None), ("2x4", 2, "32", None, "4x4", 3, 2.5),
    ("4x4:mesh", 1, "32", None, "2x8", 2, None),
    ("4x4", 1, "32", "slab", "16", 1, None), ("2x2x4", 1, "32", "brick:2x2x4", "4x4", 2, None),
    ("2x4:twisted", 1, "32", None, "2x4", 3, None), ("fat-tree:leaves=4,hosts=4,up=2", 1, "32", None, "4x4", 3, None),
    ("dragonfly:a=2,p=2,h=2,groups=4", 1, "32", None, "4x4", 3, 2), ("hyperx:2x4,hosts=1", 1, "32", None, "2x4", 2, None)]


def seconds(where, mapping, rate=1e9):
    """The exchanges and halos of a torus, each message walked over the links of its dimensions: the busiest links."""
    network, total = where.network, 0.0
    for exchange, weight in [*((e, 1) for e in exchanges(mapping.grid, where.transform)),
                             (halo(mapping.grid, where.transform, "input", (where.halo.width,) * 3), where.halo.weight)]:
        loads = {}
        for g, members in enumerate(exchange.members):
            for i, a in enumerate(members):
                for j, b in enumerate(members):
                    elements = exchange.group_weight[g] * exchange.send_weight[i] * exchange.receive_weight[j]
                    walk(network, int(mapping.node_of_rank[a]), int(mapping.node_of_rank[b]),
                         int(elements) * exchange.unit_bytes, loads)
        total += weight * float(max(loads.values(), default=0)) / rate
    return total


def walk(network, a, b, n, loads):
    here, there = network.coordinates(a).tolist(), network.coordinates(b).tolist()
    for i, extent in enumerate(network.shape):
        up = (there[i] - here[i]) % extent
        ways = [(up, 1)] if 2 * up < extent else [(extent - up, -1)] if 2 * up > extent else [(up, 1), (up, -1)]
        if not network.is_ring(i):
            ways = [(abs(there[i] - here[i]), 1 if there[i] > here[i] else -1)]
        for length, step in ways:
            at = list(here)
            for _ in range(length):
                loads[i, step, *at] = loads.get((i, step, *at), 0) + Fraction(n, len(ways))
                at[i] = (at[i] + step) % extent
        here[i] = there[i]


@pytest.mark.thorough
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("network", "tasks", "fft", "decomposition", "grid", "planes", "weight"), CASES)
def test_best_is_never_worse_than_the_launch_order(network, tasks, fft, decomposition, grid, planes, weight):
    where = setting(network=network, tasks_per_node=tasks, bandwidth="1 GB/s", fft=fft, decomposition=decomposition,
                    halo=planes, weight=weight)
    first, best = where.predictions(grid, ("default", "best"))
    assert best.worth <= first.worth
    assert best.worth == pytest.approx(best.time_s + best.halo_s, rel=1e-9)
    assert best.halo_s == pytest.approx((weight or 1) * best.halo.stage.time_s)
    assert best.as_dict()["halo"]["width"] == planes


@pytest.mark.thorough
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("network", "grid", "fft"), [("4x4", "2x8", "64:r2c"), ("2x2x4", "4x4", "32"),
                                                      ("4x3", "3x4", "24")])
def test_busiest_links_of_exchanges_and_halo_are_those_of_walked_messages(network, grid, fft):
    where = setting(network=network, bandwidth="1 GB/s", fft=fft, halo=3, weight=1.5)
    one = where.grid(grid)
    for text in ("default", "best"):
        mapping = as_mapping(where.place(text, one), text)
        found = where.predict(mapping)
        assert seconds(where, mapping) == pytest.approx(found.t_s + found.halo.t_s, rel=1e-9)
    assert found.worth <= where.predictions(grid, ("default",))[0].worth


@pytest.mark.thorough
def test_lengths_count_halos_without_a_bandwidth():
    where = setting(network="4x4", fft="64:r2c", halo=7, weight=2)
    first, best = where.predictions("2x8", ("default", "best"))
    assert first.worth == first.cost + 2 * max(first.halo.stage.load)
    assert best.worth < first.worth


@pytest.mark.parametrize(("options", "said"), [
    ({"halo": 2}, "fft"), ({"weight": 2, "fft": "32"}, "halo"), ({"halo": 2, "weight": 0, "fft": "32"}, "weight"),
    ({"halo": 2, "weight": float("nan"), "fft": "32"}, "weight"), ({"halo": 0, "fft": "32"}, "halo")])
def test_impossible_halos_are_refused(options, said):
    with pytest.raises(GridError, match=said):
        setting(network="2x4", **options)


def test_a_halo_wider_than_the_array_is_refused():
    with pytest.raises(GridError, match="33 planes"):
        setting(network="2x4", fft="32", halo=33).predictions("2x4")


@pytest.mark.parametrize(("network", "tasks", "fft", "decomposition", "grid", "planes", "weight"), CASES)
def test_the_search_counts_what_the_prediction_counts(network, tasks, fft, decomposition, grid, planes, weight):
    where = setting(network=network, tasks_per_node=tasks, fft=fft, decomposition=decomposition, halo=planes, weight=weight)
    site, one = where.site, where.grid(grid)
    places = np.random.default_rng(7).permutation(site.n_slots)
    mapping = Mapping(site.network, one, tasks, site.allocation.nodes[places // tasks], places % tasks)
    tables = routing(default_routing(site.network), site.network).routes(
        site.network, np.repeat(site.allocation.nodes, tasks), np.tile(np.arange(tasks), site.allocation.n_nodes))
    swaps = swaps_of_transform(tables, site, one, where.transform, in_sequence(len(one.decomposition.exchanges)), where.halo)
    assert swaps.cost(places) == pytest.approx(float(where.predict(mapping).worth), rel=1e-9)
