"""Pictures for a terminal: the loads of cables as a table, and the nodes of a row and a column in planes.

The table has a line for each dimension, leaf or group, and a column for each exchange.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.mapper.place import place
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import counted, plural
from pencilmap.model.kinds import default_routing, routing as routing_named
from pencilmap.model.network.graph import GraphNetwork, Level
from pencilmap.model.network.network import CoordinateNetwork
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.scripts.pictures.image import groups_of, kinds_of_nodes

MOST_ROWS = 14            # so that verdict, table and prompt fit a screen of 24 lines
WIDTH, LABEL = 80, 24     # columns of a terminal, and of a name
FULL, WIDEST = "█", 12    # of a bar
UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
DEFAULT = "default"
DIMENSION, OTHER = "dimension", "other"  # kinds of bands
NODE_DATA = "times the data of a node", "on a cable"


@dataclass(frozen=True)
class Band:
    """Units of a kind, each with the busiest of its cables."""

    kind: str          #: "leaf", for a line that counts several
    names: Sequence[str]
    which: str         #: words about the cables: " up, down"
    values: Floats = field(repr=False)  #: shape (columns, units)
    unit_of_host: Ints | None = field(default=None, repr=False)


@dataclass(frozen=True)
class LoadRows:
    """The busiest cables of a network, both directions together, the busiest units first.

    Parameters
    ----------
    unit : str
        "MB"; "" if loads are in the data of a node.
    size : float
        Bytes, or data of a node, of the unit.
    digits : int
        Decimals of the numbers.
    rows : sequence of (str, array, str)
        Units with the same loads in words, a value for each column, and the hosts of the job in them. The last row of a
        level counts its others.
    idle : str
        The units without load in words.
    """

    unit: str
    size: float
    digits: int
    rows: Sequence[tuple[str, Floats, str]]
    idle: str

    def number(self, value: float) -> str:
        """Return a value in the unit."""
        return f"{value / self.size:.{self.digits}f}" if value else "0"

    @property
    def top(self) -> float:
        return max((float(max(values)) for _, values, _ in self.rows), default=0.0)


def load_rows(loadses: Sequence[LinkLoads], with_bytes: bool, nodes: int, most: int = MOST_ROWS,
              job: Ints | None = None) -> LoadRows:
    """Return the rows of a table of the busiest cables, a column for each of some loads.

    Parameters
    ----------
    with_bytes : bool
        Whether the array has a size. Else the unit is the part of it that each of the `nodes` holds.
    nodes : int
        Usable nodes.
    most : int
        Rows for units.
    job : int array, optional
        Nodes of the job, whose number in the units of a row is told.
    """
    bands = [*(_dimensions if loadses[0].network.has_coordinates else _levels)(loadses[0].network, [
        np.asarray(loads.bytes(), dtype=float) * (1.0 if with_bytes else nodes / loads.total_bytes) for loads in loadses])]
    top = max((float(band.values.max(initial=0.0)) for band in bands), default=0.0)
    unit, size = next(((name, size) for name, size in UNITS if top >= size / 2), UNITS[-1]) if with_bytes else ("", 1.0)
    digits = max(0, 2 - int(np.floor(np.log10(top / size)))) if top > 0 else 0
    rows = [(band, _merged(band, size, digits, job)) for band in bands]
    return LoadRows(unit, size, digits, _chosen(rows, most), _idle(bands))


def loads_table(columns: Sequence[tuple[str, Sequence[tuple[str, LinkLoads]]]], with_bytes: bool, nodes: int,
                most: int = MOST_ROWS) -> list[str]:
    """Return the lines of a table of `load_rows`.

    Parameters
    ----------
    columns : sequence of (str, sequence of (str, LinkLoads))
        The name of each exchange, and for each of its columns a name ("before", "after") and the loads.
    with_bytes, nodes, most
        As for `load_rows`.
    """
    tables = [loads for _, named in columns for _, loads in named]
    table = load_rows(tables, with_bytes, nodes, most)
    labels = ("", f"{table.unit} a cable") if table.unit else NODE_DATA
    width = max(map(len, (*labels, *(name for name, *_ in table.rows))))
    numbers = [[table.number(value) for value in values] for _, values, _ in table.rows]
    figures = max((len(number) for row in numbers for number in row), default=1)
    room = (WIDTH - width) // len(tables) - 2
    heads = [name for _, named in columns for name, _ in named]
    bar = max(1, min(WIDEST, room - figures - 1))
    cell = max(figures + 1 + bar, *(len(name) for name in heads),
               *(-(-(len(name) + 2) // len(named)) - 2 for name, named in columns))
    lines = ["".join([labels[0].ljust(width), *(f"  {name.ljust(len(named) * (cell + 2) - 2)}" for name, named in columns)])]
    lines.append("".join([labels[1].ljust(width), *(f"  {name.ljust(cell)}" for name in heads)]))
    for (name, values, _), shown in zip(table.rows, numbers):
        bars = [FULL * (max(1, round(bar * value / table.top)) if float(number) else 0)
                for value, number in zip(values, shown)]
        cells = [f"{number.rjust(figures)} {mark}".ljust(cell) for number, mark in zip(shown, bars)]
        lines.append("  ".join([name.ljust(width), *cells]))
    if table.idle:
        lines.append(f"without load: {table.idle}")
    return [line.rstrip() for line in lines if line.strip()]


def loads_of(where: Question, mapping: Mapping, number: int, routing: str | None) -> LinkLoads:
    """Return the loads of an exchange of a placement."""
    rule = routing_named(routing or default_routing(mapping.network), mapping.network)
    return rule.loads(mapping.network, exchanges(mapping.grid, where.transform)[number], mapping.ends)


def busiest_exchange(where: Question, mapping: Mapping, routing: str | None) -> int:
    """Return the number of the exchange with the busiest cable, the first of equal ones."""
    moves = [loads_of(where, mapping, k, routing) if tasks > 1 else None for k, tasks in enumerate(mapping.grid.shape)]
    shares = [cable_loads(loads).max(initial=0.0) / loads.total_bytes if loads else 0.0 for loads in moves]
    return shares.index(max(shares))


def before_and_after(where: Question, mapping: Mapping, routing: str | None, is_compared: bool,
                     only: str | None = None, most: int = MOST_ROWS) -> list[str]:
    """Return the lines of the table of loads: each exchange that moves something, in the launch order and as placed."""
    grid = mapping.grid
    moves = [k for k, (name, tasks) in enumerate(zip(grid.decomposition.names, grid.shape))
             if (tasks > 1 if only is None else name == only)] or [0]
    placements = {"before": place(where, DEFAULT, grid).mapping(DEFAULT)} if is_compared else {}
    placements["after" if is_compared else ""] = mapping
    columns = [(plural(grid.decomposition.names[k], 2), [(name, loads_of(where, item, k, routing))
                                                         for name, item in placements.items()]) for k in moves]
    return loads_table(columns, where.transform is not None, where.site.allocation.n_nodes, most)


def cable_loads(loads: LinkLoads) -> Floats:
    """Return the bytes of a cable of each arc: float array, in the order of `arcs()`."""
    network: Any = loads.network
    index, cables = network.arcs().index, network.cables
    if network.has_coordinates:  # cables of each dimension
        cables = [cables[i] for i in (index // (2 * network.n_nodes)).tolist()]
    return np.asarray(loads.bytes(), dtype=float).reshape(-1)[index] / [float(c) for c in cables]


def _dimensions(network: Any, loads: Sequence[Floats]) -> Iterator[Band]:
    seen = [i for i, n in enumerate(network.shape) if n > 1]
    busiest = [[load[i].max() / network.cables[i] for i in seen] for load in loads]
    yield Band(DIMENSION, [network.axes[i] for i in seen], ", each way", np.array(busiest))


def _levels(network: Any, loads: Sequence[Floats]) -> Iterator[Band]:
    """Cables of hosts are one unit. Another cable belongs to the units of the largest level that it leaves or enters."""
    cables = np.array([float(strength) for strength in network.cables])
    values = np.array([load.reshape(-1)[network.place_of_link] / cables for load in loads])
    source, target, n = network.source, network.target, network.n_nodes
    left = np.arange(len(source))
    if len(network.vertices) > n:
        of_host = (source < n) | (target < n)
        left = np.flatnonzero(~of_host)
        yield Band("host", ["hosts"], "", values[:, of_host].max(axis=1, initial=0.0)[:, None])
    rows = []
    for level in reversed(network.levels or (_switches(network),)):
        ends = level.unit[source[left]], level.unit[target[left]]
        crossing = ends[0] != ends[1]
        busiest = np.zeros((len(loads), len(level.names)))
        for unit in ends:
            known = crossing & (unit >= 0)
            for row, item in zip(busiest, values[:, left[known]]):
                np.maximum.at(row, unit[known], item)
        upwards = bool((ends[0][crossing] < 0).any())
        if crossing.any():
            which = " up, down" if upwards else " in, out"
            rows.append(Band(unit_word(level), unit_names(network, level), which, busiest, level.unit[:n]))
        left = left[~crossing]
    yield from reversed(rows)
    if left.size:
        yield Band(OTHER, ["other cables"], "", values[:, left].max(axis=1)[:, None])


def _switches(network: GraphNetwork) -> Level:
    """Return the level of a network without levels: each switch is a unit, or each host if there are no switches."""
    n, total = network.n_nodes, len(network.vertices)
    first = n if total > n else 0
    return Level("switch" if first else "host", np.arange(total) - first if first == 0 else
                 np.where(np.arange(total) < n, -1, np.arange(total) - n), network.vertices[first:])


def unit_word(level: Level) -> str:
    """Return the word for a unit of a level; the levels of a HyperX have the letters of its axes."""
    return level.name if len(level.name) > 1 else f"{level.name} slice"


def unit_names(network: Any, level: Level) -> list[str]:
    """Return the name of each unit of a level: that of its switch, or its own if it has several switches."""
    of_switch = level.unit[network.n_nodes:]
    inside = np.flatnonzero(of_switch >= 0)
    count = np.bincount(of_switch[inside], minlength=len(level.names))
    switch = np.zeros(len(level.names), dtype=np.int64)
    switch[of_switch[inside]] = inside
    return [network.vertices[network.n_nodes + int(switch[unit])] if count[unit] == 1 else
            name if name.startswith(f"{level.name}=") else f"{level.name} {name}" for unit, name in enumerate(level.names)]


def _merged(band: Band, size: float, digits: int, job: Ints | None) -> list[tuple[str, Floats, str, list[int]]]:
    """Return (name, values, hosts, units) of units with the same values, the busiest first; dimensions in their order."""
    shown = np.round(band.values.T / size, digits)
    loaded = np.flatnonzero(band.values.max(axis=0, initial=0.0)).tolist()
    order = sorted(loaded, key=lambda unit: (-shown[unit].max(), *(-shown[unit]), unit))
    same = [list(units) for _, units in groupby(order, key=lambda unit: tuple(shown[unit]))]
    if band.kind == DIMENSION:
        same.sort()
    return [(units_title(band.kind, [band.names[unit] for unit in units], band.which), band.values[:, units].max(axis=1),
             _hosts(band.unit_of_host, units, job), units) for units in same]


def _hosts(unit_of_host: Ints | None, units: list[int], job: Ints | None) -> str:
    """Return how many hosts of the units belong to the job, "" without a job or without hosts in the units."""
    if unit_of_host is None or job is None:
        return ""
    sizes, held = (np.bincount(array[array >= 0], minlength=1 + max(units))[units]
                   for array in (unit_of_host, unit_of_host[np.unique(job)]))
    if not held.any():
        return ""
    least, most = int(held.min()), int(held.max())
    return f"{least if least == most else f'{least} to {most}'} of {counted(int(sizes.max()), 'host')}"


def units_title(kind: str, names: Sequence[str], which: str = "") -> str:
    """Return the names of up to three units if there is room, else their number; `which` are words about their cables.

    >>> units_title("group", ["group 0", "group 1"], " in, out")
    'groups 0 and 1 in, out'
    """
    names, many = list(names), plural(kind, len(names))
    number, start = len(names), f"{kind} "
    if number > 1 and all(name.startswith(start) for name in names):
        names = [name.removeprefix(start) for name in names]
        names[0] = f"{many} {names[0]}"
    *first, last = names
    title = (f"{', '.join(first)} and {last}" if first else last) + which
    if number > 3 or len(title) > LABEL:
        title = (f"{number} {many}" if first else last[:LABEL - len(which)]) + which
    return title


def _chosen(bands: list[tuple[Band, list[tuple[str, Floats, str, Any]]]], most: int) -> list[tuple[str, Floats, str]]:
    """Return name and values of at most `most` lines, the busiest of each band among them, and a line for its others."""
    ranked = sorted((k > 0, -max(row[1]), number, k) for number, (_, rows) in enumerate(bands) for k, row in enumerate(rows))
    kept = ranked
    for places in range(min(most, len(ranked)), 0, -1):  # a band with rows left out takes a line for them
        kept = ranked[:places]
        if places + len({number for *_, number, _ in ranked[places:]}) <= most:
            break
    kept_ = {(number, k) for *_, number, k in kept}
    lines = []
    for number, (band, rows) in enumerate(bands):
        lines += [row[:3] for k, row in enumerate(rows) if (number, k) in kept_]
        rest = [row for k, row in enumerate(rows) if (number, k) not in kept_]
        if len(rest) == 1:
            lines.append(rest[0][:3])
        elif rest:
            count = sum(len(row[3]) for row in rest)
            values = np.max([row[1] for row in rest], axis=0)
            lines.append((f"{count} other {plural(band.kind, count)}, at most", values, ""))
    return lines


def _idle(bands: list[Band]) -> str:
    """Return the units without load in words, "" if all have some."""
    number = {band.kind: int((band.values.max(axis=0, initial=0.0) == 0).sum()) for band in bands
              if band.kind != OTHER}
    return ", ".join(f"{count} {plural(kind, count)}" for kind, count in number.items() if count)


MOST_LINES = 14                # of the planes, so that the answer, legend and prompt fit the same screen of 24 lines
MARKS = ("●", "■", "▲")        # of a group of each kind, as in figures and reports
BOTH, UNUSED, EMPTY = "◆", "·", "x"
BETWEEN = 4                    # columns between planes side by side


def image_text(mapping: Mapping, numbers: dict[str, int], width: int) -> list[str]:
    """Draw nodes of a torus as planes, the first dimension to the right and the second up, at most `width` columns wide.

    >>> from pencilmap.mapper.placements import as_mapping, place
    >>> from pencilmap.model.placement.allocation import Site
    >>> from pencilmap.model.placement.grid import parse_grid
    >>> from pencilmap.model.network.torus import parse_torus
    >>> lines = as_mapping(place("line", Site(parse_torus("4x3")), parse_grid("4x3")), "line")
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
    mark[np.unique(mapping.node_of_rank)] = UNUSED
    kinds = kinds_of_nodes(groups)
    for sign, name in zip(MARKS, groups):
        mark[kinds[name]] = sign
    mark[kinds["both"]] = BOTH
    strength = EMPTY + UNUSED + "".join(reversed(MARKS)) + BOTH
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


