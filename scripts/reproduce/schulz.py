"""Schulz (2008): tables of times and ratios of global transposes, and the same exchanges on this machine."""

import os
from collections import Counter
from functools import partial
from statistics import fmean, geometric_mean, median, pstdev
from typing import Any

from pencilmap.mapper.studies.transposes import by_exchange, ratios
from pencilmap.model.base.reading import own_table
from pencilmap.model.decompositions import BRICK, PENCIL
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import remaps
from pencilmap.scripts.networks.measured import (
    MPICH,
    OPEN_MPI,
    has_mpich,
    probe_here,
    transforms,
    transposes,
    transposes_in_turn,
)
from pencilmap.scripts.reproduce.cramer import ewald_split
from pencilmap.scripts.reproduce.figure import DRAWING, PICTURE, SAME, Compared, Figure, Found, steps, steps_of
from pencilmap.scripts.reproduce.p3dfft import MODEL_NOTE, Time, best_2d, predicted

GROUPS = (2, 4)  # of this machine; more ranks than processors would measure the scheduler
GRIDS = ("1x4", "2x2", "4x1")
SIZE = (64, 64, 64)
TRANSFORMS = 100  # as in the paper
PARTS = ("local transpose", "FFT", "first exchange", "second exchange")
OLD_GRIDS = {  # sec. 4, Helics2: mean and deviation of each part
    "2x64": ((0.30, 0.01), (0.66, 0.01), (122.93, 87.64), (3.24, 26.72)),
    "4x32": ((0.25, 0.01), (0.65, 0.01), (59.01, 42.27), (4.04, 25.74)),
    "8x16": ((0.25, 0.01), (0.65, 0.01), (92.38, 26.07), (8.94, 33.20)),
    "16x8": ((0.26, 0.01), (0.65, 0.01), (84.88, 33.86), (19.64, 58.73)),
}
OLD_BARRIER = {"16x8": ((0.25, 0.00), (0.65, 0.01), (4.18, 13.03), (75.93, 60.12))}  # the same with barriers
MESH, STEP_MS = 64, 0.1  # of molecular dynamics: points along an axis, and the milliseconds that a step may take (sec. 1)
TRIP_BYTES = (0, *(1 << k for k in range(0, 23, 2)))


_MEMORY = "Both processes share the memory of a node here; the paper's had a network between them."


def step_of_dynamics() -> Found:
    """Return both transforms of a time step on a Cray XT5, beside the time that the text allows for the whole step."""
    cores = (4, 8, 16, 32, 64, 256, 1024)
    result: list[tuple[int, str, Time]] = [(p, "1D", predicted(MESH, p, str(p), "slab")) for p in cores if p <= MESH]
    result += [(p, "2D", best_2d(MESH, p)) for p in cores if p >= 16]
    rows: list[list[Any]] = [[of, p, str(time.grid), 1e3 * time.total_s, time.share] for p, of, time in result]
    best = {of: min(row[3] for row in rows if row[0] == of) for of in ("1D", "2D")}
    return Found(["decomposition", ">cores", "grid", ">ms of both transforms", ">share of exchanges"], rows,
                 [f"{MESH}^3 real points, the usual mesh of the benchmark DHFR (the text names none)", MODEL_NOTE],
                 [Compared(f"ms of both transforms, {of}, at best; published: of a whole step at most", STEP_MS, time_ms,
                           "modelled, assumed", "The picture compares whole programs. The text asks for a step of a tenth "
                           "of a millisecond; the FFTs alone take longer on a Cray of that time.")
                  for of, time_ms in best.items()])


def published(name: str) -> dict[tuple[int, int], float]:
    """Return {(bytes, processes): value} of a table."""
    return {(int(row["bytes"]), int(column.split()[0])): float(value) for row in own_table("schulz_2008.csv")
            if row["table"] == name for column, value in row.items() if column.endswith(" processes") and value}


def _sizes(times_: dict[tuple[int, int], float]) -> list[int]:
    return sorted({size for size, _ in times_})


def times(name: str) -> Found:
    """Return published and own microseconds of MPI_Alltoall."""
    old = published(name)
    measured = {(c.message_bytes, c.group): c for c in transposes(max(GROUPS), GROUPS, _sizes(old), ["mpi_alltoall"])}
    columns = [">bytes", *(f">{p} published us" for p in (2, 4, 16, 64)), *(f">{p} here us" for p in GROUPS)]
    rows = [[size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)), *(1e6 * measured[size, p].mean_s for p in GROUPS)]
            for size in _sizes(old)]
    return Found(columns, rows, ["here: mean over the ranks, inside one node; columns are processes"],
                 [Compared(f"MPI_Alltoall, {p} processes, {size} bytes, us", old[size, p], 1e6 * measured[size, p].mean_s,
                           "measured", _MEMORY) for p in GROUPS for size in (4, 4096, 65536) if (size, p) in old])


