"""Commands keep their answers: this finds a change of any figure, sentence or choice.

`known_answers.txt` holds every command after ``$`` and its output; JSON is limited to known values. A case is its command
there. Each command runs in its own folder with the files of `inputs` and the links of `tests/documents.py`; ``cat`` prints
an output file. For an intended change, run ``python -m tests.scripts.test_known_answers`` and read the diff: every changed
figure needs an independent check.
"""

import contextlib
import io
import json
import re
import shlex
import tempfile
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
from tests.mapper.test_probes import result
from tests.mapper.test_transposes import write as write_transposes

KNOWN = Path(__file__).with_name("known_answers.txt")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
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
    for name, lines in (("names", nodes), ("hosts.txt", ["node-0-0\n", "node-2-3\n"]),
                        ("named.nodes", nodes[:6] + nodes[7:]),
                        ("points.csv", ["n,ranks,time_s\n", *times]),
                        ("ring.edges", [f"n{k} n{(k + 1) % 6}\n" for k in range(6)])):
        (folder / name).write_text("".join(lines))


def run(torus, grid, placement, tasks, fft):
    """Return a record of a run with the times of the time model."""
    site = Site(parse_torus(torus, bandwidth=(2e8,) * parse_torus(torus).n_dimensions), tasks)
    mapping = as_mapping(place(placement, site, parse_grid(grid)), placement)
    return record(mapping, parse_transform(fft), COSTS, {"link_bandwidth": "200 MB/s"})


def cases():
    """Return commands and their output."""
    parts = re.split(r"^\$ ", KNOWN.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [(command, printed.rstrip("\n")) for command, _, printed in (part.partition("\n") for part in parts)]


def answers(line, folder):
    """Return the output of the commands of a line, run in a folder."""
    said = []
    with contextlib.chdir(folder):
        for command in line.split(" && "):
            program, *arguments = shlex.split(command)
            said.append(Path(*arguments).read_text("utf-8") if program == "cat" else answer(arguments))
    return "\n".join(text.rstrip() for part in said for text in part.splitlines() if text.strip())


def answer(arguments):
    """Return the output of one command, on both streams. The clock of progress stands still, so no progress is printed."""
    out, err = io.StringIO(), io.StringIO()
    with (contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit),
          mock.patch.object(progress, "monotonic", return_value=0.0)):
        main(arguments)
    found = out.getvalue()
    if "--json" in arguments and found:
        found = "\n".join(map(compact, json.loads(found)["answers"]))
    said = re.sub(r" in \d+\.\d s;", ";", err.getvalue())
    return re.sub(r"^help: .*\n", "", said, flags=re.MULTILINE) + found  # names the way Python was started


def compact(value):
    """Return JSON in one line, without unknown values, with floats of nine digits."""
    def known(part):
        if isinstance(part, dict):
            return {key: known(each) for key, each in part.items() if each is not None}
        if isinstance(part, list):
            return [known(each) for each in part]
        return float(f"{part:.9g}") if isinstance(part, float) else part

    return json.dumps(known(value), separators=(",", ":"), ensure_ascii=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    inputs(folder)
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize("line, known", [pytest.param(*case, id=case[0].replace("::", ":")) for case in cases()])
def test_a_command_answers_what_it_answered(line, known, made):
    found = answers(line, made)
    if found == known:
        return
    assert NUMBER.sub("#", found) == NUMBER.sub("#", known)
    assert [float(n) for n in NUMBER.findall(found)] == pytest.approx([float(n) for n in NUMBER.findall(known)], rel=1e-7)


@pytest.mark.parametrize("grid", ["best", "2x8"])
def test_an_answer_does_not_depend_on_the_time_that_it_took(made, monkeypatch, grid):
    """As on a machine so busy that ten seconds pass between two looks at the clock."""
    command = f"pencilmap predict --torus 4x4 --fft 16 --grid {grid} -p search:seed=2,evaluations=100"
    known = answers(command, made)
    monkeypatch.setattr(progress, "monotonic", count(0, 10).__next__)
    assert answers(command, made) == known


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        inputs(Path(name))
        KNOWN.write_text("".join(f"$ {line}\n{answers(line, Path(name))}\n" for line, _ in cases()), "utf-8")
