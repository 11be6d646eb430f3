"""Placement files: a table from the name of a format to its writer, reader and launch line.

To add a format, write a file here that makes a `Format`, and enter the file in the table below.
"""

from collections import ChainMap
from collections.abc import Iterable
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.formats.foreign import PLACEMENT, named_format, refuse_foreign, why_not_a_placement
from pencilmap.mapper.formats.format import (
    Format,
    Job,
    Launch,
    Places,
    check_count,
    check_slots,
    job_of_hosts,
    mapping_to_hosts,
    places_on_nodes,
)
from pencilmap.mapper.formats.lines import MAX_LINE, Document, read_document
from pencilmap.model.base.errors import MapfileError, MappingError, near
from pencilmap.model.base.late import LateTable
from pencilmap.model.base.reading import reading
from pencilmap.model.placement.allocation import Mapping, Site, slots_in_order
from pencilmap.model.placement.grid import ProcessGrid

__all__ = ["FORMATS", "PRINTED", "READABLE", "Document", "Format", "Job", "Launch", "Places", "format_named", "launch_of",
           "mapping_of", "mapping_text", "matching", "parse_mapping", "read_document", "read_first", "read_mapping",
           "recognise", "write_mapping", "write_whole"]

_PLACES = {  # file:name; if no format is named, the first that recognises the file is used
    "bgl": "bluegene:BGL",
    "bgq": "bluegene:BGQ",
    "vcoordfile": "fujitsu:VCOORDFILE",
    "rankmap": "fujitsu:RANKMAP",
    "scotch": "scotch:FORMAT",
    "cray": "cray:FORMAT",
    "openmpi4": "rankfile:OPENMPI4",
    "openmpi5": "rankfile:OPENMPI5",
    "hydra": "hostfile:HYDRA",
    "intel": "hostfile:INTEL",
    "hostfile": "hostfile:HOSTFILE",
    "slurm": "hostfile:SLURM",
    "jax": "jax:FORMAT",
    "flux": "flux:FORMAT",
}
FORMATS = LateTable[Format](__name__, _PLACES)
#: placements as they are printed, which can be read and not written; their order is that of `matching` after `FORMATS`
PRINTED = LateTable[Format](__name__, {"labels": "printed:LABELS", "xthi": "printed:THREADS",
                                       "openmpi-map": "printed:JOB_MAP", "erf": "printed:ERF"})
READABLE = ChainMap[str, Format](PRINTED, FORMATS)  # a chain goes through its last table first


def format_named(name: str) -> Format:
    """Return the format of that name. Raises MapfileError with the known names if the name is unknown."""
    if name not in READABLE:
        raise MapfileError(f"format {name!r} is unknown{near(name, READABLE)}; known are {', '.join(READABLE)}")
    return READABLE[name]


def write_mapping(mapping: Mapping, path: str | PathLike[str], format_name: str, job: Job | None = None) -> None:
    """Write a mapping to a file.

    Parameters
    ----------
    path : str or path-like
        The file will be written whole or not at all.
    format_name : str
        A name of `FORMATS`.
    job : Job, optional
        Hosts, processors and program; every node of the network with default names if omitted.

    Raises
    ------
    MapfileError
        If the format is unknown, or cannot express the mapping, or if its reader refuses the text: for a host name, for
        example, that the launcher does not read.

    Examples
    --------
    >>> import tempfile
    >>> from pencilmap.model.network.torus import Torus
    >>> pair = Mapping(Torus((2,)), ProcessGrid(2, 1), 1, np.array([1, 0]), np.zeros(2, int))
    >>> with tempfile.NamedTemporaryFile("r") as file:
    ...     write_mapping(pair, file.name, "hydra")
    ...     read_document(file.name).text
    'node-1:1\\nnode-0:1\\n'
    """
    write_whole(path, mapping_text(mapping, format_name, job, str(path)))


