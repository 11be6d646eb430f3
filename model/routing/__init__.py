"""Routing rules: a table from a name to the function that gives every link's load.

A rule is a function ``(torus, exchange, node_of_rank) -> LinkLoads``; a new rule is one file here and one line below.
"""

from functools import partial

from pencilmap.model.errors import RoutingError
from pencilmap.model.routing.dimension_order import dimension_order_loads

ROUTINGS = {
    "dimension-order": dimension_order_loads,
    "dimension-order:parity": partial(dimension_order_loads, tie="parity"),
    "dimension-order:plus": partial(dimension_order_loads, tie="plus"),
}
DEFAULT_ROUTING = "dimension-order"


def routing(name):
    """The rule of that name; RoutingError with the known names otherwise."""
    if name not in ROUTINGS:
        raise RoutingError(f"routing {name!r} is unknown; known are {', '.join(ROUTINGS)}")
    return ROUTINGS[name]
