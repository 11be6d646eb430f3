"""A plugin of pytest, ``-p tests.booked_lines``: under ``coverage run``, each line is booked to the test that ran it."""

import json
import sys
from pathlib import Path

import pytest

SECONDS = {}


def pytest_addoption(parser):
    parser.addoption("--seconds-of-tests", type=Path, help="write there how long each test took, JSON")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    running = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if running is not None:
        running.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if running is not None:
            running.switch_context("")


def pytest_runtest_logreport(report):
    SECONDS[report.nodeid] = round(SECONDS.get(report.nodeid, 0.0) + report.duration, 3)


def pytest_sessionfinish(session):
    if session.config.option.seconds_of_tests:
        session.config.option.seconds_of_tests.write_text(json.dumps(SECONDS), "utf-8")
