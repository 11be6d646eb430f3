"""Shared fixtures and settings: the markers `slow` and `sampled`, and calls of the command line."""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.patience import patience

# Open MPI uses these components here anyway; the search for other networks takes 0.2 s, some hundred times.
os.environ.setdefault("OMPI_MCA_pml", "ob1")
# Each MPI process searches the PCI bus for devices, by hwloc; in a virtual machine, that is a third of its start.
os.environ.setdefault("HWLOC_COMPONENTS", "-pci,-linuxio")
os.environ.setdefault("HWLOC_PLUGINS_PATH", "/nonexistent")  # plugins load X11 and OpenCL, a fifth of the rest of the start
# There are more ranks and threads than processors, so waiting threads must yield.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")
# Tests already run in parallel; further threads in each test would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


SPARSE = 4  #: sampled tests run this many times fewer cases than they name, so that a run ends within 8 minutes
QUICK, OF = 4, ("model", "mapper")  #: with --quick, one of so many cases of each test of these, and of its examples
LONGEST = [f"tests/{name}.py" for name in (  # these files begin first, otherwise a worker would run one alone at the end
    "test_docs", "fft_runner/test_fuzz", "namespaces/test_run", "fft_runner/test_memory", "fft_runner/test_traffic",
    "scripts/test_trace", "fft_runner/test_time_limit", "fft_runner/test_exchanges", "fft_runner/test_install",
    "fft_runner/test_python_binding", "scripts/test_report", "fft_runner/test_mpi_failures", "test_package", "test_lint",
    "namespaces/test_programs", "namespaces/test_put", "launchers/test_slurm", "scripts/test_validate", "fuzz/test_fuzz",
    "scripts/test_setup", "simulated_torus/test_networks", "simulated_torus/test_driver",
    "simulated_torus/test_probe", "fft_runner/test_out_of_memory", "test_readme", "fft_runner/test_known_plans",
    "fft_runner/test_programs", "fft_runner/test_lines", "scripts/test_interrupts", "test_layers", "test_recipes")]


def pytest_configure(config):
    """Let property tests draw a part of their examples at each commit, and restore Ctrl-C.

    A shell lets jobs in its background ignore Ctrl-C, and the programs that tests start and interrupt would inherit that."""
    from tests.model import cases  # imports numpy, after the environment is set above

    if not config.getoption("--slow"):
        cases.SHARE = 1 / 16
    if config.getoption("--quick"):
        cases.SHARE, cases.LEAST = cases.SHARE / QUICK, cases.LEAST // QUICK
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes, and all cases")
    parser.addoption("--quick", action="store_true", help="run few cases, and no test that takes seconds")


def pytest_collection_modifyitems(config, items):
    numbers = Counter(item.nodeid.partition("::")[0] for item in items)
    order = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: (order.get(file := item.nodeid.partition("::")[0], len(order)), -numbers[file], file))
    if config.getoption("--slow"):
        return
    quick, cases = config.getoption("--quick"), Counter()
    for item in items:
        if reason := left_out(item, quick, cases):
            item.add_marker(pytest.mark.skip(reason=reason))


def left_out(item, quick, cases):
    """Return why a test does not run without --slow; None if it runs. `cases` counts the cases of each test."""
    if "slow" in item.keywords:
        return "takes minutes; run it with scripts/test --slow"
    if quick and "thorough" in item.keywords:
        return "takes seconds; run it with scripts/test"
    sampled = item.get_closest_marker("sampled")
    one_in = (sampled.args[0] * SPARSE if sampled else 1) * (QUICK if quick and item.path.parent.name in OF else 1)
    test = item.nodeid.partition("[")[0]
    cases[test] += 1
    if (cases[test] - 1) % one_in:
        return f"one of {one_in} cases of its test runs; run all with scripts/test --slow"
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Print what was not run: the skipped tests by their reasons, and the parts of other commands."""
    skipped = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ()))
    terminalreporter.section("not run")
    for reason, number in skipped.most_common():
        terminalreporter.line(f"{number:6}  {reason}")
    if config.getoption("--quick"):
        terminalreporter.line("        commands, launchers, documents and most of the library; run them with scripts/test")
    terminalreporter.line("        parts of hours, among them clang-tidy and cppcheck; run them with scripts/test-nightly")


@pytest.fixture(scope="module", autouse=True)
def mpi_is_not_started_in_this_process():
    """Fail if the tests of a file start MPI here: the environment would tie all later programs to this MPI job."""
    yield
    # os.environ lacks variables that C added
    given = subprocess.run(["env"], capture_output=True, text=True, timeout=patience(60)).stdout
    assert "OMPI_MCA_ess=singleton" not in given, "a test of this file started MPI in pytest's own process"


@pytest.fixture
def brief_searches(monkeypatch):
    """Searches have a twentieth of their budget: for tests of the answer around them."""
    from pencilmap.mapper.base import search

    monkeypatch.setattr(search, "BUDGET", search.BUDGET // 20)


@pytest.fixture
def pencilmap(capsys, monkeypatch):
    """Call the command line in this process: ``pencilmap("predict", ...)`` -> (exit status, stdout, stderr).

    Sentences are on one line each, an error and its help too, so that tests find words in them. ``pencilmap.out(...)`` is
    the output of a command that must succeed, ``pencilmap.said(...)`` the same with single blanks for all white space.
    """
    from pencilmap.scripts.command_line import tables
    from pencilmap.scripts.command_line.cli import main

    monkeypatch.setattr(tables, "LINE", 10_000)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        status = end.value.code or 0
        if status in (1, 2) and err.startswith("error: "):
            assert re.search(r"^error: (?:.*\n)+?help: (?:.*\n)+\Z", err, re.MULTILINE), f"error: and help:, not {err}"
        if tables.LINE < 10_000:  # a test of the lines as they are printed
            return status, out, err
        page = "" if status == 1 else r"\g<0>"  # the page of help alone is no part of the sentence
        err = re.sub(r"\nhelp: pencilmap[\w -]* --help(?=\n)", page, err)
        return status, out, re.sub(r"\nhelp: (?!pencilmap)", "; ", err)

    def out(*arguments):
        status, printed, err = run(*arguments)
        assert status == 0, printed + err
        return printed

    run.out, run.said = out, lambda *arguments: " ".join(out(*arguments).split())
    return run


@pytest.fixture
def pencilmap_json(pencilmap):
    """Call the command line with ``--json`` and return the answers; ``pencilmap_json.one(...)`` returns the only one."""
    import jsonschema

    packaged = Path(__file__).resolve().parents[1] / "scripts" / "command_line" / "answers.schema.json"
    schema = json.loads(packaged.read_text("utf-8"))
    checked = jsonschema.Draft202012Validator(schema).validate

    def run(*arguments):
        status, out, err = pencilmap(*arguments, "--json")
        assert status == 0, err
        found = json.loads(out)
        checked(found)
        return found["answers"]

    def one(*arguments):
        found, = run(*arguments)
        return found

    run.one = one
    return run
