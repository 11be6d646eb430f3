"""Placements as launchers and test programs print them."""

import re

import numpy as np
import pytest

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import PRINTED, Job, mapping_text, parse_mapping
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid

TORUS = Torus((4,))
JOB = Job(Site(TORUS, 2, Allocation(TORUS, [2, 0, 1, 3])), Hosts(TORUS, "n{x}"))
MAP_4 = """ Data for JOB [7,1] offset 0 Total slots allocated 4

 ========================   JOB MAP   ========================

 Data for node: n2\tNum slots: 2\tMax slots: 0\tNum procs: 2
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 0 Bound: socket 0[core 0[hwt 0]]:[B/.]
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 3 Bound: N/A

 Data for node: n0\tNum slots: 2\tMax slots: 0\tNum procs: 2
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 1 Bound: N/A
 \tProcess OMPI jobid: [7,1] App: 0 Process rank: 2 Bound: N/A

 =============================================================
hello from rank 0
"""
ON_5 = (("login", "", ()), ("n2", "", (0, 3)), ("vm", "                resolved from n0\n", (1, 2)))
MAP_5 = "\n=======   JOB MAP   =======\nData for JOB prterun-a-7@1 offset 0 Total slots allocated 4\n" + "\n".join(
    f"Data for node: {name}\tState: 3\tFlags: MAPPED\n                resolved from 192.0.2.2\n{alias}"
    f"        Daemon: [prterun-a-7@0,0]\tDaemon launched: True\n            Num slots: 2\tNum procs: {len(ranks)}\n"
    + "".join(f"        Data for proc: [prterun-a-7@1,{rank}]\n                Pid: 0\tLocal rank: 0\n" for rank in ranks)
    for name, alias, ranks in ON_5) + "\n======================\n"
XTHI = "".join(f"Hello from rank {rank}, thread {thread}, on {host}. (core affinity = {thread})\n"
               for rank, host in ((3, "n2"), (0, "n2.site.org"), (1, "n0"), (2, "n0")) for thread in range(2))
NODES = "".join(f"Node    {node}, hostname n{node}, mpi   2, omp   1, executable xthi\n" for node in (0, 2))
SUMMARY = f"Node summary for    2 nodes:\n{NODES}MPI summary: 4 ranks\n" + "".join(
    f"Node    {node}, rank    {rank}, thread   0, (affinity =    0)\n" for node, rank in ((2, 0), (0, 1), (0, 2), (2, 3)))
ERF = ("app 0: ./a.out -x\noverlapping_rs: allow\ncpu_index_using: logical\n\n"
       "rank: 0: { host: 1; cpu: {0-3} ; gpu: * ; mem: * } : app 0\n"
       "rank: 1-2: { hostname: n0; cpu: {0-3},{4-7} }\nrank: {3} : {host:{1};cpu:{4-7}}\n")
WHOLE = [  # the same places: ranks 0 and 3 on n2, 1 and 2 on n0
    ("labels", "srun: job 7 has been allocated resources\n 3: n2\n 0: n2.site.org\n 1: n0\n 2: n0\n"),
    ("labels", "[3] n2\n[0] n2\n[1] n0\n[2] n0\n"), ("labels", "".join(
        f"[{job},{rank}]<stdout>: {host}\n" for job, rank, host in (("1", 0, "n2"), ("prterun-a@1", 1, "n0"), ("1", 2, "n0"),
                                                                 ("1", 3, "n2")))),
    ("xthi", XTHI), ("xthi", re.sub("(?m)^Hello from rank ([0-9])", r"\1: Hello from level 1: rank= \1", XTHI)),
    ("xthi", SUMMARY), ("xthi", "".join(f"MPI {rank:03d} - OMP 000 - HWT 001 - Node {host} - RT_GPU_ID 0\n"
                                        for rank, host in enumerate(("n2", "n0", "n0", "n2")))),
    ("openmpi-map", MAP_4), ("openmpi-map", MAP_5), ("openmpi-map", "a banner\n" + MAP_4), ("erf", ERF)]


@pytest.mark.parametrize("name, text", WHOLE)
def test_printed_placements_are_read(name, text):
    for form in (name, None):
        mapping = parse_mapping(text.encode(), "used", JOB, ProcessGrid(2, 2), form)
        assert np.array_equal(mapping.node_of_rank, [2, 0, 0, 2]) and np.array_equal(mapping.slot_of_rank, [0, 0, 1, 1])


@pytest.mark.parametrize("name, text, message", [
    ("labels", "0: n2\n1: n9\n", "used line 2 column 1: host 'n9' is not a node"),
    ("labels", "0: n2\nloading\n", "line 2: 'loading' is not RANK: HOST, as in other lines"),
    ("labels", "0: n2\n2: n0\n", "line 2: rank 2 is placed, but not rank 1"),
    ("labels", "0: n2\n0: n0\n", "line 2: rank 0 is on n0, and on n2 in line 1; keep the output of one run"),
    ("xthi", XTHI[:-30], "line 8: 'Hello from rank 2.* is not Hello from rank 0"),
    ("xthi", SUMMARY.replace(NODES, ""), "line 3: node 2 has no line above with its hostname"),
    ("openmpi-map", MAP_4[:MAP_4.index(" \tProcess OMPI jobid: [7,1] App: 0 Process rank: 2")], "has no whole job map"),
    ("openmpi-map", MAP_4.replace("Num procs: 2", "Num procs: 3"), "line 9: 2 processes of a node with 3: the job"),
    ("openmpi-map", MAP_4.replace("Data for node: n2", "Node: n2"), "line 6: a process before the first node"),
    ("erf", ERF.replace("rank: 0:", "1 :"), "line 5: '1 : { host: 1; .* is not rank: RANKS: .* --erf_output"),
    ("erf", ERF.replace("host: 1;", "host: *;"), "line 5: names no single host"),
    ("erf", ERF.replace("host: 1;", "host: 5;"), "line 5: host 5 is not one of the 4 nodes, which count from 1"),
    ("erf", ERF.replace("1-2:", "2-1:"), "line 6: '2-1' is not a rank or a range"),
    ("erf", ERF.replace("1-2:", "0-2:"), "line 6: rank 0 is already placed in line 5")])
def test_what_is_no_whole_output_is_refused(name, text, message):
    with pytest.raises(MapfileError, match=message):
        parse_mapping(text.encode(), "used", JOB, None, name)


def test_they_cannot_be_written():
    mapping = parse_mapping(b"0: n2\n", "used", JOB)
    for name in PRINTED:
        with pytest.raises(MapfileError, match=f"format {name} can only be read; write one of bgl"):
            mapping_text(mapping, name, JOB)


def test_check_says_whether_a_mapping_was_used(pencilmap, tmp_path):
    (tmp_path / "used").write_text(WHOLE[0][1])
    words = ("--network", "4", "-t", "2", "--hosts", "n{x}")
    out = pencilmap("check", tmp_path / "used", *words)[1]
    assert "4 ranks on 2 of 4 nodes" in out and "(format labels)" in out
    assert "3 ranks on other nodes than in Slurm's block order" in out
    assert pencilmap("map", "--from", tmp_path / "used", *words, "-f", "slurm", "-o", tmp_path / "hosts")[0] == 0
    assert (tmp_path / "hosts").read_text() == "n2\nn0\nn0\nn2\n"
