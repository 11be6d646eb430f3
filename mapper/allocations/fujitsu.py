"""Fujitsu K, FX and Fugaku: the shape of the job from the environment.

``PJM_MPI_SHAPE_X/Y/Z`` (processes' shape) before ``PJM_NODE_X/Y/Z`` (nodes' shape), ``PJM_PROC_BY_NODE``, ``PJM_MPI_PROC``:
public Fugaku job scripts; HPX, batch_environments/pjm_environment.cpp. The user requests a torus with ``node=...:torus``,
which is not in the environment; from 385 nodes on, Fugaku always gives a torus (user guide 1.49).

A job whose nodes are not contiguous (``node=...:noncont``) has a number of nodes (``PJM_NODE``) but no shape. Each process
can ask for its coordinates: ``utofu_query_my_coords`` of uTofu.
"""

from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found

TORUS_FROM = 385
COUNTS = {"PJM_JOBID": "job", "PJM_NODE": "nodes", "PJM_MPI_PROC": "tasks", "PJM_PROC_BY_NODE": "tasks per node"}


def from_environment(environ: Mapping[str, str]) -> Found | None:
    for prefix in ("PJM_MPI_SHAPE", "PJM_NODE"):
        told = [environ.get(f"{prefix}_{axis}") for axis in "XYZ"]
        shape = [int(n) for n in told if n and n.isdecimal() and n.isascii() and 0 < int(n[:9]) < 1 << 20]
        if shape:
            return _found(environ, prefix, shape)
    return _without_shape(environ) if any(environ.get(name) for name in ("PJM_JOBID", "PJM_NODE", "PJM_MPI_PROC")) else None


def _without_shape(environ):
    """Return the facts of a job whose nodes form no box."""
    facts = [Fact(what, environ[name][:80], name) for name, what in COUNTS.items() if environ.get(name)]
    facts.append(Fact("shape", "not given; nodes that are not contiguous have none", "no PJM_NODE_X"))
    return Found(tuple(facts), tasks_per_node=_tasks(environ), missing=(
        "the shape of the torus and the coordinates of the nodes: run a step in which each process prints its coordinates "
        "(utofu_query_my_coords), and give the shape with `network` and the lines as a file"))


def _tasks(environ):
    tasks = environ.get("PJM_PROC_BY_NODE", "")
    return int(tasks[:6]) if tasks.isdecimal() and tasks.isascii() and int(tasks[:6]) > 0 else None


def _found(environ, prefix, shape):
    nodes = 1
    for n in shape:
        nodes *= n
    text = "x".join(map(str, shape)) + ("" if nodes >= TORUS_FROM else ":mesh")
    facts = [Fact("shape", "x".join(map(str, shape)), f"{prefix}_X, _Y, _Z"),
             Fact("wrap", "torus: always, from 385 nodes on" if nodes >= TORUS_FROM else
                  "not given; assumed a mesh; name the torus if node=...:torus was requested", "number of nodes")]
    if _tasks(environ):
        facts.append(Fact("tasks per node", environ["PJM_PROC_BY_NODE"], "PJM_PROC_BY_NODE"))
    return Found(tuple(facts), text, tasks_per_node=_tasks(environ))
