"""Options that several commands share, and what they resolve to."""

from dataclasses import dataclass
from functools import reduce

import click

from pencilmap.mapper.placements import PLACEMENTS, place
from pencilmap.mapper.search import rank_grids
from pencilmap.model.errors import GridError, MachineError, PlacementError
from pencilmap.model.grid import all_grids, check_tasks, parse_grid
from pencilmap.model.machine import load_machine
from pencilmap.model.predict import predict
from pencilmap.model.routing import DEFAULT_ROUTING, ROUTINGS
from pencilmap.model.torus import Torus, parse_torus
from pencilmap.model.transform import Transform, parse_transform
from pencilmap.model.units import parse

MACHINE = (
    click.option("--machine", "-m", metavar="NAME", help="A machine of the package, or a machine file ending in .toml."),
    click.option("--torus", metavar="SHAPE", help="Shape instead of the machine's: 8x8x8 (wraps), 8x8x8:mesh, 8wx8x4w."),
    click.option("--tasks-per-node", "-t", type=click.IntRange(1), metavar="T", help="Tasks on a node [machine's]."),
    click.option("--bandwidth", metavar="RATE", help="Bandwidth of every link instead of the machine's, e.g. '148 MB/s'."),
)
GRID = click.option("--grid", "-g", metavar="RxC", default="best", show_default=True,
                    help="R tasks in a row, C in a column; best ranks all grids.")
FFT = click.option("--fft", "-n", metavar="N|NXxNYxNZ", help="Extents of the transform; without it there are no times.")
ROUTING = click.option("--routing", type=click.Choice(list(ROUTINGS)), default=DEFAULT_ROUTING, show_default=True,
                       help="Rule by which messages find their way.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def placements(multiple=True):
    """The option --placement; its help lists the table of placements."""
    listed = "; ".join(f"{p.usage}: {p.meaning}" for p in PLACEMENTS.values())
    return click.option("--placement", "-p", multiple=multiple, metavar="NAME[:ARGUMENT]",
                        default=("best",) if multiple else "best",
                        help=f"{'May be given several times. ' if multiple else ''}{listed}. [default: best]")


def with_options(*options):
    """Put a list of options on a command, in the order given."""
    return lambda command: reduce(lambda c, option: option(c), reversed(options), command)


@dataclass(frozen=True)
class Setting:
    """The machine and the transform that a command works on."""

    torus: Torus
    tasks_per_node: int
    transform: Transform | None
    machine: str | None

    @property
    def n_slots(self):
        return self.torus.n_nodes * self.tasks_per_node

    @property
    def where(self):
        return f"torus {self.torus} with {self.tasks_per_node} task{'s' * (self.tasks_per_node > 1)} per node"


def setting(machine, torus, tasks_per_node, bandwidth, fft=None):
    """Resolve the machine options.

    Raises
    ------
    MachineError
        When neither a machine nor a torus is named.
    """
    transform = parse_transform(fft) if fft else None
    if machine is None and torus is None:
        raise MachineError("no machine: give --machine NAME, or --torus SHAPE to study a shape")
    if machine is None:
        shape, tasks = parse_torus(torus), 1
    else:
        described = load_machine(machine)
        described = described.with_shape(torus) if torus else described
        shape, tasks = described.torus, described.tasks_per_node
    if bandwidth is not None:
        rate = parse(bandwidth, "byte/s")
        shape = Torus(shape.shape, shape.wrap, (rate,) * shape.n_dimensions, shape.cables, shape.axes)
    return Setting(shape, tasks_per_node or tasks, transform, machine)


def one_grid(text, where):
    """The grid asked for, or the best one."""
    if text == "best":
        return rank_grids(where.torus, where.tasks_per_node, where.transform)[0][0]
    grid = parse_grid(text)
    check_tasks(grid, where.n_slots, where.where)
    if where.transform:
        where.transform.check_grid(grid)
    return grid


def predictions(grid_text, placement_texts, where, routing_name=DEFAULT_ROUTING):
    """Predictions of all placements; with grid ``best`` of all grids on which a placement can be made, best first."""
    if grid_text != "best":
        grid = one_grid(grid_text, where)
        return [_predict(text, grid, where, routing_name) for text in placement_texts]
    found, refusals = [], []
    for grid in all_grids(where.n_slots):
        for text in placement_texts:
            try:
                found.append(_predict(text, grid, where, routing_name))
            except (PlacementError, GridError) as error:
                refusals.append(error)
    if not found:
        raise refusals[-1]
    return sorted(found, key=lambda p: (p.t_s or 0.0, p.cost, max(p.grid.R, p.grid.C)))


def _predict(text, grid, where, routing_name):
    if where.transform:
        where.transform.check_grid(grid)
    placed = place(text, where.torus, grid, where.tasks_per_node)
    return predict(placed, where.transform, routing_name, text)


