"""Loads of exchanges, each routed once: a search judges the placements that are then predicted.

Idea: a rule sees the nodes of the members of each group. So exchanges on the same nodes in the same order have the same loads,
also those of grids RxC and CxR. Even blocks only scale them.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np

from pencilmap.model.network.network import Network
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads

MOST_KEPT = 64          # loads
MOST_BYTES = 1 << 58    # of an array whose loads are scaled in 64 bits


def known_loads(network: Network, exchange: Exchange, ends: np.ndarray, rule: Any) -> LinkLoads:
    """Return the load of every link under a routing rule. The last loads are kept.

    Parameters
    ----------
    network : Network
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    rule : value of `pencilmap.model.routing.routing`
    """
    members = exchange.members
    scaled = exchange.is_even and exchange.total_bytes < MOST_BYTES
    weights = exchange.group_weight, exchange.send_weight, exchange.receive_weight
    sizes = () if scaled else (*(weight.tobytes() for weight in weights), exchange.unit_bytes, exchange.total_bytes)
    key = network, rule, members.shape, np.asarray(ends)[members].tobytes(), *sizes
    if key not in _found:
        if scaled:
            ones = (np.ones_like(weight) for weight in weights)
            plain = Exchange(exchange.name, exchange.letters, members, *ones, unit_bytes=1,
                             total_bytes=members.size * members.shape[1])
        _found[key] = rule.loads(network, plain if scaled else exchange, ends)
        if len(_found) > MOST_KEPT:
            _found.popitem(last=False)
    loads = _found[key]
    return replace(loads, values=loads.values * exchange.message_unit, total_bytes=exchange.total_bytes) if scaled else loads


_found: OrderedDict[Any, LinkLoads] = OrderedDict()
