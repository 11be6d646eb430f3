"""Trees, dragonflies and other networks of switches: loads against messages walked one by one, bounds against loads."""

import subprocess
import sys
from fractions import Fraction
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from pencilmap.model.kinds import KINDS, default_routing, kind_of, network_named, routing, with_bandwidth
from pencilmap.model.kinds.levels import crossing, units_of
from pencilmap.model.network.graph import SwitchedNetwork
from pencilmap.model.network.network import link_weights
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, cut_bound
from pencilmap.model.schedules import SCHEDULES
from pencilmap.model.traffic.exchange import exchanges
from tests.model.cases import drawn, in_three, random_case, random_mapping, random_transform, repeatable
from tests.model.walked import Walker
from tests.patience import patience


def some_hosts(rng, rails=1):
    """Links of a host, to one switch or several, and how tasks use them."""
    links = rng.choice([1, 1, 2, 3])
    return f"links={links},rails={rails},use={rng.choice(['even', 'task'])}"


def random_fat_tree(rng):
    rails, spines, pods = rng.choice([1, 1, 2]), rng.randint(1, 3), rng.choice([0, 0, 2, 3])
    leaves = rails * rng.randint(1, 3) * max(1, pods)
    up = f"up={spines * rng.randint(1, 2)},spines={spines}"
    top = f",pods={pods},core={rng.randint(1, 3)}" if pods else ""
    return f"fat-tree:leaves={leaves},hosts={rng.randint(1, 3)},{up}{top},{some_hosts(rng, rails)}"


def random_dragonfly(rng):
    rails = rng.choice([1, 1, 2])
    a = rails * rng.randint(1, 2)
    if rng.random() < 0.4:
        return f"dragonfly:a={a},p={rng.randint(1, 2)},h={rng.randint(1, 2)},{some_hosts(rng, rails)}"
    return (f"dragonfly:a={a},p={rng.randint(1, 2)},groups={rng.randint(1, 5)},cables={rng.randint(1, 4)},"
            f"{some_hosts(rng, rails)}")


def random_dragonfly_plus(rng):
    rails = rng.choice([1, 1, 2])
    return (f"dragonfly-plus:leaves={rails * rng.randint(1, 2)},spines={rng.randint(1, 3)},hosts={rng.randint(1, 2)},"
            f"groups={rng.randint(1, 4)},cables={rng.randint(1, 3)},{some_hosts(rng, rails)}")


def random_hyperx(rng):
    shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    hosts = some_hosts(rng, rng.choice([1, 1, shape[0]]))  # rails along the first dimension
    return f"hyperx:{'x'.join(map(str, shape))},hosts={rng.randint(1, 2)},cables={rng.randint(1, 2)},{hosts}"


RANDOM = {"fat-tree": random_fat_tree, "dragonfly": random_dragonfly, "dragonfly-plus": random_dragonfly_plus,
          "hyperx": random_hyperx}
WALKED = {"shortest-path": "shortest", "static": "static", "minimal": "minimal", "valiant": "valiant",
          "each-hop": "each_hop"}  # rule: of `Walker`
PAIRS = [(kind, rule) for kind in RANDOM for rule in KINDS[kind].routings if rule in WALKED]


def test_every_kind_of_switches_is_drawn_and_every_rule_is_walked():
    assert set(RANDOM) == {name for name, kind in KINDS.items() if issubclass(kind.type, SwitchedNetwork)}
    assert {rule for kind in RANDOM for rule in KINDS[kind].routings} == {*WALKED, "ideal-adaptive"}


def drawn_case(rng, kind):
    return random_case(rng, network_named(RANDOM[kind](rng)), 16)


cases = drawn(drawn_case)


