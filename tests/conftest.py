"""What all tests share: the marker `slow`, and the way to run the command line."""

import json
import signal

import pytest


def pytest_configure():
    """A shell lets jobs in its background ignore Ctrl-C, and what tests start and interrupt would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="takes minutes; run it with scripts/test --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def pencilmap(capsys):
    """Call the command line in this process: ``pencilmap("predict", ...)`` -> (exit status, stdout, stderr)."""
    from pencilmap.scripts.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture
def pencilmap_json(pencilmap):
    """The same with ``--json``, successful; returns the parsed output."""

    def run(*arguments):
        status, out, err = pencilmap(*arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    return run
