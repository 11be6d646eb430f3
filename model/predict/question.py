"""The question that a prediction answers, and a placement with everything that decides about its loads and times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from pencilmap.model.algorithms import DEFAULT_ALGORITHM, algorithm_named
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.kinds import DEFAULT_ROUTING, all_variants, default_routing, routing
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping, Placement
from pencilmap.model.placement.product import Product, effective_length
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import BACKWARD, FORWARD, SEQUENCE, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.held_out import LikelyRange
from pencilmap.model.times.timing import LocalTerms, local_terms, local_work
from pencilmap.model.traffic.exchange import Exchange, exchanges
from pencilmap.model.traffic.halo import Halo
from pencilmap.model.traffic.loads import m_time

RANDOM_ROUTING = "minimal-adaptive"  # as adaptive routers under contention are taken to route
MOST_NODES_AT_RANDOM = 4096  # up to this size contention is predicted for placements that are not products, in a few seconds


@dataclass(frozen=True)
class Question:
    """Network, usable nodes and transform, the costs of the machine, and the rules by which messages travel.

    Parameters
    ----------
    routing : str, optional
        See `pencilmap.model.kinds.ROUTINGS`; by default the default of the network.
    exchange : str or sequence of str
        Name of the exchange algorithm, see `pencilmap.model.algorithms.ALGORITHMS`, or one name for each exchange.
    schedule : str
        See `pencilmap.model.schedules.SCHEDULES`; ``best`` takes the fastest of those that keep the boxes.
    direction : str
        ``forward``, ``backward`` or ``pair``, one of each: then the exchanges of a prediction are those of the forward
        transform, and the times of `Prediction.schedule` those of both. Forward leaves a backward transform as it is.
    site : Site, optional
        Network, tasks per node, usable nodes. A prediction without a site is for the network of the placement.
    transform : Transform, optional
        Without it predictions will have no times, only lengths.
    costs : Costs
        The machine's costs besides link bandwidth.
    machine : str, optional
        Name or file of the machine, None when only a shape was named.
    notes : tuple of str
        Notes for a reader of any prediction.
    hosts : dict of str to int, optional
        Nodes of the hosts in the launcher's order, None unless the list of nodes names every node.
    decomposition : Decomposition
        Decomposition of grids that are named.
    decompositions : tuple of Decomposition
        Decompositions that a plan may choose from; if empty, only `decomposition`.
    shapes : tuple of Question
        The same question on other shapes with as many nodes, or with other tasks per node. A plan may choose from them; if
        empty, only this network.
    robust : bool
        Whether the worst over the routing rules counts, and is predicted if no rule is named.
    likely : LikelyRange, optional
        Measured over predicted time, see `pencilmap.model.machines.machine.Machine.likely`.
    halo : Halo, optional
        Halos beside the transform; they count in the choice of a placement.
    """

    routing: str | None = None
    exchange: str | Sequence[str] = DEFAULT_ALGORITHM
    schedule: str = SEQUENCE
    direction: str = FORWARD
    site: Site = None  # type: ignore[assignment]  # that of the placement
    transform: Transform | None = None
    costs: Costs = Costs()
    machine: str | None = None
    notes: tuple[str, ...] = ()
    hosts: dict[str, int] | None = None
    decomposition: Decomposition = PENCIL
    decompositions: tuple[Decomposition, ...] = ()
    shapes: tuple["Question", ...] = ()
    robust: bool = False
    likely: LikelyRange | None = None
    halo: Halo | None = None

    def towards(self, direction: str) -> Self:
        """Return the same question for a transform in a direction, or for a pair of both; forward leaves it as it is.

        The transform is then backward, and searches and predictions use its exchanges. Of a pair it is the forward one.
        Raises ScheduleError for an unknown direction.
        """
        transform = directed(self.transform, direction)
        return self if direction == FORWARD else replace(self, transform=transform, direction=direction, shapes=tuple(
            shape.towards(direction) for shape in self.shapes))

    def under(self, rule: str) -> Self:
        """Return the same question under a routing rule."""
        return replace(self, routing=rule)

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def tasks_per_node(self) -> int:
        return self.site.tasks_per_node

    @property
    def n_slots(self) -> int:
        return self.site.n_slots

    @property
    def rules(self) -> tuple[str, ...]:
        """The routing rules that count: the named rule, else all rules of the network if the worst counts."""
        if self.routing is not None:
            return (self.routing,)
        return tuple(all_variants(self.network)) if self.robust else ()

    @property
    def wraps(self) -> tuple["Question", ...]:
        """The same question on the torus and on the open mesh of the same extents; empty unless both were asked for."""
        is_both = (len(self.shapes) == 2 and self.network.has_coordinates
                   and len({(shape.tasks_per_node, shape.network.shape) for shape in self.shapes}) == 1)
        return self.shapes if is_both else ()

    @property
    def each_wrap(self) -> list[Self]:
        """This question on the torus and on the open mesh if both were asked for, else the question itself."""
        return [replace(self, site=shape.site, notes=shape.notes, shapes=()) for shape in self.wraps] or [self]

    def algorithms(self, grid: ProcessGrid) -> tuple[str, ...]:
        """Return the name of the algorithm of each exchange of a grid; a single name stands for all."""
        return (self.exchange,) * len(grid.decomposition.names) if isinstance(self.exchange, str) else tuple(self.exchange)


@dataclass(frozen=True)
class Case:
    """A placement and a question about it.

    Parameters
    ----------
    placed : Placement
    question : Question
    product : Product, optional
        The product whose groups use the places of the groups of the placement, if it is known.
    """

    placed: Placement
    question: Question
    product: Product | None = None

    @property
    def site(self) -> Site:
        """The slots that another placement might use."""
        return self.question.site or Site(self.network, self.tasks_per_node, idle=True)

    @property
    def grid(self) -> ProcessGrid:
        return self.placed.grid

    @property
    def tasks_per_node(self) -> int:
        return self.placed.tasks_per_node

    @property
    def network(self) -> Network:
        return self.placed.network

    @property
    def costs(self) -> Costs:
        return self.question.costs

    @cached_property
    def transform(self) -> Transform | None:
        """The transform in the direction of the question, of a pair the forward one. Without it there are no times."""
        return directed(self.question.transform, self.question.direction)

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges one by one."""
        return exchanges(self.grid, self.transform)

    @property
    def is_backward(self) -> bool:
        return self.question.direction == BACKWARD or (self.transform is not None and self.transform.backward)

    @property
    def turned(self) -> "Case":
        """The backward transform of a pair."""
        return replace(self, question=self.question.towards(BACKWARD))

    @cached_property
    def mapping(self) -> Mapping:
        """The places of the ranks, one by one."""
        return self.placed.mapping()

    @cached_property
    def routing_name(self) -> str:
        """The rule of the question, by default that of the network."""
        return self.question.routing or default_routing(self.network)

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """Name of the algorithm of each exchange."""
        return self.question.algorithms(self.grid)

    @cached_property
    def rule(self) -> Any:
        """The routing rule."""
        return routing(self.routing_name, self.network)

    @cached_property
    def local(self) -> LocalTerms | None:
        """The time of the computing, None without a transform."""
        if self.transform is None:
            return None
        return local_terms(local_work(self.transform, self.grid, self.tasks_per_node), self.costs)

    @cached_property
    def is_even(self) -> bool:
        """Whether all messages of an exchange have one size; they have without a transform."""
        return self.transform is None or self.transform.divides_evenly(self.grid)

    @cached_property
    def at_once(self) -> bool:
        """Whether all messages of an exchange start at once, as they are."""
        return all(algorithm_named(name).is_exchange(self.is_even) for name in self.algorithms)

    @property
    def contends(self) -> bool:
        """Whether the contention of adaptive routers is included. Rules other than the default describe the routers
        themselves.
        """
        return self.costs.contention is not None and self.routing_name == DEFAULT_ROUTING

    @property
    def routes_at_random(self) -> bool:
        """Whether every route of adaptive routers can be followed in seconds."""
        return self.network.n_nodes <= MOST_NODES_AT_RANDOM

    def seconds(self, lengths: Iterable[Fraction]) -> float | None:
        """Seconds of the busiest link by its length in each class of links, None without a transform or a bandwidth."""
        return None if self.transform is None else m_time(lengths, self.network, self.transform.total_bytes)


def effective_lengths(product: Product, letters: str) -> tuple[Fraction, ...]:
    """The effective length of an exchange in each dimension, by the paper's equation 16."""
    return tuple(effective_length(p, letters, product.torus, i) for i, p in enumerate(product.dimensions))
