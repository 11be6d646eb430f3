"""Hosts on switches: the common part of trees, dragonflies and HyperX.

A host has one or more links, to one switch or to several. How its tasks use them:

even
    Every message is split evenly over all links. The part that leaves by link i arrives by link i of the other host. So the
    network consists of as many planes as a host has links, and each plane carries an equal share.
task
    Task t sends and receives by link t modulo the number of links (the nearest link of a core). Messages between different
    links meet in the switches.

Messages between tasks of a host stay in the host. A host link of a switch is one cable.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.network.graph import MAX_VERTICES, GraphNetwork, Level
from pencilmap.model.network.kind import Rates, bandwidths, whole

USES = ("even", "task")
HOST = "host"  # class of the cables between hosts and switches


def none() -> Ints:
    """Return an empty array."""
    return np.zeros(0, dtype=np.int64)


class Plane(NamedTuple):
    """The ends of the network between which some of the traffic travels."""

    share: Fraction  #: of every message
    links: Ints  #: int array, shape (E,); host link of each end
    switch: Ints  #: int array, shape (E,); switch of each end


@dataclass(frozen=True, eq=False)
class SwitchedNetwork(GraphNetwork):
    """Hosts with links to switches, and cables between switches in classes.

    The first class of links is `HOST`: the host links upwards, then the same links downwards.

    Parameters
    ----------
    links_per_host : int
    use : {"even", "task"}
    switch_of_link : int array, shape (N links_per_host,)
        Switch of link i of host n at ``n * links_per_host + i``. Switches are numbered from 0.
    """

    links_per_host: int = 1
    use: str = "even"
    switch_of_link: Ints = field(default_factory=none, repr=False)

    @property
    def n_switches(self) -> int:
        return len(self.vertices) - self.n_nodes

    @property
    def host_of_end(self) -> Ints:
        """Host of each end: int array, shape (E,)."""
        return np.arange(self.n_nodes * self.ends_per_node) // self.ends_per_node

    @property
    def ends_per_node(self) -> int:
        return self.links_per_host if self.use == "task" else 1

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the ends of ranks: the link of the task if each task uses one link, else the host."""
        L = self.ends_per_node
        return node if L == 1 else np.asarray(node) * L + np.asarray(slot) % L

    def planes(self) -> list[Plane]:
        """Return the planes of the network, see the module."""
        L = self.links_per_host
        links = np.arange(self.n_nodes * L)
        if self.use == "task":
            return [Plane(Fraction(1), links, self.switch_of_link)]
        return [Plane(Fraction(1, L), links[i::L], self.switch_of_link[i::L]) for i in range(L)]

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {**super().as_dict(), "links_per_host": self.links_per_host, "use": self.use,
                "classes": list(self.link_classes), "levels": {level.name: level.count for level in self.levels}}

    @property
    def title(self) -> str:
        return f"network {self.name}"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Hosts:
    """The hosts of a text form: names, and the switch of every link."""

    names: tuple[str, ...]
    links: int
    use: str
    switch_of_link: Ints


MOST_CABLES = 1 << 20  # between switches


def check_size(kind: str, switches: int, cables: int) -> None:
    """Raise NetworkError if there are too many switches, or too many cables between them."""
    if switches > MAX_VERTICES or cables > MOST_CABLES:
        raise NetworkError(f"network {kind}: {switches} switches and {cables} cables between them are too many; at most "
                           f"{MAX_VERTICES} and {MOST_CABLES} are possible")


HOST_NUMBERS = {"links": "links of a host to each of its switches", "rails": "switches that a host is linked to",
                "use": "how tasks use the links of their host: " + " or ".join(USES)}


def hosts_of(kind: str, values: dict[str, Any], switches: Ints, per_switch: int) -> Hosts:
    """Return hosts on some switches, the same number on each.

    Parameters
    ----------
    kind : str
    values : dict
        `HOST_NUMBERS` of the text form.
    switches : int array
        Switches with hosts. `rails` consecutive switches share their hosts: link i of each host leads to switch i modulo
        `rails`.
    per_switch : int
        Hosts that have a link to one switch.

    Raises
    ------
    NetworkError
        If the numbers do not fit.
    """
    links, rails, use = whole(kind, values, "links", 1), whole(kind, values, "rails", 1), values.get("use", USES[0])
    if use not in USES:
        raise NetworkError(f"network {kind}: use={str(use)[:40]!r} is unknown; tasks use their links in one of the ways "
                           f"{', '.join(USES)}")
    if len(switches) % rails:
        raise NetworkError(f"network {kind}: {len(switches)} switches with hosts are no multiple of rails={rails}; each "
                           "host is linked to as many consecutive switches as there are rails")
    n = len(switches) // rails * per_switch
    if n > MAX_VERTICES or n * links * rails > MOST_CABLES:
        raise NetworkError(f"network {kind}: {n} hosts with {links * rails} links each are too many; at most {MAX_VERTICES} "
                           f"hosts and {MOST_CABLES} links are possible")
    number, link = np.divmod(np.arange(n * links * rails), links * rails)
    names = tuple(f"n{unit:04d}-{i:02d}" for unit in range(len(switches) // rails) for i in range(per_switch))
    return Hosts(names, links * rails, use, switches[number // per_switch * rails + link % rails])


@dataclass
class Wiring:
    """Cables between switches, collected class by class."""

    hosts: Hosts
    classes: list[str]
    source: list[Ints]
    target: list[Ints]
    kind: list[Ints]

    @classmethod
    def of(cls, hosts: Hosts) -> "Wiring":
        """Return the cables of the hosts alone."""
        n, L = len(hosts.names), hosts.links
        host, switch = np.arange(n * L) // L, hosts.switch_of_link + n
        return cls(hosts, [HOST], [host, switch], [switch, host], [np.zeros(2 * n * L, dtype=np.int64)])

    def add(self, name: str, lower: Ints, upper: Ints) -> None:
        """Add a class of cables: the links from `lower` to `upper`, then the links back. Switches are numbered from 0."""
        n = len(self.hosts.names)
        self.source += [lower + n, upper + n]
        self.target += [upper + n, lower + n]
        self.kind.append(np.full(2 * len(lower), len(self.classes), dtype=np.int64))
        self.classes.append(name)

    def arguments(self, name: str, switches: Sequence[str], levels: Sequence[tuple[str, Ints, Sequence[str]]],
                  bandwidth: Rates | Sequence[float] | None) -> dict[str, Any]:
        """Return the arguments of `SwitchedNetwork`; `levels` are name, unit of each switch, names of the units."""
        source, hosts = np.concatenate(self.source), self.hosts
        first = hosts.switch_of_link[::hosts.links]
        return {"name": name, "vertices": (*hosts.names, *switches), "n_nodes": len(hosts.names), "source": source,
                "target": np.concatenate(self.target), "cables": (Fraction(1),) * len(source),
                "bandwidth": bandwidths(bandwidth, self.classes), "link_classes": tuple(self.classes),
                "class_of_link": np.concatenate(self.kind), "links_per_host": hosts.links, "use": hosts.use,
                "switch_of_link": hosts.switch_of_link,
                "levels": tuple(Level(level, np.concatenate([unit[first], unit]), tuple(names))
                                for level, unit, names in levels)}
