"""The benchmark: its answers compared with numpy and scipy, its contestants with its answers, and its refusals."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.fft
from click.testing import CliRunner

from pencilmap.scripts.command_line.documents import END, marker
from pencilmap.scripts.command_line.result_files import read_result, result_file
from pencilmap.scripts.maintenance import benchmark_fft
from pencilmap.scripts.maintenance.benchmarks import (
    PRECISIONS,
    TYPES,
    Case,
    NotOffered,
    WrongResult,
    contestant,
    peers,
    refusal,
    tables,
)
from pencilmap.scripts.maintenance.benchmarks.answers import expected, input_part, places
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

    def Ibarrier(self):
        return self

    def Test(self):
        return True


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


def test_a_part_of_the_input_is_that_part_of_the_whole():
    for kind in ("r2c", "c2r", "c2c"):
        case = Case((6, 5, 8), (1, 1), kind)
        part = np.s_[2:5, 1:4, 0:3]
        np.testing.assert_array_equal(input_part(case, whole(case.input_shape))[part], input_part(case, part))


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
    options = re.sub(r"--(size|repetitions|rounds) [\dx]+|--precision \w+|--pages huge|--write|\\\n", "",
                     documented(SCRIPT.name).partition(SCRIPT.name)[2])
    return [*options.split(), "--size", "12", "--grid", "1x2", "--rounds", "1", "--repetitions", "1"]


@pytest.mark.slow
def test_all_types_and_precisions_are_compared_and_drawn(tmp_path):
    options = small()
    more = [word for kind in TYPES if kind not in options for word in ("--type", kind)]
    done = benchmark(*options, *more, "--plot", tmp_path / "plot.svg", "--json", tmp_path / "times.json")
    assert done.returncode == 0, done.stderr
    for kind in TYPES:
        for precision in PRECISIONS:
            assert re.search(rf"^{kind} 12\^3{', single' * (precision == 'single')} +\d", done.stdout, re.MULTILINE)
    assert "STREAM copy by all ranks" in done.stdout and "fft_z fft_y pack_column" in done.stdout
    assert (tmp_path / "plot.svg").stat().st_size > 1000 and (tmp_path / "times.json").stat().st_size > 1000


@pytest.mark.slow
def test_pencils_have_three_passes():
    done = benchmark("--size", "12", "--grid", "2x2", "--rounds", "1", "--repetitions", "1", "--type", "c2c")
    assert done.returncode == 0 and "unpack_row fft_y pack_column" in done.stdout, done.stderr


def test_some_work_alone_while_the_others_sleep():
    """Beside the driver of the plain way; the worker compares their answers with the right answers."""
    if why := peers.build("plain", ()):
        pytest.skip(f"NOT TESTED: drivers of peers: {why}")
    names = [word for name in ("pencilfft:threads", "fftw:threads", "fftw", "peer:plain") for word in ("--contestant", name)]
    done = benchmark("--size", "12", "--grid", "1x2", "--rounds", "1", "--repetitions", "1", "--type", "r2c", *names)
    assert done.returncode == 0 and "pencilfft:threads" in done.stdout, done.stderr


def test_a_wrong_answer_ends_the_benchmark(monkeypatch):
    """In one process: the worker with a contestant that does no transform."""
    from pencilmap.scripts.maintenance.benchmarks import worker

    class Idle:
        input, output = np.zeros((4, 4, 4)), np.zeros((4, 4, 3), complex)
        input_part, output_part = whole((4, 4, 4)), whole((4, 4, 3))

        def run(self):
            pass

        def phases(self):
            return {}

    monkeypatch.setattr(worker, "contestant", lambda *_: Idle())
    monkeypatch.setattr(worker, "STREAM_BYTES", 1 << 10)
    request = {"case": {"shape": [4, 4, 4], "grid": [1, 1], "type": "r2c"}, "contestants": ["idle"], "repetitions": 1,
               "seed": 0}
    with pytest.raises(WrongResult, match="idle has an error of"):
        worker.run(request, Alone())


def test_each_repetition_has_an_order_of_its_own():
    """Otherwise a contestant would always find the caches of the same predecessor; the order is the same on all ranks."""
    from pencilmap.scripts.maintenance.benchmarks.worker import measure

    class Runner:
        alone = False

        def __init__(self, name, ran):
            self.name, self.ran = name, ran

        def lay(self):
            pass

        def run(self):
            self.ran.append(self.name)

        def phases(self):
            return {}

    def order(seed, repetitions=40):
        ran = []
        times, _ = measure({name: Runner(name, ran) for name in "abcd"}, repetitions, Alone(), seed)
        assert {name: len(found) for name, found in times.items()} == dict.fromkeys("abcd", repetitions)
        return "".join(ran)

    ran = order(seed=5)
    assert all(sorted(ran[i:i + 4]) == list("abcd") for i in range(0, len(ran), 4))
    assert {ran[i:i + 2] for i in range(len(ran) - 1)} >= {a + b for a in "abcd" for b in "abcd" if a != b}
    assert order(seed=5) == ran != order(seed=6)


def test_the_floor_is_that_of_the_same_round():
    """Two passes of c2c at 64^3 copy 16.8 MB: 1 ms at 16.8 GB/s, 2 ms at half that rate; the lines always take 1 ms."""
    case, copied = Case((64, 64, 64), (1, 2)), 2 * 2 * 16 * 64**3
    phases = {name: [0.2e-3] for name in ("fft_z", "fft_y", "pack_column", "exchange_column", "unpack_column", "fft_x")}
    rounds = [{"times_s": {"pencilfft": [3e-3], "pencilfft:node": times, "fftw-mpi": [1.0], "pencilfft:alone": [1.0]},
               "phases_s": {"pencilfft": phases}, "stream_copy": [copied / copy_s], "cached_lines_s": [1e-3]}
              for times, copy_s in (([2e-3], 1e-3), ([4e-3, 6e-3, 9e-3], 2e-3))]
    names = ["pencilfft", "pencilfft:node", "pencilfft:alone", "fftw-mpi", "pencilfft:auto"]
    columns, [row] = tables.floor_table({case: rounds}, names)
    assert columns[-3:] == [">pencilfft / floor", ">pencilfft:node / floor", ">pencilfft:auto / floor"]
    assert row[-3:] == ["1.25 [1.00, 1.50]", "1.50 [1.00, 2.00]", "-"]
    assert [float(cell) for cell in row[1:4]] == [1.2, 0.2, 1.0]
    assert row[5] == "1.00"


def test_a_limit_is_held_where_a_round_of_each_row_reaches_it():
    """Compared with the fastest peer in the same round; other grids, types and precisions do not count for this limit."""
    from pencilmap.scripts.maintenance.benchmarks.limits import limits_table

    def rounds(*times):
        return [{"times_s": {"pencilfft": [ours], "fftw-mpi": [2.0], "mpi4py-fft": [peer]}} for ours, peer in times]

    fast, slow = rounds((1.0, 3.0), (1.2, 2.0)), rounds((3.0, 2.5), (1.5, 1.0), (2.5, 2.0))
    near = rounds((2.4, 2.0), (1.98, 3.0), (2.2, 2.0))
    shape = (64, 64, 64)
    others = {Case(shape, (2, 1)): slow, Case(shape, (1, 2), "dct"): slow, Case(shape, (1, 2), "c2c", "single"): slow}
    held = {Case(shape, (1, 2)): fast, Case(shape, (1, 2), pages="huge"): near, **others}
    columns, [row] = limits_table(held)
    assert columns == ["what", ">limit", ">rows", ">medians", "held"]
    assert row[1:] == ["1.00", "2", "0.55 to 1.10", "yes, but not by the median: c2c 64^3, huge 1.10 [0.99, 1.20]"]
    _, [row] = limits_table({**held, Case(shape, (1, 2), "r2c"): slow})
    assert row[1:3] == ["1.00", "3"]
    assert row[4].startswith("no: r2c 64^3 1.50 [1.25, 1.50]; and not by the median: c2c 64^3, huge")
    assert limits_table(others) == (columns, [])


def test_the_page_has_the_medians_of_the_result_file():
    page = ROOT / "docs" / "benchmarks.md"
    table = page.read_text("utf-8").partition(marker(benchmark_fft.MARKER))[2].partition(END)[0]
    names, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    shown = {row["transform"]: row for row in read_result(result_file(page, "benchmark all ranks"))}
    assert len(rows) == 12 and names[2:] == list(tables.ON_PAGE)
    for row in rows:
        assert row == [shown[row[0]][name] or "-" for name in names]


def test_written_are_a_short_page_and_all_rows(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text("".join(f"{marker(name)}\n{END}\n" for name in (benchmark_fft.MARKER, f"{benchmark_fft.MARKER} limits")))
    monkeypatch.setattr(benchmark_fft, "PAGE", page)
    times = tmp_path / "times.json"
    phases = {name: [1e-3] for name in ("fft_z", "fft_y", "pack_column", "exchange_column", "unpack_column", "fft_x")}
    times.write_text(json.dumps([
        {"case": {"shape": [64, 64, 64], "grid": [1, 2], "type": kind}, "refused": {}, "stream_copy": [1e10],
         "times_s": {"pencilfft": [ours], "fftw-mpi": [2e-3], "fftw": [3e-3]}, "phases_s": {"pencilfft": phases},
         "cached_lines_s": [1e-3]} for kind in ("c2c", "dct") for ours in (1e-3, 1.5e-3, 1.1e-3)]))
    done = CliRunner().invoke(benchmark_fft.main, ["--again", str(times), "--contestant", "fftw", "--write"])
    assert done.exit_code == 0, done.output
    assert "| c2c 64^3 | 2.0 | 0.55 | - |" in page.read_text() and "dct" not in page.read_text()
    assert "over the fastest peer | 1.00 | 1 | 0.55 to 0.55 | yes |" in page.read_text()
    rows = read_result(result_file(page, "benchmark all ranks"))
    assert [row["transform"] for row in rows] == ["c2c 64^3", "dct 64^3"]
    assert [rows[0][f"pencilfft{which}"] for which in ("", " lowest", " highest")] == ["0.55", "0.50", "0.75"]
    assert {file.stem for file in (tmp_path / "results").iterdir()} >= {
        "benchmark-all-ranks", "benchmark-one-rank", "benchmark-floor", "benchmark-passes"}


def test_unknown_contestants_are_refused():
    done = benchmark("--contestant", "heffte")
    assert done.returncode == 1
    known = "pencilfft, fftw-mpi, fftw, mpi4py-fft, dtfft, peer"
    assert done.stderr == f"benchmark_fft: unknown contestant 'heffte'; known: {known}\n"


@pytest.mark.parametrize("name, known", [
    ("fftw-mpi:omp", "fftw-mpi"), ("fftw:mkl", "fftw, fftw:threads, fftw:omp"), ("fftw:omp+destroy", "fftw, fftw:threads"),
    ("peer", "peer:accfft, peer:decomp2d, peer:heffte, peer:p3dfft, peer:plain"), ("peer:foo", "peer:accfft"),
    ("pencilfft:foo", "pencilfft, pencilfft:alltoallv"), ("pencilfft:node+foo", "pencilfft, pencilfft:alltoallv")])
def test_what_may_not_follow_a_colon_is_refused_before_anything_is_measured(name, known):
    assert refusal(name).startswith(f"unknown contestant {name!r}; known: {known}")


@pytest.mark.parametrize("name", ["pencilfft", "pencilfft:node", "pencilfft:auto+destroy", "pencilfft:threads+destroy",
                                  "pencilfft:stride1", "pencilfft:node+stride1+destroy", "fftw", "fftw:omp", "peer:heffte"])
def test_what_may_follow_a_colon_is_not_refused(name):
    assert refusal(name) is None


def test_times_that_cannot_be_read_are_refused_in_a_sentence(tmp_path):
    file = tmp_path / "times.json"
    for text in ("", "{}x", '["c2c"]', '[{"case": {"shape": 4, "grid": 1}}]'):
        file.write_text(text)
        done = benchmark("--again", file)
        assert done.returncode == 1 and done.stderr.startswith(f"benchmark_fft: {file} cannot be read: "), done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_failing_contestant_ends_it_in_a_sentence():
    """One rank or all ranks fail; tracebacks and mpirun's messages are left out."""
    if not shutil.which("mpirun"):
        pytest.skip("NOT TESTED: a failing contestant, for mpirun is missing")
    done = benchmark("--size", "60000", "--type", "c2c", "--precision", "double", "--grid", "1x2", "--rounds", "1")
    assert done.returncode == 1
    assert re.search(r"^benchmark_fft: c2c 60000\^3 failed: .*(memory|bytes).*\n\Z", done.stderr, re.MULTILINE), done.stderr


def test_a_driver_that_cannot_be_built_or_is_not_built_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setitem(peers.PEERS, "none", peers.Peer("p3dfft.c", ("mpicc.openmpi", "mpicc"), ("no-such-library",)))
    assert "rror" in peers.build("none", ())
    monkeypatch.setitem(peers.PEERS, "none", peers.Peer("p3dfft.c", ("no-such-compiler",), ()))
    assert peers.build("none", ()) == "no no-such-compiler"
    with pytest.raises(NotOffered, match=r"libpeer_heffte\.so is not built"):
        contestant("peer:heffte", Case((4, 6, 5), (1, 1)), None)
