"""Kinds of hosts on switches: routing rules, and bounds by the levels that enclose hosts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds import cuts
from pencilmap.model.bounds.choices import Cables, least_of_choices
from pencilmap.model.bounds.cuts import ABOUT, Room, across_cuts, least_columns, lengths_across, rounded_down
from pencilmap.model.kinds.kind import Bound, Kind
from pencilmap.model.network.graph import HOST, SwitchedNetwork, nested
from pencilmap.model.network.network import link_weights
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.routes import MOST_ENTRIES, Legs, Routes, joined, rates, table_of
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.exchange import Exchange, Traffic, summed, together, traffic_within
from pencilmap.model.traffic.loads import LinkLoads, kept, known_loads, m_scale, without_rounding

# Traffic between units of hosts by counting the members of each group in each unit, without a list of messages.
#
# Idea: member a of group g sends w_g s_a r_b units to member b. So unit v sends to all others the sum over the groups of
# w_g S_gv (R - R_gv), where S_gv and R_gv are the sums of s and r over the members of the group in v. Only pairs (g, v) with
# members are stored: at most one for each rank. All sums are whole numbers.
# Cost: sorting the ranks once for each level of units.

@dataclass(frozen=True)
class Counts:
    """Sums of the weights of each group in each unit: int arrays with one entry for each pair that occurs."""

    group: Ints
    unit: Ints
    sends: Ints
    receives: Ints
    pair: Ints  #: int array, shape (groups, size); number of the pair of each member


def counts(exchange: Exchange, unit_of_member: Ints, n_units: int) -> Counts:
    """Return the sums for each group and unit.

    Parameters
    ----------
    exchange : Exchange
    unit_of_member : int array, shape (groups, size)
    n_units : int

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> row, _ = exchanges(ProcessGrid(4, 1))
    >>> found = counts(row, np.array([[0, 0, 0, 1]]), 2)
    >>> found.unit.tolist(), found.sends.tolist()
    ([0, 1], [3, 1])
    """
    groups = len(unit_of_member)
    keys = (np.arange(groups, dtype=np.int64)[:, None] * n_units + unit_of_member).ravel()
    unique, pair = np.unique(keys, return_inverse=True)
    pair = pair.reshape(unit_of_member.shape)
    return Counts(unique // n_units, unique % n_units, summed(pair, exchange.send_weight, len(unique)),
                  summed(pair, exchange.receive_weight, len(unique)), pair)


def crossing(exchange: Exchange, ends: Ints, unit_of_end: Ints, n_units: int, host_of_end: Ints | None = None,
             class_of_end: Ints | None = None, n_classes: int = 1) -> tuple[Ints, Ints]:
    """Return the bytes that leave each unit and the bytes that enter it, by class of the end that receives them.

    Parameters
    ----------
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    unit_of_end : int array, shape (E,)
    n_units : int
    host_of_end : int array, shape (E,), optional
        Host of each end if hosts have several ends, some in other units: messages inside a host cross nothing.
    class_of_end : int array, shape (E,), optional
        One class by default.
    n_classes : int

    Returns
    -------
    (int array, int array), shapes (n_units, n_classes)
    """
    end = np.asarray(ends)[exchange.members]
    kinds = np.zeros(end.shape, dtype=np.int64) if class_of_end is None else class_of_end[end]
    at = counts(exchange, unit_of_end[end], n_units)
    to = _by_class(exchange, kinds, n_classes)
    received = summed(at.pair * n_classes + kinds, exchange.receive_weight, len(at.unit) * n_classes).reshape(-1, n_classes)
    weight, sent = exchange.group_weight[at.group] * exchange.unit_bytes, int(exchange.send_weight.sum())
    leaving = at.sends[:, None] * (to[at.group] - received) * weight[:, None]
    entering = received * (sent - at.sends)[:, None] * weight[:, None]
    if host_of_end is not None:
        inside = _between_units_of_a_host(exchange, end, at, host_of_end, kinds, n_classes)
        leaving, entering = leaving - inside[0], entering - inside[1]
    loads = np.zeros((2, n_units, n_classes), dtype=np.int64)
    np.add.at(loads[0], at.unit, leaving)
    np.add.at(loads[1], at.unit, entering)
    return loads[0], loads[1]


def _by_class(exchange: Exchange, kinds: Ints, n_classes: int) -> Ints:
    """Return the receive weights of each group by class: int array, shape (groups, n_classes)."""
    groups = len(kinds)
    place = np.arange(groups)[:, None] * n_classes + kinds
    return summed(place, exchange.receive_weight, groups * n_classes).reshape(groups, n_classes)


def _between_units_of_a_host(exchange: Exchange, end: Ints, at: Counts, host_of_end: Ints, kinds: Ints,
                             n_classes: int) -> Ints:
    """Return for each pair of `at` the bytes between the unit and other units, inside hosts: leaving, entering."""
    host = host_of_end[end]
    both = counts(exchange, host, int(host_of_end.max()) + 1)        # members of a group on a host
    n = len(at.unit)
    keys, triple = np.unique((both.pair * n + at.pair).ravel(), return_inverse=True)
    pair, unit = keys // n, keys % n                                # on a host, and in a unit
    triple = triple.reshape(end.shape)
    sends = summed(triple, exchange.send_weight, len(keys))
    receives = summed(triple * n_classes + kinds, exchange.receive_weight, len(keys) * n_classes).reshape(-1, n_classes)
    whole = summed(both.pair * n_classes + kinds, exchange.receive_weight, len(both.unit) * n_classes)
    whole = whole.reshape(-1, n_classes)[pair]
    weight = (exchange.group_weight[at.group[unit]] * exchange.unit_bytes)[:, None]
    loads = np.zeros((2, n, n_classes), dtype=np.int64)
    np.add.at(loads[0], unit, sends[:, None] * (whole - receives) * weight)
    np.add.at(loads[1], unit, receives * (both.sends[pair] - sends)[:, None] * weight)
    return loads


def between(exchange: Exchange, ends: Ints, unit_of_end: Ints, n_units: int, host_of_end: Ints | None = None) -> Traffic:
    """Return the bytes from each unit to each other unit.

    Parameters
    ----------
    exchange : Exchange
    ends, unit_of_end, n_units, host_of_end
        As for `crossing`.
    """
    end = np.asarray(ends)[exchange.members]
    group = np.broadcast_to(np.arange(len(end))[:, None], end.shape)
    loads = _within(exchange, unit_of_end[end], group, n_units)
    if host_of_end is None:
        return loads
    both = counts(exchange, host_of_end[end], int(host_of_end.max()) + 1)
    return together([(loads, 1), (_within(exchange, unit_of_end[end], both.pair, n_units), -1)])


def _within(exchange: Exchange, unit: Ints, part: Ints, n_units: int) -> Traffic:
    """Return the bytes between units of messages inside each part of the members."""
    sent = exchange.send_weight * exchange.group_weight[:, None] * exchange.unit_bytes
    received = np.broadcast_to(exchange.receive_weight, unit.shape)
    return traffic_within(part.ravel(), unit.ravel(), sent.ravel(), received.ravel(), n_units)


# Rules of routing for hosts on switches: loads of the links of hosts, which no routing decides, and shortest paths.
#
# The network between the switches stands alone: traffic between hosts is traffic between their switches.

class OnSwitches(Rule):
    """A rule whose tables of routes are those between switches."""

    def routes(self, network: SwitchedNetwork, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes between places as a table: of each plane, with the links of the hosts."""
        end, planes = network.ends(node, slot), network.planes()
        switches = np.stack([plane.switch[end] for plane in planes], axis=1)
        used, router = np.unique(switches, axis=0, return_inverse=True)
        V = len(used)
        if V * V * 4 * len(planes) > MOST_ENTRIES:
            return None
        parts = [_of_plane(self, network, chosen, float(plane.share)) for plane, chosen in zip(planes, used.T)]
        legs = joined((part[:3] for part in parts), parts[0].n_links)
        ends = np.unique(end, return_inverse=True)[1]
        return table_of(legs, V, node, router.ravel(), ends, rates(network)[0] * float(planes[0].share))


