"""Jocksch (2021): node-aware exchanges, and the break-even of distributed 1D transforms, on a network without contention.

The slides assume that every two nodes are joined directly and that a message costs a start and its bytes; so does what is
computed here. The text gives neither figure of the machine, so those that are assumed stand in the table of the result.
"""

from functools import partial
from math import inf, log, log2

from pencilmap.model.costs import Costs
from pencilmap.model.distributed_line import crossbar_break_even
from pencilmap.model.graph_network import from_networkx
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.predict import predict
from pencilmap.model.published import table
from pencilmap.model.transform import Transform
from pencilmap.scripts.reproduce.figure import PICTURE, SKETCH, Figure, Found

ALPHA_S, RATE = 2e-6, 10e9  # assumed: a message start, and bytes per second of a node
ELEMENT = 16
RANKS = (16, 64, 256, 1024)


def fact(name: str) -> float:
    """A number in the text of the slides."""
    return next(float(r["value"]) for r in table("jocksch_2021.csv") if r["quantity"] == name)


def break_even() -> Found:
    """The start of a message, in bytes, that makes the break-even the published 256 points on a rank."""
    rows = []
    for ranks in RANKS:
        for radix in (2, 4):
            for ports in (1, 3):
                one = crossbar_break_even(ranks, radix, 1.0, 1.0, 3, ports, ELEMENT)  # where a start costs as much as a byte
                rows.append([ranks, radix, ports, "-" if one == inf else fact("break_even_points"),
                             "always" if one == inf else one * ALPHA_S * RATE,
                             "-" if one == inf else fact("break_even_points") / one])
    return Found([">ranks", ">radix", ">ports", ">published n*", ">n* for 20 kB", ">alpha/beta for 256, bytes"], rows,
                 ["a = 3 all-to-alls (natural order), 16 bytes a point; n* where a start costs as much as 20 kB (2 us at 10 "
                  "GB/s, "
                  "assumed); last: the start, in bytes, that the published 256 points would mean"])


def weak_lines() -> Found:
    """Weak scaling of the 1D transform, 256 points on a rank: messages and bytes of each way, and their time as assumed."""
    n, rows = int(fact("break_even_points")), []
    for ranks in RANKS:
        for name, starts, parts in (("3 all-to-alls", 3 * (ranks - 1), 3 * (ranks - 1) / ranks),
                                    ("radix 2", round(log2(ranks)), round(log2(ranks))),
                                    ("radix 4", 3 * round(log(ranks, 4)), 3 * round(log(ranks, 4)))):
            sent = parts * n * ELEMENT
            rows.append([ranks, name, starts, sent, 1e6 * (starts * ALPHA_S + sent / RATE)])
    return Found([">ranks", "way", ">messages", ">bytes", ">us"], rows,
                 [f"published: {PICTURE}; time: 2 us a message and 10 GB/s are assumed, one port, no computing"])


def strong_pencils(n: int) -> Found:
    """Relative speed-up of exchanges with one message between two nodes over MPI_Alltoallv, n^3, 12 tasks on a node."""
    tasks, rows = int(fact("tasks_per_node_pencil")), []
    for nodes, shape in ((4, (6, 8)), (16, (12, 16)), (64, (24, 32)), (256, (48, 64))):
        mapping = _block(nodes, tasks, shape)
        costs = Costs(message_cost_s=ALPHA_S)
        plain, aware = (predict(mapping, Transform(n, n, n, 8), costs=costs, exchange=name).time_s
                        for name in ("alltoallv", "node"))
        assert plain is not None and aware is not None
        rows.append([nodes, f"{shape[0]}x{shape[1]}", 1e3 * plain, 1e3 * aware, plain / aware])
    return Found([">nodes", "grid", ">alltoallv ms", ">node-aware ms", ">speed-up"], rows,
                 [f"published: {PICTURE}; the text: gains for small messages, that is many nodes. Exchanges of real doubles "
                  "alone, on "
                  "one switch with 10 GB/s a node and 2 us a message, both assumed; nodes hold 3x4 tasks of the grid"])


def _block(nodes, tasks, shape):
    """Each node holds 3x4 tasks of the grid, as on the slides."""
    import networkx as nx
    import numpy as np

    graph = nx.Graph()
    graph.add_node("switch", kind="switch")
    graph.add_edges_from(((f"n{k}", "switch") for k in range(nodes)), bandwidth=f"{RATE:g} B/s")
    network = from_networkx(graph, "one switch")
    grid = ProcessGrid(*shape)
    rank = np.arange(grid.n_tasks)
    row, column = rank % shape[0], rank // shape[0]
    node = (column // 4) * (shape[0] // 3) + row // 3
    return Mapping(network, grid, tasks, node, (column % 4) * 3 + row % 3)


_MODEL = "the machine's figures are not in the text: the exchanges on one switch, start and rate assumed"
FIGURES = {
    "strong600": Figure("strong scaling of pencils, 600^3", PICTURE, _MODEL, partial(strong_pencils, 600)),
    "strong768": Figure("strong scaling of pencils, 768^3", PICTURE, _MODEL, partial(strong_pencils, 768)),
    "strong1200": Figure("strong scaling of pencils, 1200^3", PICTURE, _MODEL, partial(strong_pencils, 1200)),
    "meshes": Figure("4x4 meshes with three ports", SKETCH, "nothing"),
    "radix": Figure("butterflies of radix 2 and 4", SKETCH, "nothing"),
    "weak": Figure("weak scaling of the 1D transform (two slides)", PICTURE, "messages and bytes counted; the time as "
                                                                             "assumed",
                   weak_lines),
    "break-even": Figure("break-even of binary exchange", "256 points a task", "the formula; the start that 256 points mean",
                         break_even),
}
