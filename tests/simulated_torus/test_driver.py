"""The driver: its refusals, and that a simulation that does not end leaves nothing behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.networks import build as building
from pencilmap.scripts.networks.simulated import SimulationError, simulate, simulate_all
from tests.patience import patience

ENDLESS = 512  # extent of a transform that takes far longer than the test waits


@pytest.mark.parametrize("options, message", [
    ({"coordinates": [(0, 0)] * 3}, "3 hosts are given for the 4 ranks of grid 2x2"),
    ({"coordinates": [(0, 0)] * 5}, "5 hosts are given for the 4 ranks of grid 2x2"),
    ({"coordinates": [(0, 0), (1, 0), (0, 4), (0, 1)]}, r"rank 2: node \(0, 4\) is outside torus 4x4; y must be 0..3"),
    ({"coordinates": [(0, 0), (1,), (0, 2), (0, 1)]}, "host 'node-1' of rank 1 is not a node of torus 4x4"),
    ({"timing_only": True, "verify": True}, "timing_only loses the data"),
    ({"direction": "sideways"}, "direction 'sideways' is unknown; known are forward, backward"),
    ({"labels": {"placement": "two words"}}, "'placement=two words' cannot be passed through smpirun"),
    ({"exchange": "$(reboot)"}, "cannot be passed through smpirun"),
])
def test_a_simulation_is_checked_when_made(simulation, options, message):
    options.setdefault("coordinates", [(0, 0), (1, 0), (0, 1), (1, 1)])
    with pytest.raises(SimulationError, match=message):
        simulation("4x4", "2x2", 8, **options)


def test_what_the_runner_refuses_is_shown(build, simulation):
    with pytest.raises(SimulationError, match=r"(?s)the runner failed .* exit status [1-9].*fft_runner: "):
        simulate(simulation("4x4", "4x4", 6, exchange="alltoall"))  # alltoall needs even blocks


def test_a_mapfile_that_is_missing_is_named(build, simulation, tmp_path):
    with pytest.raises(SimulationError, match="mapfile .*none.map cannot be read"):
        simulate(simulation("4", "2x2", 8, mapfile=tmp_path / "none.map"))


def test_the_runner_reseats_ranks_by_a_mapfile_whose_path_has_blanks(build, simulation, tmp_path):
    mapfile = tmp_path / "back wards.map"
    mapfile.write_text("".join(f"{x} 0 0 0\n" for x in (3, 2, 1, 0)))
    [record] = simulate(simulation("4x1x1", "2x2", 8, mapfile=mapfile, verify=True))
    assert [rank["coordinate"][0] for rank in record["placement"]["ranks"]] == [3, 2, 1, 0]


def test_records_are_appended_in_order_once_all_have_ended_well(build, simulation, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("{}\n")
    runs = [simulation("4", grid, 8) for grid in ("4x1", "1x4")]
    found = simulate_all(runs, json_path=path)
    assert [records[0]["grid"] for records in found] == [[4, 1], [1, 4]]
    assert len(path.read_text().splitlines()) == 3
    with pytest.raises(SimulationError):
        simulate_all([runs[0], simulation("4", "4x1", 6, exchange="alltoall")], json_path=path)
    assert len(path.read_text().splitlines()) == 3


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + patience(seconds)
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def test_timeout_leaves_no_process_and_no_file(build, simulation, tmp_path, monkeypatch, processes_below):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(SimulationError, match="did not finish within 0.5 s"):
        simulate(simulation("8x8x8", "8x64", ENDLESS), timeout_s=0.5)
    assert wait_until(lambda: not processes_below(tmp_path))
    assert list(tmp_path.iterdir()) == []


PROGRAM = f"""
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.network.torus import Torus
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation, simulate_all
torus = Torus((8, 8, 8), bandwidth=(1e8,) * 3)
hosts = ["node-" + "-".join(map(str, torus.coordinates(r))) for r in range(512)]
simulate_all([Simulation(SimulatedNetwork(torus), hosts, ({ENDLESS},) * 3, ProcessGrid(8, 64))] * 2)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_simulations_too(build, tmp_path, number, processes_below):
    child = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.DEVNULL,
                             env=os.environ | {"TMPDIR": str(tmp_path)})
    try:
        assert wait_until(lambda: processes_below(tmp_path), 60)
        child.send_signal(number)
        assert child.wait(timeout=patience(20)) != 0
    finally:
        child.kill()
    assert wait_until(lambda: not processes_below(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_signal_between_two_starts_ends_what_has_begun(build, simulation, tmp_path, monkeypatch, processes_below):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    submit, begun = ThreadPoolExecutor.submit, []

    def submit_one(pool, *arguments):
        if begun:
            raise KeyboardInterrupt
        begun.append(submit(pool, *arguments))
        return begun[0]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_one)
    with pytest.raises(KeyboardInterrupt):
        simulate_all([simulation("8x8x8", "8x64", ENDLESS)] * 2, timeout_s=10)
    assert "interrupted" in str(begun[0].exception())
    assert wait_until(lambda: not processes_below(tmp_path))


# ---- the build ---------------------------------------------------------------------------------------------------------


def test_missing_tools_are_named_with_their_debian_packages(monkeypatch):
    monkeypatch.setattr(building.shutil, "which", lambda name: None if name in ("smpirun", "smpicc", "cmake") else name)
    with pytest.raises(PencilmapError,
                       match="cmake, smpicc, smpirun not found; on Debian: apt-get install cmake libsimgrid-dev$"):
        building.check_tools()


def test_a_directory_configured_for_other_sources_is_refused(monkeypatch, tmp_path, build):
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
    monkeypatch.setenv("PENCILMAP_BUILD", str(tmp_path))
    with pytest.raises(building.BuildError, match="was configured for other sources"):
        building.ensure_built()


def test_cmake_is_asked_only_if_a_source_is_newer_than_the_build(monkeypatch, tmp_path):
    made, asked = building.Build(tmp_path / "fft_runner", tmp_path / "build"), []
    monkeypatch.setattr(building, "_run", lambda command, step: asked.append(step))
    source, test, program = made.source / "a.c", tmp_path / "tests" / "fft_runner" / "b.c", made.program("fft_runner")
    for path in (source, test, program):
        path.parent.mkdir(parents=True)
        path.touch()

    def is_asked(change=lambda: None):
        time.sleep(0.02)  # clocks of file systems have steps of some milliseconds
        change()
        asked.clear()
        building._ensure.__wrapped__(made, False)
        return "build" in asked

    assert is_asked() and not is_asked() and is_asked(source.touch) and not is_asked() and is_asked(test.touch)
    assert is_asked((made.source / "new.h").touch) and is_asked(source.unlink) and not is_asked()
    with pytest.raises(building.BuildError, match="the build did not produce"):
        is_asked(program.unlink)
    assert asked