@dataclass(frozen=True)
class BetweenSwitches(OnSwitches, ShortestPath):
    """Shortest paths between switches."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        arcs, hosts = network.router_arcs(), loads_with_hosts(network, exchange, node_of_rank, ())
        on_arcs = self.even(arcs, between_switches(network, exchange, node_of_rank))
        hosts.values.reshape(-1)[network.place_of_link[arcs.index]] = without_rounding(on_arcs)
        return hosts


ROUTINGS = SHORTEST_PATH.by(BetweenSwitches()), EACH_HOP.by(BetweenSwitches(by_hop=True))


def host_of_end(network: SwitchedNetwork) -> Ints | None:
    """Return the host of each end, or None if hosts have one end."""
    return network.host_of_end if network.use == "task" and network.links_per_host > 1 else None


def loads_with_hosts(network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray,
                     classes: Iterable[Floats]) -> LinkLoads:
    """Return the loads of all links from the loads of the classes between switches.

    Parameters
    ----------
    network : SwitchedNetwork
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    classes : iterable of float array
        For each class after the first, the bytes on its links.
    """
    values = np.zeros(network.link_shape)
    L, planes = len(network.switch_of_link), network.planes()
    n = len(planes[0].links)
    up, down = (bytes_[:, 0] for bytes_ in kept(("hosts", exchange.unit_bytes), network, exchange, ends, lambda: crossing(
        exchange, ends, np.arange(n), n, host_of_end(network))))  # whatever the routing
    for plane in planes:
        values[0, plane.links] = up * float(plane.share)
        values[0, L + plane.links] = down * float(plane.share)
    for row, loads in zip(values[1:], classes):
        row[:len(loads)] = loads
    for row in values:
        row[:] = without_rounding(row)
    return LinkLoads(network, values, exchange.total_bytes)


def between_switches(network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray) -> Traffic:
    """Return the bytes from each switch to each other switch, all planes together."""
    n, host = network.n_switches, host_of_end(network)
    return kept(("switches", exchange.unit_bytes), network, exchange, ends, lambda: together(
        (between(exchange, ends, plane.switch, n, host), float(plane.share)) for plane in network.planes()))


def _of_plane(rule: Rule, network: SwitchedNetwork, switches: Ints, share: float) -> Legs:
    """Return the legs between switches, which may occur several times, for a share of each message."""
    from scipy.sparse import coo_array  # slow to import

    used, number = np.unique(switches, return_inverse=True)
    pair, link, load, n_links = rule.legs(network, used)
    if len(used) < len(switches):
        n = len(used)
        rows = coo_array((load, (pair, link)), shape=(n * n, n_links)).tocsr()
        legs = rows[(number[:, None] * n + number).ravel()].tocoo()
        pair, link, load = legs.row, legs.col, legs.data
    return Legs(pair, link, load * share, n_links)


# Lower bounds on networks with levels: cuts around hosts, leaves, pods, groups, and unions of groups.
#
# *Any routing.* The traffic that leaves a unit crosses the cables that leave it.
#
# *Any placement.* A cut has c cables, and k of P tasks inside. The traffic of rows and columns across it lies on or above
# the frontier of k (`pencilmap.model.bounds.cuts`). If the rows have length A, every cut lets the rows send at
# most A c / 4N of D_T, and so forces the columns to send at least g_k(A c / 4N). One length A holds for all cuts together,
# so the sum of both lengths is at least the minimum over A of A + max over the cuts of 4N g_k(A c / 4N) / c. This is
# sharper than the best single cut. The cut around a host is the floor by its own links. If slots stay idle, a unit of each
# level has at least its share of the tasks (`pencilmap.model.bounds.cuts`).

MOST_UNITS = 2048       # of a level whose unions are cut
HOST_CUT = "a host"
SHARPEST = 6            # cuts whose frontiers are used, besides that of a host


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a level."""

    name: str
    of_node: Ints  #: int array, shape (N,)
    leaving: Ints  #: int array, shape (units, classes); cables that leave each unit
    #: float array, shape (units, units); capacity from each unit to each other unit, in cables of the fastest class; None if
    #: there are too many units
    between: Floats | None


