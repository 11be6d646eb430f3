"""The start of every question: a machine or network with its usable nodes, and the transform to run there.

Arguments are texts as on the command line. Errors name them in backquotes; the command line prints `tasks_per_node` as
``--tasks-per-node``.
"""

from collections.abc import Container, Iterable, Iterator, Mapping as Variables
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from pencilmap.mapper.allocations.hwloc import read_cores, slot_cores
from pencilmap.mapper.allocations.table import NodeTable, read_table
from pencilmap.mapper.base.hosts import Hosts, first_hosts
from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.formats import Job
from pencilmap.mapper.formats.hosts_of_nodes import tasks_of_host
from pencilmap.mapper.given_nodes import given_nodes, network_text
from pencilmap.mapper.launch_orders import launch_order
from pencilmap.mapper.named_network import USAGE, given_network, is_plain, network_on
from pencilmap.mapper.placements import check_name, place, takes_objective
from pencilmap.mapper.placements.best import candidates, is_searched, robust_search
from pencilmap.mapper.placements.search import search
from pencilmap.mapper.searches.uneven_products import best_product_of
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import (
    GridError,
    MachineError,
    MapfileError,
    PartitionError,
    PlacementError,
    RoutingError,
    ScheduleError,
)
from pencilmap.model.decompositions import PENCIL, Decomposition, decomposition_named
from pencilmap.model.machines.machine import COSTS, MESSAGES, Machine, load_machine
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Allocation, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import predict_question
from pencilmap.model.predict.interval import BEST_MINIMAL, intervals
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.predict.results import Prediction
from pencilmap.model.routing import all_variants, routing as routing_rule
from pencilmap.model.schedules.objectives import objectives
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE
from pencilmap.model.times.costs import Costs

ALL_ROUTINGS = "all"
SHORT_SEARCH = "search:evaluations=2000"  # budget for ranking grids where there are no products
BEST = "best"
REFINED = 3  # grids, the fastest by products: their other placements are searched too when all grids are ranked


