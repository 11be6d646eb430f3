"""The benchmark: its answers compared with numpy and scipy, its contestants with its answers, and its refusals."""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.fft
from click.testing import CliRunner

from pencilmap.scripts.command_line.documents import END, marker
from pencilmap.scripts.maintenance import benchmark_fft, contestants
from pencilmap.scripts.maintenance.benchmark_fft import rows_table
from pencilmap.scripts.maintenance.contestants import (
    PEERS,
    PRECISIONS,
    TYPES,
    VARIABLE,
    Case,
    WrongResult,
    expected,
    input_part,
    places,
    refusal,
)
from tests.documents import ENVIRONMENT, run_by
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "maintenance" / "benchmark_fft.py"
TIMEOUT_S = 300


class Alone:
    """A communicator of a single rank, without MPI."""

    rank, size = 0, 1

    def allreduce(self, value):
        return value

    def allgather(self, value):
        return [value]

    def Barrier(self):
        pass


def whole(shape):
    return tuple(slice(0, n) for n in shape)


def by_others(case, values):
    if case.type == "c2c":
        return np.fft.fftn(values)
    if case.type == "r2c":
        return np.fft.rfftn(values)
    if case.type == "c2r":
        return np.fft.irfftn(values, case.shape, axes=(0, 1, 2)) * np.prod(case.shape)
    return (scipy.fft.dctn if case.type == "dct" else scipy.fft.dstn)(values, type=2)


@pytest.mark.parametrize("kind", TYPES)
def test_right_answers_are_those_of_numpy_and_scipy(kind):
    case = Case((6, 5, 8), (1, 1), kind)
    found = by_others(case, input_part(case, whole(case.input_shape)))
    right, _ = expected(case, Alone())
    assert found.shape == case.output_shape
    np.testing.assert_allclose([found[place] for place in places(case)], right, atol=1e-11)


def benchmark(*arguments):
    if not shutil.which("mpirun.openmpi") and not shutil.which("mpirun"):
        pytest.skip("NOT TESTED: the benchmark, for mpirun is missing")
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=patience(TIMEOUT_S),
                          env=ENVIRONMENT)  # other tests run at the same time


def documented(program):
    """Return the page's command that runs the program."""
    [command] = [command for command in run_by(__file__) if program in command]
    return command


def small():
    """Return the options of the page's benchmark, for one small size and both precisions, without writing."""
    options = re.sub(r"--(size|grid|repetitions|rounds) [\dx]+|--precision \w+|--(peers|json) \S+|--write|\\\n", "",
                     documented(SCRIPT.name).partition(SCRIPT.name)[2])
    return [*options.split(), "--size", "12", "--grid", "1x2", "--rounds", "1", "--repetitions", "1"]


@pytest.mark.slow
def test_all_types_and_precisions_are_compared(tmp_path):
    options = small()
    more = [word for kind in TYPES if kind not in options for word in ("--type", kind)]
    done = benchmark(*options, *more, "--json", tmp_path / "times.json")
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "times.json").read_text())
    assert {(each["case"]["type"], each["case"]["precision"]) for each in kept} == set(product(TYPES, PRECISIONS))
    assert all({"pencilfft", "pencilfft:node", "fftw-mpi"} <= set(each["times_s"]) for each in kept)
    assert "STREAM copy by all ranks" in done.stdout


class Transform:
    """A contestant without a library, which is wrong in some runs."""

    def __init__(self, wrong):
        self.input, self.output, self._wrong = np.zeros((4, 4, 4)), np.zeros((4, 4, 3), complex), iter(wrong)
        self.input_part, self.output_part = whole((4, 4, 4)), whole((4, 4, 3))

    def run(self):
        if not next(self._wrong):
            self.output[:] = np.fft.rfftn(self.input)


def ran(monkeypatch, **wrong):
    """Return the worker's result with these contestants, in one process."""
    monkeypatch.setattr(contestants, "contestant", lambda name, *_: Transform(wrong[name]))
    monkeypatch.setattr(contestants, "STREAM_BYTES", 1 << 10)
    case = {"shape": [4, 4, 4], "grid": [1, 1], "type": "r2c"}
    return contestants.run({"case": case, "contestants": list(wrong), "repetitions": 2, "seed": 0}, Alone())


def test_each_run_is_checked_a_peer_with_a_wrong_one_has_no_time_and_ours_ends_the_benchmark(monkeypatch):
    result = ran(monkeypatch, right=[False] * 3, once=[False, False, True])
    assert set(result["times_s"]) == set(result["errors"]) == {"right"}
    assert result["refused"] == {"once": "1 of 3 results are wrong"}
    with pytest.raises(WrongResult, match="pencilfft has an error of"):
        ran(monkeypatch, pencilfft=[False, True, False])


