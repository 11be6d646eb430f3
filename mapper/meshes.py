"""Orders of the devices of a slice for the axes of a machine-learning job.

Idea: an axis of a mesh takes some members at some distance in each dimension of the slice; axes nest. What an axis costs
depends on its own members alone. So list the ways to lay each axis, cost each by the loads of its messages, and choose one
way for each axis so that all nest, by branch and bound. An axis in several dimensions may also be folded into one ring.

An order is compared with that of JAX axis by axis, under all three loads of `AxisLoads`: another order is taken only if no
axis is worse under any of them. An order that costs less in all, but makes an axis worse, is a trade.
Cost: ways of an axis times a few routed sets of messages, each of them routed once; then at most `MOST_STEPS` choices.
Needs: a whole slice whose nodes have coordinates.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product as cartesian
from math import inf, prod

import numpy as np

from pencilmap.model.base.arrays import Ints, divisors, factorisations
from pencilmap.model.base.errors import GridError, UnitError, near
from pencilmap.model.base.units import amount, parse
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.allocation import Site
from pencilmap.model.traffic.collectives import COLLECTIVES, PERMUTE, AxisLoads, Ring, Slots, axis_loads, gather_loads

MOST_STEPS = 300_000  # ways that a search looks at, in a second or two
SAME = 1e-6  # loads that differ by less are equal
MOST_AXES, MOST_DEVICES = 32, 32_768  # dimensions of an array; the largest slice has 18,432 devices
TRADE = 0.01  # part of the bytes that a trade must save
ROUNDED = 0.005  # a smaller change is not named
THREE = "together", "in_turn", "all_to_all"
ANY = "any"  # a collective that is not known
USAGE = "data=8:all-reduce:1GB,tensor=16:all-gather:4GB"


@dataclass(frozen=True)
class Axis:
    """An axis of a mesh: its collective, "" if it is not known, and the bytes of a device, of its input or larger output."""

    name: str
    size: int
    collective: str = ""
    n_bytes: float = 0.0

    @property
    def work(self) -> str:
        """Collective and bytes as `axis_of` reads them; "" if they are not known.

        >>> axis_of("tensor", 16, "all-gather:4e9 B").work
        'all-gather:4GB'
        """
        return f"{self.collective}:{amount(self.n_bytes).replace(' ', '')}" if self.collective else ""

    def __str__(self) -> str:
        return ":".join(filter(None, (f"{self.name}={self.size}", self.work)))


def parse_axes(text: str) -> tuple[Axis, ...]:
    """Read ``data=8:all-reduce:1GB,tensor=16:all-gather:4GB``; or ``data=8,tensor=16`` if the collectives are not known.

    Raises
    ------
    GridError
        If the text is not understood, or only some axes have a collective.
    UnitError
        If the bytes have no unit.

    Examples
    --------
    >>> [str(axis) for axis in parse_axes("data=8:all-reduce:1GB, tensor=16:all-gather:4GB")]
    ['data=8:all-reduce:1GB', 'tensor=16:all-gather:4GB']
    """
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(\d{1,9})\s*(?::(.*))?", part, re.ASCII)
        if match is None:
            raise GridError(f"axis {part.strip()[:40]!r} is not understood; write a name, its number of devices, its "
                            f"collective and the bytes of a device, e.g. {USAGE}")
        found.append(axis_of(match[1], int(match[2]), match[3]))
    return checked_axes(found)


def axis_of(name: str, size: int, work: str | None) -> Axis:
    """Return an axis whose collective and bytes are a text such as ``all-gather:4GB``; `ANY` or None: not known."""
    if size < 1:
        raise GridError(f"axis {name} has {size} devices; give 1 or more")
    if work in (None, ANY):
        return Axis(name, size)
    collective, _, n_bytes = (word.strip() for word in str(work).partition(":"))
    if collective not in COLLECTIVES:
        raise GridError(f"axis {name}: collective {collective[:40]!r} is unknown{near(collective, COLLECTIVES)}; known are "
                        f"{', '.join((*COLLECTIVES, ANY))}")
    if not n_bytes:
        raise GridError(f"axis {name}: {collective} of how many bytes? Write the bytes of a device with a unit, e.g. "
                        f"{name}={size}:{collective}:1GB; sizes in proportion are enough")
    try:
        return Axis(name, size, collective, parse(n_bytes, "byte"))
    except UnitError as error:
        raise UnitError(f"axis {name}: {error}") from error


def checked_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Return the axes; raise GridError if they are too many, two have one name, or only some have a collective."""
    names = [axis.name for axis in axes]
    if len(names) > MOST_AXES:
        raise GridError(f"a mesh of {len(names)} axes is too large; give at most {MOST_AXES}, and leave out axes of 1")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise GridError(f"two axes are named {twice}; give each axis a name of its own")
    known = [bool(axis.collective) for axis in axes if axis.size > 1]
    if any(known) and not all(known):
        without = next(axis for axis in axes if axis.size > 1 and not axis.collective)
        raise GridError(f"axis {without.name} has no collective, but others have; give collective and bytes of every axis, "
                        "or of none")
    if any(known) and not any(axis.n_bytes for axis in axes if axis.size > 1):
        raise GridError("no axis sends any bytes; give the bytes of a device along each axis, or leave the collectives out")
    return tuple(axes)


