"""Reordered communicators, in C and mpi4py: every rank is at its place, and a refusal is on all ranks."""

import json
import random

import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid

CASES = {  # torus, tasks per node, grid, placement, launch order (empty: not given)
    "lines": ("2x2x2", 1, "2x4", "digits:x=r2,y=c2,z=c2", "xyzt"),
    "columns first": ("2x2x2", 1, "4x2", "digits:x=c2,y=r2,z=r2", "zyxt"),
    "strided": ("8", 1, "2x4", "digits:x=c2r2c2", "xt"),
    "with slots": ("2x2", 2, "4x2", "digits:x=r2,y=c2,t=r2", "txy"),
    "slots left to us": ("4", 2, "4x2", "digits:x=r2c2", "tx"),
    "axis order": ("2x2x2", 1, "2x4", "default:zyxt", "xyzt"),
    "mesh, open": ("2x4:mesh", 1, "4x2", "digits:y=r4", "yxt"),
    "slabs": ("2x2", 2, "8", "digits:y=s2,t=s2", "txy"),
    "other letters": ("2x2x2:axes=cab", 1, "2x4", "digits:a=r2", "bact"),
    "no order": ("2x2", 2, "4x2", "default:yxt", ""),
    "order of lists": ("4", 2, "8x1", "default:tn", "nt"),
}


def expected(torus, tasks, grid, placement, order):
    """Return the old rank of each new rank, by the Python model. Without an order, the launcher fills node after node."""
    site = Site(parse_torus(torus), tasks)
    mapping = as_mapping(place(placement, site, parse_grid(grid, PENCIL if "x" in grid else SLAB)), placement)
    launched = default(order or "tn", site, parse_grid(grid, PENCIL if "x" in grid else SLAB))
    old = {seat: rank for rank, seat in enumerate(zip(launched.node_of_rank.tolist(), launched.slot_of_rank.tolist()))}
    return [old[seat] for seat in zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist())]


def outcomes(text):
    """Return the status of each call of the program, and the following lines."""
    found = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append((int(line[2:]), []))
        elif found:
            found[-1][1].append(line)
    return found


def assumed(order):
    return f"assumed:{order}" if order else "assumed"


def old_of_new(lines):
    pairs = dict(tuple(map(int, line.split())) for line in lines)
    return [pairs[new] for new in sorted(pairs)]


def test_c_ranks_sit_where_the_placement_says(programs, mpirun):
    calls = [word for torus, tasks, grid, placement, order in CASES.values()
             for word in (f"{torus} tasks={tasks} placement={placement} where={assumed(order)}", grid)]
    done = mpirun(8, programs / "reorder_test", *calls)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, (status, lines) in zip(CASES, outcomes(done.stdout), strict=True):
        assert (status, old_of_new(lines)) == (0, expected(*CASES[name])), name


def test_without_an_order_both_placement_and_places_fill_a_node_before_the_next_one(programs, mpirun):
    calls = [f"2x2 tasks=2 placement={placement} where={where}" for placement, where in
             (("default", "assumed:tn"), ("default:tn", "assumed"), ("default:nt", "assumed"))]
    done = mpirun(8, programs / "reorder_test", *(word for call in calls for word in (call, "4x2")))
    assert [old_of_new(lines) for _, lines in outcomes(done.stdout)] == [[*range(8)], [*range(8)], [0, 2, 4, 6, 1, 3, 5, 7]]


def test_c_reads_mapfiles_and_tables_of_hosts(programs, mpirun, tmp_path):
    places = [f"{x} 0 {t}" for x in range(2) for t in range(3)]
    random.Random(3).shuffle(places)
    (tmp_path / "map").write_text("".join(f"{p}\n" for p in places))
    (tmp_path / "hosts").write_text("# names\nbeta 1 0\nalpha.example.org 0 0\nalphabet 1 0\n")
    script = tmp_path / "start.sh"
    script.write_text('#!/bin/sh\ncase $OMPI_COMM_WORLD_RANK in 0|2|3) h=beta;; *) h=alpha.example.org;; esac\n'
                      f'PENCILMAP_HOST=$h exec {programs}/reorder_test "$@"\n')
    script.chmod(0o755)
    done = mpirun(6, script, f"2x1 tasks=3 placement=file:{tmp_path}/map where=table:{tmp_path}/hosts", "2x3")
    seat = {"1 0 0": 0, "0 0 0": 1, "1 0 1": 2, "1 0 2": 3, "0 0 1": 4, "0 0 2": 5}
    [(status, lines)] = outcomes(done.stdout)
    assert status == 0, done.stdout + done.stderr
    assert old_of_new(lines) == [seat[p] for p in places]


