"""Agreement of the ranks before a collective call: if a rank cannot make the call, or makes another call, all ranks raise
the same message.

Idea: the lowest rank that failed, and the least and the greatest checksum of the calls, reach all ranks by dissemination:
in round i every rank sends the minima that it knows to the rank 2^i ahead. The messages carry a tag of the plan on a
duplicate communicator that all plans on a communicator share, so threads may run several plans at once.

Cost: log2 P rounds of 24 bytes. The texts follow only when a rank has failed.
"""

import os
import sys
from array import array
from collections.abc import Callable
from fcntl import ioctl
from stat import S_ISFIFO
from termios import FIONREAD
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Ready = TypeVar("Ready")
Value = TypeVar("Value")
Block: TypeAlias = np.ndarray[Any, np.dtype[Any]]
NAP_S = 0.001
LONGEST = 1 << 30  # bytes of a message
LEAST_TAG_UB = 32767  # of MPI's standard
_key: int | None = None  # of the attribute of a communicator that holds its duplicate


def _await_launcher() -> None:
    """Wait until the launcher has read standard error, at most 5 s: an abort may overtake the message."""
    unread = array("i", [1])
    for _ in range(500):
        if not S_ISFIFO(os.fstat(2).st_mode) or ioctl(2, FIONREAD, unread) or not unread[0]:
            break
        sleep(0.01)
    sleep(0.2)


class _Duplicate:
    """The duplicate of a communicator, which ends with the communicator and the last team on it."""

    def __init__(self, comm: "Comm") -> None:
        self.comm = comm.Dup()
        self.made = self.teams = 0
        self.left = False

    def end_if_unused(self) -> None:
        if self.left and self.teams == 0:
            self.comm.Free()


def _leave(comm: "Comm", _key: int, duplicate: _Duplicate) -> None:
    """Leave the duplicate when the program frees `comm` (a callback). MPI itself ends the duplicates of the worlds."""
    from mpi4py import MPI

    duplicate.left = comm not in (MPI.COMM_WORLD, MPI.COMM_SELF)
    duplicate.end_if_unused()


def _duplicate_of(comm: "Comm") -> _Duplicate:
    global _key
    from mpi4py import MPI

    if _key is None:
        _key = MPI.Comm.Create_keyval(delete_fn=_leave)
    found = comm.Get_attr(_key)
    if found is None:
        found = _Duplicate(comm)
        comm.Set_attr(_key, found)
    assert isinstance(found, _Duplicate)
    return found


def _seconds_to_wait() -> int:
    """Return the seconds of PENCILFFT_CHECK_CALLS; 0 means without end."""
    asked = os.environ.get("PENCILFFT_CHECK_CALLS", "").strip()
    return int(asked) if asked.isdecimal() and int(asked) > 1 else 0


