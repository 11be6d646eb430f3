"""A single group of tasks on all slots: every placement costs the same, so each has certificate 1.0.

If routers adapt, the certificate is the distance to the bound for any routing, as for all other grids."""

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from pencilmap.model.decompositions import SLAB
from pencilmap.model.kinds import network_named
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import ALIKE
from tests.model import brute_force as brute
from tests.model.cases import drawn, largest, random_torus, repeatable

pytestmark = pytest.mark.usefixtures("quick_bounds")


def dragonfly():
    """Return two groups of four routers, two cables between the groups, two hosts on each router."""
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    graph.add_edges_from([(0, 4), (1, 5)])
    graph.add_edges_from((router, f"host {router}.{k}") for router in range(8) for k in range(2))
    return from_networkx(graph, "dragonfly")


def on(site, grid, order):
    """Return a placement of the grid on the usable slots, in that order."""
    place = np.repeat(site.allocation.nodes, site.tasks_per_node)
    slot = np.tile(np.arange(site.tasks_per_node), site.allocation.n_nodes)
    return Mapping(site.network, grid, site.tasks_per_node, place[order], slot[order])


def random_site(rng):
    """Return a torus, two in three with holes, and 1 to 3 tasks on a node."""
    torus = random_torus(rng, 16)
    while torus.n_nodes == 1:  # otherwise the network would carry nothing
        torus = random_torus(rng, 16)
    nodes = sorted(rng.sample(range(torus.n_nodes), rng.randint(2, torus.n_nodes))) if rng.random() < 0.67 else None
    return Site(torus, rng.randint(1, 3), Allocation(torus, nodes if nodes is None else np.array(nodes)))


@repeatable(60)
@given(drawn(lambda rng: (random_site(rng), Random(rng.random())))())
def test_every_placement_costs_what_walking_its_messages_says_and_is_optimal(case):
    site, rng = case
    P = site.n_slots
    grid, rule = rng.choice([ProcessGrid(1, P), ProcessGrid(P, 1)]), rng.choice(["split", "plus", "parity"])
    traffic = max(brute.messages(grid), key=len)
    costs = set()
    for _ in range(3):
        mapping = on(site, grid, rng.sample(range(P), P))
        found = predict(mapping, routing_name=f"dimension-order:{rule}", site=site)
        walked = brute.dimension_order(site.network, traffic, mapping.node_of_rank, tie=rule)
        assert found.cost == max(largest(site.network, walked)) * Fraction(4 * site.network.n_nodes, P * P)
        assert found.certificate == found.schedule.certificate == 1.0 and found.lower_bound.argument == ALIKE
        costs.add(found.cost)
    assert len(costs) == 1


@pytest.mark.parametrize("network, rules", [
    (Torus((4, 4)), ["dimension-order:plus", "minimal-adaptive", "minimal-adaptive:paths", "optimal-minimal"]),
    (Torus((5, 3), (False, True)), ["dimension-order:yx", "minimal-adaptive", "optimal-minimal"]),
    (from_networkx(nx.gnp_random_graph(12, 0.3, seed=3), "random"), ["shortest-path", "optimal-minimal"]),
    (dragonfly(), ["shortest-path"])], ids=["torus", "mesh", "graph", "dragonfly"])
def test_any_routing_and_any_graph(network, rules):
    site = Site(network)
    P = site.n_slots
    for rule in rules:
        for grid in (ProcessGrid(1, P), ProcessGrid(P, 1), ProcessGrid(P, decomposition=SLAB)):
            found = [predict(on(site, grid, order), routing_name=rule, site=site)
                     for order in (np.arange(P), np.random.default_rng(1).permutation(P))]
            assert [p.certificate for p in found] == [1.0, 1.0]
            assert float(found[0].cost) == pytest.approx(float(found[1].cost), rel=1e-6)


@pytest.mark.parametrize("grid", [ProcessGrid(1, 64), ProcessGrid(64, 1), ProcessGrid(64, decomposition=SLAB)])
def test_if_routers_adapt_the_bound_holds_for_any_routing(grid):
    network = network_named("dragonfly:a=4,p=2,h=2")
    site = Site(network, allocation=Allocation(network).without([16, 17, 19, 22, 40, 41, 44, 47]))
    found = {rule: predict(on(site, grid, np.arange(64)), routing_name=rule, site=site)
             for rule in (None, "minimal", "ideal-adaptive", "valiant", "shortest-path")}
    assert len({p.lower_bound for p in found.values()}) == 1 and all(p.all_alike for p in found.values())
    assert found["ideal-adaptive"].certificate == pytest.approx(1.0, rel=1e-6)  # so the bound is sharp
    for p in found.values():
        assert p.certificate == p.schedule.certificate
        assert p.certificate == pytest.approx(float(p.cost / found["ideal-adaptive"].cost), rel=1e-6)
    assert found[None].certificate == found["minimal"].certificate > 1.05 and found["valiant"].certificate > 1.5
