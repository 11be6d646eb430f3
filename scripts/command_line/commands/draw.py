"""`pencilmap draw`: pictures of placements for papers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import click
import numpy as np

from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.place import place
from pencilmap.mapper.placements import placement_name
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import capitalised
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.kinds import default_routing
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.grid import Library, ProcessGrid
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.scripts.command_line.answers import DEFAULT, MOST_TASKS_ROUTED, Answer, Launched, launched, library_in
from pencilmap.scripts.command_line.comparisons import each_exchange
from pencilmap.scripts.command_line.job_network import unit_lines
from pencilmap.scripts.command_line.options import DIRECTION, GRID, ROUTING, asked_grid, named, on_machine, placements
from pencilmap.scripts.command_line.pages import JSON, OUTPUT_FILE, Name, Page, with_options
from pencilmap.scripts.command_line.predictions import show_deciding
from pencilmap.scripts.command_line.tables import echo, hearing, print_json, say
from pencilmap.scripts.pictures.canvas import suffix
from pencilmap.scripts.pictures.image import draw_image
from pencilmap.scripts.pictures.links import Half, draw_gain, draw_graph, draw_lengths, draw_loads
from pencilmap.scripts.pictures.report.entries import bar_of_forecast, compared
from pencilmap.scripts.pictures.text import MOST_ROWS, before_and_after, busiest_exchange, image_text, loads_of


@dataclass(frozen=True)
class Order:
    """A request for a drawing: the question, the grid and the placements, and the options."""

    where: Question
    grid: ProcessGrid
    placements: tuple[str, ...]
    groups: dict[str, int]
    exchange: str | None
    path: str | None  #: None for a small picture in the terminal
    library: Library  #: in whose words the grid is repeated
    title: str | None

    @cached_property
    def placed(self) -> Placement:
        """The only placement."""
        if len(self.placements) > 1:
            raise FigureError(f"{len(self.placements)} placements: this picture shows one; only lengths compares several")
        return place(self.where, self.placements[0], self.grid)

    @cached_property
    def mapping(self) -> Mapping:
        """The mapping of the only placement."""
        return self.placed.mapping(self.placements[0])

    @cached_property
    def launch(self) -> Launched:
        return launched(self.where, self.found)

    @cached_property
    def found(self) -> Prediction:
        """The prediction of the only placement."""
        return answer(self.where, self.placed, self.placements[0])

    @property
    def sentences(self) -> list[str]:
        """The title if one is given, and the sentences of the answer: the placement beside the launch order."""
        said, launch = Answer(self.found, self.launch, library=self.library), self.launch
        return [*([self.title] if self.title else []), said.first(placement_name(self.placements[0], self.where.site)),
                each_exchange(self.found, launch.first) or said.second()]

    def table(self, most: int = MOST_ROWS) -> list[str]:
        """Return the table of the loads of all exchanges, or of a requested one, before and after."""
        is_compared = self.placements[0] != DEFAULT and bool(self.launch.orders)
        return before_and_after(self.where, self.mapping, self.where.routing, is_compared,
                                self.drawn if self.exchange else None, most)

    @property
    def numbers(self) -> dict[str, int]:
        """Return the group along each dimension of the grid.

        Raises
        ------
        FigureError
            If the grid lacks a dimension.
        """
        letters = {d.name: d.letter for d in self.grid.decomposition.dimensions}
        foreign = next((name for name in self.groups if name not in letters), None)
        if foreign:
            raise FigureError(f"--{foreign}: grid {self.grid} has {', '.join(f'{name}s' for name in letters)} only")
        return {name: self.groups.get(name, 0) for name in letters}

    @property
    def on_torus(self) -> "Order":
        """Return the order itself.

        Raises
        ------
        FigureError
            If the network is no torus.
        """
        network = self.where.network
        if not network.has_products:
            tori, lack = ("tori without twists", "has twists") if network.has_coordinates else ("tori", "is none")
            raise FigureError(f"this picture is for {tori}, and {network.title} {lack}; try --what graph, which draws its "
                              "links")
        return self

    @property
    def loads(self) -> LinkLoads:
        """Return the loads of the only placement, in the requested exchange."""
        return loads_of(self.where, self.mapping, self.grid.decomposition.names.index(self.drawn), self.where.routing)

    @property
    def nodes(self) -> list[int]:
        """Nodes of the first group of the exchange that is drawn."""
        mapping = self.mapping
        letter = next(d.letter for d in self.grid.decomposition.dimensions if d.name == self.drawn)
        return sorted(set(mapping.node_of_rank[mapping.grid.groups(letter)[0]].tolist()))

    @property
    def drawn(self) -> str:
        """Name of the requested exchange, or of the exchange with the busiest cable."""
        names = self.grid.decomposition.names
        if self.exchange and self.exchange not in names:
            raise FigureError(f"--exchange {self.exchange}: grid {self.grid} has the exchanges {', '.join(names)} only")
        return self.exchange or names[busiest_exchange(self.where, self.mapping, self.where.routing)]

    @property
    def exchange_title(self) -> str:
        """Name placement, exchange and routing."""
        return self.titled(f"placement {self.placements[0]}", f"{self.drawn} exchange",
                           f"routing {self.where.routing or default_routing(self.where.network)}",
                           *([f"transform {self.where.transform}"] if self.where.transform else []))

    def titled(self, *parts: str) -> str:
        return self.title or ", ".join([str(self.where.site), f"grid {self.grid}", *parts])


def _image(order: Order) -> list[str] | None:
    title = order.titled(f"placement {order.placements[0]}")
    if order.path is None:
        lines, placement = image_text(order.mapping, order.numbers, WIDTH), order.placed
        is_quick = order.grid.n_tasks <= MOST_TASKS_ROUTED or product_of(placement)
        return [*(order.sentences if is_quick else [title]), "", *lines]
    draw_image(order.on_torus.mapping, order.numbers, order.path, title)
    return None


def _loads(order: Order) -> list[str] | None:
    """Loads of each exchange before and after, in bytes if a transform is named; in a file those of one exchange."""
    if order.path is not None:
        draw_loads(order.on_torus.loads, order.path, order.exchange_title, with_bytes=order.where.transform is not None)
        return None
    return [*order.sentences, "", *order.table()]


def _lengths(order: Order) -> None:
    if order.path is None:
        raise FigureError("lengths are drawn into a file; name it with --output")
    predictions = [answer(order.where, place(order.where, text, order.grid), text) for text in order.placements]
    return draw_lengths(predictions, order.path, order.titled())


def _graph(order: Order) -> list[str] | None:
    if order.where.network.has_products:
        raise FigureError(f"torus {order.where.network} has coordinates; draw it with --what image or loads")
    if order.path is None:
        network, nodes = order.where.network, order.mapping.node_of_rank
        if not network.levels:
            return _loads(order)
        return [*order.sentences, "", *unit_lines(network, np.unique(nodes), nodes, UNITS), "", *order.table(ROWS)]
    draw_graph(order.mapping, order.loads, order.numbers, order.path, order.exchange_title,
               with_bytes=order.where.transform is not None)
    return None


def _gain(order: Order) -> None:
    """The launch order beside the placement; the factor is of the times, or of the loads without times."""
    if order.path is None or suffix(order.path) != "svg":
        raise FigureError("gain is an SVG, which suits light and dark pages; name a file .svg with --output")
    before = replace(order.on_torus, placements=(DEFAULT,))
    before = replace(before, exchange=before.drawn)
    after = replace(order, exchange=before.drawn)
    bars = [bar_of_forecast(array.found) for array in (before, after)]
    [group] = compared(bars)
    halves = [Half(capitalised(group.name(bar)), bar.shown, array.loads, array.nodes)
              for bar, array in zip(bars, (before, after))]
    article = "an" if before.drawn[0] == "x" else "a"
    with_bytes = order.where.transform is not None
    unit = "MB on a link" if with_bytes else "load of a link, on the scale of m,"
    meaning = f"{unit} in the {before.drawn} exchange; circles: the nodes of {article} {before.drawn}"
    draw_gain(halves, f"{bars[0].amount / bars[1].amount:.2f}", meaning, order.path, with_bytes)


@dataclass(frozen=True)
class Picture:
    """One line of the table. draw : writes the file, or returns the lines of a small picture for a terminal."""

    draw: Callable[[Order], list[str] | None]
    meaning: str


PICTURES = {
    "image": Picture(_image, "nodes of a row and a column, on tori"),
    "loads": Picture(_loads, "load of every link in an exchange"),
    "lengths": Picture(_lengths, "m and loads of placements, as bars"),
    "graph": Picture(_graph, "the leaves or groups with the job, or hosts and switches, and loads"),
    "gain": Picture(_gain, "loads before and after, on tori"),
}
WIDTH = 80  # columns of a small picture
UNITS, ROWS = 6, 6  # lines of the units of a network, and of their loads, so that both fit a screen of 24 lines


GROUPS = tuple(dict.fromkeys(dimension.name for d in DECOMPOSITIONS.values() for dimension in d.dimensions))
EXCHANGES = tuple(dict.fromkeys(name for d in DECOMPOSITIONS.values() for name in d.names))


def _placed(ctx: click.Context, param: click.Parameter, value: float | str | None) -> str | float | None:
    """Callback: the file of a placement as the name of one."""
    return value and f"file:{value}"


@click.command("draw", cls=Page, usual="machine network nodes fft what grid placement exchange output title")
@click.argument("file", type=click.Path(), required=False, callback=_placed)
@click.option("--what", "-w", type=Name(list(PICTURES)),
              help=f"The picture: {', '.join(PICTURES)}.\n"
                   + "; ".join(f"{name}: {each.meaning}" for name, each in PICTURES.items()) + ".")
@on_machine
@with_options(GRID, placements(), ROUTING, DIRECTION)
@with_options(*(click.option(f"--{name}", type=int, metavar="N", help=f"Which {name}, for an image. [default: 0]")
                for name in GROUPS))
@click.option("--exchange", type=Name(EXCHANGES),
              help=f"Of loads: {EXCHANGES[0]}, ..., {EXCHANGES[-1]} [the busiest].")
@click.option("--title", metavar="TEXT", help="Title instead of machine, grid and placement.")
@click.option("--output", "-o", type=OUTPUT_FILE,
              help="The file: .svg, .pdf or .png.")
@JSON
def command(file: str | None, what: str | None, where: Question, grid: str, placement: tuple[str, ...],
            routing: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Draw a placement, the load of each link, or a network.

    FILE is a placement file, as for check and --placement. Without --output, a small picture is drawn in the terminal.
    """
    if file:
        placement = (file, *(placement if "placement" in named() else ()))
    if output:
        suffix(output)
        check_writable(output, FigureError)
    drawn = where.network.has_coordinates if output is None else where.network.has_products
    what = what or ("image" if drawn else "graph")
    with hearing():
        where, chosen, _ = asked_grid(where, grid, placement)
        groups = {name: number for name in GROUPS if (number := options.pop(name.replace("-", "_"))) is not None}
    lines = PICTURES[what].draw(Order(replace(where, routing=routing), chosen, placement, path=output, groups=groups,
                                      library=library_in(grid, where), **options))
    if as_json:
        print_json({"file": output, "what": what, "grid": list(chosen.shape), "placements": list(placement),
                    "lines": lines})
    else:
        say(f"wrote {output}") if output else _show(lines or [""])
        show_deciding(where.notes if what == "loads" else ())


def _show(lines: list[str]) -> None:
    """Print a small picture: its title is sentences, and the lines after them have spaces that count."""
    title = lines[:lines.index("")] if "" in lines else lines
    say(*title)
    echo("\n".join(lines[len(title):]))
