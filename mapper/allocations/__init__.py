"""The resources of a job: a table of readers for environments and files that give its nodes, their names and processors.

To add a reader, write a file here and enter the file in the table below.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from os import PathLike
from typing import Any

from pencilmap.mapper.allocations.found import Fact, Found, Picture, combine, uneven
from pencilmap.mapper.formats.foreign import DESCRIPTION, refuse_foreign
from pencilmap.mapper.formats.hostlist import is_typed
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs import GRAPHS, file_and_words
from pencilmap.model.base.errors import AllocationError, MapfileError, PencilmapError
from pencilmap.model.base.late import late, late_of
from pencilmap.model.base.reading import reading

__all__ = ["READERS", "Fact", "Found", "Picture", "Reader", "combine", "job_format", "job_hosts", "job_tasks", "look_around",
           "read_description"]


@dataclass(frozen=True)
class Reader:
    """A reader of an environment, of a kind of file, or of both.

    Parameters
    ----------
    title : str
        A line for lists of readers.
    from_environment : callable, optional
        Environment -> Found or None.
    looks_like, find : callable, optional
        Document -> bool, and document -> Found.
    format : str, optional
        Name of the placement format that this batch system's launcher reads; `MPIRUN` if mpirun starts the tasks.
    """

    title: str
    from_environment: Callable[[Mapping[str, str]], Found | None] | None = None
    looks_like: Callable[[Document], bool] | None = None
    find: Callable[[Document], Found] | None = None
    _: KW_ONLY
    format: str | None = None


MPIRUN = "mpirun"
_in: Callable[..., tuple[Any, ...]] = partial(late_of, __name__)  # functions of a file here


def _told(place: str, *prefixes: str) -> Callable[..., Any]:
    """Return the reader of an environment in a file, which is imported if a variable with one of the prefixes is set."""
    file, _, name = place.partition(":")
    read = late(f"{__name__}.{file}:from_environment{name and '_' + name}")
    return lambda environ: read(environ) if any(name.startswith(prefixes) for name in environ) else None


READERS = {  # environments are read and files are tried in this order
    "slurm": Reader("Slurm: SLURM_JOB_NODELIST; slurm.conf, topology.conf, topology.yaml, scontrol show",
                    _told("slurm", "SLURM_"), *_in("slurm", "looks_like", "find"), format="slurm"),
    "fujitsu": Reader("Fujitsu K, FX, Fugaku: PJM_NODE_X, PJM_NODE, ...", _told("batch:fujitsu", "PJM_"),
                      format="vcoordfile"),
    "flux": Reader("Flux: FLUX_JOB_NNODES, FLUX_JOB_SIZE; flux hostlist local", _told("batch:flux", "FLUX_"), format="flux"),
    "bluegene": Reader("Blue Gene/Q: RUNJOB_SHAPE, COBALT_SHAPE, LOADL_BG_SHAPE",
                       _told("batch:bluegene", "RUNJOB_", "COBALT_", "LOADL_"), format="bgq"),
    "tpu": Reader("TPU slice: TPU_TOPOLOGY; print(jax.devices())",
                  _told("batch:tpu", "TPU_"), *_in("batch", "looks_like_tpu", "find_tpu"), format="jax"),
    "hwloc": Reader("hwloc XML: lstopo --of xml", None, *_in("hwloc", "looks_like", "find")),
    "netloc": Reader("netloc export: GraphML or XML", None, *_in("network_file", "looks_like_netloc", "find_netloc")),
    "network": Reader("network: ibnetdiscover, NVIDIA topograph, SimGrid, DOT, METIS, netloc",
                      None, *_in("network_file", "looks_like", "find")),
    "scotch": Reader("Scotch target: torus3D 4 4 2, mesh2D, meshXD, hcub, ...", None,
                     GRAPHS["scotch"].looks_like, *_in("network_file", "find_scotch")),
    "cray": Reader("Cray: XxYxZxT, then pe nid x y z t", None, *_in("table", "looks_like_cray", "find_cray")),
    "lsf": Reader("LSF: LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS, affinity file",
                  _told("batch:lsf", "LSB_"), *_in("batch", "looks_like_lsf", "find_lsf"), format=MPIRUN),
    "pbs": Reader("PBS, Torque, ALPS: PBS_NODEFILE, a host in each line",
                  _told("batch:pbs", "PBS_"), *_in("batch", "looks_like_pbs", "find_pbs"), format=MPIRUN),
    "table": Reader("plain table: x y z, with or without a name", None, *_in("table", "looks_like", "find")),
}


def job_format(environ: Mapping[str, str]) -> tuple[str | None, str] | None:
    """Return the placement format of the launcher of the job around this command, and the title of its batch system.

    The format is None if the launcher is not recognised. Without a job, the result is None.
    """
    for reader in READERS.values():
        if not reader.format or not reader.from_environment:
            continue
        if reader.format != MPIRUN:
            if reader.from_environment(environ):
                return reader.format, reader.title
            continue
        with suppress(MapfileError):  # on a host without the job's files
            if reader.from_environment(environ):
                return late(f"{__name__}.batch:format_of_launcher")(environ), reader.title
    return None


def job_hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the hosts of the job around this command; () if they are unknown."""
    return _job(environ).hosts or ()