def test_a_contestant_that_ends_the_launch_loses_only_its_own_times(monkeypatch):
    launches = []

    def launched(case, names, *_):
        launches.append(names)
        if "b" in names:
            raise benchmark_fft.Ended("ended", "status 134")
        return {"times_s": {name: [1.0] for name in names}, "refused": {}}

    monkeypatch.setattr(benchmark_fft, "launched", launched)
    case = Case((4, 4, 4), (1, 1))
    results = list(benchmark_fft.round_of(case, ["ours", "a", "b", "c"], 1, 0))
    assert launches == [["ours", "a", "b", "c"], ["ours", "a"], ["ours", "b", "c"], ["ours", "b"], ["ours"],
                        ["ours", "c"]]
    assert {name for result in results for name in result["times_s"]} == {"ours", "a", "c"}
    assert benchmark_fft.refusals({case: results}) == ["b has no c2c 4^3 1x1: it ended the launch with status 134"]
    with pytest.raises(benchmark_fft.Ended):
        list(benchmark_fft.round_of(case, ["b", "a"], 1, 0))


def test_peers_that_are_not_installed_are_left_out_with_the_reason(tmp_path):
    done = benchmark("--size", "6", "--grid", "1x1", "--type", "c2c", "--precision", "double", "--rounds", "1",
                     "--repetitions", "1", "--peers", tmp_path)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    for name in PEERS:
        assert re.search(rf"{name} has no c2c 6\^3 1x1: (it is not installed in|\S+ is missing)", told), told
    refused = CliRunner().invoke(benchmark_fft.main, ["--peers", str(tmp_path / "none")])
    assert refused.exit_code == 1 and "no such folder" in refused.output


@pytest.mark.slow
@pytest.mark.parametrize("grid", ["1x1", "1x2", "2x2"])
def test_drivers_of_installed_peers_give_right_results(grid):
    """Odd extents, so that shares differ; PENCILMAP_PEERS names the folder of the peers."""
    if not os.environ.get(VARIABLE):
        pytest.skip(f"NOT TESTED: drivers of peers, for {VARIABLE} names no folder of installed peers")
    done = benchmark("--size", "21x18x15", "--grid", grid, "--type", "c2c", "--type", "r2c", "--type", "c2r", "--precision",
                     "double", "--rounds", "1", "--repetitions", "2")
    assert done.returncode == 0 and not re.search("wrong|ended the launch", done.stdout), done.stdout + done.stderr


def result_of(kind="c2c", **times):
    return {"case": {"shape": [64, 64, 64], "grid": [1, 2], "type": kind}, "refused": {}, "stream_copy": [1.6777216e10],
            "times_s": times}


def test_written_are_a_short_page_and_the_picture(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text(f"{marker(benchmark_fft.MARKER)}\n{END}\n")
    monkeypatch.setattr(benchmark_fft, "PAGE", page)
    monkeypatch.setattr(benchmark_fft, "PICTURE", tmp_path / "benchmarks.svg")
    times = tmp_path / "times.json"
    times.write_text(json.dumps([result_of(kind, **{"pencilfft": [1e-3, 1e-3], "pencilfft:node": [2e-3] * 2, other: of_it})
                                 for kind in ("c2c", "r2c")
                                 for other, of_it in (("fftw-mpi", [3e-3, 5e-3]), ("heffte", [4e-3] * 2))]))
    done = CliRunner().invoke(benchmark_fft.main, ["--again", str(times), "--contestant", "heffte", "--write"])
    assert done.exit_code == 0, done.output
    assert "| c2c 64^3 | 1 | 0.27 fftw-mpi |" in page.read_text() and "| geometric mean |  | 0.27 |" in page.read_text()
    _, rows = rows_table(benchmark_fft._read([times]), ["pencilfft", "fftw-mpi", "heffte"])
    assert [row[:2] for row in rows][:3] == [["c2c 64^3 1x2", name] for name in ("pencilfft", "fftw-mpi", "heffte")]
    assert rows[1][3] == "0.27 [0.20, 0.33]" and [row[4] for row in rows][:3] == ["2", "1", "1"]
    assert (tmp_path / "benchmarks.svg").stat().st_size > 1000


@pytest.mark.parametrize("name, known", [
    ("mkl", "pencilfft, fftw-mpi, "), ("fftw-mpi:omp", "fftw-mpi"), ("heffte:foo", "heffte"),
    ("pencilfft:foo", "pencilfft, pencilfft:alltoallv"), ("pencilfft:node+foo", "pencilfft, pencilfft:alltoallv")])
def test_unknown_contestants_and_choices_are_refused(name, known):
    assert refusal(name).startswith(f"unknown contestant {name!r}; known: {known}")
    done = CliRunner().invoke(benchmark_fft.main, ["--contestant", name])
    assert done.exit_code == 1 and refusal(name) in done.output
