"""The tables of the library, in its sources, in the runner and in the model; and the partners of p2p."""

import re
import subprocess
from collections import Counter, defaultdict

import numpy as np
import pytest

from pencilmap.model import algorithms
from pencilmap.model.decompositions import DECOMPOSITIONS as MODEL_DECOMPOSITIONS, LocalPass
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.transform import LINE_KINDS as MODEL_KINDS, TYPES as MODEL_TYPES
from pencilmap.model.traffic.exchange import REMAPS
from tests.fft_runner.tables import DECOMPOSITIONS, EXCHANGES, LINE_KINDS, SCHEDULES, SOURCE, TYPES
from tests.patience import patience


def test_tables_are_read_as_the_runner_has_them(mpirun):
    said = mpirun(1, "--help").stdout
    for option, names in {"exchange": [*EXCHANGES, "auto"], "type": TYPES, "decomposition": DECOMPOSITIONS}.items():
        [line] = re.findall(rf"^  --{option} .*", said, re.MULTILINE)
        assert line.endswith(": " + ", ".join(names)), option


@pytest.mark.parametrize("room, kind, names",
                         [("exchange", "exchange", EXCHANGES), ("geometry", "decomposition", DECOMPOSITIONS),
                          ("schedule", "schedule", SCHEDULES)])
def test_every_file_is_in_the_table_of_its_kind(room, kind, names):
    """A file in the build is also in the table, otherwise nobody could choose its name."""
    files = {path.stem.removeprefix(f"{kind}_") for path in (SOURCE / room).glob(f"{kind}_*.c")} - {"table"}
    assert files == {name.rstrip("0123456789") for name in names}  # bruck2, bruck4 and bruck8 are rows of one file


def test_every_decomposition_is_in_both_tables():
    assert [*DECOMPOSITIONS, "cubic"] == list(MODEL_DECOMPOSITIONS)


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_a_decomposition_has_the_same_stages_here_and_in_the_model(run, name):
    model = MODEL_DECOMPOSITIONS[name]
    record = run(2, "--size", 4, 4, 4, "--decomposition", name, "--grid", "x".join(["1"] * (len(model.letters) - 1) + ["2"]),
                 "--reps", 1, "--warmup", 0, "--rigor", "estimate", "--verify")
    phases = [phase for stage in model.stages for phase in (
        [f"fft_{axis}" for axis in stage.axes] if isinstance(stage, LocalPass)
        else [f"{step}_{stage.name}" for step in ("pack", "exchange", "unpack")])]
    if model.has_bricks:
        before, after = ([f"{step}_{remap}" for step in ("pack", "exchange", "unpack")] for remap in REMAPS)
        phases = [*before, *phases, *after]
    assert list(record["phases"]) == [*phases, "total"] and record["verify"]["passed"]


def test_every_type_has_its_row_in_the_model_and_is_told_in_the_header():
    assert list(MODEL_TYPES) == TYPES and list(MODEL_KINDS) == LINE_KINDS
    header = (SOURCE.parent / "include" / "pencilfft.h").read_text("utf-8")
    assert [name for name in TYPES + LINE_KINDS if not re.search(rf"^ \*     (\w+, )*{name}\b", header, re.MULTILINE)] == []


def placed(kind, ranks, slots, extents):
    """Return the node of each rank: `slots` a node in order, at random, in boxes with a coordinate reversed, or any node."""
    node = np.arange(ranks) // slots
    if kind == "shuffled":
        return np.random.default_rng(ranks).permutation(node)
    if kind == "reversed":
        return node + extents[0] - 1 - 2 * (node % extents[0])
    return np.random.default_rng(slots).integers(0, np.prod(extents), ranks) if kind == "any" else node


def partners(programs, torus, R, C, nodes=()):
    """Return the targets and the sources of each member of each group, phase by phase, as the library orders them."""
    done = subprocess.run([programs / "partners_test", torus, str(R), str(C)], input=" ".join(map(str, nodes)),
                          capture_output=True, text=True, timeout=patience(60), check=True)
    return [[np.array(phase.split(), int).reshape(-1, 2) for phase in filter(None, line.split("|"))]
            for line in done.stdout.splitlines()]


def check_pairs(of_members):
    """Each two members are partners once, in the same phase on both sides."""
    sent = {(me, to): (i, one) for me, phases in enumerate(of_members) for i, phase in enumerate(phases)
            for one, to in enumerate(phase[:, 0].tolist())}
    assert len(sent) == len(of_members) * (len(of_members) - 1) and all(me != to for me, to in sent)
    for me, phases in enumerate(of_members):
        assert all(sent[source, me][0] == i for i, phase in enumerate(phases) for source in phase[:, 1].tolist())


