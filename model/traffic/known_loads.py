"""Loads of exchanges, each routed once: a search judges the placements that are then predicted.

Idea: a rule sees the nodes of the members of each group. So exchanges on the same nodes in the same order have the same
loads, also those of grids RxC and CxR. Even blocks only scale them.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, TypeVar

import numpy as np

from pencilmap.model.network.network import Network
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads

MOST_KEPT = 64          # results of a store
MOST_VALUES = 1 << 22   # of links, if loads have so few that more results fit
MOST_BYTES = 1 << 58    # of an array whose loads are scaled in 64 bits

Result = TypeVar("Result")


def known_loads(network: Network, exchange: Exchange, ends: np.ndarray, rule: Any) -> LinkLoads:
    """Return the load of every link under a routing rule. The last loads are kept.

    Parameters
    ----------
    network : Network
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    rule : value of `pencilmap.model.kinds.routing`
    """
    most = max(MOST_KEPT, MOST_VALUES // max(1, prod(network.link_shape)))
    if not exchange.is_even or exchange.total_bytes >= MOST_BYTES:
        return kept((rule, exchange.unit_bytes, exchange.total_bytes), network, exchange, ends,
                    lambda: rule.loads(network, exchange, ends), _loads, most)
    members = exchange.members
    ones = {name: np.ones_like(getattr(exchange, name)) for name in ("group_weight", "send_weight", "receive_weight")}
    plain = replace(exchange, **ones, unit_bytes=1, total_bytes=members.size * members.shape[1])
    loads = kept((rule,), network, plain, ends, lambda: rule.loads(network, plain, ends), _loads, most)
    return replace(loads, values=loads.values * exchange.message_unit, total_bytes=exchange.total_bytes)


_loads: OrderedDict[Any, Any] = OrderedDict()
_parts: OrderedDict[Any, Any] = OrderedDict()


def kept(key: tuple[Any, ...], network: Network, exchange: Exchange, ends: np.ndarray, make: Callable[[], Result],
         store: OrderedDict[Any, Any] = _parts, most: int = MOST_KEPT) -> Result:
    """Return what `make` makes of an exchange on these ends; the last results are kept in a store under the key."""
    weights = (some.tobytes() for some in (exchange.group_weight, exchange.send_weight, exchange.receive_weight))
    whole = *key, network, exchange.members.shape, np.asarray(ends)[exchange.members].tobytes(), *weights
    if whole not in store:
        store[whole] = make()
        if len(store) > most:
            store.popitem(last=False)
    found: Result = store[whole]
    return found
