"""The traffic of any program: bytes between ranks by phase."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.exchange import Exchange, of_messages

# The traffic of any program: who sends how many bytes and messages to whom, phase by phase.
#
# Phases follow one another, so the time on the links is the sum over the phases of their busiest links. Total bytes hide
# that. The messages of one phase are in flight together. Those of point-to-point and one-sided calls are exact. Collectives
# either state their pairs (alltoall, gather, scatter, neighbourhood collectives), or get the messages of a common
# algorithm, which the MPI library may send otherwise. If the MPI library has counted the messages inside collectives, these
# replace both.

POINT, ONE_SIDED, STATED, MODELLED, MEASURED = range(5)
KINDS = ("point-to-point", "one-sided", "collective", "collective, modelled", "collective, measured")
COLLECTIVE = (STATED, MODELLED, MEASURED)
UNKNOWN = -1  #: number of the communicator of a pair without one
MOST_RANKS = 1 << 20


@dataclass(frozen=True)
class Pairs:
    """Rows of (communicator, kind, source, target, bytes, messages): int arrays of one length."""

    communicator: Ints
    kind: Ints
    source: Ints
    target: Ints
    bytes: Ints
    messages: Ints

    def __len__(self) -> int:
        return len(self.source)

    @property
    def columns(self) -> tuple[Ints, ...]:
        return self.communicator, self.kind, self.source, self.target, self.bytes, self.messages

    def where(self, kept: Any) -> "Pairs":
        """Return the rows that a mask or a list of row numbers picks.

        Examples
        --------
        >>> pairs_of([0, 1], [1, 0], [10, 20]).where([1]).bytes.tolist()
        [20]
        """
        return Pairs(*(column[kept] for column in self.columns))

    def of(self, kinds: Iterable[int]) -> "Pairs":
        """Return the rows of some kinds."""
        return self.where(np.isin(self.kind, list(kinds)))


def pairs_of(source: Any, target: Any, n_bytes: Any, messages: Any = 1, kind: Any = POINT,
             communicator: Any = UNKNOWN) -> Pairs:
    """Return pairs from columns or single numbers; messages of a rank to itself are left out.

    Examples
    --------
    >>> len(pairs_of([0, 1, 1], [1, 0, 1], [8, 8, 8]))
    2
    """
    columns = np.broadcast_arrays(*(np.asarray(column, dtype=np.int64)
                                    for column in (communicator, kind, source, target, n_bytes, messages)))
    return Pairs(*columns).where(columns[2] != columns[3])


def joined(parts: Iterable[Pairs]) -> Pairs:
    """Return the rows of several tables together."""
    columns = [part.columns for part in parts] or [tuple(np.empty(0, np.int64) for _ in range(6))]
    return Pairs(*(np.concatenate(column) for column in zip(*columns)))


def added(pairs: Pairs) -> Pairs:
    """Return the pairs with one row for each communicator, kind, source and target.

    Examples
    --------
    >>> added(joined([pairs_of([0, 1], [1, 0], [8, 5]), pairs_of([0], [1], [2])])).bytes.tolist()
    [10, 5]
    """
    keys, at = np.unique(np.stack(pairs.columns[:4]), axis=1, return_inverse=True)
    sums = np.zeros((2, keys.shape[1]), np.int64)
    for total, column in zip(sums, (pairs.bytes, pairs.messages)):
        np.add.at(total, np.ravel(at), column)
    return Pairs(*keys, *sums)


@dataclass(frozen=True)
class Communicator:
    """A communicator that was used: the world ranks of its members in order, and its Cartesian topology if it has one.

    The rank of a process of another job is -1.
    """

    members: Ints
    extents: tuple[int, ...] = ()
    periodic: tuple[bool, ...] = ()
    inter: bool = False  #: the members of both groups of an intercommunicator


@dataclass(frozen=True)
class Phase:
    """Messages that are in flight together.

    Parameters
    ----------
    n_ranks : int
    pairs : Pairs
        Of all repetitions together.
    times : int
        Number of repetitions.
    seconds : float, optional
        How long all of them took, from the end of the phase before.
    name : str
        The level of MPI_Pcontrol, or a text.
    computing, waiting : float array, optional
        Shape (P,): seconds of each rank outside of MPI and inside, of all repetitions. With more ranks than cores those
        outside are processor time.
    """

    n_ranks: int
    pairs: Pairs
    times: int = 1
    seconds: float | None = None
    name: str = ""
    computing: Any = None
    waiting: Any = None

    @cached_property
    def bytes(self) -> Any:
        """Return the bytes from row to column: sparse int array, shape (P, P)."""
        return self._matrix(self.pairs.bytes)

    @cached_property
    def messages(self) -> Any:
        """Return the messages from row to column: sparse int array, shape (P, P)."""
        return self._matrix(self.pairs.messages)

    @cached_property
    def exchange(self) -> Exchange:
        """The bytes of each pair of ranks as a message, for routing rules."""
        matrix = self.bytes.tocoo()
        pairs, sizes = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64), matrix.data.astype(np.int64)
        return of_messages(self.name, pairs, sizes, 1, max(1, int(sizes.sum())))

    def _matrix(self, values: Ints) -> Any:
        from scipy.sparse import coo_array  # slow to import

        matrix = coo_array((values, (self.pairs.source, self.pairs.target)), shape=(self.n_ranks, self.n_ranks)).tocsr()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


@dataclass(frozen=True)
class Traffic:
    """The traffic of a program.

    Parameters
    ----------
    n_ranks : int
    phases : tuple of Phase
        In the order in which they began.
    communicators : tuple of Communicator
        Pairs name them by number; empty if they are not known.
    seconds : float, optional
        How long the program ran.
    outside : tuple of int
        Bytes and messages to processes that are no ranks of the program.
    mpi : str
        Name and version of the MPI library, if it is known.
    processor_seconds : float, optional
        Processor time between MPI_Init and MPI_Finalize, of the rank with the most.
    ranks_per_core : float, optional
        Ranks for each logical processor that they could use, on the host with the most.
    note : str
        What a file of another tool leaves out or does not tell.
    """

    n_ranks: int
    phases: tuple[Phase, ...]
    communicators: tuple[Communicator, ...] = ()
    seconds: float | None = None
    outside: tuple[int, int] = (0, 0)
    mpi: str = ""
    processor_seconds: float | None = None
    ranks_per_core: float | None = None
    note: str = ""

    @property
    def shared_cores(self) -> bool:
        """Whether ranks waited for each other's cores, so that the run took longer than with a core for each."""
        return self.ranks_per_core is not None and self.ranks_per_core > 1

    @property
    def computing(self) -> Any:
        """The computing of each rank in all phases, None if it is not known."""
        each = [phase.computing for phase in self.phases]
        return None if any(times is None for times in each) else np.sum(each, axis=0)

    @cached_property
    def pairs(self) -> Pairs:
        """The rows of all phases."""
        return joined(phase.pairs for phase in self.phases)

    @cached_property
    def total(self) -> Phase:
        """All phases as one."""
        return Phase(self.n_ranks, self.pairs, seconds=self.seconds, name="total")

    def bytes_by_kind(self) -> tuple[int, ...]:
        """Return the bytes of each of `KINDS`."""
        return tuple(int(self.pairs.of([kind]).bytes.sum()) for kind in range(len(KINDS)))

    def with_measured_collectives(self, measured: Pairs) -> "Traffic":
        """Return the traffic with the messages inside collectives as the MPI library has counted them.

        They replace the messages of the model. The counts are for the whole run: those of a pair go to the phases in
        proportion to the counts of the model for this pair, or for all pairs if the model has none for it.

        Parameters
        ----------
        measured : Pairs

        Examples
        --------
        A model says that rank 0 sends 10 bytes to rank 1 in the first phase and 30 in the second; measured were 80:

        >>> phases = [Phase(2, pairs_of([0], [1], [n], kind=MODELLED)) for n in (10, 30)]
        >>> found = Traffic(2, tuple(phases)).with_measured_collectives(pairs_of([0], [1], [80], 3))
        >>> [(phase.bytes.toarray().tolist(), phase.pairs.messages.tolist()) for phase in found.phases]
        [([[0, 20], [0, 0]], [2]), ([[0, 60], [0, 0]], [1])]
        """
        keys, at = np.unique(measured.source * self.n_ranks + measured.target, return_inverse=True)
        modelled = [phase.pairs.of(COLLECTIVE) for phase in self.phases]
        whole = np.array([[float(pairs.messages.sum())] for pairs in modelled])
        parts = []
        for counts, values in ((measured.bytes, [pairs.bytes for pairs in modelled]),
                               (measured.messages, [pairs.messages for pairs in modelled])):
            weights = np.array([_by_key(pairs, of_pairs, keys, self.n_ranks) for pairs, of_pairs in zip(modelled, values)])
            weights[:, weights.sum(axis=0) == 0] = whole if whole.any() else 1.0
            ends = np.cumsum(weights, axis=0) / weights.sum(axis=0) * np.bincount(at, counts, len(keys))
            parts.append(np.diff(np.rint(ends), axis=0, prepend=0).astype(np.int64))
        phases = []
        for phase, some_bytes, some_messages in zip(self.phases, *parts):
            rows = pairs_of(keys // self.n_ranks, keys % self.n_ranks, some_bytes, some_messages, MEASURED)
            kept = phase.pairs.of((POINT, ONE_SIDED))
            phases.append(replace(phase, pairs=joined([kept, rows.where((rows.bytes > 0) | (rows.messages > 0))])))
        return replace(self, phases=tuple(phases))


def _by_key(pairs: Pairs, values: Ints, keys: Ints, n_ranks: int) -> NDArray[Any]:
    """Return the sum of the values for each key, a pair of ranks."""
    own = pairs.source * n_ranks + pairs.target
    at = np.minimum(np.searchsorted(keys, own), max(len(keys) - 1, 0))
    known = keys[at] == own if len(keys) else np.zeros(len(own), bool)
    return np.bincount(at[known], values[known].astype(float), len(keys))


def one_phase(n_ranks: int, pairs: Pairs) -> Traffic:
    """Return the traffic of a matrix, of which nothing but bytes and messages are known.

    Raises
    ------
    TrafficError
        If there are too many ranks.

    Examples
    --------
    >>> one_phase(2, pairs_of([0], [1], [8])).total.bytes.toarray().tolist()
    [[0, 8], [0, 0]]
    """
    check_ranks(n_ranks)
    return Traffic(n_ranks, (Phase(n_ranks, pairs),))


def check_ranks(n_ranks: int) -> None:
    """Raise TrafficError if a number of ranks is impossible."""
    if not 1 <= n_ranks <= MOST_RANKS:
        raise TrafficError(f"traffic of {n_ranks} ranks; 1 to {MOST_RANKS} are possible")
