"""Routing rules: a table from a name to the rule that routes messages.

A new rule is a file here, whose `RULE` is a `RoutingRule`, a line below, and its name in the rows of the networks on which
it works (`pencilmap.model.network.kinds`).
"""

from typing import Any

from pencilmap.model.base.errors import RoutingError, near
from pencilmap.model.base.late import LateTable
from pencilmap.model.network.kinds import KINDS, kind_of
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.routing.carried import Carried
from pencilmap.model.routing.rule import RoutingRule

_PLACES = {  # file:name
    "dimension-order": "dimension_order:RULE",
    "minimal-adaptive": "minimal_adaptive:RULE",
    "shortest-path": "shortest_path:RULE",
    "optimal-minimal": "optimal_minimal:RULE",
    "each-hop": "each_hop:RULE",
    "static": "static:RULE",
    "minimal": "minimal:RULE",
    "ideal-adaptive": "ideal_adaptive:RULE",
    "valiant": "valiant:RULE",
}
ROUTINGS = LateTable[RoutingRule](__name__, _PLACES)
DEFAULT_ROUTING = "dimension-order"
LINEAR_PROGRAMS = "optimal-minimal", "ideal-adaptive"  # rules that solve one; no other rule has a smaller load


def routing(name: str, network: Network | None = None) -> Any:
    """Return the rule that `name` describes.

    Parameters
    ----------
    name : str
        Name and arguments, e.g. ``dimension-order:zyx:parity``; see `ROUTINGS`.
    network : Network, optional
        Must be a network on which the rule works.

    Raises
    ------
    RoutingError
        If there is no such rule, or it does not work on the network.

    Examples
    --------
    >>> routing("dimension-order:parity")
    DimensionOrder(order=None, tie='parity')
    """
    head, _, argument = name.partition(":")
    if head not in ROUTINGS:
        raise RoutingError(f"routing {name!r} is unknown{near(head, ROUTINGS)}; known are "
                           f"{', '.join(r.usage for r in ROUTINGS.values())}")
    if network is not None and head not in routings_of(network):
        raise RoutingError(f"routing {name!r} does not work on {network.title}; available are "
                           f"{', '.join(ROUTINGS[n].usage for n in routings_of(network))}")
    rule = ROUTINGS[head].make(argument)
    is_of_torus = isinstance(network, TorusGraph) and head not in KINDS["graph"].routings
    return Carried(rule) if is_of_torus else rule


def routings_of(network: Network) -> tuple[str, ...]:
    """Return the names of the rules that work on a network, its default first."""
    return kind_of(network).routings


def default_routing(network: Network) -> str:
    """Return the name of the default rule."""
    return routings_of(network)[0]


def all_variants(network: Network) -> list[str]:
    """Return every rule of a network with all its variants; those for ties at half a ring are for tori without twists.

    >>> from pencilmap.model.network.torus import Torus
    >>> all_variants(Torus((4,)))[:3]
    ['dimension-order', 'dimension-order:parity', 'dimension-order:plus']
    """
    return [f"{name}:{variant}" if variant else name for name in routings_of(network)
            for variant in ROUTINGS[name].variants[:None if network.has_products else 1]]
