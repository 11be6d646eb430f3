"""scripts/test-nightly: its parts and their results; the parts themselves run at night. And the pages of scale."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from pencilmap.scripts.command_line.documents import filled
from pencilmap.scripts.command_line.result_files import read_result
from pencilmap.scripts.maintenance import first_answers, nightly, scaling
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]


# ---- the parts ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Run made-up parts: parts(name=commands, minutes=...) -> (exit status, output, results)."""
    results = tmp_path / "nightly.json"
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(nightly, "RESULTS", results)
    monkeypatch.setattr(nightly, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(nightly, "install_tools", lambda: None)
    monkeypatch.setattr(nightly, "commit", lambda: "abc1234")

    def run(minutes=1, **commands):
        made = {name: nightly.Part("what", 1, tuple(map(tuple, some))) for name, some in commands.items()}
        monkeypatch.setattr(nightly, "PARTS", made)
        done = CliRunner().invoke(nightly.main, [f"--minutes={minutes}"])
        return done.exit_code, done.output, json.loads(results.read_text() if results.exists() else "{}")

    yield run
    signal.signal(signal.SIGTERM, before)


def test_a_part_that_fails_does_not_stop_the_others_and_every_result_is_kept(parts):
    status, told, results = parts(bad=[["bash", "-c", "echo '1 failed, 2 passed in 3s'; exit 1"]],
                                  good=[["echo", "= 5 passed, 1 skipped in 2s ="], ["echo", "= 3 passed in 1s ="]])
    assert status == 1 and "failed: bad" in told
    assert [(r["outcome"], r["counts"]) for r in results.values()] == [
        ("failed", "1 failed, 2 passed"), ("passed", "5 passed, 1 skipped; 3 passed")]
    assert results["good"]["commit"] == "abc1234" and re.fullmatch(r"\d{4}-\d\d-\d\d", results["good"]["date"])


def test_a_part_ends_when_its_time_is_up_with_all_that_it_started(parts):
    mark = "77.0123"
    status, _, results = parts(minutes=1 / 60, endless=[["bash", "-c", f"setsid sleep {mark} & sleep {mark}"]])
    assert status == 1 and results["endless"]["outcome"] == "time was up" and results["endless"]["seconds"] < 20
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True).stdout == b""


def test_a_part_can_be_told_its_day_and_how_long_it_may_take(parts):
    _, _, results = parts(minutes=0.5, told=[["bash", "-c", "echo $0: 1$1 inputs of {day}", "{day}", "{seconds}"]])
    assert re.fullmatch(r"1(19|20) inputs", results["told"]["counts"])


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_part_that_was_ended_goes_on_with_the_tests_that_are_left(parts, tmp_path, monkeypatch, interrupted):
    """Test 2 of three fails; in test 3 the time runs out or Ctrl-C arrives."""
    ran, third = tmp_path / "ran", tmp_path / "third"
    (tmp_path / "test_some.py").write_text(f"""
import pathlib, time
ran, third = pathlib.Path({str(ran)!r}), pathlib.Path({str(third)!r})
def test_one(): ran.open("a").write("once ")
def test_two(): assert False
def test_three(): third.exists() or (third.touch(), time.sleep(1000))
""")

    def until_the_third(words, folder, seconds):
        with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL) as process:
            while not third.exists() and process.poll() is None:
                time.sleep(0.01)
            process.kill()
        if interrupted:
            raise KeyboardInterrupt
        return None, ""

    part = {"some": [[sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-c", "/dev/null",
                      *nightly.KEPT, str(tmp_path)]]}
    with monkeypatch.context() as patch:
        patch.setattr(nightly, "bounded", until_the_third)
        _, _, results = parts(**part)
    assert interrupted or (results["some"]["outcome"], results["some"]["counts"]) == ("time was up", "1 failed, 1 passed")
    status, _, results = parts(**part)
    assert status == 1 and (results["some"]["outcome"], results["some"]["counts"]) == ("failed", "1 failed, 2 passed")
    assert ran.read_text() == "once ", "a test that had run was run again"
    parts(**part)
    assert ran.read_text() == "once once ", "a part that had come to its end begins anew"


def test_what_was_skipped_has_not_passed(parts):
    status, _, results = parts(nothing=[["echo", "=== 3 skipped in 0.1s ==="]])
    assert status == 0 and results["nothing"]["outcome"] == "skipped"


def test_every_part_is_listed_by_the_command_and_no_other_is_run():
    told = subprocess.check_output([ROOT / "scripts" / "test-nightly", "--list"], text=True, timeout=patience(60))
    assert [line.split()[0] for line in told.splitlines()] == list(nightly.PARTS)
    refused = CliRunner().invoke(nightly.main, ["matrices"])
    assert refused.exit_code == 2 and "'matrices' is not one of 'matrix'" in refused.output


def test_the_page_has_the_large_machines_of_the_result_file():
    rows = [list(row.values()) for row in read_result(ROOT / "docs" / "results" / "scaling.csv")]
    text = scaling.PAGE.read_text("utf-8")
    assert filled(text, scaling.MARKER, scaling.page_table(rows)) == text


@pytest.mark.parametrize("words", list(first_answers.CASES), ids=str)
def test_first_answers_are_asked_on_networks_that_exist(words, tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    first_answers.write_graph(tmp_path / first_answers.GRAPH)
    network, grid = first_answers.CASES[words]
    status, _, err = pencilmap("predict", *network, "--grid", grid, "-p", "nothing")
    assert status == 1 and "placement" in err  # network and grid are understood
