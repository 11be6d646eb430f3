"""scripts/test-nightly: its parts and their results; mutants; promises; the rest of each part runs at night."""

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from pencilmap.scripts.command_line.documents import filled
from pencilmap.scripts.maintenance import nightly, promises
from pencilmap.scripts.maintenance.mutants import __main__ as mutants_command, trials
from pencilmap.scripts.maintenance.mutants.places import Mutant, mutants, sample
from pencilmap.scripts.maintenance.mutants.trials import Trial, Verdict, seconds_of
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]


# ---- the parts ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Run made-up parts: parts(name=commands, minutes=...) -> (exit status, what was printed, results, page)."""
    page, results = tmp_path / "reliability.md", tmp_path / "nightly.json"
    before = signal.getsignal(signal.SIGTERM)
    page.write_text(f"<!-- {nightly.MARKER} -->\n<!-- end -->\n")
    monkeypatch.setattr(nightly, "PAGE", page)
    monkeypatch.setattr(nightly, "RESULTS", results)
    monkeypatch.setattr(nightly, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(nightly, "install_tools", lambda: None)
    monkeypatch.setattr(nightly, "commit", lambda: "abc1234")

    def run(minutes=1, **commands):
        made = {name: nightly.Part("what", 1, tuple(map(tuple, some))) for name, some in commands.items()}
        monkeypatch.setattr(nightly, "PARTS", made)
        done = CliRunner().invoke(nightly.main, [f"--minutes={minutes}"])
        return done.exit_code, done.output, json.loads(results.read_text() if results.exists() else "{}"), page.read_text()

    yield run
    signal.signal(signal.SIGTERM, before)


def test_a_part_that_fails_does_not_stop_the_others_and_every_result_is_kept(parts):
    status, told, results, page = parts(bad=[["bash", "-c", "echo '1 failed, 2 passed in 3s'; exit 1"]],
                                        good=[["echo", "= 5 passed, 1 skipped in 2s ="], ["echo", "20 promises, 0 broken"]])
    assert status == 1 and "failed: bad" in told
    assert [(r["outcome"], r["counts"]) for r in results.values()] == [
        ("failed", "1 failed, 2 passed"), ("passed", "5 passed, 1 skipped; 20 promises, 0 broken")]
    assert re.search(r"^\| `good` \| what \| passed: 5 passed, 1 skipped; .* \| 1 min \| \d{4}-\d\d-\d\d, abc1234 \|$", page,
                     re.MULTILINE)


def test_a_part_ends_when_its_time_is_up_with_all_that_it_started(parts):
    mark = "77.0123"
    status, _, results, _ = parts(minutes=1 / 60, endless=[["bash", "-c", f"setsid sleep {mark} & sleep {mark}"]])
    assert status == 1 and results["endless"]["outcome"] == "time was up" and results["endless"]["seconds"] < 20
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True).stdout == b""


def test_a_part_can_be_told_its_day_and_how_long_it_may_take(parts):
    _, _, results, _ = parts(minutes=0.5, told=[["bash", "-c", "echo $0: 1$1 inputs of {day}", "{day}", "{seconds}"]])
    assert re.fullmatch(r"1(19|20) inputs", results["told"]["counts"])


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_part_that_was_ended_goes_on_with_the_tests_that_are_left(parts, tmp_path, monkeypatch, interrupted):
    """Of three tests the second fails, and in the third the time is up or Ctrl-C comes."""
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
        _, _, results, _ = parts(**part)
    assert interrupted or (results["some"]["outcome"], results["some"]["counts"]) == ("time was up", "1 failed, 1 passed")
    status, _, results, _ = parts(**part)
    assert status == 1 and (results["some"]["outcome"], results["some"]["counts"]) == ("failed", "1 failed, 2 passed")
    assert ran.read_text() == "once ", "a test that had run was run again"
    parts(**part)
    assert ran.read_text() == "once once ", "a part that had come to its end begins anew"


