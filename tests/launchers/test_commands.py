"""`pencilmap map`, `convert` and `check` with every format, and the names of hosts."""

import pytest

from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.launchers import choose, launch_order
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import USUAL, Site

pytestmark = pytest.mark.usefixtures("brief_searches")


def machine(name):
    return ("--network", "2x2x2x1x2" if name == "bgq" else "4x2x2", "--tasks-per-node", "2")


@pytest.mark.parametrize("name", FORMATS)
def test_map_then_convert_then_check(tmp_path, pencilmap, pencilmap_json, name):
    first, second = tmp_path / "first.map", tmp_path / "second"
    assert pencilmap("map", *machine(name), "--grid", "8x4", "-f", "bgl", "-o", first)[0] == 0
    done = pencilmap_json.one("map", "--from", first, *machine(name), "--grid", "8x4", "-f", name, "-o", second,
                              "--program", "./mine")
    assert (done["from"], done["format"], done["ranks"]) == ("bgq" if name == "bgq" else "bgl", name, 32)  # six columns
    assert (done["needs"] or done["job_script"]) and ("./mine" in done["launch"] or name in ("jax", "scotch"))
    before, after = (pencilmap_json.one("check", path, *machine(name), "--grid", "8x4", *form)
                     for path, form in ((first, ()), (second, ("--format", name))))
    assert before["predictions"][0]["stages"] == after["predictions"][0]["stages"]
    assert after["format"] == name and after["valid"]


TWO_HOSTS = "".join(f"nid{n} {n // 2 % 4} {n // 8}\n" for n in (2, 3, 0, 1, 6, 7, 4, 5))  # at each of the nodes 1, 0, 3, 2
LAUNCHED = {"openmpi4": None, "openmpi5": None, "hydra": None, "intel": None, "hostfile": None,
            "slurm": "srun -n 32 --distribution=arbitrary",
            "cray": "srun -N 8 -n 32 --ntasks-per-node=4", "flux": "-N 8 -n 32", "bgl": None}


@pytest.mark.parametrize("name", LAUNCHED)
def test_two_hosts_at_each_node_take_half_of_its_slots_each(tmp_path, pencilmap, pencilmap_json, name):
    (tmp_path / "nodes").write_text(TWO_HOSTS)
    where = ("--network", "4x1", "--tasks-per-node", "8", "--nodes", tmp_path / "nodes", "-g", "8x4")
    assert pencilmap("map", *where, "-p", "default", "-f", "bgl", "-o", tmp_path / "bgl")[0] == 0
    done = pencilmap_json.one("map", "--from", tmp_path / "bgl", *where, "--from-format", "bgl", "-f", name, "-o",
                              tmp_path / "file")
    text = (tmp_path / "file").read_text()
    if LAUNCHED[name]:
        assert LAUNCHED[name] in done["launch"]
    before, after = (pencilmap_json.one("check", path, *where, "-f", form) for path, form in (
        (tmp_path / "bgl", "bgl"), (tmp_path / "file", name)))
    assert before["predictions"][0]["stages"] == after["predictions"][0]["stages"]
    at = [[int(n) for n in line.split()] for line in (tmp_path / "bgl").read_text().splitlines()]  # x y slot of each rank
    wanted = [f"nid{2 * x + slot // 4}" for x, *_, slot in at]
    if name in ("hostfile", "slurm"):
        assert text.split() == wanted
    elif name in ("openmpi4", "openmpi5"):
        assert text.splitlines() == [f"rank {rank}={host} slot={at[rank][-1] % 4}" for rank, host in enumerate(wanted)]
    elif name == "cray":  # the first line has the ranks of nid2, the first host of the list
        ranks = [int(rank) for rank in text.splitlines()[0].split(",")]
        assert [(at[rank][0], at[rank][-1]) for rank in ranks] == [(1, slot) for slot in range(4)]


IN_A_JOB = {  # variables of a batch system, and the format of its launcher
    "slurm": {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[0-15]", "SLURM_JOB_NUM_NODES": "16"},
    "vcoordfile": {"PJM_NODE": "16", "PJM_NODE_X": "4", "PJM_NODE_Y": "4"},
    "bgq": {"RUNJOB_SHAPE": "4x4x4x4x2"},
    "jax": {"TPU_TOPOLOGY": "4x4"},
}


@pytest.mark.parametrize("name", IN_A_JOB)
def test_without_a_machine_the_job_around_decides(name):
    assert choose(None, None, IN_A_JOB[name]).name == name
    assert choose(None, load_machine("bluegene-l"), IN_A_JOB[name]).name == "bgl", "the machine comes first"
    assert choose("flux", load_machine("bluegene-l"), IN_A_JOB[name]).name == "flux", "the option before all"


@pytest.mark.parametrize("said, name", [
    ("mpirun (Open MPI) 4.1.4", "openmpi4"), ("mpirun (Open MPI) 5.0.11", "openmpi5"),
    ("HYDRA build details:\n    Version: 4.0.2", "hydra"), ("Intel(R) MPI Library for Linux* OS, Version 2021.18", "intel"),
    ("mpirun (IBM Spectrum MPI) 10.4.0.3", None)])
@pytest.mark.parametrize("job", ["PBS", "LSF"])
def test_mpirun_decides_in_jobs_of_pbs_and_lsf(tmp_path, job, said, name):
    (tmp_path / "nodes").write_text("n0\nn1\n")
    _program(tmp_path / "mpirun", f"printf '{said}\\n'")
    hosts = {"PBS_NODEFILE": str(tmp_path / "nodes")} if job == "PBS" else {"LSB_HOSTS": "n0 n1"}
    around = {"PATH": str(tmp_path), **hosts}
    if name is None:
        with pytest.raises(MapfileError, match="the launcher of this job is not recognised"):
            choose(None, None, around)
        return
    assert choose(None, None, around).name == name and choose("flux", None, around).name == "flux"
    assert launch_order(Site(Torus((2,)), 2), environ=around).title == FORMATS[name].launch_order.title
    _program(tmp_path / "aprun", "true")
    with pytest.raises(MapfileError):
        choose(None, None, around)
    (tmp_path / "mpirun").unlink()
    assert choose(None, None, around).name == "cray"
    assert launch_order(Site(Torus((2,)), 2), environ={"PATH": str(tmp_path), "PBS_NODEFILE": "/gone"}) == USUAL


@pytest.mark.parametrize("mpirun", ["", "mpiexec version 1.3.2 revision 7eee8b3", "mpirun (Open MPI) 5.0.3"])
@pytest.mark.parametrize("mpiexec, variables", [("mpiexec version 1.3.2 revision 7eee8b3", {}), ("", {"PALS_APID": "7"})])
def test_pals_is_a_launcher_of_cray(tmp_path, mpirun, mpiexec, variables):
    """Beside another mpirun it is open which of both starts the ranks."""
    (tmp_path / "nodes").write_text("n0\nn1\n")
    for name, said in (("mpirun", mpirun), ("mpiexec", mpiexec)):
        if said:
            _program(tmp_path / name, f"printf '{said}\n'")
    around = {"PATH": str(tmp_path), "PBS_NODEFILE": str(tmp_path / "nodes"), **variables}
    title = launch_order(Site(Torus((2,)), 2), environ=around).title
    assert title == (USUAL.title if "Open" in mpirun else "Cray's SMP order")


def _program(path, command):
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)