@dataclass(frozen=True)
class Setting:
    """The machine and the transform of a question; `setting` makes it from texts.

    Parameters
    ----------
    site : Site
        Network, tasks per node, usable nodes.
    transform : Transform, optional
        Without it predictions have no times.
    machine : str, optional
        Name or file of the machine, None when only a shape was named.
    costs : Costs
        The costs other than link bandwidth in the machine file.
    notes : tuple of str
        Notes for a reader of any prediction for this setting.
    hosts : dict of str to int, optional
        Nodes of the hosts in the launcher's order, None unless the list of nodes names every node.
    decomposition : Decomposition
        Whose grids are meant.
    robust : bool
        Whether the worst over the routing rules counts, and is predicted where none is named.
    likely : tuple of float, optional
        Measured over predicted time, see `pencilmap.model.machines.machine.Machine.likely`.

    Examples
    --------
    >>> where = setting(machine="bluegene-l", fft="512")
    >>> cubes, lines = where.predictions("8x64", ["box:2x2x2", "default"])
    >>> cubes.total_s < lines.total_s
    True
    """

    site: Site
    transform: Transform | None = None
    machine: str | None = None
    costs: Costs = Costs()
    notes: tuple[str, ...] = ()
    hosts: dict[str, int] | None = None
    decomposition: Decomposition = PENCIL
    likely: tuple[float, float] | None = None
    robust: bool = False

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def tasks_per_node(self) -> int:
        return self.site.tasks_per_node

    @property
    def names(self) -> dict[int, str] | None:
        """The first host of each usable node, None unless the list of nodes names every one."""
        return None if self.hosts is None else first_hosts(self.hosts)

    @property
    def n_slots(self) -> int:
        return self.site.n_slots

    @property
    def where(self) -> str:
        return str(self.site)

    def grid(self, text: str = BEST, schedule: str = SEQUENCE) -> ProcessGrid:
        """The process grid that is written ``RxC`` (of slabs ``P``), checked against the slots, or the best one.

        Raises GridError.
        """
        if text == BEST:
            if not isinstance(self.network, Torus):  # no search works on a graph: the best grid for the launcher's order
                return self.predictions(BEST, ("default",), schedule=schedule)[0].grid
            if not self.site.allocation.is_complete:
                return self.predictions(BEST, (SHORT_SEARCH,), schedule=schedule)[0].grid
            return self.predictions(BEST, schedule=schedule)[0].grid
        grid = parse_grid(text, self.decomposition)
        self.site.check_grid(grid)
        return grid

    def place(self, text: str, grid: ProcessGrid, schedule: str = SEQUENCE) -> Product | Mapping:
        """The placement that `text` describes, see `pencilmap.mapper.placements.place`.

        A placement that searches gives the one that is fastest under the schedule by all terms of the time model.
        """
        check_name(text)
        if text == BEST:
            return self.best_placement(grid, schedule)
        if not takes_objective(text):
            return place(text, self.site, grid)
        name, _, argument = text.partition(":")
        if self.robust and name == "search":
            return self._fastest([search(argument, self.site, grid, wanted, robust=True)
                                  for wanted in objectives(schedule, grid)], schedule)
        return self._fastest([place(text, self.site, grid, wanted) for wanted in objectives(schedule, grid)], schedule)

    def best_placement(self, grid: ProcessGrid, schedule: str, share: int = 1) -> Product | Mapping:
        """The fastest placement of all families. Searches get their usual evaluations divided by `share`; for 0 there is no
        search.
        """
        if not isinstance(self.network, Torus):
            return place(BEST, self.site, grid)  # it says that there is none
        found: list[Product | Mapping] = []
        if schedule == SEQUENCE and self.transform and self._is_whole(grid):
            found = [best_product_of(as_torus(self.network), grid, self.tasks_per_node, self.transform)]
        for wanted in objectives(schedule, grid):
            found += [placed for placed in candidates(self.site, grid, wanted, share)
                      if not (isinstance(placed, Product) and placed in found)]
            if self.robust:
                found += robust_search(self.site, grid, wanted, share)
        return self._fastest(found, schedule)

    def _fastest(self, found: list[Product | Mapping], schedule: str) -> Product | Mapping:
        """The first of the fastest by all terms of the time model."""
        if len(found) == 1:
            return found[0]
        return min(found, key=lambda placed: self.shown(placed, Question(schedule=schedule)).order)

    def _is_whole(self, grid: ProcessGrid) -> bool:
        """Whether the grid takes every slot of a whole torus, so that it has product placements."""
        return (isinstance(self.network, Torus) and self.site.allocation.is_complete
                and grid.n_tasks == self.site.n_slots)

    def predict(self, placed: Product | Mapping, routing: str | None = None, name: str | None = None,
                exchange: str = DEFAULT_ALGORITHM, schedule: str = SEQUENCE, direction: str = FORWARD) -> Prediction:
        """Its prediction, with the notes of this setting, see `pencilmap.model.predict.predict`."""
        return self.answer(placed, Question(routing, exchange, schedule, direction), name)

    def answer(self, placed: Product | Mapping, question: Question, name: str | None = None) -> Prediction:
        """The prediction of a placement for a question."""
        return self._noted(predict_question(placed, question, self.transform, name=name, costs=self.costs, site=self.site))

    def shown(self, placed: Product | Mapping, question: Question = Question(), name: str | None = None) -> Prediction:
        """The prediction of a placement. In a robust setting where no rule is named, it is that under the worst rule, with
        a note.
        """
        if not self.robust or question.routing is not None:
            return self.answer(placed, question, name)
        found = []
        for rule in all_variants(self.network):
            if rule != BEST_MINIMAL:  # never the worst
                try:
                    found.append(self.answer(placed, replace(question, routing=rule), name))
                except RoutingError:
                    continue          # the rule cannot handle the case
        worst = max(found, key=lambda p: p.order)
        note = f"the worst of {len(found)} routing rules is shown"
        return replace(worst, notes=(*worst.notes, note))

    def interval(self, placed: Product | Mapping, question: Question = Question(),
                 name: str | None = None) -> list[Prediction]:
        """Its predictions under all routing rules, see `pencilmap.model.predict.interval.routing_interval`."""
        return [self._noted(p) for p in intervals(placed, question, self.transform, name=name, costs=self.costs,
                                                  site=self.site)]

    def predictions(self, grid: str = BEST, placements: Iterable[str] = (BEST,), routing: str | None = None,
                    exchange: str = DEFAULT_ALGORITHM, schedule: str = SEQUENCE,
                    direction: str = FORWARD) -> list[Prediction]:
        """Predictions of all placements; with grid ``best``, for all grids on which a placement exists, best first.

        With schedule ``best`` grids, placements, schedules and chunks are ranked together, by the predicted time of the
        whole transform as far as it is known; with direction ``pair``, by that of a forward and a backward one. With
        routing `ALL_ROUTINGS` there are several for each placement, as `interval` gives them. Raises GridError,
        PlacementError or ScheduleError when a placement or its schedule cannot be had; with grid ``best``, when it cannot
        be had on any grid.
        """
        return self.answers(Question(routing, exchange, schedule, direction), grid, placements)

    def answers(self, question: Question, grid: str = BEST, placements: Iterable[str] = (BEST,)) -> list[Prediction]:
        """The same as `predictions`, for a question."""
        placements, routing = tuple(placements), question.routing
        for text in placements:
            check_name(text)  # before any error about grids, because the grid is not at fault then
        if routing not in (None, ALL_ROUTINGS):
            routing_rule(routing, self.network)  # before a search, which may be long
        if grid != BEST:
            one = self.grid(grid)
            return [p for text in placements for p in self._predictions(text, one, question)]
        if routing == ALL_ROUTINGS:
            raise GridError(f"`routing` all compares the rules for one grid; name it with `grid` {self.decomposition.usage}")
        found, refusals = [], []
        report = now_and_then(say)
        for each in all_grids(self.n_slots, self.decomposition):
            for text in placements:
                report(f"grid {each}, placement {text}")
                try:
                    found += self._predictions(text, each, question, share=0)
                except (PlacementError, GridError, ScheduleError) as error:
                    refusals.append(error)
        if not found:
            raise refusals[-1]
        return ranked(self._refined(ranked(found), question))

    def _refined(self, found: list[Prediction], question: Question) -> list[Prediction]:
        """The predictions. For the first few grids they have other placements than products too, which are searched."""
        searched = [p for p in found if p.placement == BEST and is_searched(self.site, p.grid)]
        some, rest = searched[:REFINED], searched[REFINED:]
        for before in some:
            [after] = self._predictions(BEST, before.grid, question, share=len(some))
            found[next(i for i, p in enumerate(found) if p is before)] = min(before, after, key=lambda p: p.order)
        if self.site.allocation.is_complete or not rest:
            return found
        brief = (f"grids but the {len(some)} fastest were searched briefly; name one with `grid` to search it longer",)
        return [replace(p, notes=(*p.notes, *brief)) if any(p is each for each in rest) else p for p in found]

    def job(self, hosts: str | PathLike[str] | None = None, cores_per_task: int = 1,
            hwloc: str | PathLike[str] | None = None, program: str = "./a.out") -> Job:
        """What the launcher knows besides a placement.

        Parameters
        ----------
        hosts : path or str, optional
            A file of lines ``NAME x y z``, or a template such as ``nid{node:05d}``; names of the list of nodes by default.
        cores_per_task : int
            Slot t is bound to this number of consecutive processors, from t * cores_per_task on.
        hwloc : path, optional
            ``lstopo --of xml`` of a node, whose cores the slots share, in place of `cores_per_task`.
        program : str
            The program in the launch line.
        """
        names = _hosts(hosts, self)
        per_host = tasks_of_host(self.tasks_per_node, names)
        cores = slot_cores(read_cores(hwloc), per_host) if hwloc else _cores(cores_per_task, per_host)
        return Job(self.site, names, cores * names.per_node, program)

    def _predictions(self, text: str, grid: ProcessGrid, question: Question, share: int = 1) -> list[Prediction]:
        """Predictions of one placement. For `share` see `candidates`."""
        schedule = question.schedule
        placed = self.best_placement(grid, schedule, share) if text == BEST else self.place(text, grid, schedule)
        if question.routing == ALL_ROUTINGS:
            return self.interval(placed, question, text)
        return [self.shown(placed, question, text)]

    def _noted(self, prediction: Prediction) -> Prediction:
        return replace(prediction, notes=(*prediction.notes, *self.notes), likely=self.likely)


