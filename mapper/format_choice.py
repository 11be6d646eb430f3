"""The choice of the file that the launcher of a machine reads: by the machine file, or else by the batch system around us.

If neither gives a format, the user must name a format.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pencilmap.mapper.allocations import job_format, look_around
from pencilmap.mapper.formats import FORMATS
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.machines.machine import Machine


@dataclass(frozen=True)
class Choice:
    """A format, the reason for it ("" if the user named it), the other possible formats, and warnings (one sentence each).

    >>> from pencilmap.model.machines.machine import load_machine
    >>> chosen = choose(None, load_machine("fugaku"), {})
    >>> chosen.name, chosen.others, chosen.why
    ('vcoordfile', ('rankmap',), 'machine fugaku')
    """

    name: str
    why: str
    others: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.name, *self.others

    def __str__(self) -> str:
        why = f" for {self.why}" if self.why else ""
        instead = f"; {' or '.join(self.others)} would do as well" if self.others else ""
        return f"format {self.name}{why}{instead}"


def expected(machine: Machine | None, environ: Mapping[str, str]) -> Choice | None:
    """Return the format of a machine's launcher, else of the job around this command; None if neither is known."""
    figure = machine.figures.get("formats") if machine else None
    if figure and machine:
        return Choice(figure.value[0], f"machine {machine.name}", tuple(figure.value[1:]),
                      (figure.note,) if figure.note else ())
    name, title = job_format(environ) or (None, "")
    return Choice(name, f"the job around this command ({title})") if name else None


def choose(given: str | None, machine: Machine | None, environ: Mapping[str, str]) -> Choice:
    """Return the format to write.

    Parameters
    ----------
    given : str or None
        The format that the user named.
    machine : Machine or None
        Its file may name the formats of its launcher (figure ``formats``), the first of which is taken.
    environ : mapping
        Environment variables. Variables of a batch system give its format if the machine names none.

    Raises
    ------
    MapfileError
        If nothing gives a format; the message lists the formats, or tells why the files of the job cannot be read.
    """
    found = expected(machine, environ)
    if given is not None:
        return Choice(given, "", caveats=found.caveats if found and given in found.names else ())
    if found:
        return found
    look_around(environ)  # tells what is wrong with the files of the job
    whose = f"the machine file of {machine.name} names no launcher" if machine else "no machine was named"
    job = ("the launcher of this job is not recognised" if job_format(environ) else
           "this is not a job of a known batch system")
    raise MapfileError(f"it is not known which file the launcher reads: {whose}, and {job}; give `format`, one of "
                       f"{', '.join(FORMATS)}")
