"""The command line: its output, its JSON, its errors and its exit status."""

import json
import math
import os
import subprocess
import sys
from functools import reduce

import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.times.costs import Costs
from tests.mapper.run_records import record
from tests.patience import patience

pytestmark = pytest.mark.usefixtures("brief_searches")


@pytest.mark.parametrize("path, value, word", [
    (("placement", "ranks", 0, "coordinate"), [0, 0], "2 coordinates, but torus 2x2x2 has 3 dimensions"),
    (("placement", "ranks", 0, "coordinate"), [0, 0, 10**30], "outside torus 2x2x2"),
    (("placement", "ranks", 0, "slot"), 10**30, "placement is impossible"),
    (("phases", "exchange_row", "max_s"), [math.nan] * 3, "NaN is not finite"),
    (("phases", "exchange_row", "max_s"), [-math.inf] * 3, "-Infinity is not finite")])
def test_impossible_values_in_a_record_are_refused(tmp_path, pencilmap, path, value, word):
    made = a_record()
    reduce(lambda part, key: part[key], path[:-1], made)[path[-1]] = value
    (tmp_path / "r.jsonl").write_text(json.dumps(made) + "\n")
    status, out, err = pencilmap("compare", tmp_path / "r.jsonl")
    assert status in (1, 2) and out == "" and word in err


def a_record(**changes):
    placed = place("default", Site(parse_torus("2x2x2", bandwidth=(1e8,) * 3)), ProcessGrid(2, 4))
    return record(as_mapping(placed, "default"), Transform(8, 8, 8), Costs(), coordinate_source="assumed") | changes


def test_compare_says_what_the_runner_warned_of_and_all_that_there_is_to_note(tmp_path, pencilmap, pencilmap_json):
    path, warning = tmp_path / "r.jsonl", "8 tasks on 2 processors of n0"
    path.write_text(json.dumps(a_record(warnings=[warning])) + "\n")
    status, out, err = pencilmap("compare", path)
    assert status == 0 and err == f"warning: {path}:1: {warning}\n"
    assert "coordinates were assumed, not found" in out and "no bandwidth" in out
    assert [row["warnings"] for row in pencilmap_json("compare", path)] == [[warning]] * 2


def test_compare_says_once_why_times_have_no_range(tmp_path, pencilmap):
    """Messages of 64 bytes: both exchanges lack a range for the same reason."""
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(a_record(labels={"link_bandwidth": "100 MB/s"})) + "\n")
    assert pencilmap("compare", path)[1].count("no range: messages below 1 KiB") == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error_to_talk_of(unbuffered):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "pencilmap", "network", "--machines"], stdout=write, stderr=-1, text=True,
                          timeout=patience(60),
                          env=os.environ | {"PYTHONUNBUFFERED": unbuffered})
    os.close(write)
    assert done.returncode == 1 and done.stderr == ""


@pytest.mark.parametrize("loaded", ["click", "numpy"])   # by the command line, by a command
def test_ctrl_c_while_the_command_line_loads_is_no_traceback(loaded):
    press = ("import signal, sys; from importlib.metadata import entry_points\n"
             "class Press:\n"
             "    def find_spec(name, *rest):\n"
             f"        if name.startswith('{loaded}'): signal.raise_signal(signal.SIGINT)\n"
             "start = entry_points(group='console_scripts')['pencilmap'].load\n"
             "sys.meta_path.insert(0, Press)\n"
             "sys.argv = ['pencilmap', 'predict', '--help']\n"
             "start()()")
    done = subprocess.run([sys.executable, "-c", press], capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stdout, done.stderr.lstrip("\n")) == (130, "", "pencilmap: interrupted\n")


@pytest.mark.parametrize("within", ["loading", "running"])
def test_ctrl_c_that_a_module_takes_for_an_error_of_its_own_is_no_traceback(tmp_path, within):
    """Some modules in C report the signal as a long import error; here the first module or a command's module does so."""
    name = {"loading": "click", "running": "networkx"}[within]
    (tmp_path / f"{name}.py").write_text(
        "import os, signal, sys\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt:\n    raise RuntimeError('half of it is loaded')\n"
        f"sys.path.remove({str(tmp_path)!r})\ndel sys.modules[{name!r}]\nimport {name}\n")
    (tmp_path / "a").write_text("a b 1 GB/s\n")
    done = subprocess.run([sys.executable, "-m", "pencilmap", "predict", "--network", tmp_path / "a", "--grid", "2x1",
                           "--placement", "default"],
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
                          capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stderr.lstrip("\n")) == (130, "pencilmap: interrupted\n")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["network", "--machines"]])
def test_what_needs_no_numbers_loads_no_numpy(arguments):
    """NumPy would take longer to load than the rest of the command."""
    told = ("import sys; from pencilmap.scripts.command_line.cli import main\n"
            "try: main(sys.argv[1:])\n"
            "finally: sys.stderr.write(' '.join(sorted({'numpy', 'jsonschema', 'scipy'} & set(sys.modules))))")
    done = subprocess.run([sys.executable, "-c", told, *arguments], capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stderr) == (0, "") and done.stdout
