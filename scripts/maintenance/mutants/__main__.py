"""Mutation testing: small changes at random places of model, mapper and library; do the tests notice each?

    .venv/bin/python -m pencilmap.scripts.maintenance.mutants --number 200 --seed 1

A sample is kept when it is drawn; the same seed and sources give the same. A mutant of Python meets the tests that run
its line, one of C plans at random and the tests of its file; at last the survivors meet all tests of `scripts/test`. Each
verdict is a line of `build/mutants/SEED.jsonl`; a second start goes on where the first one ended, and `--again` tries the
survivors anew, with tests written since.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from math import inf
from pathlib import Path

from pencilmap.scripts.maintenance.mutants.places import Mutant, sample
from pencilmap.scripts.maintenance.mutants.trials import PYTEST, Trial, Verdict, failed_tests, limited, seconds_of

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.jsonl")  #: mutants that no test can tell from the program, with the reason
MADE = (".git", ".venv", "build", "__pycache__", "dist")
LEAST = 0.9  #: fewer killed is a failure
ROOMS = ("model", "mapper", "fft_runner/src")
BOOKED_TESTS = ("model", "mapper", "tests/model", "tests/mapper", *(
    f"tests/scripts/test_{name}.py" for name in ("cli", "json", "machine_options", "routing_options", "schedules", "words",
                                                 "tables", "shapes", "bricks", "known_answers", "drawn_commands")), *(
    f"tests/scripts/test_lines.py::test_{name}" for name in (
        "predict_says_what_a_line_takes_and_where_the_break_even_is", "what_does_not_go_with_a_line_is_told",
        "predict_routes_every_message_of_bricks", "the_table_of_the_document_has_every_case_as_it_is_predicted")))


def files_of_checkout() -> list[str]:
    """What git knows or would add; without git or its folder, all but what set-up and tests make."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout
        return [name for name in listed.split("\0") if name]
    found = []
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in MADE and not name.endswith((".egg-info", "_cache"))]
        links = [name for name in inner if Path(folder, name).is_symlink()]
        found += [str(Path(folder, name).relative_to(ROOT)) for name in (*files, *links)]
    return found


def copy_of_checkout(name: str) -> Path:
    """A copy with what is committed and what is not yet, to be broken; its build folder stays."""
    tree = FOLDER / name
    for name in files_of_checkout():
        source, target = ROOT / name, tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() and not target.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_file() and not source.is_symlink() and (
                not target.exists() or target.read_bytes() != source.read_bytes()):
            shutil.copy(source, target)  # with the time of now, so that it is built
    return tree


def book_lines(tree: Path) -> Path:
    """Run the tests unchanged and book which of them runs which line; minutes, and again when sources or tests change."""
    booked, aside = FOLDER / f"lines-{digest_of(tree)}.cov", FOLDER / "lines.new"
    if booked.exists():
        return booked
    if find_spec("coverage") is None:
        sys.exit("error: coverage is not installed; run .venv/bin/pip install -r packaging/locked/nightly.txt")
    print("booking which test runs which line", file=sys.stderr)
    seconds_aside = aside.with_suffix(".seconds.json")
    all_of_them = [word for word in PYTEST[1:] if word != "-x"]
    command = [*PYTEST[:2], "coverage", "run", "--branch", f"--data-file={aside}", "--source=model,mapper", *all_of_them,
               "-p", "tests.booked_lines", f"--seconds-of-tests={seconds_aside}",
               *(test for test in BOOKED_TESTS if (tree / test.partition("::")[0]).exists())]
    status, out = limited(command, tree, 3600)
    failed = failed_tests(out) if status == 1 else []  # coverage makes tests slow, and so some of limits of time fail
    if status and not failed:
        sys.exit("error: the tests cannot be run\n" + out[-3000:])
    for old in FOLDER.glob("lines-*"):
        old.unlink()
    if failed:
        print("fail without a mutant, and are left out:", *failed, sep="\n  ", file=sys.stderr)
    seconds = json.loads(seconds_aside.read_text("utf-8"))
    seconds_of(booked).write_text(json.dumps({test: took for test, took in seconds.items() if test not in failed}), "utf-8")
    seconds_aside.unlink()
    aside.replace(booked)
    return booked


