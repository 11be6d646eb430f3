"""`pencilmap study shapes`: the best partition for a transform."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from pencilmap.mapper.ask import figures_used, given_nodes
from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.choose import LONGEST_RING
from pencilmap.mapper.formats.hostlist import hosts_document, is_typed
from pencilmap.mapper.shapes import partition_shapes, torus_shapes
from pencilmap.mapper.studies.node_counts import RankedShape, ScalingPoint, efficiency, scale
from pencilmap.model.base.errors import FigureError, GridError, PartitionError
from pencilmap.model.base.units import could, milliseconds, parse
from pencilmap.model.decompositions import PENCIL, decomposition_named
from pencilmap.model.machines.machine import Machine, load_machine
from pencilmap.model.network.torus import Torus, as_torus, parse_torus
from pencilmap.model.placement.grid import parse_grid, per_node
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import Prediction
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.command_line import pages
from pencilmap.scripts.command_line.options import grid_option
from pencilmap.scripts.command_line.predictions import PARTS, RANGE, SAME, expected, new_notes, range_words, show_notes
from pencilmap.scripts.command_line.tables import echo, fits, fitted, print_json, print_table, say
from pencilmap.scripts.pictures.canvas import suffix
from pencilmap.scripts.pictures.runs import draw_scaling, draw_shapes


@dataclass(frozen=True)
class Source:
    """The source of partitions, and the machine's figures for the time model."""

    machine: Machine | None
    dimensions: int | None  #: all shapes with this number of dimensions; None for the partitions of the machine
    wrap: bool
    bandwidth: float | None  #: bytes per second of every link, in place of the machine's

    def tori(self, n_nodes: int) -> list[Torus]:
        """Return every shape of `n_nodes` nodes."""
        if self.dimensions is not None:
            like = self.machine.with_shape("x".join(["1"] * self.dimensions)).torus if self.machine else None
            shapes = torus_shapes(n_nodes, self.dimensions, like, self.wrap)
        elif self.machine is None:
            raise PartitionError("no machine: give `machine` NAME, or the number of dimensions")
        else:
            shapes = partition_shapes(self.machine, n_nodes)
        return [torus if self.bandwidth is None else replace(torus, bandwidth=(self.bandwidth,) * torus.n_dimensions)
                for torus in shapes]

    @property
    def costs(self) -> Costs:
        return self.machine.costs if self.machine else Costs()

    def notes(self, tori: Iterable[Torus], transform: Transform | None) -> Iterator[str]:
        """Yield notes on the machine's figures behind predictions for these shapes."""
        if self.machine:
            replaced = {"shape": True, "partition": self.dimensions, "link_bandwidth": self.bandwidth}
            used = figures_used(self.machine, transform, [key for key, value in replaced.items() if value])
            for torus in tori:
                yield from self.machine.doubts(torus, used)


def source(machine: str | None, dimensions: int | None, mesh: bool, bandwidth: str | None) -> Source:
    """Resolve the options for the source of partitions.

    Raises
    ------
    PartitionError
        If neither a machine nor a number of dimensions is given.
    """
    if machine is None and dimensions is None:
        raise PartitionError("no machine: give --machine NAME for the partitions it hands out, or --torus-dimensions 3 for "
                             "every shape of three dimensions")
    described = load_machine(machine) if machine else None
    if mesh and dimensions is None:
        raise PartitionError(f"--mesh: machine {machine} decides which dimensions wrap; give --torus-dimensions with --mesh")
    return Source(described, dimensions, not mesh, parse(bandwidth, "byte/s") if bandwidth else None)


def _count(text: str) -> int | None:
    """Return the number of nodes of a number, a shape or a file."""
    count = given_nodes(text)
    if count.shape:
        return parse_torus(count.shape).n_nodes
    if count.count is None and (Path(text).is_file() or is_typed(text)):
        return len(hosts_document(text).lines())
    return count.count


def node_counts(text: str) -> tuple[int, ...]:
    """Return the numbers of nodes of ``4096`` or ``512,1024,2048``, in increasing order.

    A shape or the name of a file that lists nodes stands for its number of nodes.
    """
    counts = tuple(filter(None, map(_count, text.split(","))))
    if len(counts) < len(text.split(",")):
        raise click.BadParameter(f"{text!r} is not understood; write a number of nodes, or several joined by commas: "
                                 "512,1024,2048")
    if list(counts) != sorted(set(counts)):
        raise click.BadParameter(f"{text!r}: name the smallest number of nodes first, each once")
    return counts


@click.command("shapes", cls=pages.Page,
               usual="nodes machine torus-dimensions tasks-per-node bandwidth fft top scaling plot json")
@click.option("--nodes", "-N", type=node_counts, metavar="K[,...]", required=True,
              help="Nodes of the partition; several: a scaling study.\n"
                   "A shape or a file of nodes stands for its number of nodes.")
@pages.MACHINE
@click.option("--torus-dimensions", "-d", "dimensions", type=click.IntRange(1, 8), metavar="D",
              help="Every shape of D dimensions.\nWhatever the machine hands out.")
