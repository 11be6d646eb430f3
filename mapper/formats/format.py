"""The interface of a placement format, and the values that its functions take and return."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import LaunchOrder, Site
from pencilmap.model.placement.grid import per_node
from pencilmap.model.placement.mapping import Mapping


class Places(NamedTuple):
    """The places of the ranks in a file, in rank order.

    Parameters
    ----------
    node : int array, shape (P,)
        Node of each rank.
    slot : int array, shape (P,), or None
        None if the file gives no slots; then the ranks of a node take its slots in order.
    line : sequence of int
        The line that places each rank.
    row : int, optional
        Ranks in each row, if the file has the shape of the grid.
    """

    node: Ints
    slot: Ints | None
    line: Sequence[int]
    row: int | None = None


MORE_SLOTS = "name a larger network, or give more `tasks_per_node`"  # end of an error about too many ranks


@dataclass(frozen=True)
class Launch:
    """The launch command for a placement file.

    Parameters
    ----------
    line : str
        The complete command (for JAX: the lines of Python).
    needs, warnings : tuple of str
        Further requirements, and possible failures of this placement, one sentence each.
    job_script : tuple of str
        Lines for the head of the job script.
    is_shell : bool
        Whether `line` is for a shell, which takes long lines in parts.
    alone : str
        The command without a batch system that gives the hosts, if it differs.
    others : tuple of (str, str)
        Commands of other launchers that read the file, each after its condition.
    """

    line: str
    needs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    job_script: tuple[str, ...] = ()
    is_shell: bool = True
    alone: str = ""
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Job:
    """Facts that the launcher needs besides the placement.

    Parameters
    ----------
    site : Site
        Torus, tasks per node, and the usable nodes in the launcher's order.
    hosts : Hosts, optional
        Names of the nodes; ``node-3-0-7`` by default.
    cores : tuple of str, optional
        For each slot the processors of its task, as the launcher writes them: ``("0-3", "4-7")``. By default slot t has
        core t.
    program : str
        The program to launch.
    """

    site: Site
    hosts: Hosts = None  # type: ignore[assignment]  # filled in
    cores: tuple[str, ...] = ()
    program: str = "./a.out"
    known_order: bool | None = None  # whether the launcher's order of the nodes was read rather than assumed

    def __post_init__(self) -> None:
        if self.hosts is None:
            object.__setattr__(self, "hosts", Hosts(self.site.network))
        if not self.cores:
            object.__setattr__(self, "cores", tuple(map(str, range(self.site.tasks_per_node))))
        if not self.program.isprintable():
            raise MapfileError(f"the program {self.program[:60]!r} has line breaks or other control characters; give a "
                               "command of one line")
        if len(self.cores) < self.site.tasks_per_node:
            raise MapfileError(f"processors for {len(self.cores)} slots are given, but the job has "
                               f"{per_node(self.site.tasks_per_node)}; give processors for every slot")
        if self.known_order is None:
            object.__setattr__(self, "known_order", self.site.allocation.listed)

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def names_needed(self) -> tuple[str, ...]:
        """A requirement for a file of host names, if nobody named the hosts: that they have the names of the file."""
        if not self.hosts.are_made_up:
            return ()
        first = self.hosts.names(self.site.allocation.nodes[:1])[0]
        return (f"hosts that are named {first} and so on; `hosts` takes the names of yours",)

    @property
    def cores_per_task(self) -> int:
        """Processors of the first slot, from a text such as ``0-3,8``."""
        ends = [part.split("-") for part in self.cores[0].split(",")]
        return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)

    @property
    def cpus_option(self) -> tuple[str, ...]:
        """The option of srun and sbatch for several processors of a task; none for one."""
        return (f"--cpus-per-task={self.cores_per_task}",) if self.cores_per_task > 1 else ()

    def node_index(self, nodes: Ints) -> Ints:
        """Return the positions of nodes in the launcher's order."""
        position = np.full(self.network.n_nodes, -1)
        position[self.site.allocation.nodes] = np.arange(self.site.allocation.n_nodes)
        return position[nodes]


@dataclass(frozen=True)
class Format:
    """A placement format.

    Parameters
    ----------
    title : str
        A line for lists of formats.
    write, read, launch : callable
        (mapping, job) -> text; (document, job) -> Places; (mapping, job, path) -> Launch. A format that can only be read
        has neither `write` nor `launch`.
    looks_like : callable
        First three lines of a document, cut at `MAX_LINE` characters -> bool.
    says_slots : bool
        Whether the file says which slot of a node a rank takes.
    proof : str
        Source of the syntax: the launcher that ran such files here, or a document.
    launcher : str
        The launcher that reads the file, with the version whose rules the reader has.
    by_coordinates : bool
        Whether the file names nodes by their coordinates, which a graph's nodes do not have.
    says_grid : bool
        Whether the file has the shape of the process grid.
    launch_order : LaunchOrder, optional
        The order in which the launcher fills the nodes without such a file; None if there is no launcher.
    launched_as : str
        The format of the launcher that prints such files, if they can only be read.
    verdicts : callable, optional
        Document -> the reason of each launcher to refuse the document, "" if there is none; None for `launcher` alone.
    """

    title: str
    write: Callable[[Mapping, Job], str] | None
    read: Callable[[Document, Job], Places]
    looks_like: Callable[[list[tuple[int, str]]], bool]
    launch: Callable[[Mapping, Job, str | PathLike[str]], Launch] | None
    says_slots: bool
    proof: str
    launcher: str
    by_coordinates: bool = False
    says_grid: bool = False
    launch_order: LaunchOrder | None = None
    launched_as: str = ""
    verdicts: Callable[[Document], dict[str, str]] | None = None

    def judged(self, document: Document) -> dict[str, str]:
        """Return each launcher's reason to refuse a document that `read` has read, "" if the launcher reads the document."""
        return self.verdicts(document) if self.verdicts else {self.launcher: ""}


def sbatch(mapping: Mapping, job: Job) -> tuple[str, ...]:
    """Return the head of a job script for Slurm."""
    n_nodes = len(set(mapping.node_of_rank.tolist()))
    options = (f"--nodes={n_nodes}", f"--ntasks-per-node={job.site.tasks_per_node}", *job.cpus_option)
    return tuple(f"#SBATCH {option}" for option in options)


def by_rank(document: Document, entries: Iterable[tuple[int, int, int | None, int]], what: str = "rank") -> Places:
    """Return the places of entries (rank, node, slot or None, line) in any order."""
    if not entries:
        raise document.refuse(f"places no {what}")
    line_of: dict[int, int] = {}
    for rank, _, _, line in entries:
        if rank in line_of:
            raise document.refuse(f"{what} {rank} is already placed in line {line_of[rank]}; every {what} has one place",
                                  line)
        line_of[rank] = line
    entries = sorted(entries, key=lambda entry: entry[0])
    for wanted, (rank, _, _, line) in enumerate(entries):
        if rank != wanted:
            raise document.refuse(f"{what} {rank} is placed, but not {what} {wanted}; every {what} needs a place", line)
    _ranks, node, slot, numbers = zip(*entries)
    slots = None if None in slot else np.array(slot, dtype=np.int64)
    return Places(np.array(node, dtype=np.int64), slots, list(numbers))