def against(name: str, exchange: str, reference: str) -> Found:
    """Return the ratio of two exchanges: published as larger over smaller, here exchange over reference."""
    old = published(name)
    sizes = [size for size in _sizes(old) if exchange != "fftw" or size % 4 == 0 < size]
    measured = by_exchange(transposes(max(GROUPS), GROUPS, sizes, [exchange, reference]))
    ratios_ = ratios(measured[exchange], measured[reference])
    judged = [size for size in (64, 4096) if size in ratios_ and size in _sizes(old)] or sizes[:1]
    columns = [">bytes", *(f">{p} published" for p in (2, 4, 16, 64)), *(f">{p} here" for p in GROUPS)]
    rows = [[size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)), *(ratios_.get(size, {}).get(p, "-") for p in GROUPS)]
            for size in _sizes(old)]
    return Found(columns, rows,
                 [f"here: {exchange} over {reference} on this machine; published: the larger over the smaller"],
                 [Compared(f"{exchange} and {reference}, larger over smaller, {p} processes, {size} bytes", old[size, p],
                           max(ratios_[size][p], 1 / ratios_[size][p]), "measured", _MEMORY)
                  for p in GROUPS for size in judged if (size, p) in old])


def networks() -> Found:
    """Return MPI_Alltoall on SeaStar over MPI_Alltoall on Myrinet: the ratios, from the two tables of times."""
    old, jaguar, helics = published("networks"), published("alltoall-jaguar"), published("alltoall-helics")
    rows: list[list[Any]] = []
    for size in _sizes(old):
        mine = {p: jaguar[size, p] / helics[size, p] for p in (2, 4, 16, 64) if (size, p) in helics}
        rows.append([size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)),
                     *(max(mine[p], 1 / mine[p]) if p in mine else "-" for p in (2, 4, 16, 64))])
    return Found([">bytes", *(f">{p} published" for p in (2, 4, 16, 64)), *(f">{p} again" for p in (2, 4, 16, 64))], rows,
                 ["again: from the paper's own times on both machines, larger over smaller"],
                 [Compared("largest distance of a printed ratio from the ratio of the times", 0.05, max(
                     abs(row[1 + k] - row[5 + k]) for row in rows for k in range(4) if "-" not in (row[1 + k], row[5 + k])),
                     "exact", "The paper rounds to a tenth.")])


def two_networks(name: str) -> Found:
    """Return the published ratios of two networks under FFTW, and the same ratios from four other tables of the paper."""
    old = published(name)
    (time, gain), (other, other_gain) = ((published(f"alltoall-{machine}"), published(f"fftw-alltoall-{machine}"))
                                         for machine in ("jaguar", "helics"))
    over = {key: time[key] / gain[key] / (other[key] / other_gain[key]) for key in old
            if all(key in table for table in (time, gain, other, other_gain))}
    again = {key: max(ratio, 1 / ratio) for key, ratio in over.items()}
    apart = [max(again[key] / old[key], old[key] / again[key]) for key in again]
    processes = (2, 4, 8, 16, 32, 64)
    return Found([">bytes", *(f">{p} published" for p in processes), *(f">{p} again" for p in processes)],
                 [[size, *(old.get((size, p), "-") for p in processes), *(again.get((size, p), "-") for p in processes)]
                  for size in _sizes(old)],
                 ["again: the time of MPI_Alltoall on both networks, each over FFTW's gain there, the larger over the "
                  "smaller, where all four are in the text, if FFTW is the faster one on both; to compare two networks of "
                  "your own, run transpose_bench on each, and give both results to pencilmap study transposes"],
                 [Compared(f"both networks under FFTW, larger over smaller, mean of {len(again)} pairs", geometric_mean(
                     old[key] for key in again), geometric_mean(again.values()), "exact", "From four other tables. "
                     "FFTW is taken as the faster one everywhere; the colours that say so are not in the text."),
                  Compared("largest factor between a printed ratio and that from the other tables", 1.0, max(apart), "exact",
                           "512 bytes, 64 processes: 1.39 and 1.7, but 1.68 if FFTW is the slower one on SeaStar there.")])