@click.option("--mesh", is_flag=True, help="With --torus-dimensions: open lines instead of rings.")
@pages.TASKS
@pages.BANDWIDTH
@pages.FFT
@grid_option("best", "One grid instead of the best.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, metavar="N",
              help="How many shapes to search and list.")
@click.option("--grids", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="How many grids to list of each shape.")
@click.option("--scaling", type=pages.Name(["strong", "weak"]),
              help="For several numbers of nodes [strong].\nThe same transform on all, or one that grows with them.")
@click.option("--plot", type=pages.OUTPUT_FILE, metavar="FILE", help="Plot the table: .svg, .pdf or .png.")
@pages.with_options(pages.WIDE, pages.JSON)
def command(nodes: tuple[int, ...], machine: str | None, dimensions: int | None, mesh: bool, tasks_per_node: int | None,
            bandwidth: str | None, fft: str | None, decomposition: str | None, grid: str, top: int, grids: int,
            scaling: str | None, plot: str | None, wide: bool, as_json: bool) -> None:
    """Compare numbers of nodes, and the shapes of their partitions.

    One number of nodes ranks its shapes. Several numbers, joined by commas, show how the time of the best shape scales.
    """
    if plot:
        suffix(plot)
        check_writable(plot, FigureError)
    where = source(machine, dimensions, mesh, bandwidth)
    transform = parse_transform(fft) if fft else None
    study = len(nodes) > 1 or scaling is not None
    if transform is None and (study or plot):
        raise GridError("how it scales, and a plot, need a transform: give its extents, e.g. --fft 2048")
    kind = decomposition_named(decomposition or PENCIL.name)
    chosen = None if grid == "best" else parse_grid(grid, kind)
    tasks = tasks_per_node or (where.machine.tasks_per_node if where.machine else 1)
    points = scale(where.tori, nodes, transform, scaling or "strong", tasks_per_node=tasks, costs=where.costs,
                   top=1 if study else top, grids=grids, grid=chosen, decomposition=kind)
    show = _Shown(where, tasks, points, scaling or "strong", top)
    if plot:
        if points[0].best.t_s is None:
            raise PartitionError("a plot needs times, but no bandwidth is known: give --machine NAME or --bandwidth "
                                 "'2 GB/s'")
        if study:
            draw_scaling(points, show.kind, plot, show.title())
        else:
            draw_shapes(show.listed, plot, show.title())
    if as_json:
        print_json(show.study() if study else show.ranking())
    else:
        (show.study_table if study else show.ranking_table)(wide)
        if plot:
            say(f"wrote {plot}")


