"""Jagode, Hein, Trew (2008): effective lengths, and the times of Blue Gene/L compared with the time model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import geometric_mean
from typing import Any

import numpy as np

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import compare_published, prediction_of_cell
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.reading import own_table
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.times.published import Cell, bluegene_l_512
from pencilmap.scripts.reproduce.figure import DRAWING, SAME, Compared, Figure, Found, steps

PLACEMENTS = {"cube8": "box:2x2x2", "cube64": "box:4x4x4", "default": "default:zyxt"}
MODES = {1: "CO", 2: "VN"}
REFERENCE = (1, "64x8", "default")  # of Fig. 7
CLOSE = 0.01  # times that differ by less count as equal
SIZES = (64, 128, 256, 512, 1024)
LIMIT_MB_S = 148  # of a link, sec. 5.2
UNEXPLAINED = 1.15  # of the columns beside 4x4x4 boxes in CO mode: faster here


def _cells() -> list[tuple[Cell, Any]]:  # a comparison with predictions
    return list(zip(bluegene_l_512(), compare_published()))


def lengths() -> Found:
    """Return Table 1: m of rows and columns, which must be reproduced exactly."""
    torus, rows = load_machine("bluegene-l").torus, []
    for line in own_table("jagode_table1.csv"):
        grid = parse_grid(line["grid"], PENCIL)
        stage = predict(place(PLACEMENTS[line["mapping"]], Site(torus, 1), grid)).stage(line["exchange"])
        computed = " ".join(f"{float(m):g}" for m in stage.m)
        rows.append([line["grid"], line["mapping"], line["exchange"], line["m"], computed, line["m"] == computed])
    return Found(["grid", "mapping", "exchange", "published", "computed", "equal"], rows,
                 ["m along x, y and z; the paper's default order fills z first: default:zyxt"],
                 [Compared("lines of three m that are equal", len(rows), sum(bool(row[-1]) for row in rows), "exact",
                           SAME)])


def times(stage: str) -> Found:
    """Return the times of an exchange, or of the whole transform."""
    fitted = _fitted()
    rows = [[cell.mode, str(cell.grid), cell.mapping, cell.transform.nx, 1e3 * cell.time_s, 1e3 * row.time_s,
             row.time_s / cell.time_s, cell in fitted] for cell, row in _cells() if cell.phase == stage]
    return Found(["mode", "grid", "mapping", ">n", ">published ms", ">predicted ms", ">predicted/published", "fitted"], rows,
                 ["mode: CO one task on a chip, VN two; every second time of the exchanges was fitted, and of totals minus "
                  "exchanges (docs/time-model.md)", *_small_errors(stage, rows)], list(_by_size(stage, rows)))


def _by_size(stage: str, rows: list[Any]) -> Iterator[Compared]:
    """Yield published and predicted milliseconds of each size, as geometric means over the mappings."""
    of = {"total": "the transform", "row": "rows", "column": "columns"}[stage]
    for n in SIZES:
        cells = [row for row in rows if row[3] == n]
        ratios, fitted = [row[6] for row in cells], sum(row[7] for row in cells)
        yield Compared(f"ms of {of}, {n}^3, mean of {len(cells)} mappings", geometric_mean([row[4] for row in cells]),
                       geometric_mean([row[5] for row in cells]), "modelled", f"{min(ratios):.2f} to {max(ratios):.2f} row "
                       f"by row; {fitted} of the {len(cells)} were fitted.")


def _fitted() -> set[Cell]:
    """Return the cells that the machine file was fitted to: every second exchange, every second total by its computing."""
    cells = bluegene_l_512()
    return {cell for cells_ in ([c for c in cells if c.phase != "total"], [c for c in cells if c.phase == "total"])
            for cell in cells_[::2]}


def _small_errors(stage: str, rows: Any) -> list[str]:
    """Return the largest errors at 64^3, of the fitted rows and of the others."""
    off = {which: max((abs(row[6] - 1) for row in rows if row[3] == 64 and row[7] is which), default=0.0)
           for which in (True, False)}
    return [f"64^3, {stage}: at most {100 * off[True]:.1f} % off where fitted, {100 * off[False]:.1f} % where not"]


def relative(mapping: str) -> Found:
    """Return Fig. 7: the time of the default mapping of 64x8 in CO mode over every other time, for the whole transform."""
    cells = [(c, r) for c, r in _cells() if c.phase == "total"]

    def key(cell: Cell) -> tuple[int, str, str]:
        return cell.tasks_per_node, str(cell.grid), cell.mapping

    reference = {c.transform.nx: (c.time_s, r.time_s) for c, r in cells if key(c) == REFERENCE}
    short = mapping == "cube8"
    rows = [[cell.mode, str(cell.grid), cell.mapping, cell.transform.nx, reference[cell.transform.nx][0] / cell.time_s,
             reference[cell.transform.nx][1] / row.time_s] for cell, row in cells
            if (cell.grid.shape[0] <= 16) is short or key(cell) == REFERENCE]
    return Found(["mode", "grid", "mapping", ">n", ">published", ">predicted"], rows,
                 ["relative performance: the time of 64x8 default, CO, over that of the line"], list(_gains(mapping, rows)))


def _gains(mapping: str, rows: list[list[Any]]) -> Iterator[Compared]:
    """Yield the speed-up of cubes over the default mapping of the same grid, which the text of sec. 7.2 judges."""
    published = {(mode, grid, of, n): values for mode, grid, of, n, *values in rows}
    for mode, grid in (("CO", "8x64"), ("VN", "16x64")) if mapping == "cube8" else (("CO", "64x8"), ("VN", "128x8")):
        for n in SIZES:
            cube, line = (published.get((mode, grid, of, n)) for of in (mapping, "default"))
            if cube and line:
                old, own = cube[0] / line[0], cube[1] / line[1]
                yield Compared(f"time of the default over {mapping}, {mode}, {grid}, {n}^3", old, own, "modelled",
                               "Cubes are faster in both." if min(old, own) > 1 else "Cubes are slower in both."
                               if max(old, own) < 1 else f"Cubes are {'faster' if own > 1 else 'slower'} here alone.")


def statements() -> Found:
    """Return statements of the text without a figure: on both exchanges, on the modes, and on the default mappings."""
    time_s: dict[Any, tuple[float, float]] = {}
    for cell, row in _cells():
        time_s[cell.tasks_per_node, str(cell.grid), cell.mapping, cell.transform.nx, cell.phase] = cell.time_s, row.time_s

    def ratio(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[float, float]:
        return one[0] / other[0], one[1] / other[1]

    def exchanged(*key: int | str) -> tuple[float, float]:
        row, column = time_s[(*key, "row")], time_s[(*key, "column")]
        return row[0] + column[0], row[1] + column[1]

    gains = {key[:4]: ratio(exchanged(*key[:2], "default", key[3]), exchanged(*key[:4])) for key in time_s
             if key[2] != "default" and (*key[:2], "default", *key[3:]) in time_s and key[4] == "row"}
    (tasks, grid, _, n), largest = max(gains.items(), key=lambda item: item[1][0])
    small = [tuple(min(times[k] for key, times in time_s.items() if (key[0], *key[3:]) == (tasks, SIZES[0], "total"))
                   for k in (0, 1)) for tasks in (1, 2)]
    defaults = ratio(*(time_s[1, text, "default", 128, "total"] for text in ("64x8", "8x64")))
    modes = ratio(small[1], small[0])
    rows: list[list[Any]] = [["exchanges of the default over those of a cube, the largest gain", 1.33, *largest],
            [f"least time in VN mode over CO mode, {SIZES[0]}^3", "above 1", *modes],
            ["default of 64x8 over that of 8x64, CO mode, 128^3", 1.06, *defaults]]
    differences = (f"{MODES[tasks]}, {grid}, {n}^3; the times of Appendix A give {largest[0]:.3g}.",
                   f"CO mode is faster at 64^3, as the text says; the times of Appendix A give {modes[0]:.3g}.",
                   f"The text leaves the difference unexplained; the times of Appendix A give {defaults[0]:.3g}.")
    return Found(["statement", ">text", ">Appendix A", ">predicted"], rows, ["sec. 7.2 and 8"],
                 [Compared(row[0], row[1], row[3], "modelled", said) for row, said in zip(rows, differences)])


def bandwidths(short: bool, stage: str) -> Found:
    """Return Fig. 8 and 9: eq. 16 solved for the bandwidth of a link; the hardware limit is 148 MB/s."""
    rows = [[cell.mode, str(cell.grid), cell.mapping, cell.transform.nx, row.link_bandwidth / 1e6,
             row.link_bandwidth * row.time_ratio / 1e6] for cell, row in _cells()
            if cell.phase == stage and (cell.grid.shape[0] <= 16) is short and row.link_bandwidth]
    largest = [row for row in rows if row[3] == SIZES[-1]]
    return Found(["mode", "grid", "mapping", ">n", ">published MB/s", ">predicted MB/s"], rows,
                 [f"published: from the times of Appendix A; the hardware limit of the paper is {LIMIT_MB_S} MB/s"],
                 [Compared(f"MB/s of a link, {mode}, {grid}, {mapping}, {n}^3", old, own, "modelled",
                           "These columns are unexplained (docs/time-model.md)." if own > UNEXPLAINED * old else
                           "The times of Appendix A in other units.") for mode, grid, mapping, n, old, own in largest])


def wraps() -> Found:
    """Return every mapping and size on the torus and on the open mesh of the same partition, as ``--wrap both``."""
    machine, rows = load_machine("bluegene-l"), list[list[Any]]()
    mesh = replace(machine.torus, wrap=(False,) * 3)
    for cell in (c for c in bluegene_l_512() if c.phase == "total"):
        both = [prediction_of_cell(cell, torus, machine.costs) for torus in (machine.torus, mesh)]
        exchanged, total = ([1e3 * (p.stage("row").time_s or 0.0) for p in both], [1e3 * (p.total_s or 0.0) for p in both])
        rows.append([cell.mode, str(cell.grid), cell.mapping, cell.transform.nx, *exchanged, *total, total[1] / total[0]])
    columns = ["mode", "grid", "mapping", ">n", ">torus rows ms", ">mesh rows ms", ">torus ms", ">mesh ms", ">mesh/torus"]
    slower, boxes = [row[-1] for row in rows], [row[5] / row[4] for row in rows if row[2] == "cube64"]
    return Found(columns, rows, wrap_verdict(rows), [
        Compared("mappings and sizes that are slower on the mesh", len(rows), sum(ratio > 1 for ratio in slower), "modelled",
                 f"By {100 * (min(slower) - 1):.0f} to {100 * (max(slower) - 1):.0f} %; the paper gives no numbers."),
        Compared("rows inside 64-cubes, mesh over torus", 1.0, geometric_mean(boxes), "modelled", SAME)])


def wrap_verdict(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the statements of the paper about torus and open mesh, and whether the rows agree."""
    slower = all(row[-1] > 1 for row in rows)
    boxes = [abs(row[5] / row[4] - 1) for row in rows if row[2] == "cube64"]
    least, most = (100 * (extreme(row[-1] for row in rows) - 1) for extreme in (min, max))
    return [f"published (sec. 7.1): the mesh is slower for every mapping and size; here by {least:.0f} to "
            f"{most:.0f} %: {'as published' if slower else 'NOT as published'}",
            f"published (sec. 7.4): exchanges inside the 64-cube take the same time; here rows on cube64 differ by at most "
            f"{100 * max(boxes):.0f} %: {'as published' if max(boxes) < CLOSE else 'NOT as published'}",
            "modelled: the calibrated time model; any other case: pencilmap predict --machine bluegene-l --wrap both"]