def check_devices(axes: Sequence[Axis], n_devices: int, where: str) -> None:
    """Raise GridError unless the axes have as many devices as a place of that name."""
    if (asked := prod(axis.size for axis in axes)) != n_devices:
        raise GridError(f"axes of {' x '.join(str(axis.size) for axis in axes)} are {asked} devices, but {where} has "
                        f"{n_devices}; give axes whose product is {n_devices}")


@dataclass(frozen=True, eq=False)
class Way:
    """A way to lay an axis.

    Parameters
    ----------
    spans : tuple of (int, int)
        Members and their distance in each dimension of the slice, and among the devices of a node.
    cycle : tuple of int, optional
        Position along the axis of each member, numbered by dimensions, if the axis is folded into one ring.
    together, in_turn : float
        See `AxisLoads`.
    """

    spans: tuple[tuple[int, int], ...]
    cycle: tuple[int, ...] | None
    together: float
    in_turn: float

    def nests_with(self, other: "Way") -> bool:
        """Whether both can be axes of one mesh: in each dimension one lies in the gaps of the other."""
        return all(s == 1 or t == 1 or r % (q * s) == 0 or q % (r * t) == 0
                   for (s, q), (t, r) in zip(self.spans, other.spans))

    def numbers(self, where: Ints) -> Ints:
        """Return the position along the axis of places with these coordinates: int array."""
        number = np.zeros(where.shape[:-1], dtype=np.int64)
        for dimension, (size, stride) in enumerate(self.spans):
            number = number * size + where[..., dimension] // stride % size
        return number if self.cycle is None else np.array(self.cycle)[number]


