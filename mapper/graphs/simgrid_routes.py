"""Routes of SimGrid's platforms, and the graph whose only shortest paths they are.

SimGrid gives each pair of hosts one route, a list of links. A link is one resource for all routes that have it: a SHARED
link for both directions, too. In the graph, a resource that stands at one place of one route is a cable; any other becomes
two vertices joined by one link in one direction, which all its routes cross. A FATPIPE link never limits the sum of messages
and is left out, unless it is the slowest of a route.

The routes of all hosts are compared with the shortest paths of the graph. Hosts that hang alike on one vertex, with links of
their own, can be exchanged for each other, so two of them stand for all.
Source: get_global_route and get_local_route of the zones in src/kernel/routing of SimGrid 3.32.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NamedTuple

from pencilmap.model.base.errors import GraphError
from pencilmap.model.network.graph import MAX_VERTICES

MOST_STEPS = 4_000_000  # of the comparison of routes


class Link(NamedTuple):
    """A resource: one link, or one direction of a link whose directions are two resources."""

    name: str
    rate: float  #: bytes per second
    fatpipe: bool  #: whether each message has the whole rate


class Route(NamedTuple):
    """A route from gateway to gateway; between hosts and routers these are the ends."""

    source: str
    target: str
    links: tuple[int, ...]


Chain = tuple[str, str, tuple[int, ...]]  # links in a row between two vertices of the graph


@dataclass(eq=False)
class Zone:
    """A zone: a table of routes between its members, or a star of members around a centre."""

    name: str
    kind: str  #: full, floyd, dijkstra, star, none
    parent: "Zone | None"
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    up: dict[str, tuple[int, ...]] = field(default_factory=dict)  #: of a star: links from each member to the centre
    down: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def join(self, name: str, up: tuple[int, ...], down: tuple[int, ...]) -> None:
        """Join a member to the centre of a star."""
        self.up[name], self.down[name] = up, down


class Platform:
    """Hosts, routers, zones and links."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.place: dict[str, Zone | None] = {}  #: the zone of each host, router and zone
        self.hosts: dict[str, None] = {}
        self.zones: dict[str, Zone] = {}
        self.links: list[Link] = []
        self._trees: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._near: dict[str, Any] = {}

    def refusal(self, message: str) -> GraphError:
        """Return the error for a platform that cannot be read."""
        return GraphError(f"{self.label}: {message}")

    def add(self, name: str, zone: Zone | None, is_host: bool) -> None:
        """Add a host, a router, or the name of a zone. Raises GraphError if the name is taken."""
        if name in self.place:
            raise self.refusal(f"{name[:40]!r} is defined twice; every host, router and zone needs a name of its own")
        self.place[name] = zone
        if is_host:
            self.hosts[name] = None

    def add_zone(self, zone: Zone) -> Zone:
        """Add a zone to its parent. Raises GraphError if its name is taken."""
        self.add(zone.name, zone.parent, is_host=False)
        self.zones[zone.name] = zone
        return zone

    def is_in(self, name: str, zone: str) -> bool:
        """Return whether a host or a router is in a zone or in a zone within it."""
        return name in self.place and name not in self.zones and self.zones[zone] in self._around(name)

    def _around(self, name: str) -> list[Zone]:
        """Return the zones around a host, a router or a zone, the innermost first."""
        zones, zone = [], self.place[name]
        while zone is not None:
            zones.append(zone)
            zone = zone.parent
        return zones

    def route(self, source: str, target: str) -> tuple[int, ...]:
        """Return the links of the route between two hosts or routers.

        Raises
        ------
        GraphError
            If there is no route, or SimGrid's choice among several is not known.
        """
        if source == target:
            return ()
        a, b = self._around(source), self._around(target)
        if a[0] is b[0]:
            return self._local(a[0], source, target).links
        common = a[-1]
        while a and b and a[-1] is b[-1]:
            common = a.pop()
            b.pop()
        if not a or not b:
            raise self.refusal(f"{source[:40]} and {target[:40]} are in zones of which one is inside the other, and no "
                               "route joins them; put hosts beside zones into a zone of their own")
        between = self._local(common, a[-1].name, b[-1].name)
        return (*self.route(source, between.source), *between.links, *self.route(between.target, target))

    def _local(self, zone: Zone, source: str, target: str) -> Route:
        if zone.kind == "star" and source in zone.up and target in zone.down:
            return Route(source, target, tuple(dict.fromkeys((*zone.up[source], *zone.down[target]))))
        if zone.kind in ("floyd", "dijkstra"):
            return self._shortest(zone, source, target)
        if (source, target) not in zone.routes:
            raise self._no_route(zone, source, target)
        return zone.routes[source, target]

    def _no_route(self, zone: Zone, source: str, target: str) -> GraphError:
        return self.refusal(f"zone {zone.name[:40]} has no route from {source[:40]} to {target[:40]}; all hosts must reach "
                            "each other")

    def _shortest(self, zone: Zone, source: str, target: str) -> Route:
        """Return the route with the fewest links."""
        before = self._tree(zone, source)
        if target not in before:
            raise self._no_route(zone, source, target)
        legs, at = [], target
        while at != source:
            if len(before[at]) > 1:
                raise self.refusal(f"two ways from {source[:40]} to {at[:40]} have the fewest links of zone "
                                   f"{zone.name[:40]}, and SimGrid takes one of them; give the cables as an edge list, "
                                   "which shares such messages over both ways, or leave out links of one way")
            legs.append(zone.routes[before[at][0], at])
            at = before[at][0]
        legs.reverse()
        links = list(legs[0].links)
        for last, leg in pairwise(legs):
            if last.target != leg.source and zone.kind == "dijkstra":
                raise self.refusal(f"zone {zone.name[:40]} is entered at {last.target[:40]} and left at {leg.source[:40]}, "
                                   "which SimGrid's Dijkstra cannot do; write routing=\"Floyd\"")
            links += (*self.route(last.target, leg.source), *leg.links)
        return Route(legs[0].source, legs[-1].target, tuple(links))

    def _tree(self, zone: Zone, source: str) -> dict[str, list[str]]:
        """Return the members before each member on the ways with the fewest links from a source."""
        import networkx as nx  # slow to import, and only graphs need networkx

        if zone.name not in self._near:
            self._near[zone.name] = nx.DiGraph()
            self._near[zone.name].add_weighted_edges_from((*ends, len(route.links)) for ends, route in zone.routes.items())
        if (zone.name, source) not in self._trees:
            if len(self._trees) > 64:
                self._trees.clear()
            self._near[zone.name].add_node(source)
            self._trees[zone.name, source] = nx.dijkstra_predecessor_and_distance(self._near[zone.name], source)[0]
        return self._trees[zone.name, source]

    def chains(self) -> Iterator[Chain]:
        """Return the chains of links of which all routes are made. The centre of a star is a vertex of its own."""
        for zone in self.zones.values():
            centre = f"{zone.name}_switch"
            while centre in self.place:
                centre += "_"
            for name in zone.up:
                yield name, centre, zone.up[name]
                yield centre, name, zone.down[name]
            for route in zone.routes.values():
                yield route.source, route.target, route.links


