"""Whether the tests notice a mutant: Python by the tests that run its line, C by the tests of library and runner."""

import ast
import json
import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pencilmap.scripts.maintenance.bounded import bounded
from pencilmap.scripts.maintenance.mutants.places import Mutant

PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:randomly")
ALL_TESTS = (*PYTEST[:3], "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--numprocesses", "2", "--dist", "loadfile")
MOST_S = 300  #: for one round of tests
ALL_S = 3600  #: for all tests
FUZZ = {1: 100, 2: 40, 4: 40}  #: ranks and plans of test_fuzz.py, the quickest to notice: before all is built
FUZZ_TEST = "tests/fft_runner/test_fuzz.py::test_plans_at_random_are_right[{}]"
FUZZ_PLANS = ("--seed", "20", "--plans")
FUZZ_S = 10  #: seconds that all of these take unchanged, on a quiet machine
RUNNER = "tests/fft_runner/test_{}.py".format
PAIRS = RUNNER("matrix") + "::test_every_pair_of_choices_is_right[{}]"
C_ROUNDS = (  # the shorter and sharper ones first; each is (seconds that it takes unchanged, arguments of pytest)
    (6, (RUNNER("units"), RUNNER("print"))),
    (12, (RUNNER("known_plans"),)),
    (6, (RUNNER("record") + "::test_library_calls", RUNNER("exchanges") + "::test_no_plan_on_one_rank_is_no_plan_on_all")),
    (15, (PAIRS.format(4),)),
    (6, (RUNNER("out_of_memory") + "::test_library_fails_on_all_ranks_and_keeps_its_wisdom[mpirun-2-1]",)),
)
C_OWN = {  # by the first letters of a file's name: tests of what is in it alone
    "wisdom": (10, (RUNNER("exchanges"), "-k", "wisdom and not mpich")),
    "auto": (15, (RUNNER("exchanges"), "-k", "auto and not mpich")),
    "trial": (15, (RUNNER("exchanges"), "-k", "auto and not mpich")),
    "walk": (8, (RUNNER("grid"), "-k", "walk")),
    "grid": (15, (RUNNER("grid"),)),
    "partner": (10, (RUNNER("grid"), "-k", "busiest")),
    "traffic": (5, (RUNNER("telling"), "-k", "traffic or matrix")),
    "message_counts": (5, (RUNNER("telling"), "-k", "traffic or matrix")),
    "exchange_node": (10, (RUNNER("matrix"), "-k", "node_gathers")),
    "shared_memory": (10, (RUNNER("matrix"), "-k", "node_gathers")),
    "line|distributed|complex": (10, (RUNNER("lines"),)),
    "brick_lines": (10, (RUNNER("brick_lines"),)),
    "halo|neighbours|strided_sum": (5, (RUNNER("halo"), "-k", "not mpich")),
    "remap|ends|bricks": (8, (RUNNER("remap"), "-k", "not mpich")),
    "same_call": (8, (RUNNER("exchanges"), RUNNER("halo"), "-k", "no_plan or (random and not mpich)")),
    "bruck|exchange_bruck": (6, (PAIRS.format(4),)),
    "exchange_fftw": (4, (RUNNER("matrix") + "::test_fftw_moves_slices_of_what_it_cannot_count",)),
    "large_messages|messages|exchange_": (8, (RUNNER("matrix"), "-k", "beyond_counts and not mpich")),
    "threads|whole": (4, (RUNNER("record") + "::test_threads_of_a_rank",)),
    "schedule_|chunks|order|steps|lanes|joints|routes": (12, (
        RUNNER("exchanges"), "-k", "(schedule or pair or late) and not mpich")),
    "pass|strided_copy|transforms|line_fft": (20, (RUNNER("types"), RUNNER("transforms"), "-k", "not mpich")),
    "print|desc|ask|phases|create|places": (15, (
        RUNNER("telling"), RUNNER("types"), "-k", "(refused or traffic or waiting or times) and not bench and not mpich")),
    "geometry|blocks|buffers|build|execute|passes|transfer": (10, (PAIRS.format(1), PAIRS.format(4))),
}
PYTHON_OWN = {  # what coverage.py does not see, for it is compiled, or runs in a process of its own
    "mapper/routed_swaps.py": ("tests/mapper/test_annealing.py", "tests/mapper/test_best.py"),
    "mapper/lattice_tile.py": ("tests/mapper/test_lattice_search.py", "tests/mapper/test_shape_cases.py"),
    "mapper/reorder.py": ("tests/launchers/test_reorder.py",),
    "mapper/format_choice.py": ("tests/launchers/test_commands.py",),
}


