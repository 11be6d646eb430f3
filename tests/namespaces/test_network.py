"""The network as values and as input of `ip` and `tc`; this needs no rights and makes no network."""


import numpy as np
import pytest

from pencilmap.mapper.runs.compare import Comparison
from pencilmap.model.kinds import routing
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.command_line.commands.validate import bits_per_second
from pencilmap.scripts.networks.namespaces import inside
from pencilmap.scripts.networks.namespaces.experiment import Experiment, Result
from pencilmap.scripts.networks.namespaces.network import EmulationError, address, check_links

TREES = ["fat-tree:leaves=2,hosts=4,up=2", "fat-tree:leaves=4,hosts=3,up=4,spines=2",
         "fat-tree:leaves=4,hosts=2,up=2,pods=2,core=2"]
SHAPES = ["4x4:mesh", "4x4", "4wx2x3", "6x5", "2x2x2", "3wx1x4", "2", "2x2x3x2:mesh"]


def walk(network, a, b):
    """Return the links of the route from a to b, hop by hop through the routing tables."""
    while hop := network.wiring.next_hop(a, b):
        i, direction, there = hop
        yield network.wiring.link_index(i, direction, a)
        a = there
    assert a == b


@pytest.mark.parametrize("text, tie", [*((shape, tie) for shape in SHAPES for tie in ("parity", "plus")),
                                       *((tree, "parity") for tree in TREES)])
def test_routing_tables_lead_where_the_model_says(text, tie, network):
    made = network(text, tie=tie)
    n = made.network.n_nodes
    grid = next(ProcessGrid(R, n // R) for R in (4, 3, 2) if n % R == 0)
    node_of_rank = np.random.default_rng(5).permutation(n)
    for exchange in exchanges(grid):
        walked = np.zeros(made.network.link_shape)
        for group in exchange.members:
            for a in group:
                for b in group:
                    for link in walk(made, int(node_of_rank[a]), int(node_of_rank[b])):
                        walked[link] += 1
        loads = routing(made.routing, made.network).loads(made.network, exchange, node_of_rank)
        assert walked == pytest.approx(loads.bytes())


@pytest.mark.parametrize("text", [*TREES, "4x4:mesh", "3wx1x4", "2x2x3x2:mesh"])
def test_every_cable_has_two_ends_every_device_a_shape_and_every_node_a_route_to_each_other(text, network):
    made = network(text)
    n, cables, wiring = made.network.n_nodes, made.cables(), made.wiring
    ends = [(a, wiring.device(i, 1)) for a, i, _ in cables] + [(b, wiring.device(i, -1)) for _, i, b in cables]
    ports = [(a, wiring.device(i, direction)) for a in range(len(made.nodes)) for i, direction, _ in wiring.ports(a)]
    assert len(set(ends)) == len(ends) and sorted(ends) == sorted(ports)
    assert len({address(a) for a in range(n)}) == n and len(set(made.nodes)) == len(made.nodes)
    for a in range(len(made.nodes)):
        lines = list(inside.node_lines(made, a))
        targets = [line.split()[2] for line in lines if line.startswith("route add")]
        assert a >= n or sorted(targets) == sorted(f"{address(b)}/32" for b in range(n) if b != a)  # above n are switches
        shaped = [line.split()[3] for line in inside.shaping_lines(made, a)]
        up = [line.split()[2] for line in lines if line.startswith("link set")]
        assert sorted([*shaped, "lo", "node", "mg"]) == sorted(up)


def test_payload_is_what_is_left_of_a_packet(network):
    """1448 of the 1514 bytes of a full packet are data, and every second packet costs another 66 bytes without data."""
    assert network("2").payload_share == 2 * 1448 / (2 * 1514 + 66)


@pytest.fixture
def result(network):
    """Return loads of squares on a 4x4 mesh with grid 4x2, and counters changed by a function."""
    def make(change, idle=()):
        made = network("4x4:mesh")
        torus, grid = made.network, ProcessGrid(4, 4)
        experiment = Experiment(made, grid, ("box:2x2",))
        loads = [routing(made.routing, torus).loads(torus, e, experiment.mapping("box:2x2").node_of_rank)
                 for e in exchanges(grid, experiment.transform)]
        for link in idle:
            for load in loads:
                load.values[link] = 0
        wire = sum(load.bytes() for load in loads) * 4.0
        change(wire)
        comparison = Comparison("", "", "", 1, "", "", "", "row", 1.0, 1.0, 1.0, (1, 1), 1.0, None, None)
        return Result("box:2x2", check_links(made, wire, loads, [], 4), [comparison], 0, {})

    return make


def scale(link, factor):
    def change(wire):
        wire[link] *= factor
    return change


def test_counters_that_agree_hold(result):
    found = result(lambda wire: None)
    assert found.holds and len(found.links) == 48
    assert found.ratios == pytest.approx([1.0] * 48, abs=1e-12)


@pytest.mark.parametrize("factor, holds", [(1.09, True), (1.11, False), (0.91, True), (0.89, False), (0.0, False)])
def test_one_link_beyond_ten_percent_is_enough_to_fail(factor, holds, result):
    assert result(scale((0, 0, 5), factor)).holds is holds


def test_traffic_on_a_link_that_should_be_idle_fails(result):
    def stray(wire):
        wire[0, 0, 5] = wire.max() / 10
    assert result(lambda wire: None, idle=[(0, 0, 5)]).holds
    found = result(stray, idle=[(0, 0, 5)])
    assert not found.holds and found.stray_share == pytest.approx(0.1, rel=0.1)


BAD = {
    "one node": (dict(shape="1"), "2 to 256"),
    "many nodes": (dict(shape="8x8x8"), "512 nodes"),
    "no rate": (dict(shape="4", rate_bits_per_s=0), "64 kbit/s"),
    "mtu": (dict(shape="4", mtu=100), "576"),
    "kind": (dict(shape="dragonfly:a=2,p=2,h=1"), "only a torus, a mesh, or a fat tree"),
    "links": (dict(shape="fat-tree:leaves=2,hosts=2,up=2,links=2"), "whose hosts have one link"),
    "many switches": (dict(shape="fat-tree:leaves=20,hosts=12,up=6"), "240 nodes and 26 switches; 2 to 256"),
    "tie": (dict(shape="4", tie="split"), "parity, plus"),
}


@pytest.mark.parametrize("case", BAD)
def test_networks_that_cannot_be_made_are_refused(case, network):
    options, word = BAD[case]
    with pytest.raises(EmulationError, match=word):
        network(**options)


@pytest.mark.parametrize("text, bits", [("10mbit", 10**7), ("2.5gbit", 25 * 10**8), ("64kbit", 64000), ("1 MB/s", 8000000)])
def test_rates_as_tc_writes_them_or_with_a_unit(text, bits):
    assert bits_per_second(text) == bits
