"""What a search may use: its budget, seed and deadline. And all numbers that decide how long searches last.

A budget counts changed loads of links, the unit of every search. A swap of two ranks changes the loads of their messages
before and after. Other work is counted as so many changed loads as take the same time.

| constant | unit | measured |
| --- | --- | --- |
| BUDGET | changed loads of a search | 1 to 5 s of CPU time on the networks of docs/placement-search.md |
| ONE_GRID | part of BUDGET for a question about one grid | 1 to 2 s of CPU time |
| OF_MATE | changed loads of a swap on a torus, for each rank in the groups of a rank | 10,400,000 mates take as long as \
BUDGET / 2: 8x8x8 with 8x64, 16x16 with 16x16 |
| FEWEST_MATES | ranks in the groups of a rank | below, a swap on a torus takes as long as with so many |
| OF_MEMBER | changed loads of a step of a tiling, for each task of the tile | 2 microseconds a step of 16 tasks on 8x8x8 |
| OF_ADDITION | changed loads of an addition in a climb on a twisted torus | 2,000,000,000 additions take as long as BUDGET |
| LEAST_OF_BASIS | changed loads of a basis on a twisted torus, at least | with BUDGET, 20,000 bases find the best of small \
tori |
| OF_EVALUATION | changed loads of an evaluation that a text names, on networks without products | 2,000,000 evaluations \
take as long as BUDGET |
| MOST_SWAPS | swaps for each rank of a job with holes | four times as many gain nothing on 8x8, 6x6 and 4x4x4, three \
seeds each |
| OF_TILING | part of a budget for tilings of a torus; the rest is for swaps | each wins on some tori of 25 to 512 slots |
| AFTER_TILING | part of the swaps that is left after a better tiling | all of them gain nothing on 7x7, 10x10, 9x6, 5x5x5 |
| OF_ROUNDS | part of a budget for swaps by counts before a polish by routes | with 1/2 for the polish the worst cost of \
100 hosts with 20x20 falls from 7.8 to 7.0 |
| PATIENCE | rounds without a better tiling | 1 to 8 find the same on 6x6, 7x7, 10x10 and 5x5x5, three seeds; \
of these 4 and 8 take twice the time of 1 |
| ROUNDS_OF_TILINGS | rounds: lattices, annealings of each, steps; the last round repeats | a second or a few on 8x8x8 |
| ROUNDS_OF_BASES | rounds: starts that are climbed from, the best first, and divisor of the evaluations for each | some \
seconds on a twisted torus |
| ROUNDS_OF_RINGS | rounds from the best start on whole rings: temperatures in units of the energy for each link, doublings \
of the exponent of the guide | one long round: 7x5x3 with 4 tasks 5.26 to 5.31, four short ones 5.45 to 5.6 |
| ROUNDS_OF_MESHES | the same on other tori and meshes | exponents up to 64 in place of 16: 1.7 % less in the mean of ten \
cases |
| ROUNDS_OF_SWITCHES | rounds on hosts and switches: seed by its rank, temperature in units of the cost, whether no swap is \
given up | these are best on trees, others find 7.25 on HyperX 4x4 with 4 hosts |
| ROUNDS_OF_GRIDS | grids that a plan searches in each round, and the part of BUDGET for each | 21 % of BUDGET in all, \
with the first answers about 3 s |
| ROUNDS_WITH_HOLES | the same if no product fills the usable nodes | 24 % of BUDGET in all |
| ROUNDS_ON_SWITCHES | the same on hosts and switches, whose first answers are close | 14 % of BUDGET in all |
| FRESH_RUNS | runs of a program from a high temperature | six reach 230,990 on random traffic, one 244,030 |
| SWAPS_OF_FRESH | swaps for each rank from which such runs are worth their time | 64 ranks of random traffic \
on 4x4x4, three seeds: with 2000 they cost 2.8 % less in 1.3 of the time, with 500 1.7 % in 1.5 |
| MOST_TRAFFIC_SWAPS | swaps for each rank of a program | the same ranks cost 7.4 % less than with 10,000 swaps, in \
four times the time |
| MOST_TRAFFIC_MESSAGES | messages of a transform with halos; above, its launch order is the answer | a start of so \
many takes 0.1 s of CPU time: 16x25x25 with 100x100 |
| SECONDS | seconds of a search that names no number of evaluations | a limit for slow machines alone |
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

KINDS: dict[str, type] = {"seed": int, "evaluations": int, "seconds": float}  # options of texts
EFFORTS = {"quick": 0, "normal": 1, "long": 8}  # factors of the budget; quick searches nothing
BUDGET = 500_000_000
ONE_GRID = 0.5
OF_MATE, FEWEST_MATES = 24, 26
OF_MEMBER = 20
OF_ADDITION, LEAST_OF_BASIS = 0.25, 25_000
OF_EVALUATION = 250
MOST_SWAPS = 2500
OF_TILING, AFTER_TILING = 0.5, 1 / 3
OF_ROUNDS = 0.5
PATIENCE = 4
ROUNDS_OF_TILINGS = ((64, 1, 3_000), (12, 1, 20_000), (4, 2, 30_000))
ROUNDS_OF_BASES = ((8, 24), (3, 6), (1, 6))
ROUNDS_OF_RINGS = (((0.8, 0.002), 4),)
ROUNDS_OF_MESHES = ((0.8, 0.05), 4), ((0.8, 0.05), 5), ((0.8, 0.05), 5), ((0.4, 0.002), 6)
ROUNDS_OF_SWITCHES = ((0, 0.004, True), (0, 0.02, False), (1, 0.004, True), (2, 0.004, False), (0, 0.004, False),
                      (1, 0.02, False), (2, 0.02, False), (3, 0.02, False))
ROUNDS_OF_GRIDS = ((4, 1 / 96), (2, 1 / 36), (1, 1 / 9))
ROUNDS_WITH_HOLES = ((8, 1 / 128), (2, 1 / 36), (1, 1 / 8))
ROUNDS_ON_SWITCHES = ((2, 1 / 36), (1, 1 / 12))
FRESH_RUNS, SWAPS_OF_FRESH = 6, 2000
MOST_TRAFFIC_SWAPS, MOST_TRAFFIC_MESSAGES = 40_000, 2_000_000
SECONDS = 120.0


@dataclass(eq=False)
class Search:
    """What searches may use together, and what they found: the results of equal questions.

    Parameters
    ----------
    budget : int
        Changed loads of links; 0 for no search.
    seed : int
        Seed of the random numbers.
    deadline : float, optional
        Time of `time.monotonic` at which searches end; without it only the budget limits them.

    Examples
    --------
    >>> search = Search(1000)
    >>> half = search.part(0.5)
    >>> half.goes_on(400), half.goes_on(100), search.spent, search.goes_on(100)
    (True, False, 500, True)
    >>> late = Search(deadline=0.0)
    >>> late.part(0.5).is_over(), late.cut_short
    (True, True)
    """

    budget: int = field(default_factory=lambda: BUDGET)
    seed: int = 1
    deadline: float | None = None
    spent: int = 0
    cut_short: bool = False  #: whether the deadline ended a search that had more to do
    results: dict[Hashable, Any] = field(default_factory=dict, repr=False)  #: by all that they depend on
    whole: "Search | None" = field(default=None, repr=False)  #: the search of which this is a part

    def part(self, fraction: float) -> "Search":
        """Return a search with a part of the budget. What it spends counts here, too."""
        return Search(int(self.budget * fraction), self.seed, self.deadline, results=self.results, whole=self)

    def at_most(self, changes: float) -> "Search":
        """Return a part with so many changed loads at the usual effort, if these are fewer than the budget."""
        return self.part(min(1.0, changes / BUDGET))

    def goes_on(self, changes: int = 0) -> bool:
        """Count changed loads, and return whether budget and time are left."""
        at: Search | None = self
        while at:
            at.spent += changes
            at = at.whole
        return self.spent < self.budget and not self.is_over()

    def is_over(self) -> bool:
        """Return whether the time is over. A search that asks has more to do, so it is then cut short."""
        is_over = self.deadline is not None and monotonic() >= self.deadline
        at: Search | None = self
        while at and is_over:
            at.cut_short = True
            at = at.whole
        return is_over

    @property
    def key(self) -> tuple[int, int]:
        """All on which a result depends, unless the deadline cut the search short."""
        return self.budget, self.seed


def search_of(effort: str = "normal", seed: int = 1, seconds: float | None = None) -> Search:
    """Return the search of a command.

    Parameters
    ----------
    effort : {"quick", "normal", "long"}
    seed : int
    seconds : float, optional
        Time limit, which begins now.

    Examples
    --------
    >>> search_of("long").budget / search_of().budget, search_of("quick").budget
    (8.0, 0)
    """
    return Search(BUDGET * EFFORTS[effort], seed, None if seconds is None else monotonic() + seconds)


def parse_search(text: str, of_evaluation: int, names: Iterable[str] = KINDS) -> Search:
    """Return the search that a text describes.

    Parameters
    ----------
    text : str
        For example ``seed=1,evaluations=200000,seconds=30``, or empty. With evaluations only given seconds limit the time.
    of_evaluation : int
        Changed loads of an evaluation.
    names : iterable of str
        Options that may be given, of `KINDS`.

    Raises
    ------
    ValueError
        If an option is not understood or out of range.

    Examples
    --------
    >>> search = parse_search("seed=2,evaluations=50", 8)
    >>> search.budget, search.seed, search.deadline
    (400, 2, None)
    """
    options: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        name, _, value = part.partition("=")
        try:
            if name not in names or name in options:
                raise ValueError
            options[name] = KINDS[name](value)
        except ValueError:
            raise ValueError(f"{part!r} is not understood") from None
        if not 0 <= options[name] < 2**53:
            raise ValueError(f"{part} is out of range, 0 or more")
    seconds = options.get("seconds", None if "evaluations" in options else SECONDS)
    budget = options["evaluations"] * of_evaluation if "evaluations" in options else BUDGET
    return Search(budget, options.get("seed", 1), None if seconds is None else monotonic() + seconds)