def test_what_was_skipped_has_not_passed(parts):
    status, _, results, _ = parts(nothing=[["echo", "=== 3 skipped in 0.1s ==="]])
    assert status == 0 and results["nothing"]["outcome"] == "skipped"


def test_the_page_shows_the_last_results():
    text = nightly.PAGE.read_text("utf-8")
    assert filled(text, nightly.MARKER, nightly.table(nightly.read())) == text


def test_every_part_is_listed_by_the_command_and_no_other_is_run():
    told = subprocess.check_output([ROOT / "scripts" / "test-nightly", "--list"], text=True, timeout=patience(60))
    assert [line.split()[0] for line in told.splitlines()] == list(nightly.PARTS)
    refused = CliRunner().invoke(nightly.main, ["mutant"])
    assert refused.exit_code == 2 and "'mutant' is not one of 'matrix'" in refused.output


# ---- mutants -----------------------------------------------------------------------------------------------------------

SLIPS = {  # one place each: what stands in the source, and everything that may stand there instead
    "a.py": {"x = a < b": ["x = a <= b", "x = a >= b"], "y = all(c)": ["y = any(c)"], "z = 2 * n": [
        "z = 2", "z = n", "z = 3 * n", "z = 1 * n", "z = 2 + n"], "raise E": ["pass"], "f.a[0] += k": [
        "pass", "f.a[1] += k", "f.a[0] -= k"], "def f(a: int | None): pass": [], "'a < b'": [],
        "if x: y": ["if not (x): y"]},
    "a.c": {"int f(int a) { return a && !a; }": ["a", "!a", "a || !a", "a && a"], "void g(void) { h(1); }": [
        "void g(void) { ; }", "h(2)", "h(0)"], "char *s = \"a < b\";": [], "#define N (1 + 2)\n": []},
}


@pytest.mark.parametrize("file, source", [(file, source) for file, cases in SLIPS.items() for source in cases])
def test_slips_of_the_hand(file, source, tmp_path):
    path = tmp_path / file
    path.write_text(f"{source}\n")
    made = [mutant.applied(path.read_bytes()).decode().strip() for place in mutants(path, tmp_path) for mutant in place]
    expected = SLIPS[file][source]
    assert len(made) == len(expected) and all(any(part in text for text in made) for part in expected), made


def test_a_sample_is_the_same_for_a_seed_and_has_no_place_twice():
    files = [ROOT / "model" / "loads.py", ROOT / "fft_runner" / "src" / "geometry" / "blocks.c"]
    first, again, other = (sample(files, ROOT, 40, random.Random(seed).randrange) for seed in (1, 1, 2))
    assert first == again != other and len({(m.path, m.line, m.column, m.old) for m in first}) == 40
    assert {m.path for m in first} == {str(path.relative_to(ROOT)) for path in files}


def test_a_mutant_is_found_again_below_new_lines_and_not_where_its_line_has_gone():
    mutant = Mutant("a.py", 2, 2, "+", "-", "a + b")
    assert mutant.applied(b"\na + b\n") == mutant.applied(b"new\na + b\n").replace(b"new", b"") == b"\na - b\n"
    with pytest.raises(ValueError, match="has changed"):
        mutant.applied(b"\na + c\n")


