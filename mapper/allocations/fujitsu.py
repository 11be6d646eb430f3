"""Fujitsu K, FX and Fugaku: the shape of the job from the environment.

``PJM_MPI_SHAPE_X/Y/Z`` (processes' shape) before ``PJM_NODE_X/Y/Z`` (nodes' shape), ``PJM_PROC_BY_NODE``, ``PJM_MPI_PROC``:
public Fugaku job scripts; HPX, batch_environments/pjm_environment.cpp. Whether the box is a torus was requested with
``node=...:torus`` and is not in the environment; from 385 nodes on, Fugaku always gives a torus (user guide 1.49).
"""

from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found

TORUS_FROM = 385


def from_environment(environ: Mapping[str, str]) -> Found | None:
    for prefix in ("PJM_MPI_SHAPE", "PJM_NODE"):
        told = [environ.get(f"{prefix}_{axis}") for axis in "XYZ"]
        shape = [int(n) for n in told if n and n.isdecimal() and n.isascii() and 0 < int(n[:9]) < 1 << 20]
        if shape:
            return _found(environ, prefix, shape)
    return None


def _found(environ, prefix, shape):
    nodes = 1
    for n in shape:
        nodes *= n
    text = "x".join(map(str, shape)) + ("" if nodes >= TORUS_FROM else ":mesh")
    facts = [Fact("shape", "x".join(map(str, shape)), f"{prefix}_X, _Y, _Z"),
             Fact("wrap", "torus: always, from 385 nodes on" if nodes >= TORUS_FROM else
                  "not given; assumed a mesh; name the torus if node=...:torus was requested", "number of nodes")]
    tasks = environ.get("PJM_PROC_BY_NODE", "")
    if tasks.isdecimal():
        facts.append(Fact("tasks per node", tasks, "PJM_PROC_BY_NODE"))
    return Found(tuple(facts), text, tasks_per_node=int(tasks[:6]) if tasks.isdecimal() else None)
