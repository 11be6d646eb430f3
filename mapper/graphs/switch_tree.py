"""A tree of switches from a file that names switches and hosts, but neither cables nor speeds.

The number of cables upwards follows from an option, or is assumed: as many cables leave a switch as enter it from below.
A cable that passes a level, because the hosts below a switch are fewer levels below than others, goes through an implied
switch on this level, which is not counted.

NVIDIA topograph: the JSON of its engine ``graph``; its other outputs are Slurm's topology.conf and topology.yaml.

Each instance has the names of the switches above it, the nearest first. Source: docs/engines/graph.md of NVIDIA/topograph.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import GraphError, PencilmapError
from pencilmap.model.base.reading import parse_json
from pencilmap.model.network.graph import MOST_CABLES

OPTIONS = ("taper", "up", "core-taper")
MOST_LEVELS = 32
TOP = "top"  # name of a switch that a file implies
UNKNOWN_CABLES = "as many cables up as down are assumed"
ASSUMED = (UNKNOWN_CABLES + " for {label}, which tells none; write taper=2 (half as many) or up=8 (of "
           "each leaf) after the name of the file: {label},taper=2")
STATED = "the levels above a leaf {above}: {option} was given for {label}, which tells no cables"


@dataclass(frozen=True)
class Switch:
    """A switch of a file: its hosts or the switches below it, and the line that defines it."""

    name: str
    hosts: Sequence[str] = ()
    children: Sequence[str] = ()
    line: int | None = None


Refuse = Callable[[str, int | None], PencilmapError]


def tree(label: str, switches: Sequence[Switch], refuse: Refuse, taper: int | None = None, up: int | None = None,
         core_taper: int | None = None) -> Any:
    """Return the networkx graph of a tree, or of several trees; ``tops`` of the graph are the switches at their tops.

    Parameters
    ----------
    label : str
        Name of the file, for notes.
    switches : sequence of Switch
        In the order of the file.
    refuse : callable
        Message and line -> error to raise.
    taper : int, optional
        Cables that enter a switch from below for each cable upwards, at every level.
    up : int, optional
        Cables upwards of each leaf, in place of `taper`. Switches above them have as many cables upwards as enter from
        below.
    core_taper : int, optional
        The same as `taper` for the switches above the leaves alone.

    Raises
    ------
    PencilmapError
        If a switch is below two others or below itself, or a name is that of a host and a switch.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    named = {switch.name: switch for switch in switches}
    above = _above(named, refuse)
    height = _heights(named, refuse)
    levels = max(height.values(), default=0)
    graph = nx.Graph(notes=_notes(label, levels, taper, up, core_taper), tops=[name for name in named if name not in above])
    for switch in switches:
        for host in switch.hosts:
            if host in named:
                raise refuse(f"{host[:40]} is both a host and a switch", switch.line)
            graph.add_node(host, kind="host")
    graph.add_nodes_from(named, kind="switch")
    cables = _cables(named, height, taper, up, core_taper)
    for switch in switches:
        graph.add_edges_from(((switch.name, host) for host in switch.hosts), cables=1)
        if switch.name in above:
            _join(graph, switch.name, above[switch.name], height, cables[switch.name])
    return graph


def _above(named: dict[str, Switch], refuse: Callable[..., Any]) -> dict[str, str]:
    """Return the switch above each switch."""
    above: dict[str, str] = {}
    for name, switch in named.items():
        for child in switch.children:
            if child in above:
                raise refuse(f"switch {child[:40]} is below both {above[child][:40]} and {name[:40]}; name the switches "
                             "that share the switches below as one switch", switch.line)
            above[child] = name
    return above


def _heights(named: dict[str, Switch], refuse: Callable[..., Any]) -> dict[str, int]:
    """Return the levels below each switch."""
    height: dict[str, int] = {}
    waiting = [(name, False) for name in named]
    begun = set()
    while waiting:
        name, ready = waiting.pop()
        if name in height:
            continue
        if ready:
            height[name] = 1 + max((height[child] for child in named[name].children), default=-1)
            if height[name] >= MOST_LEVELS:
                raise refuse(f"switch {name[:40]} is on level {height[name]}; at most {MOST_LEVELS} levels are read",
                             named[name].line)
        elif name in begun:
            raise refuse(f"switch {name[:40]} is below itself", named[name].line)
        else:
            begun.add(name)
            waiting.append((name, True))
            waiting += [(child, False) for child in named[name].children if child not in height]
    return height


def _cables(named: dict[str, Switch], height: dict[str, int], taper: int | None, up: int | None,
            core_taper: int | None) -> dict[str, int]:
    """Return the cables upwards of each switch."""
    cables: dict[str, int] = {}
    for name in sorted(named, key=height.__getitem__):
        switch = named[name]
        below = len(switch.hosts) + sum(cables[child] for child in switch.children)
        ratio = core_taper if core_taper and height[name] else taper or 1
        cables[name] = min(MOST_CABLES, max(1, up if up and not height[name] else -(-below // ratio)))
    return cables


def _join(graph: Any, name: str, above: str, height: dict[str, int], cables: int) -> None:
    """Add the cables to the switch above, through an implied switch on each level that this switch does not reach."""
    chain = [name, *(f"{name}+{level}" for level in range(1, height[above] - height[name]))]
    graph.add_nodes_from(chain[1:], kind="switch", implied=True)
    for lower, upper in zip(chain, [*chain[1:], above]):
        graph.add_edge(lower, upper, cables=cables)


def _notes(label: str, levels: int, taper: int | None, up: int | None, core_taper: int | None) -> list[str]:
    """The notes about assumed cables; `levels` are those between switches."""
    if taper is None and up is None:
        return [ASSUMED.format(label=label)]
    if core_taper or levels < 2:
        return []
    option, above = (f"up={up}", "have as many cables up as from below") if up else (f"taper={taper}", "have the same taper")
    return [STATED.format(label=label, option=option, above=f"{above} (core-taper=K gives another)")]


def without_implied(graph: Any) -> Any:
    """Return the graph with one cable in place of two cables and the implied switch between them.

    Parameters
    ----------
    graph : networkx.Graph
        Vertices with the attribute ``implied`` have two neighbours.
    """
    implied = [v for v, data in graph.nodes(data=True) if data.get("implied")]
    graph = graph.copy() if implied else graph
    for v in implied:
        (a, data), (b, _) = graph.adj[v].items()
        graph.remove_node(v)
        graph.add_edge(a, b, **data)
    return graph


def option(label: str, given: Mapping[str, str]) -> dict[str, int]:
    """Return the options that a file name carries, checked.

    >>> option("topology.conf", {"taper": "2"})
    {'taper': 2}
    """
    if "taper" in given and "up" in given:
        raise GraphError(f"{label}: give taper=RATIO or up=CABLES, one of both")
    for name, text in given.items():
        if not (text.isascii() and text.isdecimal() and len(text) < 7 and int(text)):
            raise GraphError(f"{label}: {name}={text[:20]} is not a whole number of 1 or more; write taper=3 "
                             "for 3:1, or up=CABLES for another ratio")
    return {name.replace("-", "_"): int(text) for name, text in given.items()}


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
        instances = [(str(instance["id"]), [str(layer) for layer in instance["network_layers"]])
                     for instance in parse_json(document.text)["instances"]]
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