@dataclass(frozen=True)
class _Shown:
    """The result, as tables, JSON and plots."""

    where: Source
    tasks: int
    points: list[ScalingPoint]
    kind: str
    top: int

    @property
    def listed(self) -> list[RankedShape]:
        """Return the shapes of a ranking that the command shows."""
        return [s for s in self.points[0].shapes if s.best][:self.top]

    def title(self) -> str:
        first = self.points[0]
        machine = f"{self.where.machine.name}, " if self.where.machine else ""
        nodes = ", ".join(str(p.n_nodes) for p in self.points)
        size = f", transform {first.transform}" if first.transform else ""
        scaling = f", {self.kind} scaling" if len(self.points) > 1 else ""
        return f"{machine}{nodes} nodes with {per_node(self.tasks)}{size}{scaling}"

    def notes(self, predictions: Sequence[Prediction]) -> Iterator[str]:
        transforms = {p.n_nodes: p.transform for p in self.points}
        if any(t and not t.divides_evenly(p.grid) for p in predictions for t in [transforms[p.network.n_nodes]]):
            yield "some grids do not divide the transform evenly: their times are for even blocks; predict gives exact ones"
        long = [s for p in self.points for s in p.shapes if max(s.torus.shape) > LONGEST_RING]
        if long:
            yield (f"{len(long)} shapes with more than {LONGEST_RING} nodes in a dimension were not searched"
                   + (f"; they need at least {milliseconds(min(s.bound_s or 0 for s in long))}" if long[0].bound_s else ""))
        yield from dict.fromkeys(self.where.notes([as_torus(p.network) for p in predictions], self.points[0].transform))

    def ranking(self) -> dict[str, Any]:
        point, notes = self.points[0], self.notes([p for s in self.listed for p in s.predictions])
        rest = [{"torus": str(s.torus), "shape": list(s.torus.shape), "bound_s": s.bound_s}
                for s in point.shapes if s not in self.listed]
        return {"nodes": point.n_nodes, "tasks_per_node": self.tasks, "transform": str(point.transform or "") or None,
                "shapes": [s.as_dict() for s in self.listed],
                "slower": rest, "notes": list(notes)}

    def ranking_table(self, wide: bool) -> None:
        """Print one line for each shape and grid, and the line with the recommended shape."""
        shown = [(s, p) for s in self.listed for p in s.predictions]
        rest = len(self.points[0].shapes) - len(self.listed)
        more = [f"{rest} more shapes are not faster; --top lists more"] if rest else []
        notes = new_notes(self.notes([p for _, p in shown]), wide)
        names = ["placement", *_stages(shown[0][1])] if wide else [">exchanges"]
        columns = ["torus", "grid", *names, *_totals(shown[0][1], wide), RANGE, ">links could gain"]
        say(self._answer(shown[0]))
        echo()
        rows = [[s.torus, p.grid, *([p.product, *_by_exchange(p)] if wide else [_exchanges(p)]), *_times(p, wide),
                 expected(p) or "-", could(p.certificate)] for s, p in shown]
        print_table(self.title(), *_with_range(columns, rows, wide))
        show_notes([*notes, *more], wide)

    def _answer(self, best: tuple[RankedShape, Prediction]) -> str:
        """The recommended shape, and its gain over the least that the worst other shape takes."""
        (shape, p), point = best, self.points[0]
        worst = max((s.bound_s for s in point.shapes if s.bound_s and s is not shape), default=None)
        said = f"Use {shape.torus} with grid {p.grid}"
        if p.known_s is None:
            return f"{said}: its busiest links carry {float(p.cost) / PARTS:.4g} times the data of a node (predicted)."
        what = "with computing" if p.total_s is not None else "for the exchanges"
        said += f": {milliseconds(p.known_s)}{range_words(p)} {what} (predicted)."
        if not worst or p.time_s is None or worst < p.time_s * (1 + SAME):
            return said
        return (f"{said} Its exchanges take {milliseconds(p.time_s)}, those of the worst shape are at least "
                f"{worst / p.time_s:.2f}x slower.")

    def study(self) -> dict[str, Any]:
        rows = []
        for point, share in zip(self.points, efficiency(self.points, self.kind)):
            rows.append({"nodes": point.n_nodes, "transform": str(point.transform), "efficiency": share,
                         "worst_shape_bound_s": point.worst_bound_s, "predictions": [point.best.as_dict()]})
        return {"scaling": self.kind, "tasks_per_node": self.tasks, "points": rows,
                "notes": list(self.notes([p.best for p in self.points]))}

    def study_table(self, wide: bool) -> None:
        """Print one line for each number of nodes: its best shape, and the lower bound of its worst shape."""
        grows = wide or len({point.transform for point in self.points}) > 1
        rows = [[point.n_nodes, *([point.transform] if grows else []), point.best.network, point.best.grid,
                 *(_by_exchange(point.best) if wide else [_exchanges(point.best)]), *_times(point.best, wide),
                 expected(point.best) or "-",
                 "-" if share is None else f"{100 * share:.1f} %", *([milliseconds(point.worst_bound_s)] if wide else [])]
                for point, share in zip(self.points, efficiency(self.points, self.kind))]
        first = self.points[0].best
        columns = [">nodes", *(["transform"] if grows else []), "best torus", "grid",
                   *(_stages(first) if wide else [">exchanges"]), *_totals(first, wide), RANGE, ">efficiency",
                   *([">worst shape at least"] if wide else [])]
        columns, rows = _with_range(columns, rows, wide)
        columns, rows = (columns, rows) if wide else fitted(columns, rows, [">computing", RANGE])
        print_table(self.title(), columns, rows, new_notes(self.notes([p.best for p in self.points]), wide))


def _with_range(columns: list[str], rows: list[list[Any]], wide: bool) -> tuple[list[str], list[list[Any]]]:
    """The table without the column of ranges if no range is known, or if they do not fit."""
    at = columns.index(RANGE)
    if any(row[at] != "-" for row in rows) and (wide or fits(columns, rows)):
        return columns, rows
    return columns[:at] + columns[at + 1:], [row[:at] + row[at + 1:] for row in rows]


def _exchanges(prediction: Prediction) -> str:
    """Time of all exchanges, or the load of the busiest links if there are no times."""
    return f"m = {float(prediction.cost):.4g}" if prediction.t_s is None else milliseconds(prediction.time_s)


def _by_exchange(prediction: Prediction) -> list[str]:
    if prediction.t_s is None:
        return [f"m = {float(max(stage.load)):.4g}" for stage in prediction.stages]
    return [milliseconds(stage.time_s) for stage in prediction.stages]


def _stages(prediction: Prediction) -> list[str]:
    return [f">{stage.name}" for stage in prediction.stages]


def _totals(prediction: Prediction, wide: bool) -> list[str]:
    """Titles of `_times`."""
    return [">computing", ">total"] if prediction.total_s is not None else [">exchanges"] if wide else []


def _times(prediction: Prediction, wide: bool) -> list[str]:
    """Times of computing and of everything; without computing the exchanges, which the narrow table already has."""
    if prediction.local is not None and prediction.total_s is not None:
        return [milliseconds(prediction.local.time_s), milliseconds(prediction.total_s)]
    return [_exchanges(prediction)] if wide else []
