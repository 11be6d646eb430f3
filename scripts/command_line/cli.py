"""The command `pencilmap`: its groups of commands, the errors that end it, and what to do about a refusal."""

import errno
import io
import os
import re
import signal
import sys
from contextlib import suppress
from typing import Any

import click

from pencilmap.mapper.base.progress import by_signal
from pencilmap.model.base import errors
from pencilmap.model.base.errors import PencilmapError, reason, shortened
from pencilmap.model.base.reading import in_a_line, noting_inputs
from pencilmap.scripts.command_line import commands
from pencilmap.scripts.command_line.interrupts import asked, running, said
from pencilmap.scripts.command_line.pages import Folder, show_topic, spelled
from pencilmap.scripts.command_line.tables import echo, say

_VERBS = ("add|allow|ask|begin|build|choose|confirm|copy|correct|delete|draw|end|give|install|keep|label|leave|let|list|"
          "make|mark|measure|mend|move|name|print|put|quote|raise|read|remove|rename|repeat|request|round|run|save|say|see|"
          "set|split|start|take|try|unset|use|wait|write")
_LISTS = r"(?:known|known names|types|allowed|available|classes|the (?:next|nearest) sizes) are"
_ADVICE = re.compile(rf"; (?=(?:{_VERBS}|{_LISTS})\b)")
_AFTER_A_COLON = re.compile(r": (?=(?:give|leave out|list|measure|run|take|use|(?:name|write) (?:it|them|the))\b)")
_OUTSIDE = re.compile(r"\bnode \S.* is outside (?!of )")
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
    match = _ADVICE.search(message)
    if match is None:
        match = _AFTER_A_COLON.search(message)
        match = None if match and _LABEL.fullmatch(message[:match.start()]) else match
    return (message[:match.start()], message[match.end():]) if match else (message, "")


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
    >>> remedy("a.map line 3: node (9, 0) is outside torus 4x4", errors.MapfileError(), "pencilmap check --help")
    'name the network that has the node with --network, or correct line 3; see pencilmap help formats'
    >>> remedy("gone cannot be read: No such file or directory", errors.MapfileError(), "pencilmap check --help")
    'name a file that is there'
    """
    if isinstance(error, click.ClickException):
        return _of_option(error, page)
    change = next(((what, topic) for what, topic, names in _CHANGES
                   if any(isinstance(error, getattr(errors, name)) for name in names)), None)
    if message.endswith("No such file or directory"):
        return "name a file that is there" if "cannot be read" in message else "make its folder, or name another file"
    if "cannot be written" in message or isinstance(error, OSError):
        return "name another file, in a folder where there is room and you may write"
    if "cannot be read" in message:
        return "name another file"
    line = re.search(r" line ([0-9]+)\b", message)
    if line or change:
        see = f"; see pencilmap help {change[1]}" if change else ""
        wrong = f"correct {f'line {line[1]}' if line else change and change[0]}"
        if _OUTSIDE.search(message):
            wrong = f"name the network that has the node with --network, or {wrong if line else 'take another node'}"
        return wrong + see
    return f"correct the input; see {page}" if isinstance(error, PencilmapError) else page


def _of_option(error: BaseException, page: str) -> str:
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


GROUPS = {
    "Place": ("plan", "predict", "map", "check"),
    "Look": ("network", "draw", "trace"),
    "Test": ("simulate", "validate", "compare", "report"),
    "Study": ("study",),
}
RENAMED = {
    "advise": "pencilmap plan", "shapes": "pencilmap plan --nodes K, or pencilmap study shapes",
    "convert": "pencilmap map --from FILE", "machines": "pencilmap network --machines",
    "discover": "pencilmap network",
    **{name: f"pencilmap study {name}" for name in ("calibrate", "scaling", "transposes", "reproduce", "demo")},
}
ENDING = """Begin with:  pencilmap plan --machine fugaku --nodes 4x6x16 --fft 512
Help:        pencilmap COMMAND --help
             pencilmap help headings (or networks, placements, formats, ...)
