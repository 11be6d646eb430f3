"""The network as values: places, cables, addresses, routes, and the capacity and expected traffic of its links.

A place is a namespace: a host, or a switch; hosts have the first numbers. A port of a place is (i, direction, neighbour). On
a torus, i is a dimension. On a tree, i is a cable, and direction is +1 at its lower end.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.kinds.fat_tree import FatTree
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.scripts.networks.routes import Ways

Port = tuple[int, int, int]


class TorusWiring:
    """A torus or mesh with dimension order."""

    def __init__(self, torus: Torus, tie: str) -> None:
        self.torus, self.tie = torus, tie
        self.routing = f"dimension-order:{tie}"
        self.names = Hosts(torus).names(range(torus.n_nodes))

    def neighbour(self, node: int, i: int, direction: int) -> int | None:
        """Return the node next to `node` in dimension `i`, `direction` +1 or -1; None if the line ends there."""
        coordinate, n = self._coordinate(node, i), self.torus.shape[i]
        there = coordinate + direction
        if not 0 <= there < n:
            if not self.torus.is_ring(i):
                return None
            there %= n
        return int(node + (there - coordinate) * self.torus.strides[i])

    def ports(self, place: int) -> list[Port]:
        """Return the port of every link that leaves a place."""
        return [(i, direction, neighbour) for i in range(self.torus.n_dimensions) for direction in (1, -1)
                if (neighbour := self.neighbour(place, i, direction)) is not None]

    def next_hop(self, place: int, target: int) -> Port | None:
        """Return the port towards a host; None at the host."""
        for i in range(self.torus.n_dimensions):
            here, coordinate = self._coordinate(place, i), self._coordinate(target, i)
            if here != coordinate:
                direction = self._direction(i, here, coordinate)
                return i, direction, place + ((here + direction) % self.torus.shape[i] - here) * self.torus.strides[i]
        return None

    def _direction(self, i: int, here: int, number: int) -> int:
        if not self.torus.is_ring(i):
            return 1 if number > here else -1
        n = self.torus.shape[i]
        upwards = 2 * ((number - here) % n)
        if upwards == n:
            return 1 if self.tie == "plus" or here % 2 == 0 else -1
        return 1 if upwards < n else -1

    def _coordinate(self, node: int, i: int) -> int:
        return node // self.torus.strides[i] % self.torus.shape[i]

    def device(self, i: int, direction: int) -> str:
        """Return the axis and the direction, e.g. ``xp`` and ``xm``."""
        return self.torus.axes[i] + ("p" if direction > 0 else "m")

    def link_index(self, i: int, direction: int, place: int) -> tuple[int, ...]:
        return i, 0 if direction > 0 else 1, place

    def link_name(self, i: int, direction: int, place: int) -> str:
        return f"{self.names[place].removeprefix('node-')}:{self.torus.axes[i]}{'+' if direction > 0 else '-'}"


class TreeWiring:
    """A fat tree with static routes. The kernel's choice among several next hops is not even, so ECMP is not possible."""

    routing = "static"

    def __init__(self, tree: FatTree) -> None:
        self.tree, self.ways = tree, Ways(tree)
        self.names = list(tree.vertices)

    @cached_property
    def _upwards(self) -> list[int]:
        """Number of the link upwards of each cable."""
        return [link for link, (a, b) in enumerate(zip(self.tree.source.tolist(), self.tree.target.tolist())) if a < b]

    @cached_property
    def _port_of_link(self) -> dict[int, Port]:
        result = {}
        for cable, up in enumerate(self._upwards):
            for link, direction in ((up, 1), (self.ways.back[up], -1)):
                result[link] = cable, direction, int(self.tree.target[link])
        return result

    def ports(self, place: int) -> list[Port]:
        return [port for link, port in self._port_of_link.items() if self.tree.source[link] == place]

    def next_hop(self, place: int, target: int) -> Port | None:
        """Return the port towards a host; None at the host, and at switches that no route to it passes."""
        return self._next.get((place, target))

    @cached_property
    def _next(self) -> dict[tuple[int, int], Port]:
        """The port towards each host, at every place on the way from another host."""
        n, result = self.tree.n_nodes, {}
        leaf, number = (n + self.tree.switch_of_link).tolist(), self.tree.number_of_host.tolist()
        for target in range(n):
            for source in set(range(n)) - {target}:
                way = self.ways.static(leaf[source], leaf[target], number[target])
                for link in (source, *way, n + target):  # host links upwards have the numbers of their hosts
                    result[int(self.tree.source[link]), target] = self._port_of_link[link]
        return result

    def device(self, i: int, direction: int) -> str:
        """Return the cable and its end, e.g. ``c7p`` at the lower end."""
        return f"c{i}{'p' if direction > 0 else 'm'}"

    def link_index(self, i: int, direction: int, place: int) -> tuple[int, ...]:
        index = np.unravel_index(self.tree.place_of_link[self._link(i, direction)], self.tree.link_shape)
        return tuple(map(int, index))

    def link_name(self, i: int, direction: int, place: int) -> str:
        return str(self.tree.link_number(self._link(i, direction)))

    def _link(self, i: int, direction: int) -> int:
        up = self._upwards[i]
        return up if direction > 0 else self.ways.back[up]


