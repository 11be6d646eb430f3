"""`pencilmap map`, `convert` and `check` with every format, and the names of hosts."""

import pytest

from pencilmap.mapper.allocations import MPIRUN, READERS
from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.launchers import choose, launch_order
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.machines.machine import load_machine, machine_names
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


def test_map_prints_the_launch_line_and_what_it_needs(tmp_path, pencilmap):
    status, out, _ = pencilmap("map", *machine("cray"), "-g", "8x4", "-f", "cray", "-o", tmp_path / "MPICH_RANK_ORDER")
    assert status == 0
    assert "srun -N 16 -n 32 --ntasks-per-node=2 ./a.out" in out and "needs   MPICH_RANK_REORDER_METHOD=3" in out
    assert "warning the launcher's order of the nodes is assumed" in out


def test_nodes_in_the_launchers_order_move_the_ranks_of_a_cray_file(tmp_path, pencilmap):
    (tmp_path / "nodes").write_text("1 0\n0 0\n")
    status, out, err = pencilmap("map", "--network", "2x1", "--nodes", tmp_path / "nodes", "-g", "2x1", "-p", "default:xyt",
                                 "-f", "cray", "-o", tmp_path / "order")
    assert status == 0, err
    assert (tmp_path / "order").read_text() == "1\n0\n" and "is assumed" not in out


def test_hosts_by_template_and_by_file(tmp_path, pencilmap):
    (tmp_path / "names").write_text("alpha 0 0\nbeta 1 0\n0 1 gamma\n1 1 delta\n")
    for hosts, wanted in (("nid{node:03d}", "nid000\nnid001\nnid002\nnid003\n"), ("n{node+1}", "n1\nn2\nn3\nn4\n"),
                          ("r{y+1:02d}c{x+10}", "r01c10\nr01c11\nr02c10\nr02c11\n"),
                          (tmp_path / "names", "alpha\nbeta\ngamma\ndelta\n")):
        status, _, err = pencilmap("map", "--network", "2x2", "-g", "4x1", "-p", "default", "-f", "hostfile", "--hosts",
                                   hosts,
                                   "-o", tmp_path / "h")
        assert status == 0, err
        assert (tmp_path / "h").read_text() == wanted
        assert pencilmap("check", tmp_path / "h", "--network", "2x2", "-g", "4x1", "--hosts", hosts)[0] == 0


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


def test_tasks_that_hosts_cannot_share_are_refused(tmp_path, pencilmap):
    (tmp_path / "nodes").write_text(TWO_HOSTS)
    status, _, err = pencilmap("map", "--network", "4x1", "-t", "3", "--nodes", tmp_path / "nodes", "-g", "4x3", "-f",
                               "slurm",
                               "-p", "default", "-o", tmp_path / "file")
    assert status in (1, 2) and "3 tasks per node are not the same number on each of its 2 hosts" in err
    assert not (tmp_path / "file").exists()


def test_cores_per_task_bind_in_blocks(tmp_path, pencilmap):
    assert pencilmap("map", "--network", "1", "-t", "2", "-g", "2x1", "-f", "openmpi4", "--cores-per-task", "4", "-p",
                     "default", "-o", tmp_path / "r")[0] == 0
    assert (tmp_path / "r").read_text() == "rank 0=node-0 slot=0-3\nrank 1=node-0 slot=4-7\n"


def test_several_cores_of_a_task_are_asked_of_slurm(tmp_path, pencilmap_json):
    done = pencilmap_json.one("map", "--network", "2", "-t", "2", "-g", "4x1", "-f", "slurm", "--cores-per-task", "16", "-p",
                              "default", "-o", tmp_path / "r")
    assert "-n 4 --cpus-per-task=16 --distribution=arbitrary" in done["launch"]
    assert done["job_script"][-1] == "#SBATCH --cpus-per-task=16"


def test_slots_that_are_lost_are_mentioned(tmp_path, pencilmap):
    (tmp_path / "m").write_text("0 1\n0 0\n")
    status, out, _ = pencilmap("map", "--from", tmp_path / "m", "--network", "1", "-t", "2", "-f", "hydra", "-o",
                               tmp_path / "h")
    assert status == 0 and "  note    hydra does not give slots" in out


