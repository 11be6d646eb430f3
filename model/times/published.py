"""Published measurements as data: source, machine, mapping, times."""

import csv
from dataclasses import dataclass
from importlib.resources import files

from pencilmap.model.placement.grid import ProcessGrid, Transform


@dataclass(frozen=True)
class Cell:
    """A measured time of the Blue Gene/L table.

    Parameters
    ----------
    tasks_per_node : int
        1 (CO mode) or 2 (VN mode).
    mapping : str
        "default", "cube8" or "cube64", the paper's words.
    phase : str
        The name of a stage, or "total" (which contains the FFTs).
    """

    tasks_per_node: int
    grid: ProcessGrid
    mapping: str
    phase: str
    transform: Transform
    time_s: float

    @property
    def mode(self) -> str:
        return {1: "CO", 2: "VN"}[self.tasks_per_node]

    @property
    def placement(self) -> str:
        """Our name for the mapping. The paper states no default order for VN mode; both slot orders give the same m."""
        return {"cube8": "box:2x2x2", "cube64": "box:4x4x4", "default": "default"}[self.mapping]


def bluegene_l_512() -> list[Cell]:
    """Return times of a forward 3D-FFT on 512 chips of Blue Gene/L, Appendix A of Jagode, Hein, Trew, UT-CS-08-613 (2008).

    >>> cells = bluegene_l_512()
    >>> max(cell.time_s for cell in cells if cell.phase == "row")
    0.277
    """
    return [_cell(line) for line in table("bluegene_l_512.csv") if line["time_ms"]]


def _cell(line: dict[str, str]) -> Cell:
    n = int(line["n"])
    return Cell({"CO": 1, "VN": 2}[line["mode"]], ProcessGrid(int(line["row_length"]), int(line["column_length"])),
                line["mapping"], line["phase"], Transform(n, n, n), float(line["time_ms"]) * 1e-3)


def p3dfft_2012() -> dict[str, float]:
    """Return the numbers in the text of Pekurovsky, SIAM J. Sci. Comput. 34 (2012), about its figures, by quantity; SI
    units.

    The points of the figures are not included, because the paper prints its figures as pictures.

    >>> p3dfft_2012()["effective_bisection"] / 1e9
    212.0
    """
    return {line["quantity"]: float(line["value"]) for line in table("p3dfft_2012.csv")}


def table(name: str) -> list[dict[str, str]]:
    """Return the lines of a data file of the package, by the names of its columns; comments in the file name the source."""
    text = (files("pencilmap.model.data") / name).read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@dataclass(frozen=True)
class MeasuredExchange:
    """A published time of an all-to-all.

    Parameters
    ----------
    machine, network, mpi, call : str
        Names of the machine, of its kind of network, of MPI, and of the call.
    port : float
        Bytes per second of a node's ports, by a public figure.
    nodes, tasks_per_node : int
        Full nodes in the order of ranks; only the last one may have fewer tasks.
    group, stride : int
        Ranks of a group, and the distance of their numbers; all groups exchange at once.
    message_bytes : int
        From a rank to each other rank of its group.
    """

    machine: str
    network: str
    port: float
    mpi: str
    call: str
    nodes: int
    tasks_per_node: int
    group: int
    stride: int
    message_bytes: int
    time_s: float


def measured_exchanges() -> list[MeasuredExchange]:
    """Return published all-to-alls of many machines; the comments of the data file name their sources.

    >>> len(measured_exchanges())
    1443
    """
    return [MeasuredExchange(line["machine"], line["network"], float(line["port_GBps"]) * 1e9, line["mpi"], line["call"],
                             int(line["nodes"]), int(line["tasks_per_node"]), int(line["group"]), int(line["stride"]),
                             int(size), float(time) * 1e-6)
            for line in table("measured_exchanges.csv")
            for size, time in (each.split(":") for each in line["times"].split())]


PUBLISHED = {  # machine of the package: its cells
    "bluegene-l": bluegene_l_512,
}
