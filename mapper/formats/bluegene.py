"""Mapfiles of Blue Gene/L, /P and /Q: a line for each rank with its coordinates and the slot.

Blue Gene/L and /P: line i holds ``x y z t`` of rank i; with d dimensions, d coordinates and the slot. Source: UCAR wiki
"BGLMapping". Launch with ``mpirun -mapfile FILE`` or ``BGLMPI_MAPPING=FILE``. The writer writes no comments, because none
are documented; the reader accepts comments.

Blue Gene/Q: line i holds ``A B C D E T``; ``#`` starts a comment, blank lines are ignored. Source: comment in
jedbrown/bgq-driver, hlcs/src/runjob/client/options/Documentation.h; launch with ``runjob --mapping FILE``. The runjob server
must be able to read the file; a relative path starts at ``--cwd``.
"""

import re
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import Format, Job, Launch, Places
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping
from pencilmap.model.placement.grid import per_node

BGQ_COLUMNS = 6  # A B C D E T
MIDPLANE = 8  # nodes along each edge
MODES = {1: "CO (Blue Gene/L) or SMP (/P)", 2: "VN (Blue Gene/L) or DUAL (/P)", 4: "VN (/P)"}


def write(mapping: Mapping, job: Job) -> str:
    rows = zip(mapping.coordinates().tolist(), mapping.slot_of_rank.tolist())
    return "".join(f"{' '.join(map(str, coordinate))} {slot}\n" for coordinate, slot in rows)


def read(document: Document, job: Job) -> Places:
    torus, d = job.network, job.network.n_dimensions
    meaning = " ".join([*torus.axes, "t"])
    table, numbers = document.integers(d + 1, meaning)
    for i in np.flatnonzero(((table[:, :d] < 0) | (table[:, :d] >= torus.shape)).any(axis=1))[:1]:
        raise document.refuse(str(torus.outside(table[i, :d].tolist())), numbers[i])
    return Places(torus.node(table[:, :d]), table[:, d].copy(), numbers)


def looks_like(lines: list[tuple[int, str]]) -> bool:
    """Return whether the first line has only integers, but not the six of Blue Gene/Q."""
    return bool(re.fullmatch(r"\s*[+-]?\d+(\s+[+-]?\d+)+\s*", lines[0][1])) and len(lines[0][1].split()) != BGQ_COLUMNS


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    mode = MODES.get(job.site.tasks_per_node)
    tasks = per_node(job.site.tasks_per_node)
    needs = (f"the mode for {tasks}: -mode {mode}" if mode else f"a mode with {tasks}",
             f"a partition of shape {job.network}; the file must name every place of it")
    return Launch(f"mpirun -np {mapping.n_tasks} -mapfile {shell(path)} {job.program}", needs,
                  job_script=_script(job.network))


def _script(torus: Any) -> tuple[str, ...]:
    """Return lines for LoadLeveler, which counts midplanes of 8x8x8 and may rotate a shape unless told otherwise."""
    midplanes = [n // MIDPLANE for n in torus.shape]
    whole = torus.n_dimensions == 3 and all(n % MIDPLANE == 0 for n in torus.shape)
    size = ((f"# @ bg_shape = {'x'.join(map(str, midplanes))}", "# @ bg_rotate = FALSE") if whole
            else (f"# @ bg_size = {torus.n_nodes}",))
    return "# @ job_type = bluegene", *size, f"# @ bg_connection = {'TORUS' if all(torus.wrap) else 'MESH'}"


BGL = Format("Blue Gene/L and /P mapfile: x y z t of each rank", write, read, looks_like, launch, says_slots=True,
                launcher="Blue Gene/L and /P",
                proof="documented examples: UCAR wiki BGLMapping; Jagode, Hein, Trew, sec. 6.2; also read by fft_runner",
                by_coordinates=True,
                launch_order=LaunchOrder(("+t",), "the order XYZT",
                                         "UCAR wiki BGLMapping: the default mapping is XYZT",
                                         reason="format bgl"))


RANKS_PER_NODE = (1, 2, 4, 8, 16, 32, 64)


def write_bgq(mapping: Mapping, job: Job) -> str:
    _check(job)
    return "# A B C D E T\n" + write(mapping, job)


def read_bgq(document: Document, job: Job) -> Places:
    _check(job, document)
    return read(document, job)


def _check(job: Job, document: Document | None = None) -> None:
    if job.network.n_dimensions != 5:
        place = f"{document.label}: " if document else ""
        raise MapfileError(f"{place}Blue Gene/Q has the five dimensions A B C D E, torus {job.network} has "
                           f"{job.network.n_dimensions}; give a shape such as 4x4x4x4x2, or use format bgl")


def looks_like_bgq(lines: list[tuple[int, str]]) -> bool:
    return bool(re.fullmatch(r"\s*([+-]?\d+\s+){5}[+-]?\d+\s*", lines[0][1]))


def launch_bgq(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    T = job.site.tasks_per_node
    needs = [f"a block of shape {job.network}", "a FILE that the runjob server can read; a relative path is taken from "
             "--cwd"]
    warnings = [] if T in RANKS_PER_NODE else [
        f"runjob knows {', '.join(map(str, RANKS_PER_NODE))} ranks per node, not {T}"]
    return Launch(f"runjob --np {mapping.n_tasks} --ranks-per-node {T} --mapping {shell(path)} : {job.program}",
                  tuple(needs), tuple(warnings),
                  ("# @ job_type = bluegene", f"# @ bg_size = {job.network.n_nodes}"))


BGQ = Format("Blue Gene/Q mapfile: A B C D E T of each rank", write_bgq, read_bgq, looks_like_bgq, launch_bgq,
             says_slots=True,
                launcher="runjob of Blue Gene/Q",
                proof="documented example: runjob's own help text (bgq-driver)", by_coordinates=True,
                launch_order=LaunchOrder(("t-",), "the order ABCDET",
                                         "IBM Blue Gene/Q Application Development, mapping",
                                         reason="format bgq"))
