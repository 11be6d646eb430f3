"""Fujitsu K, FX and Fugaku: ``(x,y,z)`` of each rank, in a vcoordfile or a rank-map hostfile.

Line i holds the node of rank i: one to three coordinates in the shape that the job requested (``pjsub -L node=XxYxZ``). A
node with several ranks has several lines. Sources: RIKEN-LQCD/rankmap4d (three coordinates), Melissa and other public job
scripts (one and two), RIKEN Fugaku user guide 1.49, "Rank assignment". The reader ignores text after the bracket
(``core=``).
"""

import re
from os import PathLike, fspath

import numpy as np

from pencilmap.mapper.base.shell import path as shell, word
from pencilmap.mapper.formats.format import Format, Job, Launch, Places
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.twisted_torus import logical, logical_nodes, nodes_of_logical
from pencilmap.model.placement.allocation import LaunchOrder, Mapping

_LINE = re.compile(r"\s*\(\s*([+-]?[0-9]{1,12}(?:\s*,\s*[+-]?[0-9]{1,12})*)\s*\)(?:\s*core\s*=\s*\S+)?\s*")


def write(mapping: Mapping, job: Job) -> str:
    _check(job)
    coordinates = logical(mapping.network).coordinates(logical_nodes(mapping.network, mapping.node_of_rank))
    return "".join(f"({','.join(map(str, c))})\n" for c in coordinates.tolist())


def read(document: Document, job: Job) -> Places:
    _check(job, f"{document.label}: ")
    shape = logical(job.network)
    d, rows, numbers = shape.n_dimensions, [], []
    example = f"({','.join(shape.axes)})"
    for number, line in document.lines():
        match = _LINE.fullmatch(line)
        if not match:
            column = len(line) - len(line.lstrip()) + 1
            raise document.refuse(f"{line.strip()[:40]!r} is not a node {example}", number, column)
        row = [int(c) for c in match[1].split(",")]
        if len(row) != d:
            raise document.refuse(f"{len(row)} coordinates, but shape {shape} has {d}: {example}", number,
                                  match.start(1) + 1)
        problem = shape.outside(row)
        if problem:
            raise document.refuse(problem, number, match.start(1) + 1)
        rows.append(row)
        numbers.append(number)
    nodes = shape.node(np.array(rows, dtype=np.int64).reshape(-1, d))
    return Places(nodes_of_logical(job.network, nodes), None, numbers)


def _check(job: Job, place: str = "") -> None:
    d = logical(job.network).n_dimensions
    if d > 3:
        raise MapfileError(f"{place}Fujitsu's launcher knows the one to three coordinates of the job's shape, torus "
                           f"{job.network} has {d}; give the shape as pjsub -L node=XxYxZ has it")


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(_LINE.fullmatch(lines[0][1]))


def _shape(job: Job) -> str:
    shape = logical(job.network)
    return f'#PJM -L "node={"x".join(map(str, shape.shape))}:{"torus" if any(shape.wrap) else "mesh"}"'


def job_lines(job: Job) -> tuple[str, str]:
    return _shape(job), f'#PJM --mpi "max-proc-per-node={job.site.tasks_per_node}"'


def launch_vcoord(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec -n {mapping.n_tasks} --vcoordfile {shell(path)} {job.program}", job_script=job_lines(job))


def launch_rankmap(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    option = f"rank-map-hostfile={fspath(path)}"
    quoted = f'"{option}"' if word(option) == option else word(option)
    script = (*job_lines(job), f"#PJM --mpi {quoted}", '#PJM --mpi "rank-map-bynode"')
    needs = ("rank-map-bynode, because each line places one rank", "the file must be there when the job is submitted")
    return Launch(f"mpiexec -n {mapping.n_tasks} {job.program}", needs, job_script=script)


VCOORDFILE = Format("Fujitsu vcoordfile: (x,y,z) of each rank", write, read, looks_like, launch_vcoord, says_slots=False,
                    launcher="Fujitsu's mpiexec",
                    proof="documented examples: RIKEN-LQCD/rankmap4d and public job scripts", by_coordinates=True,
                    launch_order=LaunchOrder(("t+", "+t"), "Fujitsu's order",
                                             "RIKEN Fugaku user guide 1.49, Rank assignment", certain=False,
                                             reason="format vcoordfile"))
RANKMAP = Format("Fujitsu rank-map hostfile: (x,y,z) of each rank", write, read, looks_like, launch_rankmap,
                 says_slots=False,
                 launcher="Fujitsu's pjsub",
                 proof="pjsub options as in the RIKEN user guide and public job scripts; no published body of "
                 "the file was found, its lines are taken to be those of a vcoordfile",
                 by_coordinates=True,
                 launch_order=LaunchOrder(("t+", "+t"), "Fujitsu's order",
                                          "RIKEN Fugaku user guide 1.49, Rank assignment", certain=False,
                                          reason="format rankmap"))
