"""The interface of a routing rule: `Rule` for the messages, `RoutingRule` for its name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.network.network import TorusLink
from pencilmap.model.placement.product import Product
from pencilmap.model.routing.routes import MOST_ENTRIES, Legs, Routes, shortest_legs, table_of
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import JointLoads, LinkLoads
from pencilmap.model.traffic.product_blocks import StageBlocks

MOST_WORK = 2_000_000_000  # routers squared times links: no guide from more


@dataclass(frozen=True)
class ProductLoad:
    """Loads on the m scale (4 load N / D_T), per cable.

    Parameters
    ----------
    load : tuple of Fraction or float
        The largest in each dimension.
    hop_length : Fraction
        Hops of a byte, times 4.
    busiest : TorusLink or None
        None if the closed form does not give the link, or all links are idle.
    """

    load: tuple[Any, ...]
    hop_length: Fraction
    busiest: TorusLink | None = None


class Rule:
    """A rule as a value. Every rule has `loads`; a rule that has a closed form overrides its method.

    Ranks are at ends of the network, as `pencilmap.model.placement.allocation.Mapping.ends` says: at nodes, or at single
    links of nodes with several links.

    `network` is of a kind that has the rule (`pencilmap.model.kinds`).
    """

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Route every message."""
        raise NotImplementedError

    def of_product(self, product: Product, letters: str) -> ProductLoad | None:
        """The closed form for an exchange of a product placement with even blocks; `letters` are the dimensions of the grid
        along which its groups lie.
        """
        return None

    def of_blocks(self, product: Product, blocks: StageBlocks) -> ProductLoad | None:
        """The same for the blocks of a transform."""
        return None

    def joint_of_product(self, product: Product, letters: tuple[str, ...]) -> JointLoads | None:
        """The closed form for several exchanges at once, `letters` one text for each."""
        return None

    def joint_of_blocks(self, product: Product, blocks: tuple[StageBlocks, ...]) -> JointLoads | None:
        """The same for the blocks of a transform."""
        return None

    def ports(self, network: Any) -> tuple[int, Ints] | None:
        """The cables upwards of a leaf, and which of them leads to each node; None if nodes do not decide that."""
        return None

    def shared_seconds(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> float | None:
        """Seconds until the last of some messages has arrived if they share links fairly; None if unknown, or too long."""
        return None

    def legs(self, network: Any, routers: Ints) -> Legs:
        """The routes between different routers, for searches; on shortest paths unless the rule has others."""
        return shortest_legs(network.router_arcs(), routers)

    def routes(self, network: Any, node: Ints, slot: Ints) -> Routes | None:
        """The routes between places, given node by node, as a table; None if they are too many."""
        at, router = np.unique(node, return_inverse=True)
        return None if len(at) ** 2 * 4 > MOST_ENTRIES else table_of(self.legs(network, at), len(at), node, router)

    def guide(self, network: Any, ends: Ints) -> tuple[Ints, Legs] | None:
        """The point of each of some ends, and the legs between points, for a search on part of the links.

        By default points are routers. The result is None if the routes are too many.
        """
        routers, point = np.unique(network.router_of_end[ends], return_inverse=True)
        arcs = network.router_arcs()
        too_many = len(routers) * arcs.n_vertices * len(arcs.source) > MOST_WORK
        return None if too_many else (point, self.legs(network, routers))


@dataclass(frozen=True)
class RoutingRule:
    """A rule of routing by name. Kinds of networks list the rules that work on them.

    Parameters
    ----------
    name : str
    make : callable
        Argument text -> rule; raises RoutingError if the text is not understood.
    usage : str
        Name with arguments.
    meaning : str
        One line for a table of all rules.
    variants : tuple of str
        Arguments that get a line in comparisons of all rules; the first is the default.
    """

    name: str
    make: Callable[[str], Rule]
    usage: str
    meaning: str
    variants: tuple[str, ...] = ("",)

    def by(self, rule: Rule) -> "RoutingRule":
        """Return this rule without arguments as a kind of network computes it."""
        return replace(self, make=_without_argument(self.name, rule), usage=self.name, variants=("",))


def without_argument(name: str, meaning: str, rule: Rule) -> RoutingRule:
    """The row of a rule that takes no argument."""
    return RoutingRule(name, _without_argument(name, rule), name, meaning)


def _without_argument(name: str, rule: Rule) -> Callable[..., Any]:
    def make(argument: str) -> Rule:
        if argument:
            raise RoutingError(f"routing {name}:{argument}: {name} takes no argument")
        return rule

    return make