class Cut(NamedTuple):
    """Slots inside a cut, capacity of the cut in cables of the fastest class, and its name."""

    slots: int
    capacity: Fraction
    name: str


class LevelKind(Kind):
    """A kind whose networks are hosts on switches, in units."""

    def counted(self, network: SwitchedNetwork, ends: Ints) -> tuple[Ints, Floats]:
        """Return the hosts in use."""
        host = np.unique(ends, return_inverse=True)[1]
        return host[:, None], np.full(int(host.max()) + 1, float(link_weights(network)[0]) / len(network.planes()))

    def cut_bound(self, network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of the cuts around single units. A cut of several classes counts for the fastest class."""
        bounds = [Fraction(0)] * len(network.link_classes)
        for units in units_of(network):
            n = len(units.leaving)
            traffic = np.maximum(*crossing(exchange, ends, units.of_node, n))[:, 0]
            for kind, cables, i in _by_cables(network, units.leaving):
                bounds[kind] = max(bounds[kind], int(traffic[i].max(initial=0)) / cables)
        return tuple(bounds)

    def machine_bound(self, network: SwitchedNetwork) -> tuple[Fraction, ...]:
        """Return the bound of the cuts around single units."""
        bounds, N = [Fraction(0)] * len(network.link_classes), network.n_nodes
        for units in units_of(network):
            inside = np.bincount(units.of_node, minlength=len(units.leaving))
            for kind, cables, i in _by_cables(network, units.leaving):
                bounds[kind] = max(bounds[kind], Fraction(4 * int((inside[i] * (N - inside[i])).max()), N) / cables)
        return tuple(bounds)

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> list[Bound]:
        """Return the bound of units and unions of units."""
        room = Room(site, grid, transform)
        cuts = [([room.around(cut.slots, cut.capacity)], cut.name) for cut in cuts_of(site)]
        cuts += divisions(site, room)
        about = [room.about(cut) for cut, _ in cuts]
        near = max(about, default=0.0) * (1 - ABOUT)
        bounds = [(room.load(cut), f"all-to-all across {name}") for (cut, name), load in zip(cuts, about) if load >= near]
        return [max([(Fraction(0), "none: no traffic crosses a unit"), *bounds])]

    def of_choices(self, site: Site, n_nodes: int, sizes: tuple[int, int], share: Fraction = Fraction(0),
                   parts: Sequence[Ints] = ()) -> tuple[Fraction, Ints]:
        """Return the bound by the units of all levels together."""
        shared = shared_cables(site.network) if share else None
        levels = [Cables(of_node, capacity, shared[i] if shared else [Fraction(0)] * len(capacity))
                  for i, (_, of_node, capacity) in enumerate(levels_of(site.network))]
        return least_of_choices(site, levels, n_nodes, sizes, share)

    def beside(self, mapping: Mapping, exchanges: Sequence[Exchange], share: Fraction, rule: Rule) -> Fraction | None:
        """Return the lengths on all links: those of a level have the share of a unit at one of their ends."""
        network, arcs = mapping.network, mapping.network.arcs()
        level, used, bound = level_of_link(network), np.unique(mapping.node_of_rank), Fraction(0)
        part = np.ones(len(level))
        for number, units in enumerate(network.levels, 1):
            some, n = level == number, int(units.unit.max()) + 1
            own, hosts = (np.bincount(units.unit[nodes], minlength=n) for nodes in (used, np.arange(network.n_nodes)))
            of_unit = np.append(np.where(own > 0, own / np.maximum(own + float(share) * (hosts - own), 1e-9), 1), 1.0)
            part[some] = np.minimum(*(of_unit[units.unit[ends[some]]] for ends in (arcs.source, arcs.target)))
        for exchange in exchanges:
            loads = known_loads(network, exchange, mapping.ends, rule)
            lengths = loads.bytes().reshape(-1)[arcs.index] / (arcs.capacity * part)
            bound += m_scale(float(lengths.max(initial=0.0)), network, exchange.total_bytes)
        return bound

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Return the bound of all units together, or of the divisions into units if slots stay idle."""
        if grid.n_tasks == site.n_slots:
            return _in_turn_on_levels(site, min(sizes), max(sizes))  # their order does not matter
        return across_cuts(site.network.n_nodes, divisions(site, Room(site, grid)), sizes)


@lru_cache(maxsize=8)
def units_of(network: SwitchedNetwork) -> tuple[Units, ...]:
    """Return the units of all levels, the hosts first."""
    N, classes = network.n_nodes, len(network.link_classes)
    arcs, kind = network.arcs(), network.class_of_link
    assert kind is not None
    host = np.zeros((N, classes), dtype=np.int64)
    host[:, 0] = network.links_per_host
    levels = [Units(HOST, np.arange(N), host, None)]
    for level in network.levels:
        n = len(level.names) if not len(level.unit) else int(level.unit.max()) + 1
        source, target = level.unit[arcs.source], level.unit[arcs.target]
        out = (source >= 0) & (source != target)
        leaving = np.bincount(source[out] * classes + kind[out], minlength=n * classes).reshape(n, classes)
        both = out & (target >= 0)
        matrix: Floats | None = None
        if n <= MOST_UNITS:
            flat = np.bincount(source[both] * n + target[both], arcs.capacity[both], n * n)
            matrix = flat.astype(float).reshape(n, n)
        levels.append(Units(level.name, level.unit[:N], leaving, matrix))
    return tuple(levels)


@lru_cache(maxsize=8)
def level_of_link(network: SwitchedNetwork) -> Ints:
    """Return the number of the highest level between whose units each link is, from 1 on; 0 for links of hosts.

    If units have no whole units of the level below, as lines of switches that cross, the lowest level alone counts.
    """
    arcs, N = network.arcs(), network.n_nodes
    result, between = np.zeros(len(arcs.source), dtype=np.int64), (arcs.source >= N) & (arcs.target >= N)
    for number, level in enumerate(nested(network.levels, N), 1):
        result[between & (level.unit[arcs.source] != level.unit[arcs.target])] = number
    return result


def shared_cables(network: Any) -> list[list[Fraction]]:
    """Return for each level, the hosts first, the capacity of the links of this level that leave each unit."""
    arcs, kind, weights = network.arcs(), network.class_of_link, link_weights(network)
    result = [[Fraction(0)] * network.n_nodes]
    for number, level in enumerate(network.levels, 1):
        unit = level.unit[arcs.source]
        some = (level_of_link(network) == number) & (unit >= 0)
        count = np.zeros((int(level.unit.max()) + 1, len(weights)), dtype=np.int64)
        np.add.at(count, (unit[some], kind[some]), 1)
        result.append([sum((n / weight for n, weight in zip(row, weights) if n), Fraction(0)) for row in count.tolist()])
    return result


def _by_cables(network: SwitchedNetwork, leaving: Ints) -> Iterator[tuple[int, Fraction, Ints]]:
    """Yield class, capacity in its cables, and the units with such cables."""
    weights = link_weights(network)
    fastest = weights.index(min(weights))
    kinds, unit = np.unique(leaving, axis=0, return_inverse=True)
    for number, cables in enumerate(kinds.tolist()):
        used = [i for i, n in enumerate(cables) if n]
        if len(used) == 1:
            yield used[0], Fraction(cables[used[0]]), np.flatnonzero(unit.ravel() == number)
        elif used:
            yield (fastest, sum((n / weight for n, weight in zip(cables, weights)), Fraction(0)),
                   np.flatnonzero(unit.ravel() == number))


def divisions(site: Site, room: Room) -> Iterator[tuple[list[cuts.Cut], str]]:
    """Yield the cuts around all units of a level, of which one has at least its share of the tasks, if slots stay idle."""
    if room.P < room.S:
        for name, slots, capacity in _levels(site):
            yield room.divided(slots, capacity), f"{name} with its share of the tasks"


def _levels(site: Site) -> Iterator[tuple[str, Ints, list[Fraction]]]:
    """Yield for each level the name of a unit, and the slots and the capacity of all units."""
    used = np.bincount(site.allocation.nodes, minlength=site.network.n_nodes)
    for name, of_node, capacity in levels_of(site.network):
        yield name, np.bincount(of_node, used, len(capacity)).astype(np.int64) * site.tasks_per_node, capacity


def levels_of(network: Any) -> Iterator[tuple[str, Ints, list[Fraction]]]:
    """Yield for each level the name of a unit, the unit of each node, and the capacity of all units."""
    weights = link_weights(network)
    for units in units_of(network):
        kinds, kind = np.unique(units.leaving, axis=0, return_inverse=True)
        capacity = [sum((n / weight for n, weight in zip(cables, weights)), Fraction(0)) for cables in kinds.tolist()]
        yield (HOST_CUT if units.name == HOST else f"a {units.name}", units.of_node,
               [capacity[i] for i in kind.ravel().tolist()])


@lru_cache(maxsize=64)
def _in_turn_on_levels(site: Site, *sizes: int) -> list[tuple[Fraction, str]]:
    P = site.n_slots
    cuts = [cut for cut in cuts_of(site) if 0 < cut.slots < P]
    if sizes[0] * sizes[1] != P or not cuts:
        return []
    sharp = sorted(cuts, key=lambda cut: -cut.slots * (P - cut.slots) / cut.capacity)[:SHARPEST]
    chosen = list(dict.fromkeys([*sharp, max((c for c in cuts if c.name == HOST_CUT), key=lambda cut: cut.slots)]))
    curves = [lengths_across(sizes, cut.slots, cut.capacity, site.network.n_nodes) for cut in chosen]
    rows = np.unique(np.concatenate([curve[:, 0] for curve in curves]))
    rows = rows[rows >= max(curve[0, 0] for curve in curves) - 1e-12]
    columns = np.max([least_columns(curve, rows * (1 + 1e-12) + 1e-12) for curve in curves], axis=0)
    return [(rounded_down(float((rows + columns).min())), "rows and columns across all units together")]


@lru_cache(maxsize=8)
def cuts_of(site: Site) -> tuple[Cut, ...]:
    """Return the different cuts around units with usable slots, and around unions of the fullest units of a level."""
    network = site.network
    result: dict[tuple[int, Fraction], Cut] = {}
    for units, (name, inside, capacities) in zip(units_of(network), _levels(site)):
        for slots, capacity in sorted(set(zip(inside.tolist(), capacities))):
            if slots and capacity:
                result.setdefault((slots, capacity), Cut(slots, capacity, name))
        if units.between is not None and units.between.any():
            for slots, capacity, n in _unions(units, inside, link_weights(network)):
                result.setdefault((slots, capacity), Cut(slots, capacity, f"{n} units of level {units.name}"))
    return tuple(result.values())


def _unions(units: Units, inside: Ints, weights: list[Fraction]) -> Iterator[tuple[int, Fraction, int]]:
    """Yield slots and capacity of the unions of the 2, 3, ... fullest units."""
    order = np.argsort(-inside, kind="stable")
    alone = (units.leaving @ np.array([float(1 / weight) for weight in weights]))[order]
    assert units.between is not None  # if there are several units
    ordered = units.between[np.ix_(order, order)]
    joined = np.cumsum(np.tril(ordered, -1).sum(axis=1) + np.triu(ordered, 1).sum(axis=0))
    slots = np.cumsum(inside[order])
    for n in range(2, int(np.count_nonzero(inside))):
        capacity = float(np.cumsum(alone)[n - 1] - joined[n - 1])
        if capacity > 0:
            yield int(slots[n - 1]), Fraction(capacity).limit_denominator(1 << 20), n
