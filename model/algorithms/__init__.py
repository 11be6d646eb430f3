"""Exchange algorithms of the library as the model sees them: a table from a name to its rounds of messages.

To add an algorithm, write a file here, whose `ALGORITHM` is an `Algorithm`, and a line below, or several for one file. The
names should match fft_runner/src/exchange/exchange_table.c.
"""

from pencilmap.model.algorithms.algorithm import Algorithm
from pencilmap.model.base.errors import ExchangeError, near
from pencilmap.model.base.late import LateTable

_PLACES = {  # file:name; the first is the default
    "alltoallv": "alltoallv:ALGORITHM",
    "alltoall": "alltoall:ALGORITHM",
    "padded": "padded:ALGORITHM",
    "alltoallw": "alltoallw:ALGORITHM",
    "p2p": "p2p:ALGORITHM",
    "persistent": "persistent:ALGORITHM",
    "bruck2": "bruck:RADIX_2",
    "bruck4": "bruck:RADIX_4",
    "bruck8": "bruck:RADIX_8",
    "node": "node:ALGORITHM",
    "put": "put:ALGORITHM",
    "fftw": "fftw:ALGORITHM",
}
ALGORITHMS = LateTable[Algorithm](__name__, _PLACES)
DEFAULT_ALGORITHM = "alltoallv"


def algorithm_named(name: str) -> Algorithm:
    """Return the algorithm of that name.

    Raises
    ------
    ExchangeError
        If there is no such algorithm.

    Examples
    --------
    >>> algorithm_named("p2p").is_alltoall
    False
    """
    if name not in ALGORITHMS:
        raise ExchangeError(f"exchange {name!r} is unknown to the model{near(name, ALGORITHMS)}; known are "
                            f"{', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