@pytest.mark.parametrize("text, message", [
    ("0 0 0 9\n", "line 1: node (0, 0, 0) slot 9"), ("<x>\n", "line 1: the format is not recognised"), ("", "is empty")])
def test_broken_files_end_with_one_sentence(tmp_path, pencilmap, text, message):
    (tmp_path / "m").write_text(text)
    status, _out, err = pencilmap("map", "--from", tmp_path / "m", "--network", "4x2x2", "-f", "cray", "-o",
                                  tmp_path / "out")
    assert status in (1, 2) and message in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


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


def test_every_machine_names_formats_that_there_are():
    named = {name: load_machine(name).figures["formats"].value for name in machine_names()
             if "formats" in load_machine(name).figures}
    assert set(named) >= {"bluegene-l", "bluegene-q", "cray-xt3", "fugaku", "k-computer", "tpu-v5p"}
    assert not {form for forms in named.values() for form in forms} - set(FORMATS)
    assert {reader.format for reader in READERS.values()} - {None, MPIRUN} <= set(FORMATS)


@pytest.mark.parametrize("name", IN_A_JOB)
def test_without_a_machine_the_job_around_decides(name):
    assert choose(None, None, IN_A_JOB[name]).name == name
    assert choose(None, load_machine("bluegene-l"), IN_A_JOB[name]).name == "bgl", "the machine comes first"
    assert choose("flux", load_machine("bluegene-l"), IN_A_JOB[name]).name == "flux", "the option before all"


def test_unreadable_files_of_a_job_are_named():
    with pytest.raises(MapfileError, match="PBS_NODEFILE: /gone cannot be read"):
        choose(None, None, {"PBS_NODEFILE": "/gone"})


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


@pytest.mark.parametrize("machine", [None, "trainium2"])
def test_where_the_format_is_open_the_list_is_shown(machine):
    with pytest.raises(MapfileError) as refused:
        choose(None, load_machine(machine) if machine else None, {"HOME": "/root"})
    assert str(refused.value).endswith(f"give `format`, one of {', '.join(FORMATS)}")


def test_an_open_format_writes_nothing(tmp_path, pencilmap):
    status, _, err = pencilmap("map", "--network", "4x4", "-g", "4x4", "-o", tmp_path / "file")
    assert status in (1, 2) and "give --format, one of bgl, bgq" in err and not (tmp_path / "file").exists()


def test_other_formats_and_caveats_are_printed(tmp_path, pencilmap):
    status, out, err = pencilmap("map", "-m", "fugaku", "--network", "4x6x4", "-t", "1", "-g", "8x12", "--effort", "quick",
                                 "--notes", "-o", tmp_path / "v")
    assert status == 0, err
    assert 'job     #PJM -L "node=4x6x4:torus"\n' in out and "note    The coordinates are those" in out
    assert "torus 4x6x4 lies in a box of 2x2x2x2x3x2 nodes on machine fugaku" in " ".join(out.split())


def test_rows_are_not_made_up_for_a_format_that_writes_them(tmp_path, pencilmap):
    (tmp_path / "m").write_text("".join(f"{x} 0\n" for x in range(4)))
    words = ("map", "--from", tmp_path / "m", "--network", "4", "-f", "jax", "-o", tmp_path / "d")
    status, _, err = pencilmap(*words)
    assert status in (1, 2) and "name it with --grid RxC" in err and not (tmp_path / "d").exists()
    assert pencilmap(*words, "--grid", "2x2")[0] == 0


def test_slurm_gets_a_path_that_it_takes_for_one(tmp_path, pencilmap_json, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("map", "--network", "4", "-g", "2x2", "-p", "default", "-f", "slurm", "-o")
    assert pencilmap_json.one(*words, "hosts")["launch"].startswith("SLURM_HOSTFILE=./hosts srun ")
    assert pencilmap_json.one(*words, tmp_path / "hosts")["launch"].startswith(f"SLURM_HOSTFILE={tmp_path}/hosts srun ")
