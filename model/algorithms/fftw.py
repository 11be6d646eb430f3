"""FFTW's planner of distributed transposes: the bytes of `padded`, over all groups.

FFTW measures which of its algorithms is fastest and does not name its choice. So the prediction is for the best algorithm:
all messages at once.
"""


from pencilmap.model.algorithms.algorithm import Algorithm
from pencilmap.model.algorithms.padded import padded
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round of padded messages."""
    return (padded(exchange),)


ALGORITHM = Algorithm("FFTW's own transposes, predicted as padded messages at once", rounds, beside=False)
