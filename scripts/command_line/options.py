"""Options that several commands share, and what they resolve to."""

from dataclasses import dataclass, replace
from functools import reduce, wraps

import click

from pencilmap.mapper.allocations.table import read_table
from pencilmap.mapper.graphs import GRAPHS, read_graph
from pencilmap.mapper.placements import PLACEMENTS, place
from pencilmap.mapper.search import rank_grids
from pencilmap.model.allocation import Allocation, Site, parse_nodes
from pencilmap.model.costs import Costs
from pencilmap.model.errors import GridError, MachineError, PlacementError
from pencilmap.model.grid import all_grids, parse_grid
from pencilmap.model.machine import COSTS, load_machine
from pencilmap.model.interval import routing_interval
from pencilmap.model.predict import predict
from pencilmap.model.routing import ROUTINGS
from pencilmap.model.torus import Torus, parse_torus
from pencilmap.model.transform import TYPES, Transform, parse_transform
from pencilmap.model.units import parse
from pencilmap.scripts.command_line.progress import hearing

ALL_ROUTINGS = "all"
MACHINE = (
    click.option("--machine", "-m", metavar="NAME", help="A machine of the package, or a machine file ending in .toml."),
    click.option("--torus", metavar="SHAPE", help="Shape instead of the machine's: 8x8x8 (wraps), 8x8x8:mesh, 8wx8x4w."),
    click.option("--partition", metavar="SHAPE", help="Shape instead of the machine's, e.g. 8x8x16; the machine's rule "
                                                      "decides which dimensions wrap."),
    click.option("--graph", metavar="FILE[,FORMAT]", help="A network without coordinates instead of a machine: "
                 + "; ".join(f"{name}: {form.title}" for name, form in GRAPHS.items())
                 + ". The format is guessed unless named."),
    click.option("--tasks-per-node", "-t", type=click.IntRange(1), metavar="T", help="Tasks on a node [machine's]."),
    click.option("--bandwidth", metavar="RATE", help="Bandwidth of every link instead of the machine's, e.g. '148 MB/s'; of "
                                                     "the links of a graph that say none."),
    click.option("--nodes", metavar="FILE", help="Usable nodes in the launcher's order, one a line: x y z, or a name "
                                                 "with its coordinates, of a graph its name [all]."),
    click.option("--failed", metavar="LIST", help="Nodes that must not be used, e.g. 1-2-3,0-0-4."),
    click.option("--idle", is_flag=True, help="Allow a grid of fewer tasks than there are slots."),
)
GRID = click.option("--grid", "-g", metavar="RxC", default="best", show_default=True,
                    help="R tasks in a row, C in a column; best ranks all grids.")
FFT = click.option("--fft", "-n", metavar="N|NXxNYxNZ[:TYPE][:single][:fields=F]",
                   help=f"The transform, e.g. 512, 512x256x128, 512:r2c:single; types: {', '.join(TYPES)}; F arrays together. "
                        "Without it there are no times.")
ROUTING = click.option("--routing", metavar="NAME[:ARGUMENT]", help="Rule by which messages find their way. "
                       + "; ".join(f"{r.usage}: {r.meaning}" for r in ROUTINGS.values())
                       + "; all: every rule, with the cut bound below them. [default: dimension-order; on a graph shortest-path]")
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


def on_machine(command):
    """The options of the machine and --fft on a command, which gets the Setting they stand for as `where`."""
    @wraps(command)
    def resolved(**given):
        where = setting(**{name: given.pop(name) for name in SETTING if name in given})
        return command(where=where, **given)

    return with_options(*MACHINE, FFT)(resolved)


SHORT_SEARCH = "search:evaluations=2000"  # by which grids are ranked where there are no products

SETTING = ("machine", "torus", "partition", "graph", "tasks_per_node", "bandwidth", "nodes", "failed", "idle",
           "fft")  # of on_machine


@dataclass(frozen=True)
class Setting:
    """The machine and the transform that a command works on.

    Parameters
    ----------
    site : Site
        Torus, tasks per node, usable nodes.
    transform : Transform or None
    machine : str or None
        Name or file of the machine, None when only a shape was named.
    costs : Costs
        What the machine file says beside link bandwidth.
    notes : tuple of str
        What a reader of any prediction for this setting should know.
    names : dict of int to str or None
        Names of the usable nodes, None unless the list of nodes names every one.
    """

    site: Site
    transform: Transform | None = None
    machine: str | None = None
    costs: Costs = Costs()
    notes: tuple = ()
    names: dict | None = None

    @property
    def torus(self):
        return self.site.torus

    @property
    def tasks_per_node(self):
        return self.site.tasks_per_node

    @property
    def n_slots(self):
        return self.site.n_slots

    @property
    def where(self):
        return str(self.site)

    def place(self, text, grid):
        """The placement that `text` describes, see `pencilmap.mapper.placements.place`."""
        if self.transform:
            self.transform.check_grid(grid)
        with hearing():
            return place(text, self.site, grid)

    def predict(self, placed, routing_name=None, name=None):
        """Its prediction, with the notes of this setting, see `pencilmap.model.predict.predict`."""
        return self._noted(predict(placed, self.transform, routing_name, name, self.costs, self.site))

    def interval(self, placed, name=None):
        """Its predictions under all routing rules, see `pencilmap.model.interval.routing_interval`."""
        return [self._noted(p) for p in routing_interval(placed, self.transform, name, self.costs, self.site)]

    def _noted(self, prediction):
        return replace(prediction, notes=(*prediction.notes, *self.notes))