def test_what_a_checkout_holds_is_found_without_git_too(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(mutants_command.shutil, "which", lambda name: None)
        found = set(mutants_command.files_of_checkout())
    assert {"model/loads.py", "fft_runner/src/plan/ask.c", "scripts/setup", "README.md"} <= found
    assert not {name for name in found if name.startswith((".venv/", "build/", ".git/")) or "__pycache__" in name}


def test_lines_are_booked_anew_where_a_source_or_a_test_has_changed(monkeypatch, tmp_path):
    runs = []

    def run(command, tree, seconds):
        runs.append(command)
        (tmp_path / "lines.new").write_text("")
        (tmp_path / "lines.seconds.json").write_text('{"tests/a.py::test[1]": 0.1, "tests/a.py::test[2]": 3}')
        return 1, "FAILED tests/a.py::test[2] - too slow under coverage\n"

    monkeypatch.setattr(mutants_command, "FOLDER", tmp_path)
    monkeypatch.setattr(mutants_command, "limited", run)
    monkeypatch.setattr(mutants_command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="coverage is not installed; run .*nightly.txt"):
        mutants_command.book_lines(tmp_path / "tree")
    monkeypatch.setattr(mutants_command, "find_spec", lambda name: name)
    source, test = tmp_path / "tree" / "model" / "a.py", tmp_path / "tree" / "tests" / "model" / "test_a.py"
    for n, path in enumerate((source, test, source), 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n" * n)
        booked = mutants_command.book_lines(tmp_path / "tree")
        assert mutants_command.book_lines(tmp_path / "tree") == booked and len(runs) == n
        assert {path.name for path in tmp_path.glob("lines*")} == {booked.name, seconds_of(booked).name}
        assert json.loads(seconds_of(booked).read_text()) == {"tests/a.py::test[1]": 0.1}  # the other fails without a mutant
    monkeypatch.setattr(mutants_command, "limited", lambda command, tree, seconds: (2, "no such option"))
    source.write_text("")
    with pytest.raises(SystemExit, match="cannot be run\n.*no such option"):
        mutants_command.book_lines(tmp_path / "tree")


def test_a_test_that_fails_without_a_mutant_ends_the_trials(tmp_path):
    class Tests:
        def try_one(self, mutant):
            assert source.read_text() == "a - b\n"
            return Verdict("killed", "tests/test_a.py::test_a")

        def passes(self, verdict):
            assert source.read_text() == "a + b\n"
            return passes

    source, mutant = tmp_path / "a.py", Mutant("a.py", 1, 2, "+", "-", "a + b")
    source.write_text("a + b\n")
    trial = Trial(tmp_path, lambda tree: tmp_path)
    trial.kinds[".py"] = Tests()
    passes = True
    assert trial(mutant)[0] == Verdict("killed", "tests/test_a.py::test_a")
    passes = False
    with pytest.raises(SystemExit, match="test_a.py::test_a fails without a mutant"):
        trial(mutant)


def test_survivors_meet_all_tests_together_then_each_those_that_failed(monkeypatch, tmp_path, capsys):
    """Three slips, two of them in one line; a test notices `-`, and another one fails in the copy whatever stands there."""
    lines = ["x = a + b * c", "y = 2"]
    product, sum_, number = (Mutant("a.py", *place) for place in (
        (1, 10, "*", "+", lines[0]), (1, 6, "+", "-", lines[0]), (2, 4, "2", "3", lines[1])))
    source = tmp_path / "a.py"
    source.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(trials.AllTests, "__post_init__", lambda self: None)
    runs = []

    def pytest_run(command, tree, seconds, environment=None):
        asked, now = [word for word in command if word.startswith("tests/")], source.read_text()
        runs.append((now, asked))
        failing = {"tests/always.py::test": True, "tests/minus.py::test_it[a - b]": "a - b" in now}
        failed = [test for test, fails in failing.items() if fails and (not asked or test in asked)]
        return int(bool(failed)), "".join(f"FAILED {test} - no\n" for test in failed)

    monkeypatch.setattr(trials, "limited", lambda *command: (0, "built"))
    monkeypatch.setattr(trials, "bounded", pytest_run)  # all tests have no limit of addresses, which sanitizers need
    trial = Trial(tmp_path, lambda tree: tree)
    found = {mutant: verdict for mutant, verdict, _ in trial.with_all_tests([product, sum_, number])}
    assert found == {product: Verdict("survived"), number: Verdict("survived"),
                     sum_: Verdict("killed", "tests/minus.py::test_it[a - b]")}
    assert "fail without a mutant, and are left out:\n  tests/always.py::test\n" in capsys.readouterr().err
    assert [(now, len(asked)) for now, asked in runs] == [  # all but one together, that one, none, and each
        ("x = a + b + c\ny = 3\n", 0), ("x = a - b * c\ny = 2\n", 0), ("x = a + b * c\ny = 2\n", 2),
        ("x = a + b + c\ny = 2\n", 1), ("x = a - b * c\ny = 2\n", 1), ("x = a + b * c\ny = 3\n", 1)]


@pytest.mark.slow
def test_mutants_meet_the_tests_of_their_line(monkeypatch, tmp_path):
    """The sample of every commit, in a copy: the busiest link by its load, not its time; and a slip that no one notices."""
    path, test = "model/loads.py", "tests/model/test_loads.py::test_the_busiest_link_is_the_one_that_takes_longest"
    source = (ROOT / path).read_text("utf-8").splitlines()
    line = next(n for n, text in enumerate(source, 1) if "load / Fraction(rate)" in text)
    booked = tmp_path / "lines.cov"
    with sqlite3.connect(booked) as data:
        data.executescript(f"""
            create table file(id, path); create table context(id, context);
            create table arc(file_id, context_id, fromno, tono);
            insert into file values (1, '/elsewhere/{path}'); insert into context values (1, '{test}');
            insert into arc values (1, 1, {line - 1}, {line}), (1, 1, {line}, {line + 1});""")
    booked.with_suffix(".seconds.json").write_text(json.dumps({test: 0.1}))
    monkeypatch.setattr(mutants_command, "FOLDER", tmp_path)
    trial = Trial(mutants_command.copy_of_checkout("tree"), lambda tree: booked)
    column, around = source[line - 1].index("load / Fraction(rate)"), source[line - 1].strip()
    wrong, harmless = (Mutant(path, line, column, "load / Fraction(rate)", new, around)
                       for new in ("load", "load / Fraction(rate) * 1"))
    assert trial(wrong)[0] == Verdict("killed", test)
    assert trial(harmless)[0].outcome == "survived"
    assert (trial.tree / path).read_text("utf-8").splitlines() == source


# ---- promises ----------------------------------------------------------------------------------------------------------


def test_a_broken_promise_of_scale_is_told(monkeypatch):
    """The figures of docs/scaling.md, with a machine on which everything takes ten times as long."""
    lines = {(what, torus): float(seconds) for what, torus, _, _, _, seconds, *_ in promises.rows(promises.SCALING, 8)}

    def measured(what, torus, grid):
        return {"processor_s": slow * max(lines[what, torus], promises.SHORTEST_S), "peak_bytes": 50 * 2**20}

    for slow, status in ((1.0, 0), (10.0, 1)):
        monkeypatch.setitem(promises.GROUPS, "scale", lambda: promises.scale(measured))
        done = CliRunner().invoke(promises.main, ["scale"])
        assert done.exit_code == status and ("BROKEN" in done.output) == (slow > 1)
    assert re.search(r"BROKEN random mapfile, 98,304 nodes, grid 256x384: [\d.]+ CPU s, promised [\d.]+", done.output)
    assert "1,000,000 nodes" in done.output and "1,048,576 nodes" in done.output


def test_a_broken_promise_of_speed_is_told(monkeypatch):
    def measured(cases, names, rounds, repetitions):
        return {case: [{"times_s": {name: [1.0 if name == "fftw-mpi" else ratio] for name in names}}] for case in cases}

    for ratio, status in ((0.5, 0), (2.0, 1)):
        monkeypatch.setitem(promises.GROUPS, "fftw", lambda: promises.fftw(measured))
        done = CliRunner().invoke(promises.main, ["fftw"])
        assert done.exit_code == status and done.output.count("BROKEN") == (16 if ratio > 1 else 0), done.output
