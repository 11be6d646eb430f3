"""Routing rules: a table from a name to the rule that routes messages.

A rule is a frozen value with two methods:
``loads(network, exchange, node_of_rank) -> LinkLoads`` routes every message;
``of_product(product, letters) -> ProductLoad or None`` is the closed form for an exchange of a product placement with even
blocks, None where there is none; `letters` are the grid dimensions along which its groups lie.
A new rule is one file here and one line below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pencilmap.model.errors import RoutingError
from pencilmap.model.graph_network import GraphNetwork
from pencilmap.model.network import Network
from pencilmap.model.routing import dimension_order, minimal_adaptive, optimal_minimal, shortest_path
from pencilmap.model.torus import Torus


@dataclass(frozen=True)
class RoutingRule:
    """One line of the table.

    make : argument text -> rule; raises RoutingError where the text is not understood
    kinds : networks that the rule can be used on
    variants : arguments that get a line where all rules are compared; the first is the default
    """

    make: Callable
    usage: str
    meaning: str
    kinds: tuple
    variants: tuple = ("",)


ROUTINGS = {
    "dimension-order": RoutingRule(
        dimension_order.parse, "dimension-order[:ORDER][:TIE]",
        "one dimension after the other, e.g. zyx (default: first to last); at half a ring split (default), parity or plus",
        (Torus,), ("", "parity", "plus")),
    "minimal-adaptive": RoutingRule(
        minimal_adaptive.parse, "minimal-adaptive[:CHOICE]",
        "at random along minimal ways, expected loads: at each hop any productive dimension (hops, default), or any minimal "
        "path with the same probability (paths)", (Torus,), ("hops", "paths")),
    "shortest-path": RoutingRule(
        shortest_path.parse, "shortest-path", "split evenly over all shortest paths of a graph", (GraphNetwork,)),
    "optimal-minimal": RoutingRule(
        optimal_minimal.parse, "optimal-minimal",
        "the best that any routing along shortest paths could do: a linear program, for small or regular cases",
        (Torus, GraphNetwork)),
}
DEFAULT_ROUTING = "dimension-order"


def routing(name: str, network: Network | None = None) -> Any:
    """The rule that `name` describes. Raises RoutingError when there is no such rule, or it does not work on the network.

    Parameters
    ----------
    name : str
        Name and arguments, e.g. ``dimension-order:zyx:parity``; see `ROUTINGS`.
    network : Network, optional
        The network it is used on.

    Examples
    --------
    >>> routing("dimension-order:parity")
    DimensionOrder(order=None, tie='parity')
    """
    head, _, argument = name.partition(":")
    if head not in ROUTINGS:
        raise RoutingError(f"routing {name!r} is unknown; known are {', '.join(r.usage for r in ROUTINGS.values())}")
    rule = ROUTINGS[head]
    if network is not None and not isinstance(network, rule.kinds):
        raise RoutingError(f"routing {name!r} cannot be followed on {network.title}; there are "
                           f"{', '.join(ROUTINGS[n].usage for n in routings_of(network))}")
    return rule.make(argument)


def routings_of(network: Network) -> list[str]:
    """Names of the rules that work on a network, its default first."""
    return [name for name, rule in ROUTINGS.items() if isinstance(network, rule.kinds)]


def default_routing(network: Network) -> str:
    """Name of the default rule."""
    return routings_of(network)[0]


def all_variants(network: Network) -> list[str]:
    """Every rule of a network with all its variants.

    >>> all_variants(Torus((4,)))[:3]
    ['dimension-order', 'dimension-order:parity', 'dimension-order:plus']
    """
    return [f"{name}:{variant}" if variant else name for name in routings_of(network) for variant in ROUTINGS[name].variants]
