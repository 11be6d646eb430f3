"""Commands keep their answers: this finds a change of any figure or choice.

`known_values.json` has a line for each command: its exit status if it is refused, else the number of answers, the first
choice, and for each figure the sum of its values in the JSON answer. The commands run in a folder with the files of `inputs`
and the links of `tests/documents.py`; ``cat`` takes the checksum of an output file. For an intended change, run
``python -m tests.scripts.test_known_answers`` and read the diff: every changed figure needs an independent check.
"""

import contextlib
import io
import json
import re
import shlex
import tempfile
import zlib
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

from pencilmap.mapper.base import progress
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.command_line.cli import main
from tests.documents import make_folder
from tests.mapper.run_records import record
from tests.mapper.test_allocations import OWN
from tests.mapper.test_records import result
from tests.mapper.test_scaling import write as write_transposes

VALUES = Path(__file__).with_name("known_values.json")
FIGURES = ("time_s", "total_s", "t_s", "certificate", "lower_bound", "load", "m", "measured_s", "bound_s", "messages")
COSTS = Costs(injection_per_task=1.9e8, message_cost_s=1e-6, exchange_cost_s=30e-6, contention=0.5, fft_rate_per_task=1e9,
              memory_bandwidth_per_node=4e9)
RUNS = [(torus, grid, placement, tasks, fft) for fft in ("32", "64:r2c", "128") for torus, grid, placement, tasks in (
    ("4x4x4", "8x8", "default", 1), ("4x4x4", "8x8", "box:2x2x2", 1), ("4x4x4", "4x32", "default", 2),
    ("4x4x4", "8x16", "box:2x2x2", 2), ("4x4", "4x4", "default", 1))]


def inputs(folder):
    """Write the input files of the commands."""
    make_folder(folder)
    runs = [run(*words) for words in RUNS]
    cubes = [one for one, words in zip(runs, RUNS) if words[:4:3] == ("4x4x4", 1)]
    labelled = [{**runs[0], "labels": {**runs[0]["labels"], **labels},
                 "halo": {"width": 2, "bytes": [1, 1, 1], "messages": [1, 1, 1], "max_s": [1e-4, 2e-4, 3e-4]}}
                for labels in ({}, {"network": "simulated", "ports": "3", "message_cost": "2 us"}, {"machine": "bluegene-l"},
                               {"routing": "minimal-adaptive", "placement": "mine"})]
    lost = [{**labelled[0], "placement": {**runs[0]["placement"], "torus": None}}]
    scheduled = [{**runs[4], "schedule": name, "direction": direction}
                 for name, direction in (("overlap:2:x", "forward"), ("two-way:10", "backward"), ("opposite", "pair"))]
    nowhere = [result(torus=None, tasks_per_node=None, coordinate_source="none")]
    for name, some in (("runs.jsonl", runs), ("cubes.jsonl", cubes), ("probe.jsonl", [result()]), ("nowhere.jsonl", nowhere),
                       ("labelled.jsonl", labelled), ("ports.jsonl", [{**runs[0], "labels": {"ports": "none"}}]),
                       ("scheduled.jsonl", scheduled), ("lost.jsonl", lost)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in some))
    write_transposes(folder / "one.jsonl", 1.0)
    write_transposes(folder / "other.jsonl", 2.5, ("p2p", "alltoall"))
    nodes = [f"n{x}{y} {x} {y}\n" for y in range(4) for x in range(4)]
    times = [f"{n},{p},{n**3 / 64**3 * (1 / p + 0.1 / p ** (2 / 3)) * (1 + (n + p) % 7 / 100):.9g}\n"
             for n in (64, 128) for p in (8, 16, 32, 64)]
    leaves = [f"SwitchName=leaf{k} Nodes=n[{4 * k:02}-{4 * k + 3:02}]\n" for k in range(4)]
    strides = [f"{i} {j} 1000000\n" for i in range(16) for j in range(i % 4, 16, 4) if i != j]
    for name, lines in (("names", nodes), ("hosts.txt", ["node-0-0\n", "node-2-3\n"]),
                        ("named.nodes", nodes[:6] + nodes[7:]),
                        ("topology.conf", [*leaves, "SwitchName=spine Switches=leaf[0-3]\n"]), ("traffic.txt", strides),
                        ("points.csv", ["n,ranks,time_s\n", *times]),
                        ("ring.edges", [f"n{k} n{(k + 1) % 6}\n" for k in range(6)]),
                        *((f"{name}-{k}", text) for name, texts in OWN.items() for k, text in enumerate(texts))):
        (folder / name).write_text("".join(lines))


