"""The nodes of a question as the option `nodes` gives them: a file that lists them, their number, or their shape."""

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from pencilmap.model.base.errors import MachineError, PartitionError
from pencilmap.model.machines.machine import load_machine, machine_partitions
from pencilmap.model.network.folded_torus import logical
from pencilmap.model.times.scaling import bisection_bandwidth

LIKE_SHAPE = re.compile(r"(?=[0-9w]*x)x?[0-9]{1,6}w?(x[0-9]{1,6}w?)*x?([:_].*)?")  # meant as a shape
SHAPE = re.compile(r"[0-9]{1,6}w?(x[0-9]{1,6}w?)+(:mesh|:torus)?|[0-9]{1,6}(x[0-9]{1,6})*:box=[0-9wx]+")


@dataclass(frozen=True)
class GivenNodes:
    """One of three: a path, a number of nodes, or the text of a shape; all are None if nothing was given."""

    path: str | PathLike[str] | None = None
    count: int | None = None
    shape: str | None = None


def is_file(name: str | PathLike[str]) -> bool:
    """Return whether a name is that of a file or a pipe, and not of a folder."""
    return Path(name).exists() and not Path(name).is_dir()


def given_nodes(given: str | PathLike[str] | int | None) -> GivenNodes:
    """Tell a number and a shape from a path. If a file of that name exists, `given` is a path.

    >>> given_nodes("384").count, given_nodes("8x8x4").shape, given_nodes("hosts.txt").path
    (384, '8x8x4', 'hosts.txt')
    >>> given_nodes("8x8x4:meshh").shape              # so that the error is about shapes
    '8x8x4:meshh'
    """
    if given is None or (not isinstance(given, int) and is_file(given)):
        return GivenNodes(path=None if given is None else given)  # type: ignore[arg-type]
    text = str(given).strip()
    if re.fullmatch("[0-9]{1,12}", text) and int(text):
        return GivenNodes(count=int(text))
    if SHAPE.fullmatch(text) or LIKE_SHAPE.fullmatch(text):
        return GivenNodes(shape=text)
    return GivenNodes(path=given)  # type: ignore[arg-type]


def network_text(nodes: GivenNodes, machine: str | None, network: str | None) -> str | None:
    """Return the argument `network` of a question whose nodes are given by a shape or a number.

    A shape stands for `network`. A number stands for the partition of a machine with the widest bisection. Beside a named
    network a number adds nothing.

    Raises
    ------
    MachineError
        If two networks are named, or a number comes without a machine or a network.
    """
    if nodes.shape is not None:
        if network:
            raise MachineError(f"`nodes` {nodes.shape} and `network` {network} name two networks; give one of them, or a "
                               "file of the usable nodes as `nodes`")
        return nodes.shape
    if nodes.count is None or network:
        return network
    if machine is None:
        raise MachineError(f"`nodes` {nodes.count} does not say how the nodes are linked; give `network`, e.g. 8x8x4, or "
                           "`machine` NAME")
    return partition_for(machine, nodes.count)


def partition_for(machine: str, nodes: int) -> str | None:
    """Return the shape of the partition of `nodes` nodes with the widest bisection. None stands for the whole machine.

    Raises
    ------
    PartitionError
        If there is no such partition.
    """
    found = load_machine(machine)
    if nodes == found.network.n_nodes or not found.network.has_products:
        return None
    if found.partitions is None:
        raise PartitionError(f"machine {machine} has no rule of partitions: give the shape of the {nodes} nodes "
                             "with `network`")
    shapes = machine_partitions(found, nodes)
    if not shapes:
        raise PartitionError(f"machine {machine} hands out no partition of {nodes} nodes: give a shape with `network`")
    best = max(shapes, key=bisection_bandwidth)
    return str(best) if logical(best) is not best else "x".join(map(str, best.shape))