@dataclass(frozen=True)
class Verdict:
    """What came of a mutant."""

    outcome: str  #: killed, timeout (killed as well), survived, same (the same program), invalid (no program), or changed
    by: str = ""  #: the test that failed


def limited(command: Sequence[str | Path], tree: Path, seconds: float) -> tuple[int | None, str]:
    """A command in the copy, with an end to its memory too."""
    return bounded(["bash", "-c", 'ulimit -v 16000000; exec "$@"', "-", *command], tree, seconds,
                   {"PYTHONPATH": str(tree / "packaging")})


def failed_tests(out: str) -> list[str]:
    """The tests that failed, of what pytest printed."""
    return re.findall(r"^(?:FAILED|ERROR) ([^[\n]+?(?:\[.*?\])?)(?: - .*)?$", out, re.MULTILINE)


def tested(arguments: Sequence[str], tree: Path, seconds: float) -> Verdict:
    """One round of tests, at most so long; the first that fails has killed the mutant."""
    status, out = limited((*PYTEST, *arguments), tree, seconds)
    if status is None:
        return Verdict("timeout")
    if status in (0, 5):  # 5: no test was chosen
        return Verdict("survived")
    failed = failed_tests(out)
    return Verdict("killed", failed[0] if failed else out.strip().rpartition("\n")[2][:200])


def _is_in_a_function(path: Path, line: int) -> bool:
    """Whether a line runs when it is called for; any other runs at import, in whichever test comes first."""
    functions = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef))
    return any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in functions)


def seconds_of(booked: Path) -> Path:
    """The file beside the booked lines that says how long each test took."""
    return booked.with_suffix(".seconds.json")


@dataclass
class PythonTests:
    """Which tests run which line, as coverage.py has booked it (`-p tests.booked_lines`)."""

    booked: Path
    tree: Path
    seconds: dict[str, float] = field(init=False)  #: that each test took

    def __post_init__(self) -> None:
        self.seconds = json.loads(seconds_of(self.booked).read_text("utf-8"))

    def of(self, mutant: Mutant) -> list[str]:
        """Ids of the tests that run the line, the quickest first; where it runs at import, those that run the file."""
        with sqlite3.connect(self.booked) as data:
            rows = data.execute("select context, fromno, tono from arc join context on context.id = context_id"
                                " join file on file.id = file_id where path like ?", ("%/" + mutant.path,)).fetchall()
        lines = range(mutant.line, mutant.line + mutant.old.count("\n") + 1)
        inside = _is_in_a_function(self.tree / mutant.path, mutant.line)
        tests = {test for test, start, end in rows
                 if test in self.seconds and (not inside or start in lines or end in lines)}
        tests = tests or {test for test, _, _ in rows if test in self.seconds}
        return sorted(tests, key=lambda test: self.seconds[test])

    def try_one(self, mutant: Mutant) -> Verdict:
        tests, rounds = self.of(mutant), []
        for most in (5, 25, 90):
            chosen: list[str] = []
            total = 0.0
            while tests and len(chosen) < 400 and (not chosen or total + self.seconds[tests[0]] < most):
                total += self.seconds[tests[0]]
                chosen.append(tests.pop(0))
            rounds.append((total, chosen))
        for total, chosen in rounds:
            if chosen and (verdict := tested(chosen, self.tree, min(30 + 5 * total, MOST_S))).outcome != "survived":
                return verdict
        own = PYTHON_OWN.get(mutant.path)
        return tested(own, self.tree, MOST_S) if own else Verdict("survived")

    def passes(self, verdict: Verdict) -> bool:
        """Whether the test that has failed passes without a mutant, as those did whose lines were booked."""
        known = verdict.by in self.seconds or "::" not in verdict.by
        return known or tested((verdict.by,), self.tree, MOST_S).outcome == "survived"


