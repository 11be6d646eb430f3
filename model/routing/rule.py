"""The interface of a routing rule.

`RoutingRule.make` gives a frozen value with six methods:
``loads(network, exchange, node_of_rank) -> LinkLoads`` routes every message;
``of_product(product, letters) -> ProductLoad or None`` is the closed form for an exchange of a product placement with even
blocks, None without a closed form; `letters` are the grid dimensions along which its groups lie;
``of_blocks(product, blocks) -> ProductLoad or None`` is the same for the blocks of a transform, a `StageBlocks`;
``joint_of_product(product, letters) -> JointLoads or None`` is the closed form for several exchanges at once, `letters` one
text for each;
``joint_of_blocks(product, blocks) -> JointLoads or None`` is the same for the blocks of a transform;
``weighted_routes(network, nodes) -> WeightedRoutes or None`` has the routes between these nodes, for links with weights.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class RoutingRule:
    """The entry of a name in the table.

    Parameters
    ----------
    make : callable
        Argument text -> rule; raises RoutingError if the text is not understood.
    kinds : tuple of type
        Networks on which the rule works.
    variants : tuple of str
        Arguments that get a line in comparisons of all rules; the first is the default.
    """

    make: Callable
    usage: str
    meaning: str
    kinds: tuple
    variants: tuple = ("",)
