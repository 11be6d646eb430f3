"""Platforms of SimGrid (XML): zones, clusters, routers and links, with the routes that SimGrid takes.

Zones with the routing Full, Floyd, Dijkstra, Cluster and Vivaldi are read with all that they hold, and so are clusters
whose routes are the only shortest ones. Anything else that decides about a route or a bandwidth is refused by its name.
Sources: "The platform file's reference" of SimGrid 3.32, and its surfxml_sax_cb.cpp and sg_platf.cpp for defaults.
"""

import re
from collections.abc import Callable
from math import prod
from typing import Any
from xml.etree.ElementTree import Element

from pencilmap.mapper.formats.lines import Document, xml_root
from pencilmap.mapper.graphs.simgrid_routes import Link, Platform, Route, Zone, graph_of
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import MOST_DEPTH
from pencilmap.model.network.graph import MAX_VERTICES

_RATE = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(?:([kMGTPEZY]?|[KMGTPEZY]i)([Bb])(?:ps|/s))?")
_RADICAL = re.compile(r"\s*[0-9]{1,9}(-[0-9]{1,9})?(\s*,\s*[0-9]{1,9}(-[0-9]{1,9})?)*\s*")
_KIND = {"full": "full", "floyd": "floyd", "dijkstra": "dijkstra", "dijkstracache": "dijkstra", "cluster": "star",
         "vivaldi": "star", "none": "none"}
_WITHOUT_ROUTES = {"prop", "config", "random", "model_prop", "process", "actor", "storage", "storage_type", "mount", "trace"}
_LINK_PROFILES = ("bandwidth_file", "state_file")
_OTHER_PROFILES = ("speed_file", "availability_file", "state_file", "latency_file")
_LINKS_THEMSELVES = ("; give the cables themselves, as an edge list or as routes between hosts and routers of a zone with "
                     'routing="Floyd"')


def looks_like(document: Document) -> bool:
    return re.search(r"<platform\b", document.text[:4000]) is not None


def read(document: Document) -> Any:
    """Return the graph.

    Raises
    ------
    GraphError
        If the document is not a platform, or its routes are not those along shortest paths of links.
    """
    reader = _Reader(document)
    reader.read(reader.root())
    return graph_of(reader.platform, sorted(reader.notes))


def rate(text: str) -> float | None:
    """Return bytes per second of a bandwidth of SimGrid, ``125MBps`` or, without a unit, bytes per second; None if strange.

    >>> rate("10Gbps"), rate("1KiBps"), rate("5"), rate("1 lightyear")
    (1250000000.0, 1024.0, 5.0, None)
    """
    match = _RATE.fullmatch(text.strip())
    try:
        value = float(match[1]) if match else 0.0
    except ValueError:
        value = 0.0
    if not match or not 0 < value < float("inf"):
        return None
    prefix = match[2] or ""
    base = 1024 if prefix.endswith("i") else 1000
    return value * base ** (" kMGTPEZY".index(prefix[:1].replace("K", "k") or " ")) / (8 if match[3] == "b" else 1)


