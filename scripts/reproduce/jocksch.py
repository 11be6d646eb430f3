"""Jocksch (2021): node-aware exchanges, and the break-even of distributed 1D transforms, without contention.

The slides and this computation assume a direct link between every two nodes, and a message cost of a start and its bytes.
The text gives neither of the two costs. So network_probe measures start, rate and ports between processes of this machine,
and the notes of a result show them. Nodes of the size of the slides are modelled and simulated with these figures.
"""

from dataclasses import dataclass
from functools import cache, partial
from math import ceil, inf, log
from typing import Any

from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.setting import setting
from pencilmap.model.base.reading import own_table
from pencilmap.model.lines.line_plan import crossbar_break_even, line_stages
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.machines.probe import fit_probe
from pencilmap.model.network.graph import GraphNetwork, from_networkx
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.scripts.networks.measured import probe_here
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation, simulate_all, simulation_of_lines
from pencilmap.scripts.networks.validation import CROSSBAR, TRANSPOSE, DistributedCase, crossing, exchanges_s, sizes_about
from pencilmap.scripts.reproduce.figure import DRAWING, PICTURE, SAME, Compared, Figure, Found

PROBED_BYTES = (0, 64, 256, 1024, 4096, 16384, 65536, 262144)
PROBED_RANKS = 4
START_S = 1e-3  # of the messages of `meshes`, so long that their bytes take no time beside it
ELEMENT = 16
RANKS = (16, 64, 256, 1024)
MOST_OF_NODES = 64  # ranks of simulated weak scaling with several tasks a node
MOST_CROSSED, MOST_SIMULATED, MOST_STRONG = 64, 256, 192  # ranks of simulated break-evens, weak and strong scaling
MOST_EXTENT = 600  # of simulated strong scaling; a single process holds the memory of all nodes: 768^3 takes 13 GB


def fact(name: str) -> float:
    """Return a number from the text of the slides."""
    return next(float(r["value"]) for r in own_table("jocksch_2021.csv") if r["quantity"] == name)


@dataclass(frozen=True)
class Measured:
    """The figures of messages between two processes of this machine, by network_probe."""

    ranges: tuple[MessageRange, ...]
    start_s: float  #: of a message of 4 KiB, that is 256 points
    rate: float     #: bytes per second of the longest messages
    ports: int      #: of messages of 4 KiB

    @property
    def note(self) -> str:
        """The figures in words."""
        return (f"a start of {1e6 * self.start_s:.3g} us, {self.rate / 1e9:.3g} GB/s and {self.ports} "
                f"port{'s' * (self.ports > 1)} are measured here by network_probe, between processes of a node")


@cache
def measured() -> Measured:
    """Return the figures of this machine. A range without a rate takes the mean rate of the longest message."""
    probe = probe_here(PROBED_BYTES, PROBED_RANKS)
    ranges = fit_probe(probe).messages
    one = Costs(messages=ranges).range_of(ELEMENT * fact("break_even_points"))
    assert one is not None
    longest = max(t.size for t in probe.trips)
    alone = longest / min(t.seconds for t in probe.trips if t.size == longest)
    return Measured(ranges, max(one.start_s, 1e-9), ranges[-1].rate or alone, one.ports)


def ports() -> Found:
    """Return the ports of messages by their size: those that leave a process of this machine together."""
    fit = measured()
    rows = [["any" if range_.up_to == inf else int(range_.up_to), 1e6 * range_.start_s, range_.ports,
             "-" if range_.rate is None else range_.rate / 1e9, "-" if range_.together is None else range_.together / 1e9]
            for range_ in fit.ranges]
    return Found([">up to bytes", ">start us", ">ports", ">GB/s of one", ">GB/s together"], rows,
                 ["by network_probe between processes of this machine, fitted as by pencilmap study calibrate --probe; -: "
                  "not limited"],
                 [Compared("ports of the shortest messages", "many", fit.ranges[0].ports, "measured",
                           "The slides speak of the Aries network; here processes share their memory."),
                  Compared("ports of the longest messages", "one", fit.ranges[-1].ports, "measured",
                           "Processes of one node are no network.")])