def two_mpis(name: str, collective: str) -> Found:
    """Return the ratio of a collective under two MPIs: published as larger over smaller, here Open MPI over MPICH."""
    old = published(name)
    groups = [p for p in GROUPS if p <= len(os.sched_getaffinity(0))] or [min(GROUPS)]  # waiting ranks of MPICH do not yield
    measured = transposes_in_turn(max(groups), groups, _sizes(old), [collective], (OPEN_MPI, MPICH))
    times = {mpi: {(c.message_bytes, c.group): c.mean_s for c in cases} for mpi, cases in measured.items()}
    columns = [">bytes", *(f">{p} published" for p in (2, 4, 16, 64)), *(
        f">{p} {text}" for p in groups for text in ("Open MPI us", "MPICH us", "ratio"))]
    rows = [[size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)), *(
        value for p in groups for ours, theirs in [[times[mpi][size, p] for mpi in (OPEN_MPI, MPICH)]]
        for value in (1e6 * ours, 1e6 * theirs, ours / theirs))] for size in _sizes(old)]
    versions = ", ".join(cases[0].mpi for cases in measured.values())
    ratio = median(times[OPEN_MPI][size, 2] / times[MPICH][size, 2] for size in _sizes(old))
    return Found(columns, rows, [f"here: {versions}, in turn, mean over the ranks, median of three rounds; ratio: Open MPI "
                                 "over MPICH; published: the larger over the smaller, for nearly all sizes Open MPI"],
                 [Compared("Open MPI over MPICH, 2 processes, median over the sizes",
                           median(old[size, 2] for size in _sizes(old) if (size, 2) in old), ratio, "measured",
                           "The paper compares 2008's versions over a network; here both copy through shared memory.")])


def layouts(name: str) -> Found:
    """Return FFTW's transpose in both layouts against MPI_Alltoall: the linear one of messages and a matrix of doubles."""
    old = published(name)
    sizes = [size for size in _sizes(published("alltoall-jaguar")) if size and size % 8 == 0]
    times = {(c.exchange, c.message_bytes, c.group): c.mean_s
             for c in transposes_in_turn(max(GROUPS), GROUPS, sizes, ["mpi_alltoall", "fftw_linear", "fftw_matrix"],
                                         (OPEN_MPI,))[OPEN_MPI]}
    columns = [">bytes", *(f">{p} published linear" for p in GROUPS), *(
        f">{p} here {layout}" for p in GROUPS for layout in ("linear", "matrix"))]
    rows = [[size, *(old.get((size, p), "-") for p in GROUPS), *(
        times["mpi_alltoall", size, p] / times[f"fftw_{layout}", size, p]
        for p in GROUPS for layout in ("linear", "matrix"))] for size in sizes]
    apart = {size: times["fftw_matrix", size, 2] / times["fftw_linear", size, 2] for size in sizes}
    return Found(columns, rows, [
        "MPI_Alltoall over FFTW's transpose, above 1 if FFTW is faster; published: the larger over the smaller, both "
        "layouts alike; linear: a matrix of whole messages; matrix: doubles, which FFTW sorts on both sides"],
        [Compared(f"matrix over linear layout, 2 processes, {size} bytes", 1.0, apart[size], "measured",
                  "The paper found no difference; inside a node no network hides the sorting of the elements.")
         for size in (64, 4096, 65536)])


def parts_of(record: dict[str, Any]) -> list[tuple[float, float]]:
    """Return mean and deviation in ms of each of `PARTS` over all ranks and transforms of a record with --per-rank.

    A part of a rank and transform is the sum of its phases.
    """
    phases = record["phases"]
    sums = []
    for names in (("pack_", "unpack_"), ("fft_",), ("exchange_row",), ("exchange_column",)):
        mine = [phases[name]["ranks_s"] for name in phases if name.startswith(names)]
        sums.append([1e3 * sum(times) for ranks in zip(*mine) for times in zip(*ranks)])
    return [(fmean(times_), pstdev(times_)) for times_ in sums]


def grids() -> Found:
    """Return section 4: local transpose, FFT and both exchanges of all grids, mean and deviation."""
    measured = {_grid(r): parts_of(r) for r in transforms(4, SIZE, GRIDS, "--per-rank", reps=TRANSFORMS)}
    (_, first), (_, second) = measured["2x2"][2:]
    total = sum(mean for mean, _ in measured["2x2"])
    old_total = sum(mean for mean, _ in OLD_GRIDS["8x16"])
    columns, rows = _parts_table(OLD_GRIDS, measured)
    return Found(columns, rows, [_GRIDS_NOTE], [
        Compared("share of the exchanges in the time, grid 8x16 and here 2x2", sum(m for m, _ in OLD_GRIDS["8x16"][2:])
                 / old_total, sum(m for m, _ in measured["2x2"][2:]) / total, "measured",
                 "There 128 processes over Myrinet, here 4 in the memory of one node."),
        Compared("deviation over mean of the first exchange, 8x16 and 2x2", 26.07 / 92.38, first / measured["2x2"][2][0],
                 "measured", "Ranks wait for each other in the exchange; here they also wait for processors."),
        Compared("deviation over mean of the second exchange, 8x16 and 2x2", 33.20 / 8.94, second / measured["2x2"][3][0],
                 "measured", "Ranks also wait for processors here.")])


