"""Every command of the README runs and prints the shown output.

``python tests/documents.py README.md`` rewrites the outputs.
"""

import os
import re
import shutil

import pytest

from pencilmap.mapper.setting import setting
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.times.published import bluegene_l_512
from tests.documents import ROOT, Command, commands, make_folder, read_result, run, unrun

README = (ROOT / "README.md").read_text("utf-8")
MACHINES = re.findall(r"^\|[^|]*\| `(pencilmap [^`]*)`[^|]* \|$", README, re.MULTILINE)
CORPUS = ROOT / "tests" / "fuzz" / "corpus" / "graph"
FILES = {"FILE": ROOT / "docs" / "examples" / "fat-tree.edges", "topology.conf": CORPUS / "slurm",
         "fabric.txt": CORPUS / "ibnetdiscover"}  # samples in place of the user's files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A common folder for all commands, because later commands read files of earlier commands."""
    path = tmp_path_factory.mktemp("readme")
    make_folder(path)
    return path


@pytest.mark.skipif(not shutil.which("mpirun.openmpi") or not shutil.which("smpirun"),
                    reason="Open MPI or SimGrid is missing; scripts/setup installs them")
@pytest.mark.parametrize("command", commands(README), ids=lambda c: c.text[:60])
def test_the_readme_shows_what_its_commands_print(command, folder):
    printed = run(command, folder)
    assert command.agrees(printed), printed


def test_a_gain_in_the_text_is_one_of_a_shown_answer():
    """The test above runs the commands; tables of other commands have their own tests."""
    text = re.sub(r"^(?:```.*?^```|\|[^\n]*)$", "", README, flags=re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"\d+\.\d+x", text))
    assert named and named <= set(re.findall(r"\d+\.\d+x", "".join(command.shown for command in commands(README))))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", MACHINES, ids=lambda c: c[10:50])
def test_what_to_type_for_a_machine_works(command, folder, monkeypatch):
    if command == "pencilmap network":  # it is for jobs
        monkeypatch.setenv("SLURM_JOB_NODELIST", "n[0-3]")
    for name, path in FILES.items():
        command = command.replace(name, str(path))
    assert run(Command(command, "", ()), folder)


def test_no_command_of_the_readme_is_left_out():
    assert unrun(README) == []


def test_the_picture_is_that_of_its_command(folder):
    """docs/howto/report.md has the command; its file is in the repository, because a README shows no other."""
    [line] = [line for line in (ROOT / "docs" / "howto" / "report.md").read_text("utf-8").splitlines()
              if line.startswith("$ pencilmap draw --what gain")]
    run(Command(line.removeprefix("$ ").replace("docs/pictures/", ""), "", ()), folder)
    assert (folder / "gain.svg").read_bytes() == (ROOT / "docs" / "pictures" / "gain.svg").read_bytes()
    assert "docs/pictures/gain.svg" in README


@pytest.mark.parametrize("page", ["before-a-job", "own-code", "check-a-network"])
def test_the_page_of_each_user_is_short(page):
    assert len((ROOT / "docs" / "howto" / f"{page}.md").read_text("utf-8").splitlines()) <= 80


def test_the_gain_on_the_real_machine_is_that_of_its_published_times():
    [(measured, predicted)] = set(re.findall(r"exchanges were ([\d.]+) times faster with cubes.*?predicts ([\d.]+)\.\s",
                                             README, re.DOTALL))
    cells = {(c.mapping, c.phase): c.time_s for c in bluegene_l_512()
             if (c.mode, str(c.grid), c.transform.nx) == ("CO", "8x64", 256)}
    times = [cells[mapping, "row"] + cells[mapping, "column"] for mapping in ("default", "cube8")]
    assert f"{times[0] / times[1]:.2f}" == measured
    where, grid = setting(machine="bluegene-l", fft="256"), ProcessGrid(8, 64)
    order, cubes = (where.predict(where.place(text, grid)).time_s for text in ("default", "box:2x2x2"))
    assert f"{order / cubes:.2f}" == predicted


def test_the_two_commands_for_a_stranger_are_there():
    for name in ("demo", "test", "setup"):
        assert os.access(ROOT / "scripts" / name, os.X_OK)


def rows_of(text, heading):
    """Return the rows of the table below ``heading``, its first line, as lists of texts."""
    lines = text[text.index(heading):].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def gains():
    return rows_of((ROOT / "docs" / "schedules.md").read_text("utf-8"), "| placement | schedule | predicted |")


def test_the_measured_table_is_that_of_the_suite():
    """`validate --into` writes the file; in sequence, rows and columns have separate lines."""
    suite = [row for row in read_result(ROOT / "docs" / "results" / "validate-simulated-overlap.csv")
             if row["torus"] == "8x8x8" and row["grid"] == "8x64" and row["exchange"] == "row+column"]
    columns = ("predicted ms", "simulated ms", "best in sequence / this")
    written = {row["schedule"].replace(", ", "`, a "): [row[name] for name in columns] for row in suite}
    for placement, schedule, predicted, simulated, gain in gains():
        if schedule != "`sequence`":
            name = schedule.strip("`") if "pair" not in schedule else "opposite`, a pair"
            assert placement == "default (lines)"
            assert [predicted.removesuffix(" for two"), simulated, gain] == written[name]


def test_the_gain_is_that_of_the_measured_table():
    """The suite overlap writes predicted and simulated times into docs/schedules.md; a gain is over the first row."""
    measured = {f"{row[0]} {row[1]}": row[2:4] for row in gains()}
    names = ["default (lines) `sequence`", "2x2x2 cubes `sequence`", "default (lines) `overlap:8:z`",
             "default (lines) `two-way`"]
    *shown, bound = rows_of(README, "| placement and schedule |")
    assert [[ms.removesuffix(" ms") for ms in row[1:3]] for row in shown] == [measured[name] for name in names]
    first = float(shown[0][2].removesuffix(" ms"))
    assert [row[3] for row in shown[1:]] == [f"{first / float(row[2].removesuffix(' ms')):.2f}x" for row in shown[1:]]
    assert f"half as much: {shown[1][3].removesuffix('x')} times faster](docs/pictures/gain.svg)" in README
    off = max(abs(float(row[2].removesuffix(" ms")) / float(row[1].removesuffix(" ms")) - 1) for row in shown)
    assert "Four [simulated cases](#does-it-hold) agree within 0.1 %" in README and len(shown) == 4 and off < 1e-3
    m, ranks, bytes_per_s = 8 / 2, 512, 148e6  # the all-to-all on rings of 8, a lower bound
    least = 1e3 * m * 16 * 256**3 / (4 * ranks * bytes_per_s)
    assert bound[1] == f"{least:.3f} ms" and bound[3] == f"{first / least:.2f}x"
