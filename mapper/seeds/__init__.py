"""Seeds of searches for each kind of network: a table from the name of the kind.

A kind with seeds of its own has a file here, whose `SEEDS` is a `Seeds`, and a line below.
"""

from pencilmap.mapper.seeds.seeds import Seeds
from pencilmap.model.base.late import LateTable
from pencilmap.model.kinds import kind_of
from pencilmap.model.network.network import Network

_PLACES = {  # name of the kind: file:name
    "twisted-torus": "twisted_torus:SEEDS",
    "torus-graph": "torus_graph:SEEDS",
}
SEEDS = LateTable[Seeds](__name__, _PLACES)


def seeds_of(network: Network) -> Seeds:
    """Return the seeds of a network."""
    name = kind_of(network).name
    return SEEDS[name] if name in SEEDS else Seeds()
