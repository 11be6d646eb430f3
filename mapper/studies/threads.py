"""The cores of a node as tasks or as threads: fewer ranks, larger and fewer messages, smaller tables of partners.

With T threads a task there are T times fewer ranks. Between two nodes of a group T^2 times fewer messages pass, each T^2
times as large. The model assumes that the T threads of a task compute together as fast as T tasks, and that they share the
port of a node. A limit per task stays the limit of one task, and fewer tasks enter an exchange. The model leaves out the
costs of threads to each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from pencilmap.mapper.place import place
from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions import AXES
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges


@dataclass(frozen=True)
class Shared:
    """The best way for a number of tasks on a node, each with a number of threads."""

    tasks: int
    threads: int
    prediction: Prediction
    messages: int  #: messages that the tasks of the busiest node send to other nodes in all exchanges
    message_bytes: float  #: mean size of the messages of the larger exchange
    node_bytes: int  #: memory of a node for the array before and after an exchange: twice the largest blocks of its tasks
    peers: int  #: entries of the tables of counts that all tasks of a node keep: one for each partner in each exchange


def choices(where: Question, numbers: Sequence[int], best: Callable[[Question], Prediction]) -> list[Shared]:
    """Return the best way for each number of tasks on a node.

    Parameters
    ----------
    where : Question
    numbers : sequence of int
        Numbers of tasks on a node, in place of the number in the setting.
    best : callable
        Predicts the best way in a setting.

    Raises
    ------
    GridError
        If the tasks of a node do not divide into such a number, or without a transform.
    """
    cores, transform = where.tasks_per_node, where.transform
    if transform is None:
        raise GridError("tasks and threads are compared for a transform: name it with `fft`, e.g. 512")
    result = []
    for tasks in numbers:
        if tasks < 1 or cores % tasks:
            raise GridError(f"{cores} tasks on a node do not make {tasks} tasks with the same number of threads "
                            f"each; take a number that divides {cores}, or others with `tasks_per_node`")
        threads, costs = cores // tasks, where.costs
        if costs.fft_rate_per_task is not None:
            costs = replace(costs, fft_rate_per_task=costs.fft_rate_per_task * threads)
        question = replace(where, site=replace(where.site, tasks_per_node=tasks), costs=costs, shapes=())
        p = best(question)
        stages = [stage for stage in p.stages if stage.work and stage.work.messages]
        result.append(Shared(tasks, threads=threads, prediction=p, messages=messages_of_node(p, question),
                             message_bytes=max((s.work.message_bytes for s in stages if s.work), default=0.0),
                             node_bytes=2 * tasks * _largest_block(transform, p.grid),
                             peers=tasks * sum(p.grid.extent(stage.letters) for stage in p.grid.decomposition.exchanges)))
    return result


def divisors_of(tasks: int) -> list[int]:
    """Return all numbers of tasks with equally many threads, the most tasks first.

    >>> divisors_of(12)
    [12, 6, 4, 3, 2, 1]
    """
    return [n for n in range(tasks, 0, -1) if tasks % n == 0]


def messages_of_node(p: Prediction, where: Question) -> int:
    """Return the messages that all tasks of the busiest node send to other nodes in all exchanges, if all start at once."""
    if p.product is not None:
        slots, tasks = p.product.slots, p.tasks_per_node
        return sum(tasks * (p.grid.extent(stage.letters) - slots.extent(stage.letters))
                   for stage in p.grid.decomposition.exchanges)
    question = replace(where, decomposition=p.grid.decomposition)
    mapping = place(question, p.placement, p.grid).mapping(p.placement)
    sent = np.zeros(mapping.network.n_nodes, dtype=np.int64)
    for exchange in exchanges(p.grid, where.transform):
        node = mapping.node_of_rank[exchange.members]
        group = np.arange(len(node))[:, None]
        _, inverse, count = np.unique(node + group * mapping.network.n_nodes, return_inverse=True, return_counts=True)
        np.add.at(sent, node.ravel(), exchange.size - count[inverse.ravel()])
    return int(sent.max())


def _largest_block(transform: Transform, grid: ProcessGrid) -> int:
    """Return the bytes of the largest block that a task holds at any stage."""
    extents = dict(zip(AXES, transform.exchanged))
    most = max(prod(-(-n // (grid.extent(division[axis]) if division[axis] else 1)) for axis, n in extents.items())
               for _, division in grid.decomposition.layouts)
    return most * transform.array_bytes


def shared_dict(shared: Shared, **more: Any) -> dict[str, Any]:
    """Return the figures for JSON, and `more`."""
    return {"tasks_per_node": shared.tasks, "threads": shared.threads, "messages_of_node": shared.messages,
            "message_bytes": shared.message_bytes, "node_bytes": shared.node_bytes, "table_entries_of_node": shared.peers,
            **more}
