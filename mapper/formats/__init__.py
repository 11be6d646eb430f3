"""Placement files: a table from a format's name to how it is written, read and launched.

A new format is one file here and one line below.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

from pencilmap.mapper.formats import bgl, hostfile
from pencilmap.mapper.formats.lines import text_lines
from pencilmap.model.errors import MapfileError, MappingError
from pencilmap.model.mapping import Mapping


@dataclass(frozen=True)
class Format:
    """One line of the table.

    write : mapping -> text
    read : (lines, label, torus) -> (node, slot or None, line number) of each rank, int arrays of one length; where the
        file does not say the slot, ranks fill a node's slots in the order in which they are listed
    looks_like : first content line -> bool
    launch : path -> the launch line that uses the file
    """

    title: str
    write: Callable
    read: Callable
    looks_like: Callable
    launch: Callable


FORMATS = {
    "bgl": Format("Blue Gene/L and /P mapfile: x y z t of each rank", bgl.write, bgl.read, bgl.looks_like, bgl.launch),
    "hostfile": Format("one host name for each rank", hostfile.write, hostfile.read, hostfile.looks_like, hostfile.launch),
}


def format_named(name):
    """The format of that name; MapfileError with the known names otherwise."""
    if name not in FORMATS:
        raise MapfileError(f"format {name!r} is unknown; known are {', '.join(FORMATS)}")
    return FORMATS[name]


def write_mapping(mapping, path, format_name):
    """Write a mapping; the file appears whole or not at all."""
    write_whole(path, format_named(format_name).write(mapping))


def read_mapping(path, torus, grid, tasks_per_node, format_name=None):
    """Read a mapping and check it against torus and grid.

    Raises
    ------
    MapfileError
        Naming file and line.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise MapfileError(f"{path} cannot be read: {error.strerror}") from error
    return parse_mapping(content, str(path), torus, grid, tasks_per_node, format_name)


def parse_mapping(content, label, torus, grid, tasks_per_node, format_name=None):
    """The same for the bytes of a file; `label` names it in errors."""
    lines = list(text_lines(content, label))
    if not lines:
        raise MapfileError(f"{label} is empty; {grid.n_tasks} ranks are needed for grid {grid}")
    form = format_named(format_name) if format_name else _guess(lines[0][1], label)
    node, slot, number = form.read(lines, label, torus)
    _check_count(label, number, grid)
    if slot is None:
        slot = _slots_in_order(node)
    _check_slots(label, torus, tasks_per_node, node, slot, number)
    try:
        return Mapping(torus, grid, tasks_per_node, node, slot, f"file:{label}")
    except MappingError as error:
        raise MapfileError(f"{label}: {error}") from error


def _guess(first_line, label):
    for form in FORMATS.values():
        if form.looks_like(first_line):
            return form
    raise MapfileError(f"{label}: the format is not recognised from {first_line[:40]!r}; name one of {', '.join(FORMATS)}")


def _check_count(label, number, grid):
    P = grid.n_tasks
    if len(number) > P:
        raise MapfileError(f"{label} line {number[P]}: rank {P} is one too many; grid {grid} has {P} ranks, the file places "
                           f"{len(number)}")
    if len(number) < P:
        raise MapfileError(f"{label} ends after rank {len(number) - 1}; grid {grid} needs {P} ranks")


def _slots_in_order(node):
    """Ranks of one node take its slots in the order in which they are listed."""
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], node[order])
    slot = np.empty_like(node)
    slot[order] = np.arange(node.size) - first
    return slot


def _check_slots(label, torus, tasks_per_node, node, slot, number):
    outside = np.flatnonzero((slot < 0) | (slot >= tasks_per_node))
    if outside.size:
        r = outside[0]
        where = tuple(torus.coordinates(node[r]).tolist())
        raise MapfileError(f"{label} line {number[r]}: node {where} slot {slot[r]}: with {tasks_per_node} tasks per node "
                           f"slots are 0..{tasks_per_node - 1}; correct the line or give more tasks per node")
    place = node * tasks_per_node + slot
    order = np.argsort(place, kind="stable")
    twice = order[1:][place[order][1:] == place[order][:-1]]
    if twice.size:
        second = int(twice.min())
        first = int(np.flatnonzero(place == place[second])[0])
        where = tuple(torus.coordinates(node[second]).tolist())
        raise MapfileError(f"{label} line {number[second]}: rank {second} takes node {where} slot {slot[second]}, which "
                           f"rank {first} in line {number[first]} already has; every slot takes one rank")


def write_whole(path, text):
    """Write text aside and rename: a reader sees the old file or the new one, never half of it."""
    path = Path(path)
    try:
        handle, aside = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(aside, 0o666 & ~umask)
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise MapfileError(f"{path} cannot be written: {error.strerror}") from error
