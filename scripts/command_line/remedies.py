"""What to do about a refusal: the advice in its message, else that for its place in a file, its kind or its option."""

import re

import click

from pencilmap.model.base import errors
from pencilmap.model.base.errors import PencilmapError

_VERBS = ("add|allow|ask|begin|build|choose|confirm|copy|correct|delete|draw|end|give|install|keep|label|leave|let|list|"
          "make|mark|measure|mend|move|name|print|put|quote|raise|read|remove|rename|repeat|request|round|run|save|say|see|"
          "set|split|start|take|try|unset|use|wait|write")
_LISTS = r"(?:known|known names|types|allowed|available|classes|the (?:next|nearest) sizes) are"
_ADVICE = re.compile(rf"; (?=(?:{_VERBS}|{_LISTS})\b)")
_AFTER_A_COLON = re.compile(r": (?=(?:give|leave out|list|measure|run|take|use|(?:name|write) (?:it|them|the))\b)")
_LABEL = re.compile(r"(?!no |error)\S+( \S+){0,2}")  # before a colon: no sentence

#: kinds of errors, the narrower first: what to change, and the page of help that tells more
_CHANGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("the list of nodes", "nodes", ("AllocationError", "PartitionError")),
    ("the machine or its file", "machines", ("MachineError",)),
    ("the network or its file", "networks", ("TorusError", "NetworkError", "GraphError")),
    ("the grid or the transform", "transforms", ("GridError",)),
    ("the placement", "placements", ("PlacementError", "MappingError")),
    ("the placement file", "formats", ("MapfileError",)),
    ("the routing", "routings", ("RoutingError",)),
    ("the exchange", "exchanges", ("ExchangeError",)),
    ("the schedule", "schedules", ("ScheduleError",)),
    ("the quantity", "units", ("UnitError",)),
    ("the file of traffic", "traffic", ("TrafficError",)),
)


def in_two(message: str) -> tuple[str, str]:
    """Return what is wrong, and what to do: the part from the first imperative after a semicolon or colon on.

    >>> in_two("4x4 has 16 slots; take a grid with R*C = 16")
    ('4x4 has 16 slots', 'take a grid with R*C = 16')
    >>> in_two("torus 4x4x4 has no times: give a bandwidth")
    ('torus 4x4x4 has no times', 'give a bandwidth')
    """
    found = _ADVICE.search(message)
    if found is None:
        found = _AFTER_A_COLON.search(message)
        found = None if found and _LABEL.fullmatch(message[:found.start()]) else found
    return (message[:found.start()], message[found.end():]) if found else (message, "")


def remedy(message: str, error: BaseException, page: str) -> str:
    """Return what to do about an error whose message does not say it.

    Parameters
    ----------
    message : str
    error : Exception
    page : str
        The command that prints the page of help.

    Examples
    --------
    >>> remedy("a.map line 3: 'x' is not an integer", errors.MapfileError(), "pencilmap check --help")
    'correct line 3; see pencilmap help formats'
    >>> remedy("gone cannot be read: No such file or directory", errors.MapfileError(), "pencilmap check --help")
    'name a file that is there'
    """
    if isinstance(error, click.ClickException):
        return _of_option(error, page)
    told = next(((what, topic) for what, topic, names in _CHANGES
                 if any(isinstance(error, getattr(errors, name)) for name in names)), None)
    if message.endswith("No such file or directory"):
        return "name a file that is there" if "cannot be read" in message else "make its folder, or name another file"
    if "cannot be written" in message or isinstance(error, OSError):
        return "name another file, in a folder where there is room and you may write"
    if "cannot be read" in message:
        return "name another file"
    line = re.search(r" line ([0-9]+)\b", message)
    if line or told:
        see = f"; see pencilmap help {told[1]}" if told else ""
        return f"correct {f'line {line[1]}' if line else told and told[0]}{see}"
    return f"correct the input; see {page}" if isinstance(error, PencilmapError) else page


def _of_option(error, page):
    """Return what to do about an option or argument that click refuses."""
    parameter = getattr(error, "param", None)
    name = "" if parameter is None else parameter.opts[0] if isinstance(parameter, click.Option) else ""
    if isinstance(error, click.MissingParameter) and parameter is not None:
        value = parameter.make_metavar(error.ctx or click.get_current_context(silent=True))
        return f"give {' '.join(filter(None, (name, value)))}; see {page}"
    if isinstance(error, click.NoSuchOption):
        near = " or ".join(sorted(error.possibilities or ()))
        return f"{f'take {near}' if near else 'leave it out'}; see {page}"
    if isinstance(error, click.BadParameter) and name:
        return f"give {name} another value; see {page}"
    return page