def test_c_reads_the_hosts_of_a_placement_on_any_network(programs, mpirun, tmp_path):
    """Processes of a host get its ranks in their order."""
    (tmp_path / "hosts").write_text("alpha\nbeta\nbeta\nalpha\n")
    script = tmp_path / "start.sh"
    script.write_text('#!/bin/sh\ncase $OMPI_COMM_WORLD_RANK in 0|1) h=beta.example.org;; *) h=alpha;; esac\n'
                      f'PENCILMAP_HOST=$h exec {programs}/reorder_test "$@"\n')
    script.chmod(0o755)
    (tmp_path / "short").write_text("alpha\nbeta\n")
    done = mpirun(4, script, f"hosts:{tmp_path}/hosts", "2x2", f"hosts:{tmp_path}/short", "2x2", "hosts:/nowhere", "2x2",
                  f"hosts:{tmp_path}/hosts", "2x3")
    (status, lines), *refused = outcomes(done.stdout)
    assert (status, old_of_new(lines)) == (0, [2, 0, 1, 3]), done.stdout + done.stderr
    assert [status for status, _ in refused] == [1, 1, 1]
    for words, (_, lines) in zip(("places 2 of the 4 ranks", "/nowhere cannot be opened", "'2x3' does not fit"), refused):
        assert words in lines[0]


REFUSED = {
    "shape": ("2x2q", "2x2", "torus '2x2q' is not understood"),
    "grid": ("4", "2x3", "process grid '2x3' does not fit; write RxC with R*C = 4"),
    "word": ("4 fast", "2x2", "'fast' in the machine text is not recognised; known: tasks="),
    "key": ("4 speed=9", "2x2", "'speed=' in the machine text is unknown"),
    "too small": ("2 tasks=1", "2x2", "4 processes do not fit on torus 2"),
    "tasks": ("4 tasks=x", "2x2", "tasks=x: 1..65536"),
    "where": ("4 where=there", "2x2", "unknown coordinate source 'there'; known: auto, environment"),
    "no coordinates": ("2x2 where=environment", "2x2", "PENCILMAP_HOST is not set on process 0"),
    "placement": ("4 where=assumed placement=best", "2x2", "placement=best is unknown; known: default"),
    "order": ("4 where=assumed:xx", "2x2", "order 'xx' must have each letter of xt once"),
    "pattern": ("4 where=assumed placement=digits:x=r3", "2x2", "the pattern of x stands for 3, but there are 4"),
    "axis": ("4 where=assumed placement=digits:y=r2c2", "2x2", "'y=r2c2': not an axis of the torus, or given twice"),
    "digits": ("4 where=assumed placement=digits:x=q2", "2x2", "'x=q2': not a digit pattern"),
    "comma": ("4 where=assumed placement=digits:x=r2c2,", "2x2", "ends with a comma"),
    "more than 64 bits": ("2x2 where=assumed placement=digits:x=r1024r1048576,y=r1024r1024r512r1048576", "2x2",
                          "the pattern of x stands for 1073741824, but there are 2"),
    "rows": ("4 where=assumed placement=digits:x=r4", "2x2", "its r digits make 4, but the grid has 2 there"),
    "file": ("4 where=assumed placement=file:/nowhere", "2x2", "/nowhere cannot be opened"),
    "table": ("4 where=table:/nowhere", "2x2", "/nowhere cannot be opened"),
    "long": ("4 placement=" + "x" * 5000, "2x2", "longer than 4095 characters"),
    "empty": ("", "", "torus '' is not understood"),
}


def test_c_refuses_on_all_ranks_alike(programs, mpirun):
    done = mpirun(4, programs / "reorder_test", *(word for machine, grid, _ in REFUSED.values() for word in (machine, grid)))
    assert done.returncode == 0, done.stdout + done.stderr
    for name, (status, lines) in zip(REFUSED, outcomes(done.stdout), strict=True):
        assert status == 1 and REFUSED[name][2] in lines[0], (name, lines)