@dataclass(frozen=True, eq=False)
class Mesh:
    """An order of the devices for the axes of a job.

    Parameters
    ----------
    order : int array
        The place (node by node) of each device of the mesh, in the shape of the axes.
    loads : tuple of AxisLoads
        One for each axis.
    words : tuple of str
        Where each axis lies: ``y16 ring``, ``x4 step 2`` for every second node, ``x4 y2 folded`` into one ring; "" if it is
        no box.
    """

    order: Ints
    loads: tuple[AxisLoads, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Meshes:
    """The order to take, that of JAX, and a trade.

    Parameters
    ----------
    axes : tuple of Axis
    site : Site
    best : Mesh
        JAX's own order, or an order in which no axis is worse under any load. Without JAX's order, that with least bytes.
    jax : Mesh, optional
        None if JAX has no order for the mesh, or is not installed.
    trade : Mesh, optional
        An order with fewer bytes in all, in which some axis is worse.
    is_cut : bool
        Whether the search ended early, so that a better order may exist.
    """

    axes: tuple[Axis, ...]
    site: Site
    best: Mesh
    jax: Mesh | None = None
    trade: Mesh | None = None
    is_cut: bool = False

    @property
    def is_jax(self) -> bool:
        """Whether the order to take is that of JAX."""
        return self.best is self.jax

    def bytes(self, mesh: Mesh) -> float:
        """Return the bytes of all axes on their busiest links, one after the other, in the mean of both ways to gather.

        Without bytes the result is the sum of all loads.
        """
        return sum(_cost(axis, loads, AxisLoads(1.0, 1.0, 1.0)) for axis, loads in zip(self.axes, mesh.loads))

    def gain(self, mesh: Mesh, axis: int) -> tuple[float, float] | None:
        """Return how many times less the collective of an axis loads the busiest link than in JAX's order, from and to.

        None without JAX's order, or if nothing is sent.
        """
        if self.jax is None or self.axes[axis].size == 1:
            return None
        names = COLLECTIVES[self.axes[axis].collective].loads if self.axes[axis].collective else THREE
        found = [getattr(self.jax.loads[axis], name) / getattr(mesh.loads[axis], name) for name in names
                 if getattr(mesh.loads[axis], name)]
        return (min(found), max(found)) if found else None

    @property
    def trade_words(self) -> str:
        """What a trade changes: how many times fewer bytes in all, and each axis beside JAX's order; "" without a trade."""
        if self.trade is None:
            return ""
        less = self.bytes(self.best) / self.bytes(self.trade)
        return f"another order sends {less:.2f}x less in all; beside JAX's order {', '.join(self.changes(self.trade))}"

    def changes(self, mesh: Mesh) -> list[str]:
        """Return in words what an order changes for each axis; what other collectives of an axis would lose, at the end."""
        said, others = list[str](), list[str]()
        for k, axis in enumerate(self.axes):
            if self.jax is None or (gain := self.gain(mesh, k)) is None:
                continue
            less, more = ((f"{low:.2f}x" if high - low < ROUNDED else f"{low:.2f} to {high:.2f}x")
                          for low, high in (gain, (1 / gain[1], 1 / gain[0])))
            if gain[0] > 1 - ROUNDED and gain[1] > 1 + ROUNDED:
                said.append(f"{axis.name} {less} less")
            elif gain[1] < 1 + ROUNDED and gain[0] < 1 - ROUNDED:
                said.append(f"{axis.name} {more} more")
            elif gain[0] < 1 - ROUNDED:
                said.append(f"{axis.name} {1 / gain[0]:.2f}x more to {gain[1]:.2f}x less")
            own = COLLECTIVES[axis.collective].loads if axis.collective else THREE
            for name, words in (("in_turn", "gathers"), ("all_to_all", "has all-to-alls")):
                worse = getattr(mesh.loads[k], name) / (getattr(self.jax.loads[k], name) or 1)
                if name not in own and worse > 1 + ROUNDED:
                    others.append(f"{axis.name} {worse:.2f}x more if it also {words}")
        return said + others


def best_mesh(site: Site, axes: Sequence[Axis], jax_order: Ints | None = None) -> Meshes:
    """Return the order of the devices that loads the links least, and never more than JAX's own along any axis.

    Parameters
    ----------
    site : Site
        All nodes of a network with coordinates.
    axes : sequence of Axis
    jax_order : int array, optional
        The places of the devices in JAX's own order, in the shape of the axes.

    Raises
    ------
    GridError
        If the axes do not have as many devices as the slice, or the slice is not whole or has no coordinates.

    Examples
    --------
    >>> from pencilmap.model.network.torus import parse_torus
    >>> found = best_mesh(Site(parse_torus("8x16w")), parse_axes("data=8:all-reduce:1GB,tensor=16:all-gather:4GB"))
    >>> found.best.words, found.best.loads[1].together
    (('x8', 'y16 ring'), 0.46875)
    """
    network, n_devices = site.network, site.network.n_nodes * site.tasks_per_node
    if not network.has_coordinates or not site.allocation.is_complete:
        raise GridError(f"a mesh of devices needs a whole torus or mesh; {network.title} "
                        f"{'has nodes that are not used' if network.has_coordinates else 'has no coordinates'}")
    check_devices(axes, n_devices, network.title)
    if n_devices > MOST_DEVICES:
        raise GridError(f"a mesh of {n_devices} devices is too large; at most {MOST_DEVICES} are possible")
    return _Search(site, tuple(axes)).meshes(jax_order)


def _cost(axis: Axis, loads: AxisLoads, own: AxisLoads | None) -> float:
    """Return the bytes of an axis on the busiest link, in the mean of both ways to gather; without bytes its loads as parts
    of its own loads.
    """
    if axis.collective:
        return axis.n_bytes * sum(loads.of(axis.collective)) / 2
    return sum(load / base for load, base in zip(loads.three, own.three) if base) if own else 0.0


class _Search:
    """The ways to lay each axis, and the choice among them."""

    def __init__(self, site: Site, axes: tuple[Axis, ...]) -> None:
        self.site, self.axes, network = site, axes, site.network
        self.slots = Slots(network, site.tasks_per_node, routing(default_routing(network), network))
        self.places = np.arange(network.n_nodes * site.tasks_per_node)
        self.where = self.slots.coordinates(self.places)
        self.all_to_all = cache(self._all_to_all)

    def meshes(self, jax_order: Ints | None) -> Meshes:
        """Return the answer."""
        known = {axis.size: list(self._ways(axis.size)) for axis in self.axes}
        ways = [known[axis.size] for axis in self.axes]
        jax = None if jax_order is None else Mesh(jax_order, *zip(*(
            self._of_order(jax_order, k, some) for k, some in enumerate(ways))))
        if jax is None:
            chosen, is_cut = _chosen([self._sorted(axis, some, None) for axis, some in zip(self.axes, ways)])
            return Meshes(self.axes, self.site, self._mesh(chosen), is_cut=is_cut)
        never_worse = [[way for way in some if self._is_never_worse(axis, way, own)]
                       for axis, some, own in zip(self.axes, ways, jax.loads)]
        best, is_cut = self._better(jax, jax, never_worse, SAME)
        trade, was_cut = self._better(jax, best, ways, TRADE) if any(axis.n_bytes for axis in self.axes) else (best, False)
        return Meshes(self.axes, self.site, best, jax, None if trade is best else trade, is_cut or was_cut)

    def _better(self, jax: Mesh, given: Mesh, ways: list[list[Way]], least: float) -> tuple[Mesh, bool]:
        """Return the best choice of ways if it costs less than a mesh by a part of that, and whether the search was cut."""
        chosen, is_cut = _chosen([self._sorted(axis, some, own) for axis, some, own in zip(self.axes, ways, jax.loads)])
        costs = [sum(_cost(axis, loads, own) for axis, loads, own in zip(self.axes, some, jax.loads))
                 for some in (given.loads, [self.loads(axis, way) for axis, way in zip(self.axes, chosen)])]
        return self._mesh(chosen) if chosen and costs[1] < costs[0] * (1 - least) else given, is_cut

    def _sorted(self, axis: Axis, ways: list[Way], own: AxisLoads | None) -> list[tuple[float, Way]]:
        """Return the ways of an axis with their costs, the least first."""
        if own is None and not axis.collective:
            every = [self.loads(axis, way) for way in ways]
            own = AxisLoads(*(min(loads[i] for loads in every) for i in range(len(every[0]))))
        found = [(_cost(axis, self.loads(axis, way), own), way) for way in ways]
        return sorted(found, key=lambda each: (each[0], each[1].in_turn + each[1].together, each[1].spans))

    def _is_never_worse(self, axis: Axis, way: Way, own: AxisLoads) -> bool:
        if max(way.together - own.together, way.in_turn - own.in_turn) > SAME:
            return False
        loads = self.loads(axis, way, is_whole=True)
        return max(a - b for a, b in zip(loads, own) if a) <= SAME if axis.size > 1 else True

    def loads(self, axis: Axis, way: Way, is_whole: bool = False) -> AxisLoads:
        """Return the loads of a way that count for an axis, or all of them; others are 0."""
        needs_all = is_whole or not axis.collective
        return AxisLoads(way.together, way.in_turn,
                         self.all_to_all(way.spans) if needs_all or axis.collective == "all-to-all" else 0.0,
                         self._permute(way) if axis.collective == PERMUTE else 0.0)

    def _mesh(self, chosen: Sequence[Way]) -> Mesh:
        index = tuple(way.numbers(self.where) for way in chosen)
        order = np.empty([axis.size for axis in self.axes], dtype=np.int64)
        order[index] = self.places
        return Mesh(order, tuple(self.loads(axis, way, is_whole=True) for axis, way in zip(self.axes, chosen)),
                    tuple(map(self._words, chosen)))

    def _words(self, way: Way) -> str:
        """Return where an axis lies, see `Mesh`."""
        parts = []
        for i, (letter, (size, stride)) in enumerate(zip(self.site.network.axes, way.spans)):
            if size > 1:
                closes = way.cycle is None and size > 2 and self._ring(i, size, stride).load < stride
                parts.append(f"{letter}{size}" + (f" step {stride}" if stride > 1 else "") + (" ring" if closes else ""))
        chip = [f"{way.spans[-1][0]} of a chip"] if way.spans[-1][0] > 1 else []
        return " ".join([*parts, *chip, *([] if way.cycle is None else ["folded"])]) or "one device"

    def _of_order(self, order: Ints, k: int, ways: list[Way]) -> tuple[AxisLoads, str]:
        """Return the loads of an axis of an order, and where it lies."""
        axis = self.axes[k]
        groups = np.moveaxis(order, k, -1).reshape(-1, axis.size)
        loads = axis_loads(self.slots, groups, axis.collective == PERMUTE)
        first = self.where[groups[0]]
        along = np.arange(axis.size)
        words = next((self._words(way) for way in ways
                      if (way.numbers(first) == along).all() and abs(way.in_turn - loads.in_turn) < SAME), "")
        return loads, words

    # ---- ways of an axis -------------------------------------------------------------------------------------------

    def _ways(self, size: int) -> Iterator[Way]:
        """Yield the ways to lay an axis of some devices, boxes and boxes folded into one ring."""
        shape = self.slots.shape
        for extents in factorisations(size, len(shape)):
            if any(n % s for n, s in zip(shape, extents)):
                continue
            strides = [divisors(n // s) if s > 1 else [1] for n, s in zip(shape, extents)]
            for spans in (tuple(zip(extents, each)) for each in cartesian(*strides)):
                rings = [self._ring(i, s, q) for i, (s, q) in enumerate(spans[:-1]) if s > 1]
                shared = shape[-1] / extents[-1]
                together, in_turn = gather_loads(rings, shared)
                yield Way(spans, None, together, in_turn)
                if len(rings) > 1:  # one ring passes each link once, in steps over `stride` links that as many groups share
                    ring = shared * max(ring.stride for ring in rings) / 2 * (size - 1) / size
                    if ring < in_turn - SAME and (cycle := _cycle(extents)) is not None:
                        yield Way(spans, cycle, ring, ring)

    @cached_property
    def _rings(self) -> dict[tuple[int, int, int], Ring]:
        return {}

    def _ring(self, dimension: int, size: int, stride: int) -> Ring:
        """Return the rings of some members in one dimension, one device of each node."""
        key = dimension, size, stride
        if key not in self._rings:
            spans = tuple((size, stride) if i == dimension else (1, 1) for i in range(len(self.slots.shape)))
            groups = self._groups(Way(spans, None, 0.0, 0.0), size)
            groups = groups[self.where[groups[:, 0], -1] == 0]
            self._rings[key] = Ring(size, stride, self.slots.both_ways(groups, np.roll(groups, -1, axis=1)))
        return self._rings[key]

    def _groups(self, way: Way, size: int) -> Ints:
        """Return the places of each group along a way, in order: int array, shape (groups, size)."""
        inside = np.stack([self.where[:, i] // q % s * q for i, (s, q) in enumerate(way.spans)], axis=1)
        group = np.ravel_multi_index(tuple((self.where - inside).T), self.slots.shape)
        return self.places[np.lexsort((way.numbers(self.where), group))].reshape(-1, size)

    def _all_to_all(self, spans: tuple[tuple[int, int], ...]) -> float:
        """Return the load of an all-to-all. On a torus each dimension has that of its members there, whatever the others."""
        used = [i for i, (s, _) in enumerate(spans[:-1]) if s > 1]
        if self.site.network.has_products and (len(used) > 1 or (used and spans[-1][0] > 1)):
            alone = (tuple(span if i == dimension else (1, 1) for i, span in enumerate(spans)) for dimension in used)
            return max(map(self.all_to_all, alone))
        return self.slots.all_to_all(self._groups(Way(spans, None, 0.0, 0.0), prod(s for s, _ in spans))) if used else 0.0

    def _permute(self, way: Way) -> float:
        groups = self._groups(way, prod(s for s, _ in way.spans))
        return self.slots.messages(groups, np.roll(groups, -1, axis=1)) if groups.shape[1] > 1 else 0.0


def _cycle(extents: Sequence[int]) -> tuple[int, ...] | None:
    """Return the position of each member of a box on a ring through all of it by steps to neighbours; None without one.

    The last extent is that of the devices of a node, which follow each other.

    >>> _cycle((2, 3, 1)), _cycle((3, 3, 1))
    ((0, 1, 2, 5, 4, 3), None)
    """
    even = next((i for i, n in enumerate(extents[:-1]) if n % 2 == 0), None)
    if even is None:
        return None
    rest = [n for i, n in enumerate(extents[:-1]) if i != even]
    path = np.array(sorted(np.ndindex(*rest), key=lambda at: _turning(at, rest)))
    rows, columns = extents[even], len(path)
    walk = [(0, 0), *((row, column) for row in range(rows)
                      for column in (range(1, columns) if row % 2 == 0 else range(columns - 1, 0, -1))),
            *((row, 0) for row in range(rows - 1, 0, -1))]
    position = np.empty(extents, dtype=np.int64)
    for number, (row, column) in enumerate(walk):
        at = np.insert(path[column], even, row)
        position[tuple(at)] = number * extents[-1] + np.arange(extents[-1])
    return tuple(position.ravel().tolist())


def _turning(at: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """Return the key that orders the members of a box on a path by steps to neighbours."""
    key, is_back = list[int](), False
    for x, n in zip(at, extents):
        key.append(n - 1 - x if is_back else x)
        is_back ^= bool(x % 2)
    return tuple(key)


def _chosen(ways: Sequence[Sequence[tuple[float, Way]]]) -> tuple[tuple[Way, ...], bool]:
    """Return one way for each axis, all nested, with the least sum of costs; and whether the search was cut.

    Parameters
    ----------
    ways : sequence of sequence of (float, Way)
        Costs and ways of each axis, the least cost first.

    Returns
    -------
    tuple of Way
        Empty if no ways nest.
    """
    if not all(ways):
        return (), False
    axes = sorted(range(len(ways)), key=lambda k: len(ways[k]))
    rest = [sum(ways[k][0][0] for k in axes[i:]) for i in range(len(axes) + 1)]
    least, found, steps = inf, tuple[Way, ...](), 0

    def add(placed: tuple[Way, ...], cost: float) -> None:
        nonlocal least, found, steps
        if len(placed) == len(axes):
            least, found = cost, placed
            return
        for more, way in ways[axes[len(placed)]]:
            steps += 1
            if cost + more + rest[len(placed) + 1] >= least * (1 - SAME) or steps > MOST_STEPS:
                return
            if all(way.nests_with(other) for other in placed):
                add((*placed, way), cost + more)

    add((), 0.0)
    order = {k: i for i, k in enumerate(axes)}
    return tuple(found[order[k]] for k in range(len(axes))) if found else (), steps > MOST_STEPS
