"""Results of a benchmark as ratios and tables: by case the results of all rounds, each from worker.py."""

from collections.abc import Sequence
from itertools import chain
from statistics import median
from typing import Any, TypeAlias

from pencilmap.scripts.maintenance.benchmarks import BY_ONE, Case
from pencilmap.scripts.maintenance.benchmarks.passes import Pass, passes

Spread: TypeAlias = tuple[float, float, float]  #: lowest, median, highest
OURS, REFERENCE = "pencilfft", "fftw-mpi"
PAIRS = {  # comparisons in the same rounds, a table each
    "Beside the plain way": ((OURS, "peer:plain"), (f"{OURS}:node", "peer:plain"), (f"{OURS}:auto", "peer:plain"),
                             (REFERENCE, "peer:plain")),
    "One rank beside its peers": (("pencilfft:alone+destroy", "fftw"), ("pencilfft:threads+destroy", "fftw:threads"),
                                  ("pencilfft:threads+destroy", "fftw:omp")),
    "Two threads beside two ranks": (("pencilfft:threads+destroy", "pencilfft:destroy"), ("pencilfft:threads", "pencilfft"),
                                     ("pencilfft:threads", "pencilfft:node")),
    "Layout stride1 beside the natural one": (("pencilfft:stride1", "pencilfft"),
                                              ("pencilfft:node+stride1", "pencilfft:node")),
}


def name_of(case: Case) -> str:
    """Name a case; double precision, grid 1x2 and normal pages are left out.

    >>> name_of(Case((128, 128, 128), (1, 2), "r2c", "single")), name_of(Case((4, 6, 8), (2, 1), pages="huge"))
    ('r2c 128^3, single', 'c2c 4x6x8 2x1, huge')
    """
    extents = f"{case.shape[0]}^3" if len(set(case.shape)) == 1 else "x".join(map(str, case.shape))
    words = [case.type, extents] + ["x".join(map(str, case.grid))] * (case.grid != (1, 2))
    return ", ".join([" ".join(words), *["single"] * (case.precision == "single"), *["huge"] * (case.pages == "huge")])


def spread(found: Sequence[float]) -> Spread | None:
    """Return lowest, median and highest; None for an empty sequence.

    >>> spread([3, 1, 2]), spread([])
    ((1, 2, 3), None)
    """
    return (min(found), median(found), max(found)) if found else None


def ratio(results: list[dict[str, Any]], name: str, references: Sequence[str] = (REFERENCE,)) -> Spread | None:
    """Return the spread of a contestant's time over the time of the fastest reference, in the rounds that have both.

    None if there is no such round.

    >>> rounds = [{"times_s": {"a": [1, 9, 2], "fftw-mpi": [2, 4, 4], "b": [1]}}, {"times_s": {"a": [4], "fftw-mpi": [4]}}]
    >>> ratio(rounds, "a"), ratio(rounds, "a", ("fftw-mpi", "b")), ratio(rounds, "a", ("c",))
    ((0.5, 0.75, 1.0), (1.0, 1.5, 2.0), None)
    """
    found = []
    for times in (result["times_s"] for result in results):
        there = [median(times[other]) for other in references if other in times]
        if name in times and there:
            found.append(median(times[name]) / min(there))
    return spread(found)


def milliseconds_of(results: list[dict[str, Any]], name: str) -> str:
    """Return the median of the rounds, as text.

    >>> milliseconds_of([{"times_s": {"a": [0.1, 0.2, 0.3]}}, {"times_s": {"a": [0.4]}}, {"times_s": {"b": [0.1]}}], "a")
    '300.0'
    """
    found = [median(result["times_s"][name]) for result in results if name in result["times_s"]]
    return f"{1e3 * median(found):.1f}" if found else "-"


def is_of_one_rank(contestant: str) -> bool:
    """
    >>> [name for name in ("pencilfft:node", "pencilfft:alone+destroy", "fftw:omp", "fftw-mpi") if is_of_one_rank(name)]
    ['pencilfft:alone+destroy', 'fftw:omp']
    """
    library, _, way = contestant.partition(":")
    return library == "fftw" or way.partition("+")[0] in BY_ONE


def speed_table(results: dict[Case, list[dict[str, Any]]], contestants: Sequence[str],
                of_one_rank: bool) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of the contestants on all ranks, or of the contestants on one rank.

    The reference is in milliseconds, the others are ratios to the reference. Cases without any contestant are left out."""
    others = [name for name in contestants if name != REFERENCE and is_of_one_rank(name) == of_one_rank]
    columns = ["transform", f">{REFERENCE}, ms", *(f">{name}" for name in others)]
    rows = []
    for case, rounds in results.items():
        found = [ratio(rounds, name) for name in others]
        if any(found):
            rows.append([name_of(case), milliseconds_of(rounds, REFERENCE), *map(shown_ratio, found)])
    return columns, rows


ON_PAGE = (OURS, f"{OURS}:node", f"{OURS}:auto", "mpi4py-fft", "dtfft", "peer:plain")


def page_table(results: dict[Case, list[dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of the short table for readers: medians of c2c and r2c in double precision, 1x2, normal pages.

    >>> rounds = [{"times_s": {"pencilfft": [0.01], "fftw-mpi": [0.02]}}]
    >>> page_table({Case((8, 8, 8), (1, 2)): rounds, Case((8, 8, 8), (1, 2), "dct"): rounds})[1]
    [['c2c 8^3', '20.0', '0.50', '-', '-', '-', '-', '-']]
    """
    shown = {case: rounds for case, rounds in results.items() if case.type in ("c2c", "r2c")
             and (case.precision, case.grid, case.pages) == ("double", (1, 2), "normal")}
    columns, rows = speed_table(shown, ON_PAGE, of_one_rank=False)
    return columns, [[*row[:2], *(cell.partition(" ")[0] for cell in row[2:])] for row in rows]


