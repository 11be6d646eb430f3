"""First placements on hosts below switches, in closed form: launch orders, strips, mixed tilings, packed and spread lines.

A line is a row, or, if turned, a column. All seeds place whole blocks of neighbouring ranks, so they differ in the
traffic that leaves a unit (a host, a leaf, a group):

launch order, transposed
    Ranks row by row, or column by column, in the launcher's order of slots. So no seed is worse than the launcher on this
    grid or on its transpose.
strips
    Strips of a few ranks of every row, and in a strip blocks that fill a host.
mixed
    A share of every unit holds whole rows, and the rest holds pieces across them. Below the floor of the hosts' own links
    the traffic of rows out of a unit is free.
packed
    Whole lines in units that have room for them. Other lines get the units that fit best, so full units hold one piece.
spread
    The same, but lines without a unit of their own are spread over all units, a piece in each. Dealt: the hosts of a unit
    are taken in turn from its smaller units, so that the pieces are spread there, too.
of the kind
    Placements of `Seeds.starts`.
Latin
    Any of these, with the hosts of each leaf in another order, so that static routes spread over all its cables.

Cost: sorting the ranks once for each seed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.seeds import seeds_of
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.graph import dividers, halves
from pencilmap.model.base.arrays import Ints, divisors
from pencilmap.model.kinds import kind_of
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid


class Variety(NamedTuple):
    """Numbers of seeds of each kind."""

    widths: int                #: of strips, for each shape of blocks
    shares: tuple[float, ...]  #: of whole rows in a unit
    whole: tuple[float, ...]   #: shares of a unit that may hold whole lines


MANY = Variety(10, tuple(i / 20 for i in range(3, 18)), (1.0, 0.75, 0.5, 0.0))
FEW = Variety(3, (0.2, 0.4, 0.6, 0.8), (1.0, 0.75))


@dataclass(frozen=True, eq=False)
class Ground:
    """The slots of a site on a graph, numbered unit by unit, then node by node in the order of its list; the units above.

    So an answer does not depend on the order in which a file lists its hosts.
    """

    site: Site
    grid: ProcessGrid
    divider: str = "networkx"  #: for a graph without levels, see `pencilmap.mapper.seeds.graph`
    variety: Variety = MANY

    @property
    def network(self) -> Any:
        return self.site.network

    @cached_property
    def node(self) -> Ints:
        """Node of each slot: int array, shape (S,)."""
        return self.nodes.repeat(self.site.tasks_per_node)

    @cached_property
    def nodes(self) -> Ints:
        """The usable nodes, unit by unit."""
        listed = self.site.allocation.nodes
        return listed[np.lexsort([np.arange(len(listed)), *(level.unit[listed] for level in self.network.levels)])]

    @cached_property
    def slot(self) -> Ints:
        """Number of each slot in its node: int array, shape (S,)."""
        return np.tile(np.arange(self.site.tasks_per_node), self.site.allocation.n_nodes)

    @cached_property
    def levels(self) -> list[Ints]:
        """For each level of the network, from the smallest units to the largest, the unit of each slot.

        Parts that cables alone show stand for the levels of a graph without levels.
        """
        units = [level.unit for level in self.network.levels] or halves(self.network, self.divider)
        return [np.unique(unit[self.node], return_inverse=True)[1] for unit in units]

    @cached_property
    def launch(self) -> Ints:
        """Slot of each rank in the launcher's order."""
        return self.slots_of(launched(self.site, self.grid))

    def slots_of(self, mapping: Mapping) -> Ints:
        """Return the slot of each rank of a mapping."""
        first = np.zeros(self.site.network.n_nodes, dtype=np.int64)
        first[self.nodes] = np.arange(len(self.nodes)) * self.site.tasks_per_node
        return first[mapping.node_of_rank] + mapping.slot_of_rank

    @cached_property
    def sorted(self) -> Ints:
        """As many slots as ranks, unit by unit: int array, shape (P,)."""
        keys = [self.slot, np.arange(len(self.node)) // self.site.tasks_per_node, *self.levels]
        return np.lexsort(keys)[:self.grid.n_tasks]

    def dealt(self, level: int) -> Ints:
        """Return the slots of `sorted` with the hosts of each unit in turn over the next smaller units."""
        host = self.sorted - self.slot[self.sorted]
        smaller = self.levels[level - 1][self.sorted] if level else host
        begin = np.flatnonzero(np.concatenate([[True], smaller[1:] != smaller[:-1]]))
        place = np.arange(len(smaller)) - np.repeat(begin, np.diff(np.concatenate([begin, [len(smaller)]])))
        keys = [self.slot[self.sorted], smaller, place // self.site.tasks_per_node]
        return self.sorted[np.lexsort([*keys, *(unit[self.sorted] for unit in self.levels[level:])])]


    def taken_in_turn(self, level: int) -> Ints:
        """Return as many slots as ranks, of hosts in turn from the units of a level: int array, shape (P,)."""
        T, P = self.site.tasks_per_node, self.grid.n_tasks
        unit = self.levels[level][::T]
        order = np.argsort(unit, kind="stable")
        place = np.empty(len(unit), dtype=np.int64)
        place[order] = np.arange(len(unit)) - np.searchsorted(unit[order], unit[order])
        hosts = np.sort(np.lexsort([unit, place])[:-(-P // T)])
        return (hosts[:, None] * T + np.arange(T)).ravel()[:P]


def seeds(ground: Ground) -> Iterator[tuple[str, Ints]]:
    """Yield names of placements, and the slot of each rank."""
    yield "launch order", ground.launch
    if ground.grid.n_tasks < ground.site.n_slots:
        yield from ((f"hosts in turn {level}", ground.taken_in_turn(level)) for level in range(len(ground.levels)))
    letters, own = ground.grid.decomposition.letters, enumerate(seeds_of(ground.network).starts(ground.site, ground.grid), 1)
    if len(letters) == 1:
        yield "sorted", ground.sorted
        return
    for letter in letters if len(letters) > 2 else letters[:1]:
        ranks, along = ground.grid.groups(letter), f", along {letter}" if len(letters) > 2 else ""
        yield f"transposed{along}", _filled(ranks.T.ravel(), ground.launch)
        yield from ((f"of the kind {i}", ground.slots_of(mapping)) for i, mapping in own)
        for divider in ("networkx",) if ground.network.levels else dividers():
            for name, slots in _of_units(replace(ground, divider=divider), ranks):
                yield f"{name}{along}" if divider == "networkx" else f"{name}{along}, {divider}", slots


def _of_units(ground: Ground, ranks: Ints) -> Iterator[tuple[str, Ints]]:
    """Yield the seeds that fill the units of the network, or, on a graph without levels, the parts of a divider."""
    yield "sorted", _filled(ranks.ravel(), ground.sorted)
    yield "sorted, transposed", _filled(ranks.T.ravel(), ground.sorted)
    for lines, turned in ((ranks, ""), (ranks.T, ", turned")):
        for name, order in strips(lines, ground.site.tasks_per_node, ground.variety.widths):
            yield name + turned, _filled(order, ground.sorted)
        for i, level in enumerate(ground.levels):
            unit = level[ground.sorted]
            if 1 < len(np.unique(unit)) < len(unit):
                dealt = ground.dealt(i)
                for name, order in (*mixed(lines, unit, ground.variety.shares),
                                    *packed(lines, unit, ground.site.tasks_per_node, ground.variety.whole)):
                    yield name + turned, _filled(order, ground.sorted)
                    if i and "spread" in name:
                        yield f"{name}, dealt{turned}", _filled(order, dealt)


def _filled(order: Ints, slots: Ints) -> Ints:
    """Return the slot of each rank, if ranks fill the slots in this order."""
    result = np.empty(len(order), dtype=np.int64)
    result[order] = slots[:len(order)]
    return result


def strips(lines: Ints, tasks: int, widths: int = MANY.widths) -> Iterator[tuple[str, Ints]]:
    """Yield orders of the ranks: strips of some width, and in a strip blocks that fill a host.

    Parameters
    ----------
    lines : int array, shape (lines, length)
        Ranks of each line.
    tasks : int
        Tasks of a host.
    widths : int
        Number of widths.

    Examples
    --------
    >>> dict(strips(np.arange(8).reshape(2, 4), 1))["strips 2 wide of 1x1"].tolist()
    [0, 1, 4, 5, 2, 3, 6, 7]
    """
    n, length = lines.shape
    v, u = np.arange(n)[:, None], np.arange(length)
    blocks = [(a, tasks // a) for a in divisors(tasks) if length % a == 0 and n % (tasks // a) == 0] or [(1, 1)]
    for a, b in blocks:
        lengths = {min(length, a * k) for k in range(1, -(-length // a) + 1)}
        for w in sorted(lengths, key=lambda w: (length % w, w))[:widths]:
            place = u // w * n * w + v // b * w * b + u % w // a * a * b + v % b * a + u % a
            yield f"strips {w} wide of {a}x{b}", lines.ravel()[_ordered(place)]


def mixed(lines: Ints, unit: Ints, shares: Iterable[float] = MANY.shares) -> Iterator[tuple[str, Ints]]:
    """Yield orders of the ranks: each unit holds its share of whole lines, then pieces across the other lines.

    Parameters
    ----------
    lines : int array, shape (lines, length)
    unit : int array, shape (P,)
        Unit of each slot, units one after the other.
    shares : iterable of float
        Shares of whole lines, each of which makes an order.
    """
    n = len(lines)
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], np.diff(unit) != 0, [True]])))
    for share in shares:
        whole = round(share * n)
        if 0 < whole < n:
            along, across = lines[:whole].ravel(), lines[whole:].T.ravel()
            yield f"mixed {share:.2f}", _merged(along, across, sizes)


def _merged(along: Ints, across: Ints, sizes: Ints) -> Ints:
    whole = np.diff(np.rint(len(along) * np.cumsum(sizes) / (len(along) + len(across))), prepend=0).astype(np.int64)
    units = np.concatenate([np.repeat(np.arange(len(sizes)), repeats) for repeats in (whole, sizes - whole)])
    return np.concatenate([along, across])[_ordered(units)]


def packed(lines: Ints, unit: Ints, tasks: int, most: Sequence[float] = MANY.whole) -> Iterator[tuple[str, Ints]]:
    """Yield orders of the ranks: whole lines in units with room for them, other lines packed or spread.

    Parameters are those of `mixed`, the tasks of a host, and shares of a unit that may hold whole lines.
    """
    border = np.flatnonzero(np.concatenate([[True], np.diff(unit) != 0, [True]]))
    sizes, known = np.diff(border), {}
    for share in most if sizes.max() >= lines.shape[1] else most[:1]:
        whole = _whole(lines, sizes, share)
        for name, spread in (("packed", 0), ("spread", 1), (f"spread by {tasks}", tasks)):
            if (name == "packed" and share < 1) or name == "spread by 1":
                continue
            if (whole, spread) not in known:  # many shares hold as many lines
                known[whole, spread] = _laid(lines, sizes, whole, spread)
            yield f"{name}, {share:g} whole", known[whole, spread]


def _whole(lines: Ints, sizes: Ints, share: float) -> tuple[int, ...]:
    """Return the units of the first lines, which are whole in a share of the units: tuple of int."""
    n, length = lines.shape
    order = np.argsort(-sizes, kind="stable")
    return tuple(np.repeat(order, (share * sizes[order]).astype(np.int64) // length)[:n].tolist())


def _laid(lines: Ints, sizes: Ints, whole: tuple[int, ...], spread: int) -> Ints:
    """Return the ranks in the order of the units: first whole lines, then the other lines packed (0) or spread by pieces."""
    length = lines.shape[1]
    free = sizes - length * np.bincount(np.array(whole, dtype=np.int64), minlength=len(sizes))
    rest = lines[len(whole):]
    if spread:
        stride = max(1, len(sizes) // max(1, len(rest)))  # so the pieces in a unit are at distant places of their lines
        rest = rest[np.arange(len(rest))[:, None], (np.arange(length) + stride * np.arange(len(rest))[:, None]) % length]
    ranks, units = [lines[:len(whole)].ravel()], [np.repeat(np.array(whole, dtype=np.int64), length)]
    pieces = _spread(rest.size, length, free, spread) if spread else _fitted(len(rest), length, free)
    rest = rest.ravel()
    for first, unit in pieces:
        ranks.append(rest[first:first + len(unit)])
        units.append(unit)
    return np.concatenate(ranks)[_ordered(np.concatenate(units))]


def _ordered(keys: Ints) -> Ints:
    """Return the places of whole numbers from 0 in rising order, equals as they come; 16 bits are sorted much faster."""
    small = keys.max(initial=0) < 1 << 16
    return np.argsort(keys.astype(np.uint16) if small else keys, axis=None, kind="stable")


def _spread(size: int, length: Any, free: Ints, piece: int) -> Iterator[tuple[int, Ints]]:
    """Yield the place of the first rank, and the unit of each rank, for neighbouring ranks of lines of some length.

    Pieces go to the units with most room.
    """
    if size and (free == free[0]).all() and free[0] % piece == length % piece == 0:  # then the units take turns
        yield 0, np.resize(np.repeat(np.arange(len(free)), piece), size)
        return
    free, known = free.copy(), {}
    for begin in range(0, size, length):
        least = free.min()
        key = (free - least).tobytes(), min(least, length)  # more room than a line in all units changes nothing
        if key not in known:
            known[key] = _of_line(length, free, piece)
        yield begin, known[key]
        free -= np.bincount(known[key], minlength=len(free))


def _of_line(length: int, free: Ints, piece: int) -> Ints:
    """Return the unit of each rank of one line."""
    free, units, left = free.copy(), [], length
    while left:
        order = np.argsort(-free, kind="stable")[:np.count_nonzero(free)]
        turns = min(int(free[order[-1]]), left // len(order)) // piece
        if turns:  # each unit takes a piece in each turn, so the order stays the same
            order_ = np.tile(np.repeat(order, piece), turns)
            free[order] -= turns * piece
        else:
            end = np.minimum(left, np.cumsum(np.minimum(piece, free[order])))  # then each unit's number
            end[1:] -= end[:-1].copy()
            order_ = np.repeat(order, end)
            free[order] -= end
        units.append(order_)
        left -= len(order_)
    return np.concatenate(units)


def _fitted(n: int, length: Any, free: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield as `_spread`: each unit, the fullest first, takes one piece of the line whose rest it fits best."""
    left, begun, late = np.full(n, length), np.zeros(n, dtype=np.int64), []
    for u in np.argsort(-free, kind="stable").tolist():
        fits = np.flatnonzero(left >= free[u])
        if not free[u]:
            continue
        if not len(fits):
            late.append(u)
            continue
        k = int(fits[left[fits].argmin()])
        yield k * length + int(begun[k]), np.full(free[u], u)
        begun[k] += free[u]
        left[k] -= free[u]
    for u in late:
        room = int(free[u])
        while room:
            k = int(left.argmax())
            moved = min(room, int(left[k]))
            yield k * length + int(begun[k]), np.full(moved, u)
            begun[k] += moved
            left[k] -= moved
            room -= moved


def all_equal(site: Site) -> bool:
    """Return whether all placements cost the same under an even split.

    This is so for one task on a host of a fat tree, if no unit has fewer cables upwards than hosts in use below. Then every
    host's own link carries the largest load, whatever the placement.
    """
    network: Any = site.network
    if not kind_of(network).counts_suffice or site.tasks_per_node > 1 or network.links_per_host > 1:
        return False
    unit, length = kind_of(network).counted(network, site.allocation.nodes)
    return bool((np.bincount(unit[:, 1:].ravel(), minlength=len(length)) * length <= length[0]).all())


def latin(ground: Ground, slots: Ints, cables: int, port: Ints) -> Ints:
    """Return the placement with the hosts of each leaf in another order, so that static routes spread over all cables.

    `cables` is the number of cables of a leaf, `port` the cable that leads to each host.

    Inside a leaf with k cables the ranks (p, q) sit on a host with number p + q modulo k, as far as there are such hosts. So
    every row, every column and every leaf spreads its receivers over all cables.
    """
    T = ground.site.tasks_per_node
    rank_in = np.full(len(ground.node), -1)
    rank_in[slots] = np.arange(len(slots))
    held = rank_in.reshape(-1, T)
    unit = ground.levels[0][::T] * cables
    cables_ = unit + _diagonals(held, ground.grid.shape[0]) % cables
    port = unit + port[ground.node[::T]]
    _, host, matched = np.intersect1d(_numbered(cables_), _numbered(port), assume_unique=True, return_indices=True)
    late, free = (np.setdiff1d(np.arange(len(held)), used) for used in (host, matched))
    new = np.empty_like(held)
    new[matched] = held[host]
    new[free[np.lexsort([port[free]])]] = held[late[np.argsort(unit[late], kind="stable")]]
    result = np.empty(len(slots), dtype=np.int64)
    place = np.flatnonzero(new.ravel() >= 0)
    result[new.ravel()[place]] = place
    return result


def _numbered(keys: Ints) -> Ints:
    """Return a number for each key; equal keys get different numbers, those of the first of each key are a multiple."""
    order = np.argsort(keys, kind="stable")
    begin = np.searchsorted(keys[order], keys[order])
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = keys[order] * len(keys) + np.arange(len(keys)) - begin
    return numbers


def _diagonals(held: Ints, R: int) -> Ints:
    """Return the diagonal of the block of ranks of each host: int array, shape (hosts,).

    `held` has the rank in each slot, -1 for none.
    """
    numbers = np.zeros(len(held), dtype=np.int64)
    for place in (np.where(held < 0, -1, held % R), np.where(held < 0, -1, held // R)):
        place = np.sort(place, axis=1)
        new = (np.diff(place, axis=1, prepend=-1) > 0) & (place >= 0)
        least = np.where(new.any(axis=1), place[np.arange(len(place)), new.argmax(axis=1)], 0)
        numbers += least // np.maximum(1, new.sum(axis=1))
    return numbers
