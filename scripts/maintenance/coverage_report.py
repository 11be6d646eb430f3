"""Report the lines and branches that the tests run, of Python and of C.

    .venv/bin/python -m pencilmap.scripts.maintenance.coverage_report            # both; half an hour
    .venv/bin/python -m pencilmap.scripts.maintenance.coverage_report c --below 80

Python: coverage.py measures model and mapper under their own tests, and under the tests of commands that run in pytest's
process. C: gcov measures library and runner under their tests with Open MPI, in a separate build folder. The report does not
include other processes (launch lines, ranks of the Python binding) or code that numba compiles. Needs
`packaging/locked/nightly.txt`. The figures of every file go to build/nightly/coverage.json.
"""

import json
import os
import sys
from pathlib import Path

import click

from pencilmap.scripts.command_line.documents import markdown_table
from pencilmap.scripts.maintenance.bounded import bounded

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "nightly"
BUILD = ROOT / "build" / "coverage"
PYTHON_TESTS = ("model", "mapper", "tests/model", "tests/mapper", *(
    f"tests/scripts/test_{name}.py" for name in ("cli", "json", "machine_options", "routing_options", "schedules", "words",
                                                 "tables", "shapes", "bricks", "known_answers")))
PYTEST = ("-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider")
C_TESTS = ("tests/fft_runner", "tests/launchers/test_same_placements.py", "tests/launchers/test_reorder.py", "-k",
           "not mpich", "--ignore=tests/fft_runner/test_install.py", "--ignore=tests/fft_runner/test_peer_failures.py")
LIMIT_S = 5400
Row = tuple[str, int, int, int, int]  #: file, lines, covered lines, branches, covered branches


def run(*command: str, environment: dict[str, str] | None = None) -> str:
    status, out = bounded(command, ROOT, LIMIT_S, environment)
    if status is None:
        sys.exit(f"error: {command[0]} did not end in {LIMIT_S} s")
    if status:
        print(f"warning: {' '.join(command[:4])} ... ended with status {status}; what had run is counted\n{out[-2000:]}",
              file=sys.stderr)
    return out


def of_python() -> list[Row]:
    """Return the files of model and mapper."""
    data, report = FOLDER / "python.cov", FOLDER / "python.json"
    run(sys.executable, "-m", "coverage", "run", "--branch", f"--data-file={data}", "--source=model,mapper", *PYTEST,
        *PYTHON_TESTS)
    run(sys.executable, "-m", "coverage", "json", f"--data-file={data}", "-o", str(report))
    files = json.loads(report.read_text("utf-8"))["files"]
    return [(name, one["num_statements"], one["covered_lines"], one["num_branches"], one["covered_branches"])
            for name, one in ((name, file["summary"]) for name, file in files.items())]


def of_c() -> list[Row]:
    """Return the files of library, runner and reorder library, and their shared files."""
    flags = "-O0 -g --coverage -fprofile-update=atomic"
    run("cmake", "-S", "fft_runner", "-B", str(BUILD), "-D", "PENCILFFT_SMPI=OFF", "-D", "CMAKE_BUILD_TYPE=None",
        "-D", f"CMAKE_C_FLAGS={flags}")
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    run(sys.executable, *PYTEST, *C_TESTS, environment={"PENCILMAP_BUILD": str(BUILD)})
    report = FOLDER / "c.json"
    run(sys.executable, "-m", "gcovr", "-r", str(ROOT / "fft_runner"), "--object-directory", str(BUILD), str(BUILD),
        "--json-summary", str(report), "--gcov-ignore-errors=all", "--merge-mode-functions=merge-use-line-min")
    return [(f"fft_runner/{one['filename']}", one["line_total"], one["line_covered"], one["branch_total"],
             one["branch_covered"]) for one in json.loads(report.read_text("utf-8"))["files"]]


def percent(of: int, whole: int) -> float:
    return 100.0 * of / whole if whole else 100.0


def total(rows: list[Row]) -> str:
    """
    >>> total([("a", 10, 9, 4, 2), ("b", 10, 10, 0, 0)])
    '95.0 % of 20 lines, 50.0 % of 4 branches'
    """
    lines, hit, branches, taken = (sum(column) for column in list(zip(*rows))[1:])
    return f"{percent(hit, lines):.1f} % of {lines} lines, {percent(taken, branches):.1f} % of {branches} branches"


KINDS = {"python": of_python, "c": of_c}


@click.command()
@click.argument("kinds", nargs=-1, type=click.Choice(list(KINDS)))
@click.option("--below", default=90.0, help="Name the files of which fewer branches are taken, in percent.")
def main(kinds: tuple[str, ...], below: float) -> None:
    """Report which lines and branches the tests run."""
    os.chdir(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {kind: KINDS[kind]() for kind in kinds or KINDS}
    kept = FOLDER / "coverage.json"
    before = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    kept.write_text(json.dumps(before | found, indent=1), "utf-8")
    for rows in found.values():
        low = sorted((percent(row[4], row[3]), row) for row in rows if percent(row[4], row[3]) < below)
        print(markdown_table(["file", ">lines", ">branches"], [
            [row[0], f"{percent(row[2], row[1]):.0f} %", f"{taken:.0f} %"] for taken, row in low]))
    print("coverage: " + "; ".join(f"{kind} {total(rows)}" for kind, rows in found.items()))


if __name__ == "__main__":
    main()
