"""`pencilmap draw`: pictures of placements for papers."""

from collections.abc import Callable
from dataclasses import dataclass

import click

from pencilmap.mapper.placements import as_mapping
from pencilmap.model.errors import FigureError
from pencilmap.model.exchange import exchanges
from pencilmap.model.routing import default_routing
from pencilmap.model.routing import routing as routing_named
from pencilmap.model.torus import Torus
from pencilmap.scripts.command_line.options import GRID, JSON, ROUTING, on_machine, placements, with_options
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import print_json
from pencilmap.scripts.pictures.figures.canvas import suffix
from pencilmap.scripts.pictures.figures.image import draw_image
from pencilmap.scripts.pictures.figures.lengths import draw_lengths
from pencilmap.scripts.pictures.figures.loads import draw_loads


@dataclass(frozen=True)
class Order:
    """What is to be drawn: the setting, the grid and the placements, and what the options say."""

    where: object
    grid: object
    placements: tuple
    routing: str
    row: int
    column: int
    exchange: str
    path: str
    title: str

    @property
    def mapping(self):
        """The mapping of the one placement."""
        if not isinstance(self.where.torus, Torus):
            raise FigureError(f"{self.where.torus} has no coordinates; this picture is drawn of a torus or mesh")
        if len(self.placements) > 1:
            raise FigureError(f"{len(self.placements)} placements: this picture shows one; only lengths compares several")
        return as_mapping(self.where.place(self.placements[0], self.grid), self.placements[0])

    def titled(self, *parts):
        return self.title or ", ".join([str(self.where.site), f"grid {self.grid}", *parts])


def _image(order):
    draw_image(order.mapping, order.row, order.column, order.path, order.titled(f"placement {order.placements[0]}"))


def _loads(order):
    """Loads of one exchange, in bytes when a transform is named."""
    mapping, transform = order.mapping, order.where.transform
    name = order.routing or default_routing(mapping.torus)
    exchange = exchanges(mapping.grid, transform)[("row", "column").index(order.exchange)]
    loads = routing_named(name, mapping.torus).loads(mapping.torus, exchange, mapping.node_of_rank)
    size = (f"transform {transform}",) if transform else ()
    title = order.titled(f"placement {order.placements[0]}", f"{order.exchange} exchange", f"routing {name}", *size)
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
    "image": Picture(_image, "the nodes of one row and one column in the torus"),
    "loads": Picture(_loads, "the load of every link in one exchange, a heat map"),
    "lengths": Picture(_lengths, "m_i and routed loads of one or more placements, bars"),
}


@click.command("draw")
@click.option("--what", "-w", required=True, type=click.Choice(list(PICTURES)),
              help="; ".join(f"{name}: {picture.meaning}" for name, picture in PICTURES.items()))
@on_machine
@with_options(GRID, placements(), ROUTING)
@click.option("--row", type=int, default=0, show_default=True, metavar="Q", help="Which row, for an image.")
@click.option("--column", type=int, default=0, show_default=True, metavar="P", help="Which column, for an image.")
@click.option("--exchange", type=click.Choice(["row", "column"]), default="row", show_default=True, help="Which, for loads.")
@click.option("--title", metavar="TEXT", help="Title instead of machine, grid and placement.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file: .svg, .pdf or .png.")
@JSON
def command(what, where, grid, placement, output, as_json, **options):
    """Draw a placement: the image of a row and a column, link loads, or effective lengths."""
    suffix(output)
    with hearing():
        chosen = where.grid(grid)
        PICTURES[what].draw(Order(where, chosen, placement, path=output, **options))
    if as_json:
        print_json({"file": output, "what": what, "grid": [chosen.R, chosen.C], "placements": list(placement)})
    else:
        click.echo(f"wrote {output}")