def barriers() -> Found:
    """Return section 4 with a barrier before each exchange: the imbalance of the parts before leaves the exchanges."""
    both = {text: {_grid(r): parts_of(r) for r in transforms(4, SIZE, ("2x2",), "--per-rank", *options, reps=TRANSFORMS)}
            for text, options in (("without", ()), ("with barriers", ("--sync", "barrier")))}
    old = {"16x8 without": OLD_GRIDS["16x8"], "16x8 with barriers": OLD_BARRIER["16x8"]}
    measured = {f"2x2 {text}": parts["2x2"] for text, parts in both.items()}
    change, old_change = (with_[2][0] / without[2][0] for without, with_ in (measured.values(), old.values()))
    columns, rows = _parts_table(old, measured)
    return Found(columns, rows, [_GRIDS_NOTE], [
        Compared("first exchange with barriers over without", old_change, change, "measured",
                 "A barrier takes the wait for late ranks out of the exchange; 4 ranks of a node wait less.")])


def _grid(record: Any) -> Any:
    return "x".join(map(str, record["grid"]))


def _parts_table(old: dict[str, Any], measured: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    columns = ["grid", "of", *(f">{part} {what}" for part in PARTS for what in ("mean", "+-"))]
    return columns, [[grid, of, *(value for part in parts for value in part)]
                     for of, table_ in (("published", old), ("here", measured)) for grid, parts in table_.items()]


_GRIDS_NOTE = (f"milliseconds, mean and deviation over the ranks and {TRANSFORMS} transforms; published: Helics2, 128 "
               "processes (the text names neither unit nor extents); here: 64^3 on 4 processes of this machine, local "
               "transpose: packing and unpacking")


def latency() -> Found:
    """Return Fig. 6: the time of a message between two processes by its size, by network_probe, under each MPI here."""
    mpis = (OPEN_MPI, MPICH) if has_mpich() else (OPEN_MPI,)
    measured = {mpi: {trip.size: 1e6 * trip.seconds for trip in probe_here(TRIP_BYTES, 2, mpi).trips} for mpi in mpis}
    old = {name: published(f"alltoall-{name}") for name in ("jaguar", "helics")}
    rows = [[size, *(old[name].get((size, 2), "-") for name in old), *(measured[mpi][size] for mpi in mpis)]
            for size in TRIP_BYTES]
    columns = [">bytes", ">SeaStar us, alltoall of 2", ">Myrinet us, alltoall of 2", *(f">here us, {mpi}" for mpi in mpis)]
    return Found(columns, rows, [f"published: {PICTURE}; in its place MPI_Alltoall of 2 processes, one message each way"
                        "; here: half of a round trip between two ranks of this machine by network_probe"],
                 [Compared("SeaStar (alltoall of 2) against here, 4 bytes, us", old["jaguar"][4, 2], measured[OPEN_MPI][4],
                           "measured", "A network card of 2006 against the shared memory of a node."),
                  Compared("Myrinet (alltoall of 2) against here, 4 bytes, us", old["helics"][4, 2], measured[OPEN_MPI][4],
                           "measured", "The same; SeaStar's latency is the higher one, as the text says.")])


def blocks(n: int = 8) -> Found:
    """Return the exchanges of input and output in blocks: one more on each side that is not in pencils."""
    grid = ProcessGrid(2, 4, decomposition=BRICK)
    ends = [Counter(pair[0] for pair in remap.members.tolist()) for remap in remaps(grid, Transform(n, n, n))]
    turns = [row[1:4] for row in steps_of(ProcessGrid(2, 4, decomposition=PENCIL), n) if "all-to-all" in str(row[1])]
    rows = [["from blocks to pencils", max(ends[0].values())], *([work, tasks - 1] for work, _, tasks in turns),
            ["from pencils to blocks", max(ends[1].values())]]
    return Found(["exchange", ">messages of a task"], rows,
                 [f"{n}^3 points in 2x2x2 blocks on 8 tasks, grid 2x4 in between; fft_runner --decomposition brick runs it"],
                 [Compared("exchanges with input in blocks", 3, len(turns) + 1, "exact", SAME),
                  Compared("exchanges with input and output in blocks", 4, len(rows), "exact", SAME)])


_STEPS = "the steps of the plan, and the most tasks"
_TEXT = "all numbers that have not run together in the text"
_HERE = "the machines are gone: the same exchange on 2 and 4 processes of this machine"
_TWO = "computed again from four other tables"
_MPIS = "the machines are gone: the same collective under Open MPI and MPICH of this machine, in turn"


def _ratio(name: str, exchange: str, reference: str) -> Figure:
    return Figure(f"ratios of {name.replace('-', ' ')}", _TEXT, _HERE, partial(against, name, exchange, reference), True)


FIGURES = {
    "fig1": Figure("programs for molecular dynamics", "a picture of other programs; the text: 0.1 ms for a step",
                   "the FFTs of a step by the time model; docs/particle-mesh-ewald.md measures a whole step",
                   step_of_dynamics, kind="modelled, assumed"),
    "fig2": Figure("counter charges", f"{DRAWING}; the sum is the potential", "the potentials of charges with and of "
                   "counter charges", ewald_split, kind="exact"),
    "fig3": Figure("1D decomposition", f"{DRAWING}; three steps", _STEPS, partial(
        steps, "slab", (4,), 8, {"steps": 3, "all-to-alls": 1, "most tasks for 8^3": 8}), kind="exact"),
    "fig4": Figure("2D decomposition", f"{DRAWING}; five steps", _STEPS, partial(
        steps, "pencil", (4, 4), 16, {"steps": 5, "all-to-alls": 2, "most tasks for 16^3": 256}), kind="exact"),
    "fig5": Figure("2D decomposition of blocks", f"{DRAWING}; an exchange more on each side", "the exchanges of bricks",
                   blocks, kind="exact"),
    "fig6": Figure("latency from point to point", f"{PICTURE}; MPI_Alltoall of 2 processes in its place",
                   "round trips between two processes of this machine by network_probe", latency, True),
    "grids": Figure("local transpose, FFT and exchanges of all grids", "all numbers", "4 processes of this machine", grids,
                    True),
    "barrier": Figure("the same with a barrier before each exchange", "all numbers", "4 processes of this machine", barriers,
                      True),
    "alltoall-jaguar": Figure("MPI_Alltoall, Cray SeaStar", "all numbers", _HERE, partial(times, "alltoall-jaguar"), True),
    "alltoallv-jaguar": _ratio("alltoallv-jaguar", "mpi_alltoallv", "mpi_alltoall"),
    "openmpi-alltoall-jaguar": Figure("Open MPI against MPICH, MPI_Alltoall", _TEXT, _MPIS,
        partial(two_mpis, "openmpi-alltoall-jaguar", "mpi_alltoall"), True),
    "openmpi-alltoallv-jaguar": Figure("Open MPI against MPICH, MPI_Alltoallv", _TEXT, _MPIS,
        partial(two_mpis, "openmpi-alltoallv-jaguar", "mpi_alltoallv"), True),
    "fftw-alltoall-jaguar": _ratio("fftw-alltoall-jaguar", "fftw", "mpi_alltoall"),
    "fftw-alltoallv-jaguar": _ratio("fftw-alltoallv-jaguar", "fftw", "mpi_alltoallv"),
    "fftw-layouts": Figure("FFTW's transpose as messages and as a matrix", "in words: no difference; ratios of one layout",
                           _HERE, partial(layouts, "fftw-alltoall-jaguar"), True),
    "alltoall-helics": Figure("MPI_Alltoall, Myrinet", _TEXT, _HERE, partial(times, "alltoall-helics"), True),
    "alltoallv-helics": _ratio("alltoallv-helics", "mpi_alltoallv", "mpi_alltoall"),
    "openmpi-alltoall-helics": Figure("Open MPI against MPICH, Myrinet", _TEXT, _MPIS,
        partial(two_mpis, "openmpi-alltoall-helics", "mpi_alltoall"), True),
    "fftw-alltoall-helics": _ratio("fftw-alltoall-helics", "fftw", "mpi_alltoall"),
    "fftw-alltoallv-helics": Figure("ratios of fftw alltoallv helics", "one row; the others have run together in the text",
                                    _HERE,
                                    partial(against, "fftw-alltoallv-helics", "fftw", "mpi_alltoallv"), True),
    "networks": Figure("SeaStar against Myrinet, MPI_Alltoall", _TEXT, "computed again from the two tables of times",
                       networks, kind="exact"),
    "fftw-networks": Figure("SeaStar against Myrinet, FFTW", _TEXT, _TWO, partial(two_networks, "fftw-networks"),
                            kind="exact"),
}
