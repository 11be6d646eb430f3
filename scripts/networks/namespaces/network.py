"""The network as values: names, addresses, routes, and the capacity and expected traffic of its links."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.network.torus import Torus
from pencilmap.model.traffic.loads import LinkLoads

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
    """A torus or mesh for network namespaces; invalid settings raise EmulationError.

    >>> network = EmulatedNetwork(Torus((4, 4), (False, False)), 10_000_000)
    >>> round(network.payload_bytes_per_s * 8 / 1e6, 3)     # Mbit/s that MPI can use
    9.36
    """

    torus: Torus  #: its bandwidth is ignored
    rate_bits_per_s: int  #: shaped rate of a link, headers included
    mtu: int = 1500  #: bytes of the largest IP packet
    #: "parity" or "plus"; the direction of a message that goes half way round: + from even and - from odd coordinates, or
    #: always +
    tie: str = "parity"

    def __post_init__(self) -> None:
        if not isinstance(self.torus, Torus):
            raise EmulationError("only a torus or mesh can be made of namespaces, not another network")
        if not 2 <= self.torus.n_nodes <= MOST_NODES:
            raise EmulationError(f"torus {self.torus} has {self.torus.n_nodes} nodes; 2 to {MOST_NODES} can be made")
        if set(self.torus.cables) != {1}:
            raise EmulationError(f"torus {self.torus} has several cables between neighbours; static routes use one")
        if not 64_000 <= self.rate_bits_per_s <= 10**10:
            raise EmulationError(f"rate {self.rate_bits_per_s} bit/s must be 64 kbit/s to 10 Gbit/s")
        if not 576 <= self.mtu <= 65535:
            raise EmulationError(f"mtu {self.mtu} must be 576 to 65535 bytes")
        if self.tie not in TIES:
            raise EmulationError(f"tie {self.tie!r} is unknown; known are {', '.join(TIES)}")

    @property
    def routing(self) -> str:
        """Name of the model's routing rule for the same routes."""
        return f"dimension-order:{self.tie}"

    @property
    def nodes(self) -> list[str]:
        """Names of the namespaces, by node number; they contain the coordinates."""
        return Hosts(self.torus).names(range(self.torus.n_nodes))

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

    def neighbour(self, node: int, i: int, direction: int) -> int | None:
        """Return the node next to `node` in dimension `i`, `direction` +1 or -1; None if the line ends there."""
        coordinate, n = self._coordinate(node, i), self.torus.shape[i]
        there = coordinate + direction
        if not 0 <= there < n:
            if not self.torus.is_ring(i):
                return None
            there %= n
        return int(node + (there - coordinate) * self.torus.strides[i])

    def ports(self, node: int) -> list[tuple[int, int, int]]:
        """Return (dimension, direction, neighbour) of every link that leaves a node."""
        return [(i, direction, there) for i in range(self.torus.n_dimensions) for direction in (1, -1)
                if (there := self.neighbour(node, i, direction)) is not None]

    def cables(self) -> list[tuple[int, int, int]]:
        """Return (node, dimension, neighbour upwards) of every cable."""
        return [(node, i, there) for node in range(self.torus.n_nodes) for i, direction, there in self.ports(node)
                if direction == 1]

    def next_hop(self, node: int, target: int) -> tuple[int, int, int] | None:
        """Return (dimension, direction, neighbour) of the next hop from `node` to `target`; None at the target."""
        for i in range(self.torus.n_dimensions):
            here, there = self._coordinate(node, i), self._coordinate(target, i)
            if here != there:
                direction = self._direction(i, here, there)
                return i, direction, node + ((here + direction) % self.torus.shape[i] - here) * self.torus.strides[i]
        return None

    def _direction(self, i: int, here: int, there: int) -> int:
        if not self.torus.is_ring(i):
            return 1 if there > here else -1
        n = self.torus.shape[i]
        upwards = 2 * ((there - here) % n)
        if upwards == n:
            return 1 if self.tie == "plus" or here % 2 == 0 else -1
        return 1 if upwards < n else -1

    def _coordinate(self, node: int, i: int) -> int:
        return node // self.torus.strides[i] % self.torus.shape[i]

    def device(self, i: int, direction: int) -> str:
        """Return the name of a node's end of a cable, e.g. ``xp`` and ``xm``."""
        return self.torus.axes[i] + ("p" if direction > 0 else "m")

    def link_index(self, i: int, direction: int, node: int) -> tuple[int, int, int]:
        """Return the index of the link in an array of loads, see `Torus.link_shape`."""
        return i, 0 if direction > 0 else 1, node


def address(node: int) -> str:
    """Return the IP address of a node on the torus."""
    return _address(77, node + 1)


def service_address(node: int) -> str:
    """Return the IP address of a node on the service network; -1 is the node of mpirun."""
    return _address(78, node + 1 if node >= 0 else 0xFFFE)


def _address(second, number):
    return f"10.{second}.{number >> 8}.{number & 255}"


@dataclass(frozen=True)
class LinkCheck:
    """The payload of a link beyond the run of a smaller transform, and its prediction; bytes of messages."""

    link: str  #: ``0-3:x+``: the node that the link leaves, dimension and direction
    predicted_bytes: Fraction
    carried_bytes: float  #: bytes of the counter without headers and acknowledgements

    @property
    def ratio(self) -> float | None:
        """Return carried over predicted bytes, None for a link that should be idle."""
        return self.carried_bytes / float(self.predicted_bytes) if self.predicted_bytes else None

    def as_dict(self) -> dict[str, Any]:
        """Return the check as JSON values."""
        return {"link": self.link, "predicted_bytes": float(self.predicted_bytes), "carried_bytes": self.carried_bytes,
                "ratio": self.ratio}


def check_links(network: EmulatedNetwork, wire_bytes: ArrayLike, loads: list[LinkLoads], without: list[LinkLoads],
                repetitions: int) -> list[LinkCheck]:
    """Compare the counters with the predicted loads; return a check for each existing link.

    Parameters
    ----------
    wire_bytes
        Array of shape ``torus.link_shape``: bytes of every link, less its bytes in the run of a smaller transform.
    loads, without
        Loads of the exchanges of a repetition of the transform, and of the smaller transform.
    """
    checks = []
    for node, name in enumerate(network.nodes):
        for i, direction, _ in network.ports(node):
            index = network.link_index(i, direction, node)
            predicted = _at(loads, index) - _at(without, index)
            checks.append(LinkCheck(f"{name.removeprefix('node-')}:{network.torus.axes[i]}{'+' if direction > 0 else '-'}",
                                    predicted * repetitions, float(np.asarray(wire_bytes)[index]) * network.payload_share))
    return checks


def _at(loads, index):
    return sum((Fraction(int(load.values[index]), load.denominator) for load in loads), Fraction(0))