def mapping_text(mapping: Mapping, format_name: str, job: Job | None = None, label: str = "the file") -> str:
    """Return the text that `write_mapping` writes; `label` names the file in errors."""
    form = format_named(format_name)
    if form.write is None:
        raise MapfileError(f"format {format_name} can only be read; write one of {', '.join(FORMATS)}")
    _check_network(form, format_name, mapping.network)
    job = job or Job(Site(mapping.network, mapping.tasks_per_node))
    text = form.write(*_as_launched(form, mapping, job))
    _check_read(mapping, Document(text.encode(), label), job, format_name)
    return text


def _check_read(mapping: Mapping, document: Document, job: Job, name: str) -> None:
    """Raise MapfileError unless a text that is to be written is read as this mapping, if the format is named and if not."""
    try:
        for form in (name, None):
            if not np.array_equal(mapping_of(document, job, mapping.grid, form).node_of_rank, mapping.node_of_rank):
                raise document.refuse("is another placement if its format is not named")
    except MapfileError as refusal:
        raise MapfileError(f"{refusal}; so this placement cannot be written in format {name}: give the hosts other names "
                           "with `hosts`, or take another format") from refusal


def launch_of(mapping: Mapping, path: str | PathLike[str], format_name: str, job: Job) -> Launch:
    """Return the launch line, requirements and warnings for a file that `write_mapping` wrote.

    The parameters are those of `write_mapping`.
    """
    form = format_named(format_name)
    mapping, job = _as_launched(form, mapping, job)
    assert form.launch  # of a format that was written
    return form.launch(mapping, job, path)


def _as_launched(form: Format, mapping: Mapping, job: Job) -> tuple[Mapping, Job]:
    """Return mapping and job with each host as a node; unchanged if the file names nodes by coordinates."""
    if job.programs:
        if not form.several:
            raise MapfileError(f"{form.launcher} starts a single program with this file; take one of "
                               f"{', '.join(name for name, other in FORMATS.items() if other.several)}")
        if (n := sum(n for n, _ in job.programs)) != mapping.n_tasks:
            raise MapfileError(f"the programs {job.program[:60]!r} have {n} ranks, and the placement {mapping.n_tasks}; "
                               "give each program the ranks that it has in the trace")
    hosts = job if form.by_coordinates else job_of_hosts(job)
    return (mapping, job) if hosts is job else (mapping_to_hosts(mapping, hosts), hosts)


def _check_network(form: Format, name: str, network: Any) -> None:
    """Refuse a format with coordinates for a network without coordinates."""
    if form.by_coordinates and not network.has_coordinates:
        raise MapfileError(f"format {name} names nodes by coordinates, which {network.title} does not have; use one of "
                           f"{', '.join(n for n, f in FORMATS.items() if not f.by_coordinates)}")


def read_mapping(path: str | PathLike[str], job: Job, grid: ProcessGrid | None = None,
                 format_name: str | None = None) -> Mapping:
    """Read a mapping and check it.

    Parameters
    ----------
    path : str or path-like
    job : Job
        The torus and slots to check against, and the names of the hosts.
    grid : ProcessGrid, optional
        By default the grid that the file records, else a single row of all ranks of the file.
    format_name : str, optional
        A name of `READABLE`; detected from the content by default.

    Returns
    -------
    Mapping

    Raises
    ------
    MapfileError
        If the file is no valid placement; the message names file, line and column.

    Examples
    --------
    >>> import tempfile
    >>> from pencilmap.model.network.torus import Torus
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("1 0 0 0\\n0 0 0 0\\n")
    ...     file.flush()
    ...     read_mapping(file.name, Job(Site(Torus((2, 1, 1)))), format_name="bgl").node_of_rank.tolist()
    [1, 0]
    """
    return mapping_of(read_document(path), job, grid, format_name)


def parse_mapping(content: bytes, label: str, job: Job, grid: ProcessGrid | None = None,
                  format_name: str | None = None) -> Mapping:
    """Read a mapping from the bytes of a file, as `read_mapping` does; `label` names the file in errors."""
    return mapping_of(Document(content, label), job, grid, format_name)


