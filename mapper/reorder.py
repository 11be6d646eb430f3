"""A communicator with the ranks of a placement, for Python codes under mpi4py (or anything with its interface).

    from mpi4py import MPI
    from pencilmap.mapper.reorder import reorder
    placed = reorder(MPI.COMM_WORLD, "8x8x8", "8x64")           # the best placement of this grid
    fft = PFFT(placed, [512, 512, 512], grid=...)               # no other change

Rank ``q*R + p`` of the new communicator is grid rank ``q*R + p``. One plain split with the grid rank as key makes the
communicator, so nothing depends on the meaning of ``reorder=True`` in an MPI library. Each rank then tells its neighbours
in row and column its real place, and they compare this place with the placement. The C library fft_runner/reorder does the
same.
"""

import os
import re
import socket
from collections.abc import Callable, Sequence
from functools import partial, wraps
from operator import index
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from pencilmap.mapper.allocations.table import read_table
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.graphs import given_network
from pencilmap.mapper.placements import place
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PencilmapError, PlacementError
from pencilmap.model.decompositions import DECOMPOSITIONS, PENCIL
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Allocation, Mapping, Placement, Site, slots_in_order, whole_network
from pencilmap.model.placement.grid import ProcessGrid, parse_grid

Function = TypeVar("Function", bound=Callable[..., Any])
HOST_VARIABLE = "PENCILMAP_HOST"
USUAL_ORDER = "tn"  # as in fft_runner/common/torus.h
CHECK_TAG = 7


class ReorderError(PencilmapError):
    """A communicator that cannot be reordered; raised on all its ranks."""


def _on_all_ranks(function: Function) -> Function:
    """Tell the other ranks if the call itself is wrong: an unknown keyword, too many or too few arguments."""
    @wraps(function)
    def call(*arguments: Any, **more: Any) -> Any:
        comm = arguments[0] if arguments else more.get("comm")
        _check_comm(comm)
        try:
            return function(*arguments, **more)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # raised inside the function
                raise
            wrong = error
        return _together(comm, partial(_refuse, wrong))
    return call  # type: ignore[return-value]


@_on_all_ranks
def reorder(comm: Any, network: str | Network, grid: str | ProcessGrid, placement: str | Placement = "best",
            tasks_per_node: int | None = None, where: str | Callable[[], Sequence[int]] = "auto",
            hosts: Hosts | None = None) -> Any:
    """Make the communicator; collective over `comm`.

    All ranks must give the same arguments; the placement, functions for `where` and `hosts` are not compared.

    Parameters
    ----------
    comm : communicator
    network : str or Network
        Any network as everywhere, e.g. ``8x8x8``, ``fat-tree:leaves=9,hosts=8,taper=2`` or the name of a file; the processes
        may cover only some of its nodes.
    grid : str or ProcessGrid
        ``RxC`` with R*C the size of `comm`; ``P``, that size alone, for slabs; ``PxQxS`` for three exchanges.
    placement : str, Product or Mapping
        As for `pencilmap.mapper.placements.place`; made by rank 0, so files will be read there.
    tasks_per_node : int, optional
        By default the number of processes on the fullest node.
    where : str or callable
        Source of a process's node: ``environment`` (PENCILMAP_HOST), ``blue-gene`` (the processor's name), ``hostname`` (a
        name's last numbers, or a name that `hosts` knows), ``table:PATH`` (lines ``NAME x y z``, read by rank 0),
        ``assumed[:ORDER]`` (the launcher filled the machine in this order, e.g. ``assumed:xyzt``, or else a node after the
        other: ``tn``), ``auto`` (the first of environment, blue-gene and hostname that works on all ranks), or a function
        without arguments that returns the coordinates. The C library has the same words.
    hosts : Hosts, optional
        Names of the nodes.

    Returns
    -------
    communicator

    Raises
    ------
    ReorderError
        On all ranks, with the message of the lowest rank that failed.
    """
    shape, grid_ = _together(comm, lambda: _parse(network, grid, comm.Get_size()))
    tasks_per_node, hosts = _together(comm, lambda: _check_kinds(shape, tasks_per_node, where, hosts))
    _check_alike(comm, network=shape, grid=grid_, tasks_per_node=tasks_per_node, where=where)
    node, slot = _find_seats(comm, shape, where, hosts, tasks_per_node)
    site = _together(comm, lambda: _site(shape, node, slot, tasks_per_node))
    places = comm.bcast(_together(comm, lambda: _places(placement, site, grid_) if comm.Get_rank() == 0 else None), root=0)
    seats = node * site.tasks_per_node + slot
    rank = _together(comm, lambda: _rank_at(places, seats[comm.Get_rank()], site))
    new_comm = comm.Split(0, rank)
    try:
        _together(comm, lambda: _check_rank(new_comm, rank))
        _together(comm, lambda met=_greet(new_comm, grid_, int(seats[comm.Get_rank()])): _check_neighbours(met, places))
    except ReorderError:
        new_comm.Free()
        raise
    return new_comm