Exit status: 0; 1 if the question is refused; 2 if the command line is wrong"""


@click.group("study", cls=Folder, package=commands, invoke_without_command=True, groups={
    "Studies": ("calibrate", "judge", "scaling", "shapes", "transposes", "reproduce", "demo")})
@click.pass_context
def study(ctx: click.Context) -> None:
    """Compare numbers of nodes, calibrate, judge times, reproduce papers."""
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


@click.group(cls=Folder, package=commands, loaded={"help": show_topic, "study": study}, groups=GROUPS, renamed=RENAMED,
             ending=ENDING, invoke_without_command=True, subcommand_metavar="COMMAND [ARGS]...",
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="pencilmap")
@click.pass_context
def pencilmap(ctx: click.Context) -> None:
    """Place the MPI ranks of a 3D FFT, or of any program, on a network, and predict how long its exchanges take."""
    ctx.with_resource(noting_inputs())
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


FAILED_WRITES = {errno.EBADF, errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT}  # of standard output, without a name
REFUSED, USAGE = 1, 2  # exit statuses, beside 0 and the statuses of an interruption


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Every error of input or system becomes a sentence after ``error:`` on standard error.

    The exit status is 2 if the command line is wrong, and 1 if the question is refused. If the reader of the output goes
    away, click ends the command with status 1.
    """
    _complete_streams()
    try:
        status = _run(arguments)
        running(False)
    except BaseException as error:  # also while an error is printed
        if not asked() and not isinstance(error, (click.exceptions.Abort, KeyboardInterrupt)):
            raise
        with suppress(KeyboardInterrupt):  # a waiting interruption is printed once
            running(False)
        number = asked() or signal.SIGINT
        say(said(number), err=True)
        status = 128 + number
    sys.exit(status or 0)


def _complete_streams() -> None:
    """Open what the caller has closed, before a file gets the number of a stream; writing to a closed output fails.

    An output that cannot show a character shows its number.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        with suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)  # the lowest free number
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run(arguments: list[str] | None) -> int | None:
    """Run the command line and return the exit status."""
    page = _page(arguments)
    try:
        return pencilmap.main(arguments, prog_name="pencilmap", standalone_mode=False)
    except PencilmapError as error:
        if asked() and by_signal(error):  # reported like an error in user code
            raise
        return _failed(spelled(str(error)), REFUSED, error, page)
    except MemoryError as error:
        return _failed(f"there is not enough memory for this question{_detail(error)}; ask for fewer nodes, tasks or points",
                       REFUSED, error, page)
    except RecursionError as error:
        return _failed("an input is nested too deeply; divide it", REFUSED, error, page)
    except OverflowError as error:
        return _failed(f"a number of the question is too large to calculate with{_detail(error)}; give "
                       "smaller numbers", REFUSED, error, page)
    except OSError as error:
        return _failed(_system_error(error), REFUSED, error, page)
    except click.ClickException as error:
        page = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else "pencilmap"
        message = " ".join(error.format_message().split())  # click lists choices after tabs
        return _failed(message, USAGE, error, f"{page} --help")


def _detail(error: Any) -> str:
    """Return what an error says, if it says anything."""
    return f" ({in_a_line(error)})" if str(error) else ""


def _page(arguments: list[str] | None) -> str:
    """The page of help for the command of some arguments."""
    words = sys.argv[1:] if arguments is None else arguments
    known = words and words[0] in {name for group in GROUPS.values() for name in group}
    return f"pencilmap {words[0]} --help" if known else "pencilmap --help"


def _failed(message: str, status: int, error: BaseException, page: str) -> int:
    """Print what is wrong and what to do, and return the exit status."""
    wrong, what_to_do = in_two(shortened(message))
    say(*f"error: {wrong}".split("\n"), err=True)
    say(f"help: {what_to_do or remedy(wrong, error, page)}", err=True)
    try:
        sys.stdout.flush()
    except OSError:  # otherwise Python writes it again at exit and prints a second message
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _system_error(error: Any) -> str:
    """Return what the system refused: a file, or standard output, where click also prints pages of help."""
    if error.filename:
        return f"{error.filename}: {reason(error)}"
    if error.errno not in FAILED_WRITES:
        return reason(error)
    problem = "is closed" if error.errno == errno.EBADF else f"cannot be written: {reason(error)}"
    return f"standard output {problem}; write it to a terminal or to a file"
