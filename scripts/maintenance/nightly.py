"""The long tests of `scripts/test-nightly`, and their last results in docs/nightly.json.

A part may run out of time or be interrupted. When it is started again at the same commit, it leaves out the finished tests.
So a small machine can run a long part in pieces: repeat `scripts/test-nightly --minutes 5 matrix`.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import click

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.maintenance import kept_outcomes
from pencilmap.scripts.maintenance.bounded import bounded

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "nightly.json"
LOGS = ROOT / "build" / "nightly"
LOCKED = [f"packaging/locked/{name}.txt" for name in ("test", "peers", "nightly")]
PYTEST, MODULE = (".venv/bin/python", "-m", "pytest", "-q"), (".venv/bin/python", "-m", "pencilmap.scripts.maintenance.")
SHARE = 2 / 3  # of the remaining time, for a command with a limit in seconds
KEPT = ("-p", kept_outcomes.__name__, "--kept", "{kept}")  # skip the tests that have already run
SLOW = (*PYTEST, *KEPT, "--slow", "-m", "slow or examples or sampled", "-p", "no:xdist")
RUNNER = "tests/fft_runner/"
LOWEST = f"""\
rm -rf build/nightly/lowest
.venv/bin/uv venv -q -p .venv/bin/python build/nightly/lowest
export VIRTUAL_ENV=build/nightly/lowest
.venv/bin/uv pip compile -q --resolution lowest-direct --extra plot --extra mpi pyproject.toml -o build/nightly/lowest.txt
export CFLAGS="-O0 -g0"  # mpi4py is compiled, which would take a quarter of an hour
.venv/bin/uv pip install -q -r build/nightly/lowest.txt pytest hypothesis
.venv/bin/uv pip install -q --no-deps --editable .
build/nightly/lowest/bin/python -m pytest -q {' '.join(KEPT)} tests/model tests/mapper {' '.join(
    f'tests/scripts/test_{name}.py'
    for name in ('cli', 'json', 'machine_options', 'routing_options', 'schedules', 'draw', 'report'))}
"""
QUANTUM_ESPRESSO = """\
command -v pw.x || apt-get install -qq -y --no-install-recommends quantum-espresso quantum-espresso-data ||
  echo "NOT TESTED: Quantum ESPRESSO cannot be installed"
