"""The nodes of a question as the option `nodes` gives them: a file that lists them, their number, or their shape."""

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from pencilmap.model.base.errors import MachineError, PartitionError
from pencilmap.model.machines.machine import load_machine, machine_partitions
from pencilmap.model.times.scaling import bisection_bandwidth

SHAPE = re.compile(r"[0-9]{1,6}w?(x[0-9]{1,6}w?)+(:mesh|:torus)?")


@dataclass(frozen=True)
class GivenNodes:
    """One of three: a path, a number of nodes, or the text of a shape; all are None if nothing was given."""

    path: str | PathLike[str] | None = None
    count: int | None = None
    shape: str | None = None


def given_nodes(given: str | PathLike[str] | int | None) -> GivenNodes:
    """Tell a number and a shape from a path. If a file of that name exists, `given` is a path.

    >>> given_nodes("384").count, given_nodes("8x8x4").shape, given_nodes("hosts.txt").path
    (384, '8x8x4', 'hosts.txt')
    """
    if given is None or (not isinstance(given, int) and Path(given).exists()):
        return GivenNodes(path=None if given is None else given)  # type: ignore[arg-type]
    text = str(given).strip()
    if re.fullmatch("[0-9]{1,12}", text) and int(text):
        return GivenNodes(count=int(text))
    return GivenNodes(shape=text) if SHAPE.fullmatch(text) else GivenNodes(path=given)  # type: ignore[arg-type]


def shape_of(nodes: GivenNodes, machine: str | None, torus: str | None, partition: str | None,
             graph: str | None) -> tuple[str | None, str | None]:
    """Return the arguments `torus` and `partition` of a question whose nodes are given by a shape or a number.

    A shape stands for `partition` on a machine, and for `torus` without a machine. A number stands for the partition of a
    machine with the widest bisection. Beside a given shape a number adds nothing.

    Raises
    ------
    MachineError
        If two networks are named, or a number comes without a machine or a shape.
    """
    other = torus or partition or graph
    if nodes.shape is not None:
        if other:
            raise MachineError(f"`nodes` {nodes.shape} and {other} name two networks; give one of them, or a file of the "
                               "usable nodes as `nodes`")
        return (None, nodes.shape) if machine else (nodes.shape, None)
    if nodes.count is not None and not other:
        if machine is None:
            raise MachineError(f"`nodes` {nodes.count} does not say how the nodes are linked; give their shape, e.g. 8x8x4, "
                               "or `machine` NAME besides")
        return None, partition_for(machine, nodes.count)
    return torus, partition


def partition_for(machine: str, nodes: int) -> str | None:
    """Return the shape of the partition of `nodes` nodes with the widest bisection. None stands for the whole machine.

    Raises
    ------
    PartitionError
        If there is no such partition.
    """
    found = load_machine(machine)
    if nodes == found.torus.n_nodes:
        return None
    if found.partitions is None:
        raise PartitionError(f"machine {machine} has no rule of partitions: give the shape of the {nodes} nodes "
                             "with `torus`")
    shapes = machine_partitions(found, nodes)
    if not shapes:
        raise PartitionError(f"machine {machine} hands out no partition of {nodes} nodes: give a shape with `torus`")
    best = max(shapes, key=bisection_bandwidth)
    return "x".join(map(str, best.shape))