def meshes() -> Found:
    """Return the example of a Poisson equation on 4x4 tasks: communication steps of two FFTs forth and two back.

    A step is the start of as many messages as there are ports. The simulated steps are times over the time of a start."""
    ways: list[tuple[str, tuple[int, ...], tuple[str, str] | None]] = [
        ("all-to-alls, data rearranged", (3,) * 6, None),
        ("all-to-all of each line", (3,) * 4, (TRANSPOSE, "transposed-both")),
        ("radix 4", (3,) * 4, ("binary4", "transposed")),
        ("allgather, dense DFT", (3,) * 4, ("dft", "transposed")),
        ("reduce-scatter, dense DFT", (3,) * 4, ("dft-reduce", "transposed")),
        ("radix 2", (1,) * 8, ("binary2", "transposed")),
        ("all-to-alls, natural order", (3,) * 12, (TRANSPOSE, "natural"))]
    old = {ways[0][0]: "4 and 2 more", ways[1][0]: 4, ways[3][0]: 4}
    cases = [(name, k) for name, _, way in ways for k in (1, 3) if way]
    simulated = dict(zip(cases, _simulated_steps([(*way, k) for _, _, way in ways for k in (1, 3) if way])))
    rows, compared = [], []
    for name, messages, way in ways:
        counted = {k: sum(ceil(n / k) for n in messages) for k in (1, 3)}
        rows.append([name, old.get(name, "-"), counted[3], simulated.get((name, 3), "-"), counted[1],
                     simulated.get((name, 1), "-")])
        if name in old:
            kind = "exact" if way is None else "simulated"
            compared.append(Compared(f"steps with three ports, {name}", 6 if way is None else 4,
                                     float(simulated.get((name, 3), counted[3])), kind, "Counted alike." if way else
                                     "The library has no plan that moves lines back to blocks between two axes."))
    return Found(["way", ">published, 3 ports", ">counted, 3 ports", ">simulated, 3 ports", ">counted, 1 port",
                  ">simulated, 1 port"], rows,
                 ["16x16 points on 4x4 tasks, FFTs along x and y forth and back; a step is the start of as many messages as "
                  "there are ports; simulated: twice the forward exchanges of fft_runner on a crossbar, over the time of a "
                  "start"], compared)


def _simulated_steps(cases: list[tuple[str, str, int]]) -> list[float]:
    """Return the steps forth and back of 16x16 points in 4x4 blocks, by algorithm, order and ports."""
    where = setting(network="4x4", bandwidth=CROSSBAR)
    runs = [simulation_of_lines(where, SimulatedNetwork(as_torus(where.network), 0.0, 0.0, START_S, k), "default",
                                LineProblem((16, 16, 1), (4, 4, 1), algorithm, order), verify=True)
            for algorithm, order, k in cases]
    return [round(2 * exchanges_s(records[0]) / START_S, 3) for records in simulate_all(runs)]


def break_even() -> Found:
    """Return the start of a message, in bytes, that gives the published break-even of 256 points on a rank.

    Up to 64 ranks, also return the simulated break-even of the assumed start."""
    cases = [(ranks, radix, k) for ranks in RANKS for radix in (2, 4) for k in (1, 3)]
    unit = {key: crossbar_break_even(key[0], radix=key[1], alpha_s=1.0, byte_s=1.0, all_to_alls=3, ports=key[2],
                                     element_bytes=ELEMENT) for key in cases}  # start like a byte
    fit = measured()
    start_bytes = fit.start_s * fit.rate
    simulated = _simulated_break_evens({key: one * start_bytes for key, one in unit.items()
                                        if key[0] <= MOST_CROSSED and one < inf})
    rows, old = [], fact("break_even_points")
    for key, one in unit.items():
        always = one == inf
        rows.append([*key, "-" if always else old, "always" if always else one * start_bytes, simulated.get(key, "-"),
                     "-" if always else old / one])
    columns = [">ranks", ">radix", ">ports", ">published n*", ">n* here", ">n* simulated", ">alpha/beta for 256, bytes"]
    return Found(columns, rows,
                 [f"a = 3 all-to-alls (natural order), 16 bytes a point; {fit.note}; simulated: fft_runner with every "
                  "message on a crossbar, up to 64 ranks; last: the start, in bytes, that 256 points would mean"],
                 [Compared(f"break-even, {ranks} ranks, radix {radix}, {k} port{'s' * (k > 1)}, points", old,
                           unit[ranks, radix, k] * start_bytes, "measured, modelled",
                           f"256 points would mean a start like {old / unit[ranks, radix, k]:.0f} bytes; here a start is "
                           f"like {start_bytes:.0f}. The slides compare allgathers in shared memory, with their computing.")
                  for ranks, radix, k in ((64, 2, 1), (64, 4, 3))])


