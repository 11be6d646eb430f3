"""Reading text forms of networks: numbers, bandwidths, hosts, and cables between switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import NetworkError, near
from pencilmap.model.base.units import parse
from pencilmap.model.network.graph import HOST, MAX_VERTICES, USES, Level

Rates = str | float | Mapping[str, str | float]


def bandwidths(rates: Rates | Sequence[float] | None, classes: Sequence[str]) -> tuple[float, ...] | None:
    """Return the bytes per second of a cable of each class.

    Parameters
    ----------
    rates : str, float, dict, sequence or None
        One rate for all classes, for example ``25 GB/s``, or one for each class: ``up=25 GB/s,host=12.5 GB/s``, a dict, or a
        sequence in the order of the classes. None: unknown.
    classes : sequence of str

    Raises
    ------
    NetworkError
        If a class is unknown or has no rate.

    Examples
    --------
    >>> bandwidths("host=100 Gbit/s, up=25 GB/s", ("host", "up"))
    (12500000000.0, 25000000000.0)
    >>> bandwidths(1e9, "xyz")
    (1000000000.0, 1000000000.0, 1000000000.0)
    """
    if rates is None:
        return None
    if isinstance(rates, str) and "=" in rates:
        rates = dict(_pair(part, classes) for part in rates.split(","))
    if isinstance(rates, Mapping):
        for name in rates:
            if name not in classes:
                raise NetworkError(f"bandwidth {name}: there is no class of links with this name{near(name, classes)}; "
                                   f"classes are {', '.join(classes)}")
        missing = [name for name in classes if name not in rates]
        if missing:
            raise NetworkError(f"bandwidth: the links of class {' and '.join(missing)} have no bandwidth; give one for each "
                               f"class, {','.join(f'{name}=...' for name in classes)}, or one for all")
        return tuple(_rate(rates[name]) for name in classes)
    if isinstance(rates, (str, int, float)):
        return (_rate(rates),) * len(classes)
    return tuple(float(rate) for rate in rates)


def _pair(part: str, classes: Sequence[str]) -> tuple[str, str]:
    name, _, rate = (word.strip() for word in part.partition("="))
    if not rate:
        raise NetworkError(f"bandwidth {part.strip()[:40]!r} names no class; write {','.join(f'{c}=...' for c in classes)}")
    return name, rate


def _rate(rate: str | float) -> float:
    bandwidth = parse(rate, "byte/s") if isinstance(rate, str) else float(rate)
    if not 0 < bandwidth < float("inf"):
        raise NetworkError(f"bandwidth {rate!r}: a cable needs more than 0 bytes per second")
    return bandwidth


def numbers(kind: str, text: str, known: Mapping[str, str], usage: str) -> dict[str, Any]:
    """Read ``name=number,name=number`` after the colon of a text form: dict from name to int or str.

    Parameters
    ----------
    kind, text : str
        Name of the kind, and the text after its colon.
    known : dict of str
        Names that may be given, with the sentence that a reader needs about each.
    usage : str
        Text form to show in errors.

    Raises
    ------
    NetworkError
        If a name is unknown, given twice, or without a value.

    Examples
    --------
    >>> numbers("fat-tree", "leaves=32,use=task", {"leaves": "", "use": ""}, "")
    {'leaves': 32, 'use': 'task'}
    """
    result: dict[str, Any] = {}
    for part in filter(None, text[:1000].split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in known:
            raise NetworkError(f"network {kind}: {name[:40]!r} is unknown{near(name, known)}; write {usage}, with any of "
                               f"{', '.join(known)}")
        if name in result or not value:
            problem = "is given twice" if name in result else "has no value"
            raise NetworkError(f"network {kind}: {name} {problem}; write {usage}")
        result[name] = int(value) if value.isascii() and value.isdecimal() and len(value) < 8 else value
    return result


MOST = 1 << 16  # of any number of a text form


def whole(kind: str, values: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """Return a whole number of a text form.

    Raises
    ------
    NetworkError
        If it is missing without a default, or not a whole number of 1 to `MOST`.
    """
    value = values.get(name, default)
    if value is None:
        raise NetworkError(f"network {kind}: {name} is missing; give {name}=NUMBER")
    if not isinstance(value, int) or not 1 <= value <= MOST:
        raise NetworkError(f"network {kind}: {name}={str(value)[:40]!r} is not possible; a whole number of 1 to {MOST} is "
                           "needed")
    return value


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