def digest_of(tree: Path) -> str:
    """Of what is booked: another one where a line or a test may be another."""
    files = sorted(path for room in ("model", "mapper", "scripts", "tests") for path in (tree / room).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def drawn(rooms: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """The sample of a seed, kept when it was drawn, so that it stays the same while the sources are mended."""
    kept = FOLDER / f"{seed}.sample.json"
    if not kept.exists():
        files = [path for room in rooms for path in [ROOT / room, *(ROOT / room).rglob("*")] if path.suffix in (".py", ".c")]
        chosen = sample(sorted(files), ROOT, number, random.Random(seed).randrange)
        kept.write_text("".join(json.dumps(asdict(mutant)) + "\n" for mutant in chosen), "utf-8")
    return [Mutant(**json.loads(line)) for line in kept.read_text("utf-8").splitlines()]


def read(results: Path) -> dict[Mutant, dict]:
    """The verdicts in a file, the last one on each mutant."""
    text = results.read_text("utf-8") if results.exists() else ""
    return {Mutant(**line["mutant"]): line for line in map(json.loads, text.splitlines())}


def keep(results: Path, mutant: Mutant, verdict: Verdict, seconds: float, begin: str, **more: bool) -> None:
    """Append a verdict to a file, and tell it."""
    line = {"mutant": asdict(mutant), "outcome": verdict.outcome, "by": verdict.by, "seconds": round(seconds, 1), **more}
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(f"{begin}{verdict.outcome:8} {seconds:5.1f} s  {mutant}  {verdict.by}", flush=True)


def counted(verdicts: dict[Mutant, dict]) -> Counter[str]:
    """How many of each outcome."""
    return Counter(outcome(mutant, line) for mutant, line in verdicts.items())


def outcome(mutant: Mutant, line: dict) -> str:
    """What came of a mutant; `equivalent` for a survivor that equivalent.jsonl explains."""
    known = {(one["path"], one["old"], one["new"], one["around"])
             for one in map(json.loads, EQUIVALENT.read_text("utf-8").splitlines())}
    is_known = (mutant.path, mutant.old, mutant.new, mutant.around) in known
    return "equivalent" if line["outcome"] == "survived" and is_known else line["outcome"]


def share(counts: Counter[str]) -> float:
    """Of the mutants that are programs of their own, those that were killed."""
    killed = counts["killed"] + counts["timeout"]
    return killed / (killed + counts["survived"]) if killed else 0.0


def summary(counts: Counter[str]) -> str:
    """Counts of the verdicts, in one line."""
    killed = counts["killed"] + counts["timeout"]
    return (f"{killed + counts['survived']} mutants: {killed} killed ({counts['timeout']} of them by a time limit), "
            f"{counts['survived']} survived, {share(counts):.1%}; set aside: {counts['equivalent']} equivalent, "
            f"{counts['same']} that give the same program, {counts['invalid']} that are no program, "
            f"{counts['changed']} whose line has changed")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--number", type=int, default=200, help="of mutants (200)")
    asked.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    asked.add_argument("--in", dest="rooms", nargs="+", default=ROOMS, help=f"folders or files ({', '.join(ROOMS)})")
    asked.add_argument("--again", action="store_true", help="try those that survived anew, with tests written since")
    asked.add_argument("--kind", choices=("py", "c"), help="try only those in one language; one process for each may run")
    asked.add_argument("--minutes", type=float, default=inf, help="begin no mutant after so long; another start goes on")
    asked.add_argument("--list", action="store_true", help="print the sample alone")
    given = asked.parse_args()

    FOLDER.mkdir(parents=True, exist_ok=True)
    results = FOLDER / f"{given.seed}.jsonl"
    verdicts = read(results)
    chosen = drawn(given.rooms, given.number, given.seed)
    todo = [mutant for mutant in chosen
            if ((mutant in verdicts and outcome(mutant, verdicts[mutant]) == "survived") if given.again
                else mutant not in verdicts)
            and (given.kind is None or mutant.path.endswith("." + given.kind))]
    if given.list:
        print(*todo, sep="\n")
        return
    tree = copy_of_checkout(f"tree-{given.kind}" if given.kind else "tree")
    trial = Trial(tree, book_lines)
    started = time.monotonic()
    for n, mutant in enumerate(todo):
        if time.monotonic() - started > 60 * given.minutes:
            break
        keep(results, mutant, *trial(mutant), f"{n + 1}/{len(todo)} ")
    else:
        verdicts = read(results)
        for kind in [given.kind] if given.kind else ["py", "c"]:
            left = [mutant for mutant in chosen if mutant.path.endswith("." + kind) and mutant in verdicts
                    and outcome(mutant, verdicts[mutant]) == "survived" and not verdicts[mutant].get("all_tests")]
            for mutant, verdict, seconds in trial.with_all_tests(left) if left else ():
                keep(results, mutant, verdict, seconds, "all tests: ", all_tests=True)
    verdicts = read(results)
    counts = counted({mutant: verdicts[mutant] for mutant in chosen if mutant in verdicts})
    print(summary(counts))
    sys.exit(share(counts) < LEAST)


if __name__ == "__main__":
    main()
