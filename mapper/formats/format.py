"""The interface of a placement format, and rules for all files.

Ranks of a node are in order, every rank comes once, every slot once.

Several hosts may be at each node, as the two compute nodes at a Gemini router: launchers see each host as a node. A format
that names or counts hosts gets a network with a node for each host. Host k of a node has slots k T to (k + 1) T - 1, if T is
the number of its tasks. Formats that name coordinates know only the nodes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.hosts import Hosts, check_name
from pencilmap.mapper.base.node import Node, ranges
from pencilmap.mapper.base.shell import word
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Allocation, LaunchOrder, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, per_node


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


_OF_SEVERAL = re.compile(r"\s*-np?\s+([1-9][0-9]{0,8})\s+(\S.*)")
RANK, NODE = "rank", "node"  # what a launcher binds to cores, see `Format`
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
        The program to launch, or several as ``-n 8 ./ocean : -n 4 ./air``.
    known_order : bool, optional
        Whether the launcher's order of the nodes was read rather than assumed.
    node : Node, optional
        The inside of a node, in place of `cores`.
    """

    site: Site
    hosts: Hosts = None  # type: ignore[assignment]  # filled in
    cores: tuple[str, ...] = ()
    program: str = "./a.out"
    known_order: bool | None = None
    node: Node | None = None

    def __post_init__(self) -> None:
        if self.hosts is None:
            object.__setattr__(self, "hosts", Hosts(self.site.network))
        if self.node:
            cores = tuple(map(ranges, self.node.cores))
            object.__setattr__(self, "cores", cores * (self.site.tasks_per_node // len(cores)))
        elif not self.cores:
            object.__setattr__(self, "cores", tuple(map(str, range(self.site.tasks_per_node))))
        if not self.program.isprintable():
            raise MapfileError(f"the program {self.program[:60]!r} has line breaks or other control characters; give a "
                               "command of one line")
        if self.program.startswith("-n") and None in map(_OF_SEVERAL.fullmatch, self.program.split(" : ")):
            raise MapfileError(f"the programs {self.program[:60]!r} are not understood; write -n 8 ./ocean : -n 4 ./air")
        if len(self.cores) < self.site.tasks_per_node:
            raise MapfileError(f"processors for {len(self.cores)} slots are given, but the job has "
                               f"{per_node(self.site.tasks_per_node)}; give processors for every slot")
        if self.known_order is None:
            object.__setattr__(self, "known_order", self.site.allocation.listed)

    @property
    def network(self) -> Network:
        return self.site.network

    @property
    def programs(self) -> tuple[tuple[int, str], ...]:
        """Number of ranks and command of each of several programs, none for a single program."""
        parts = map(_OF_SEVERAL.fullmatch, self.program.split(" : "))
        return tuple((int(part[1]), part[2]) for part in parts if part)

    def ranks(self, option: str, n_ranks: int) -> str:
        """Return the number of ranks for launchers that take several programs with the number of each, or ""."""
        return "" if self.programs else f"{option} {n_ranks} "

    def listed(self, command: str) -> tuple[str, str]:
        """Return "" and the program; if there are several, a command that lists their ranks in a file, and the reader."""
        if not self.programs:
            return "", self.program
        ends = np.cumsum([n for n, _ in self.programs]).tolist()
        lines = [word(f"{end - n}-{end - 1} {text}") for end, (n, text) in zip(ends, self.programs)]
        return f"printf '%s\\n' {' '.join(lines)} > programs.conf && ", f"{command} programs.conf"

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
    def processors(self) -> tuple[tuple[int, ...], ...]:
        """Processors of each slot as the operating system numbers them, empty if no node is described.

        Raises
        ------
        MapfileError
            If the file of the node has none.
        """
        if self.node is None:
            return ()
        if not all(self.node.processors):
            raise MapfileError(f"{self.node.name} has no numbers of processors (cpuset), which this format needs; write the "
                               "file with lstopo --of xml")
        return self.node.processors

    @property
    def cpu_bind(self) -> tuple[str, ...]:
        """The option of srun that binds the tasks of each node, none if no node is described."""
        slots = self.processors
        if all(len(slot) == 1 for slot in slots):
            return (f"--cpu-bind=map_cpu:{','.join(str(slot[0]) for slot in slots)}",) if slots else ()
        return (f"--cpu-bind=mask_cpu:{','.join(hex(sum(1 << n for n in slot)) for slot in slots)}",)

    @property
    def cpus_option(self) -> tuple[str, ...]:
        """The option of srun and sbatch for several processors of a task; none for one."""
        if self.node:  # with that option, a step would get no more processors than its tasks need
            return ()
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
    binds : {"", "rank", "node"}
        Whether the launcher binds each rank to the cores of its slot, or binds the first, second and further rank of any
        node to the cores of one list.
    several : bool
        Whether the launcher also starts several programs with the file.
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
    binds: str = ""
    several: bool = False
    verdicts: Callable[[Document], dict[str, str]] | None = None

    def judged(self, document: Document) -> dict[str, str]:
        """Return each launcher's reason to refuse a document that `read` has read, "" if the launcher reads the document."""
        return self.verdicts(document) if self.verdicts else {self.launcher: ""}


def sbatch(mapping: Mapping, job: Job) -> tuple[str, ...]:
    """Return the head of a job script for Slurm."""
    n_nodes = len(set(mapping.node_of_rank.tolist()))
    options = (f"--nodes={n_nodes}", f"--ntasks-per-node={job.site.tasks_per_node}", *job.cpus_option,
               *["--exclusive"] * bool(job.node))  # srun binds to processors of its step alone
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


class HostNames:
    """Nodes of the hosts of one document.

    If only the coordinates in their names identify hosts, all names must be alike except for their numbers, and a node
    has a single name. The launcher would not find a misspelt host.
    """

    def __init__(self, document: Document, job: Job) -> None:
        self._document, self._hosts = document, job.hosts
        self._first: dict[int | str, tuple[str, tuple[str, int]]] = {}  # of the letters, and of each node

    def node(self, name: str, number: int, column: int) -> int:
        """Return the node of a host in a line. Raises MapfileError if the job has no such host."""
        try:
            node = self._hosts.node(check_name(name))
        except MapfileError as error:
            raise self._document.refuse(str(error), number, column) from error
        if node is None:
            raise self._document.refuse(self._hosts.why_not(name), number, column)
        if self._hosts.is_default:
            self._check_alike(name.partition(".")[0], node, number, column)
        self._document.named.setdefault(node, name)
        return node

    def _check_alike(self, name: str, node: int, number: int, column: int) -> None:
        letters = re.sub("[0-9]+", "0", name)
        for key, what, problem in (("", letters, "has other letters than"), (node, name, "ends in the coordinates of")):
            known, (first, line) = self._first.setdefault(key, (what, (name, number)))
            if known != what:
                raise self._document.refuse(f"host {name[:40]} {problem} host {first[:40]} in line {line}; correct the "
                                            "name, or name the nodes with `hosts`", number, column)


_FIT = "give the grid of the file, or another file"


def check_count(document: Document, places: Places, grid: ProcessGrid) -> None:
    """Refuse a file with more or fewer ranks than the grid."""
    P, result = grid.n_tasks, len(places.line)
    if result > P:
        raise document.refuse(f"rank {P} is one too many; grid {grid} has {P} ranks, the file places {result}: {_FIT}",
                              places.line[P])
    if result < P:
        raise document.refuse(f"ends after rank {result - 1}; grid {grid} needs {P} ranks, the file places {result}: {_FIT}")


def _place(document: Document, job: Job, node: int) -> Any:
    """Return a node in the words of the file if it names hosts."""
    return f"host {document.named[node]}" if node in document.named else job.hosts.place(int(node))


def check_slots(document: Document, places: Places, slot: Ints, job: Job) -> None:
    """Refuse a slot outside its node, or a slot with two ranks."""
    node, number, T = places.node, places.line, job.site.tasks_per_node
    outside = np.flatnonzero((slot < 0) | (slot >= T))
    if outside.size:
        r = outside[0]
        place = _place(document, job, node[r])
        why = (f"{place} has more ranks than {per_node(T)}" if np.count_nonzero(node == node[r]) > T else
               f"{place} slot {slot[r]}: with {per_node(T)} slots are 0..{T - 1}")
        raise document.refuse(f"{why}; "
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


@dataclass(frozen=True)
class HostNetwork(Torus):
    """A torus whose last dimension counts the hosts of a node."""

    @property
    def title(self) -> str:
        return f"{self.nodes.title} with {self.shape[-1]} hosts at each node"

    @property
    def nodes(self) -> Torus:
        """Return the torus without the hosts."""
        return Torus(self.shape[:-1], self.wrap[:-1], axes=self.axes[:-1])


def tasks_of_host(tasks_per_node: int, hosts: Hosts) -> int:
    """Return the tasks of each host. Raises MapfileError unless the tasks of a node divide evenly among its hosts."""
    if tasks_per_node % hosts.per_node:
        raise MapfileError(f"{tasks_per_node} tasks per node are not the same number on each of its {hosts.per_node} hosts; "
                           f"give a multiple of {hosts.per_node} as `tasks_per_node`")
    return tasks_per_node // hosts.per_node


def job_of_hosts(job: Job) -> Job:
    """Return the job with each host as a node; the same job if each node has one host."""
    hosts = job.hosts
    if hosts.per_node == 1 or hosts.hosts is None:
        return job
    torus, tasks = as_torus(job.network), tasks_of_host(job.site.tasks_per_node, hosts)
    letter = next(c for c in "hklmnopqr" if c not in torus.axes)
    network = HostNetwork((*torus.shape, hosts.per_node), (*torus.wrap, False), axes=torus.axes + letter)
    numbered, count = dict[str, int](), dict[int, int]()
    for name, node in hosts.hosts.items():
        numbered[name] = node + torus.n_nodes * count.get(node, 0)
        count[node] = count.get(node, 0) + 1
    allocation = Allocation(network, _order(job, numbered), listed=job.site.allocation.listed)
    site = replace(job.site, network=network, tasks_per_node=tasks, allocation=allocation)
    names = Hosts(network, table={node: name for name, node in numbered.items()})
    return replace(job, site=site, hosts=names, cores=job.cores[:tasks])


def _order(job: Job, numbered: dict[str, int]) -> Ints:
    """Return the hosts of the usable nodes in the launcher's order.

    This is the order of the list if the list has the nodes in their order, else node by node.
    """
    n, nodes = job.network.n_nodes, job.site.allocation.nodes
    usable = set(nodes.tolist())
    listed = [number for number in numbered.values() if number % n in usable]
    if list(dict.fromkeys(number % n for number in listed)) == nodes.tolist():
        return np.array(listed, dtype=np.int64)
    return (nodes[:, None] + n * np.arange(job.hosts.per_node)).ravel()


def mapping_to_hosts(mapping: Mapping, job: Job) -> Mapping:
    """Return the mapping with each host as a node; `job` comes from `job_of_hosts`."""
    host, slot = np.divmod(mapping.slot_of_rank, job.site.tasks_per_node)
    return replace(mapping, network=job.network, tasks_per_node=job.site.tasks_per_node,
                   node_of_rank=mapping.node_of_rank + mapping.network.n_nodes * host, slot_of_rank=slot)


def places_on_nodes(places: Places, slot: Ints, job: Job, of_hosts: Job) -> tuple[Places, Ints]:
    """Return the places and slots on the nodes: the inverse of `mapping_to_hosts`."""
    host, node = np.divmod(places.node, job.network.n_nodes)
    return places._replace(node=node), host * of_hosts.site.tasks_per_node + slot
