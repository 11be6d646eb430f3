"""A small picture for a terminal: the nodes of a row and a column."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import counted
from pencilmap.model.placement.mapping import Mapping
from pencilmap.scripts.pictures.figures.image import groups_of, kinds_of_nodes

MOST_LINES = 14                # of the planes, so that the answer, legend and prompt fit the same screen of 24 lines
MARKS = ("●", "■", "▲")        # of a group of each kind, as in figures and reports
BOTH, OTHER, EMPTY = "◆", "·", "x"
BETWEEN = 4                    # columns between planes side by side


def image_text(mapping: Mapping, numbers: dict[str, int], width: int) -> list[str]:
    """Draw nodes of a torus as planes, the first dimension to the right and the second up, at most `width` columns wide.

    >>> from pencilmap.mapper.placements import place
    >>> from pencilmap.model.placement.allocation import Site
    >>> from pencilmap.model.placement.grid import parse_grid
    >>> from pencilmap.model.network.torus import parse_torus
    >>> lines = place("line", Site(parse_torus("4x3")), parse_grid("4x3")).mapping("line")
    >>> print("\\n".join(image_text(lines, {"row": 0, "column": 0}, 80)))
    y
    2  ■ · · ·
    1  ■ · · ·
    0  ◆ ● ● ●
       0     3 x
    <BLANKLINE>
    ● row 0: 4 ranks on 4 nodes   ■ column 0: 3 ranks on 3 nodes   ◆ in both
    """
    if not mapping.network.has_coordinates:
        raise FigureError(f"{mapping.network} has no coordinates; `what` graph shows its links")
    torus = mapping.network
    groups = groups_of(mapping, numbers)
    mark = np.full(torus.n_nodes, EMPTY)
    mark[np.unique(mapping.node_of_rank)] = OTHER
    kinds = kinds_of_nodes(groups)
    for sign, name in zip(MARKS, groups):
        mark[kinds[name]] = sign
    mark[kinds["both"]] = BOTH
    strength = EMPTY + OTHER + "".join(reversed(MARKS)) + BOTH
    return [*planes_text(torus, mark, width, strength), "",
            *_legend(groups, bool(len(kinds["both"])), EMPTY in mark, width)]


@dataclass(frozen=True)
class Blocks:
    """A coarser torus, whose nodes are blocks of nodes. It has the members of a torus that `_plane` needs."""

    shape: tuple[int, ...]
    axes: str
    edges: tuple[int, ...]   #: nodes of a block along each dimension
    extents: tuple[int, ...]  #: nodes of the torus along each dimension

    def node(self, at: Sequence[int]) -> int:
        """Return the number of a block, the first dimension fastest."""
        return int(np.ravel_multi_index(tuple(at), self.shape, order="F"))

    def span(self, i: int, at: int) -> str:
        """Return the coordinates of a block along a dimension."""
        first, last = at * self.edges[i], min(self.extents[i], (at + 1) * self.edges[i]) - 1
        return str(first) if first == last else f"{first}-{last}"


def planes_text(torus: Any, mark: np.ndarray, width: int, strength: str, most: int = MOST_LINES) -> list[str]:
    """Draw a mark for each node as planes side by side, as `image_text` does.

    If the planes do not fit a screen, a mark stands for a block of nodes.

    Parameters
    ----------
    torus : Torus or TwistedTorus
    mark : array of letters, shape (N,)
    width : int
        Columns of the terminal.
    strength : str
        The marks; a block shows the last of these among its nodes.
    most : int
        Lines of the screen.
    """
    edges = [1] * len(torus.shape)
    while True:
        blocks = Blocks(tuple(-(-n // edge) for n, edge in zip(torus.shape, edges)), torus.axes, tuple(edges),
                        tuple(torus.shape))
        if prod(blocks.shape) <= most * width:
            lines = _planes(blocks, np.full(prod(blocks.shape), strength[0]), width)
            if len(lines) <= most and max(map(len, lines)) <= width:
                break
        edges[max(range(len(edges)), key=lambda i: (blocks.shape[i], -i))] += 1
    lines = _planes(blocks, _coarse(torus, mark, blocks, strength), width)
    if max(edges) > 1:
        shown = " ".join(sign for sign in reversed(strength) if sign in mark)
        lines += ["", f"a mark stands for {'x'.join(map(str, edges))} nodes: the first of {shown} among them"]
    return lines


def _coarse(torus, mark, blocks, strength):
    """Return the mark of each block."""
    coordinates = torus.coordinates(np.arange(torus.n_nodes)) // np.array(blocks.edges)
    number = np.ravel_multi_index(tuple(coordinates.T), blocks.shape, order="F")
    strongest = np.zeros(int(np.prod(blocks.shape)), dtype=int)
    np.maximum.at(strongest, number, sum((mark == sign) * i for i, sign in enumerate(strength)))
    return np.array(list(strength))[strongest]


def _planes(torus, mark, width):
    seen = [i for i, n in enumerate(torus.shape) if n > 1] or [0]
    right, up, further = seen[0], seen[1] if len(seen) > 1 else None, seen[2:]
    planes = [_plane(torus, mark, right, up, dict(zip(further, reversed(at))))
              for at in product(*(range(torus.shape[i]) for i in reversed(further)))]
    return _side_by_side(planes, width)


def _plane(torus, mark, right, up, at):
    """Draw a plane of blocks: its further coordinates above, the axes at the sides."""
    rows, title = torus.shape[up] if up is not None else 1, " ".join(f"{torus.axes[i]}={torus.span(i, value)}"
                                                                     for i, value in at.items())
    lines = [title] if at else []
    margin = len(str((rows - 1) * torus.edges[up])) + 2 if up is not None else 0
    if up is not None:
        lines.append(torus.axes[up] if not at else f"{torus.axes[up]}  {lines.pop()}")
    for y in reversed(range(rows)):
        nodes = [torus.node(tuple(at.get(i, {right: x, up: y}.get(i, 0)) for i in range(len(torus.shape))))
                 for x in range(torus.shape[right])]
        number = str(y * torus.edges[up]).rjust(margin - 2) + "  " if up is not None else ""
        lines.append(number + " ".join(mark[nodes]))
    last = str((torus.shape[right] - 1) * torus.edges[right])
    lines.append(" " * margin + "0" + last.rjust(2 * torus.shape[right] - 2) + f" {torus.axes[right]}")
    return lines


def _side_by_side(planes: Sequence[Sequence[str]], width: int) -> list[str]:
    column = max(len(line) for plane in planes for line in plane)
    beside, found = max(1, (width + BETWEEN) // (column + BETWEEN)), []
    for start in range(0, len(planes), beside):
        found += [""] * bool(start)
        found += [(" " * BETWEEN).join(line.ljust(column) for line in lines).rstrip()
                  for lines in zip(*planes[start:start + beside])]
    return found


def _legend(groups, both, empty, width):
    """Return the meanings of the marks, in as many lines as they need."""
    said = [f"{sign} {name} {number}: {counted(len(nodes), 'rank')} on {counted(len(np.unique(nodes)), 'node')}"
            for sign, (name, (number, nodes)) in zip(MARKS, groups.items())]
    lines = [""]
    for part in [*said, *([f"{BOTH} in both"] if both else []), *([f"{EMPTY} no task"] if empty else [])]:
        beside = f"{lines[-1]}   {part}".strip()
        lines = [*lines[:-1], beside] if len(beside) <= width or not lines[-1] else [*lines, part]
    return lines