class Team:
    """The ranks that make the collective calls of a plan together. The constructor is collective, while MPI runs."""

    def __init__(self, duplicate: _Duplicate) -> None:
        from mpi4py import MPI

        self._MPI, self._duplicate, self._comm = MPI, duplicate, duplicate.comm
        self.rank, self.size = self._comm.rank, self._comm.size
        self._tag = self._duplicate.made % (self._comm.Get_attr(MPI.TAG_UB) or LEAST_TAG_UB)
        self._duplicate.made += 1
        self._duplicate.teams += 1
        self._seconds, self._seconds_asked = 0, self._comm.bcast(_seconds_to_wait(), 0)
        self._sent, self._received = np.zeros(3, np.int64), np.zeros(3, np.int64)

    def watch(self) -> None:
        """Limit the wait for another rank to PENCILFFT_CHECK_CALLS from now on, because the plan is made."""
        self._seconds = self._seconds_asked

    def another(self) -> "Team":
        """Return a team of the same ranks for another plan. Collective."""
        return Team(self._duplicate)

    def ended(self) -> bool:
        """Return whether MPI has ended."""
        return bool(self._MPI.Is_finalized())

    def leave(self) -> None:
        """Leave the team when its plan has ended. Collective."""
        self._duplicate.teams -= 1
        self._duplicate.end_if_unused()

    def agree(self, call: str, prepare: Callable[[], Ready],
              details: Callable[[Ready], str]) -> tuple[Any, str | None, Exception | None]:
        """Prepare the call on every rank; `details` returns further text that must be equal on all ranks.

        Returns
        -------
        tuple of the result of `prepare`, the message that all ranks raise, and the exception of this rank
            The message is None if no rank failed.
        """
        ready: Ready | None = None
        error = None
        try:
            found = prepare()
            call, ready = call + details(found), found
        except Exception as wrong:  # any exception, because the other ranks would wait
            error = wrong
        number = crc32(call.encode())
        lowest, least, most = self._minima(call, (self.size if error is None else self.rank, number, -number))
        if lowest < self.size:
            return None, self._failure({} if error is None else {self.rank: str(error) or type(error).__name__}), error
        return (ready, None, None) if least == -most else (None, self._difference({self.rank: call}), None)

    def _minima(self, call: str, mine: tuple[int, int, int]) -> tuple[int, ...]:
        self._sent[:] = mine
        for to, source in self._rounds():
            self._pass_on(call, to, source)
            np.minimum(self._sent, self._received, out=self._sent)
        return tuple(self._sent.tolist())

    def _rounds(self) -> list[tuple[int, int]]:
        distances = (1 << i for i in range((self.size - 1).bit_length()))
        return [((self.rank + far) % self.size, (self.rank - far) % self.size) for far in distances]

    def _pass_on(self, call: str, to: int, source: int) -> None:
        if not self._seconds:
            self._comm.Sendrecv(self._sent, to, self._tag, self._received, source, self._tag)
            return
        end = monotonic() + self._seconds
        requests = [self._comm.Irecv(self._received, source, self._tag), self._comm.Isend(self._sent, to, self._tag)]
        while not self._MPI.Request.Testall(requests):
            if monotonic() > end:
                print(f"pencilfft: rank {self.rank} has waited {self._seconds} s in {call} for ranks that did not come to "
                      "it: they have no plan, or make no call of it (PENCILFFT_CHECK_CALLS)", file=sys.stderr, flush=True)
                _await_launcher()
                self._comm.Abort(1)
            sleep(NAP_S)

    def send(self, block: Block, to: int) -> None:
        """Send a contiguous array, in messages that any MPI can count."""
        for start in range(0, block.nbytes, LONGEST):
            self._comm.Send(block.reshape(-1).view(np.uint8)[start:start + LONGEST], to, self._tag)

    def receive(self, block: Block, source: int) -> None:
        for start in range(0, block.nbytes, LONGEST):
            self._comm.Recv(block.reshape(-1).view(np.uint8)[start:start + LONGEST], source, self._tag)

    def tell(self, block: Block, root: int) -> None:
        """Copy the contiguous array of a rank to all ranks. Collective."""
        place = (self.rank - root) % self.size
        for far in (1 << i for i in range((self.size - 1).bit_length())):
            if place < far and place + far < self.size:
                self.send(block, (self.rank + far) % self.size)
            elif far <= place < 2 * far:
                self.receive(block, (self.rank - far) % self.size)

    def shared(self, mine: Value) -> list[Value]:
        """Return the values of all ranks in their order. Collective."""
        said = self._shared({self.rank: mine})
        return [said[rank] for rank in range(self.size)]

    def _shared(self, said: dict[int, Value]) -> dict[int, Value]:
        """Return the values of all ranks."""
        for to, source in self._rounds():
            said |= self._comm.sendrecv(said, to, self._tag, None, source, self._tag)
        return said

    def _failure(self, mine: dict[int, str]) -> str:
        """Return the message of the lowest rank that failed, with its number unless all ranks have the same message."""
        said = self._shared(mine)
        lowest = min(said)
        alike = len(said) == self.size and len(set(said.values())) == 1
        return said[lowest] if alike else f"rank {lowest}: {said[lowest]}"

    def _difference(self, mine: dict[int, str]) -> str:
        said = self._shared(mine)
        other = min(rank for rank, call in said.items() if call != said[0])
        return f"the calls differ between ranks: {said[0]} on rank 0; {said[other]} on rank {other}"


def team_of(arguments: tuple[Any, ...]) -> Team:
    """Return the team of the communicator among the arguments of a call.

    Raises
    ------
    ValueError
        On this rank alone, because without a communicator the other ranks cannot know.
    """
    from mpi4py import MPI

    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise ValueError("MPI is not running; call this between MPI_Init and MPI_Finalize")
    comm = next((one for one in arguments if isinstance(one, MPI.Comm)), None)
    if comm is None:
        raise ValueError("there is not a communicator of mpi4py among the arguments; give e.g. MPI.COMM_WORLD")
    if comm == MPI.COMM_NULL:
        raise ValueError("the communicator is MPI.COMM_NULL; only ranks that belong to a communicator may call this")
    if comm.Is_inter():
        raise ValueError("this is an intercommunicator; Merge() makes one communicator of both groups")
    return Team(_duplicate_of(comm))
