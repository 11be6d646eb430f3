"""A published table or figure: its known numbers, their substitute here, and the differences; and computed drawings.

A drawing has no numbers, but it shows a number of steps, of exchanges, of groups, or the nodes of a row. These follow from
the decompositions and the placements of the library. `Compared.published` is the number in the drawing or in its text.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log, prod
from typing import Any

import numpy as np

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.base.arrays import Ints
from pencilmap.model.decompositions import AXES, BRICK, DECOMPOSITIONS, PENCIL, SLAB, Decomposition, ExchangeStage
from pencilmap.model.lines.line_plan import line_stages
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, Transform, parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.traffic.exchange import remaps

PICTURE = "a picture: its points are not available in text"
DRAWING = "a drawing without numbers"
SAME = "The same."  # the difference of two equal values
LONG_S = 120.0  # a figure that takes longer says so in the list

#: how a value here was made
KINDS = {
    "exact": "follows from definitions, without a figure of a machine",
    "measured": "by runs on this machine, under mpirun",
    "simulated": "by runs on a simulated network, under SimGrid",
    "modelled": "by the time model, with the figures of a machine file",
    "assumed": "a figure that no source gives",
}


@dataclass(frozen=True)
class Compared:
    """A published value beside ours, for the pages in docs/results/publications.

    Parameters
    ----------
    of : str
        The quantity, with its unit.
    published, here : float or str
        Both values; a text if there is no number.
    kind : str
        How ours was made, words of `KINDS`.
    difference : str
        A sentence on the difference.
    """

    of: str
    published: float | str
    here: float | str
    kind: str
    difference: str

    @property
    def ratio(self) -> float | None:
        """Ours over the published value; None without two numbers."""
        if isinstance(self.published, str) or isinstance(self.here, str) or not self.published:
            return None
        return self.here / self.published

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"of": self.of, "published": self.published, "here": self.here, "ratio": self.ratio, "kind": self.kind,
                "difference": self.difference}


@dataclass(frozen=True)
class Found:
    """Computed and published values; columns that start with ``>`` are numbers, with SI units in the names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    compared: Sequence[Compared] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values: each row is an object of its columns."""
        names = [name.lstrip(">") for name in self.columns]
        return {"rows": [dict(zip(names, row)) for row in self.rows], "notes": list(self.notes),
                "compared": [each.as_dict() for each in self.compared]}


@dataclass(frozen=True)
class Figure:
    """A published table or figure in the table of a source.

    Parameters
    ----------
    title : str
        The title of the table or figure.
    published : str
        The available numbers, and their place.
    here : str
        The computed or measured substitute, and its differences.
    compute : callable
        Makes the substitute.
    measures : bool
        Whether `compute` runs programs under mpirun on this machine.
    simulates : bool
        Whether `compute` runs programs on a simulated network, which needs SimGrid.
    kind : str
        How the values were made, words of `KINDS`; by default from the two flags.
    takes_s : float, optional
        Seconds on two free processors, if more than `LONG_S`.
    """

    title: str
    published: str
    here: str
    compute: Callable[[], Found] = field(repr=False)
    measures: bool = False
    simulates: bool = False
    kind: str = ""
    takes_s: float | None = None

    def __post_init__(self) -> None:
        by_default = "measured" if self.measures else "modelled, simulated" if self.simulates else "modelled"
        object.__setattr__(self, "kind", self.kind or by_default)

    @property
    def takes(self) -> str:
        """How long the figure takes on two free processors, in words."""
        return f"under {LONG_S / 60:.0f} min" if self.takes_s is None else f"{self.takes_s / 60:.0f} min"


EXACT = "exact"


# ---- the steps and the limits of a transform -----------------------------------------------------------------------------


def steps_of(grid: ProcessGrid, n: int) -> list[list[Any]]:
    """Return a row for each step of a transform of n^3: its work, groups, tasks of a group, and a task's box before it.

    >>> steps_of(ProcessGrid(4, decomposition=SLAB), 8)[1]
    [2, 'all-to-all, y divided, x gathered', 1, 4, '2x8x8']
    """
    rows: list[list[Any]] = []
    for number, (stage, division) in enumerate(grid.decomposition.layouts, 1):
        box = "x".join(str(n // prod(grid.extent(letter) for letter in division[axis])) for axis in AXES)
        if isinstance(stage, ExchangeStage):
            tasks = prod(grid.extent(letter) for letter in stage.letters)
            rows.append([number, f"all-to-all, {stage.divided} divided, {stage.gathered} gathered", grid.n_tasks // tasks,
                         tasks, box])
        else:
            rows.append([number, f"FFTs along {' and '.join(stage.axes)}", grid.n_tasks, 1, box])
    return rows


def most_tasks(decomposition: Decomposition, n: int) -> int:
    """Return the most tasks that get a part of n^3 in every step: n along each dimension of the grid.

    >>> most_tasks(SLAB, 64), most_tasks(PENCIL, 64)
    (64, 4096)
    """
    return prod(n for letter in decomposition.letters if any(letter in decomposition.divided_by(axis) for axis in AXES))


def steps(name: str, grid: tuple[int, ...], n: int, published: dict[str, int], note: str = "") -> Found:
    """Return the steps of a decomposition, beside the numbers of steps, all-to-alls and groups in the drawing.

    Parameters
    ----------
    name
        Name of the decomposition.
    grid
        Its process grid.
    published
        The words below, and the numbers of the drawing.
    """
    rows = steps_of(ProcessGrid(*grid, decomposition=DECOMPOSITIONS[name]), n)
    exchanges = [row for row in rows if "all-to-all" in str(row[1])]
    here = {"steps": len(rows), "all-to-alls": len(exchanges), "steps with FFTs": len(rows) - len(exchanges),
            "groups of the first all-to-all": exchanges[0][2], "groups of the last all-to-all": exchanges[-1][2],
            "tasks of a group": exchanges[0][3], f"most tasks for {n}^3": most_tasks(DECOMPOSITIONS[name], n)}
    shape = "x".join(map(str, grid))
    compared = [Compared(of, old, here[of], EXACT, SAME) for of, old in published.items()]
    notes = [f"{n}^3 points, {name} on {shape} tasks; box: the part of a task before the step; fft_runner --grid {shape} "
             f"--decomposition {name} --print-plan prints the steps of any plan"]
    return Found([">step", "work", ">groups", ">tasks of a group", "box"], rows, [*notes, *([note] if note else [])],
                 compared)


def both_decompositions(n: int = 8, tasks: int = 4) -> Found:
    """Return slabs and pencils of four tasks: their boxes, points, all-to-alls, and the most tasks."""
    rows: list[list[Any]] = []
    for grid in (ProcessGrid(tasks, decomposition=SLAB), ProcessGrid(2, tasks // 2)):
        found = steps_of(grid, n)
        box = str(found[0][-1])
        rows.append([grid.decomposition.name, str(grid), box, prod(map(int, box.split("x"))),
                     sum("all-to-all" in str(row[1]) for row in found), most_tasks(grid.decomposition, n)])
    return Found(["decomposition", "grid", "box of a task", ">points of a task", ">all-to-alls", ">most tasks"], rows,
                 [f"{n}^3 points on {tasks} tasks"],
                 [Compared("points of a task, 2D over 1D", 1.0, rows[1][3] / rows[0][3], EXACT, SAME),
                  Compared(f"most tasks of 1D, N = {n}: N", n, rows[0][5], EXACT, SAME),
                  Compared(f"most tasks of 2D, N = {n}: N^2", n * n, rows[1][5], EXACT, SAME)])


def blocks(n: int = 8) -> Found:
    """Return the exchanges of input and output in blocks: one more on each side that is not in pencils."""
    grid = ProcessGrid(2, 4, decomposition=BRICK)
    ends = [Counter(pair[0] for pair in each.members.tolist()) for each in remaps(grid, Transform(n, n, n))]
    turns = [row[1:4] for row in steps_of(ProcessGrid(2, 4, decomposition=PENCIL), n) if "all-to-all" in str(row[1])]
    rows = [["from blocks to pencils", max(ends[0].values())], *([work, tasks - 1] for work, _, tasks in turns),
            ["from pencils to blocks", max(ends[1].values())]]
    return Found(["exchange", ">messages of a task"], rows,
                 [f"{n}^3 points in 2x2x2 blocks on 8 tasks, grid 2x4 in between; fft_runner --decomposition brick runs it"],
                 [Compared("exchanges with input in blocks", 3, len(turns) + 1, EXACT, SAME),
                  Compared("exchanges with input and output in blocks", 4, len(rows), EXACT, SAME)])


# ---- images of rows ------------------------------------------------------------------------------------------------------

#: images along x on a side of 8: text, grid, placement, and f, the number of parts of the side (1: a full direction)
FULL = (("a line along x", "8x64", "digits:x=r8,y=c8,z=c8", 1),
        ("two tasks, 4 nodes apart", "2x256", "digits:x=c4r2,y=c8,z=c8", 1))
PARTS = (("half a line", "4x128", "digits:x=r4c2,y=c8,z=c8", 2),
         ("two tasks, 2 nodes apart", "2x256", "digits:x=c2r2c2,y=c8,z=c8", 2),
         ("two neighbours", "2x256", "digits:x=r2c4,y=c8,z=c8", 4))


_WRAPS = {2: "torus", 1: "open mesh"}


def symmetric_images(images: tuple[tuple[str, str, str, int], ...]) -> Found:
    """Return the effective length of images by the formula of the paper, and by the traffic across cuts and on links."""
    rows, compared = [], []
    for network, g in (("8x8x8", 2), ("8x8x8:mesh", 1)):
        for text, grid, placement, parts in images:
            stage = predict(place(placement, Site(parse_torus(network), 1), parse_grid(grid, PENCIL))).stage("row")
            formula = 8 / g if parts == 1 else 8 / parts
            busiest = float(max(stage.load))
            rows.append([text, network, formula, float(stage.m[0]), busiest])
            compared.append(Compared(f"effective length m, {text}, {_WRAPS[g]}", formula, busiest, EXACT, SAME))
    told = "n / g, g = 2 on a torus and 1 on a mesh (eq. 7)" if images is FULL else "n / f, torus and mesh alike (eq. 12)"
    return Found(["image of a row", "network", ">m by the paper", ">m by cuts", ">m of the busiest link"], rows,
                 [f"paper: {told}; the busiest link is as long as the bound says, so the bound is reached",
                  "pencilmap draw --network 8x8x8 --grid GRID --placement PLACEMENT draws an image: "
                  + "; ".join(f"{text}: {grid} {placement}" for text, grid, placement, _ in images)], compared)


@dataclass(frozen=True)
class Image:
    """The images of all rows of a mapping.

    Parameters
    ----------
    nodes : int
        Nodes of a row.
    sides : str
        Extents of the box around it.
    rows : int
        Rows on the same nodes.
    places : int
        Different places of the image in the partition.
    hops : int
        The longest way inside it.
    """

    nodes: int
    sides: str
    rows: int
    places: int
    hops: int


def image_of(torus: Torus, tasks: int, grid: str, placement: str) -> Image:
    """Return the image of the rows of a placement, which is the same for all rows.

    >>> image_of(parse_torus("8x8x8"), 1, "8x64", "box:2x2x2")
    Image(nodes=8, sides='2x2x2', rows=1, places=64, hops=3)
    """
    shape = parse_grid(grid, PENCIL)
    mapping = as_mapping(place(placement, Site(torus, tasks), shape), placement)
    node = mapping.node_of_rank.reshape(-1, shape.shape[0])  # a line for each row of the grid
    images = Counter(tuple(sorted(set(row))) for row in node.tolist())
    corners = torus.coordinates(np.array(next(iter(images))))
    return Image(len(corners), "x".join(map(str, np.ptp(corners, axis=0) + 1)), max(images.values()), len(images),
                 int(_hops(corners, torus.shape)))


def _hops(corners: Ints, shape: tuple[int, ...]) -> int:
    apart = np.abs(corners[:, None] - corners[None])
    return int(np.minimum(apart, np.array(shape) - apart).sum(axis=2).max())


#: grid, mapping and placement of each image, tasks on a node, and the published places and rows on an image
CO = (("8x64", "8-cube", "box:2x2x2", 64, 1), ("8x64", "default", "default:zyxt", None, 1),
      ("64x8", "64-cube", "box:4x4x4", 8, 1), ("64x8", "default", "default:zyxt", None, 1))
VN_8 = (("16x64", "8-cube", "box:2x2x2", 64, 1), ("16x64", "default", "default:tzyx", None, 1),
        ("8x128", "8-cube", "box:2x2x2", 64, 2))
VN_64 = (("128x8", "64-cube", "box:4x4x4", 8, 1), ("128x8", "default", "default:tzyx", None, 1),
         ("64x16", "64-cube", "box:4x4x4", 8, 2))


def images(tasks: int, cases: tuple[tuple[str, str, str, int | None, int], ...]) -> Found:
    """Return the images of rows on the 512 chips, beside the numbers of their places and rows in the text."""
    torus, rows, compared = load_machine("bluegene-l").torus, [], []
    for grid, mapping, placement, places, shared in cases:
        found = image_of(torus, tasks, grid, placement)
        rows.append([grid, mapping, found.sides, found.nodes, found.rows, found.places, found.hops])
        if places:
            compared.append(Compared(f"places of the image, {mapping}, {grid}", places, found.places, EXACT, SAME))
            compared.append(Compared(f"rows on an image, {mapping}, {grid}", shared, found.rows, EXACT, SAME))
    told = f" --tasks-per-node {tasks}" if tasks > 1 else ""
    return Found(["grid", "mapping", "image", ">nodes", ">rows on it", ">places", ">most hops"], rows,
                 [f"512 chips as 8x8x8, {tasks} task{'s' * (tasks > 1)} on a chip; places: different images of all rows",
                  f"pencilmap draw --machine bluegene-l{told} --grid {cases[0][0]} --placement {cases[0][2]} draws one"],
                 compared)


# ---- butterflies ---------------------------------------------------------------------------------------------------------


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
                           counts[f"binary{radix}"], EXACT, SAME) for radix in (2, 4)])