"""  # 350 MB, for this part alone


@dataclass(frozen=True)
class Part:
    """Commands that run one after the other, from the root of the checkout."""

    what: str  #: for `--list`
    minutes: float  #: limit of all commands together
    commands: tuple[tuple[str, ...], ...]
    network: bool = False  #: whether to skip the part without a network


PARTS: Mapping[str, Part] = {
    "matrix": Part("every combination of every choice of a plan, on 1 to 8 ranks, against serial FFTW", 240,
                   ((*SLOW, RUNNER + "test_matrix.py"),)),
    "sanitizers": Part("library, runner and bench built with AddressSanitizer and UBSan", 60,
                       ((*SLOW, RUNNER, "-k", "sanitizers"),)),
    "valgrind": Part("nothing unset is read, nothing leaks: valgrind, each exchange", 60,
                     ((*SLOW, RUNNER, "-k", "leaks_nothing"),)),
    "plans": Part("plans at random against serial FFTW", 60, ((*SLOW, RUNNER + "test_fuzz.py", "-k", "not sanitizers"),)),
    "fuzz": Part("every reader of files, with damaged and grown inputs", 15, (("scripts/fuzz", "--seconds", "{seconds}"),)),
    "programs": Part("LAMMPS, Quantum ESPRESSO, mpi4py-fft and FFTW-MPI, unchanged, on networks of namespaces", 45, (
        ("bash", "-ec", QUANTUM_ESPRESSO), (*SLOW, "tests/namespaces/test_programs.py"))),
    "slow": Part("all other tests that take minutes", 180, (
        (*SLOW, "tests", "-k", "not sanitizers and not leaks_nothing", f"--ignore={RUNNER}test_matrix.py",
         f"--ignore={RUNNER}test_fuzz.py", "--ignore=tests/namespaces/test_programs.py"),)),
    "order": Part("the whole of `scripts/test` twice, in two random orders", 120, tuple(
        (*PYTEST, *KEPT, "-n", "2", "--dist", "loadfile", "--random-order", f"--random-order-seed={{day}}{again}")
        for again in (1, 2))),
    "lowest": Part("the lowest versions that `pyproject.toml` allows: model, mapper, commands", 60,
                   (("bash", "-ec", LOWEST),), network=True),
}
COUNTS = (  #: patterns of the summaries that the parts print; the last match of each counts
    r"^=* ?((?:\d+ (?:failed|passed|skipped|deselected|errors?|warnings?)(?:, )?)+) in ",)
TIME_UP = "time was up"


@dataclass(frozen=True)
class Result:
    """The result of a part."""

    outcome: str  #: passed, failed, skipped, or TIME_UP
    counts: str
    seconds: int
    date: str
    commit: str


def run(name: str, minutes: float, day: str, before: Result | None) -> Result:
    """Run a part within its time, with its output in a file. Continue an unfinished run of the same commit."""
    part, log, now = PARTS[name], LOGS / f"{name}.log", commit()
    kept = [LOGS / f"{name}-{n}-{now}.outcomes" for n in range(len(part.commands))]
    goes_on = any(path.exists() for path in kept) and not now.endswith("+")
    for path in (() if goes_on else (log, *LOGS.glob(f"{name}-*.outcomes"))):
        path.unlink(missing_ok=True)
    start, outcome = time.monotonic(), "passed"
    for words, path in zip(part.commands, kept, strict=True):
        left = 60 * min(minutes, part.minutes) - (time.monotonic() - start)
        words = tuple(word.replace("{day}", day).replace("{seconds}", str(max(1, int(left * SHARE)))).replace(
            "{kept}", str(path)) for word in words)
        status, said = bounded(words, ROOT, max(left, 1.0))
        with log.open("a", encoding="utf-8") as file:
            file.write(f"$ {' '.join(words)}\n{said}\n")
        if status is None:
            outcome = TIME_UP
            break
        if status:
            outcome = "failed"
    counts = kept_outcomes.told(kept) or counts_in(log.read_text("utf-8"))
    if outcome == "passed" and "skipped" in counts and "passed" not in counts:
        outcome = "skipped"
    if outcome != TIME_UP:
        for path in kept:
            path.unlink(missing_ok=True)
    known = before is not None and before.outcome == TIME_UP and before.commit == now
    seconds = round(time.monotonic() - start) + (before.seconds if goes_on and known and before else 0)
    return Result(outcome, counts, seconds, date.today().isoformat(), now)


def counts_in(output: str) -> str:
    """Return the counts in the output of a part.

    >>> counts_in("....\\n===== 3 passed, 2 skipped in 4.00s =====\\n==== 5 passed in 1s ====\\n")
    '3 passed, 2 skipped; 5 passed'
    >>> counts_in("torus: 1200 inputs from 5 of the corpus, nothing found\\nhosts: 30 inputs from 2 of the corpus\\n")
    '1230 inputs'
    """
    inputs = [int(number) for number in re.findall(r"^\w+: (\d+) inputs ", output, re.MULTILINE)]
    found = [found.strip() for form in COUNTS for found in re.findall(form, output, re.MULTILINE)]
    return "; ".join([*found, *([f"{sum(inputs)} inputs"] if inputs else [])])


def commit() -> str:
    """Return the commit of the checkout, with a + if any file but the results is changed."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        return "unknown, for git or its folder is missing"

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--", ".", f":!{RESULTS.relative_to(ROOT)}")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def network_there() -> bool:
    """Whether the index of packages answers."""
    return bounded([".venv/bin/pip", "download", "-q", "--no-deps", "-d", LOGS / "probe", "tomli-w"], ROOT, 60)[0] == 0


def read() -> dict[str, dict]:
    return json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}


def remember(name: str, result: Result) -> None:
    """Write a result into the file."""
    results = read() | {name: asdict(result)}
    write_whole(RESULTS, json.dumps({key: results[key] for key in PARTS if key in results}, indent=1) + "\n", PencilmapError)


def install_tools() -> None:
    """Install the additional packages of these parts, in the locked versions."""
    status, said = bounded([".venv/bin/pip", "install", "-q", "--disable-pip-version-check", "--require-hashes",
                            *(f"-r{name}" for name in LOCKED)], ROOT, 600)
    if status:
        sys.exit(f"error: {', '.join(LOCKED)} cannot be installed\n{said}")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--minutes", type=float, default=1e9, help="End each part after so long.")
@click.option("--list", "listed", is_flag=True, help="List the parts.")
def main(parts: tuple[str, ...], minutes: float, listed: bool) -> None:
    """Run the tests that are too long for each commit; all parts, or those named."""
    if listed:
        for name, part in PARTS.items():
            print(f"{name:12} at most {part.minutes:3g} min  {part.what}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # also ends the started commands
    LOGS.mkdir(parents=True, exist_ok=True)
    install_tools()
    failed, day = [], date.today().strftime("%Y%m%d")
    for name in parts or PARTS:
        print(f"{name}: {PARTS[name].what}", flush=True)
        if PARTS[name].network and not network_there():
            print(f"{name}: SKIPPED, the network is missing", flush=True)
            continue
        last = read().get(name)
        result = run(name, minutes, day, Result(**last) if last else None)
        remember(name, result)
        print(f"{name}: {result.outcome}, {result.counts or 'no counts'}, {result.seconds} s", flush=True)
        if result.outcome in ("failed", TIME_UP):
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}; see {LOGS}")
        sys.exit(1)


if __name__ == "__main__":
    main()
