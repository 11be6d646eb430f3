"""The costs of communication and computing on a machine besides its link bandwidth; SI numbers, None where unknown."""

from dataclasses import dataclass, fields

from pencilmap.model.errors import MachineError


@dataclass(frozen=True)
class Costs:
    """The figures of a machine that the time model uses besides the bandwidth of its links.

    Raises MachineError when a rate is 0 or a figure is negative.

    >>> Costs(message_cost_s=2e-6).injection_per_task is None
    True
    """

    hop_latency_s: float | None = None  #: seconds that the head of a message needs from one node to the next
    injection_per_task: float | None = None  #: bytes per second that one task can put into the network
    injection_per_node: float | None = None  #: bytes per second that all tasks of a node together can put into the network
    message_cost_s: float | None = None  #: seconds of a task's time for each message it sends, whatever its size
    message_size_cost_s: float | None = None  #: seconds for each message of 1 KiB; others by the square root of their size
    #: seconds that every task of a node adds to an exchange, whatever it sends: entering, starting, waiting for the last
    exchange_cost_s: float | None = None
    #: 0 to 1: how much of the computing beside an exchange it hides, because the MPI or the network goes on meanwhile
    progress: float | None = None
    contention: float | None = None  #: dimensionless, 0 or more; see `pencilmap.model.timing` for what it multiplies
    #: floating-point operations per second (5 n log2 n for a transform of n elements) of the local FFTs of one task
    fft_rate_per_task: float | None = None
    memory_bandwidth_per_node: float | None = None  #: bytes per second that a node reads and writes in its memory
    cache_per_node: float | None = None  #: bytes of the caches of a node: a pass over less than this does not go to memory

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and not (0 < value < float("inf") if f.name in RATES else 0 <= value < float("inf")):
                least = "more than 0" if f.name in RATES else "0 or more"
                raise MachineError(f"{f.name} {value}: a finite number of {least} is needed, or None where it is unknown")
        if self.progress is not None and self.progress > 1:
            raise MachineError(f"progress {self.progress}: a share from 0 to 1 is needed, or None where it is unknown")


RATES = ("injection_per_task", "injection_per_node", "fft_rate_per_task", "memory_bandwidth_per_node")