def hops(network, start, end):
    """Yield links and their share of a message, dimension by dimension, half of it each way if both are equally long."""
    here = list(start)
    for axis, (n, wrapped) in enumerate(zip(network.shape, network.wrap, strict=True)):
        up = (end[axis] - here[axis]) % n
        ways = [(1, up), (-1, n - up)] if wrapped and n > 2 else [(np.sign(end[axis] - here[axis]),
                                                                   abs(end[axis] - here[axis]))]
        shortest = min(length for _, length in ways) if up else 0
        taken = [step for step, length in ways if length == shortest]
        for step in taken:
            for i in range(shortest):
                yield (*here[:axis], (here[axis] + step * i) % n, *here[axis + 1:], axis, step), 1 / len(taken)
        here[axis] = end[axis]


EVEN = [  # torus, slots of a node, R, C: every link carries its share in each phase
    ("8", 1, 8, 1), ("5", 1, 5, 1), ("7:mesh", 1, 7, 1), ("2", 1, 2, 1), ("1", 1, 1, 1), ("8x8", 1, 8, 8), ("8x8", 1, 4, 16),
    ("5x5", 1, 5, 5), ("5x5", 1, 25, 1), ("4x8", 1, 4, 8), ("4x8", 1, 8, 4), ("8x4:mesh", 1, 4, 8), ("8x4:mesh", 1, 8, 4),
    ("4x4x4", 1, 4, 16), ("4x4x4", 1, 8, 8), ("3x3x3", 1, 3, 9), ("3x3x3", 1, 9, 3), ("4x4x8", 1, 8, 16), ("8wx4", 1, 8, 4),
    ("3x4x5", 1, 3, 20), ("4x4", 2, 8, 4), ("4x4", 2, 2, 16), ("4x4", 4, 8, 8), ("2x2x2x2", 1, 4, 4), ("8x8x8", 1, 8, 64),
    ("5x7:mesh", 1, 5, 7), ("1x6x1", 1, 1, 6), ("4x4x4x2", 1, 16, 8), ("12x12", 1, 12, 12)]
ANY = [  # the same, and the order of the ranks; 3x3x3x3 has phases with the largest number of messages
    *((*case, "in order") for case in (
        ("7x5", 1, 5, 7), ("8wx4", 2, 4, 16), ("6x6:mesh", 1, 4, 9), ("8x6", 1, 24, 2), ("5x2x3", 1, 10, 3),
        ("16", 1, 16, 1), ("2x2x2", 4, 8, 4), ("12", 1, 4, 3), ("9", 1, 3, 3), ("8x4", 4, 32, 4),
        ("3x3x3x3", 1, 81, 1), ("6x6", 1, 4, 9), ("4x3", 1, 6, 2), ("3x3", 3, 9, 3))),
    ("8x8", 1, 8, 8, "reversed"), ("7x4", 2, 14, 4, "reversed"), ("6:mesh", 2, 4, 3, "reversed"),
    ("6x6", 1, 6, 6, "shuffled"), ("8x8", 1, 32, 2, "shuffled"), ("4x4", 2, 4, 8, "shuffled"), ("3x3", 1, 4, 4, "any"),
    ("5x5:mesh", 1, 3, 7, "any")]


@pytest.mark.parametrize("torus, slots, R, C, kind, over", [*((*case, "in order", 1.05) for case in EVEN),
                                                            *((*case, 4) for case in ANY)])
