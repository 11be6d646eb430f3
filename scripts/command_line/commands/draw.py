"""`pencilmap draw`: pictures of placements for papers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import Setting
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.errors import FigureError
from pencilmap.model.exchange import exchanges
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.routing import default_routing, routing as routing_named
from pencilmap.model.torus import Torus
from pencilmap.scripts.command_line.options import GRID, ROUTING, on_machine, placements
from pencilmap.scripts.command_line.plain_options import JSON, Name, with_options
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import print_json
from pencilmap.scripts.pictures.figures.canvas import suffix
from pencilmap.scripts.pictures.figures.image import draw_image
from pencilmap.scripts.pictures.figures.lengths import draw_lengths
from pencilmap.scripts.pictures.figures.loads import draw_loads


@dataclass(frozen=True)
class Order:
    """A drawing order: the setting, the grid and the placements, and the options."""

    where: Setting
    grid: ProcessGrid
    placements: tuple[str, ...]
    routing: str | None
    groups: dict[str, int]
    exchange: str | None
    path: str
    title: str | None

    @property
    def mapping(self) -> Mapping:
        """The mapping of the one placement."""
        if not isinstance(self.where.network, Torus):
            raise FigureError(f"{self.where.network} has no coordinates; this picture needs a torus or mesh")
        if len(self.placements) > 1:
            raise FigureError(f"{len(self.placements)} placements: this picture shows one; only lengths compares several")
        return as_mapping(self.where.place(self.placements[0], self.grid), self.placements[0])

    def titled(self, *parts: str) -> str:
        return self.title or ", ".join([str(self.where.site), f"grid {self.grid}", *parts])


def _image(order):
    letters = {d.name: d.letter for d in order.grid.decomposition.dimensions}
    foreign = next((name for name in order.groups if name not in letters), None)
    if foreign:
        raise FigureError(f"--{foreign}: grid {order.grid} has {', '.join(f'{name}s' for name in letters)} only")
    groups = {name: order.groups.get(name, 0) for name in letters}
    draw_image(order.mapping, groups, order.path, order.titled(f"placement {order.placements[0]}"))


def _loads(order):
    """Loads of one exchange, in bytes when a transform is named."""
    mapping, transform = order.mapping, order.where.transform
    name = order.routing or default_routing(mapping.network)
    names = mapping.grid.decomposition.names
    if order.exchange and order.exchange not in names:
        raise FigureError(f"--exchange {order.exchange}: grid {mapping.grid} has the exchanges {', '.join(names)} only")
    exchange = exchanges(mapping.grid, transform)[names.index(order.exchange or names[0])]
    loads = routing_named(name, mapping.network).loads(mapping.network, exchange, mapping.node_of_rank)
    size = (f"transform {transform}",) if transform else ()
    title = order.titled(f"placement {order.placements[0]}", f"{exchange.name} exchange", f"routing {name}", *size)
    draw_loads(loads, order.path, title, with_bytes=transform is not None)


def _lengths(order):
    found = [order.where.predict(order.where.place(text, order.grid), order.routing, text) for text in order.placements]
    draw_lengths(found, order.path, order.titled())


@dataclass(frozen=True)
class Picture:
    """One line of the table."""

    draw: Callable
    meaning: str


PICTURES = {
    "image": Picture(_image, "the nodes of one row and one column (slab) in the torus"),
    "loads": Picture(_loads, "the load of every link in one exchange, a heat map"),
    "lengths": Picture(_lengths, "m_i and routed loads of one or more placements, bars"),
}


GROUPS = tuple(dict.fromkeys(dimension.name for d in DECOMPOSITIONS.values() for dimension in d.dimensions))
EXCHANGES = tuple(dict.fromkeys(name for d in DECOMPOSITIONS.values() for name in d.names))


@click.command("draw")
@click.option("--what", "-w", required=True, type=Name(list(PICTURES)),
              help="; ".join(f"{name}: {picture.meaning}" for name, picture in PICTURES.items()))
@on_machine
@with_options(GRID, placements(), ROUTING)
@with_options(*(click.option(f"--{name}", type=int, metavar="N", help=f"Which {name}, for an image. [default: 0]")
                for name in GROUPS))
@click.option("--exchange", type=Name(EXCHANGES), help="Which exchange, for loads. [default: the first]")
@click.option("--title", metavar="TEXT", help="Title instead of machine, grid and placement.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file: .svg, .pdf or .png.")
@JSON
def command(what: str, where: Setting, grid: str, placement: tuple[str, ...], output: str, as_json: bool,
            **options: Any) -> None:
    """Draw a placement: the image of a group of each kind, link loads, or effective lengths."""
    suffix(output)
    with hearing():
        chosen = where.grid(grid)
        groups = {name: number for name in GROUPS if (number := options.pop(name)) is not None}
    PICTURES[what].draw(Order(where, chosen, placement, path=output, groups=groups, **options))
    if as_json:
        print_json({"file": output, "what": what, "grid": list(chosen.shape), "placements": list(placement)})
    else:
        click.echo(f"wrote {output}")