def graph_of(platform: Platform, notes: Sequence[str]) -> Any:
    """Return the graph of a platform.

    Raises
    ------
    GraphError
        If its only shortest paths are not the routes of the platform.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    chains = _merged(platform)
    if 2 * len(shared := _shared(chains)) > MAX_VERTICES:
        raise platform.refusal(f"{len(shared)} links are each shared by several routes or by both directions; at most "
                               f"{MAX_VERTICES // 2} such links are supported")
    kept = _stand_for_all(platform, chains)
    few = [item for item in chains if all(end in kept or end not in platform.hosts for end in item[:2])]
    arcs, shared = _arcs(platform, chains, shared)
    problem = _difference(platform, _arcs(platform, few, shared)[0], kept)
    if problem and shared:  # routes of the same number of links get the same number of hops
        arcs, shared = _arcs(platform, chains, range(len(platform.links)), uniform=True)
        problem = _difference(platform, _arcs(platform, few, shared, uniform=True)[0], kept)
    if problem:
        raise platform.refusal(problem)
    if shared:
        one = platform.links[min(shared)].name
        notes = [*notes, f"links of {platform.label} that several routes or both directions share carry all their messages: "
                         f"{one[:40]} is {one[:40]}_in->{one[:40]}_out, between two switches of its own"]
    is_cables = not shared and all(arcs.get((b, a), (0.0,))[0] == rate for (a, b), (rate, _) in arcs.items())
    graph = nx.Graph(notes=list(notes)) if is_cables else nx.DiGraph(notes=list(notes))
    graph.add_nodes_from(platform.hosts, kind="host")
    names = _names(platform, arcs)
    graph.add_nodes_from((name for name in names.values() if name not in platform.hosts), kind="switch")
    graph.add_edges_from((names[a], names[b], {"bandwidth": rate}) for (a, b), (rate, _) in arcs.items())
    return graph


def _merged(platform: Platform) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return the chains with links, without FATPIPE links. The ends of a chain without links are one vertex."""
    above: dict[str, str] = {}

    def name_of(vertex: str) -> str:
        while vertex in above:
            vertex = above[vertex]
        return vertex

    kept, some_are_pipes = [], any(link.fatpipe for link in platform.links)
    for tail, head, links in platform.chains():
        if some_are_pipes:
            links = tuple(i for i in links if not platform.links[i].fatpipe)
        if links:
            kept.append((tail, head, links))
            continue
        # a host gives its name to a vertex, else a router, else the centre of a star
        low, high = sorted(map(name_of, (tail, head)), key=lambda v: (v in platform.hosts, v in platform.place))
        if low in platform.hosts and low != high:
            raise platform.refusal(f"between hosts {low[:40]} and {high[:40]} is no link whose bandwidth messages share, so "
                                   "there is nothing to predict; give a link between them")
        if low != high:
            above[low] = high
    if above:
        kept = [(name_of(tail), name_of(head), links) for tail, head, links in kept]
    return [item for item in kept if item[0] != item[1]]