def _together(comm: Any, work: Callable[..., Any]) -> Any:
    """Run a function on every rank; raise a failure of one rank on all."""
    result, message = None, None
    try:
        result = work()
    except Exception as error:  # any exception: the others would wait forever
        message = str(error) or type(error).__name__
    messages = comm.allgather(message)
    failed = next((rank for rank, text in enumerate(messages) if text is not None), None)
    if failed is not None:
        raise ReorderError(f"rank {failed}: {messages[failed]}")
    return result


def _refuse(error: BaseException) -> None:
    raise error


def _check_comm(comm: Any) -> None:
    """Raise an error that is known on this rank alone."""
    if not hasattr(comm, "allgather"):
        raise ReorderError(f"{comm!r} is not a communicator of mpi4py; give e.g. MPI.COMM_WORLD")
    if not comm:
        raise ReorderError("the communicator is MPI.COMM_NULL; only ranks that belong to a communicator may call reorder()")
    if hasattr(comm, "Is_inter") and comm.Is_inter():
        raise ReorderError("this is an intercommunicator; Merge() makes one communicator of both groups")


def _check_kinds(network: Any, tasks_per_node: int | None, where: str | Callable[[], Sequence[int]],
                 hosts: Hosts | None) -> tuple[Any, ...]:
    """Return the number of tasks as an integer or None, and the names of the nodes."""
    try:
        tasks = None if tasks_per_node is None else index(tasks_per_node)
    except TypeError:
        tasks = 0
    if isinstance(tasks_per_node, bool | np.bool_) or (tasks is not None and tasks < 1):
        raise ReorderError(f"tasks_per_node is {tasks_per_node!r}; give an integer of 1 or more")
    if not callable(where) and not isinstance(where, str):
        raise ReorderError(f"unknown coordinate source {where!r}; known: {KNOWN}, or a function")
    if hosts is not None and not isinstance(hosts, Hosts):
        raise ReorderError(f"hosts is {hosts!r}; give Hosts of pencilmap.mapper.base.hosts")
    return tasks, hosts or Hosts(network)


def _check_alike(comm: Any, **arguments: Any) -> None:
    mine = {name: "a function" if callable(value) else str(value) for name, value in arguments.items()}
    every = comm.allgather(mine)
    for rank, other in enumerate(every):
        for name, text in other.items():
            if text != every[0][name]:
                raise ReorderError(f"the arguments differ between ranks: {name} is {every[0][name]} on rank 0 and {text} on "
                                   f"rank {rank}; give the same on all")