def _simulated_break_evens(predicted: Any) -> Any:
    """Return break-evens of ranks, radix and ports: transposes in natural order, and a binary exchange in its own order."""
    sizes = {key: sizes_about(n) for key, n in predicted.items()}
    runs = []
    for (ranks, radix, ports), pair in sizes.items():
        for algorithm, order in ((TRANSPOSE, "natural"), (f"binary{radix}", "transposed")):
            runs += [_case(ranks, algorithm, order, ports).simulation(n) for n in pair]
    records = simulate_all(runs)
    return {key: crossing(records[4 * i:4 * i + 4], pair) for i, (key, pair) in enumerate(sizes.items())}


def _case(ranks: int, algorithm: str, order: str, ports: int = 1) -> DistributedCase:
    """Return a crossbar as a torus with as few nodes along a dimension as possible, which is the fastest to simulate."""
    return DistributedCase(_crossbar(ranks), algorithm, message_s=measured().start_s, order=order, crossbar=True,
                           rate=measured().rate, ports=ports)


def _crossbar(nodes: int) -> str:
    return str(nodes) if nodes < 256 else "x".join(["4"] * round(log(nodes, 4)))


WAYS = {"3 all-to-alls": (TRANSPOSE, "natural"), "radix 2": ("binary2", "transposed"), "radix 4": ("binary4", "transposed")}


def weak_lines() -> Found:
    """Return weak scaling of the 1D transform, 256 points on a rank, with one task and with four tasks on a node.

    The times follow from the formula with the measured costs; up to 256 ranks also from a simulation."""
    n, rows, four = int(fact("break_even_points")), [], int(fact("tasks_per_node_line"))
    cases = [(ranks, tasks, way) for tasks, most in ((1, MOST_SIMULATED), (four, MOST_OF_NODES)) for ranks in RANKS
             if ranks <= most for way in WAYS.values()]
    simulated = dict(zip(cases, simulate_all([_weak(*case, n) for case in cases])))
    at: dict[tuple[int, int, str], float] = {}
    for ranks in RANKS:
        for tasks in (1, four):
            for name, way in WAYS.items():
                starts, parts = _sent(ranks, tasks, name)
                sent = parts * n * ELEMENT
                at[ranks, tasks, name] = 1e6 * (starts * measured().start_s + tasks * sent / measured().rate)
                seconds = simulated.get((ranks, tasks, way))
                rows.append([ranks, tasks, name, starts, sent, at[ranks, tasks, name],
                             "-" if seconds is None else 1e6 * exchanges_s(seconds[0])])
    most = max(RANKS)
    return Found([">ranks", ">tasks a node", "way", ">messages", ">bytes", ">us", ">us simulated"], rows,
                 [f"published: {PICTURE}; messages and bytes to other nodes of a task; us: by these, one port, no computing"
                  f"; the tasks of a node share its rate; {measured().note}; simulated: fft_runner with every message on a "
                  f"crossbar, where a message inside a node also costs its start, up to {MOST_SIMULATED} ranks, with four "
                  f"tasks a node up to {MOST_OF_NODES}"],
                 [Compared(f"3 all-to-alls over radix 4, {most} ranks, {tasks} task{'s' * (tasks > 1)} a node",
                           "a gain, in words", at[most, tasks, "3 all-to-alls"] / at[most, tasks, "radix 4"],
                           "measured, modelled", "The picture has no numbers; most of the gain is the saved rearrangement, "
                           "as the text says.") for tasks in (1, four)])


