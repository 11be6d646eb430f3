"""MPI_Alltoall: all messages of an exchange have the same length and start at once."""

from pencilmap.model.algorithms.algorithm import Algorithm
from pencilmap.model.base.errors import GridError
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round.

    Raises
    ------
    GridError
        If messages of a group differ in length, as in the library.
    """
    for weight in (exchange.send_weight, exchange.receive_weight):
        if (weight != weight[0]).any():
            raise GridError(f"exchange alltoall needs extents that the grid divides, and grid {mapping.grid} gives the "
                            f"{exchange.name} exchange blocks of {weight.min()} and {weight.max()}; take padded or "
                            "alltoallv")
    return (exchange,)


ALGORITHM = Algorithm("all messages at once, all of one length: extents that the grid divides", rounds)