@pytest.mark.parametrize("kind, rule", PAIRS)
def test_loads_are_those_of_walked_messages(kind, rule):
    """Uneven blocks, idle slots, several tasks and several links a host, on random small networks."""

    @repeatable(40)
    @given(cases(kind))
    def check(case):
        mapping, exchange, messages = case
        network = mapping.network
        walked = Walker(network).loads(mapping, messages, WALKED[rule])
        loads = routing(rule, network).loads(network, exchange, mapping.ends)
        found = dict(enumerate(loads.bytes().reshape(-1)[network.place_of_link].tolist()))
        for link in found:
            assert found[link] == pytest.approx(float(walked.get(link, 0)), rel=1e-9, abs=1e-9), network.link
        assert loads.hop_bytes() == pytest.approx(float(sum(walked.values())))
        largest = [max((load / network.cables[k] for k, load in walked.items()
                        if network.class_of_link[k] == i), default=0) for i in range(len(network.link_classes))]
        assert [float(x) for x in loads.largest()] == pytest.approx([float(x) for x in largest])

    check()


def with_rates(rng, network):
    """Return the network with a bandwidth for each class, or without."""
    return with_bandwidth(network, rng.choice([None, [rng.choice([1e9, 2e9, 3e9]) for _ in network.link_classes]]))


def drawn_bounds(rng, kind):
    mapping = random_mapping(rng, with_rates(rng, network_named(RANDOM[kind](rng))), 16)
    mapping = in_three(rng, mapping) if rng.random() < 0.3 else mapping
    return mapping, random_transform(rng, mapping.grid)


bounded = drawn(drawn_bounds)
SLACK = 1 + Fraction(1, 10**9)


@pytest.mark.parametrize("kind", RANDOM)
def test_no_routing_is_below_the_cut_bound_and_no_placement_below_the_lower_bounds(kind):
    """Holes, idle slots and several bandwidths included; ideal adaptive routing is itself a bound, on global cables only."""

    @repeatable(40)
    @given(bounded(kind))
    def check(case):
        mapping, transform = case
        network, weights = mapping.network, link_weights(mapping.network)
        site = Site(network, mapping.tasks_per_node, Allocation(network, np.unique(mapping.node_of_rank)), idle=True)
        for rule in set(kind_of(network).routings) - {"ideal-adaptive"}:
            prediction = predict(mapping, transform, rule, site=site)
            assert prediction.lower_bound.value <= prediction.cost * SLACK
            assert prediction.bounds.together.value <= longest(prediction.schedule.load_joint, weights) * SLACK
            for exchange in exchanges(mapping.grid, transform):
                loads = routing(rule, network).loads(network, exchange, mapping.ends).largest()
                bound = cut_bound(network, exchange, mapping.node_of_rank)
                assert longest(bound, weights) <= longest(loads, weights) * SLACK

    check()


def longest(lengths, weights):
    return max(length * weight for length, weight in zip(lengths, weights))


PUBLISHED = [  # network, tasks, grid, routing, cost and bound of the launch order: own prototypes, which simulations confirm
    ("fat-tree:leaves=9,hosts=8,taper=2", 1, "8x9", "shortest-path", 10.61, 9.94),
    ("fat-tree:leaves=9,hosts=8,taper=2", 1, "8x9", "static", 10.61, 9.94),
    ("fat-tree:leaves=8,hosts=16,taper=2", 1, "8x16", "shortest-path", 10.50, 8.75),
    ("fat-tree:leaves=32,hosts=16,taper=2", 1, "8x64", "shortest-path", 11.25, 10.81),
    ("fat-tree:leaves=8,hosts=16,taper=1", 8, "128x8", "shortest-path", 7.25, None),
    ("fat-tree:leaves=32,hosts=16,taper=2", 8, "64x64", "shortest-path", 11.25, 7.81),
    ("dragonfly:a=4,p=2,h=2", 1, "8x9", "minimal", 7.06, 7.06), ("dragonfly:a=4,p=2,h=2", 1, "6x12", "minimal", 9.33, 7.00),
    ("dragonfly:a=4,p=2,h=2", 1, "8x9", "shortest-path", 8.83, None),
    ("dragonfly:a=6,p=3,h=3", 1, "9x38", "minimal", 8.11, 7.45), ("dragonfly:a=6,p=3,h=3", 1, "38x9", "minimal", 41.2, None),
    ("dragonfly:a=6,p=3,h=3", 1, "38x9", "ideal-adaptive", 8.39, None),
    ("dragonfly:a=8,p=4,h=4", 1, "16x66", "minimal", 8.12, 7.69),
    ("dragonfly:a=8,p=8,groups=8,cables=8", 1, "16x32", "minimal", 24.0, 7.62)]