def _parse(network: Any, grid: str | ProcessGrid, n_tasks: int) -> tuple[Any, ProcessGrid]:
    if not (isinstance(network, str) or hasattr(network, "arcs")):
        raise ReorderError(f"network is {network!r}; give a text such as 8x8x8, or a network")
    if not isinstance(grid, str | ProcessGrid):
        raise ReorderError(f"grid is {grid!r}; give a text such as 8x64, or a ProcessGrid")
    network = given_network(network) if isinstance(network, str) else network
    if isinstance(grid, str):
        numbers = grid.count("x") + 1
        grid = parse_grid(grid, next((d for d in DECOMPOSITIONS.values() if len(d.dimensions) == numbers), PENCIL))
    if grid.n_tasks != n_tasks:
        raise ReorderError(f"grid {grid} has {grid.n_tasks} tasks, but the communicator has {n_tasks}; "
                           f"{grid.decomposition.usage.replace('x', '*')} must be equal to it")
    return network, grid


def _site(network: Any, node: Ints, slot: Ints, tasks_per_node: int | None) -> Site:
    """Return the nodes with processes, in the order of their first ranks, with their slots."""
    tasks = tasks_per_node or int(slot.max()) + 1
    if slot.max() >= tasks:
        where = network.node_name(int(node[slot.argmax()]))
        raise ReorderError(f"node {where} runs {int(slot.max()) + 1} processes, not {tasks}; give tasks_per_node")
    order = node[np.sort(np.unique(node, return_index=True)[1])]
    return Site(network, tasks, Allocation(network, order) if order.size < network.n_nodes else whole_network(network),
                idle=node.size < order.size * tasks)


def _places(placement: str | Mapping | Placement, site: Any, grid: Any) -> Ints:
    """Return the place of each rank: int array, shape (P,)."""
    placement_ = place(placement, site, grid) if isinstance(placement, str) else placement
    mapping = placement_.mapping("placement")
    return mapping.node_of_rank * site.tasks_per_node + mapping.slot_of_rank