@dataclass
class CTests:
    """The tests of the runner, in a build folder of the copy."""

    tree: Path
    mpirun: tuple[str, ...] = field(init=False)
    original: tuple[bytes, ...] = field(init=False)
    known: set[str] = field(init=False)  #: tests that pass without a mutant
    busy: float = field(init=False)  #: how many times as long as on a quiet machine tests take here now, 1 at least

    def __post_init__(self) -> None:
        options = ["-D", "PENCILFFT_SMPI=OFF", "-D", "CMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"]
        status, out = limited(["cmake", "-S", "fft_runner", "-B", "build", *options], self.tree, 100)
        if status or self._build("all"):
            sys.exit("error: the runner cannot be built\n" + out)
        self.mpirun = (shutil.which("mpirun.openmpi") or "mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
        self.original = self._program()
        start, self.busy = time.monotonic(), 4.0  # until it is known
        for verdict in (self._fuzzed(), *(tested(arguments, self.tree, 600) for _, arguments in C_ROUNDS)):
            if verdict.outcome != "survived":
                sys.exit(f"error: {verdict.by} fails without a mutant")
        self.known = {FUZZ_TEST.format(ranks) for ranks in FUZZ}
        self.busy = max(1.0, (time.monotonic() - start) / (FUZZ_S + sum(seconds for seconds, _ in C_ROUNDS)))

    def _build(self, target: str) -> int | None:
        return limited(["cmake", "--build", "build", "--parallel", "2", "--target", target], self.tree, 600)[0]

    def _program(self) -> tuple[bytes, ...]:
        return tuple((self.tree / "build" / name).read_bytes() for name in ("lib/libpencilfft.a", "bin/fuzz_test"))

    def _fuzzed(self) -> Verdict:
        for ranks, plans in FUZZ.items():
            status, _ = limited((*self.mpirun, "-n", str(ranks), "build/bin/fuzz_test", *FUZZ_PLANS, str(plans)), self.tree,
                                20 + 40 * self.busy)
            if status != 0:
                return Verdict("timeout" if status is None else "killed", FUZZ_TEST.format(ranks))
        return Verdict("survived")

    def try_one(self, mutant: Mutant) -> Verdict:
        if self._build("fuzz_test"):
            return Verdict("invalid")
        if self._program() == self.original:
            return Verdict("same")
        verdict = self._fuzzed()
        if verdict.outcome == "survived" and self._build("all"):  # or the first tests would, within their time
            return Verdict("invalid")
        own = [some for name, some in C_OWN.items() if re.match(name, Path(mutant.path).name)]
        for seconds, arguments in (*C_ROUNDS, *own):
            if verdict.outcome != "survived":
                break
            verdict = tested(arguments, self.tree, self.busy * (60 + 6 * seconds))
        return verdict

    def passes(self, verdict: Verdict) -> bool:
        """Whether the test that has failed passes without a mutant; takes a build, and is remembered."""
        if "::" in verdict.by and verdict.by not in self.known:
            if self._build("all") or tested((verdict.by,), self.tree, MOST_S * self.busy).outcome != "survived":
                return False
            self.known.add(verdict.by)
        return True


def groups(mutants: Iterable[Mutant], tree: Path) -> Iterator[dict[Path, tuple[bytes, bytes]]]:
    """Mutants applied together: sources and what they become; one group unless two mutants are in one line."""
    left = sorted(mutants, key=lambda mutant: (mutant.line, mutant.column), reverse=True)
    while left:
        group: dict[Path, tuple[bytes, bytes]] = {}
        todo, left = left, []
        for mutant in todo:
            path = tree / mutant.path
            source, wrong = group.get(path, (path.read_bytes(),) * 2)
            try:
                group[path] = source, mutant.applied(wrong)
            except ValueError:
                if wrong != source:  # else the line itself has changed
                    left.append(mutant)
        yield group


@dataclass
class AllTests:
    """All that `scripts/test` runs, for survivors; all survivors at once, then each with the tests that failed."""

    tree: Path

    def __post_init__(self) -> None:
        """What tests take for granted of a checkout after set-up."""
        if not (self.tree / ".venv").exists():
            (self.tree / ".venv").symlink_to(sys.prefix)
        as_usual = ("-U", "PENCILFFT_SMPI", "-U", "CMAKE_C_FLAGS_RELEASE")  # which C mutants are built without
        status, out = limited(("cmake", "-S", "fft_runner", "-B", "build", *as_usual), self.tree, 600)
        if status != 0:
            sys.exit("error: the runner cannot be built\n" + out)

    def _failing(self, arguments: Sequence[str]) -> list[str]:
        """Those of some tests that fail, with the runner built from what is there; without a limit of addresses, for browser
        and sanitizers need terabytes."""
        status, out = limited(("cmake", "--build", "build", "--parallel", "2"), self.tree, 600)
        if status != 0:
            sys.exit("error: the runner cannot be built\n" + out)
        status, out = bounded((*ALL_TESTS, *arguments), self.tree, ALL_S, {"PYTHONPATH": str(self.tree / "packaging")})
        if status is None:
            print(f"warning: all tests took longer than {ALL_S} s, and count as passed", file=sys.stderr)
        return [] if status is None else failed_tests(out)

    def suspects(self, mutants: Sequence[Mutant]) -> list[str]:
        """Tests that fail with all mutants together, but not without."""
        found: set[str] = set()
        for group in groups(mutants, self.tree):
            try:
                for path, (_, wrong) in group.items():
                    path.write_bytes(wrong)
                found.update(self._failing(()))
            finally:
                for path, (source, _) in group.items():
                    path.write_bytes(source)
        anyway = set(self._failing(sorted(found))) if found else set()
        if anyway:
            print("fail without a mutant, and are left out:", *sorted(anyway), sep="\n  ", file=sys.stderr)
        return sorted(found - anyway)

    def verdict(self, suspects: Sequence[str]) -> Verdict:
        """What some tests, all of which pass without a mutant, say of what is in the tree now."""
        failed = self._failing(("-x", *suspects)) if suspects else []
        return Verdict("killed", failed[0]) if failed else Verdict("survived")


class Trial:
    """Tries mutants in a copy of the checkout, one after the other."""

    def __init__(self, tree: Path, book_lines: Callable[[Path], Path]) -> None:
        self.tree, self.book_lines = tree, book_lines
        self.kinds: dict[str, PythonTests | CTests] = {}

    def __call__(self, mutant: Mutant) -> tuple[Verdict, float]:
        """The verdict, and how long it took, s."""
        kind = Path(mutant.path).suffix
        if kind not in self.kinds:
            self.kinds[kind] = CTests(self.tree) if kind == ".c" else PythonTests(self.book_lines(self.tree), self.tree)
        verdict, seconds = self._applied(mutant, self.kinds[kind].try_one)
        if verdict.outcome == "killed" and not self.kinds[kind].passes(verdict):
            sys.exit(f"error: {verdict.by} fails without a mutant")
        return verdict, seconds

    def with_all_tests(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Verdict, float]]:
        """What all of `scripts/test` says of mutants in one language that the tests tried first have let through."""
        tests = AllTests(self.tree)
        suspects = tests.suspects(mutants)
        print(f"{len(suspects)} of all tests fail with {len(mutants)} survivors together", *suspects, sep="\n  ",
              file=sys.stderr)
        for mutant in mutants:
            yield mutant, *self._applied(mutant, lambda _: tests.verdict(suspects))

    def _applied(self, mutant: Mutant, try_one: Callable[[Mutant], Verdict]) -> tuple[Verdict, float]:
        path, start = self.tree / mutant.path, time.monotonic()
        source = path.read_bytes()
        try:
            wrong = mutant.applied(source)
        except ValueError as error:
            return Verdict("changed", str(error)), 0.0
        try:
            path.write_bytes(wrong)
            return try_one(mutant), time.monotonic() - start
        finally:
            path.write_bytes(source)