def launched(text, tasks, grid):
    network = network_named(text)
    ranks = np.arange(grid.n_tasks)
    return Mapping(network, grid, tasks, ranks // tasks, ranks % tasks)


@pytest.mark.parametrize("text, tasks, grid, rule, cost, bound", PUBLISHED)
def test_costs_and_bounds_of_launch_orders(text, tasks, grid, rule, cost, bound):
    found = predict(launched(text, tasks, ProcessGrid(*map(int, grid.split("x")))), routing_name=rule)
    assert float(found.cost) == pytest.approx(cost, abs=0.05 if cost > 20 else 0.006)
    assert bound is None or float(found.lower_bound.value) == pytest.approx(bound, abs=0.006)


@pytest.mark.parametrize("text", ["fat-tree:leaves=3,hosts=4,up=2", "dragonfly:a=2,p=2,groups=3,cables=1",
                                  "dragonfly-plus:leaves=2,spines=1,hosts=2,groups=3", "hyperx:2x3,hosts=2"])
def test_every_schedule_is_predicted(text):
    """The joint loads of a schedule are sums over the walked messages of both exchanges."""
    mapping = launched(text, 1, ProcessGrid(3, 4))
    whole = [routing(default_routing(mapping.network), mapping.network).loads(mapping.network, e, mapping.ends)
             for e in exchanges(mapping.grid)]
    joint = sum(each.bytes() * 4 * 12 / each.total_bytes for each in whole)
    for schedule in SCHEDULES:
        found = predict(mapping, schedule=schedule).schedule
        assert max(map(float, found.load_joint)) == pytest.approx(joint.max())
        assert float(found.cost) >= joint.max() - 1e-9


@repeatable(40)
@given(drawn(lambda rng: random_case(rng, network_named(RANDOM[rng.choice(["dragonfly", "dragonfly-plus"])](rng)), 16))())
def test_ideal_adaptive_routing_is_below_every_rule_and_above_the_cuts_of_groups(case):
    """On global cables. On host links all rules are equal."""
    mapping, exchange, _ = case
    network = mapping.network
    loads = {rule: [float(x) for x in routing(rule, network).loads(network, exchange, mapping.ends).largest()]
             for rule in ("ideal-adaptive", "minimal", "valiant")}
    for rule, found in loads.items():
        assert loads["ideal-adaptive"][2] <= found[2] * (1 + 1e-6) and loads["ideal-adaptive"][0] == found[0], rule
    *_, group = units_of(network)
    cables = group.leaving[:, 2]
    if cables.all():
        leaving = np.maximum(*crossing(exchange, mapping.node_of_rank, group.of_node, len(cables)))[:, 0]
        assert loads["ideal-adaptive"][2] >= (leaving / cables).max() * (1 - 1e-6)


def test_the_linear_program_is_left_for_cuts_above_its_limit(monkeypatch):
    mapping = launched("dragonfly:a=4,p=2,h=2", 1, ProcessGrid(12, 6))
    row, _ = exchanges(mapping.grid)
    solved = routing("ideal-adaptive", mapping.network).loads(mapping.network, row, mapping.ends).largest()
    monkeypatch.setattr("pencilmap.model.kinds.dragonfly_network.MOST_WAYS", 0)
    cut = routing("ideal-adaptive", mapping.network).loads(mapping.network, row, mapping.ends).largest()
    assert float(cut[2]) == pytest.approx(float(cut_bound(mapping.network, row, mapping.node_of_rank)[2]))
    assert cut[0] == solved[0] and cut[2] <= solved[2]


SMALL = ("fat-tree:leaves=3,hosts=2,up=1", "dragonfly:a=2,p=1,h=1", "dragonfly-plus:leaves=1,spines=1,hosts=2,groups=3",
         "hyperx:3,hosts=2")


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("text", SMALL)
def test_no_placement_of_a_small_network_is_below_its_bounds(text, tasks):
    """Every placement is tried; the bounds are near the best of them."""
    if tasks == 2:  # on half the hosts
        text = text.replace("hosts=2", "hosts=1").replace("a=2", "a=1").replace("h=1", "h=2")
    network, grid = network_named(text), ProcessGrid(2, 3)
    rule, best = routing(default_routing(network), network), {"in turn": [], "together": []}
    for order in permutations(range(6)):
        place = np.array(order)
        switch = network.switch_of_link[place // tasks]
        if any(place[i] > place[j] for i, j in combinations(range(6), 2) if switch[i] == switch[j]):
            continue  # hosts of a switch change places
        loads = [rule.loads(network, exchange, place // tasks) for exchange in exchanges(grid)]
        values = [np.asarray(each.bytes() * 4 * network.n_nodes / each.total_bytes) for each in loads]
        best["in turn"].append(values[0].max() + values[1].max())
        best["together"].append((values[0] + values[1]).max())
    bounds = Bounds(Site(network, tasks), grid)
    assert min(best["in turn"]) * 0.6 <= float(bounds.in_sequence.value) <= min(best["in turn"]) + 1e-9
    assert min(best["together"]) * 0.6 <= float(bounds.together.value) <= min(best["together"]) + 1e-9


@pytest.mark.parametrize("text, cost", [("fat-tree:leaves=640,hosts=16,taper=2,pods=20,core=4", 64.8),
                                        ("dragonfly:a=16,p=8,h=8,groups=80", 14.4)])
def test_10240_hosts_with_8_tasks_are_read_and_predicted_in_5_seconds_and_2_gb(text, cost):
    program = ("import resource, sys; import numpy as np\n"
               "from pencilmap.model.kinds import network_named\n"
               "from pencilmap.model.placement.grid import ProcessGrid\n"
               "from pencilmap.model.placement.allocation import Mapping\n"
               "from pencilmap.model.predict import predict\n"
               "ranks, network = np.arange(81920), network_named(sys.argv[1])\n"
               "found = predict(Mapping(network, ProcessGrid(256, 320), 8, ranks // 8, ranks % 8))\n"
               "print(float(found.cost), found.certificate, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", program, text], capture_output=True, text=True, timeout=patience(5),
                          check=True)
    found, certificate, kilobytes = map(float, done.stdout.split())
    assert found == pytest.approx(cost) and certificate >= 1 and kilobytes < 2e6


@pytest.mark.parametrize("text, hosts, tasks, grid, cost, bound", [  # lengths count the hosts in use
    ("fat-tree:leaves=9,hosts=8,taper=2", 42, 8, (16, 21), 8.48, 6.96),
    ("fat-tree:leaves=8,hosts=16,taper=2", 72, 1, (8, 9), 8.06, 7.06),
    ("fat-tree:leaves=32,hosts=16,taper=2", 288, 8, (48, 48), 9.98, 7.25),
    ("fat-tree:leaves=32,hosts=16,taper=2", 288, 1, (6, 48), 9.98, 9.44),
    ("dragonfly:a=4,p=2,h=2", 42, 1, (6, 7), 10.10, 6.76),
    ("dragonfly:a=6,p=3,h=3", 204, 1, (12, 17), 16.47, 7.43),
    ("dragonfly:a=8,p=4,h=4", 630, 1, (21, 30), 25.22, 7.68)])
def test_costs_and_bounds_on_scattered_hosts(text, hosts, tasks, grid, cost, bound):
    network = network_named(text)
    if text.startswith("fat-tree"):
        used = np.array(sorted(Random(1).sample(range(network.n_nodes), hosts)))
    else:
        used = np.sort(np.random.default_rng(1).choice(network.n_nodes, hosts, replace=False))
    ranks = np.arange(hosts * tasks)
    mapping = Mapping(network, ProcessGrid(*grid), tasks, used[ranks // tasks], ranks % tasks)
    found = predict(mapping, site=Site(network, tasks, Allocation(network, used)))
    share = hosts / network.n_nodes
    assert float(found.cost) * share == pytest.approx(cost, abs=0.006)
    assert bound - 0.006 <= float(found.lower_bound.value) * share <= bound * 1.01  # more cuts are tried here
