"""The places of a file alone, for `check` without grid and traffic: the nodes of the ranks, beside a launch order's."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pencilmap.mapper.formats import Job
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.base.units import counted
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.tables import echo, labelled, print_json, say


def check_places(where: Question, job: Job, mapping: Mapping, about: dict[str, Any], lines: Iterable[tuple[str, str]],
                 as_json: bool) -> None:
    """Print the ranks, nodes and tasks on the nodes of a placement file, and the ranks that a launch order puts elsewhere.

    `about` are the file, its format, and the launchers that accept the file; `lines` are labels and texts about launchers.
    """
    site, counts = replace(where.site, idle=True), np.unique(mapping.node_of_rank, return_counts=True)[1]
    least, most = int(counts.min()), int(counts.max())
    orders = {order: default(order, site, mapping.grid).node_of_rank for order in site.launch.orders}
    moved = {order: np.flatnonzero(nodes != mapping.node_of_rank) for order, nodes in orders.items()}
    if as_json:
        print_json({**about, "predictions": [], "ranks": mapping.n_tasks, "nodes": counts.size,
                    "ranks_on_a_node": [least, most], "moved": {order: ranks.size for order, ranks in moved.items()}})
        return
    file = about["file"]
    say(f"{file} is valid: {counted(mapping.n_tasks, 'rank')} on {counts.size} of "
        f"{counted(site.allocation.n_nodes, 'node')}, {least if least == most else f'{least} to {most}'} on each.")
    for order, ranks in moved.items():
        phrase = site.launch_phrase(order)
        if ranks.size:
            here, there = job.hosts.names([nodes[ranks[0]] for nodes in (mapping.node_of_rank, orders[order])])
            say(f"{counted(ranks.size, 'rank')} on other nodes than in {phrase}, the first is rank {ranks[0]}: {here}, not "
                f"{there}.")
        else:
            say(f"Each node has the same ranks as in {phrase}.")
    echo()
    usage = where.decomposition.usage
    labelled("next", f"for loads and gains add --grid {usage} of an FFT, or --traffic FILE of the program")
    for line in lines:
        labelled(*line)