def _shared(chains: list[tuple[str, str, tuple[int, ...]]]) -> set[int]:
    """Return the links that stand at several places of the routes."""
    at: dict[int, Hashable] = {}
    shared = set()
    for number, (tail, head, links) in enumerate(chains):
        for i, link in enumerate(links):
            place: Hashable = (tail, head) if len(links) == 1 else (number, i)
            if at.setdefault(link, place) != place:
                shared.add(link)
    return shared


def _arcs(platform: Platform, chains: list[tuple[str, str, tuple[int, ...]]], shared: set[int] | range,
          uniform: bool = False) -> tuple[dict[Any, tuple[float, int | None]], set[int]]:
    """Return rate and link of each arc of the graph, by its ends, and the links that are resources of their own.

    The latter are `shared`, and links whose arc is that of another link. A vertex is a name or a tuple: ("in", link) and
    ("out", link) are the ends of a resource of its own, ("end", link, ...) is between two links. Arcs between resources have
    no link, and a rate that is never the least. If `uniform`, and all links are shared, a link is as long as any other.
    """
    rate, shared = [link.rate for link in platform.links], set(shared)
    while True:
        arcs: dict[tuple[Any, Any], tuple[float, int | None]] = {}
        clash: set[int | None] = set()
        for number, (tail, head, links) in enumerate(chains):
            for a, b, link, is_own in _ways(tail, head, links, shared, uniform, number):
                strength = rate[link], link if is_own else None
                if (old := arcs.setdefault((a, b), strength)) != strength:
                    clash |= {strength[1], old[1]}
        if not clash:
            return arcs, shared
        shared |= {link for link in clash if link is not None}


def _ways(tail: str, head: str, links: Any, shared: set[int], uniform: bool, number: int) -> Any:
    """Return the arcs of a chain: ends, link, and whether the arc is the link."""
    if len(links) == 1 and links[0] not in shared:  # most chains
        return [(tail, head, links[0], True)]
    ways: list[tuple[Any, Any, int, bool]] = []
    at: Any = tail
    for i, link in enumerate(links):
        after = links[i + 1] if i + 1 < len(links) else None
        if link not in shared:
            to = head if after is None else ("in", after) if after in shared else ("end", link, number)
            ways.append((at, to, link, True))
            at = to
            continue
        if uniform and i:
            between = "end", links[i - 1], link
            ways.append((at, between, links[i - 1], False))
            at = between
        if at != ("in", link):
            ways.append((at, ("in", link), link, False))
        ways.append((("in", link), ("out", link), link, True))
        at = "out", link
    return ways if at == head else [*ways, (at, head, links[-1], False)]


