"""Pekurovsky (2012), P3DFFT: whole transforms on a Cray XT5 and Chan's flat meshes, beside the numbers of the text.

The points of Fig. 3 to 10 are pictures; the numbers of the text give a curve (`pencilmap.mapper.studies.scaling`). The
times here are by the machine file of the Cray XT5, whose rates come from another publication, and by an assumed rate of the
FFTs. So nothing is fitted to this paper, and all its numbers judge the model. The nodes are taken as a torus that is as
cubic as possible, as in the fit of the rates, with 12 tasks on each node and ranks in the launcher's order; the real nodes
are unknown.

The rates of a node of a Cray XT are those of published all-to-alls of Jaguar (Schulz 2008).
Idea: every message takes its start, and each hop of its bytes takes a share of links that other jobs use, too:
t = starts + bytes x hops of a node / rate. The rate is the least-squares fit of the relative errors; the start is the mean
of the 1 KiB row. A port of the node (bytes / rate, added) would be fitted as faster than its hardware; it decides nothing.
Source: R. Schulz, "3D FFT with 2D decomposition" (2008), sec. 5: MPI_Alltoall by the Intel MPI Benchmarks on Jaguar, two
cores a node; the nodes of a job were not contiguous. Assumed here: processes fill nodes, on tori as cubic as possible.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil, exp, log, log2, prod
from typing import Any

from pencilmap.mapper.base.progress import say
from pencilmap.mapper.seeds.products import best_product_of
from pencilmap.mapper.setting import Setting, setting
from pencilmap.mapper.studies.scaling import p3dfft_time
from pencilmap.model.base.reading import own_table
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.network.torus import as_torus, parse_torus
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import block_lengths
from pencilmap.model.times.published import p3dfft_2012
from pencilmap.model.times.scaling import Point, bisection_bandwidth, crossing_bytes, fit, weak_efficiency
from pencilmap.scripts.reproduce.figure import DRAWING, PICTURE, SAME, Compared, Figure, Found, most_tasks, steps, steps_of

START_BYTES, LARGE_BYTES = 1024, (32768, 65536)
PROCESSES, CORES_OF_NODE = (4, 8, 16, 32, 64, 128), 2


@dataclass(frozen=True)
class Rates:
    """Seconds of the start of a message, and bytes times hops per second of a node."""

    start_s: float
    byte_hops: float


@dataclass(frozen=True)
class AllToAll:
    """A published all-to-all: bytes of a message, processes, seconds, and bytes times hops of a node by the model."""

    size: int
    processes: int
    time_s: float
    byte_hops: float

    def time_by(self, rates: Rates) -> float:
        """Return seconds by the two rates."""
        return rates.start_s * (self.processes - 1) + self.byte_hops / rates.byte_hops


def shape_for(nodes: int) -> str:
    """Return the torus of at least that many nodes with the fewest nodes among those no longer than a cube.

    >>> shape_for(342), shape_for(11), shape_for(32)
    ('7x7x7', '3x2x2', '4x4x2')
    """
    side = ceil(nodes ** (1 / 3) - 1e-9)
    shapes = [(x, y, z) for x in range(1, side + 1) for y in range(1, x + 1) for z in range(1, y + 1) if x * y * z >= nodes]
    return "x".join(map(str, min(shapes, key=lambda sides: (prod(sides), sides))))


@lru_cache
def published() -> tuple[AllToAll, ...]:
    """Return the all-to-alls of the largest messages, which the rates are fitted to."""
    lines = {int(line["bytes"]): line for line in own_table("schulz_2008.csv") if line["table"] == "alltoall-jaguar"}
    return tuple(_one(size, p, 1e-6 * float(lines[size][f"{p} processes"])) for size in LARGE_BYTES for p in PROCESSES)


def _one(size: int, processes: int, time_s: float) -> AllToAll:
    where = setting(network=shape_for(processes // CORES_OF_NODE), tasks_per_node=CORES_OF_NODE, bandwidth="1 GB/s",
                    idle=True, fft=f"{size // 16}x{processes}x{processes}")
    work = where.predictions(f"1x{processes}", ["default"])[0].stage("column").work
    assert work is not None
    return AllToAll(size, processes, time_s, work.byte_hops)


@lru_cache
def rates() -> Rates:
    """Return the fitted rates. The machine file of the Cray XT5 has them, rounded to two digits."""
    line = next(line for line in own_table("schulz_2008.csv")
                if line["table"] == "alltoall-jaguar" and int(line["bytes"]) == START_BYTES)
    starts = [1e-6 * float(line[f"{p} processes"]) / (p - 1) for p in PROCESSES]
    start_s = exp(sum(map(log, starts)) / len(starts))
    rest = [(a.time_s - start_s * (a.processes - 1)) / a.time_s for a in published()]
    parts = [a.byte_hops / a.time_s for a in published()]
    return Rates(start_s, sum(p * p for p in parts) / sum(p * r for p, r in zip(parts, rest)))


Factors = tuple[tuple[str, float], ...]  # figures of the machine, and their factors
MACHINE, TASKS, TRANSFORMS = "cray-xt5", 12, 2
FFT_RATE = 1.04e9  # flop/s of a task, assumed: a tenth of the peak of a core, 2.6 GHz times 4
CORES = {4096: (4096, 8192, 16384, 32768, 65536), 2048: (512, 1024, 2048, 4096, 8192), 1024: (128, 256, 512, 1024, 2048),
         512: (16, 32, 64, 128, 256)}  # for each extent; the text names the extents of the weak scaling
WEAK = ((512, 16), (1024, 128), (2048, 1024), (4096, 8192), (8192, 65536))
EXTENT = 4096  # of Fig. 4, to which the curve is fitted
_CARRIED = "The curve is carried far from 4096^3; its share of a/P holds more than FFTs and memory."
_STRONG = {4096: "Our exchanges grow faster with P.", 2048: _CARRIED, 1024: _CARRIED, 512: _CARRIED}
ROWS = (2, 4, 8, 16, 32, 64, 128, 256)  # rows that are tried for the best 2D grid
MODEL_NOTE = ("predicted: a forward and a backward transform by the time model; SeaStar's rates are fitted to another "
              "publication (p3dfft:seastar), memory is that of the machine file, the rate of the FFTs (1.04 Gflop/s a core) "
              "and the nodes are assumed; nothing is fitted to this paper")
CURVE_NOTE = (f"published: {PICTURE}; the curve is a/P + d/P^(2/3) with a and d from two numbers of the text, 212 GB/s and "
              "45 % (docs/scaling-studies.md)")


@dataclass(frozen=True)
class Time:
    """Seconds of a forward and a backward transform, and of their row and column exchanges."""

    grid: ProcessGrid
    total_s: float
    row_s: float
    column_s: float

    @property
    def share(self) -> float:
        """Share of the exchanges."""
        return (self.row_s + self.column_s) / self.total_s


def operations(n: int) -> float:
    """Return the floating-point operations of both transforms of n^3 real numbers: 2.5 n^3 log2 n^3 each."""
    return TRANSFORMS * 2.5 * n**3 * log2(n**3)


def on_torus(nodes: int, factors: Factors = (), **asked: Any) -> Setting:
    """Return the Cray XT5 with that many nodes, as a torus, and some of its figures times factors."""
    where = setting(machine=MACHINE, network=f"{shape_for(nodes)}:torus", idle=True, **asked)
    costs = replace(where.costs, fft_rate_per_task=FFT_RATE)
    return replace(where, costs=replace(costs, **{name: factor * getattr(costs, name) for name, factor in factors}))


@lru_cache
def predicted(n: int, ranks: int, grid: str, decomposition: str = PENCIL.name, factors: Factors = ()) -> Time:
    """Return the predicted time of two transforms of n^3 real numbers on a grid of that many ranks."""
    where = on_torus(ceil(ranks / TASKS), factors, fft=f"{n}:r2c", decomposition=decomposition)
    prediction = where.predictions(grid, ["default"])[0]
    exchanges = [TRANSFORMS * (stage.time_s or 0.0) for stage in prediction.stages]
    assert prediction.total_s is not None
    return Time(prediction.grid, TRANSFORMS * prediction.total_s, exchanges[0] if len(exchanges) > 1 else 0.0, exchanges[-1])


def best_2d(n: int, ranks: int, factors: Factors = ()) -> Time:
    """Return the fastest grid of two dimensions, of those in `ROWS` that the extents allow."""
    grids = [f"{r}x{ranks // r}" for r in ROWS if ranks % r == 0 and 1 < ranks // r <= n and r <= n // 2]
    say(f"{n}^3 on {ranks} cores")
    return min((predicted(n, ranks, grid, factors=factors) for grid in grids), key=lambda item: item.total_s)


def both_decompositions() -> Found:
    """Return slabs and pencils of four tasks: their boxes, points, all-to-alls, and the most tasks."""
    n, tasks, rows = 8, 4, list[list[Any]]()
    for grid in (ProcessGrid(tasks, decomposition=SLAB), ProcessGrid(2, tasks // 2)):
        result = steps_of(grid, n)
        box = str(result[0][-1])
        rows.append([grid.decomposition.name, str(grid), box, prod(map(int, box.split("x"))),
                     sum("all-to-all" in str(row[1]) for row in result), most_tasks(grid.decomposition, n)])
    return Found(["decomposition", "grid", "box of a task", ">points of a task", ">all-to-alls", ">most tasks"], rows,
                 [f"{n}^3 points on {tasks} tasks"],
                 [Compared("points of a task, 2D over 1D", 1.0, rows[1][3] / rows[0][3], "exact", SAME),
                  Compared(f"most tasks of 1D, N = {n}: N", n, rows[0][5], "exact", SAME),
                  Compared(f"most tasks of 2D, N = {n}: N^2", n * n, rows[1][5], "exact", SAME)])


def local_sizes() -> Found:
    """Return Table 1: extents of the pencils of 128^3 real numbers on 4x2 tasks, by formulas and by the decomposition."""
    n, m1, m2 = 128, 4, 2
    rows = []
    for name, formula, split in (("X", (n, n // m1, n // m2), (None, m1, m2)), ("Y", ((n + 2) // 2 / m1, n, n // m2), (m1,
                                                                                                                       None,
                                                                                                                       m2)),
                                 ("Z", ((n + 2) // 2 / m1, n // m2, n), (m1, m2, None))):
        extents = (n if name == "X" else n // 2 + 1, n, n)
        own = ["x".join(str(int(block_lengths(e, p)[k]) if p else e) for e, p in zip(extents, split)) for k in (0, 1)]
        rows.append([f"{name} pencil", "x".join(f"{x:g}" for x in formula), own[0], own[1]])
    return Found(["stage", "published formula", "here, rank 0", "here, rank of the second blocks"], rows,
                 ["65 modes along x do not divide by 4: P3DFFT's formula is the mean, and the blocks here differ by one"],
                 [Compared("points of the Y pencils of a row of 4 tasks, over 128 x 64", (n + 2) // 2,
                           int(block_lengths(n // 2 + 1, m1).sum()), "exact", SAME)])


def seastar() -> Found:
    """Return the published all-to-alls of Jaguar that give the rates of the network, beside the fit."""
    fitted = rates()
    rows = [[a.size, a.processes, shape_for(a.processes // 2), 1e3 * a.time_s, 1e3 * a.time_by(fitted),
             a.time_by(fitted) / a.time_s] for a in published()]
    return Found([">bytes", ">processes", "torus", ">published ms", ">fitted ms", ">fitted/published"], rows,
                 [f"one number is fitted: bytes x hops of a node / {fitted.byte_hops / 1e6:.3g} MB/s; each message "
                  f"starts in {1e6 * fitted.start_s:.3g} us, the mean of 1 KiB; both are in machine cray-xt5, rounded",
                  "assumed: processes fill nodes of two cores, on tori as cubic as possible; Jaguar was an XT4 then, and "
                  "its jobs lay scattered and shared the links"],
                 [Compared(f"ms of an all-to-all, {a.size} bytes, {a.processes} processes", 1e3 * a.time_s,
                           1e3 * a.time_by(fitted), "modelled", "One number is fitted to all of these lines.")
                  for a in published()])


def aspect() -> Found:
    """Return Fig. 3."""
    fact = p3dfft_2012()
    ranks = int(fact["aspect_ranks"])
    grids = [predicted(2048, ranks, f"{r}x{ranks // r}") for r in (1, 2, 4, 8, 16, 32)]
    rows = [[str(f.grid), f.total_s, f.row_s, f.column_s, operations(2048) / f.total_s / 1e12] for f in grids]
    tasks = int(fact["aspect_threshold_kraken"])
    first, best = next(f for f in grids if f.grid.shape[0] > tasks), min(grids, key=lambda f: f.total_s)
    return Found(["grid", ">both transforms s", ">rows s", ">columns s", ">TFlop/s"], rows,
                 [*aspect_verdict(grids, tasks), MODEL_NOTE],
                 [Compared(f"time of {first.grid}, rows longer than a node, over 1x{ranks}", "above 1", first.total_s
                           / grids[0].total_s, "modelled", "Both rise where M1 crosses the 12 tasks of a node; the order of "
                           "shorter rows is not published."),
                  Compared("tasks of a row above which the time rises, Ranger", fact["aspect_threshold_ranger"],
                           "not modelled", "modelled", "The text gives no rate of Ranger's network, so there is no machine "
                           "file of it."),
                  Compared("time of the square grid over the best", "above 1", grids[-1].total_s / best.total_s, "modelled",
                           f"Best here: {best.grid}; the picture's points are not in the text.")])


def aspect_verdict(times: list[Time], tasks: int) -> list[str]:
    """Return in words where the time rises with the length of the rows, beside the statement of the text."""
    inside = [f for f in times if f.grid.shape[0] <= tasks]
    first = next(f for f in times if f.grid.shape[0] > tasks)
    within, across = inside[-1].total_s / inside[0].total_s - 1, first.total_s / inside[-1].total_s - 1
    best, square = min(times, key=lambda f: f.total_s), times[-1]
    agrees = "as published" if across > within and best is not square else "NOT as published"
    return [f"published: {PICTURE}; the text: the time rises as M1 crosses the {tasks} tasks of a node, and the square grid "
            "is not the best",
            f"here: up to {inside[-1].grid} the time rises by {100 * within:.0f} %, from there to {first.grid} by "
            f"{100 * across:.0f} %; least with {best.grid}, {square.grid} takes {square.total_s / best.total_s:.2f} times "
            f"as long: {agrees}"]


def strong_scaling(n: int) -> Found:
    """Return Fig. 4 to 8."""
    points: list[Point] = []
    rows: list[list[Any]] = []
    for p in CORES[n]:
        mine, curve = best_2d(n, p), p3dfft_time(n, p)
        points.append(Point("", (n,) * 3, p, mine.total_s))
        rows.append([p, str(mine.grid), curve, mine.total_s, mine.total_s / curve, operations(n) / curve / 1e12,
                     operations(n) / mine.total_s / 1e12, mine.share])
    columns = [">cores", "best grid", ">curve s", ">here s", ">here/curve", ">curve TFlop/s", ">here TFlop/s",
               ">share of exchanges"]
    carried = [] if n == EXTENT else [f"the curve is fitted to 4096^3 and carried to {n}^3, a as N^3 log N and d as N^3"]
    compared = [Compared(f"s of {n}^3 on {row[0]} cores, by the curve", row[2], row[3], "modelled", _STRONG[n])
                for row in (rows[0], rows[-1])]
    if n != EXTENT:
        return Found(columns, rows, [CURVE_NOTE, *carried, MODEL_NOTE], compared)
    fact, cut = p3dfft_2012(), _bisection(points, n)
    compared += [Compared("GB/s of the bisection of 65,536 cores", fact["effective_bisection"] / 1e9,
                          "no such term" if cut is None else cut / 1e9, "modelled",
                          "Large jobs had a larger share of the links than the 128 processes of Schulz, which our rate is "
                          "fitted to."),
                 Compared("share of the exchanges at 65,536 cores", fact["communication_share"], rows[-1][-1], "modelled",
                          "Our computing takes 0.4 times as long as this share needs (`p3dfft:changes`)."),
                 Compared("rows of the best grid on 65,536 cores", "squarer than on few cores", f"{rows[-1][1]}", "modelled",
                          "The paper suspects a limit of messages in SeaStar, which the model does not have.")]
    return Found(columns, rows, [CURVE_NOTE, *carried, *_bisections(cut), MODEL_NOTE], compared)


def _bisection(points: Any, n: int) -> float | None:
    fact = p3dfft_2012()
    cores, of = int(fact["effective_bisection_cores"]), int(fact["transposes"])
    return fit(points).bisection(cores, crossing_bytes(n**3 * fact["point_bytes"], of))


def _bisections(cut: float | None) -> list[str]:
    fact = p3dfft_2012()
    cores = int(fact["effective_bisection_cores"])
    peak = bisection_bandwidth(parse_torus("15x16wx24w", bandwidth=(fact["link_peak"] / 2,) * 3))
    said = f"{cut / 1e9:.4g} GB/s ({cut / fact['effective_bisection']:.2f} of the published)" if cut else "no such term"
    return [f"bisection of {cores} cores by the fit of a/P + d/P^(2/3): here {said}; the text: "
            f"{fact['effective_bisection'] / 1e9:.0f} GB/s, {100 * fact['bisection_efficiency']:.0f} % of "
            f"{fact['bisection_peak'] / 1e9:.0f} GB/s; peak computed {peak / 1e9:.0f} GB/s",
            f"share of the exchanges at high core counts: the text about {100 * fact['communication_share']:.0f} %, here "
            "the last column"]


def weak_scaling() -> Found:
    """Return Fig. 9."""
    fact, rows = p3dfft_2012(), list[list[object]]()
    mine = {ranks: Point("", (n,) * 3, ranks, best_2d(n, ranks).total_s) for n, ranks in WEAK}
    curve = {ranks: Point("", (n,) * 3, ranks, p3dfft_time(n, ranks)) for n, ranks in WEAK}
    first = int(fact["weak_first_cores"])
    for n, ranks in WEAK:
        rows.append([f"{n}^3", ranks, curve[ranks].time_s, mine[ranks].time_s, mine[first].time_s / mine[ranks].time_s,
                     weak_efficiency(curve[first], curve[ranks]), weak_efficiency(mine[first], mine[ranks]),
                     operations(n) / mine[ranks].time_s / 1e12])
    last = weak_efficiency(mine[first], mine[WEAK[-1][1]])
    return Found(["size", ">cores", ">curve s", ">here s", ">time of 128 over its time", ">curve efficiency",
                  ">here efficiency", ">here TFlop/s"], rows,
                 [f"efficiency from 128 cores on, with the factor log N; the text: {100 * fact['weak_efficiency']:.0f} % at "
                  f"65,536 cores, here {100 * last:.0f} %, which nothing was fitted to", CURVE_NOTE, MODEL_NOTE],
                 [Compared("efficiency from 128 to 65,536 cores", fact["weak_efficiency"], last, "modelled",
                           f"By the curve, 128 cores take {curve[first].time_s / mine[first].time_s:.2f} times as long as "
                           f"here, 65,536 cores {curve[WEAK[-1][1]].time_s / mine[WEAK[-1][1]].time_s:.2f} times.")])


COMPUTING = ("fft_rate_per_task", "memory_bandwidth_per_node")
CHANGES: tuple[tuple[str, Factors, str], ...] = (
    ("as modelled", (), "Every other row changes one figure of the machine."),
    ("computing 2.5 times as slow", tuple((name, 0.4) for name in COMPUTING),
     "The published share of 80 % needs this. No source has the rate of P3DFFT's FFTs and copies."),
    ("computing 4 times as slow", tuple((name, 0.25) for name in COMPUTING),
     "The published efficiency needs this, but the share then falls below the published one."),
    ("links 1.25 times as fast", (("byte_hops_per_node", 1.25),), "Beyond the error of the fit (`p3dfft:seastar`)."),
    ("ports of a node 4 times as slow", (("injection_per_node", 0.25),), "No cause: the links are slower than the ports."),
    ("memory between tasks of a node 4 times as slow", (("on_node_bandwidth", 0.25),),
     "No cause: rows take at most 3 % of the time."),
    ("messages 4 times as slow", (("message_cost_s", 4.0),), "No cause: they take at most 1.4 % of the time."),
)


def changes() -> Found:
    """Return weak efficiency and share of the exchanges if one figure of the machine changes."""
    fact, rows, compared = p3dfft_2012(), list[list[Any]](), list[Compared]()
    (n, first), (m, last) = ((int(fact[f"weak_{which}_extent"]), int(fact[f"weak_{which}_cores"]))
                             for which in ("first", "last"))
    for what, factors, verdict in CHANGES:
        small, large = (best_2d(extent, ranks, factors).total_s for extent, ranks in ((n, first), (m, last)))
        efficiency = log2(m) / log2(n) * small / large
        share = best_2d(EXTENT, last, factors).share
        rows.append([what, small, large, efficiency, share])
        compared.append(Compared(f"efficiency, {what}", fact["weak_efficiency"], efficiency, "modelled",
                                 f"Share of the exchanges {share:.2f}. {verdict}"))
    return Found(["figure", f">s of {n}^3 on {first}", f">s of {m}^3 on {last}", ">efficiency", ">share of exchanges"], rows,
                 [f"share: of {EXTENT}^3 on {last} cores; published: {fact['weak_efficiency']} and "
                  f"{fact['communication_share']}", MODEL_NOTE], compared)


XT4_TASKS, XT4_FFT_RATE = 4, 0.92e9  # a tenth of the peak of 2.3 GHz; memory of one of the two sockets of an XT5


def hector() -> Found:
    """Return complex transforms of 2DECOMP&FFT on a Cray XT4 beside the model with the rates of the network."""
    rows, factors = list[list[Any]](), (("fft_rate_per_task", XT4_FFT_RATE / FFT_RATE), ("memory_bandwidth_per_node", 0.5),
                                        ("on_node_bandwidth", 0.5))
    for line in own_table("hector_xt4.csv"):
        n, nodes, time_s = int(line["n"]), int(line["nodes"]), float(line["time_s"])
        where = on_torus(nodes, factors, fft=str(n), tasks_per_node=XT4_TASKS)
        ranks = nodes * XT4_TASKS
        mine = min(where.predictions(f"{r}x{ranks // r}", ["default"])[0].total_s or 0.0
                   for r in ROWS if ranks % r == 0 and max(r, ranks // r) <= n)
        rows.append([f"{n}^3", nodes, time_s, mine, time_s / mine])
    return Found(["size", ">nodes", ">published s", ">here s", ">published/here"], rows,
                 ["assumed: 4 cores of 2.3 GHz a node, half of the memory rates of an XT5, FFTs at a tenth of the peak, "
                  "tori, the best grid; the network is that of p3dfft:seastar"],
                 [Compared(f"s of {row[0]} on {row[1]} nodes of an XT4", row[2], row[3], "modelled",
                           "Nothing is fitted to these times.") for row in rows])


def decompositions() -> Found:
    """Return Fig. 10."""
    pairs = [(p, predicted(2048, p, str(p), "slab").total_s if p <= 2048 else None, best_2d(2048, p))
             for p in (256, 512, 1024, 2048, 4096)]
    rows = [[p, "-" if one is None else one, two.total_s, str(two.grid), "-" if one is None else two.total_s / one,
             operations(2048) / two.total_s / 1e12] for p, one, two in pairs]
    ratios = {p: two.total_s / one for p, one, two in pairs if one is not None}
    return Found([">cores", ">1D s", ">2D s", "2D grid", ">2D/1D", ">2D TFlop/s"], rows,
                 [*decomposition_verdict(ratios), MODEL_NOTE],
                 [Compared(f"time of 2D over 1D, {p} cores", 1.0 if p == 2048 else "above 1", ratios[p], "modelled",
                           "The text: 1D is better by less and less, and both are equal at P = N = 2048.")
                  for p in ratios])


def decomposition_verdict(ratios: dict[int, float]) -> list[str]:
    """Return the verdict of 1D against 2D in words, from 2D over 1D by cores, beside the statement of the text."""
    cores, values = sorted(ratios), [ratios[p] for p in sorted(ratios)]
    wins, shrinks = [p for p in cores if ratios[p] > 1], values == sorted(values, reverse=True)
    better = f"1D is faster up to {wins[-1]} cores" if wins == cores[:len(wins)] and wins else "1D is not always faster"
    change = (f"2D takes {100 * (values[0] - 1):.0f} % longer on {cores[0]} cores and {100 * (values[-1] - 1):.0f} % on "
              f"{cores[-1]}")
    agrees = "as published" if shrinks and wins == cores else "NOT as published"
    return [f"published: {PICTURE}; the text: 1D is better up to P = N = 2048, by less and less with P, and cannot run on "
            "4096",
            f"here: {better}; {change}: {agrees}"]


FLAT_NODES, FLAT_EXTENT, THIN = (32, 32, 16), 4096, (32, 64, 128, 256)  # 16 racks; columns are as long as the thin axis


def flat_meshes() -> Found:
    """Return the gain of placements on flat and cubic meshes, as in the study of Chan that the paper cites."""
    cases = [(tasks, f"{FLAT_EXTENT}x{FLAT_EXTENT}x{thin}", f"{prod(FLAT_NODES) * tasks // thin}x{thin}")
             for tasks in (1, 2) for thin in THIN]
    rows = [_flat(*case) for case in (*cases, (1, "1024", "128x128"), (2, "1024", "128x256"))]
    largest = max(row[-1] for row in rows[:-2])
    columns = [">tasks on a node", "transform", "grid", ">default ms", ">best ms", ">gain of exchanges %", ">gain %"]
    return Found(columns, rows,
                 [f"published (Chan et al. 2008, cited in sec. 4.2): up to {100 * p3dfft_2012()['flat_gain']:.0f} % by "
                  f"placement on flat meshes, none needed on cubic ones; here up to {largest:.0f} %",
                  "modelled: Blue Gene/L of 16 racks, 32x32x16, by its calibrated time model; best: the best product of "
                  "digit patterns; default: XYZT. Assumed: Chan's sizes and grids, of which the paper says only that one "
                  "extent is much smaller"],
                 [Compared("largest gain on a flat mesh, %", 100 * p3dfft_2012()["flat_gain"], largest, "modelled",
                           "Chan's sizes are not in the paper; 4096x4096 by 32 to 256 are assumed.")])


def _flat(tasks: int, size: str, text: str) -> list[float | str]:
    say(f"{size} with {tasks} on a node")
    where = setting(machine="bluegene-l", network="x".join(map(str, FLAT_NODES)), tasks_per_node=tasks, fft=size)
    grid = parse_grid(text, PENCIL)
    result = best_product_of(as_torus(where.network), grid, tasks, where.transform), where.place("default", grid)
    best, usual = ((p.total_s or 0.0, p.time_s or 0.0) for p in map(where.predict, result))
    placement = min(best, usual)
    return [tasks, size, text, 1e3 * usual[0], 1e3 * placement[0], 100 * (usual[1] / placement[1] - 1),
            100 * (usual[0] / placement[0] - 1)]


_GONE = "the machine is gone: whole transforms by the time model, with rates from other publications"
FIGURES = {
    "fig1": Figure("1D and 2D decomposition", f"{DRAWING}; at most N and N^2 tasks", "the boxes of the tasks",
                   both_decompositions, kind="exact"),
    "fig2": Figure("stages of the transform", f"{DRAWING}; 16 tasks", "the steps of the plan", partial(
        steps, "pencil", (4, 4), 16, {"steps with FFTs": 3, "all-to-alls": 2, "tasks of a group": 4}), kind="exact"),
    "table1": Figure("local extents of pencils", "formulas", "blocks of the decomposition beside the formulas", local_sizes,
                     kind="exact"),
    "fig3": Figure("time by the aspect ratio of the grid, 2048^3, 1024 cores", f"{PICTURE}; where it rises", _GONE, aspect),
    "fig4": Figure("strong scaling, 4096^3", f"{PICTURE}; 212 GB/s of its fit", f"{_GONE}; the fit", partial(strong_scaling,
                                                                                                             4096)),
    "fig5": Figure("the same on linear axes", "as fig4", "as fig4", partial(strong_scaling, 4096)),
    "fig6": Figure("strong scaling, 2048^3", PICTURE, _GONE, partial(strong_scaling, 2048)),
    "fig7": Figure("strong scaling, 1024^3", PICTURE, _GONE, partial(strong_scaling, 1024)),
    "fig8": Figure("strong scaling, 512^3", PICTURE, _GONE, partial(strong_scaling, 512)),
    "fig9": Figure("weak scaling", f"{PICTURE}; 45 %", _GONE, weak_scaling),
    "fig10": Figure("1D against 2D, 2048^3", f"{PICTURE}; the verdict", _GONE, decompositions),
    "changes": Figure("weak efficiency if a figure of the machine changes", "45 %, 80 %", _GONE, changes),
    "xt4": Figure("2DECOMP&FFT on a Cray XT4, 2^18 to 2^33 points", "all numbers, Benchmarks on HECToR", _GONE, hector),
    "seastar": Figure("rates of the network, from all-to-alls of Jaguar", "all numbers, Schulz (2008), sec. 5",
                      "one number fitted to them", seastar),
    "flat": Figure("placement on flat meshes (Chan et al. 2008)", "up to 48 %", "the time model of Blue Gene/L, 16 racks",
                   flat_meshes),
}