def setting(machine=None, torus=None, partition=None, graph=None, tasks_per_node=None, bandwidth=None, nodes=None,
            failed=None, idle=False, fft=None):
    """Resolve the machine options, each as its option says.

    Raises
    ------
    MachineError
        When neither a machine nor a torus nor a graph is named, or two shapes are.
    PartitionError
        When the machine has no such partition.
    """
    transform = parse_transform(fft) if fft else None
    rate = parse(bandwidth, "byte/s") if bandwidth is not None else None
    described, shape = _network(machine, torus, partition, graph, rate)
    replaced = {"shape": torus or partition, "partition": not partition, "tasks_per_node": tasks_per_node,
                "link_bandwidth": bandwidth}
    notes = described.doubts(shape, figures_used(described, transform, replaced)) if described else ()
    tasks = tasks_per_node or (described.tasks_per_node if described else 1)
    listed = read_table(nodes, shape) if nodes else None
    site = Site(shape, tasks, _allocation(shape, listed, failed), idle)
    names = listed.names if listed and len(listed.names) == len(listed.nodes) else None
    return Setting(site, transform, machine, described.costs if described else Costs(), notes, names)


def figures_used(machine, transform, replaced):
    """Keys of the machine's figures that a prediction rests on: what no option replaces; prices only where there are times."""
    uneven = len(set(machine.torus.bandwidth)) > 1  # then bandwidths also weigh the dimensions against each other
    prices = ("link_bandwidth", *COSTS) if transform else ("link_bandwidth",) if uneven else ()
    return [key for key in ("shape", "partition", "tasks_per_node", "cables", *prices) if not replaced.get(key)]


def _network(machine, torus, partition, graph, rate):
    """The machine, None when there is none, and the network that the options name; `rate` is --bandwidth."""
    if graph is None:
        described, shape = _shape(machine, torus, partition)
        return described, shape if rate is None else replace(shape, bandwidth=(rate,) * shape.n_dimensions)
    if machine or torus or partition:
        raise MachineError(f"--graph {graph} is a network of its own; leave out --machine, --torus and --partition")
    path, _, format_name = graph.partition(",")
    return None, read_graph(path, format_name or None, rate)


def _shape(machine, torus, partition):
    """The machine, None when there is none, and the torus that the options name."""
    if torus and partition:
        raise MachineError(f"--torus {torus} and --partition {partition} name two shapes; give one of them")
    if machine is None:
        if torus is None:
            raise MachineError("no machine: give --machine NAME, --torus SHAPE to study a shape, or --graph FILE")
        return None, parse_torus(torus)
    described = load_machine(machine)
    if partition:
        return described, described.partition(partition)
    return described, (described.with_shape(torus) if torus else described).torus


def _allocation(torus, listed, failed):
    allocation = Allocation(torus, listed.nodes) if listed else Allocation(torus)
    return allocation.without(parse_nodes(failed, torus)) if failed else allocation


def one_grid(text, where):
    """The grid asked for, or the best one."""
    if text == "best":
        if not isinstance(where.torus, Torus):
            raise GridError(f"the best grid is searched on a torus only, not on {where.torus}; name one with --grid RxC")
        if not where.site.allocation.is_complete:
            return predictions(text, (SHORT_SEARCH,), where)[0].grid
        return rank_grids(where.torus, where.tasks_per_node, where.transform, where.costs)[0][0]
    grid = parse_grid(text)
    where.site.check_grid(grid)
    if where.transform:
        where.transform.check_grid(grid)
    return grid


def predictions(grid_text, placement_texts, where, routing_name=None):
    """Predictions of all placements; with grid ``best`` of all grids on which a placement can be made, best first.

    With routing `ALL_ROUTINGS` several for each placement, as `pencilmap.model.interval.routing_interval` gives them.
    """
    if grid_text != "best":
        grid = one_grid(grid_text, where)
        return [p for text in placement_texts for p in _predict(text, grid, where, routing_name)]
    if routing_name == ALL_ROUTINGS:
        raise GridError("--routing all compares the rules for one grid; name it with --grid RxC")
    found, refusals = [], []
    for grid in all_grids(where.n_slots):
        for text in placement_texts:
            try:
                found += _predict(text, grid, where, routing_name)
            except (PlacementError, GridError) as error:
                refusals.append(error)
    if not found:
        raise refusals[-1]
    return sorted(found, key=lambda p: p.order)


def _predict(text, grid, where, routing_name):
    placed = where.place(text, grid)
    return where.interval(placed, text) if routing_name == ALL_ROUTINGS else [where.predict(placed, routing_name, text)]