def run(torus, grid, placement, tasks, fft):
    """Return a record of a run with the times of the time model."""
    site = Site(parse_torus(torus, bandwidth=(2e8,) * parse_torus(torus).n_dimensions), tasks)
    mapping = as_mapping(place(placement, site, parse_grid(grid)), placement)
    return record(mapping, parse_transform(fft), COSTS, {"link_bandwidth": "200 MB/s"})


def answer(arguments):
    """Return status and output of one command, on both streams.

    The clock of progress stands still, so no progress is printed. The message that numba compiles, which depends on stored
    code, is left out.
    """
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
          mock.patch.object(progress, "monotonic", return_value=0.0)):
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code or 0
    err = re.sub(r"^\d+ s, compiling .*\n", "", err.getvalue(), flags=re.MULTILINE)
    said = re.sub(r"^\d+ s, ", "0 s, ", re.sub(r" in \d+\.\d s;", ";", err), flags=re.MULTILINE)
    return status, said + out.getvalue()


def values(line, folder):
    """Return the pinned values of the commands of a line: of the last answer, and checksums of files."""
    found, files = None, []
    with contextlib.chdir(folder):
        for command in line.split(" && "):
            program, *arguments = shlex.split(command)
            if program == "cat":
                files.append(f"{zlib.crc32(Path(*arguments).read_bytes()):08x}")
                continue
            status, said = answer([*arguments, *([] if "--json" in arguments else ["--json"])])
            if status:
                return status
            found = digest(json.loads(said[said.index("{\n"):])["answers"])
    return [*found, *files]


def digest(found):
    """Return the number of answers, the first choice, and the sum of each figure."""
    sums = {}

    def add(part, key):
        if isinstance(part, dict):
            for name, each in part.items():
                add(each, name)
        elif isinstance(part, list):
            for each in part:
                add(each, key)
        elif isinstance(part, (int, float)):
            sums[key] = sums.get(key, 0.0) + part

    add(found, "")
    known = {name: sums[name] for name in FIGURES if name in sums} or sums
    first = (found[0].get("predictions") or found)[0] if found else {}
    choice = [str(first[key]) for key in ("torus", "grid", "placement", "format", "stage") if first.get(key) is not None]
    return [len(found), " ".join(choice), {name: float(f"{value:.9g}") for name, value in known.items()}]


def close(found, known):
    """Compare pinned values: figures within rounding, the rest exactly."""
    if not isinstance(found, list) or not isinstance(known, list):
        return found == known
    return found[:2] + found[3:] == known[:2] + known[3:] and found[2] == pytest.approx(known[2], rel=1e-7, abs=1e-12)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    inputs(folder)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("line, known", json.loads(VALUES.read_text("utf-8")).items(), ids=lambda part: str(part)[:90])
def test_a_command_finds_what_it_found(line, known, made):
    found = values(line, made)
    assert close(found, known), f"{line}\n{json.dumps(found)}\n{json.dumps(known)}"


@pytest.mark.parametrize("question", ["plan --effort quick", "predict --grid 2x8"])
def test_an_answer_does_not_depend_on_the_time_that_it_took(made, monkeypatch, question):
    """As on a machine so busy that ten seconds pass between two looks at the clock."""
    words = [*question.split(), "--network", "4x4", "--fft", "16", "-p", "search:seed=2,evaluations=100"]
    monkeypatch.chdir(made)
    known = answer(words)
    monkeypatch.setattr(progress, "monotonic", count(0, 10).__next__)
    assert answer(words) == known


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        inputs(Path(name))
        lines = [f"{json.dumps(line)}: {json.dumps(values(line, Path(name)))}"
                 for line in json.loads(VALUES.read_text("utf-8"))]
        VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