def pairs_table(results: dict[Case, list[dict[str, Any]]],
                pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of pairs of contestants, as ratios of times in the same round.

    Pairs and cases without measurements are left out.

    >>> rounds = [{"times_s": {"a": [1], "b": [2]}}]
    >>> pairs_table({Case((8, 8, 8), (1, 2)): rounds, Case((4, 4, 4), (1, 2)): [{"times_s": {}}]}, [("a", "b"), ("a", "c")])
    (['transform', '>a / b'], [['c2c 8^3', '0.50 [0.50, 0.50]']])
    """
    found = {case: [ratio(rounds, mine, (other,)) for mine, other in pairs] for case, rounds in results.items()}
    there = [i for i in range(len(pairs)) if any(row[i] for row in found.values())]
    rows = [[name_of(case), *(shown_ratio(row[i]) for i in there)] for case, row in found.items() if any(row)]
    return ["transform", *(f">{pairs[i][0]} / {pairs[i][1]}" for i in there)], rows


def shown_ratio(found: Spread | None) -> str:
    """
    >>> shown_ratio((0.5, 0.75, 1)), shown_ratio(None)
    ('0.75 [0.50, 1.00]', '-')
    """
    return "-" if found is None else f"{found[1]:.2f} [{found[0]:.2f}, {found[2]:.2f}]"


def passes_of(case: Case, rounds: list[dict[str, Any]]) -> list[Pass]:
    """Return the passes of our transform, medians of all repetitions of all rounds."""
    phases = {name: median(list(chain.from_iterable(r["phases_s"][OURS][name] for r in rounds)))
              for name in rounds[0]["phases_s"][OURS]}
    return passes(case, phases, stream_copy(rounds))


def stream_copy(rounds: list[dict[str, Any]]) -> float:
    """Return the bytes per second, median of all."""
    return median(list(chain.from_iterable(r["stream_copy"] for r in rounds)))


def passes_table(results: dict[Case, list[dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: each pass of our transform compared with the limit by memory."""
    columns = ["transform", "pass", ">ms", ">copy of its bytes, ms", ">ratio"]
    rows = [[name_of(case), " ".join(part.phases), f"{1e3 * part.seconds:.2f}", f"{1e3 * part.limit_s:.2f}",
             f"{part.seconds / part.limit_s:.2f}"] for case, rounds in results.items() for part in passes_of(case, rounds)]
    return columns, rows


def floor_table(results: dict[Case, list[dict[str, Any]]], contestants: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: the parts of our transform's time, compared with the floor.

    The floor is a copy of the bytes of each pass at STREAM's rate, plus the FFTs of all lines in the caches. Then follows
    each of our contestants on all ranks, as a ratio to the floor of the same round."""
    ours = [name for name in contestants if name.partition(":")[0] == OURS and not is_of_one_rank(name)]
    columns = ["transform", ">total, ms", ">exchange", ">passes", ">their copies, floor", ">FFTs in caches, floor",
               ">left of passes", *(f">{name} / floor" for name in ours)]
    rows = []
    for case, rounds in results.items():
        parts = passes_of(case, rounds)
        exchange = sum(part.seconds for part in parts if part.is_exchange)
        spent, copies, lines = sum(part.seconds for part in moving(parts)), *floor_of(case, rounds)
        numbers = [spent + exchange, exchange, spent, copies, lines, spent - copies - lines]
        found = [over_floor(case, rounds, name) for name in ours]
        rows.append([name_of(case), *(f"{1e3 * number:.2f}" for number in numbers), *map(shown_ratio, found)])
    return columns, rows


def moving(parts: Sequence[Pass]) -> list[Pass]:
    """Return the passes without the exchanges."""
    return [part for part in parts if not part.is_exchange]


def floor_of(case: Case, rounds: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the seconds of the passes' copies and of the FFTs in the caches."""
    copies = sum(part.limit_s for part in moving(passes_of(case, rounds)))
    return copies, median(chain.from_iterable(r["cached_lines_s"] for r in rounds))


def over_floor(case: Case, rounds: list[dict[str, Any]], name: str) -> Spread | None:
    """Return the spread, over the rounds, of a contestant's time over the floor of its round."""
    return spread([median(r["times_s"][name]) / sum(floor_of(case, [r])) for r in rounds if name in r["times_s"]])