def _stand_for_all(platform: Platform, chains: list[tuple[str, str, tuple[int, ...]]]) -> set[str]:
    """Return hosts that stand for all: two of those that hang on the same vertex, with like links of their own."""
    uses = Counter(chain.from_iterable(links for _, _, links in chains))
    out, into = defaultdict(list), defaultdict(list)
    for tail, head, links in chains:
        out[tail].append((head, links))
        into[head].append((tail, links))
    some_are_pipes, alike = any(link.fatpipe for link in platform.links), defaultdict(list)
    for host in platform.hosts:
        key: tuple[Any, ...] = (host,)
        forth, back = out[host], into[host]
        if len(forth) == len(back) == 1 and forth[0][0] == back[0][0]:
            links = (*forth[0][1], *back[0][1])
            key = forth[0][0], len(forth[0][1]), len(links)
            if any(uses[link] > 1 for link in links):
                own = {link: n for n, (link, count) in enumerate(Counter(links).items()) if count == uses[link]}
                key += tuple(own.get(link, ("shared", link)) for link in links)
        if some_are_pipes:  # which join zones, and whose rates matter
            zone: Any = platform.place[host]
            key += ((zone.name, *(platform.links[i].rate for i in (*zone.up[host], *zone.down[host])))
                    if host in zone.up else (host,))
        alike[key].append(host)
    return {host for hosts in alike.values() for host in hosts[:2]}


def _difference(platform: Platform, arcs: Any, kept: set[str]) -> str | None:
    """Return a sentence about a route that is not the only shortest path of the graph, or None."""
    import networkx as nx  # slow to import, and only graphs need networkx

    hosts, graph = [host for host in platform.hosts if host in kept], nx.DiGraph(list(arcs))
    graph.add_nodes_from(hosts)
    steps = len(hosts) * len(arcs)
    for source in hosts:
        if steps + 8 * len(hosts) ** 2 > MOST_STEPS:
            raise platform.refusal(f"{len(hosts)} hosts at different places are too many to compare all their routes; give "
                                   "the cables as an edge list")
        before = nx.predecessor(graph, source)
        for target in hosts:
            if target == source:
                continue
            route = [platform.links[i] for i in platform.route(source, target)]
            pipes = min((link.rate for link in route if link.fatpipe), default=float("inf"))
            names = ", ".join(link.name[:40] for link in route[:6])
            where = f"the route from {source[:40]} to {target[:40]} ({names})"
            if min((link.rate for link in route if not link.fatpipe), default=float("inf")) > pipes:
                return (f"{where} is limited by a link with sharing_policy=\"FATPIPE\", which gives each message its whole "
                        "bandwidth; this is not read, unless another link of the route is as slow")
            path, at, ways = [], target, 1
            while at != source and at in before:
                ways = max(ways, len(before[at]))
                path.append(arcs[before[at][0], at][1])
                at = before[at][0]
            steps += len(path)
            links = [platform.links[i] for i in path[::-1] if i is not None]
            if ways > 1 or links != [link for link in route if not link.fatpipe]:
                return (f"{where} is not the only shortest one over the links of the platform, and networks of files are "
                        "routed along shortest paths; leave out links that make a shorter way, or give the cables as an "
                        "edge list")
    return None


def _names(platform: Platform, arcs: dict[tuple[Any, Any], tuple[float, int | None]]) -> dict[Any, str]:
    """Return the name of each vertex."""
    used, names = set(platform.place), {}
    for vertex in dict.fromkeys(v for arc in arcs for v in arc):
        name = vertex if isinstance(vertex, str) else f"{platform.links[vertex[1]].name}_{vertex[0]}"
        while vertex != name and name in used:
            name += "_"
        used.add(name)
        names[vertex] = name
    return names
