"""A pytest plugin that stores the outcome of each test in a file and skips tests with a stored outcome.

    .venv/bin/python -m pytest -p pencilmap.scripts.maintenance.kept_outcomes --kept FILE ...

So a long run can continue when it has been interrupted. Each line of the file is one test: its outcome and its name.
"""

from collections import Counter
from pathlib import Path

import pytest

RANKS = ("passed", "skipped", "failed")  #: the worst outcome of set-up, call and tear-down counts


def read(path: Path) -> dict[str, str]:
    """Return the outcome of each test."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {name: outcome for outcome, name in (line.split(" ", 1) for line in lines)}


def told(paths: list[Path]) -> str:
    """Return the number of tests with each outcome, in the words of pytest; each file is one run of the tests."""
    counts = [Counter(read(path).values()) for path in paths if path.exists()]
    return "; ".join(", ".join(f"{one[outcome]} {outcome}" for outcome in reversed(RANKS) if one[outcome])
                     or "no test yet" for one in counts)


class KeptOutcomes:
    """The outcomes of one run; with pytest-xdist, each worker skips tests and the first process writes."""

    def __init__(self, path: Path, writes: bool) -> None:
        self.path, self.writes, self.known, self.worst = path, writes, read(path), dict[str, str]()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Remove the finished tests when the order of the others is fixed."""
        if done := [item for item in items if item.nodeid in self.known]:
            items[:] = [item for item in items if item.nodeid not in self.known]
            config.hook.pytest_deselected(items=done)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.writes:
            return
        self.worst[report.nodeid] = max(report.outcome, self.worst.get(report.nodeid, "passed"), key=RANKS.index)
        if report.when == "teardown":
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{self.worst.pop(report.nodeid)} {report.nodeid}\n")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail if an earlier test failed; succeed if no test was left to run."""
        if self.known and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            failed = "failed" in self.known.values()
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if failed else pytest.ExitCode.OK


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kept", type=Path, help="keep outcomes in this file, and leave out the tests that it has")


def pytest_configure(config: pytest.Config) -> None:
    if (path := config.getoption("--kept")) is not None:
        config.pluginmanager.register(KeptOutcomes(path, writes=not hasattr(config, "workerinput")))