def test_c_refuses_processes_where_the_placement_puts_none(programs, mpirun, tmp_path):
    (tmp_path / "map").write_text("0 0\n1 0\n2 0\n5 0\n")
    done = mpirun(4, programs / "reorder_test", f"6 placement=file:{tmp_path}/map where=assumed", "2x2")
    assert "map line 4: no process runs at node (5) slot 0" in done.stdout and outcomes(done.stdout)[0][0] == 1


@pytest.mark.parametrize("fault, message", [("split", "was asked for, rank"), ("greeting", "should be at place")])
def test_c_does_not_trust_mpi(programs, mpirun, fault, message):
    """The program's own MPI_Comm_split drops the key, or its MPI_Sendrecv mixes up messages."""
    done = mpirun(4, programs / "reorder_test", "2x2 placement=default:yxt where=assumed", "2x2",
                  environment={"REORDER_FAULT": fault})
    [(status, lines)] = outcomes(done.stdout)
    assert status == 1 and "self-check failed" in lines[0] and message in lines[0]


PYTHON = """
import json, sys
from mpi4py import MPI
from pencilmap.mapper.reorder import ReorderError, reorder
world = MPI.COMM_WORLD
for torus, tasks, grid, placement, where in json.loads(sys.argv[1]):
    try:
        placed = reorder(world, torus, grid, placement, tasks, where)
    except ReorderError as error:
        if len(set(world.allgather(str(error)))) > 1:
            world.Abort(3)
        found = ["= 1", str(error)]
    else:
        found = ["= 0", *(f"{new} {old}" for new, old in world.allgather((placed.rank, world.rank)))]
        placed.Free()
    if world.rank == 0:
        print("\\n".join(found))
"""
PYTHON_REFUSED = {
    "rank 0: grid 2x4 has 8 tasks, but the communicator has 4": ("2x2", None, "2x4", "best", "assumed"),
    "rank 0: PENCILMAP_HOST is not set": ("2x2", None, "2x2", "best", "environment"),
    "use where='assumed'": ("2x2x2x2", None, "2x2", "best", "auto"),
    "rank 0: placement 'worst' is unknown": ("2x2", None, "2x2", "worst", "assumed"),
    "rank 0: unknown coordinate source 'there'; known: auto, environment, blue-gene": ("2x2", None, "2x2", "best", "there"),
    "order 'xx' must have each letter of xyt once": ("2x2", None, "2x2", "best", "assumed:xx"),
}
FOUR = {"lines": ("2x2", 1, "2x2", "digits:x=r2,y=c2", "yxt"), "with slots": ("2", 2, "2x2", "digits:x=r2,t=c2", "xt"),
        "strided": ("4", 1, "2x2", "digits:x=c2r2", "xt"), "axis order": ("2x2", 1, "4x1", "default:yxt", "xyt"),
        "slabs": ("2x2", 1, "4", "digits:y=s2,x=s2", "yxt"), "no order": ("2", 2, "2x2", "digits:x=r2,t=c2", ""),
        "order of lists": ("2", 2, "4x1", "default:tn", "nt")}


def test_python_ranks_sit_where_the_placement_says_or_all_refuse(mpi_python):
    calls = [(torus, tasks, grid, placement, assumed(order)) for torus, tasks, grid, placement, order in FOUR.values()]
    done = mpi_python(4, PYTHON, json.dumps([*calls, *PYTHON_REFUSED.values()]))
    assert done.returncode == 0, done.stdout + done.stderr
    found = outcomes(done.stdout)
    for name, (status, lines) in zip(FOUR, found):
        assert (status, old_of_new(lines)) == (0, expected(*FOUR[name])), name
    for message, (status, lines) in zip(PYTHON_REFUSED, found[len(FOUR):], strict=True):
        assert status == 1 and message in lines[0]


TABLE = """
import os
from mpi4py import MPI
from pencilmap.mapper.reorder import reorder
world = MPI.COMM_WORLD
os.environ["PENCILMAP_HOST"] = ("beta", "alpha.example.org")[world.rank]
placed = reorder(world, "2x1", "1x2", "default:xyt", where="table:hosts")
pairs = world.gather((placed.rank, world.rank))
if world.rank == 0:
    print(sorted(pairs))
"""


def test_python_reads_tables_of_hosts(mpi_python, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts").write_text("# names\nalpha 0 0\nbeta 1 0\n")
    done = mpi_python(2, TABLE)
    assert done.returncode == 0 and done.stdout.strip() == "[(0, 1), (1, 0)]", done.stdout + done.stderr