def job_tasks(environ: Mapping[str, str]) -> int | None:
    """Return the tasks on each host of the job around this command; None if they are unknown.

    Raises
    ------
    AllocationError
        If hosts have different numbers of tasks.
    """
    job = _job(environ)
    if problem := uneven(job.tasks_per_node, job.most_tasks):
        raise AllocationError(problem)
    return job.tasks_per_node


def _job(environ: Mapping[str, str]) -> Found:
    """Return what the first reader that knows the hosts of the job has found."""
    for reader in READERS.values():
        with suppress(PencilmapError):  # `look_around` tells errors
            environment = reader.from_environment and reader.from_environment(environ)
            if environment and environment.hosts:
                return environment
    return Found()


def look_around(environ: Mapping[str, str], paths: Iterable[str | PathLike[str]] = (),
                torus: str | None = None, job: Iterable[str | PathLike[str]] = (),
                network: str | None = None) -> Picture:
    """Ask every reader about the job.

    Parameters
    ----------
    environ : mapping
        The environment variables.
    paths : iterable of path
        Files that describe the allocation, recognised by their content.
    torus : str, optional
        The shape, or the text of another network, if no source gives one or a source is wrong.
    job : iterable of path
        Files with the hosts of the job, which come before the hosts of other files.
    network : str, optional
        A file that is named as the network, ``FILE[,FORMAT][,taper=2]``.

    Raises
    ------
    MapfileError, AllocationError
        If a file cannot be read, or sources contradict each other.
    """
    with reading("the environment", AllocationError):
        environments = [environment for reader in READERS.values() if reader.from_environment
                        if (environment := reader.from_environment(environ)) is not None]
    files = [*([_named(network)] if network else []), *map(read_description, paths)]
    return combine(files, [*map(read_description, job), *environments], torus)


def _named(text: str) -> Found:
    """Return the network of ``FILE[,FORMAT][,taper=2]``, with other facts that the file tells."""
    picture_ = Found()
    with suppress(PencilmapError):  # the network alone may be understood
        picture_ = read_description(file_and_words(text)[0])
    return late(f"{__name__}.network_file:named")(text, picture_)


def read_description(path: str | PathLike[str]) -> Found:
    """Read one file with the first reader that recognises the content, the network of ``FILE,taper=2``, or typed hosts."""
    words = file_and_words(str(path))[1]
    if is_typed(path) and not set(words) & set(GRAPHS):
        return late(f"{__name__}.slurm:of_list")(str(path), str(path))
    if words:
        return _named(str(path))
    document = read_document(path)
    with reading(str(path), AllocationError, len(document.text)):
        if not document.lines(longest=None):
            raise document.refuse("is empty")
        refuse_foreign(document, DESCRIPTION, AllocationError)
        for reader in READERS.values():
            if reader.looks_like and reader.find and reader.looks_like(document):
                return reader.find(document)
    known = ", ".join(reader.title.partition(":")[0] for reader in READERS.values() if reader.find)
    raise AllocationError(f"{path} is not recognised; files that are read: {known}. A table has a line of coordinates for "
                          "each node, with or without its name: NAME x y z. Name a list of edges with `network`")
