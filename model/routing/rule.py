"""The interface of a routing rule: `Rule` for the messages, `RoutingRule` for the table of names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.placement.product import Product
from pencilmap.model.routing.legs import Legs, shortest_legs
from pencilmap.model.routing.product_load import ProductLoad
from pencilmap.model.routing.weighted_routes import WeightedRoutes
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.joint_loads import JointLoads
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.product_blocks import StageBlocks


class Rule:
    """A rule as a value. Every rule has `loads`; a rule that has a closed form overrides its method.

    Ranks are at ends of the network, as `pencilmap.model.placement.mapping.Mapping.ends` says: at nodes, or at single
    links of nodes with several links.

    `network` is of a kind whose row names the rule (`pencilmap.model.network.kinds`).
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

    def legs(self, network: Any, routers: Ints) -> Legs:
        """The routes between different routers as a table, for searches; on shortest paths unless the rule has a table."""
        return shortest_legs(network, routers)

    def weighted_routes(self, network: Any, nodes: Ints) -> WeightedRoutes | None:
        """The routes between these nodes, for links with weights."""
        return None


@dataclass(frozen=True)
class RoutingRule:
    """The entry of a name in the table. The rows of the kinds of networks say on which networks the rule works.

    Parameters
    ----------
    make : callable
        Argument text -> rule; raises RoutingError if the text is not understood.
    usage : str
        Name with arguments.
    meaning : str
        One line for a table of all rules.
    variants : tuple of str
        Arguments that get a line in comparisons of all rules; the first is the default.
    """

    make: Callable[[str], Rule]
    usage: str
    meaning: str
    variants: tuple = ("",)


def without_argument(name: str, meaning: str, rule: Rule) -> RoutingRule:
    """The row of a rule that takes no argument."""
    def make(argument: str) -> Rule:
        if argument:
            raise RoutingError(f"routing {name}:{argument}: {name} takes no argument")
        return rule

    return RoutingRule(make, name, meaning)