class _Reader:
    """A reader of one document."""

    def __init__(self, document: Document) -> None:
        self.document, self.platform = document, Platform(document.label)
        self.notes: set[str] = set()
        self.links: dict[Any, Any] = {}  # name: number
        self.pairs: dict[Any, Any] = {}  # name of a link with a number for each direction: the two numbers

    def root(self) -> Element:
        root = xml_root(self.document, GraphError)
        if root.tag != "platform":
            raise GraphError(f"{self.document.label} is not a platform of SimGrid, but <{root.tag[:40]}>")
        version = root.get("version", "4.1")  # older versions without it have other elements
        if version not in ("4", "4.0", "4.1"):
            raise self.refusal(f"its version is {version[:20]}, and versions 4 and 4.1 are read; SimGrid's "
                               "simgrid_update_xml brings older files up to date")
        return root

    def read(self, root: Element) -> None:
        outer = [element for element in root if element.tag not in _WITHOUT_ROUTES and element.tag != "trace_connect"]
        if len(outer) != 1:
            raise self.refusal(f"it has {len(outer)} outermost zones; a platform with hosts has one"
                               + ("" if outer else " (a file of processes or actors is a deployment)"))
        for element in root:
            self.element(element, None, 0)
        settings = [prop.get("id", "") for config in root.iter("config") for prop in config.iter("prop")]
        if network := next((name for name in settings if name.startswith(("network/", "smpi/"))), None):
            self.notes.add(f"settings of simulations in {self.document.label}, such as {network[:40]}, are passed over")

    def refusal(self, message: str) -> GraphError:
        return self.platform.refusal(message)

    def given(self, element: Element, name: str) -> str:
        value = element.get(name)
        if value is None:
            raise self.refusal(f"an element <{element.tag}> has no {name}=")
        return value

    def rate(self, element: Element, name: str) -> float:
        text = self.given(element, name)
        number = rate(text)
        if number is None:
            raise self.refusal(f"{name} {text[:40]!r} of <{element.tag}> is no bandwidth of SimGrid, e.g. 125MBps or 10Gbps")
        return number

    def element(self, element: Element, zone: Zone | None, depth: int) -> None:
        """Read an element that stands in a zone, or outermost."""
        tag = element.tag
        if depth > MOST_DEPTH:
            raise self.refusal(f"zones are nested more than {MOST_DEPTH} deep")
        if tag in _WITHOUT_ROUTES:
            return
        if tag in ("zone", "AS"):
            self.zone(element, zone, depth)
        elif tag == "cluster":
            self.cluster(element, zone)
        elif tag == "trace_connect":
            self.profile(element.get("kind", "HOST_AVAIL"), element.get("kind") in ("BANDWIDTH", "LINK_AVAIL"),
                         self.given(element, "element"))
        elif tag in ("host", "peer", "router") and zone:
            for name in _OTHER_PROFILES:
                if element.get(name):
                    self.profile(name, False, "")
            self.platform.add(self.given(element, "id"), zone, is_host=tag != "router")
            if zone.kind == "star":
                zone.join(self.given(element, "id"), (), ())
            if tag == "peer":
                self.peer(element, zone)
        elif tag in ("link", "backbone") and zone:
            self.link(element)
        elif tag in ("route", "zoneRoute", "ASroute") and zone:
            self.route(element, zone)
        elif tag not in ("cabinet", "host_link") or not zone:
            raise self.refusal(f"<{tag[:40]}> is not read{_LINKS_THEMSELVES if tag.startswith('bypass') else ''}"
                               + ("; write the elements of the other file in its place" if tag == "include" else ""))

    def profile(self, name: str, changes_links: bool, what: str) -> None:
        if changes_links:
            raise self.refusal(f"the bandwidth or the state of {what[:40]!r} changes with the time ({name}), and a "
                               "prediction has one bandwidth; leave the profile out")
        self.notes.add(f"changes of hosts and latencies with the time in {self.document.label} are passed over: {name}")

    def zone(self, element: Element, parent: Zone | None, depth: int) -> None:
        name, routing = self.given(element, "id"), self.given(element, "routing")
        kind = _KIND.get(routing.lower())
        if kind is None:
            raise self.refusal(f"zone {name[:40]} has the routing {routing[:20]!r}; Full, Floyd, Dijkstra, DijkstraCache, "
                               f"Cluster, Vivaldi and None are read{_LINKS_THEMSELVES}")
        zone = self.platform.add_zone(Zone(name, kind, parent))
        for child in element:
            self.element(child, zone, depth + 1)
        if kind == "star" and routing.lower() == "cluster":
            self.members(element, zone)
        elif tag := next((child.tag for child in element if child.tag in ("cabinet", "host_link", "backbone")), None):
            raise self.refusal(f"zone {name[:40]} has <{tag}>, which stands only in a zone with routing=\"Cluster\"")

    # ---- links and routes -------------------------------------------------------------------------------------------------

    def add_link(self, name: str, bandwidth: float, fatpipe: bool = False) -> int:
        self.platform.links.append(Link(name, bandwidth, fatpipe))
        return len(self.platform.links) - 1

    def link(self, element: Element) -> None:
        name, policy = self.given(element, "id"), element.get("sharing_policy", "SHARED")
        if name in self.links or name in self.pairs:
            raise self.refusal(f"link {name[:40]!r} is defined twice; every link needs a name of its own")
        for profile in _LINK_PROFILES:
            if element.get(profile):
                self.profile(profile, True, name)
        if element.get("latency_file"):
            self.profile("latency_file", False, name)
        if policy in ("SPLITDUPLEX", "FULLDUPLEX"):
            self.pairs[name] = ends = tuple(self.add_link(f"{name}_{way}", self.rate(element, "bandwidth"))
                                            for way in ("UP", "DOWN"))
            self.links.update({f"{name}_UP": ends[0], f"{name}_DOWN": ends[1]})
        elif policy in ("SHARED", "FATPIPE"):
            self.links[name] = self.add_link(name, self.rate(element, "bandwidth"), policy == "FATPIPE")
        else:
            raise self.refusal(f"link {name[:40]!r} has the sharing_policy {policy[:20]!r}; SHARED, SPLITDUPLEX and FATPIPE "
                               "are read, and hosts on WIFI have no links of their own")

    def over(self, element: Element) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the links of a route, and those of the way back."""
        forth, back = [], []
        for child in element:
            if child.tag != "link_ctn":
                raise self.refusal(f"a route has <{child.tag[:40]}>; <link_ctn> is read")
            name, way = self.given(child, "id"), child.get("direction", "NONE")
            if way == "NONE" and name in self.links:
                forth.append(self.links[name])
                back.append(self.links[name])
            elif way in ("UP", "DOWN") and name in self.pairs:
                forth.append(self.pairs[name][way == "DOWN"])
                back.append(self.pairs[name][way == "UP"])
            elif name in self.links or name in self.pairs:
                raise self.refusal(f"a route names link {name[:40]!r} with direction {way[:10]}; a link with the policy "
                                   "SPLITDUPLEX has direction UP or DOWN in a route, and any other link has none")
            else:
                raise self.refusal(f"a route names link {name[:40]!r}, which is not defined before it")
        return tuple(forth), tuple(back[::-1])

    def route(self, element: Element, zone: Zone) -> None:
        src, dst = ends = self.given(element, "src"), self.given(element, "dst")
        if strange := next((end for end in ends if self.platform.place.get(end) is not zone), None):
            raise self.refusal(f"a route of zone {zone.name[:40]} ends at {strange[:40]!r}, which is no host, router or "
                               "zone in it")
        gates = ends if element.tag == "route" else (self.given(element, "gw_src"), self.given(element, "gw_dst"))
        for end, gate in zip(ends, gates):
            if (end in self.platform.zones) != (element.tag != "route") or (end != gate
                                                                            and not self.platform.is_in(gate, end)):
                raise self.refusal(f"a route of zone {zone.name[:40]} ends at {end[:40]!r} with the gateway {gate[:40]!r}; "
                                   "<route> joins hosts and routers, and <zoneRoute> zones by gateways in them")
        if zone.kind in ("star", "none"):
            raise self.refusal(f"zone {zone.name[:40]} has a route from {src[:40]} to {dst[:40]}, which its kind of routing "
                               "has not; write routing=\"Full\" or \"Floyd\"")
        forth, back = self.over(element)
        if src == dst:
            return  # a host's way to itself is no part of the network
        if not forth:
            raise self.refusal(f"the route from {src[:40]} to {dst[:40]} has no links")
        both = element.get("symmetrical", "YES").upper() == "YES"
        for key, route in [((src, dst), Route(*gates, forth))] + [((dst, src), Route(*gates[::-1], back))] * both:
            if key in zone.routes:
                raise self.refusal(f"the route from {key[0][:40]} to {key[1][:40]} is given twice; routes hold for both "
                                   'directions unless they have symmetrical="NO"')
            zone.routes[key] = route

    # ---- stars ------------------------------------------------------------------------------------------------------------

    def peer(self, element: Element, zone: Zone) -> None:
        name = self.given(element, "id")
        if zone.kind != "star":
            raise self.refusal(f"peer {name[:40]} is in zone {zone.name[:40]}, whose routing is not Vivaldi")
        zone.join(name, (self.add_link(f"link_{name}_UP", self.rate(element, "bw_out")),),
                  (self.add_link(f"link_{name}_DOWN", self.rate(element, "bw_in")),))

    def members(self, element: Element, zone: Zone) -> None:
        """Read what joins the hosts of a zone with routing Cluster: a backbone, links of hosts, and cabinets."""
        backbones = [item.get("id") for item in element.iter("backbone")]
        if len(backbones) > 1:
            raise self.refusal(f"zone {zone.name[:40]} has {len(backbones)} backbones; it can have one")
        backbone = tuple(self.links[name] for name in backbones)
        for child in element:
            if child.tag == "host_link":
                name = self.given(child, "id")
                if self.platform.place.get(name) is not zone or zone.up.get(name):
                    raise self.refusal(f"<host_link> of {name[:40]!r}: it is no host of zone {zone.name[:40]}, or has two")
                up, down = (self.links.get(self.given(child, key)) for key in ("up", "down"))
                if up is None or down is None:
                    raise self.refusal(f"<host_link> of {name[:40]} names a link that is not defined; of a link with the "
                                       "policy SPLITDUPLEX, LINK_UP and LINK_DOWN are the ends")
                zone.join(name, (up, *backbone), (*backbone, down))
            elif child.tag == "cabinet":
                bandwidth = self.rate(child, "bw")
                for _, host in self.hosts(child, zone):
                    up, down = (self.add_link(f"link_{host}_{way}", bandwidth) for way in ("UP", "DOWN"))
                    zone.join(host, (up, *backbone), (*backbone, down))

    def hosts(self, element: Element, zone: Zone) -> list[tuple[int, str]]:
        """Add the hosts of a cluster or a cabinet to its zone; return their numbers and names."""
        name, radical = self.given(element, "id"), self.given(element, "radical")
        if not _RADICAL.fullmatch(radical):
            raise self.refusal(f"radical {radical[:40]!r} of <{element.tag}> {name[:40]} is not numbers such as 0-63")
        result: list[tuple[int, str]] = []
        for part in radical.split(","):
            low, high = (int(number) for number in (part.strip().split("-") * 2)[:2])
            if len(self.platform.hosts) + len(result) + high - low >= MAX_VERTICES:
                raise self.refusal(f"with <{element.tag}> {name[:40]} it has more than the {MAX_VERTICES} hosts that are "
                                   "supported")
            result += [(number, f"{element.get('prefix', '')}{number}{element.get('suffix', '')}")
                       for number in range(low, high + 1)]
        for _, host in result:
            self.platform.add(host, zone, is_host=True)
        return result

    def cluster(self, element: Element, parent: Zone | None) -> None:
        name, topology = self.given(element, "id"), element.get("topology", "FLAT")
        policy = element.get("sharing_policy", "SPLITDUPLEX")
        if policy not in ("SPLITDUPLEX", "FULLDUPLEX", "SHARED"):
            raise self.refusal(f"cluster {name[:40]} has the sharing_policy {policy[:20]!r}; SHARED and SPLITDUPLEX are "
                               "read")
        zone = self.platform.add_zone(Zone(name, "star" if topology == "FLAT" else "dijkstra", parent))
        hosts, bandwidth = self.hosts(element, zone), self.rate(element, "bw")

        def link(label: str) -> tuple[Any, ...]:
            if policy == "SHARED":
                return (self.add_link(label, bandwidth),) * 2
            return tuple(self.add_link(f"{label}_{way}", bandwidth) for way in ("UP", "DOWN"))

        if topology != "FLAT":
            self.tree_or_ring(element, zone, [host for _, host in hosts], link)
            return
        backbone: tuple[int, ...] = ()
        if element.get("bb_bw"):
            label = f"{name}_backbone"
            self.links[label] = self.add_link(label, self.rate(element, "bb_bw"),
                                              element.get("bb_sharing_policy") == "FATPIPE")
            backbone = (self.links[label],)
        elif not re.fullmatch(r"0*\.?0*[a-z]*", element.get("bb_lat", "")):
            raise self.refusal(f"cluster {name[:40]} has bb_lat= and no bb_bw=; give the bandwidth of its backbone, too")
        limit = self.rate(element, "limiter_link") if element.get("limiter_link") else None
        for number, host in hosts:
            own = () if limit is None else (self.add_link(f"{name}_link_{number}_limiter", limit),)
            up, down = link(f"{name}_link_{number}")
            zone.join(host, (*own, up, *backbone), (*backbone, down, *own))
        router = element.get("router_id") or f"{element.get('prefix', '')}{name}_router{element.get('suffix', '')}"
        self.platform.add(router, zone, is_host=False)
        zone.join(router, (), ())

    def tree_or_ring(self, element: Element, zone: Zone, hosts: Any, link: Callable[..., Any]) -> None:
        """Add the links of a fat tree or a torus, if no two hosts have two shortest paths, of which SimGrid takes one."""
        topology, parameters = element.get("topology", ""), element.get("topo_parameters", "")
        parts = parameters.split(";") if re.fullmatch(r"[1-9][0-9]{0,5}([,;][1-9][0-9]{0,5})*", parameters) else []
        sizes = [[int(n) for n in part.split(",")] for part in parts]
        is_tree = topology == "FAT_TREE" and len(sizes) == 4 and {len(size) for size in sizes[1:]} == set(sizes[0])
        if not (is_tree or (topology == "TORUS" and len(sizes) == 1)) or element.get("limiter_link"):
            raise self.refusal(f"cluster {zone.name[:40]} has topology {topology[:20]} {parameters[:40]!r}"
                               f"{' with a limiter_link' * bool(element.get('limiter_link'))}; FLAT, TORUS 5 and FAT_TREE "
                               "2;4,4;1,1;1,1 are read; for a dragonfly give the text dragonfly:... as `network`")
        count = prod(sizes[is_tree])
        if count != len(hosts):
            raise self.refusal(f"cluster {zone.name[:40]} has {len(hosts)} hosts, and its topology {count}")
        is_ring = not is_tree and count in sizes[0] and (count % 2 == 1 or count == 2)
        if not is_ring and (not is_tree or {*sizes[2], *sizes[3]} != {1}):
            text = "the text fat-tree:..., with --routing static," if is_tree else "x".join(map(str, sizes[0][::-1]))
            raise self.refusal(f"in cluster {zone.name[:40]} ({topology} {parameters[:40]}) hosts have several "
                               f"shortest paths, and SimGrid's choice among them is not read; give {text} as `network`, "
                               "and names with `nodes`")
        level = hosts
        for i, n in enumerate(sizes[1] if is_tree else ()):
            above = [f"{zone.name}_L{i + 1}_{number}" for number in range(len(level) // n)]
            for switch in above:
                self.platform.add(switch, zone, is_host=False)
            for number, vertex in enumerate(level):
                self.join(zone, vertex, above[number // n], link)
            level = above
        cables = 0 if is_tree else count // 2 if count < 3 else count
        for number, host in enumerate(hosts[:cables]):
            self.join(zone, host, hosts[(number + 1) % count], link)

    def join(self, zone: Any, a: str, b: str, link: Callable[..., Any]) -> None:
        forth, back = link(f"{zone.name}_link_from_{a}_to_{b}")
        zone.routes[a, b], zone.routes[b, a] = Route(a, b, (forth,)), Route(b, a, (back,))
