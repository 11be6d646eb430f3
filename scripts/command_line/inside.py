"""The inside of the nodes: `--node` of map and check."""

from collections.abc import Sequence
from os.path import exists
from pathlib import Path
from typing import Any

import click

from pencilmap.mapper.ask import node_cores
from pencilmap.mapper.base.search import Search
from pencilmap.mapper.formats import FORMATS, Job, format_named
from pencilmap.mapper.formats.format import NODE
from pencilmap.mapper.inside import Inside, Messages, place_inside
from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.units import amount, capitalised
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import decomposition_of, grid_in_words, is_in_words, parse_grid
from pencilmap.scripts.command_line.pages import FILES
from pencilmap.scripts.command_line.predictions import SAME

OPTION = click.option("--node", metavar="FILE|this", shell_complete=FILES,
                      help="lstopo --of xml of a node, or this node: ranks are also placed and bound inside the nodes. "
                      "Without a network the job is one node.")


def on_one_node(given: dict[str, Any], asked: dict[str, Any]) -> None:
    """Ask about a single node, if a node is described and no network is named; its tasks are those of traffic or grid."""
    if not given.get("node") or any(asked.get(name) for name in ("machine", "network", "nodes")):
        return
    asked["network"] = "1"
    if asked.get("tasks_per_node"):
        return
    traffic, grid = given.get("traffic"), given.get("grid")
    if traffic:
        asked["tasks_per_node"] = read_traffic(traffic if isinstance(traffic, str) else name_and_file(traffic[0])[1]).n_ranks
    elif grid and is_in_words(grid):
        asked["tasks_per_node"] = grid_in_words(grid).n_tasks
    elif grid:
        asked["tasks_per_node"] = parse_grid(grid, decomposition_of(grid)).n_tasks
    else:
        asked["tasks_per_node"] = node_cores(given["node"])


def name_and_file(text: str) -> tuple[str, str]:
    """Return name and file of a trace, `[NAME=]FILE`; without a name that of the file."""
    name, equals, file = text.partition("=")
    return (name, file or text) if equals and not exists(text) else (Path(text).name, text)


def placed_inside(mapping: Mapping, messages: Messages, job: Job, form: str, within: Search | None,
                  in_bytes: bool = True) -> Inside | None:
    """Return the placement inside the nodes for a format; None if no node is described.

    Raises
    ------
    MapfileError
        If launchers that read the format bind no ranks.
    """
    if job.node is None:
        return None
    binds = format_named(form).binds
    if within and not binds:
        raise MapfileError(f"format {form} binds no ranks to cores; write one of "
                           f"{', '.join(name for name, other in FORMATS.items() if other.binds)} with `node`")
    return place_inside(mapping, messages, job, binds == NODE, within, in_bytes)


def is_alone(inside: Inside | None) -> bool:
    """Whether the job is a single node, so that there is nothing to say about links between nodes."""
    return inside is not None and inside.mapping.network.n_nodes == 1


def has_gain(inside: Inside | None) -> bool:
    """Whether a placement inside the nodes needs its file."""
    return inside is not None and inside.gain >= 1 + SAME


def inside_as_dict(inside: Inside | None) -> dict[str, Any]:
    """Return JSON values; none without a described node."""
    return {"inside": inside.as_dict()} if inside else {}


def sentences(between: Sequence[str], gain: str, file: str, inside: Inside | None) -> list[str]:
    """Return the sentences of an answer with those about the inside of the nodes, the gain of each level apart.

    Parameters
    ----------
    between : sequence of str
        Sentences about the links between the nodes.
    gain : str
        Between the nodes, as "1.31x faster"; "" if no file is needed there.
    file : str
    inside : Inside, optional
    """
    if inside is None:
        return list(between)
    if not has_gain(inside):
        nothing = f"{_nothing(inside)}."
        return [capitalised(nothing), *_amounts(inside)] if is_alone(inside) else \
            [*_between(between), f"Inside the nodes {nothing}", *_amounts(inside)]
    if is_alone(inside):
        return [f"{file} gains {inside.gain:.2f}x inside the node (predicted).", *_amounts(inside)]
    said = f"{file} gains {inside.gain:.2f}x inside the nodes, {gain.removesuffix(' faster') or 'nothing'} between them " \
           "(predicted)."
    return [said, *_between(between), *_amounts(inside)]


def _between(said: Sequence[str]) -> list[str]:
    return [sentence.replace("No file is needed", "Between the nodes no file is needed", 1) for sentence in said]


def of_file(between: Sequence[str], file: str, inside: Inside | None) -> list[str]:
    """Return the sentences about a file that is checked; `between` are those about the links between the nodes."""
    if inside is None or not inside.first.hop_bytes:
        return list(between)
    ratio = f"{inside.gain:.2f}x fewer bytes times hops than" if has_gain(inside) else \
        f"{1 / inside.gain:.2f}x more bytes times hops than" if inside.gain < 1 - SAME else "as many bytes times hops as"
    said = [f"{file} is valid, with {ratio} {inside.order} (predicted)."] if is_alone(inside) else \
        [*between, f"Inside the nodes {ratio} {inside.order}."]
    return [*said, *_amounts(inside)]


def _nothing(inside: Inside) -> str:
    if not inside.first.hop_bytes:
        return "no rank sends to another"
    return f"no file is needed if the launcher binds {inside.order}: nothing has {1 + SAME:.2f}x fewer bytes times hops"


def _amounts(inside: Inside) -> list[str]:
    """Return a sentence with the bytes of a placement and of the usual order."""
    first, found = inside.first, inside.found
    if not first.hop_bytes:
        return []
    if not inside.in_bytes:
        if abs(inside.gain - 1) < SAME:
            return []
        package = "none" if inside.package_gain is None else f"{inside.package_gain:.2f}x fewer"
        return [f"Over {inside.order}, {inside.gain:.2f}x fewer bytes times hops inside, {package} over the busiest package "
                "link."]
    hops, package = (f"{amount(a)} {what}" + (f", not {amount(b)}" if amount(a) != amount(b) else "") for a, b, what in zip(
        found, first, ("times hops inside", "over the busiest package link")))
    return [f"Compared with {inside.order}: {hops}; {package}."]
