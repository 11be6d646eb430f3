"""A kind of network: its text form, its rules of routing, and the bounds that hold on it.

Idea: networks are data. Everything that depends on the kind of a network is a method of one object, without state, of its
kind. The methods here work on any network by its links alone; a kind overrides those for which it knows better.

Lower bounds are on the scale of `Prediction.cost`: the sum over the exchanges of m = 4 load N / D_T, with slower links
weighted. Each is a pair of the bound and its argument. The cuts are those of `pencilmap.model.bounds.graph_cuts`.
*Distances*: a message over h hops loads h links, so bytes x hops, divided by the capacity of all links, bounds the worst
load. In a group of R tasks, each task has at least the distances to the R-1 nearest slots.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds.choices import Cables, least_of_choices
from pencilmap.model.bounds.cuts import MOST_STEPS, Crossing, Cut, Room, across_cuts, cuts_of_graph
from pencilmap.model.bounds.graph_cuts import all_to_all_cuts, cables_of, exchange_bound, program_bound, whole_bound
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Network, host_hops, link_weights
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.routes import Legs, RouteTable, table_of_pairs
from pencilmap.model.routing.rule import RoutingRule, Rule
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import m_scale
from pencilmap.model.traffic.program import Traffic

MOST_NODES = 2048  # above this number distances between all nodes are not summed
BRIEF_STEPS = 20_000_000  # of an exact frontier of a brief bound
FINEST = 1 << 20  # parts of a cable of which a capacity is a whole number

Bound = tuple[Fraction, str]  # value, argument
Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Optima:
    """The optima of a grid on a machine: the least lengths on the m scale, and an optimal placement for each."""

    sequence: Fraction   #: the worst row length and the worst column length together
    joint: Fraction      #: the worst length of both exchanges at once
    rows_sequence: Rows  #: nodes of each row of a placement with the least `sequence`
    rows_joint: Rows     #: nodes of each row of a placement with the least `joint`


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of network. A new kind is a file that holds its object, and a line of the table.

    Parameters
    ----------
    name : str
        The word before the colon of its text form.
    usage : str
        Its text form, with example numbers.
    meaning : str
        One line for a table of all kinds.
    classes : str
        Its classes of links, for a table of all kinds.
    type : type
        Class of its networks.
    parse : callable
        Text form and options of `type` -> Network. Should raise a PencilmapError if the text is not understood.
    rules : tuple of RoutingRule
        The rules of routing that work on it, the default first.
    bracket : tuple of str
        Routings that stand for adaptive routers, from the best case to the worst; none if routers do not adapt.
    recognise : callable, optional
        Cabling of a file -> network of this kind with exactly these cables. Raises NotThisKind if there is none.
    described : callable
        Network -> its numbers in words, for the note of a recognised file.
    """

    name: str
    usage: str
    meaning: str
    classes: str
    type: type
    parse: Callable[..., Network]
    rules: tuple[RoutingRule, ...]
    bracket: tuple[str, ...] = ()
    recognise: Callable[..., Any] | None = None
    described: Callable[[Any], str] = str

    @property
    def routings(self) -> tuple[str, ...]:
        """Names of the rules."""
        return tuple(rule.name for rule in self.rules)

    #: whether the loads of `counted` alone are those of the default rule
    counts_suffice: ClassVar[bool] = False

    def counted(self, network: Any, ends: Ints) -> tuple[Ints, Floats]:
        """Return the units whose loads follow from the tasks inside: here none.

        Returns
        -------
        (int array, shape (S, L), float array, shape (U,))
            Units of each of S ends, numbered over all levels, and the length of a byte on the cables of each unit.
        """
        return np.zeros((len(ends), 0), dtype=np.int64), np.zeros(0)

    def guide(self, network: Any, ends: Ints, rule: Rule) -> tuple[Ints, Legs] | None:
        """Return the routes that guide a search under a rule, see `pencilmap.model.routing.rule.Rule.guide`.

        If they are too many, those of the default rule.
        """
        return rule.guide(network, ends) or self.rules[0].make("").guide(network, ends)

    def guiding_routes(self, network: Any, ends: Ints, rule: Rule, directed: bool = False) -> RouteTable | None:
        """Return the routes of `guide` between the points of some ends as a table; None if there are none, or too many.

        Parameters
        ----------
        network : Network
        ends : int array, shape (k,)
            The ends in use, see `Network.ends`.
        rule : Rule
            The routing under which the search looks for placements.
        directed : bool
            Whether the two directions of a pair have rows of their own.
        """
        guide = self.guide(network, ends, rule)
        if guide is None:
            return None
        point, legs = guide
        points = np.full(network.router_of_end.shape, -1)
        points[ends] = point
        return table_of_pairs(points, int(point.max()) + 1, legs, directed)

    # ---- bounds for any routing --------------------------------------------------------------------------------------

    def cut_bound(self, network: Any, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the load of a cable of each class, in bytes, that no routing can avoid, by cutting the network in two."""
        return _of_fastest(network, exchange_bound(network, exchange, ends))

    def machine_bound(self, network: Any) -> tuple[Fraction, ...]:
        """Return the load of the all-to-all of the full machine, which the exchanges of a transform together cannot beat.

        For any mapping the exchanges together bring every task's block to every other task. So together they move at least
        as much across each cut as one all-to-all of the whole machine: k (n-k) / n^2 of D_T for k of n nodes on one side.
        The result has the bound on the sum of m over the exchanges, per cable, for each class of links.
        """
        return _of_fastest(network, m_scale(whole_bound(network), network, network.n_nodes**2))

    # ---- bounds for any placement ------------------------------------------------------------------------------------

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> Iterable[Bound]:
        """Yield bounds on the joint load of all exchanges, under any schedule and routing."""
        network, P = site.network, grid.n_tasks
        if is_full(site, grid):
            yield self.of_full_machine(network, Crossing(grid, transform))
            return
        room, every = Room(site, grid, transform), self.every_cable(network)
        for cuts, argument in cuts_of_graph(network, room):
            yield room.load(cuts), f"all-to-all across {argument}"
        if len(site.allocation.nodes) <= MOST_NODES and every:
            hops, sizes = self.hops(site), [grid.extent(stage.letters) for stage in grid.decomposition.exchanges]
            total = max(nearest(hops, P, site.tasks_per_node, P),
                        sum(P // size * nearest(hops, size, site.tasks_per_node, P) for size in sizes))
            length = Fraction(4 * network.n_nodes * total, P**2) * Crossing(grid, transform).smallest / every
            yield length, "distances to the nearest tasks over all links"

    def of_full_machine(self, network: Any, crossing: Crossing) -> Bound:
        """Return the all-to-all of the full machine as a bound for its blocks."""
        lengths = [length * weight for length, weight in zip(self.machine_bound(network), link_weights(network))]
        i = lengths.index(max(lengths))
        return with_smallest((lengths[i], f"all-to-all of the full machine across {network.link_classes[i]}"), crossing)

    def alone(self, site: Site, grid: ProcessGrid, size: int, ordered: bool, split: bool) -> Fraction:
        """Return a bound on the length of an exchange in groups of `size` tasks, for even blocks."""
        network, every, P = site.network, self.every_cable(site.network), grid.n_tasks
        if len(site.allocation.nodes) > MOST_NODES or not every:
            return Fraction(0)
        return Fraction(4 * network.n_nodes * nearest(self.hops(site), size, site.tasks_per_node, P), P * size) / every

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Yield bounds on the sum of both lengths of rows and columns of these sizes, for even blocks.

        Parameters
        ----------
        site : Site
        grid : ProcessGrid
        sizes : (int, int)
        ordered : bool
            Whether messages take dimension order, in any order of the dimensions.
        split : bool
            Whether messages half round a ring then go both ways, half each.
        brief : bool
            Whether to leave out arguments that take long.
        """
        if len(site.allocation.nodes) > MOST_NODES or not self.every_cable(site.network):
            return
        rows, columns = (self.alone(site, grid, size, ordered, split) for size in sizes)
        yield rows + columns, "rows and columns, each alone"
        yield from across_cuts(site.network.n_nodes, self.cuts(site, grid), sizes, rows, columns,
                               BRIEF_STEPS if brief else MOST_STEPS)

    def of_choices(self, site: Site, n_nodes: int, sizes: tuple[int, int], share: Fraction = Fraction(0),
                   parts: Sequence[Ints] = ()) -> tuple[Fraction, Ints]:
        """Return a bound on the sum of both lengths on any choice of usable nodes, for even blocks on all slots.

        Parameters
        ----------
        site : Site
        n_nodes : int
            Nodes to choose.
        sizes : (int, int)
            Tasks of a row and of a column.
        share : Fraction
            What each other host of a unit sends, as a part of what a host of the job sends.
        parts : sequence of int array, shape (V,)
            On networks without units, nested parts of the vertices to cut, the smallest first: the part of each vertex.

        Returns
        -------
        (Fraction, int array, shape (n_nodes,))
            The bound, and nodes that may reach it.
        """
        arcs, levels = site.network.arcs(), list[Cables]()
        for unit in (np.arange(arcs.n_vertices), *parts):
            n, leaves = int(unit.max()) + 1, unit[arcs.source] != unit[arcs.target]
            cables = np.minimum(*(np.bincount(unit[ends[leaves]], arcs.capacity[leaves], n)
                                  for ends in (arcs.source, arcs.target)))
            capacity = [Fraction(cable).limit_denominator(FINEST) for cable in cables.tolist()]
            levels.append(Cables(unit[:site.network.n_nodes], capacity, [Fraction(0)] * n))
        return least_of_choices(site, levels, n_nodes, sizes)

    def beside(self, mapping: Mapping, exchanges: Sequence[Exchange], share: Fraction, rule: Rule) -> Fraction | None:
        """Return the sum of the longest lengths if each other host of a unit sends a share of what a host of the job sends.

        The cables of a unit are shared by all that its hosts send. None if the network has no units.
        """
        return None

    def cuts(self, site: Site, grid: ProcessGrid) -> Iterable[tuple[list[Cut], str]]:
        """Yield lists of cuts, of which one has tasks between its limits inside, with an argument."""
        if not is_full(site, grid):
            return cuts_of_graph(site.network, Room(site, grid))
        T = site.tasks_per_node
        return (([Cut(nodes * T, nodes * T, cables)], f"a cut with {nodes} nodes on one side")
                for nodes, cables in self.halves(site.network))

    def halves(self, network: Any) -> Iterable[tuple[int, Fraction]]:
        """Return cuts of the full machine: nodes on one side, and cables."""
        return all_to_all_cuts(network)

    def every_cable(self, network: Any) -> Fraction:
        """Return the cables of all links, slower ones as part of a cable of the fastest class."""
        return cables_of(network)

    def hops(self, site: Site) -> Ints:
        """Return the distances from each usable node to the others, sorted: int array, shape (n, n)."""
        return _sorted_hops(site.network, site.allocation.nodes.tobytes())

    def program_bound(self, site: Site, traffic: Traffic) -> float:
        """Return the least that any program needs, see `pencilmap.model.bounds.graph_cuts.program_bound`."""
        return program_bound(site, traffic)

    # ---- what is known of some kinds ---------------------------------------------------------------------------------

    def optima(self, site: Site, grid: ProcessGrid) -> Optima | None:
        """Return the true optima for even blocks under dimension order with ties split, if every placement was tried."""
        return None

    def joint_factor(self, site: Site, grid: ProcessGrid) -> Fraction:
        """Return a lower bound on the joint load of even blocks on all slots, over that of the all-to-all."""
        return Fraction(1)

    def why_unreachable(self, site: Site, grid: ProcessGrid) -> str | None:
        """Return why no placement has the joint load of the all-to-all, or None if a placement may, or if unknown."""
        return None

    def spectral(self, site: Site, sizes: tuple[int, int], routing_name: str, known: float) -> Bound | None:
        """Return a bound by eigenvalues, which takes seconds, if it may exceed a known bound; None if there is none."""
        return None


def is_full(site: Site, grid: ProcessGrid) -> bool:
    """Return whether a grid fills all slots of a whole machine."""
    return site.allocation.is_complete and grid.n_tasks == site.n_slots


def with_smallest(bound: Bound, crossing: Crossing) -> Bound:
    """Return a bound for even blocks as a bound for blocks whose smallest message is a part of the mean message."""
    value, argument = bound
    return value * crossing.smallest, argument + (", with the smallest messages" if crossing.smallest < 1 else "")


def _of_fastest(network: GraphNetwork, bound: Fraction) -> tuple[Fraction, ...]:
    """Return a bound in cables of the fastest class, for each class: 0 for all others, whose links may not be in the cut."""
    rates = network.bandwidth or (1.0,)
    fastest = rates.index(max(rates))
    return tuple(bound if i == fastest else Fraction(0) for i in range(len(network.link_classes)))


@lru_cache(maxsize=2)
def _sorted_hops(network: Any, nodes: bytes) -> Ints:
    used = np.frombuffer(nodes, dtype=np.int64)
    return np.sort(host_hops(network)[np.ix_(used, used)].astype(np.int64), axis=1)


def nearest(hops: np.ndarray, count: int, T: int, n_tasks: int) -> int:
    """Return the hops from each of the best placed tasks to its nearest slots, summed.

    Parameters
    ----------
    hops : int array
        Distances, each row sorted.
    count : int
        Slots to reach, the task's own among them.
    T : int
        Tasks on a node.
    n_tasks : int
        Tasks to count, the best placed first.
    """
    nodes, rest = divmod(count, T)
    near = hops[:, :nodes].sum(axis=1) * T + (hops[:, nodes] * rest if rest else 0)
    return int(np.sort(np.repeat(near, T))[:n_tasks].sum())