def _rank_at(places: Ints, seat: int, site: Any) -> int:
    ranks = np.flatnonzero(places == seat)
    if ranks.size == 0:
        node = site.network.node_name(int(seat // site.tasks_per_node))
        raise ReorderError(f"a process runs at node {node} slot {seat % site.tasks_per_node}, where the placement puts no "
                           "rank; use a placement for the nodes of this job")
    return int(ranks[0])


# ---- the place of each process -------------------------------------------------------------------------------------------


def _find_seats(comm: Any, network: Any, where: str | Callable[[], Sequence[int]], hosts: Hosts | None,
                tasks_per_node: int | None) -> tuple[Ints, Ints]:
    """Return node and slot of every process: two int arrays, shape (P,). Unknown slots are counted."""
    if where == "auto":
        mine = _automatic(comm, hosts)
    else:
        if isinstance(where, str) and where.startswith("table:"):
            hosts = _shared_table(comm, network, where.partition(":")[2])
        mine = _together(comm, lambda: _locate(where, comm, network, hosts, tasks_per_node))
    node, slot = np.array(comm.allgather(mine), dtype=np.int64).T
    return node, np.where(slot < 0, slots_in_order(node), slot)


def _automatic(comm: Any, hosts: Any) -> Any:
    problem = None
    for name in ("environment", "blue-gene", "hostname"):
        try:
            return _together(comm, lambda name=name: SOURCES[name](hosts))
        except ReorderError as error:
            problem = error
    raise ReorderError(f"{problem}; use where='assumed' for ranks that fill a node after the other, set {HOST_VARIABLE}, or "
                       "give the hosts' names")


def _shared_table(comm: Any, network: Any, path: str | PathLike[str]) -> Any:
    """Return the names in a table, read by rank 0."""
    first = comm.Get_rank() == 0
    hosts = _together(comm, lambda: Hosts(network, hosts=read_table(path, network).hosts) if first else None)
    return comm.bcast(hosts, root=0)


def _locate(where: str | Callable[[], Sequence[int]], comm: Any, network: Any, hosts: Hosts | None,
            tasks_per_node: int | None) -> tuple[int, int]:
    """Return the node of this process, and its slot or -1."""
    if callable(where):
        return int(network.node(np.array(where(), dtype=np.int64))), -1
    name, colon, argument = where.partition(":")
    if name == "assumed":
        return _assumed(comm, network, argument, tasks_per_node)
    if name not in SOURCES or bool(colon) != (name == "table"):
        raise ReorderError(f"unknown coordinate source {where!r}; known: {KNOWN}, or a function")
    return SOURCES[name](hosts)


def _assumed(comm: Any, network: Any, order: Any, tasks_per_node: int | None) -> Any:
    site = Site(network, tasks_per_node or -(-comm.Get_size() // network.n_nodes), idle=True)
    try:
        placement = default(order or USUAL_ORDER, site, ProcessGrid(comm.Get_size(), 1))
    except PlacementError as error:
        raise ReorderError(f"launch order {order!r} must have each letter of {network.axes}t once, the fastest first, or be "
                           "tn or nt (nodes in the order of their numbers, slots first or last). A number behind a letter "
                           "takes so many of its steps, and the rest follows later: t2nt") from error
    return int(placement.node_of_rank[comm.Get_rank()]), -1


def _from_environment(hosts: Hosts | None) -> Any:
    if HOST_VARIABLE not in os.environ:
        raise ReorderError(f"{HOST_VARIABLE} is not set")
    return _from_name(hosts, os.environ[HOST_VARIABLE])


def _from_blue_gene(hosts: Hosts) -> tuple[int, int]:
    """Return coordinates and slot from ``Processor <3,0,7,0> in a ...``."""
    from mpi4py import MPI

    name, d = MPI.Get_processor_name(), hosts.network.n_dimensions
    numbers = re.match(r"Processor <\s*([0-9]+(?:\s*,\s*[0-9]+)*)>", name)
    values = [int(n) for n in numbers[1].split(",")] if numbers else ()
    if len(values) != d + 1:
        raise ReorderError(f"the processor name {name!r} is not a Blue Gene name with {d} coordinates")
    return int(hosts.network.node(values[:d])), values[d]


def _from_hostname(hosts: Hosts) -> tuple[int, int]:
    return _from_name(hosts, socket.gethostname())


def _from_table(hosts: Hosts | None) -> Any:
    return _from_name(hosts, os.environ.get(HOST_VARIABLE) or socket.gethostname())


def _from_name(hosts: Any, name: str) -> tuple[int, int]:
    node = hosts.node(name)
    if node is None:
        raise ReorderError(hosts.why_not(name))
    return node, -1


SOURCES: dict[str, Callable[[Any], tuple[int, int]]] = {
    "environment": _from_environment, "blue-gene": _from_blue_gene, "hostname": _from_hostname, "table": _from_table}
KNOWN = "auto, environment, blue-gene, hostname, table:PATH, assumed[:ORDER]"  # as in fft_runner/common/sources.c


# ---- the check -----------------------------------------------------------------------------------------------------------


def _check_rank(comm: Any, grid: Any) -> None:
    if comm.Get_rank() != grid:
        raise ReorderError(f"self-check failed: rank {grid} was asked for, rank {comm.Get_rank()} was got; two "
                           "processes have one place")


def _greet(comm: Any, grid: Any, seat: int) -> list[tuple[int, tuple[int, int]]]:
    """Tell the next rank in every group the place of this rank; return a list of (sender, received place)."""
    rank, greetings = comm.Get_rank(), []
    for letter in grid.decomposition.letters:
        group = next(ranks for ranks in grid.groups(letter).tolist() if rank in ranks)
        me = group.index(rank)
        target, source = group[(me + 1) % len(group)], group[me - 1]
        greeting = comm.sendrecv((rank, seat), dest=target, sendtag=CHECK_TAG, source=source, recvtag=CHECK_TAG)
        greetings.append((source, greeting))
    return greetings


def _check_neighbours(greetings: list[tuple[int, tuple[int, int]]], places: Ints) -> None:
    for source, (rank, seat) in greetings:
        if rank != source or seat != places[source]:
            raise ReorderError(f"self-check failed: rank {source} should be at place {int(places[source])}, and says it is "
                               f"rank {rank} at place {seat}")
