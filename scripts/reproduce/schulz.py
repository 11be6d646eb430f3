"""Schulz (2008): tables of times and ratios of global transposes, and the same exchanges on this machine."""

from functools import partial
from statistics import median

from pencilmap.mapper.studies.transposes import by_exchange, ratios
from pencilmap.model.times.published import table
from pencilmap.scripts.networks.measured import transforms, transposes
from pencilmap.scripts.reproduce.figure import SKETCH, Figure, Found

GROUPS = (2, 4)  # of this machine; more ranks than processors would measure the scheduler
GRIDS = ("1x4", "2x2", "4x1")
OLD_GRIDS = (("2x64", 122.93, 87.64, 3.24, 26.72), ("4x32", 59.01, 42.27, 4.04, 25.74), ("8x16", 92.38, 26.07, 8.94, 33.20),
             ("16x8", 84.88, 33.86, 19.64, 58.73))  # sec. 4, Helics2: 1st and 2nd MPI call, mean and deviation


def published(name: str) -> dict[tuple[int, int], float]:
    """Return {(bytes, processes): value} of a table."""
    return {(int(row["bytes"]), int(column.split()[0])): float(value) for row in table("schulz_2008.csv")
            if row["table"] == name for column, value in row.items() if column.endswith(" processes") and value}


def _sizes(found):
    return sorted({size for size, _ in found})


def times(name: str) -> Found:
    """Return published and own microseconds of MPI_Alltoall."""
    old = published(name)
    here = {(c.message_bytes, c.group): c for c in transposes(max(GROUPS), GROUPS, _sizes(old), ["mpi_alltoall"])}
    columns = [">bytes", *(f">{p} published us" for p in (2, 4, 16, 64)), *(f">{p} here us" for p in GROUPS)]
    rows = [[size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)), *(1e6 * here[size, p].mean_s for p in GROUPS)]
            for size in _sizes(old)]
    return Found(columns, rows, ["here: mean over the ranks, inside one node; columns are processes"])


def against(name: str, exchange: str, reference: str) -> Found:
    """Return the ratio of two exchanges: published as larger over smaller, here exchange over reference."""
    old = published(name)
    sizes = [size for size in _sizes(old) if exchange != "fftw" or size % 4 == 0 < size]
    here = by_exchange(transposes(max(GROUPS), GROUPS, sizes, [exchange, reference]))
    found = ratios(here[exchange], here[reference])
    columns = [">bytes", *(f">{p} published" for p in (2, 4, 16, 64)), *(f">{p} here" for p in GROUPS)]
    rows = [[size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)), *(found.get(size, {}).get(p, "-") for p in GROUPS)]
            for size in _sizes(old)]
    return Found(columns, rows,
                 [f"here: {exchange} over {reference} on this machine; published: the larger over the smaller"])


def networks() -> Found:
    """Return MPI_Alltoall on SeaStar over MPI_Alltoall on Myrinet: the ratios, from the two tables of times."""
    old, jaguar, helics = published("networks"), published("alltoall-jaguar"), published("alltoall-helics")
    rows = []
    for size in _sizes(old):
        mine = {p: jaguar[size, p] / helics[size, p] for p in (2, 4, 16, 64) if (size, p) in helics}
        rows.append([size, *(old.get((size, p), "-") for p in (2, 4, 16, 64)),
                     *(max(mine[p], 1 / mine[p]) if p in mine else "-" for p in (2, 4, 16, 64))])
    return Found([">bytes", *(f">{p} published" for p in (2, 4, 16, 64)), *(f">{p} again" for p in (2, 4, 16, 64))], rows,
                 ["again: from the paper's own times on both machines, larger over smaller"])


def two_results(name: str) -> Found:
    """Return the published ratios of two MPIs or two networks, and the command to compare two here."""
    old = published(name)
    return Found([">bytes", *(f">{p} published" for p in (2, 4, 8, 16, 32, 64, 128))],
                 [[size, *(old.get((size, p), "-") for p in (2, 4, 8, 16, 32, 64, 128))] for size in _sizes(old)],
                 ["here: run transpose_bench under each, and give both results to pencilmap study transposes"])