def _sent(ranks: int, tasks: int, way: str) -> tuple[int, float]:
    """Return messages of a rank to other nodes, and their bytes over those of its points. Stages inside nodes are free."""
    if way == "3 all-to-alls":
        return 3 * (ranks - tasks), 3 * (ranks - tasks) / ranks
    radix = 2 if way == "radix 2" else 4
    stages = round(log(ranks / tasks, radix))
    return (radix - 1) * stages, (radix - 1) * stages


def _weak(ranks: int, tasks: int, way: tuple[str, str], n: int) -> Simulation:
    algorithm, order = way
    if tasks == 1:
        return _case(ranks, algorithm, order).simulation(n)
    where = setting(network=_crossbar(ranks // tasks), tasks_per_node=tasks, bandwidth=CROSSBAR)
    network = SimulatedNetwork(as_torus(where.network), 0.0, measured().rate, measured().start_s)
    return simulation_of_lines(where, network, "default:tn", LineProblem((n * ranks,), None, algorithm, order))


def strong_pencils(n: int) -> Found:
    """Return the speed-up of exchanges with one message between two nodes over MPI_Alltoallv, n^3, 12 tasks on a node.

    Up to 192 tasks of 600^3 are also simulated."""
    tasks, rows, gain, fit = int(fact("tasks_per_node_pencil")), [], {}, measured()
    cases = ((4, (6, 8)), (16, (12, 16)), (64, (24, 32)), (256, (48, 64)))
    simulated = _simulated_strong(n, tasks, [(nodes, shape) for nodes, shape in cases
                                             if nodes * tasks <= MOST_STRONG and n <= MOST_EXTENT])
    for nodes, shape in cases:
        mapping = _block(_switch(nodes), tasks, shape)
        costs = Costs(message_cost_s=fit.start_s)
        plain, aware = (predict(mapping, Transform(n, n, n, 8), costs=costs, exchange=name).time_s
                        for name in ("alltoallv", "node"))
        assert plain is not None and aware is not None
        gain[nodes] = plain / aware
        plain_s, aware_s = simulated.get(nodes, (None, None))
        rows.append([nodes, f"{shape[0]}x{shape[1]}", 1e3 * plain, 1e3 * aware, plain / aware,
                     *(("-",) * 3 if plain_s is None else (1e3 * plain_s, 1e3 * aware_s, plain_s / aware_s))])
    return Found([">nodes", "grid", ">alltoallv ms", ">node-aware ms", ">speed-up", ">alltoallv ms simulated",
                  ">node-aware ms simulated", ">speed-up simulated"], rows,
                 [f"published: {PICTURE}; the text: gains for small messages, that is many nodes. Exchanges of real doubles "
                  f"alone, on one switch; {fit.note}; nodes hold 3x4 tasks of the grid; simulated: fft_runner with every "
                  "message, up to 192 tasks of 600^3; there the node-aware exchange also pays for the messages of its "
                  "barriers inside a node"],
                 [Compared(f"speed-up of the node-aware exchange, {nodes} nodes", "above 1 for many nodes", gain[nodes],
                           "measured, modelled", "The curves are a picture; a longer start, as on Aries, gains more.")
                  for nodes in (min(gain), max(gain))])


def _simulated_strong(n: int, tasks: int, cases: list[Any]) -> dict[Any, Any]:
    """Return seconds by nodes of alltoallv and node-aware exchanges; elements of 8 bytes, as single complex numbers."""
    runs = []
    for nodes, shape in cases:
        network = as_torus(setting(network="x".join(["4"] * round(log(nodes, 4))), bandwidth=CROSSBAR).network)
        mapping = _block(network, tasks, shape)
        for name in ("alltoallv", "node"):
            switch = SimulatedNetwork(network, 0.0, measured().rate, measured().start_s)
            runs.append(Simulation(switch, hosts(mapping), (n, n, n), mapping.grid, precision="single", exchange=name,
                                   skip="xyz", timing_only=True))
    seconds = [exchanges_s(records[0]) for records in simulate_all(runs, workers=1)]
    return {nodes: tuple(seconds[2 * i:2 * i + 2]) for i, (nodes, _) in enumerate(cases)}


def _switch(nodes: int) -> GraphNetwork:
    import networkx as nx

    graph = nx.Graph()
    graph.add_node("switch", kind="switch")
    graph.add_edges_from(((f"n{k}", "switch") for k in range(nodes)), bandwidth=f"{measured().rate:g} B/s")
    return from_networkx(graph, "one switch")


def _block(network: GraphNetwork | Torus, tasks: int, shape: tuple[int, ...]) -> Mapping:
    """Place a block of 3x4 tasks of the grid on each node, as on the slides."""
    import numpy as np

    grid = ProcessGrid(*shape)
    rank = np.arange(grid.n_tasks)
    row, column = rank % shape[0], rank // shape[0]
    node = (column // 4) * (shape[0] // 3) + row // 3
    return Mapping(network, grid, tasks, node, (column % 4) * 3 + row % 3)


def butterflies(ranks: int = 16, points: int = 16) -> Found:
    """Return the exchanges of a line by butterflies of radix 2 and 4, beside its all-to-alls in the same order."""
    rows, counts = [], {}
    for name in ("binary2", "binary4", "transpose"):
        stages = line_stages(points * ranks, ranks, name, "transposed")
        messages = sum(stage.size - 1 for stage in stages)
        counts[name] = len(stages)
        sent = max(sum(stage.sent(ranks, points * ranks).sum(axis=1) for stage in stages).tolist())
        rows.append([{"binary2": "radix 2", "binary4": "radix 4", "transpose": "all-to-alls"}[name], len(stages), messages,
                     sent / points])
    return Found(["way", ">exchanges", ">messages of a task", ">points sent over points held"], rows,
                 [f"a line of {points * ranks} points on {ranks} tasks, spectrum in the order that costs the least; "
                  "jocksch:meshes simulates the steps, jocksch:weak the times"],
                 [Compared(f"exchanges of radix {radix} on {ranks} tasks: log P", round(log(ranks, radix)),
                           counts[f"binary{radix}"], "exact", SAME) for radix in (2, 4)])


_MODEL = "the machine's figures are not in the text: the exchanges on one switch, start and rate measured here, by the model"
_SIMULATED = f"{_MODEL}, and simulated up to {MOST_STRONG} tasks"
_KIND = "measured, modelled"
FIGURES = {
    **{f"strong{n}": Figure(f"strong scaling of pencils, {n}^3", PICTURE, _SIMULATED if n <= MOST_EXTENT else _MODEL,
                            partial(strong_pencils, n), True, n <= MOST_EXTENT,
                            f"{_KIND}, simulated" if n <= MOST_EXTENT else _KIND) for n in (600, 768, 1200)},
    "ports": Figure("ports by the size of a message", "in words: short messages many, long messages one",
                    "processes of this machine, by network_probe", ports, True),
    "meshes": Figure("4x4 meshes with three ports", "the steps, in words", "the steps counted, and simulated with "
                     "fft_runner", meshes, simulates=True, kind="exact, simulated"),
    "radix": Figure("butterflies of radix 2 and 4", f"{DRAWING}; log P exchanges", "the exchanges of a distributed line",
                    butterflies, kind="exact"),
    "weak": Figure("weak scaling of the 1D transform (two slides)", PICTURE, "messages and bytes counted; the time by the "
                   "formula, start and rate measured here, and simulated up to 256 ranks", weak_lines, True, True,
                   f"{_KIND}, simulated"),
    "break-even": Figure("break-even of binary exchange", "256 points a task", "the formula, simulated up to 64 ranks; "
                         "start and rate measured here; the start that 256 points mean", break_even, True, True,
                         f"{_KIND}, simulated", takes_s=240),
}
