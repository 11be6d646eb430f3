"""NVIDIA topograph: the JSON of its engine ``graph``; its other outputs are Slurm's topology.conf and topology.yaml.

Each instance has the names of the switches above it, the nearest first. Source: docs/engines/graph.md of NVIDIA/topograph.
"""

import itertools
from typing import Any

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.switch_tree import Switch, tree
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import parse_json


def looks_like(document: Document) -> bool:
    text = document.text
    return text.lstrip().startswith("{") and '"instances"' in text and '"network_layers"' in text


def read(document: Document, **cables: int) -> Any:
    """Return the tree above the instances.

    Raises
    ------
    GraphError
        If the document is not topograph's JSON.
    """
    try:
        instances = [(str(each["id"]), [str(layer) for layer in each["network_layers"]])
                     for each in parse_json(document.text)["instances"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        line = f" line {error.lineno}" if hasattr(error, "lineno") else ""
        raise GraphError(f"{document.label}{line} is not topograph's JSON: {type(error).__name__}: "
                         f"{str(error)[:120]}") from error
    hosts: dict[str, dict[str, None]] = {}
    below: dict[str, dict[str, None]] = {}
    for name, layers in instances:
        if not layers:
            raise document.refuse(f"instance {name[:40]!r} has no network_layers", None)
        hosts.setdefault(layers[0], {})[check_name(name)] = None
        for lower, upper in itertools.pairwise(layers):
            below.setdefault(upper, {})[lower] = None
    if mixed := next((name for name in hosts if name in below), None):
        raise document.refuse(f"switch {mixed[:40]} has instances and switches below it", None)
    switches = [Switch(name, tuple(hosts.get(name, ())), tuple(below.get(name, ()))) for name in [*hosts, *below]]
    return tree(document.label, switches, document.refuse, **cables)
