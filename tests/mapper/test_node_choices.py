"""Which nodes to ask for: the bound over all choices against every placement, and plans beside the scheduler's own."""

import random
from fractions import Fraction
from itertools import combinations, permutations, product as cartesian

import numpy as np
import pytest

from pencilmap.mapper.allocations.free import free_hosts
from pencilmap.mapper.ask import ask, named_grid
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import plan
from pencilmap.mapper.choose.nodes import beside, bound_of_choices, break_even, own_choices, parts_of
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.place import place
from pencilmap.mapper.shapes import node_choices, slurm_block, slurm_tree, torus_boxes
from pencilmap.model.base.errors import MachineError, MapfileError, PartitionError
from pencilmap.model.kinds import kind_of, network_named
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.predict import answer
from pencilmap.scripts.command_line.node_choices import SCHEDULERS, program_on_nodes, words_of_nodes
from tests.mapper.test_recognised_networks import cables, read, relabelled

TREES = ((4, 4, (2, 4)), (5, 4, (3, 3)), (6, 4, (2, 4)), (5, 3, (2, 3)))  # leaves, hosts, grid
CABLES = (4, 2, 1)


def least_costs(leaves, hosts, grid, cables):
    """Return the least cost of all placements on all choices of hosts, for each number of cables upwards of a leaf.

    Hosts of a leaf are alike, so a placement is the leaf of each rank. Rank 0 is on leaf 0.
    """
    R, C = grid
    leaf = np.array(list(cartesian(range(leaves), repeat=R * C - 1)), dtype=np.int8)
    leaf = np.concatenate([np.zeros((len(leaf), 1), dtype=np.int8), leaf], axis=1).reshape(-1, C, R)
    sent = []
    for ranks, size in ((leaf, R), (leaf.swapaxes(1, 2), C)):
        inside = np.stack([(ranks == v).sum(axis=2) for v in range(leaves)], axis=1)     # placement, leaf, group
        sent.append((inside * (size - inside)).sum(axis=2).max(axis=1) / size)
    fits = (np.stack([(leaf == v).sum(axis=(1, 2)) for v in range(leaves)]) <= hosts).all(axis=0)
    floors = 1 - 1 / R, 1 - 1 / C
    scale = 4 * leaves * hosts / (R * C)
    return [scale * sum(np.maximum(s[fits] / up, floor) for s, floor in zip(sent, floors)).min() for up in cables]


@pytest.mark.parametrize("leaves, hosts, grid", TREES, ids=str)
def test_plans_reach_the_least_cost_of_every_choice_and_placement(leaves, hosts, grid):
    for up, least in zip(CABLES, least_costs(leaves, hosts, grid, CABLES)):
        question = ask(network=f"fat-tree:leaves={leaves},hosts={hosts},up={up}", nodes=grid[0] * grid[1])
        found = plan(question, grids=[named_grid(question, f"{grid[0]}x{grid[1]}")])
        assert float(found.best.prediction.cost) == pytest.approx(least), up
        bound = float(bound_of_choices(question, found.best.grid))
        assert bound <= least * (1 + 1e-9) and (bound > 0.99 * least or (leaves, up) == (5, 1)), up
        [own] = found.own.values()
        assert own.worth >= found.best.worth * (1 - 1e-9)
        assert list(found.own) == list(own_choices(question)) == ["topology/flat, topology/tree or topology/block"]


