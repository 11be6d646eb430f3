"""The interface of a routing rule.

`RoutingRule.make` gives a frozen value with two methods:
``loads(network, exchange, node_of_rank) -> LinkLoads`` routes every message;
``of_product(product, letters) -> ProductLoad or None`` is the closed form for an exchange of a product placement with even
blocks, None where there is none; `letters` are the grid dimensions along which its groups lie.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class RoutingRule:
    """What the table has for a name.

    make : argument text -> rule; raises RoutingError where the text is not understood
    kinds : networks that the rule can be used on
    variants : arguments that get a line where all rules are compared; the first is the default
    """

    make: Callable
    usage: str
    meaning: str
    kinds: tuple
    variants: tuple = ("",)
