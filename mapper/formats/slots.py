"""Rules for all files: ranks of a node in order, every rank once, every slot once."""

import numpy as np

from pencilmap.mapper.formats.format import Job, Places
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.placement.grid import ProcessGrid, per_node

_FIT = "give the grid of the file, or another file"


def check_count(document: Document, places: Places, grid: ProcessGrid) -> None:
    """Refuse a file with more or fewer ranks than the grid."""
    P, found = grid.n_tasks, len(places.line)
    if found > P:
        raise document.refuse(f"rank {P} is one too many; grid {grid} has {P} ranks, the file places {found}: {_FIT}",
                              places.line[P])
    if found < P:
        raise document.refuse(f"ends after rank {found - 1}; grid {grid} needs {P} ranks, the file places {found}: {_FIT}")


def _place(document, job, node):
    """Return a node in the words of the file if it names hosts."""
    return f"host {document.named[node]}" if node in document.named else job.hosts.place(int(node))


def check_slots(document: Document, places: Places, slot: Ints, job: Job) -> None:
    """Refuse a slot outside its node, or a slot with two ranks."""
    node, number, T = places.node, places.line, job.site.tasks_per_node
    outside = np.flatnonzero((slot < 0) | (slot >= T))
    if outside.size:
        r = outside[0]
        raise document.refuse(f"{_place(document, job, node[r])} slot {slot[r]}: with {per_node(T)} slots are 0..{T - 1}; "
                              "correct the line, give more `tasks_per_node`, or name the hosts of the job with `nodes`",
                              number[r])
    place = node * T + slot
    order = np.argsort(place, kind="stable")
    twice = order[1:][place[order][1:] == place[order][:-1]]
    if twice.size:
        second = int(twice.min())
        first = int(np.flatnonzero(place == place[second])[0])
        where = _place(document, job, node[second])
        raise document.refuse(f"rank {second} takes {where} slot {slot[second]}, which rank {first} in line "
                              f"{number[first]} already has; every slot takes one rank: correct one of both lines",
                              number[second])
