"""`pencilmap network` in a job on switches: sources, picture, and the commands to type next."""

import os
from pathlib import Path

import pytest

from pencilmap.mapper.allocations import look_around, read_description
from pencilmap.mapper.allocations.slurm import topology_files
from tests.mapper.test_recognised_networks import CORPUS

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "tux[2-4,9]", "SLURM_TASKS_PER_NODE": "2(x4)"}
PICTURE = "  leaf0   ##..  2 of 4 hosts\n  leaf1   #...  1 of 4 hosts\n  leaf2   #...  1 of 4 hosts\n"
NEXT = "\n  next    "
BANDWIDTH = "--bandwidth '12.5 GB/s'"


@pytest.fixture
def job(monkeypatch, tmp_path):
    """A job whose slurm.conf is in tmp_path, and a PATH without the programs of this machine."""
    for name in list(os.environ):
        if name.startswith(("SLURM", "FLUX", "PBS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, value in (JOB | {"SLURM_CONF": str(tmp_path / "slurm.conf")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(folder, name, text):
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("name, sample", [("topology.conf", "slurm"), ("topology.yaml", "slurm-yaml")])
def test_a_slurm_job_finds_its_tree_in_a_file(job, pencilmap, name, sample):
    (job / name).write_bytes((CORPUS / sample).read_bytes())
    out = pencilmap.out("network", "--no-hardware")
    assert out.startswith("Your job has 4 of 12 hosts, on 3 of 3 leaves of a tree, 2 tasks on each host.\nAsk for ")
    assert PICTURE in out and "what" not in out and "lstopo" not in out
    typed = " ".join(out.partition(NEXT)[2].partition("\n  from ")[0].replace("\\\n", "").split())
    assert typed == (f"pencilmap network -o nodes.txt pencilmap plan --network {job / name},taper=2 --tasks-per-node 2 "
                     f"--nodes nodes.txt {BANDWIDTH} --fft 512")
    status, out, err = pencilmap("network", "--no-hardware", "-o", "nodes.txt")
    assert status == 0 and (job / "nodes.txt").read_text() == "tux2\ntux3\ntux4\ntux9\n"
    status, out, err = pencilmap("predict", "--network", str(job / name), "--tasks-per-node", "2", "--nodes", "nodes.txt",
                                 "--grid", "2x4", "-p", "default", "--wide")
    assert status == 0 and "4 of 12 nodes" in out, err


def test_every_unknown_number_has_an_example(job, pencilmap):
    (job / "deep.conf").write_text("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=c Nodes=n[4-5]\n"
                                   "SwitchName=d Nodes=n[6-7]\nSwitchName=p Switches=a,b\nSwitchName=q Switches=c,d\n"
                                   "SwitchName=r Switches=p,q\n")
    status, out, err = pencilmap("network", "deep.conf", "n[1-4]", "--no-hardware")
    assert status == 0 and "--network deep.conf,taper=2,core-taper=1" in out, out + err


def test_a_slurm_job_without_files_asks_scontrol(job, pencilmap, pencilmap_json):
    program(job, "scontrol", f"exec /bin/cat {CORPUS / 'slurm-shown'}")
    status, out, _ = pencilmap("network", "--no-hardware")
    assert status == 0 and PICTURE in out and "\n  from    scontrol show topology" in out
    typed = " ".join(out.partition(NEXT)[2].replace("\\\n", "").split())
    assert "scontrol show topology > topology.txt pencilmap network topology.txt -o nodes.txt pencilmap plan" in typed
    found = pencilmap_json.one("network", "--no-hardware")
    assert found["network"]["levels"] == {"leaf": 3} and found["torus"] is None and len(found["nodes"]) == 4


def test_a_file_with_a_comma_in_its_name_takes_options_once(job, pencilmap):
    (job / "a,b.conf").write_bytes((CORPUS / "slurm").read_bytes())
    for words in (["a,b.conf"], ["a,b.conf,taper=2"], ["--network", "a,b.conf"]):
        status, out, err = pencilmap("network", *words, "--no-hardware")
        assert status == 0 and "leaf0" in out and "from    a,b.conf" in out, err
    assert "an option is given twice" in pencilmap("network", "a,b.conf,taper=2,taper=3", "--no-hardware")[2]


def test_a_file_of_numbers_that_may_be_edges_is_told_so(job, pencilmap):
    for name, text, is_told in (("ring", "0 1\n1 2\n2 3\n3 0\n", True), ("weights", "0 1 1\n1 2 1\n", True),
                                ("box", "0 0\n0 1\n1 0\n1 1\n", False), ("names", "a 1 0\nb 0 1\n", False)):
        (job / name).write_text(text)
        assert any("--network" in fact.value for fact in read_description(job / name).facts) == is_told
    assert "joins '0' to itself" in pencilmap("network", "--network", "box")[2]


def test_the_hosts_of_a_placement_choose_the_part(tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    Path("topology.conf").write_text("".join(
        f"SwitchName=s{s}0 Nodes={s}[0-3]\nSwitchName=s{s}1 Nodes={s}[4-7]\nSwitchName={s} Switches=s{s}[0-1]\n"
        for s in "xy"))
    Path("mine").write_text("".join(f"y{i}\n" for i in (0, 4, 1, 5, 2, 6, 3, 7)))
    Path("ranks").write_text("".join(f"rank {i}=y{i} slot=0\n" for i in range(8)))
    network, fft = ("--network", "topology.conf,taper=2"), ("--grid", "2x4", "--fft", "64")
    for words in (["check", "mine", *network, *fft], ["check", "ranks", *network],
                  ["map", "--from", "mine", *network, "-f", "hostfile", "-o", "to"],
                  ["predict", "-p", "mine", *network, *fft], ["draw", "-p", "mine", *network, *fft]):
        pencilmap.out(*words)
    Path("mine").write_text("x0\ny0\n")
    assert "lie in 2 of them: x0 in part 1, y0 in part 2" in pencilmap("check", "mine", *network)[2]


def test_a_file_that_is_not_read_is_no_hindrance(job, pencilmap):
    (job / "topology.conf").write_text("nonsense\n")
    program(job, "scontrol", "echo Topology information is not available; exit 1")
    status, out, err = pencilmap("network", "--no-hardware")
    assert status == 0 and "Not known: the network: give the shape of a torus" in " ".join(out.split()), err


def test_files_are_looked_for_in_slurm_jobs_alone():
    assert topology_files({}) == [] and topology_files({"PBS_NODEFILE": "x"}) == []
    assert str(topology_files({"SLURM_JOB_ID": "1"})[1]) == "/etc/slurm/topology.conf"


def test_the_place_of_this_node_is_a_fact():
    environ = JOB | {"SLURM_TOPOLOGY_ADDR": "spine.leaf0.tux2", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
    place = "place of this node", "spine.leaf0.tux2 (switch.switch.node)", "SLURM_TOPOLOGY_ADDR"
    assert place in look_around(environ).facts
    without = JOB | {"SLURM_TOPOLOGY_ADDR": "tux2", "SLURM_TOPOLOGY_ADDR_PATTERN": "node"}
    assert not [fact for fact in look_around(without).facts if fact.what == "place of this node"]


def test_a_flux_job_asks_for_its_hosts(job, pencilmap, monkeypatch):
    for name in JOB:
        monkeypatch.delenv(name)
    for name, value in (("FLUX_JOB_ID", "f1"), ("FLUX_JOB_NNODES", "3"), ("FLUX_JOB_SIZE", "6")):
        monkeypatch.setenv(name, value)
    program(job, "flux", "echo 'tux[0-1,8]'")
    out = pencilmap.out("network", str(CORPUS / "slurm"), "--no-hardware")
    assert "3 of 12 hosts, on 2 of 3 leaves" in out
    assert "  leaf0   ##..  2 of 4 hosts\n  leaf2   #...  1 of 4 hosts\n  others  1 leaf without hosts of the job\n" in out
    assert "--tasks-per-node 2" in out


def test_the_picture_has_the_busiest_units_and_the_shape_without_a_job(job, monkeypatch, pencilmap):
    """A dragonfly by its groups, with the cables between them and what its times are."""
    from pencilmap.model.kinds import network_named

    for name in JOB:
        monkeypatch.delenv(name)
    text = "dragonfly:a=4,p=4,groups=12,cables=2"
    nodes = [*range(15), *(16 * group + k for group in range(1, 12) for k in range(group + 1))]
    (job / "nodes").write_text("".join(f"{network_named(text).node_name(k)}\n" for k in nodes))
    out = pencilmap.out("network", "nodes", "--network", text, "--no-hardware")
    said = " ".join(out.split())
    assert "in 12 of 12 groups of a dragonfly" in said
    assert "Two groups share 2 cables. If its routers adapt, times are ranges. Ask for the bandwidth" in said
    drawn = [line for line in out.splitlines() if "#" in line]
    assert drawn[0].startswith("  group 0   ###############.  15 of 16 hosts") and len(drawn) == 10
    assert drawn[1].startswith("  group 11  ############....  12 of 16 hosts")
    assert "\n  others    2 groups with 2 to 3 hosts\n" in out
    out = pencilmap("network", "--network", text, "--no-hardware")[1]
    assert "\n\n  12 groups, 2 cables between two groups\n    4 switches in each group, 16 hosts\n\n" in out
    out = pencilmap("network", "--network", "fat-tree:leaves=300,hosts=8,up=4", "--no-hardware")[1]
    assert "\n    300 leaves, 4 cables upwards each\n      2400 hosts, 8 on each leaf\n\n" in out


@pytest.mark.parametrize("words", [["topology.conf,taper=2"], ["--network", "topology.conf,slurm,taper=2"]])
def test_options_after_the_name_of_a_file_stay(job, pencilmap, words):
    (job / "topology.conf").write_bytes((CORPUS / "slurm").read_bytes())
    out = pencilmap.out("network", *words, "--no-hardware")
    assert "Ask for the bandwidth" in out and PICTURE in out
    typed = " ".join(out.replace("\\\n", "").split())
    assert f"--network {words[-1]} --tasks-per-node 2 --nodes nodes.txt {BANDWIDTH}" in typed