def wiring_of(network: Network, tie: str) -> TorusWiring | TreeWiring | None:
    """Return the wiring of a network; None if it cannot be made of namespaces."""
    if isinstance(network, Torus):
        return TorusWiring(network, tie)
    return TreeWiring(network) if isinstance(network, FatTree) and network.links_per_host == 1 else None


MOST_NODES = 256
HEADQUARTERS = "hq"  # the node of mpirun, with an unshaped link to every node, as Blue Gene has a service network
TIES = ("parity", "plus")
IP_AND_TCP = 52   # headers in a packet: 20 of IP, 20 of TCP, 12 of the time stamps that Linux adds
ETHERNET = 14
ACKNOWLEDGEMENT = (ETHERNET + IP_AND_TCP) / 2  # a packet without data for every two with data


class EmulationError(PencilmapError):
    """A network cannot be made of namespaces, or a run failed."""


@dataclass(frozen=True)
class EmulatedNetwork:
    """A torus, mesh or fat tree for network namespaces; invalid settings raise EmulationError.

    >>> from pencilmap.model.network.torus import Torus
    >>> network = EmulatedNetwork(Torus((4, 4), (False, False)), 10_000_000)
    >>> round(network.payload_bytes_per_s * 8 / 1e6, 3)     # Mbit/s that MPI can use
    9.36
    """

    network: Network  #: its bandwidth is ignored
    rate_bits_per_s: int  #: shaped rate of a link, headers included
    mtu: int = 1500  #: bytes of the largest IP packet
    #: "parity" or "plus"; the direction of a message that goes half way round: + from even and - from odd coordinates, or
    #: always +
    tie: str = "parity"

    def __post_init__(self) -> None:
        if wiring_of(self.network, self.tie) is None:
            raise EmulationError("only a torus, a mesh, or a fat tree whose hosts have one link can be made of namespaces, "
                                 f"not {self.network.title}")
        if not 2 <= self.network.n_nodes <= len(self.nodes) <= MOST_NODES:
            raise EmulationError(f"{self.network.title} has {self.network.n_nodes} nodes"
                                 f"{self._switches()}; 2 to {MOST_NODES} can be made")
        if set(getattr(self.network, "cables", (1,))) != {1}:
            raise EmulationError(f"{self.network.title} has several cables between neighbours; static routes use one")
        if not 64_000 <= self.rate_bits_per_s <= 10**10:
            raise EmulationError(f"rate {self.rate_bits_per_s} bit/s must be 64 kbit/s to 10 Gbit/s")
        if not 576 <= self.mtu <= 65535:
            raise EmulationError(f"mtu {self.mtu} must be 576 to 65535 bytes")
        if self.tie not in TIES:
            raise EmulationError(f"tie {self.tie!r} is unknown; known are {', '.join(TIES)}")

    def _switches(self) -> str:
        more = len(self.nodes) - self.network.n_nodes
        return f" and {more} switches" if more else ""

    @cached_property
    def wiring(self) -> TorusWiring | TreeWiring:
        """Its places, cables and routing tables."""
        wiring = wiring_of(self.network, self.tie)
        assert wiring is not None  # else it would not have been made
        return wiring

    def job(self, runs: list[dict[str, Any]], timeout_s: float) -> dict[str, Any]:
        """Return the job of a box with these runs, each of at most `timeout_s` seconds."""
        return {"network": self.text, "rate_bits_per_s": self.rate_bits_per_s, "mtu": self.mtu, "tie": self.tie,
                "runs": runs, "timeout_s": timeout_s}

    @property
    def text(self) -> str:
        """The network as `pencilmap.model.kinds.network_named` reads it."""
        return str(self.network)

    @property
    def routing(self) -> str:
        """Name of the model's routing rule for the same routes."""
        return self.wiring.routing

    @property
    def nodes(self) -> list[str]:
        """Names of the namespaces, by number: the hosts, then switches."""
        return self.wiring.names

    @property
    def payload_share(self) -> float:
        """Payload bytes per byte on a link: the rest are headers and acknowledgements."""
        return (self.mtu - IP_AND_TCP) / (self.mtu + ETHERNET + ACKNOWLEDGEMENT)

    @property
    def payload_bytes_per_s(self) -> float:
        """Bytes per second that MPI can send over a link."""
        return self.rate_bits_per_s / 8 * self.payload_share

    @property
    def burst_bytes(self) -> int:
        """Ten milliseconds of the link: less loses tokens if the kernel is late, more sends data above the rate."""
        return max(2 * (self.mtu + 50), self.rate_bits_per_s // 800)

    def cables(self) -> list[Port]:
        """Return (namespace, i, neighbour) of every cable, from the end with direction +1."""
        return [(node, i, port) for node in range(len(self.nodes)) for i, direction, port in self.wiring.ports(node)
                if direction == 1]


def address(node: int) -> str:
    """Return the IP address of a node on the torus."""
    return _address(77, node + 1)


def service_address(node: int) -> str:
    """Return the IP address of a node on the service network; -1 is the node of mpirun."""
    return _address(78, node + 1 if node >= 0 else 0xFFFE)


def _address(second: int, number: int) -> str:
    return f"10.{second}.{number >> 8}.{number & 255}"


@dataclass(frozen=True)
class LinkCheck:
    """The payload of a link beyond the run of a smaller transform, and its prediction; bytes of messages."""

    link: str  #: ``0-3:x+``: the node that the link leaves, dimension and direction; on a tree its ends
    predicted_bytes: Fraction
    carried_bytes: float  #: of data, by the counters

    @property
    def ratio(self) -> float | None:
        """Return carried over predicted bytes, None for a link that should be idle."""
        return self.carried_bytes / float(self.predicted_bytes) if self.predicted_bytes else None

    def as_dict(self) -> dict[str, Any]:
        """Return the check as JSON values."""
        return {"link": self.link, "predicted_bytes": float(self.predicted_bytes), "carried_bytes": self.carried_bytes,
                "ratio": self.ratio}


def check_links(network: EmulatedNetwork, sent_bytes: ArrayLike, loads: list[LinkLoads], without: list[LinkLoads],
                repetitions: int) -> list[LinkCheck]:
    """Compare the counters with the predicted loads; return a check for each existing link.

    Parameters
    ----------
    sent_bytes
        Array of shape ``network.link_shape``: data of every link, less its data in the run of a smaller transform.
    loads, without
        Loads of the exchanges of a repetition of the transform, and of the smaller transform.
    """
    checks = []
    for node in range(len(network.nodes)):
        for i, direction, _ in network.wiring.ports(node):
            index = network.wiring.link_index(i, direction, node)
            predicted = _at(loads, index) - _at(without, index)
            checks.append(LinkCheck(network.wiring.link_name(i, direction, node), predicted * repetitions,
                                    float(np.asarray(sent_bytes)[index])))
    return checks


def _at(loads: list[LinkLoads], index: tuple[int, ...]) -> Fraction:
    return sum((Fraction(load.values[index].item()) / load.denominator for load in loads), Fraction(0))
