"""The objective of a search for a placement, by the loads of the links alone.

Under every schedule the time of the links is a sum over its phases. In each phase some share of every exchange is on the
network, and the busiest link of all shares together decides. So an objective is a list of terms. For each term a search
needs the largest of w_1 load_1 + w_2 load_2 + ... over the links.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from pencilmap.model.traffic.joint_loads import JointLoads, Shares

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Term:
    """`count` times the largest load if these shares of the exchanges are on the network at once."""

    count: Fraction
    shares: tuple[Fraction, ...]  #: for each exchange, the greatest 1


@dataclass(frozen=True)
class Objective:
    """The sum of some terms; without terms nothing counts.

    >>> [str(term.count) for term in overlapped(2, 8).terms]
    ['1/8', '7/8', '1/8']
    """

    terms: tuple[Term, ...]

    @property
    def moved(self) -> Fraction:
        """The share of every exchange that all terms together move; 1 for a schedule.

        No placement has less than this share times the lower bound of the exchanges together.

        >>> objective([(Fraction(1, 4), Fraction(1, 8)), (Fraction(1, 4), Fraction(1, 2))]).moved
        Fraction(1, 2)
        """
        of_terms = ([term.count * share for share in term.shares] for term in self.terms)
        return min((sum(shares, Fraction(0)) for shares in zip(*of_terms)), default=Fraction(0))

    @property
    def turned(self) -> "Objective":
        """The objective of the same schedule with the exchanges in the other order.

        >>> overlapped(2, 8).turned == overlapped(2, 8)
        True
        """
        return Objective(tuple(Term(term.count, term.shares[::-1]) for term in reversed(self.terms)))

    def of(self, length: Callable[[tuple[Fraction, ...]], Number]) -> Number:
        """Return the objective from the largest length under the shares of each term, e.g. `JointLoads.length`."""
        return sum((term.count * length(term.shares) for term in self.terms), start=0)  # type: ignore[return-value]

    def of_loads(self, loads: JointLoads) -> Fraction:
        """Return the objective of a placement (exact)."""
        return self.of(loads.length)


def objective(phases: Iterable[Shares]) -> Objective:
    """Return the objective of a schedule with these phases. Phases that differ only by a factor become one term.

    >>> half = Fraction(1, 2)
    >>> objective([(half, 0), (half, half), (0, half)]).terms[1]
    Term(count=Fraction(1, 2), shares=(Fraction(1, 1), Fraction(1, 1)))
    """
    counts: dict[tuple[Fraction, ...], Fraction] = {}
    for shares in phases:
        most = Fraction(max(shares))
        if most:
            each = tuple(Fraction(share) / most for share in shares)
            counts[each] = counts.get(each, Fraction(0)) + most
    return Objective(tuple(Term(count, shares) for shares, count in counts.items()))


def in_sequence(n: int) -> Objective:
    """Return `n` exchanges, in sequence: the sum of their largest lengths, as `Prediction.cost`."""
    return objective(tuple(int(i == j) for j in range(n)) for i in range(n))


def at_once(n: int) -> Objective:
    """Return all `n` exchanges at once: the largest joint length."""
    return objective([(1,) * n])


def overlapped(n: int, chunks: int) -> Objective:
    """Return exchanges in `chunks` equal chunks, each exchange one chunk behind the exchange before."""
    each = Fraction(1, chunks)
    return objective(tuple(each * (0 <= k - i < chunks) for i in range(n)) for k in range(chunks + n - 1))