def recognise(document: Document, expected: Iterable[str] = ()) -> str:
    """Return the name of a document's format, the first of `matching`. The parameters and errors are those of `matching`."""
    return matching(document, expected)[0]


def matching(document: Document, expected: Iterable[str] = ()) -> list[str]:
    """Return the names of all formats that a document may have.

    Parameters
    ----------
    expected : iterable of str
        Formats of the launcher that will read the file, which come first if the document may have them.

    Raises
    ------
    MapfileError
        If the document is empty or matches no format.
    """
    with reading(document.label, MapfileError, len(document.text)):
        lines = document.head(3)
        if not lines:
            raise document.refuse("is empty; one place for each rank is needed")
        refuse_foreign(document, PLACEMENT)
        head = [(number, line[:MAX_LINE]) for number, line in lines]
        if names := [name for name in dict.fromkeys((*expected, *READABLE)) if READABLE[name].looks_like(head)]:
            return names
    raise document.refuse(why_not_a_placement(head[0][1]) or f"the format is not recognised from "
                          f"{lines[0][1].strip()[:40]!r}; name one of {', '.join(READABLE)}", lines[0][0])


def mapping_of(document: Document, job: Job, grid: ProcessGrid | None = None, format_name: str | None = None) -> Mapping:
    """Read a mapping from a document, as `read_mapping` does."""
    if format_name is None:
        return read_first(document, job, grid, matching(document))[1]  # matching refuses an empty document
    _check_network(format_named(format_name), format_name, job.network)
    head = [(number, line[:MAX_LINE]) for number, line in document.head(3)]
    looks_like = {name: partial(form.looks_like, head) for name, form in READABLE.items()} if head else {format_name: bool}
    with named_format(format_name, document, looks_like):
        return _mapping_of(document, job, grid, format_name)


def read_first(document: Document, job: Job, grid: ProcessGrid | None, names: Iterable[str]) -> tuple[str, Mapping]:
    """Return the first of some formats whose reader accepts a document, and the mapping. Raises the first refusal.

    Numbers alone are host names if the hosts of the job have such names, and else Cray's ranks, for example.
    """
    refusal = None
    words = [] if job.hosts.is_default else [line.strip() for _, line in document.lines(longest=None)]
    if words and all(word.isdecimal() and job.hosts.node(word) is not None for word in words):
        names = ("hostfile", *names)
    for name in names:
        try:
            return name, _mapping_of(document, job, grid, name)
        except MapfileError as error:
            refusal = refusal or error
    assert refusal
    raise refusal


def _grid_of(places: Places) -> ProcessGrid:
    """Return the grid that a file records, else a single row of all ranks."""
    ranks = len(places.line)
    return ProcessGrid(places.row, ranks // places.row) if places.row else ProcessGrid(ranks, 1)


def _mapping_of(document: Document, job: Job, grid: ProcessGrid | None, format_name: str) -> Mapping:
    form = format_named(format_name)
    _check_network(form, format_name, job.network)
    with reading(document.label, MapfileError, len(document.text)):
        if not document.head(1):
            raise document.refuse("is empty; one place for each rank is needed")
        hosts = job if form.by_coordinates else job_of_hosts(job)
        places = form.read(document, hosts)
        is_named, grid = grid is not None, grid or _grid_of(places)
        check_count(document, places, grid)
        if is_named and places.row not in (None, grid.shape[0]):
            raise document.refuse(f"has rows of {places.row}, but grid {grid} has rows of {grid.shape[0]}; a mesh has the "
                                  "shape of its grid")
        slot = slots_in_order(places.node) if places.slot is None else places.slot
        check_slots(document, places, slot, hosts)
        if hosts is not job:
            places, slot = places_on_nodes(places, slot, job, hosts)
        try:
            return Mapping(job.network, grid, job.site.tasks_per_node, places.node, slot, f"file:{document.label}")
        except MappingError as error:
            raise document.refuse(str(error)) from error
