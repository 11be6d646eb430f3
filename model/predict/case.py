"""A placement with everything that decides about its loads and times."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from pencilmap.model.algorithms import algorithm_named
from pencilmap.model.kinds import DEFAULT_ROUTING, default_routing, routing
from pencilmap.model.network.network import Network
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.pattern import effective_length
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import BACKWARD, directed
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import LocalTerms, local_terms, local_work
from pencilmap.model.traffic.exchange import Exchange, exchanges
from pencilmap.model.traffic.loads import m_time

RANDOM_ROUTING = "minimal-adaptive"  # as adaptive routers under contention are taken to route
MOST_NODES_AT_RANDOM = 4096  # up to this size contention is predicted for placements that are not products, in a few seconds


@dataclass(frozen=True)
class Case:
    """A placement and a question about it.

    Parameters
    ----------
    product : Product, optional
        Whose groups use the places of the groups of the placement.
    transform : Transform, optional
        In the direction of the question, of a pair the forward transform. Without it there will be no times, only lengths.
    costs : Costs
        The machine's costs besides link bandwidth.
    """

    placed: Product | Mapping
    product: Product | None
    transform: Transform | None
    question: Question
    costs: Costs

    @property
    def grid(self) -> ProcessGrid:
        return self.placed.grid

    @property
    def tasks_per_node(self) -> int:
        return self.placed.tasks_per_node

    @property
    def network(self) -> Network:
        return self.placed.torus if isinstance(self.placed, Product) else self.placed.network

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
        question = replace(self.question, direction=BACKWARD)
        return replace(self, transform=directed(self.transform, BACKWARD), question=question)

    @cached_property
    def mapping(self) -> Mapping:
        """The places of the ranks, one by one."""
        return self.placed.mapping() if isinstance(self.placed, Product) else self.placed

    @cached_property
    def routing_name(self) -> str:
        """The rule of the question, by default that of the network."""
        return self.question.routing or default_routing(self.network)

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """Name of the algorithm of each exchange."""
        return self.question.algorithms(self.grid)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the placement."""
        return () if isinstance(self.placed, Product) else self.placed.notes

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

    @property
    def is_even(self) -> bool:
        """Whether all messages of an exchange have one size; they have without a transform."""
        return self.transform is None or self.transform.divides_evenly(self.grid)

    @property
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
