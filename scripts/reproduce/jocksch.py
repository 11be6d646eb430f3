"""Jocksch (2021): node-aware exchanges, and the break-even of distributed 1D transforms, without contention.

The slides and this computation assume a direct link between every two nodes, and a message cost of a start and its bytes.
The text gives neither of the two costs, so the table of the result shows the assumed costs.
"""

from functools import partial
from math import inf, log, log2

from pencilmap.mapper.formats.hostfile import hosts
from pencilmap.mapper.setting import setting
from pencilmap.model.lines.distributed_line import crossbar_break_even
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.published import table
from pencilmap.scripts.networks.lines import CROSSBAR, TRANSPOSE, Case, crossing, exchanges_s, sizes_about
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation, simulate_all
from pencilmap.scripts.reproduce.figure import PICTURE, SKETCH, Figure, Found

ALPHA_S, RATE = 2e-6, 10e9  # assumed: seconds to start a message, and bytes per second of a node
ELEMENT = 16
RANKS = (16, 64, 256, 1024)
MOST_CROSSED, MOST_SIMULATED, MOST_STRONG = 64, 256, 192  # ranks of simulated break-evens, weak and strong scaling
MOST_EXTENT = 600  # of simulated strong scaling; a single process holds the memory of all nodes: 768^3 takes 13 GB


def fact(name: str) -> float:
    """Return a number from the text of the slides."""
    return next(float(r["value"]) for r in table("jocksch_2021.csv") if r["quantity"] == name)


def break_even() -> Found:
    """Return the start of a message, in bytes, that gives the published break-even of 256 points on a rank.

    Up to 64 ranks, also return the simulated break-even of the assumed start."""
    asked = [(ranks, radix, ports) for ranks in RANKS for radix in (2, 4) for ports in (1, 3)]
    unit = {key: crossbar_break_even(key[0], radix=key[1], alpha_s=1.0, byte_s=1.0, all_to_alls=3, ports=key[2],
                                     element_bytes=ELEMENT) for key in asked}  # start like a byte
    simulated = _simulated_break_evens({key: one * ALPHA_S * RATE for key, one in unit.items()
                                        if key[0] <= MOST_CROSSED and one < inf})
    rows = []
    for key, one in unit.items():
        always = one == inf
        rows.append([*key, "-" if always else fact("break_even_points"), "always" if always else one * ALPHA_S * RATE,
                     simulated.get(key, "-"), "-" if always else fact("break_even_points") / one])
    return Found([">ranks", ">radix", ">ports", ">published n*", ">n* for 20 kB", ">n* simulated",
                  ">alpha/beta for 256, bytes"], rows,
                 ["a = 3 all-to-alls (natural order), 16 bytes a point; n* where a start costs as much as 20 kB (2 us at 10 "
                  "GB/s, assumed); simulated: fft_runner with every message on a crossbar, up to 64 ranks; last: the start, "
                  "in bytes, that the published 256 points would mean"])


def _simulated_break_evens(predicted):
    """Return break-evens of ranks, radix and ports: transposes in natural order, and a binary exchange in its own order."""
    sizes = {key: sizes_about(n) for key, n in predicted.items()}
    runs = []
    for (ranks, radix, ports), pair in sizes.items():
        for algorithm, order in ((TRANSPOSE, "natural"), (f"binary{radix}", "transposed")):
            runs += [_case(ranks, algorithm, order, ports).simulation(n) for n in pair]
    records = simulate_all(runs)
    return {key: crossing(records[4 * i:4 * i + 4], pair) for i, (key, pair) in enumerate(sizes.items())}


def _case(ranks, algorithm, order, ports=1):
    """Return a crossbar as a torus with as few nodes along a dimension as possible, which is the fastest to simulate."""
    torus = str(ranks) if ranks < 256 else "x".join(["4"] * round(log(ranks, 4)))
    return Case(torus, algorithm, message_s=ALPHA_S, order=order, crossbar=True, rate=RATE, ports=ports)


def weak_lines() -> Found:
    """Return weak scaling of the 1D transform, 256 points on a rank: messages and bytes of each way, and their time.

    The times follow from the formula with the assumed costs; up to 256 ranks also from a simulation."""
    n, rows = int(fact("break_even_points")), []
    ways = ((TRANSPOSE, "natural"), ("binary2", "transposed"), ("binary4", "transposed"))
    asked = [(ranks, *way) for ranks in RANKS if ranks <= MOST_SIMULATED for way in ways]
    simulated = dict(zip(asked, simulate_all([_case(*each).simulation(n) for each in asked])))
    for ranks in RANKS:
        for way, name, starts, parts in zip(
                ways, ("3 all-to-alls", "radix 2", "radix 4"),
                (3 * (ranks - 1), round(log2(ranks)), 3 * round(log(ranks, 4))),
                (3 * (ranks - 1) / ranks, round(log2(ranks)), 3 * round(log(ranks, 4)))):
            sent = parts * n * ELEMENT
            found = simulated.get((ranks, *way))
            rows.append([ranks, name, starts, sent, 1e6 * (starts * ALPHA_S + sent / RATE),
                         "-" if found is None else 1e6 * exchanges_s(found[0])])
    return Found([">ranks", "way", ">messages", ">bytes", ">us", ">us simulated"], rows,
                 [f"published: {PICTURE}; time: 2 us a message and 10 GB/s are assumed, one port, no computing; simulated: "
                  "fft_runner with every message on a crossbar, one task a node, up to 256 ranks"])