def grids() -> Found:
    """Return section 4: the two exchanges of all grids, mean and standard deviation over the ranks."""
    rows = [[grid, "published ms", *values] for grid, *values in OLD_GRIDS]
    for record in transforms(4, (64, 64, 64), GRIDS):
        phases = [record["phases"][f"exchange_{name}"] for name in ("row", "column")]
        rows.append(["x".join(map(str, record["grid"])), "here ms",
                     *(1e3 * median(phase[key]) for phase in phases for key in ("mean_s", "deviation_s"))])
    return Found(["grid", "of", ">first mean", ">first deviation", ">second mean", ">second deviation"], rows,
                 ["published: Helics2, 128 processes, 100 transforms, milliseconds as it seems (the text names no unit); "
                  "here: 64^3 "
                  "on 4 processes of this machine"])


_TEXT = "all numbers that have not run together in the text"
_HERE = "the machines are gone: the same exchange on 2 and 4 processes of this machine"
_TWO = ("only the published numbers; to compare two MPIs or networks here, give two results of `transpose_bench` to "
        "`pencilmap study transposes`")


def _ratio(name, exchange, reference):
    return Figure(f"ratios of {name.replace('-', ' ')}", _TEXT, _HERE, partial(against, name, exchange, reference), True)


FIGURES = {
    "fig1": Figure("programs for molecular dynamics", "a picture, of other programs", "nothing: it shows no FFT"),
    "fig2": Figure("counter charges", SKETCH, "nothing"),
    "fig3": Figure("1D decomposition", SKETCH, "docs/theory.md"),
    "fig4": Figure("2D decomposition", SKETCH, "docs/theory.md"),
    "fig5": Figure("2D decomposition of blocks", SKETCH, "nothing"),
    "fig6": Figure("latency from point to point", "a picture: its points are not available in text",
                   "nothing: the tables of times "
                   "begin at 0 bytes"),
    "grids": Figure("exchanges of all grids, mean and deviation", "all numbers", "4 processes of this machine", grids, True),
    "alltoall-jaguar": Figure("MPI_Alltoall, Cray SeaStar", "all numbers", _HERE, partial(times, "alltoall-jaguar"), True),
    "alltoallv-jaguar": _ratio("alltoallv-jaguar", "mpi_alltoallv", "mpi_alltoall"),
    "openmpi-alltoall-jaguar": Figure("Open MPI against MPICH, MPI_Alltoall", _TEXT, _TWO,
                                      partial(two_results, "openmpi-alltoall-jaguar")),
    "openmpi-alltoallv-jaguar": Figure("Open MPI against MPICH, MPI_Alltoallv", _TEXT, _TWO,
                                       partial(two_results, "openmpi-alltoallv-jaguar")),
    "fftw-alltoall-jaguar": _ratio("fftw-alltoall-jaguar", "fftw", "mpi_alltoall"),
    "fftw-alltoallv-jaguar": _ratio("fftw-alltoallv-jaguar", "fftw", "mpi_alltoallv"),
    "alltoall-helics": Figure("MPI_Alltoall, Myrinet", _TEXT, _HERE, partial(times, "alltoall-helics"), True),
    "alltoallv-helics": _ratio("alltoallv-helics", "mpi_alltoallv", "mpi_alltoall"),
    "openmpi-alltoall-helics": Figure("Open MPI against MPICH, Myrinet", _TEXT, _TWO,
                                      partial(two_results, "openmpi-alltoall-helics")),
    "fftw-alltoall-helics": _ratio("fftw-alltoall-helics", "fftw", "mpi_alltoall"),
    "fftw-alltoallv-helics": Figure("ratios of fftw alltoallv helics", "one row; the others have run together in the text",
                                    _HERE,
                                    partial(against, "fftw-alltoallv-helics", "fftw", "mpi_alltoallv"), True),
    "networks": Figure("SeaStar against Myrinet, MPI_Alltoall", _TEXT, "computed again from the two tables of times",
                       networks),
    "fftw-networks": Figure("SeaStar against Myrinet, FFTW", _TEXT, _TWO, partial(two_results, "fftw-networks")),
}