def setting(machine: str | None = None, network: str | PathLike[str] | None = None,
            tasks_per_node: int | None = None, bandwidth: str | None = None, nodes: str | PathLike[str] | int | None = None,
            failed: str | None = None, idle: bool = False, fft: str | None = None,
            decomposition: str = PENCIL.name, robust: bool = False, launcher: str | None = None,
            environ: Variables[str, str] | None = None) -> Setting:
    """The setting described by texts. A machine or a network is needed; everything else has a default.

    Parameters
    ----------
    machine : str, optional
        A machine of the package, see `pencilmap.model.machines.machine.machine_names`, or a machine file that ends in
        ``.toml``.
    network : path or str, optional
        ``8x8x8`` (all dimensions wrap), ``8x8x8:mesh``, ``8wx8x4w``, or ``FILE[,FORMAT]`` of cables, see
        `pencilmap.mapper.graphs.GRAPHS`. On a machine, ``8x8x8`` is a partition, whose wraps the machine's rule decides;
        ``8x8x8:torus`` and ``8x8x8:mesh`` name the wraps.
    tasks_per_node : int, optional
        The machine's by default, 1 without a machine.
    bandwidth : str, optional
        Of every link instead of the machine's, ``148 MB/s``, or of each class, ``x=2 GB/s,y=1 GB/s``; in a file, of the
        links that give none.
    nodes : path, str or int, optional
        File of the usable nodes in the launcher's order; all by default. Or their number, which takes the partition of the
        machine with the widest bisection, or their shape, in place of `network`.
    failed : str, optional
        Nodes that must not be used: ``1-2-3,0-0-4``.
    idle : bool
        Whether a grid may have fewer tasks than there are slots.
    fft : str, optional
        The transform: ``512``, ``512x256x128``, ``512:r2c:single``.
    decomposition : str
        How the tasks share the array: ``pencil`` (grids RxC) or ``slab`` (grids P).
    robust : bool
        Whether the worst over the routing rules of the network counts.
    launcher : str, optional
        The placement format of the launcher, whose order is ``default``, see `pencilmap.mapper.formats.FORMATS`.
    environ : mapping, optional
        The environment variables of the job, whose settings decide about that order; none by default.

    Raises
    ------
    MachineError
        When neither a machine nor a network is named, or two networks are.
    PartitionError
        When the machine has no such partition.
    """
    transform = parse_transform(fft) if fft else None
    listed_by = given_nodes(nodes)
    network = network_text(listed_by, machine, None if network is None else fspath(network))
    described, shape = _network(machine, network, bandwidth)
    first = described is not None and isinstance(shape, GraphNetwork) and (listed_by.count or 0) < shape.n_nodes
    if listed_by.count not in (None, shape.n_nodes) and not first:
        raise PartitionError(f"{shape.title} has {shape.n_nodes} nodes, not the {listed_by.count} of `nodes`; list the "
                             "usable nodes in a file, one in each line, and give its name")
    given = {"shape": network, "network": network, "partition": not (network and is_plain(network)), "tasks_per_node": tasks_per_node,
             "link_bandwidth": bandwidth}
    used = figures_used(described, transform, [key for key, value in given.items() if value]) if described else ()
    tasks = tasks_per_node or (described.tasks_per_node if described else 1)
    listed = read_table(listed_by.path, shape) if listed_by.path else None
    site = Site(shape, tasks, _allocation(shape, listed, failed, listed_by.count if first else None), idle)
    site = replace(site, launch=launch_order(site, described, launcher, environ))
    named = listed.hosts if listed and len(listed.names) == len(listed.nodes) else None
    return Setting(site, transform, machine, costs=described.costs if described else Costs(),
                   notes=tuple(_notes(shape, described, used, listed_by.count if first else None)), hosts=named,
                   decomposition=decomposition_named(decomposition),
                   likely=described.likely if described and bandwidth is None else None, robust=robust)


