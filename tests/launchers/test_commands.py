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


def test_several_programs_have_the_ranks_of_the_placement(tmp_path, pencilmap, pencilmap_json):
    on = ("map", *machine("bgl"), "--grid", "8x4", "-p", "default", "-o", tmp_path / "f", "--program")
    for name, program, reason in (
            ("slurm", "-n 30 ./a : -n 1 ./b", "have 31 ranks, and the placement 32"),
            ("bgl", "-n 31 ./a : -n 1 ./b", "starts a single program with this file; take one of cray, openmpi4"),
            ("slurm", "-n 31 ./a : ./b", "write -n 8 ./ocean : -n 4 ./air"), ("hydra", "-n x ./a", "are not understood")):
        status, _, err = pencilmap(*on, program, "-f", name)
        assert status == 1 and reason in " ".join(err.split()) and not (tmp_path / "f").exists()
    for name, reader in (("flux", "flux multi-prog"), ("cray", "--multi-prog")):
        line = pencilmap_json.one(*on, "-n 31 ./a -v : -n 1 ./b", "-f", name)["launch"]
        assert line.startswith("printf '%s\\n' '0-30 ./a -v' '31-31 ./b' > programs.conf && ")
        assert line.endswith(f" {reader} programs.conf")


def test_map_prints_the_launch_line_and_what_it_needs(tmp_path, pencilmap):
    out = pencilmap.out("map", *machine("cray"), "-g", "8x4", "-f", "cray", "-o", tmp_path / "MPICH_RANK_ORDER")
    assert "srun -N 16 -n 32 --ntasks-per-node=2 ./a.out" in out and "needs   MPICH_RANK_REORDER_METHOD=3" in out
    assert "warning the launcher's order of the nodes is assumed" in out


BLOCK_YAML = ("- topology: t\n  cluster_default: true\n  block:\n    block_sizes: [2]\n    blocks:\n"
              "      - {block: b0, nodes: 'n[0-1]'}\n      - {block: b1, nodes: 'n[2-3]'}\n")


@pytest.mark.parametrize("text, is_told", [
    ("BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\n", True), (BLOCK_YAML, True),
    ("SwitchName=b0 Nodes=n[0-1]\nSwitchName=b1 Nodes=n[2-3]\nSwitchName=top Switches=b[0-1]\n", False)])
def test_srun_takes_the_nodes_of_the_file_and_needs_a_job_with_blocks(tmp_path, pencilmap_json, text, is_told):
    """Slurm 23.11 and later refuse -N in this line; 26.05 and later allocate no nodes with topology/block."""
    (tmp_path / "topology").write_text(text)
    done = pencilmap_json.one("map", "--network", tmp_path / "topology", "-g", "2x2", "-p", "default", "-f", "slurm", "-o",
                              tmp_path / "hosts")
    assert " -N" not in done["launch"] and "srun -n 4 --distribution=arbitrary ./a.out" in done["launch"]
    assert any("topology/block" in need for need in done["needs"]) == is_told


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


@pytest.mark.parametrize("machine, shape, name, line, script", [
    ("bluegene-l", "8x8x16", "bgl", "mpirun -np 1024 -mapfile", ["# @ bg_shape = 1x1x2", "# @ bg_rotate = FALSE"]),
    ("bluegene-p", "4x4x4:mesh", "bgl", "mpirun -np 256", ["# @ bg_size = 64", "# @ bg_connection = MESH"]),
    ("bluegene-q", "2x2x2x2x2", "bgq", "runjob --np 512 --ranks-per-node 16 --mapping", ["# @ bg_size = 32"]),
    ("cray-xe6", "4x4x4", "cray", "MPICH_RANK_REORDER_METHOD=3", ["#SBATCH --nodes=64"]),
    ("fugaku", "4x6x4", "vcoordfile", "mpiexec -n 384 --vcoordfile", ['#PJM -L "node=4x6x4:torus"',
                                                                    '#PJM --mpi "max-proc-per-node=4"']),
    ("tpu-v4", "4x4x4", "jax", "jax.sharding.Mesh", []),
])
def test_the_machine_decides_format_and_job_script(tmp_path, pencilmap_json, machine, shape, name, line, script):
    done = pencilmap_json.one("map", "-m", machine, "--network", shape, "-p", "default", "-o", tmp_path / "file", "--grid",
                          f"4x{64 * load_machine(machine).tasks_per_node // 4}" if shape.startswith("4x4x4") else
                          {"8x8x16": "16x64", "2x2x2x2x2": "16x32", "4x6x4": "16x24"}[shape])
    assert done["format"] == name and line in done["launch"]
    assert all(wanted in done["job_script"] for wanted in script) and bool(done["job_script"]) == bool(script)


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


def test_other_formats_and_caveats_are_printed(tmp_path, pencilmap):
    out = pencilmap.out("map", "-m", "fugaku", "--network", "4x6x4", "-t", "1", "-g", "8x12", "--effort", "quick",
                        "--notes", "-o", tmp_path / "v")
    assert 'job     #PJM -L "node=4x6x4:torus"\n' in out and "note    The coordinates are those" in out
    assert "torus 4x6x4 lies in a box of 2x2x2x2x3x2 nodes on machine fugaku" in " ".join(out.split())