def _steps() -> Found:
    """Return Fig. 1 and the five steps of sec. 3.2, on a grid that is not square, so that rows and columns differ."""
    counted = steps("pencil", (4, 2), 16, {"steps": 5, "all-to-alls": 2, "groups of the first all-to-all": 2,
                                           "groups of the last all-to-all": 4},
                  "published: an all-to-all in each of P_r rows, then in each of P_c columns; here P_r = 2 rows of P_c = 4 "
                    "tasks")
    return replace(counted, compared=[*counted.compared, Compared(
        "box after the second all-to-all", "L x M/P_c x N/P_r", "L x M/P_r x N/P_c", "exact", "An all-to-all in columns of "
        "P_r tasks cannot give the printed box; both agree on a square grid, as in the drawing.")])


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
            compared.append(Compared(f"effective length m, {text}, {_WRAPS[g]}", formula, busiest, "exact", SAME))
    law = "n / g, g = 2 on a torus and 1 on a mesh (eq. 7)" if images is FULL else "n / f, torus and mesh alike (eq. 12)"
    return Found(["image of a row", "network", ">m by the paper", ">m by cuts", ">m of the busiest link"], rows,
                 [f"paper: {law}; the busiest link is as long as the bound says, so the bound is reached",
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
        image = image_of(torus, tasks, grid, placement)
        rows.append([grid, mapping, image.sides, image.nodes, image.rows, image.places, image.hops])
        if places:
            compared.append(Compared(f"places of the image, {mapping}, {grid}", places, image.places, "exact", SAME))
            compared.append(Compared(f"rows on an image, {mapping}, {grid}", shared, image.rows, "exact", SAME))
    option = f" --tasks-per-node {tasks}" if tasks > 1 else ""
    return Found(["grid", "mapping", "image", ">nodes", ">rows on it", ">places", ">most hops"], rows,
                 [f"512 chips as 8x8x8, {tasks} task{'s' * (tasks > 1)} on a chip; places: different images of all rows",
                  f"pencilmap draw --machine bluegene-l{option} --grid {cases[0][0]} --placement {cases[0][2]} draws one"],
                 compared)


_CUTS = "m by the traffic across cuts and on the busiest link"
_IMAGES = "the nodes of the rows, and their number of places"
_PLACES = f"{DRAWING}; the places in sec. 7.1"
_NUMBERS = "all numbers, Appendix A"
_MACHINE = "the machine is gone: its times by the time model, fitted to every second time of the exchanges"
FIGURES = {
    "fig1": Figure("steps of a transform with 2D decomposition", DRAWING, "the steps of the plan", _steps, kind="exact"),
    "fig2": Figure("rows with a translation symmetry", f"{DRAWING}; eq. 7", _CUTS, partial(symmetric_images, FULL),
                   kind="exact"),
    "fig3": Figure("rows on a fraction of a direction", f"{DRAWING}; eq. 12", _CUTS, partial(symmetric_images, PARTS),
                   kind="exact"),
    "fig4": Figure("mappings in CO mode", _PLACES, _IMAGES, partial(images, 1, CO), kind="exact"),
    "table1": Figure("effective lengths m", "all numbers", "computed exactly", lengths, kind="exact"),
    "fig5": Figure("mappings of 8-cubes in VN mode", _PLACES, _IMAGES, partial(images, 2, VN_8), kind="exact"),
    "fig6": Figure("mappings of 64-cubes in VN mode", _PLACES, _IMAGES, partial(images, 2, VN_64), kind="exact"),
    "fig7a": Figure("relative totals, 8-cubes", _NUMBERS + ", divided", _MACHINE, partial(relative, "cube8")),
    "fig7b": Figure("relative totals, 64-cubes", _NUMBERS + ", divided", _MACHINE, partial(relative, "cube64")),
    "fig8a": Figure("bandwidth of a link, rows on 8-cubes", _NUMBERS + ", by eq. 16", _MACHINE, partial(bandwidths, True,
                                                                                                        "row")),
    "fig8b": Figure("the same, columns", _NUMBERS + ", by eq. 16", _MACHINE, partial(bandwidths, True, "column")),
    "fig9a": Figure("bandwidth of a link, rows on 64-cubes", _NUMBERS + ", by eq. 16", _MACHINE,
                    partial(bandwidths, False, "row")),
    "fig9b": Figure("the same, columns", _NUMBERS + ", by eq. 16", _MACHINE, partial(bandwidths, False, "column")),
    "wraps": Figure("torus beside open mesh (sec. 7.1 and 7.4)", "in words: the mesh is slower, 64-cubes are not", _MACHINE,
                    wraps),
    "text": Figure("statements on gain, modes and defaults (sec. 7.2 and 8)", "in words", _MACHINE, statements),
    "totals": Figure("times of the transform (Appendix A)", "all numbers", _MACHINE, partial(times, "total")),
    "table2": Figure("times of the row exchange", "all numbers", _MACHINE, partial(times, "row")),
    "table3": Figure("times of the column exchange", "all numbers", _MACHINE, partial(times, "column")),
}