def _notes(network: Network, machine: Machine | None, used: Iterable[str], count: int | None) -> Iterator[str]:
    """Yield what a reader of any prediction needs to know about the network."""
    yield from getattr(network, "notes", ())
    if count:
        yield (f"the {count} nodes are assumed to be the first of {network.title}, which fill whole switches and groups; list "
               "the hosts of the job in a file and give it with `nodes` for its real places")
    if machine:
        yield from machine.doubts(network, used)


def figures_used(machine: Machine, transform: Transform | None, replaced: Container[str]) -> list[str]:
    """Keys of the machine's figures that a prediction depends on: those that are not replaced, and costs only if there are
    times.
    """
    uneven = len(set(machine.network.bandwidth or ())) > 1  # then bandwidths also weight the dimensions
    prices = ("link_bandwidth", *COSTS, MESSAGES) if transform else ("link_bandwidth",) if uneven else ()
    return [key for key in ("shape", "network", "partition", "tasks_per_node", "cables", *prices) if key not in replaced]


def _network(machine: str | None, network: str | None, bandwidth: str | None) -> tuple[Machine | None, Network]:
    """The machine, None when there is none, and the network."""
    if machine is None:
        if network is None:
            raise MachineError(f"no network: give `machine` NAME, or `network`: {USAGE}")
        return None, given_network(network, bandwidth)
    described = load_machine(machine)
    return described, network_on(described, network, bandwidth)


def _allocation(network: Network, listed: NodeTable | None, failed: str | None, count: int | None) -> Allocation:
    """Return the usable nodes: those of a list, the first `count`, or all; without failed ones."""
    allocation = (Allocation(network, listed.nodes, listed.shared) if listed else
                  Allocation(network, np.arange(count)) if count else Allocation(network))
    return allocation.without(parse_nodes(failed, network)) if failed else allocation


def _hosts(given: str | PathLike[str] | None, where: Setting) -> Hosts:
    if given is None:
        return Hosts(where.network, hosts=where.hosts)
    if "{" in str(given) and not Path(given).exists():
        return Hosts(where.network, str(given))
    listed = read_table(given, where.network).hosts
    if not listed:
        raise MapfileError(f"{given} names no hosts; write lines NAME {' '.join(where.network.axes)}")
    return Hosts(where.network, hosts=listed)


def _cores(per_task: int, tasks: int) -> tuple[str, ...]:
    if per_task == 1:
        return tuple(map(str, range(tasks)))
    return tuple(f"{slot * per_task}-{(slot + 1) * per_task - 1}" for slot in range(tasks))