def test_the_order_of_partners_is_that_of_the_model_and_uses_links_alike(programs, torus, slots, R, C, kind, over):
    """All phases together may take `over` times as long as the busiest link of the whole exchange."""
    network, rank = parse_torus(torus), np.arange(R * C)
    node = placed(kind, R * C, slots, network.shape)
    at, lines = network.coordinates(node), iter(partners(programs, torus, R, C, node.tolist()))
    for group in (rank // R, rank % R):
        carried = defaultdict(Counter)  # by phase
        for number in range(group.max() + 1):
            members, found = np.flatnonzero(group == number), algorithms.phases(network, at, group, number)
            orders = [next(lines) for _ in members]
            check_pairs(orders)
            for me, theirs in enumerate(orders):
                assert [sorted(phase[:, 0].tolist()) for phase in theirs] == [sorted(phase[:, me].tolist())
                                                                              for phase in found], (number, me)
                for i, phase in enumerate(theirs):
                    for to in phase[:, 0]:
                        for link, share in hops(network, at[members[me]].tolist(), at[members[to]].tolist()):
                            carried[i][link] += share
        in_turn = sum(max(phase.values(), default=0) for phase in carried.values())
        assert in_turn <= over * max(sum(carried.values(), Counter()).values(), default=0) + 1e-9
    assert next(lines, None) is None


@pytest.mark.parametrize("p", range(1, 10))
def test_partners_meet_in_pairs_where_their_places_are_not_known(programs, p):
    orders = partners(programs, "-", p, 1)
    check_pairs(orders)
    assert [len(phases) for phases in orders] == [p - 1] * p


VM, ORDERS = "vm/vm/vm/vm", "must have each letter of xyt once"
PLACES = {  # words of machine_test.c, and its answer, or a part of its refusal
    "8x4x2": "8x4x2 111 xyzt 64", "8x4x2:mesh": "8x4x2 000 xyzt 64", "8wx8x4w": "8x8x4 101 xyzt 256", "16": "16 1 xt 16",
    "1x2x3x4x5x6x7x8": "1x2x3x4x5x6x7x8 11111111 abcdefght 40320",
    "4x6x16x2x3x2:axes=xyzabc": "4x6x16x2x3x2 111111 xyzabct 4608", "4x6x16x2x3x2": "4x6x16x2x3x2 111111 abcdeft 4608",
    "8x8x8:mesh:axes=abc": "8x8x8 000 abct 512", "8wx8:axes=AB": "8x8 10 ABt 64",
    **{torus: f"refused: torus '{torus}' is not understood" for torus in (
        "", "8x", "x8", "8x8x0", "8x-1", "8y8", "8x8:x", "8wx8:mesh", "8 x 8", "1x1x1x1x1x1x1x1x1", "99999999999x2",
        "2x2:axes=x", "2x2:axes=xx", "2x2:axes=xt", "2x2:axes=", "2x2:axes=x1", "2x2:axes=xy:mesh")},
    # slots count the ranks of a node; without a torus, of a host
    "4x3x2;;;;n-1-2-1": "4x3x2 111 xyzt 24; hostname -; 21.0",
    "2x2;;;2;n-1-0/n-0-0/n-1-0/n-0-0.site.org": "2x2 11 xyt 4; hostname -; 2.0 0.0 3.1 1.1",
    "none;auto;xyt;;b/a/b": "; - -; -1.0 -1.0 -1.1", "4x4;assumed;;;n-1-0/n-4-0": "4x4 11 xyt 16; assumed tn; 0.0 1.0",
    "8x8x8;hostname;;;node-3-0-7/r1c2n3": "8x8x8 111 xyzt 512; hostname -; 451.0 209.0",
    "32;;;;node17": "32 1 xt 32; hostname -; 17.0", "4x4x4;;;;1-2-3": "4x4x4 111 xyzt 64; hostname -; 57.0",
    "4x4x4;blue-gene;;2;Processor <1,2,0,1> in a <4, 4, 2, 2> mesh": "4x4x4 111 xyzt 64; blue-gene -; 19.1",
    # a launcher fills a node before the next one, unless an order is named
    **{f"2x2;{words};{VM}": f"2x2 11 xyt 4; assumed {answer}" for words, answer in (
        ("?;tyx;2", "tyx; 0.0 1.1 4.0 5.1"), ("?;yxt;", "yxt; 0.0 2.0 1.0 3.0"), ("?;;2", "tn; 0.0 1.1 2.0 3.1"),
        ("assumed;nt;2", "nt; 0.0 2.0 4.0 6.0"), ("assumed:nt;tn;2", "nt; 0.0 2.0 4.0 6.0"),
        ("assumed:y2txy;;2", "y2txy; 0.0 4.0 1.1 5.1"), ("assumed:t1n2n2t;;2", "t1n2n2t; 0.0 2.0 4.0 6.0"))},
    f"2x2:axes=ab;assumed:bat;;;{VM}": "2x2 11 abt 4; assumed bat; 0.0 2.0 1.0 3.0",
    **{f"4x2;?;{order};4;vm": f"refused: launch order '{order}' {ORDERS}" for order in (
        "n", "t", "x", "tnn", "t3nt", "t2n", "n3t", "t0n", "xy", "txyx", "txy3", "nxt", "tn ", "-t", "t1000000n", "T",
        "t2tn2", "xxt")},
    **{f"2x2;{source};;;n-0-0": "known: auto, environment, blue-gene, hostname, table:PATH, assumed[:ORDER]"
       for source in ("dice", "host", "hostname:", "table", "table:", "auto:xyz")},
    f"2x2;;;;{VM}": "refused: nothing tells where the processes are: 'vm'",
    **{f"{torus};;;;{host}": f"refused: nothing tells where the processes are: '{host}'" for torus, host in (
        ("8x8", "node-3--7"), ("4", "vm"), ("8x8x8", "node-3-0"), ("8x8", "n-99999999999-1"))},
    **{f"{torus};blue-gene;;;{host}": "is not a Blue Gene name with" for torus, host in (
        ("4x4", "Processor <1,2,0,1> in a <4, 4, 2, 2> mesh"), ("2x2x2x2", "Processor <1,2,0,1> in a <4, 4, 2, 2> mesh"),
        ("4x4x4", "node-1-2-0"))},
    "2x2;;;1;n-1-0/n-1-0": "runs more than 1 processes", "4x4;auto;;;n-1-0/n-4-0": "outside torus 4x4; x must be 0..3"}


def test_places_of_processes_are_those_on_paper(programs):
    done = subprocess.run([programs / "machine_test", *(f"{words};;;;" for words in PLACES)], capture_output=True, text=True,
                          timeout=patience(60))
    assert done.returncode == 0, done.stdout
    for (words, right), answer in zip(PLACES.items(), done.stdout.splitlines(), strict=True):
        assert answer == right or ("; refused: " in answer and right in answer), words
