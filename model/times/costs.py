"""The costs of communication and computing on a machine besides its link bandwidth; SI numbers, None if unknown."""

from dataclasses import dataclass, fields, replace
from math import inf

from pencilmap.model.base.errors import MachineError


@dataclass(frozen=True)
class MessageRange:
    """Costs of messages up to some size; rates are bytes per second, None if only the links limit the messages."""

    up_to: float      #: bytes of the largest message; infinite for the last range
    start_s: float    #: seconds from sending to arriving, without hops and bytes: Jocksch's alpha
    ports: int = 1    #: messages that a task starts at a time: m messages take ceil(m / ports) starts
    rate: float | None = None      #: of a single message: the inverse of Jocksch's beta
    together: float | None = None  #: of all messages of a task at once


@dataclass(frozen=True)
class Costs:
    """The figures of a machine that the time model uses besides the bandwidth of its links.

    Raises
    ------
    MachineError
        If a rate is 0 or a figure is negative.

    Examples
    --------
    >>> Costs(message_cost_s=2e-6).injection_per_task is None
    True
    """

    hop_latency_s: float | None = None  #: seconds that the head of a message needs from one node to the next
    injection_per_task: float | None = None  #: bytes per second that one task can put into the network
    injection_per_node: float | None = None  #: bytes per second that all tasks of a node together can put into the network
    #: bytes times hops per second that all tasks of a node together move through links that other jobs use, too
    byte_hops_per_node: float | None = None
    #: bytes per second that all tasks of a node together pass to tasks of the same node
    on_node_bandwidth: float | None = None
    message_cost_s: float | None = None  #: seconds of a task's time for each message that the task sends, of any size
    message_size_cost_s: float | None = None  #: seconds for a message of 1 KiB; times the square root of other sizes
    #: seconds for a message of 1 KiB and each of its hops; times the square root of other sizes
    message_hop_cost_s: float | None = None
    #: seconds of a node's ports for each message that leaves the node, of any size and any of its tasks
    node_message_cost_s: float | None = None
    messages: tuple[MessageRange, ...] | None = None  #: costs by size, the smallest first, in place of the three above
    #: seconds that every task of a node adds to an exchange of any size: entering, starting, waiting for the last task
    exchange_cost_s: float | None = None
    #: 0 to 1: share of the computing beside an exchange that overlaps, because the MPI or the network makes progress
    # meanwhile
    progress: float | None = None
    contention: float | None = None  #: dimensionless, 0 or more; the factor in `pencilmap.model.times.timing`
    #: floating-point operations per second (5 n log2 n for a transform of n elements) of the local FFTs of one task
    fft_rate_per_task: float | None = None
    cache_bandwidth_per_task: float | None = None  #: bytes per second that a task reads and writes beyond its own cache
    memory_bandwidth_per_node: float | None = None  #: bytes per second that a node reads and writes in its memory
    copy_cost_s: float | None = None  #: seconds for each message that a task packs and unpacks, whatever its size
    cache_per_task: float | None = None  #: bytes of a task's own cache; if unknown, every pass stays in the cache
    cache_per_node: float | None = None  #: bytes of the caches of a node: a smaller pass does not go to memory
    fitted_nodes: int | None = None  #: most nodes of the exchanges to which figures were fitted; None if none were
    fitted_message: float | None = None  #: bytes of the smallest message of these exchanges; None if not known

    def __post_init__(self) -> None:
        if self.messages is not None:
            self._check_messages(self.messages)
        for f in fields(self):
            value = getattr(self, f.name) if f.name != "messages" else None
            if value is not None and not (0 < value < float("inf") if f.name in RATES else 0 <= value < float("inf")):
                least = "more than 0" if f.name in RATES else "0 or more"
                raise MachineError(f"{f.name} {value}: a finite number of {least} is needed, or None where it is unknown")
        if self.progress is not None and self.progress > 1:
            raise MachineError(f"progress {self.progress}: a share from 0 to 1 is needed, or None where it is unknown")

    def range_of(self, message_bytes: float) -> MessageRange | None:
        """Return the range of messages of that size; None if their costs do not depend on ranges.

        >>> Costs(messages=(MessageRange(8192, 1e-6, 4), MessageRange(float("inf"), 3e-6))).range_of(8193).start_s
        3e-06
        """
        return next((each for each in self.messages or () if message_bytes <= each.up_to), None)

    def starting(self, message_s: float | None = None, ports: int | None = None) -> "Costs":
        """Return the costs with another start of all messages, and with another number of messages that start at a time.

        Parameters
        ----------
        message_s : float, optional
            Seconds to start a message of any size; by default the start of these costs.
        ports : int, optional
            Messages that a task starts at a time; by default the ports of these costs.

        Raises
        ------
        MachineError
            If ports are given, but the start of a message is unknown or depends on its size or hops.

        Examples
        --------
        >>> Costs().starting(2e-6, ports=3).messages
        (MessageRange(up_to=inf, start_s=2e-06, ports=3, rate=None, together=None),)
        """
        if message_s is None and ports is None:
            return self
        ranges = self.messages
        if ranges is None or message_s is not None:
            start_s = self.message_cost_s if message_s is None else message_s
            if start_s is None or (message_s is None and (self.message_size_cost_s or self.message_hop_cost_s)):
                raise MachineError("ports say how many messages start at a time, but the time of a start is not known here; "
                                   "give it with `message_cost`, such as 2 us")
            ranges = (MessageRange(inf, start_s),)
        return replace(self, message_cost_s=None, message_size_cost_s=None, message_hop_cost_s=None, fitted_nodes=None,
                       messages=tuple(replace(each, ports=ports or each.ports) for each in ranges))

    def _check_messages(self, ranges: tuple[MessageRange, ...]) -> None:
        ends = [each.up_to for each in ranges]
        if not ends or ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] != float("inf"):
            raise MachineError(f"ranges of messages up to {', '.join(f'{end:g}' for end in ends) or 'nothing'} bytes: each "
                               "ends above the one before, and the last has no end")
        for each in ranges:
            if not 0 <= each.start_s < float("inf") or each.ports < 1 or any(
                    rate is not None and not 0 < rate < float("inf") for rate in (each.rate, each.together)):
                raise MachineError(f"messages up to {each.up_to:g} bytes: a start of 0 s or more, 1 port or more, and "
                                   "rates above 0 are needed")
        given = (self.message_cost_s, self.message_size_cost_s, self.message_hop_cost_s)
        if any(cost is not None for cost in given):
            raise MachineError("messages has the starts of messages of every size, so message_cost, message_size_cost and "
                               "message_hop_cost would count them twice: leave these out")


RATES = ("injection_per_task", "injection_per_node", "byte_hops_per_node", "on_node_bandwidth", "fft_rate_per_task",
         "cache_bandwidth_per_task", "memory_bandwidth_per_node")