def _coarse(torus: CoordinateNetwork, mark: NDArray[np.str_], blocks: Blocks, strength: str) -> NDArray[np.str_]:
    """Return the mark of each block."""
    coordinates = torus.coordinates(np.arange(torus.n_nodes)) // np.array(blocks.edges)
    number = np.ravel_multi_index(tuple(coordinates.T), blocks.shape, order="F")
    strongest = np.zeros(int(np.prod(blocks.shape)), dtype=int)
    np.maximum.at(strongest, number, sum((mark == sign) * i for i, sign in enumerate(strength)))
    return np.array(list(strength))[strongest]


def _planes(torus: Blocks, mark: NDArray[np.str_], width: int) -> list[str]:
    seen = [i for i, n in enumerate(torus.shape) if n > 1] or [0]
    right, up, further = seen[0], seen[1] if len(seen) > 1 else None, seen[2:]
    planes = [_plane(torus, mark, right, up, dict(zip(further, reversed(at))))
              for at in product(*(range(torus.shape[i]) for i in reversed(further)))]
    return _side_by_side(planes, width)


def _plane(torus: Blocks, mark: NDArray[np.str_], right: int, up: int | None, at: dict[int, int]) -> list[str]:
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
    beside, result = max(1, (width + BETWEEN) // (column + BETWEEN)), []
    for start in range(0, len(planes), beside):
        result += [""] * bool(start)
        result += [(" " * BETWEEN).join(line.ljust(column) for line in lines).rstrip()
                   for lines in zip(*planes[start:start + beside])]
    return result


def _legend(groups: Any, both: bool, empty: bool, width: int) -> list[str]:
    """Return the meanings of the marks, in as many lines as they need."""
    said = [f"{sign} {name} {number}: {counted(len(nodes), 'rank')} on {counted(len(np.unique(nodes)), 'node')}"
            for sign, (name, (number, nodes)) in zip(MARKS, groups.items())]
    lines = [""]
    for part in [*said, *([f"{BOTH} in both"] if both else []), *([f"{EMPTY} no task"] if empty else [])]:
        beside = f"{lines[-1]}   {part}".strip()
        lines = [*lines[:-1], beside] if len(beside) <= width or not lines[-1] else [*lines, part]
    return lines
