"""Errors, one class per meaning; every message names the input, the allowed input, and the remedy."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(given: str, known: Iterable[str]) -> str:
    """Return the addition to a message about an unknown name: the known name that was probably meant, or nothing.

    >>> near("Fugaku", ["bluegene-l", "fugaku"]), near("bset", ["best", "box"]), near("cube", ["best", "box"])
    (' (did you mean fugaku?)', ' (did you mean best?)', '')
    """
    names = {name.casefold(): name for name in known}
    matches = get_close_matches(given.casefold(), names, n=1)
    return f" (did you mean {names[matches[0]]}?)" if matches else ""


def reason(error: OSError) -> str:
    """Return the system's reason for an error, without numbers of errors or a path that the message already names.

    >>> reason(FileNotFoundError(2, "No such file or directory", "a.txt"))
    'No such file or directory'
    """
    return error.strerror or str(error)


MOST_CHARACTERS = 400  # most characters of a message


def printable(text: str) -> str:
    r"""Return a text from elsewhere for a terminal, with unprintable characters written out.

    >>> printable("red is \x1b[31m")
    'red is \\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(message: str, most: int = MOST_CHARACTERS) -> str:
    r"""Return a message without its middle if the message is too long; the advice at the end stays.

    Terminal commands are written out.

    >>> shortened("name aaaaaaaaaaaaaaaaaa is unknown", 20), shortened("red is \x1b[31m")
    ('name aaa ... unknown', 'red is \\x1b[31m')
    """
    message = "\n".join(map(printable, message.split("\n")))
    if len(message) <= most:
        return message
    end = (most - 5) // 2
    return f"{message[:most - 5 - end]} ... {message[-end:]}"


class PencilmapError(Exception):
    """Base of all errors that input can cause; the message is short for any input."""

    def __str__(self) -> str:
        return shortened(super().__str__())


class UnitError(PencilmapError):
    """A quantity without a unit, with the wrong unit, or that is not a number."""


class TorusError(PencilmapError):
    """An impossible torus, or a coordinate outside the torus."""


class AllocationError(PencilmapError):
    """Usable nodes that are outside the torus or named twice; a rank on an unusable node."""


class PartitionError(PencilmapError):
    """A partition that the machine does not hand out, or a rule of partitions that contradicts itself."""


class MachineError(PencilmapError):
    """A machine file that is unknown, unreadable or incomplete."""


class GridError(PencilmapError):
    """A process grid that does not fit the tasks or the transform."""


class MappingError(PencilmapError):
    """Ranks and slots are not one to one."""


class PlacementError(PencilmapError):
    """A placement that is unknown or cannot be made for this torus and grid."""


class MapfileError(PencilmapError):
    """A placement file that cannot be read; the message names file and line."""


class NetworkError(PencilmapError):
    """A text that names no network, or a network that cannot be built."""


class GraphError(PencilmapError):
    """A graph file that cannot be read, or a graph that is not a network."""


class RoutingError(PencilmapError):
    """An unknown routing rule, or a rule that this network cannot follow."""


class ExchangeError(PencilmapError):
    """An exchange algorithm that the model does not know."""


class RecordError(PencilmapError):
    """A run record that cannot be read or does not follow the schema."""


class CalibrationError(PencilmapError):
    """Measured times that determine no figure of a machine."""


class FigureError(PencilmapError):
    """A picture that cannot be drawn or written."""


class TrafficError(PencilmapError):
    """A file of traffic that cannot be read, or a program that cannot be traced."""


class ScheduleError(PencilmapError):
    """A schedule that is not understood, or that a transform on this grid cannot have."""
