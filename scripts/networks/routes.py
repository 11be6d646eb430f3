"""The routes of single messages on networks of switches, graphs and twisted tori, and the table of the simulated network.

A message may be split over several routes. So a route is a part of the message on every link: ``{link number: Fraction}``.
The loads of `pencilmap.model.routing` come from counts of whole exchanges; these routes share no code with them, except on
twisted tori. So a simulation checks the counts. The route of a message consists of pieces that many messages share: its host
links, and the way between two switches.

The table has hosts, links, and a line for every pair of hosts. A message of SimGrid takes one route, but it may use a link
several times. So a message that is split into k parts over k links uses each of these links once, and each link has k times
its bandwidth. In general a link of which messages use multiples of 1 / k has k times its bandwidth, and a message with m / k
of its bytes on the link uses the link m times. Then the bytes per second through every link are those of the split message.

Links that the same parts of the same messages use are one link in the table, for example the cables from a leaf of a fat
tree to its spines: SimGrid takes half the time.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from math import lcm, prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PencilmapError, RoutingError
from pencilmap.model.kinds import routing, routings_of
from pencilmap.model.kinds.dragonfly_network import GLOBAL, LOCAL
from pencilmap.model.kinds.graph import Carried
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.kinds.twisted_torus import routes_of as displacements
from pencilmap.model.network.graph import HOST, SwitchedNetwork
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.network.twisted_torus import TwistedTorus

Shares = dict[int, Fraction]
Piece = tuple[Any, ...]  # hashable name of a part of a route
WHOLE = Fraction(1)
SIMULATED = ("shortest-path", "each-hop", "static", "minimal", "valiant", "dimension-order")  # rules with routes
PARTS = 1 << 20  # shares of twisted tori are floats: the nearest fractions with at most this denominator


def routes_on(network: Any, rule: str) -> "Routes":
    """Return the routes of a rule.

    Raises
    ------
    RoutingError
        If the rule does not work on the network, or gives no routes of single messages.
    """
    value = routing(rule, network)  # refuses rules that do not work on the network
    known = [name for name in routings_of(network) if name in SIMULATED]
    if rule.partition(":")[0] not in known:
        raise RoutingError(f"routing {rule} gives loads, and no route of a message to simulate; take one of "
                           f"{', '.join(known)}")
    if isinstance(network, TwistedTorus):
        return TwistedRoutes(network, value.dimensions(network) if isinstance(value, DimensionOrder) else None)
    if isinstance(value, Carried):
        return Routes(network, (Lines if network.torus.has_products else Turns)(network, value.rule))
    between = Ways(network).rules[rule]
    if isinstance(network, SwitchedNetwork):
        return SwitchRoutes(network, between, by_target=rule == "static")
    return Routes(network, between)


class Routes:
    """Routes between the nodes of a network, which are vertices on the way. A link has the number of its arc."""

    def __init__(self, network: Any, between: Callable[[Piece], Shares]) -> None:
        self.network, self.between, self.links = network, between, cache(self._links)

    def pieces(self, source: int, target: int) -> list[Piece]:
        """Return the pieces of the route from one end to another."""
        return [(source, target)]

    def _links(self, piece: Piece) -> Shares:
        """Return the part of a message on each link of a piece of its route; `links` remembers it."""
        return self.between(piece)

    def bytes_per_s(self, link: int) -> float:
        """Return the bandwidth of all cables of a link."""
        return float(self.network.capacities[link] * Fraction(max(self.network.bandwidth)))

    def name(self, link: int) -> str:
        """Return a name for a link without blanks."""
        return f"link{link}"


class SwitchRoutes(Routes):
    """Routes between hosts on switches, in planes if every message is split over the links of its host."""

    def __init__(self, network: Any, between: Callable[[Piece], Shares], by_target: bool) -> None:
        super().__init__(network, between)
        self.number = network.number_of_end.tolist() if by_target else []  # if the receiving end decides about the way
        self.first = (network.n_nodes + network.switch_of_link).tolist()  # vertex at the end of each host link
        self.planes = 1 if network.use == "task" else network.links_per_host

    def pieces(self, source: int, target: int) -> list[Piece]:
        up, down = (range(end * self.planes, (end + 1) * self.planes) for end in (source, target))
        back = len(self.first)  # the host links downwards follow all that run upwards
        return [piece for i, j in zip(up, down)
                for piece in ((i,), (self.first[i], self.first[j], self.number[target] if self.number else 0), (back + j,))]

    def _links(self, piece: Piece) -> Shares:
        if len(piece) == 1:
            return {piece[0]: Fraction(1, self.planes)}
        return {link: part / self.planes for link, part in self.between(piece).items()}


class TwistedRoutes(Routes):
    """Routes by displacement. A link has the number of its place in an array of ``link_shape``."""

    def __init__(self, torus: TwistedTorus, order: tuple[int, ...] | None) -> None:
        self.routes, self.away = displacements(torus, order), cache(self._away)
        super().__init__(torus, self._moved)

    def _moved(self, piece: Piece) -> Shares:
        """Move the route of a displacement to its source."""
        torus, (source, target) = self.network, piece
        away = int(torus.nearest_node(torus.coordinates(target) - torus.coordinates(source)))
        channels, nodes, shares = self.away(away)
        leaves = torus.sums(nodes, np.array([source]))[:, 0]
        return dict(zip((channels * torus.n_nodes + leaves).tolist(), shares))

    def _away(self, displacement: int) -> tuple[Ints, Ints, list[Fraction]]:
        """Return channel, node and share of each link on the way from node 0."""
        routes, shares = self.routes, dict[tuple[int, int], Fraction]()
        links = slice(routes.start[displacement], routes.start[displacement + 1])
        for channel, node, share in zip(*(part[links].tolist() for part in (routes.channel, routes.node, routes.share))):
            shares[channel, node] = shares.get((channel, node), Fraction(0)) + Fraction(share).limit_denominator(PARTS)
        channels, nodes = np.array(list(shares), dtype=np.int64).reshape(-1, 2).T
        return channels, nodes, list(shares.values())

    def bytes_per_s(self, link: int) -> float:
        i = link // (2 * self.network.n_nodes)
        return self.network.bandwidth[i] * self.network.cables[i]


class Lines:
    """The ways of a graph that is a torus, one dimension after the other; a piece is two hosts."""

    def __init__(self, graph: TorusGraph, rule: DimensionOrder) -> None:
        self.graph, self.rule = graph, rule
        ends = zip(graph.node_of_host[graph.source].tolist(), graph.node_of_host[graph.target].tolist())
        self.link = {pair: number for number, pair in enumerate(ends)}

    def __call__(self, piece: Piece) -> Shares:
        torus, shares = self.graph.torus, dict[int, Fraction]()
        at, target = (torus.coordinates(self.graph.node_of_host[host]).tolist() for host in piece[:2])
        for i in self.rule.dimensions(torus):
            for step, part in self._directions(i, at[i], target[i]):
                place = list(at)
                while place[i] != target[i]:
                    before = int(torus.node(place))
                    place[i] = (place[i] + step) % torus.shape[i]
                    shares[self.link[before, int(torus.node(place))]] = part
            at[i] = target[i]
        return shares

    def _directions(self, i: int, source: int, target: int) -> list[tuple[int, Fraction]]:
        """Return the directions in a dimension, each with its part of a message."""
        torus, n = self.graph.torus, self.graph.torus.shape[i]
        up = (target - source) % n
        if not torus.is_ring(i):
            return [(1 if target > source else -1, WHOLE)]
        if 2 * up != n or not up:
            return [(1 if 2 * up < n else -1, WHOLE)]
        if self.rule.tie == "split":
            return [(1, Fraction(1, 2)), (-1, Fraction(1, 2))]
        return [(1 if self.rule.tie == "plus" or source % 2 == 0 else -1, WHOLE)]


class Turns:
    """The ways of a graph that is a twisted torus, one dimension after the other; a piece is two hosts."""

    def __init__(self, graph: TorusGraph, rule: DimensionOrder) -> None:
        self.graph, self.routes = graph, TwistedRoutes(graph.torus, rule.dimensions(graph.torus))
        self.link = {place: number for number, place in enumerate(graph.place_in_torus.tolist())}

    def __call__(self, piece: Piece) -> Shares:
        source, target = self.graph.node_of_host[list(piece[:2])].tolist()
        return {self.link[place]: part for place, part in self.routes.between((source, target)).items()}


class Ways:
    """The ways from vertex to vertex by each rule: a piece is two vertices, and the receiving end behind the second."""

    def __init__(self, network: Any) -> None:
        self.network, self.arcs, self.to = network, network.arcs(), cache(self._to)
        self.cables = self.arcs.ways.astype(int).tolist()
        self.kind = [network.link_classes[i] for i in (self.arcs.index // prod(network.link_shape[1:])).tolist()]
        self.rules: dict[str, Callable[[Piece], Shares]] = {
            "shortest-path": lambda piece: self.spread(piece[0], piece[1]),
            "each-hop": lambda piece: self.spread(piece[0], piece[1], each_hop=True),
            "static": lambda piece: self.static(*piece),
            "minimal": lambda piece: self.minimal(piece[0], piece[1]),
            "valiant": lambda piece: self.valiant(piece[0], piece[1]),
        }

    @cached_property
    def out(self) -> dict[int, list[tuple[int, int]]]:
        """Links that leave each vertex, and their ends; links of hosts are omitted where there are switches."""
        ways: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for link, (a, b) in enumerate(zip(self.arcs.source.tolist(), self.arcs.target.tolist())):
            if self.kind[link] != HOST or not isinstance(self.network, SwitchedNetwork):
                ways[a].append((link, b))
        return ways

    def _to(self, target: int, local: bool) -> tuple[dict[int, int], dict[int, int]]:
        """Return hops and number of shortest paths from every vertex to a target, over all links or local links."""
        hops, paths, waiting = {target: 0}, {target: 1}, deque([target])
        while waiting:
            b = waiting.popleft()
            for link, a in self._into[b]:
                if local and self.kind[link] != LOCAL:
                    continue
                if a not in hops:
                    hops[a], paths[a] = hops[b] + 1, 0
                    waiting.append(a)
                if hops[a] == hops[b] + 1:
                    paths[a] += paths[b] * self.cables[link]
        return hops, paths

    @cached_property
    def _into(self) -> dict[int, list[tuple[int, int]]]:
        ways: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for a, links in self.out.items():
            for link, b in links:
                ways[b].append((link, a))
        return ways

    def spread(self, source: int, target: int, each_hop: bool = False, local: bool = False) -> Shares:
        """Split a message over all shortest paths: evenly over the paths, or evenly over the cables at every vertex."""
        hops, paths = self.to(target, local)
        shares: Shares = {}
        level = {source: WHOLE}
        for left in range(hops[source] - 1, -1, -1):
            following: dict[int, Fraction] = defaultdict(Fraction)
            for vertex, amount in level.items():
                nearer = [(link, b) for link, b in self.out[vertex] if hops.get(b) == left
                          and not (local and self.kind[link] != LOCAL)]
                weights = [self.cables[link] * (1 if each_hop else paths[b]) for link, b in nearer]
                for (link, b), weight in zip(nearer, weights):
                    shares[link] = amount * weight / sum(weights)
                    following[b] += shares[link]
            level = following
        return shares

    def static(self, source: int, target: int, end: int) -> Shares:
        """Up by the digits of the receiving end; down by the cables that the receiving leaf would take upwards."""
        up, down = self._ladder(source, end), self._ladder(target, end)
        level = next(i for i, (one, other) in enumerate(zip(up, down)) if one[1] == other[1])
        links = [link for link, _ in up[1:level + 1]] + [self.back[link] for link, _ in down[1:level + 1]]
        return dict.fromkeys(links, WHOLE)

    def _ladder(self, vertex: int, digits: int) -> list[tuple[int, int]]:
        """Return link and switch of every level on the way up from a leaf; the first link is none."""
        path = [(-1, vertex)]
        while ports := [(link, b) for link, b in self.out[vertex] if vertex < b]:  # switches are numbered upwards
            port = digits % len(ports)
            digits //= len({b for _, b in ports})  # parallel cables to one switch do not divide
            path.append(ports[port])
            vertex = ports[port][1]
        return path

    @cached_property
    def back(self) -> dict[int, int]:
        """The same cable in the other direction: every class has its links upwards first, in the same order."""
        ways: dict[int, int] = {}
        for name in self.network.link_classes:
            links = np.flatnonzero(np.array(self.kind) == name)
            up, down = links[:len(links) // 2].tolist(), links[len(links) // 2:].tolist()
            ways.update(zip(up + down, down + up))
        return ways

    def _group(self, vertex: int) -> int:
        return (vertex - self.network.n_nodes) // self.network.per_group

    @cached_property
    def _cables(self) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
        """Global links between two groups: link, vertex that it leaves, vertex at its end."""
        cables: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
        for a, links in self.out.items():
            for link, b in links:
                if self.kind[link] == GLOBAL:
                    cables[self._group(a), self._group(b)].append((link, a, b))
        return cables

    def minimal(self, source: int, target: int) -> Shares:
        """At most one global cable, evenly over the cables with the fewest local hops."""
        if self._group(source) == self._group(target):
            return self.spread(source, target, local=True)
        ways = self._cables[self._group(source), self._group(target)]
        hops = [self._local_hops(source, a) + self._local_hops(b, target) for _, a, b in ways]
        least = [way for way, n in zip(ways, hops) if n == min(hops)]
        return _sum((Fraction(1, len(least)), part) for link, a, b in least for part in (
            self.spread(source, a, local=True), {link: WHOLE}, self.spread(b, target, local=True)))

    def valiant(self, source: int, target: int) -> Shares:
        """Through every third group evenly, over the nearest cables to it; from there minimal."""
        ends = {self._group(source), self._group(target)}
        thirds = set(range(self.network.groups)) - ends
        if len(ends) == 1 or not thirds:
            return self.minimal(source, target)
        return _sum((share / len(thirds), part) for third in thirds for share, part in self._through(source, target, third))

    def _through(self, source: int, target: int, third: int) -> Iterator[tuple[Fraction, Shares]]:
        ways = self._cables[self._group(source), third]
        hops = [self._local_hops(source, a) for _, a, _ in ways]
        least = [way for way, n in zip(ways, hops) if n == min(hops)]
        for link, a, b in least:
            for part in (self.spread(source, a, local=True), {link: WHOLE}, self.minimal(b, target)):
                yield Fraction(1, len(least)), part

    def _local_hops(self, source: int, target: int) -> int:
        return self.to(target, True)[0][source]


def _sum(parts: Iterable[tuple[Fraction, Shares]]) -> Shares:
    shares: Shares = defaultdict(Fraction)
    for share, links in parts:
        for link, part in links.items():
            shares[link] += share * part
    return shares


MOST_HOSTS = 2048  # there is a line for every pair
MOST_PARTS = 4096  # uses of one link


class RouteTableError(PencilmapError):
    """Routes cannot be simulated."""


def table_text(routes: Routes, ends: dict[str, int], node_of_end: dict[int, int], latency_s: float = 0.0,
               injection_bytes_per_s: float = 0.0) -> str:
    """Return the table as text.

    Parameters
    ----------
    routes : Routes
    ends : dict of str to int
        Name and end of each host that sends or receives messages.
    node_of_end : dict of int to int
        Node of each end. Messages between ends of a node use no links.
    latency_s : float
        Of a link.
    injection_bytes_per_s : float
        Limit of all that a node sends, and of all that it receives; 0 for none.

    Raises
    ------
    RouteTableError
        If there are too many hosts, or messages are split into too many parts.
    """
    if len(ends) > MOST_HOSTS:
        raise RouteTableError(f"{len(ends)} hosts are too many for a simulation by routes; {MOST_HOSTS} are possible")
    pairs = {(a, b): routes.pieces(ends[a], ends[b]) if node_of_end[ends[a]] != node_of_end[ends[b]] else []
             for a in ends for b in ends if a != b}
    pieces = list(dict.fromkeys(piece for pieces_ in pairs.values() for piece in pieces_))
    kept = _kept(routes, pieces)
    scale = _scales(routes, pieces, kept)
    texts = {piece: _uses(routes, piece, scale) for piece in pieces}
    hops = {piece: float(sum(routes.links(piece).values())) for piece in pieces} if latency_s else {}
    lines = [f"host {name}" for name in ends]
    lines += [f"link {routes.name(link)} {routes.bytes_per_s(link) * times!r}" for link, times in scale.items()]
    if injection_bytes_per_s:
        lines += [f"link node{node}:{way} {injection_bytes_per_s!r}" for node in sorted(set(node_of_end.values()))
                  for way in ("injection", "ejection")]
    for (a, b), pieces_ in pairs.items():
        latency = sum(hops[piece] for piece in pieces_) * latency_s if latency_s else 0.0
        words = ["route", a, b, repr(latency), *filter(None, (texts[piece] for piece in pieces_))]
        if injection_bytes_per_s and pieces_:
            words += [f"node{node_of_end[ends[a]]}:injection", f"node{node_of_end[ends[b]]}:ejection"]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def _kept(routes: Routes, pieces: Sequence[Piece]) -> set[int]:
    """Return the links, without those whose use equals that of another link of the same bandwidth."""
    use: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        for link, part in routes.links(piece).items():
            use[link].append((number, part.numerator, part.denominator))
    first: dict[Any, int] = {}
    return {link for link, loads in use.items()
            if first.setdefault((routes.bytes_per_s(link), tuple(loads)), link) == link}


def _scales(routes: Routes, pieces: Sequence[Piece], kept: set[int]) -> dict[int, int]:
    """Return for each link the number of parts into which messages are split."""
    scales = dict.fromkeys(sorted(kept), 1)
    for piece in pieces:
        for link, part in routes.links(piece).items():
            if link in kept and scales[link] % part.denominator:
                scales[link] = lcm(scales[link], part.denominator)
                if scales[link] > MOST_PARTS:
                    raise RouteTableError("messages are split into more parts than a simulation can have on one link, "
                                          f"{MOST_PARTS}; take a routing with fewer routes, e.g. dimension-order or minimal")
    return scales


def _uses(routes: Routes, piece: Piece, scale: dict[int, int]) -> str:
    """Return the words of a route for one piece."""
    times = {link: int(part * scale[link]) for link, part in routes.links(piece).items() if link in scale}
    return " ".join(f"{routes.name(link)}*{n}" if n > 1 else routes.name(link) for link, n in times.items())