def strong_pencils(n: int) -> Found:
    """Return the speed-up of exchanges with one message between two nodes over MPI_Alltoallv, n^3, 12 tasks on a node.

    Up to 192 tasks of 600^3 are also simulated."""
    tasks, rows = int(fact("tasks_per_node_pencil")), []
    asked = ((4, (6, 8)), (16, (12, 16)), (64, (24, 32)), (256, (48, 64)))
    simulated = _simulated_strong(n, tasks, [(nodes, shape) for nodes, shape in asked
                                             if nodes * tasks <= MOST_STRONG and n <= MOST_EXTENT])
    for nodes, shape in asked:
        mapping = _block(_switch(nodes), tasks, shape)
        costs = Costs(message_cost_s=ALPHA_S)
        plain, aware = (predict(mapping, Transform(n, n, n, 8), costs=costs, exchange=name).time_s
                        for name in ("alltoallv", "node"))
        assert plain is not None and aware is not None
        plain_s, aware_s = simulated.get(nodes, (None, None))
        rows.append([nodes, f"{shape[0]}x{shape[1]}", 1e3 * plain, 1e3 * aware, plain / aware,
                     *(("-",) * 3 if plain_s is None else (1e3 * plain_s, 1e3 * aware_s, plain_s / aware_s))])
    return Found([">nodes", "grid", ">alltoallv ms", ">node-aware ms", ">speed-up", ">alltoallv ms simulated",
                  ">node-aware ms simulated", ">speed-up simulated"], rows,
                 [f"published: {PICTURE}; the text: gains for small messages, that is many nodes. Exchanges of real doubles "
                  "alone, on "
                  "one switch with 10 GB/s a node and 2 us a message, both assumed; nodes hold 3x4 tasks of the grid; "
                  "simulated: fft_runner with every message, up to 192 tasks of 600^3; there the node-aware exchange "
                  "also pays for the messages of its barriers inside a node"])


def _simulated_strong(n, tasks, asked):
    """Return seconds by nodes of alltoallv and node-aware exchanges; elements of 8 bytes, as single complex numbers."""
    runs = []
    for nodes, shape in asked:
        network = as_torus(setting(network="x".join(["4"] * round(log(nodes, 4))), bandwidth=CROSSBAR).network)
        mapping = _block(network, tasks, shape)
        for name in ("alltoallv", "node"):
            runs.append(Simulation(SimulatedNetwork(network, 0.0, RATE, ALPHA_S), hosts(mapping), (n, n, n), mapping.grid,
                                   precision="single", exchange=name, skip="xyz", timing_only=True))
    seconds = [exchanges_s(found[0]) for found in simulate_all(runs, workers=1)]
    return {nodes: tuple(seconds[2 * i:2 * i + 2]) for i, (nodes, _) in enumerate(asked)}


def _switch(nodes):
    import networkx as nx

    graph = nx.Graph()
    graph.add_node("switch", kind="switch")
    graph.add_edges_from(((f"n{k}", "switch") for k in range(nodes)), bandwidth=f"{RATE:g} B/s")
    return from_networkx(graph, "one switch")


def _block(network, tasks, shape):
    """Place a block of 3x4 tasks of the grid on each node, as on the slides."""
    import numpy as np

    grid = ProcessGrid(*shape)
    rank = np.arange(grid.n_tasks)
    row, column = rank % shape[0], rank // shape[0]
    node = (column // 4) * (shape[0] // 3) + row // 3
    return Mapping(network, grid, tasks, node, (column % 4) * 3 + row % 3)


_MODEL = "the machine's figures are not in the text: the exchanges on one switch, start and rate assumed, by the model"
_SIMULATED = f"{_MODEL}, and simulated up to {MOST_STRONG} tasks"
FIGURES = {
    **{f"strong{n}": Figure(f"strong scaling of pencils, {n}^3", PICTURE, _SIMULATED if n <= MOST_EXTENT else _MODEL,
                            partial(strong_pencils, n), simulates=n <= MOST_EXTENT) for n in (600, 768, 1200)},
    "meshes": Figure("4x4 meshes with three ports", SKETCH, "nothing"),
    "radix": Figure("butterflies of radix 2 and 4", SKETCH, "nothing"),
    "weak": Figure("weak scaling of the 1D transform (two slides)", PICTURE, "messages and bytes counted; the time as "
                   "assumed, by the formula and simulated up to 256 ranks", weak_lines, simulates=True),
    "break-even": Figure("break-even of binary exchange", "256 points a task", "the formula, simulated up to 64 ranks; the "
                         "start that 256 points mean", break_even, simulates=True, takes_s=240.0),
}
