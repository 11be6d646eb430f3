"""The image of a row and a column in the torus, as in Fig. 4 to 6 of Jagode, Hein, Trew, UT-CS-08-613 (2008).

This holds for pencils; other decompositions show the image of a group along each dimension of the process grid.

Three dimensions make a lattice: the first to the right, the second up, the third into the page. The slant of the parallel
projection is chosen so that no node hides another. Each combination of further coordinates is a lattice of its own. If
there are more than three dimensions, the longest three make the lattices. Nodes shrink with their depth. Dimensions with a
single node are omitted. Short dotted ends of lines mean that the dimension closes to a ring.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product as cartesian
from math import atan2, ceil, degrees, hypot, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import counted
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.scripts.pictures import canvas
from pencilmap.scripts.pictures.canvas import Target, figure, heading, save

MAX_NODES, MAX_PANELS = 20_000, 64
STUB = 0.33                                        # of the distance of two nodes
GAP = 1.3                                          # between lattices, in distances of nodes
MAX_STEP = 0.6                                     # inches between neighbours
SMALL = 0.6                                        # of the largest possible size of the lattices
LEFT, RIGHT, BELOW, ABOVE = 0.75, 0.45, 0.45, 0.36  # inches for labels around the lattices
LETTER = 0.062                                     # inches, mean width at this size
KEY = 0.48                                         # inches of a mark of the legend with its surroundings


@dataclass(frozen=True)
class Lattices:
    """The position of each node of a torus in the picture, in distances of nodes."""

    torus: Torus

    @cached_property
    def drawn(self) -> list[int]:
        """Dimensions of a lattice: the three longest, in order."""
        longest = sorted(range(self.torus.n_dimensions), key=lambda i: (-self.torus.shape[i], i))
        return sorted(i for i in longest[:3] if self.torus.shape[i] > 1) or [0]

    @cached_property
    def further(self) -> list[int]:
        """Dimensions that make further lattices."""
        return [i for i, n in enumerate(self.torus.shape) if n > 1 and i not in self.drawn]

    @cached_property
    def steps(self) -> Floats:
        """Right and up of a step in each drawn dimension: float array, shape (len(drawn), 2)."""
        depth = self.torus.shape[self.drawn[2]] if len(self.drawn) == 3 else 1
        return np.array([(1.0, 0.0), (0.0, 1.0), _slant(depth)])[:len(self.drawn)]

    @cached_property
    def size(self) -> Floats:
        """Width and height of a lattice."""
        return (np.array([self.torus.shape[i] - 1 for i in self.drawn])[:, None] * self.steps).sum(axis=0)

    @cached_property
    def panels(self) -> list[tuple[int, ...]]:
        """Further coordinates of every lattice, the first coordinate fastest: list of tuples."""
        extents = [range(self.torus.shape[i]) for i in reversed(self.further)]
        return [values[::-1] for values in cartesian(*extents)]

    def label(self, values: tuple[int, ...]) -> str:
        """Return the further coordinates of a lattice in words."""
        return ", ".join(f"{self.torus.axes[i]} = {value}" for i, value in zip(self.further, values))

    @cached_property
    def columns(self) -> int:
        """Lattices side by side: a full cycle of the leading further dimensions per row, if the picture stays large."""
        if not self.further:
            return 1
        fitting = range(1, min(len(self.panels), max(1, int((canvas.WIDTH - LEFT - RIGHT) / self._label_inches))) + 1)
        largest = max(self._step(c) for c in fitting)
        turns = [prod(self.torus.shape[i] for i in self.further[:k]) for k in range(len(self.further) + 1)]
        return max(fitting, key=lambda c: (c in turns and self._step(c) >= SMALL * largest, round(self._step(c), 2), -c))

    @property
    def rows(self) -> int:
        return ceil(len(self.panels) / self.columns)

    @cached_property
    def step(self) -> float:
        """Inches between neighbours."""
        return self._step(self.columns)

    @cached_property
    def pitch(self) -> Floats:
        """Right and up from one lattice to the next."""
        return np.maximum(self.size + GAP, (self._label_inches / self.step, 0))

    @property
    def _label_inches(self) -> float:
        return max(len(self.label(values)) for values in self.panels) * LETTER + 0.1

    def _step(self, columns: int) -> float:
        rows = ceil(len(self.panels) / columns)
        room = (canvas.WIDTH - LEFT - RIGHT, canvas.TALLEST - ABOVE - BELOW - 0.8)
        return min(MAX_STEP, *(inches / (count * (size + GAP) - GAP + STUB)
                               for inches, count, size in zip(room, (columns, rows), self.size)))

    @property
    def box(self) -> Floats:
        """Width and height of all lattices."""
        return (np.array([self.columns, self.rows]) - 1) * self.pitch + self.size

    def corner(self, panel: ArrayLike) -> Floats:
        """Return right and up of the first node of each lattice, by its number: shape ``panel.shape + (2,)``."""
        panel = np.asarray(panel)
        return np.stack([panel % self.columns, self.rows - 1 - panel // self.columns], axis=-1) * self.pitch

    def screen(self, coordinates: ArrayLike) -> Floats:
        """Return right and up of nodes: float array, shape ``coordinates.shape[:-1] + (2,)``."""
        coordinates = np.asarray(coordinates)
        panel, stride = np.zeros(coordinates.shape[:-1], dtype=np.int64), 1
        for i in self.further:
            panel += coordinates[..., i] * stride
            stride *= self.torus.shape[i]
        return coordinates[..., self.drawn] @ self.steps + self.corner(panel)

    def nearness(self, coordinates: Ints) -> Floats:
        """Return 1 for nodes in front, less for nodes behind."""
        if len(self.drawn) < 3:
            return np.ones(coordinates.shape[:-1])
        return 1 - 0.35 * coordinates[..., self.drawn[2]] / (self.torus.shape[self.drawn[2]] - 1)


def _slant(depth: int) -> tuple[float, float]:
    """Return right and up of a step into the page: no node hides another, no line overlaps another."""
    def clearance(step: tuple[float, float]) -> float:
        apart = [[abs(k * s - round(k * s)) for s in step] for k in range(1, depth)]
        return min((min(2.5 * min(a), hypot(*a)) for a in apart), default=1.0)

    candidates = [(right / 100, up / 100) for right in range(28, 57) for up in range(14, 41)]
    return max(candidates, key=lambda step: (round(clearance(step), 3), -hypot(*step)))


def draw_image(mapping: Mapping, numbers: dict[str, int], path: Target, title: str) -> None:
    """Draw the nodes of a group along each dimension of the grid.

    `numbers` selects the group, by the name of the dimension: of pencils 0 <= row < C and 0 <= column < R.

    Raises
    ------
    FigureError
        If there is no such group, or if the torus is too large for a picture.
    """
    torus, groups = mapping.network, groups_of(mapping, numbers)
    lattices = Lattices(as_torus(torus))
    panels = prod(torus.shape[i] for i in lattices.further)
    if torus.n_nodes > MAX_NODES or panels > MAX_PANELS:
        raise FigureError(f"torus {torus} has {torus.n_nodes} nodes and needs {panels} lattices; a picture takes "
                          f"{MAX_NODES} nodes and {MAX_PANELS} lattices at most; draw a smaller `network`")
    empty = np.setdiff1d(np.arange(torus.n_nodes), mapping.node_of_rank)
    legend = _legend(groups, empty)
    with _page(lattices, title, sum(len(text) * LETTER + KEY for text in legend.values())) as (drawn, axes):
        _lattice_lines(axes, lattices)
        _nodes(axes, lattices, groups, empty)
        _labels(axes, lattices)
        looks = looks_of(groups)
        from matplotlib.lines import Line2D

        marks = [Line2D([], [], color=looks[what][0], marker=looks[what][1], markersize=5,
                        linewidth=1.3 * (what not in LOOK), label=text) for what, text in legend.items()]
        drawn.legend(handles=marks, loc="lower center", ncols=len(legend), columnspacing=1.5)
        save(drawn, path)


def groups_of(mapping: Mapping, numbers: dict[str, int]) -> dict[str, tuple[int, Ints]]:
    """Return the group along each dimension of the grid, selected by `numbers`, and the nodes of its ranks.

    Raises
    ------
    FigureError
        If there is no such group.
    """
    grid, groups = mapping.grid, {}
    for dimension in grid.decomposition.dimensions:
        what, ranks = dimension.name, grid.groups(dimension.letter)
        number = numbers[what]
        if not 0 <= number < len(ranks):
            raise FigureError(f"{what} {number}: grid {grid} has {what}s 0..{len(ranks) - 1}")
        groups[what] = number, mapping.node_of_rank[ranks[number]]
    return groups


@contextmanager
def _page(lattices: Lattices, title: str, narrowest: float) -> Iterator[tuple[Any, Any]]:
    """Return a figure with the size of the lattices and the legend, with axes in distances of nodes."""
    width, height = lattices.box * lattices.step + (LEFT + RIGHT, ABOVE + BELOW)
    page = max(narrowest, width)
    top, bottom = heading(title, page)[1], 0.35
    with figure(height + top + bottom, page, layout=None) as drawn:
        axes = drawn.add_axes(((page - width) / 2 / page, bottom / (height + top + bottom), width / page,
                               height / (height + top + bottom)))
        axes.set_axis_off()
        axes.set_xlim(-LEFT / lattices.step, lattices.box[0] + RIGHT / lattices.step)
        axes.set_ylim(-BELOW / lattices.step, lattices.box[1] + ABOVE / lattices.step)
        drawn.text(0.5, 1 - 0.06 / (height + top + bottom), heading(title, page)[0], ha="center", va="top", fontsize=8)
        yield drawn, axes


def _lattice_lines(axes: Any, lattices: Lattices) -> None:
    """Draw every line of the lattice whole; the ends of rings are slightly longer."""
    from matplotlib.collections import LineCollection

    torus = lattices.torus
    coordinates = torus.coordinates(np.arange(torus.n_nodes))
    lines, stubs = [], []
    for i, step in zip(lattices.drawn, lattices.steps):
        start = lattices.screen(coordinates[coordinates[:, i] == 0])
        end = start + step * (torus.shape[i] - 1)
        lines.append(np.stack([start, end], axis=1))
        if torus.is_ring(i):
            stubs += [np.stack([start, start - step * STUB], axis=1), np.stack([end, end + step * STUB], axis=1)]
    axes.add_collection(LineCollection(np.concatenate(lines), colors=canvas.PALE, linewidths=0.5, zorder=1, gid="links"))
    if stubs:
        axes.add_collection(LineCollection(np.concatenate(stubs), colors=canvas.PALE, linewidths=0.5,
                                           linestyles=(0, (1.5, 1.5)), zorder=1, gid="ring-ends"))


# colour, marker, size in distances of nodes
GROUP_LOOKS = ((canvas.BLUE, "o", 0.26), (canvas.VERMILLION, "s", 0.22), (canvas.GREEN, "^", 0.24))
LOOK = {"both": (canvas.BLACK, "D", 0.24), "other": (canvas.GREY, "o", 0.07), "empty": (canvas.GREY, "x", 0.14)}


def looks_of(groups: Iterable[str]) -> dict[str, tuple[str, str, float]]:
    """Return colour, marker and size, in distances of nodes, of each kind: a group, or "both", "other", "empty"."""
    return {**dict(zip(groups, GROUP_LOOKS)), **LOOK}


def _nodes(axes: Any, lattices: Lattices, groups: Any, empty: Ints) -> None:
    """Draw the marks of all nodes: of each group, of other nodes, and of nodes without a task."""
    kinds, looks = kinds_of_nodes(groups), looks_of(groups)
    rest = np.setdiff1d(np.arange(lattices.torus.n_nodes), np.concatenate([*kinds.values(), empty]))
    _scatter(axes, lattices, rest, "other-nodes", 2, *looks["other"])
    _scatter(axes, lattices, empty, "empty-nodes", 2, *looks["empty"])
    for level, what in enumerate(reversed(groups)):
        _links_between(axes, lattices, np.unique(groups[what][1]), looks[what][0], f"{what}-links", 3 + level)
    for what, nodes in kinds.items():
        _scatter(axes, lattices, nodes, f"{what}-nodes", 6 if what == "both" else 5, *looks[what])


def kinds_of_nodes(groups: dict[str, tuple[int, Ints]]) -> dict[str, Ints]:
    """Return the nodes of each group alone, and of several."""
    nodes, count = np.unique(np.concatenate([np.unique(group) for _, group in groups.values()]), return_counts=True)
    alone = {what: np.intersect1d(group, nodes[count == 1]) for what, (_, group) in groups.items()}
    return {**alone, "both": nodes[count > 1]}


def _scatter(axes: Any, lattices: Lattices, nodes: Ints, name: str, level: int, colour: str, marker: str,
             size: float) -> None:
    """Draw the marks of a kind; marks of equal depth are a group, so that the file holds their shape once."""
    coordinates = lattices.torus.coordinates(nodes).reshape(-1, lattices.torus.n_dimensions)
    where, nearness = lattices.screen(coordinates), lattices.nearness(coordinates)
    for depth, near in enumerate(np.unique(nearness)[::-1]):
        points = min(9.0, size * lattices.step * 72) * near
        axes.scatter(*where[nearness == near].T, s=points**2, c=colour, marker=marker, linewidths=0.6 * (marker == "x"),
                     zorder=level - 0.01 * depth, gid=f"{name}-{depth}", clip_on=False)


def _links_between(axes: Any, lattices: Lattices, nodes: Ints, colour: str, name: str, level: int) -> None:
    """Draw links between neighbours of an image, which make its shape visible."""
    from matplotlib.collections import LineCollection

    torus = lattices.torus
    coordinates = torus.coordinates(nodes)
    segments = []
    for i in lattices.drawn:
        inner = nodes[coordinates[:, i] < torus.shape[i] - 1]
        linked = inner[np.isin(inner + torus.strides[i], nodes)]
        ends = np.stack([linked, linked + torus.strides[i]], axis=1)
        segments.append(lattices.screen(torus.coordinates(ends)))
    lines = np.concatenate(segments)
    if len(lines):
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=1.3, zorder=level, gid=name))


def _labels(axes: Any, lattices: Lattices) -> None:
    """Write letter and range of each dimension at the lattice in the lower left, further coordinates above each lattice."""
    torus, unit = lattices.torus, 1 / lattices.step
    sides = [("center", "top", (0, -0.25 * unit)), ("right", "center", (-0.25 * unit, 0)),
             ("center", "top", (torus.shape[lattices.drawn[0]] - 1 + 0.06 * unit, -0.08 * unit))]
    for k, ((horizontal, vertical, shift), i, step) in enumerate(zip(sides, lattices.drawn, lattices.steps)):
        middle = step * (torus.shape[i] - 1) / 2 + shift
        axes.text(*middle, f"{torus.axes[i]} = 0..{torus.shape[i] - 1}", ha=horizontal, va=vertical,
                  rotation=degrees(atan2(step[1], step[0])) if k == 2 else 0, rotation_mode="anchor")
    for number, values in enumerate(lattices.panels):
        where = np.add(lattices.corner(number), (lattices.size[0] / 2, lattices.size[1] + 0.4))
        axes.text(*where, lattices.label(values), ha="center", va="bottom")


def _legend(groups: Any, empty: Ints) -> dict[str, str]:
    """Return the meaning of each mark by kind."""
    meaning = {what: f"{what} {number}: {counted(len(nodes), 'task')} on {counted(len(np.unique(nodes)), 'node')}"
               for what, (number, nodes) in groups.items()}
    if len(kinds_of_nodes(groups)["both"]):
        meaning["both"] = "in both"
    if len(empty):
        meaning["empty"] = "no task"
    return meaning
