"""The limit of a search: its effort, its seed, and the time at which it is cut short."""

from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic

EFFORTS = {"quick": 0, "normal": 1, "long": 8}  # factors of the evaluations; quick searches nothing


def share_of(effort: str) -> Fraction:
    """Return the divisor of the usual evaluations of a search; 0 for no search.

    >>> str(share_of("long")), str(share_of("quick"))
    ('1/8', '0')
    """
    return Fraction(1, EFFORTS[effort]) if EFFORTS[effort] else Fraction(0)


@dataclass
class Limit:
    """Seed and time limit that several searches share. When the time cuts a search short, `cut_short` says so.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    seconds : float, optional
        Time for all searches together, which begins when the limit is made; without it only evaluations limit the searches.

    Examples
    --------
    >>> limit = Limit(seconds=0.0)
    >>> limit.is_over(), limit.cut_short, UNLIMITED.is_over()
    (True, True, False)
    """

    seed: int = 1
    seconds: float | None = None
    cut_short: bool = False  #: whether a search was cut short
    began: float = field(default_factory=monotonic)

    @property
    def left(self) -> float | None:
        """Remaining seconds, None without a time limit."""
        return None if self.seconds is None else max(0.0, self.began + self.seconds - monotonic())

    def is_over(self) -> bool:
        """Return whether the time is over. A search that asks has more to do, so it is then cut short."""
        if self.left == 0.0:
            self.cut_short = True
        return self.left == 0.0


UNLIMITED = Limit()
