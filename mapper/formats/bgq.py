"""Blue Gene/Q mapfile: line i holds ``A B C D E T`` of rank i; ``#`` starts a comment, blank lines are ignored.

Source: comment in jedbrown/bgq-driver, hlcs/src/runjob/client/options/Documentation.h; launch with ``runjob --mapping
FILE``. The runjob server must be able to read the file; a relative path starts at ``--cwd``.
"""

import re
from os import PathLike

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats import bgl
from pencilmap.mapper.formats.format import Format, Job, Launch, Places
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder
from pencilmap.model.placement.mapping import Mapping

RANKS_PER_NODE = (1, 2, 4, 8, 16, 32, 64)


def write(mapping: Mapping, job: Job) -> str:
    _check(job)
    return "# A B C D E T\n" + bgl.write(mapping, job)


def read(document: Document, job: Job) -> Places:
    _check(job, document)
    return bgl.read(document, job)


def _check(job, document=None):
    if job.network.n_dimensions != 5:
        place = f"{document.label}: " if document else ""
        raise MapfileError(f"{place}Blue Gene/Q has the five dimensions A B C D E, torus {job.network} has "
                           f"{job.network.n_dimensions}; give a shape such as 4x4x4x4x2, or use format bgl")


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(re.fullmatch(r"\s*([+-]?\d+\s+){5}[+-]?\d+\s*", lines[0][1]))


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    T = job.site.tasks_per_node
    needs = [f"a block of shape {job.network}", "a FILE that the runjob server can read; a relative path is taken from "
             "--cwd"]
    warnings = [] if T in RANKS_PER_NODE else [
        f"runjob knows {', '.join(map(str, RANKS_PER_NODE))} ranks per node, not {T}"]
    return Launch(f"runjob --np {mapping.n_tasks} --ranks-per-node {T} --mapping {shell(path)} : {job.program}",
                  tuple(needs), tuple(warnings),
                  ("# @ job_type = bluegene", f"# @ bg_size = {job.network.n_nodes}"))


FORMAT = Format("Blue Gene/Q mapfile: A B C D E T of each rank", write, read, looks_like, launch, says_slots=True,
                launcher="runjob of Blue Gene/Q",
                proof="documented example: runjob's own help text (bgq-driver)", by_coordinates=True,
                launch_order=LaunchOrder(("t-",), "the order ABCDET",
                                         "IBM Blue Gene/Q Application Development, mapping",
                                         reason="format bgq"))
