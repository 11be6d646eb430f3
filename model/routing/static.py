"""Static destination routes of a fat tree, as the subnet managers of InfiniBand set them: D modulo k.

Idea: the host that receives a message decides about its cables at each level. So messages to hosts of the same remainder
share cables, and some placements load a few cables only.
Source: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees", CCIT
report 776, Technion (2010).
Cost: as `pencilmap.model.routing.tree_loads`, times the cables upwards of a switch.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.routing.tree_loads import static_loads
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class Static(Rule):
    """The rule as a value."""

    def loads(self, network: FatTree, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link, see `pencilmap.model.routing.tree_loads.static_loads`."""
        return static_loads(network, exchange, node_of_rank)


RULE = without_argument("static", "on a fat tree: the host that receives a message decides about its cables (D mod k)",
                        Static())
