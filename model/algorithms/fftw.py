"""FFTW's planner of distributed transposes: the bytes of `padded`, over all groups.

FFTW measures which of its algorithms is the fastest and does not say which one it took. So the prediction is that of the
best: all messages at once.
"""


from pencilmap.model.algorithms.algorithm import Algorithm
from pencilmap.model.algorithms.padded import padded
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """One round of padded messages."""
    return (padded(exchange),)


ALGORITHM = Algorithm("FFTW's own transposes, predicted as padded messages at once", rounds, beside=False)
