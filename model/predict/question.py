"""The question that a prediction answers: how the network routes, and how and when the exchanges run."""

from collections.abc import Sequence
from dataclasses import dataclass

from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE


@dataclass(frozen=True)
class Question:
    """Routing, exchange algorithms, schedule and direction of a prediction.

    Parameters
    ----------
    routing : str, optional
        See `pencilmap.model.kinds.ROUTINGS`; by default the default of the network.
    exchange : str or sequence of str
        Name of the exchange algorithm, see `pencilmap.model.algorithms.ALGORITHMS`, or one name for each exchange.
    schedule : str
        See `pencilmap.model.schedules.SCHEDULES`; ``best`` takes the fastest of those that keep the boxes.
    direction : str
        ``forward``, ``backward`` or ``pair``, one of each: then the exchanges of a prediction are those of the forward
        transform, and the times of `Prediction.schedule` those of both. Forward leaves a backward transform as it is.
    """

    routing: str | None = None
    exchange: str | Sequence[str] = DEFAULT_ALGORITHM
    schedule: str = SEQUENCE
    direction: str = FORWARD

    def algorithms(self, grid: ProcessGrid) -> tuple[str, ...]:
        """One name of an exchange algorithm for each exchange of a grid; a single name stands for all."""
        return (self.exchange,) * len(grid.decomposition.names) if isinstance(self.exchange, str) else tuple(self.exchange)
