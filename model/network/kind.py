"""A row of the table of networks (`pencilmap.model.network.kinds`), and the options that all kinds share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pencilmap.model.base.errors import NetworkError, near
from pencilmap.model.base.units import parse
from pencilmap.model.network.network import Network

Rates = str | float | Mapping[str, str | float]


@dataclass(frozen=True)
class NetworkKind:
    """A kind of network. A new kind is a file that holds its row, and a line of the table.

    Parameters
    ----------
    name : str
        The word before the colon of its text form.
    usage : str
        Its text form, with example numbers.
    meaning : str
        One line for a table of all kinds.
    classes : str
        Its classes of links, for a table of all kinds.
    type : type
        Class of its networks.
    parse : callable
        Text form and options of `type` -> Network. Should raise a PencilmapError if the text is not understood.
    routings : tuple of str
        Names of the rules of `pencilmap.model.routing` that work on it, the default first.
    bracket : tuple of str
        Routings that stand for adaptive routers, from the best case to the worst; none if routers do not adapt.
    """

    name: str
    usage: str
    meaning: str
    classes: str
    type: type
    parse: Callable[..., Network]
    routings: tuple[str, ...]
    bracket: tuple[str, ...] = ()

    @property
    def default_routing(self) -> str:
        return self.routings[0]


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


def _pair(part, classes):
    name, _, rate = (word.strip() for word in part.partition("="))
    if not rate:
        raise NetworkError(f"bandwidth {part.strip()[:40]!r} names no class; write {','.join(f'{c}=...' for c in classes)}")
    return name, rate


def _rate(rate: str | float) -> float:
    found = parse(rate, "byte/s") if isinstance(rate, str) else float(rate)
    if not 0 < found < float("inf"):
        raise NetworkError(f"bandwidth {rate!r}: a cable needs more than 0 bytes per second")
    return found


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

    Examples
    --------
    >>> numbers("fat-tree", "leaves=32,use=task", {"leaves": "", "use": ""}, "")
    {'leaves': 32, 'use': 'task'}
    """
    found: dict[str, Any] = {}
    for part in filter(None, text[:1000].split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in known:
            raise NetworkError(f"network {kind}: {name[:40]!r} is unknown{near(name, known)}; write {usage}, with any of "
                               f"{', '.join(known)}")
        if name in found or not value:
            problem = "is given twice" if name in found else "has no value"
            raise NetworkError(f"network {kind}: {name} {problem}; write {usage}")
        found[name] = int(value) if value.isascii() and value.isdecimal() and len(value) < 8 else value
    return found


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