def test_nodes_are_those_of_the_best_grid_without_its_name(tmp_path):
    """The squarest grid, for which choices are compared first, is as fast with other nodes; that of the bound is faster."""
    free = [16 * leaf + n for leaf, most in enumerate((16, 16, 8, 4, 16, 16, 16, 14)) for n in range(most)]
    network = "fat-tree:leaves=8,hosts=16,up=8"
    (tmp_path / "free").write_text("\n".join(Hosts(network_named(network)).names(np.array(free))))
    question = ask(network=network, nodes=64, among=tmp_path / "free", fft="256", bandwidth="12.5 GB/s")
    best = plan(question, effort="quick").best
    assert best.worth == plan(question, effort="quick", grids=[best.grid]).best.worth
    assert max(np.bincount(best.where.site.allocation.nodes // 16)) <= 9


def test_slurms_nodes_of_one_leaf_are_not_slower_for_a_program(tmp_path):
    """Links of the hosts alone carry messages inside a leaf, so any placement on several leaves does as well on one."""
    for seed in range(4):
        sent = np.random.default_rng(seed).integers(0, 1000, (16, 16)) * (1 - np.eye(16, dtype=int))
        (tmp_path / "sent").write_text("".join(f"{a} {b} {n}\n" for (a, b), n in np.ndenumerate(sent) if n))
        question = ask(network="fat-tree:leaves=3,hosts=6,up=6", nodes=6, tasks_per_node=3, idle=True)
        assert "takes these nodes by itself" in program_on_nodes(question, str(tmp_path / "sent"))[1]


def test_nodes_of_a_tree_that_lacks_a_cable_are_chosen_by_its_leaves():
    """Halves of five leaves would divide a leaf."""
    tree = network_named("fat-tree:leaves=5,hosts=3,up=2")
    network = read(relabelled(tree, 1, without=[len(cables(tree)) - 1]))
    leaf, *larger = (part[:15] for part in parts_of(network))
    home = {a: b for a, b in zip(network.source.tolist(), network.target.tolist()) if a < 15}
    assert not network.levels and len(np.unique(leaf)) == 5
    assert all((leaf[a] == leaf[b]) == (home[a] == home[b]) for a, b in combinations(range(15), 2))
    assert all(len(np.unique(part[leaf == one])) == 1 for part in larger for one in np.unique(leaf))


def busy(network, seed, share):
    """Return the free nodes after many jobs of all sizes came and went, placed as Slurm does."""
    draw, free, jobs = random.Random(seed), set(range(network.n_nodes)), []
    for _ in range(150):
        size = draw.choice((1, 2, 4, 8, 12, 16, 24, 32, 48))
        if len(free) - size >= (1 - share) * network.n_nodes:
            jobs.append(slurm_tree(Allocation(network, sorted(free)), size).tolist())
            free -= set(jobs[-1])
        elif jobs:
            free |= set(jobs.pop(draw.randrange(len(jobs))))
    return np.array(sorted(free))


@pytest.mark.parametrize("text", ["leaves=16,hosts=8,up=4", "leaves=16,hosts=8,up=2,pods=4,core=1"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_of_the_bound_and_of_all_candidates_are_free(text, seed):
    network, grid = network_named(f"fat-tree:{text}"), (4, 4)
    free = Allocation(network, busy(network, seed, 0.6))
    bound, nodes = kind_of(network).of_choices(Site(network, 1, free), 16, grid)
    levels = [level.unit[:network.n_nodes] for level in network.levels]
    every = [nodes, slurm_tree(free, 16), *node_choices(free, 16, levels)]
    assert all(len(set(some.tolist())) == 16 and set(some.tolist()) <= set(free.nodes.tolist()) for some in every)
    costs = [ask_cost(network, some, grid) for some in every]
    assert bound <= min(costs) * (1 + 1e-9)
    more = kind_of(network).of_choices(Site(network), 16, grid)[0]
    assert more <= bound * (1 + 1e-9)  # on an idle machine there are more choices


def ask_cost(network, nodes, grid):
    """Return the cost of a grid in the launch order."""
    question = ask(network=str(network), nodes=len(nodes)).on(nodes)
    found = plan(question, grids=[named_grid(question, f"{grid[0]}x{grid[1]}")], placements=["default"], effort="quick")
    return float(found.best.prediction.cost)


SHARES = (0, 0.25, 0.5, 0.75, 1)
NEIGHBOURS = [(8, 8, (7.0, 7.875, 8.75, 9.625, 10.5)), (4, 4, (7.0, 9.625, 13.75, 17.875, 22.0))]  # by hand, 8x8 on 32x16


@pytest.mark.parametrize("up, each, costs", NEIGHBOURS, ids=str)
def test_neighbours_share_the_cables_of_a_leaf(up, each, costs):
    question = ask(network=f"fat-tree:leaves=32,hosts=16,up={up}", nodes=64)
    grid = named_grid(question, "8x8")
    here = question.on(np.concatenate([np.arange(each) + 16 * leaf for leaf in range(64 // each)]))
    placed = place(here, "default", grid)
    found = [float(beside(here, placed, Fraction(share))) / 8 for share in SHARES]
    assert found == pytest.approx(costs)
    free = Site(question.network)
    bounds = [float(kind_of(question.network).of_choices(free, 64, (8, 8), Fraction(share))[0]) / 8 for share in SHARES]
    assert all(low <= high * (1 + 1e-9) for low, high in zip(bounds, costs)) and bounds == sorted(bounds)


def test_a_plan_packs_beside_busy_neighbours_and_spreads_beside_quiet_ones():
    leaves = {}
    for share in (0, 1):
        question = ask(network="fat-tree:leaves=8,hosts=8,up=2", nodes=16, neighbours=share)
        found = plan(question, grids=[named_grid(question, "4x4")])
        leaves[share] = len(set((found.best.where.site.allocation.nodes // 8).tolist()))
        if not share:
            [own] = found.own.values()
            same = break_even(found.best, own)
            at = [float(beside(choice.where, choice.placed, same)) for choice in (found.best, own)]
            assert 0 < same < 1 and at[0] == pytest.approx(at[1], rel=1e-4)
    assert leaves[0] >= 4 and leaves[1] == 2


# free nodes of each leaf, leaf 0 first, pods of two leaves; nodes of the job; nodes of each leaf that Slurm takes
SLURM = [((4, 4, 4, 4), 4, (4, 0, 0, 0)), ((4, 2, 3, 4), 2, (0, 2, 0, 0)), ((1, 2, 3, 4), 6, (0, 0, 2, 4)),
         ((4, 1, 3, 3), 6, (0, 0, 3, 3)), ((4, 4, 4, 1), 7, (4, 3, 0, 0)), ((2, 1, 1, 2), 4, (2, 1, 1, 0)),
         ((3, 0, 3, 3), 5, (0, 0, 3, 2))]


@pytest.mark.parametrize("free, n_nodes, taken", SLURM, ids=str)
def test_slurm_takes_the_tightest_leaf_then_the_tightest_pod(free, n_nodes, taken):
    network = network_named("fat-tree:leaves=4,hosts=4,up=2,pods=2,core=2")
    nodes = np.concatenate([np.arange(4 * leaf, 4 * leaf + n) for leaf, n in enumerate(free)])
    assert np.bincount(slurm_tree(Allocation(network, nodes), n_nodes) // 4, minlength=4).tolist() == list(taken)


SINFO = """PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
debug*       up   infinite      2  idle* n[00-01]
old        down   infinite      1   idle n15
debug*       up   infinite      3    mix n[02-04]
debug*       up   infinite      1  drain n05
debug*       up   infinite      3   idle n[06-07,10]
big          up   infinite      4  idle~ n[10-13]
big          up   infinite      1  resv  n14
"""
SINFO_N = """NODELIST   NODES PARTITION STATE
n06            1    debug* idle
n07            1    debug* idle
n08            1    debug* alloc
n10            1    debug* idle
n10            1    big    idle
n11            1    big    idle#
n12            1    big    idle
n13            1    big    idle
"""
SINFO_O = "HOSTNAMES STATE\r\n" + "".join(f"{name} {state}\r\n" for name, state in zip(
    ("n06", "n07", "n08", "n10", "n11", "n12", "n13"), ("idle", "idle~", "drained*", "idle", "idle", "idle", "idle")))
SCONTROL = "".join(f"""NodeName={name} Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUTot=1 CPULoad=0.10
   State={state} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=debug

""" for name, state in (("n05", "IDLE+DRAIN"), ("n06", "IDLE"), ("n07", "IDLE+CLOUD"), ("n08", "MIXED"), ("n09", "DOWN*"),
                        ("n10", "IDLE"), ("n11", "IDLE+CLOUD+POWERED_DOWN"), ("n12", "IDLE"), ("n13", "IDLE"),
                        ("n14", "IDLE+RESERVED"), ("n15", "IDLE+PLANNED")))
PBSNODES = "".join(f"""{name}
     Mom = {name}.site.org
     state = {state}
     pcpus = 4
{jobs}     resources_available.ncpus = 4

""" for name, state, jobs in (("n06", "free", ""), ("n07", "free", ""), ("n08", "job-busy", "     jobs = 1.s/0\n"),
                              ("n09", "free", "     jobs = 2.s/0\n"), ("n10", "free", ""), ("n11", "free", ""),
                              ("n12", "free", ""), ("n13", "free", ""), ("n14", "offline,job-busy", "")))
BHOSTS = """HOST_NAME          STATUS       JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV
n05                closed          -      4      4      4      0      0      0
n06                ok              -      4      0      0      0      0      0
n07                ok              -      4      0      0      0      0      0
n08                ok              -      4      1      1      0      0      0
n09                ok              -      4      0      0      0      0      4
n10                ok              -      4      0      0      0      0      0
n11                ok              -      4      0      0      0      0      0
n12                ok              -      4      0      0      0      0      0
n13                ok              -      4      0      0      0      0      0
n14                unavail         -      4      0      0      0      0      0
"""
FREE = ["n06", "n07", "n10", "n11", "n12", "n13"]
TOPOLOGY = "".join(f"SwitchName=leaf{i} Nodes=n[{4 * i:02d}-{4 * i + 3:02d}]\n" for i in range(4)) + \
    "SwitchName=top Switches=leaf[0-3]\n"


NO_HEAD = [text.partition("\n")[2] for text in (SINFO, SINFO_N, SINFO_O)]  # sinfo -h
NO_HEAD.append("".join(f"{' '.join(line.split()[::-1])}\n" for line in NO_HEAD[2].splitlines()))


@pytest.mark.parametrize("text", [SINFO, SINFO_N, SINFO_O, *NO_HEAD, SCONTROL, PBSNODES, BHOSTS, "n06\nn07\nn1[0-3]\n"],
                         ids=["sinfo", "sinfo -N", "sinfo -o", "sinfo -h", "sinfo -hN", "sinfo -ho", "sinfo -ho %t %n",
                              "scontrol", "pbsnodes", "bhosts", "list"])
def test_free_hosts_are_those_that_the_scheduler_may_give(text, tmp_path):
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "free").write_text(text)
    read = free_hosts(Document(text.encode(), "free"))
    assert sorted(read or FREE) == FREE
    question = ask(network=f"{tmp_path}/topology.conf,taper=4", nodes=4, among=tmp_path / "free")
    assert Hosts(question.network).names(question.among.nodes) == FREE
    best = plan(question, grids=[named_grid(question, "2x2")], effort="quick").best
    assert set(Hosts(question.network).names(best.where.site.allocation.nodes)) <= set(FREE)


def test_too_few_free_nodes_are_refused(tmp_path):
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "free").write_text(SINFO)
    network = f"{tmp_path}/topology.conf,taper=4"
    for words, nodes, error in (("has 6 free nodes, fewer than the 8", 8, PartitionError),
                                ("give their number with `nodes`", None, MachineError)):
        with pytest.raises(error, match=words):
            ask(network=network, nodes=nodes, among=tmp_path / "free")
    with pytest.raises(MachineError, match="`among` is empty"):  # a variable of the shell that is not set
        ask(network=network, nodes=4, among="")
    for share in (float("nan"), 2):
        with pytest.raises(MachineError, match="from 0 to 1"):
            ask(network=network, nodes=4, neighbours=share)
    with pytest.raises(MachineError, match="choice of nodes"):
        ask(network=network, neighbours=0.5)
    with pytest.raises(PartitionError, match="no number of nodes"):
        ask(network=network, nodes="0")
    (tmp_path / "free").write_text(SINFO.replace("idle", "alloc"))
    with pytest.raises(MapfileError, match="no free host"):
        ask(network=network, nodes=4, among=tmp_path / "free")


@pytest.mark.parametrize("text", ["dragonfly:a=4,p=4,groups=4,cables=4", "fat-tree:leaves=4,hosts=8,up=2"])
def test_a_job_with_more_nodes_leaves_those_idle_that_a_choice_leaves_out(text):
    question, chosen = ask(network=text, idle=True), ask(network=text, nodes=16)
    idle, few = (plan(where, grids=[named_grid(where, "4x4")]).best for where in (question, chosen))
    assert idle.prediction.cost <= few.prediction.cost


@pytest.mark.parametrize("options, shape", [({"tasks_per_node": (2, 4)}, None), ({"idle": True}, "2x3")], ids=str)
def test_nodes_are_chosen_for_several_tasks_on_a_node_as_with_idle_slots(options, shape):
    question = ask(network="fat-tree:leaves=4,hosts=4,up=1", nodes=8, **options)
    grids = [named_grid(question, shape)] if shape else None
    found = plan(question, grids=grids, effort="quick")
    [own] = found.own.values()
    assert own.where.tasks_per_node == found.best.where.tasks_per_node == min(options.get("tasks_per_node", (1,)))
    assert own.worth >= found.best.worth and own.where.site.allocation.nodes.tolist() == list(range(8))


def test_a_torus_by_its_name_gives_its_boxes_as_a_machine_does():
    question = ask(network="8x8x8", nodes=64)
    assert str(question.network) == "4x4x4:mesh"
    boxes = [str(here.network) for here in question.shapes]
    assert boxes == [str(box) for box in torus_boxes(network_named("8x8x8"), 64)] and "1x8wx8w" in boxes
    found = plan(question, grids=[named_grid(question, "4x16")], effort="quick")
    alone = [plan(ask(network=box), grids=[named_grid(question, "4x16")], effort="quick").best.worth for box in boxes]
    assert found.best.worth == min(alone) and not found.own
    with pytest.raises(PartitionError, match="not the 67"):
        ask(network="8x8x8", nodes=67)


@pytest.mark.parametrize("n_nodes, grid, least", [(64, "8x8", 7.0), (128, "8x16", 7.25)])
def test_nodes_of_a_dragonfly_load_no_cable_more_than_their_own(n_nodes, grid, least):
    question = ask(network="dragonfly:a=16,p=16,groups=8,cables=16", nodes=n_nodes)
    found = plan(question, grids=[named_grid(question, grid)], effort="quick")
    part = n_nodes / question.network.n_nodes
    assert float(found.best.prediction.cost) * part == pytest.approx(least)
    assert float(bound_of_choices(question, found.best.grid)) * part == pytest.approx(least)
    assert len(found.own) == 2 and all(own.worth >= found.best.worth * (1 - 1e-9) for own in found.own.values())


def test_nodes_of_a_graph_are_on_one_side_of_its_narrow_cut(tmp_path):
    """Two cliques of eight nodes with a single cable between them; two nodes of the first clique are not free."""
    names = [f"{'ab'[i // 8]}{i}" for i in range(16)]
    edges = [(x, y) for x in names for y in names if x < y and x[0] == y[0]] + [("a0", "b8")]
    (tmp_path / "two.edges").write_text("".join(f"{x} {y}\n" for x, y in edges))
    question = ask(network=f"{tmp_path}/two.edges,graph", nodes=8, failed="a4,a6")
    found = plan(question, grids=[named_grid(question, "2x4")], effort="quick")
    chosen = Hosts(question.network).names(found.best.where.site.allocation.nodes)
    assert len({name[0] for name in chosen}) == 1 and list(found.own) == ["topology/flat"]
    assert found.own["topology/flat"].worth > found.best.worth
    assert words_of_nodes(found.best.where) == "8 nodes b[8-9],b[10-15]"  # no leaves tell choices apart


@pytest.mark.parametrize("text, words", [("", "is empty"), ("\n \n", "is empty"), ("n1 4 idle\nn2 4 idle\n", "no heading")])
def test_lists_without_hosts_or_heading_say_so(text, words):
    with pytest.raises(MapfileError, match=words):
        free_hosts(Document(text.encode(), "free"))


@pytest.mark.parametrize("seed", range(4))
def test_lines_for_blocks_give_these_nodes_by_the_rule_of_slurm(seed):
    """Slurm has only the nodes of the job to choose from; without segments it would wait, if they are of too many leaves."""
    draw, network = random.Random(seed), network_named("fat-tree:leaves=6,hosts=4,up=2")
    for n_nodes in (4, 6, 8, 12):
        nodes = sorted(draw.sample(range(24), n_nodes))
        where = ask(network=str(network), nodes=n_nodes).on(nodes)
        line = list(SCHEDULERS["slurm-block"](where))[1]
        segment, spread = int(line.split("--segment=")[1].split()[0]), "--spread-segments" in line
        assert slurm_block(Allocation(network, nodes), n_nodes, None, segment, spread).tolist() == nodes
        leaves = len({node // 4 for node in nodes})
        assert (len(slurm_block(Allocation(network, nodes), n_nodes)) == 0) == (leaves > -(-n_nodes // 4))


def test_a_row_that_is_cut_is_named():
    """Its hosts would else be lost without a word."""
    text = b"PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\nall* up inf 3 idle n[1-3]\nall* up inf 3 idle\n"
    with pytest.raises(MapfileError, match="line 3: has 5 words under the 6 of its head"):
        free_hosts(Document(text, "free"))


@pytest.mark.parametrize("text, costs", [("dragonfly:a=4,p=4,groups=2,cables=4", (3, 4)), ("hyperx:4,hosts=4", (3, 4)),
                                         ("hyperx:2x2,hosts=4", (3, 8))])
def test_neighbours_share_the_cables_of_a_switch(text, costs):
    """A node of each of four switches: 3/4 of its data on its link, 1/4 on a cable, or 1/2 in 2x2 switches by two ways.

    If the other three nodes of each switch send alike, a cable carries four times as much.
    """
    question = ask(network=text, nodes=4)
    here = question.on(np.arange(4) * 4)
    placed = place(here, "default", named_grid(question, "1x4"))
    for share, cost in zip((0, 1), costs):
        assert float(beside(here, placed, Fraction(share))) == pytest.approx(cost * question.network.n_nodes / 4), share


@pytest.mark.parametrize("text", ["fat-tree:leaves=4,hosts=4,up=2,pods=2,core=2", "dragonfly:a=4,p=4,groups=4,cables=4",
                                  "hyperx:4x4,hosts=4", "dragonfly-plus:leaves=4,spines=2,hosts=4,groups=3"])
def test_no_choice_beside_neighbours_costs_less_than_the_bound(text):
    draw, question = random.Random(text), ask(network=text, nodes=16)
    N, grid = question.network.n_nodes, named_grid(question, "4x4")
    for share in (Fraction(0), Fraction(3, 10), Fraction(1)):
        bound = kind_of(question.network).of_choices(Site(question.network), 16, (4, 4), share)[0]
        for some in [draw.sample(range(N), 16) for _ in range(10)] + [range(i, i + 16) for i in range(0, N - 15, 5)]:
            here = question.on(sorted(some))
            placed = place(here, "default", grid)
            found = beside(here, placed, share)
            assert found >= bound * (1 - 1e-9)
            assert share or float(found) == pytest.approx(float(answer(here, placed, "default").cost))


def test_neighbours_need_units_that_share_cables(tmp_path):
    (tmp_path / "ring.edges").write_text("a b\nb c\nc d\nd a\n")
    for network in ("4x4", f"{tmp_path}/ring.edges,graph"):
        with pytest.raises(MachineError, match="has no such units"):
            ask(network=network, nodes=2, neighbours=0.5)


@pytest.mark.parametrize("shape, text", [((2, 2), None), ((2, 2), "6"), ((2, 2), "3x3:mesh"), ((1, 4), "3x3:mesh")])
def test_bounds_over_choices_of_a_graph_hold_for_all_of_them(shape, text, tmp_path):
    if text is None:  # a ring of five and one of three with a common host
        edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (4, 5), (5, 6), (6, 4)]
        (tmp_path / "net.edges").write_text("".join(f"h{x} h{y}\n" for x, y in edges))
        text, N = f"{tmp_path}/net.edges,graph", 7
    else:
        N = network_named(text).n_nodes
    free = [node for node in range(N) if node != 2]
    question = ask(network=text, nodes=4, failed=Hosts(ask(network=text).network).names([2])[0].removeprefix("node-"))
    assert sorted(question.among.nodes.tolist()) == free
    bound = bound_of_choices(question, named_grid(question, f"{shape[0]}x{shape[1]}"))
    grid = named_grid(question, f"{shape[0]}x{shape[1]}")
    costs = []
    for nodes in combinations(free, 4):
        here = question.on(list(nodes))
        costs += [answer(here, Mapping(question.network, grid, 1, np.array([nodes[0], *order]), np.zeros(4, int)), "m").cost
                  for order in permutations(nodes[1:])]
    assert 0 < bound <= min(costs) * (1 + 1e-9)
    found = plan(question, grids=[grid])
    is_ring = text == "6"  # where nodes far from each other cost less, but use links of other jobs
    assert float(found.best.prediction.cost) == pytest.approx(7.5 if is_ring else float(min(costs)))


@pytest.mark.parametrize("text", ["6x6", "6x6:mesh"])
def test_nodes_of_a_torus_with_holes_are_of_small_boxes(text, tmp_path):
    """The free nodes are a box of 3x4 across the seam of y, and some nodes far from each other."""
    box = {(x, y % 6) for x in (1, 2, 3) for y in (4, 5, 6, 7)}
    (tmp_path / "free").write_text("".join(f"c{x}{y} {x} {y}\n" for x, y in sorted(box | {(5, 1), (0, 3), (5, 3), (5, 5)})))
    question = ask(network=text, nodes=12, among=tmp_path / "free")
    found = plan(question, grids=[named_grid(question, "3x4")])
    if text == "6x6":
        assert words_of_nodes(found.best.where) == "12 nodes of box 3x4 at 1-4"
        assert SCHEDULERS["slurm"](found.best.where)
    assert all(own.worth >= found.best.worth for own in found.own.values())
    assert bound_of_choices(question, found.best.grid) <= found.best.prediction.cost
