"""Machinefile: ``host:k`` in rank order, k consecutive ranks on that host; a host may appear again further down.

MPICH's Hydra reads the file with ``-f``, and accepts ``user@host``, ``binding=`` and ``user=`` after the host. Intel MPI
needs ``-machinefile``, because its ``-f`` uses a repeated host only once. Sources: MPICH wiki, "Using the Hydra Process
Manager"; MPICH, src/pm/hydra/utils/args/args.c; Intel MPI developer reference, "Global Hydra options".
"""

import re
from itertools import groupby
from os import PathLike

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import Format, Job, Launch, Places
from pencilmap.mapper.formats.hostfile import count_of, hosts, placed
from pencilmap.mapper.formats.lines import Document, words
from pencilmap.mapper.formats.resources import why_not_a_placement
from pencilmap.model.placement.allocation import LaunchOrder
from pencilmap.model.placement.mapping import Mapping

_HOST = re.compile(r"[A-Za-z0-9_][\w.-]*(:[0-9]{1,9})?", re.ASCII)
_HEAD = re.compile(r"\s*(\S+@)?[A-Za-z0-9_][\w.-]*(:[0-9]+|(:[0-9]+)?(\s+(binding|user)=\S*)+)\s*", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9_][\w.-]*@", re.ASCII)
_OPTION = re.compile(r"user=[A-Za-z0-9_][\w.-]*|binding=(?:none|rr|user:[0-9]+(?:[,+][0-9]+)*|"
                     r"(?:board|machine|numa|socket|core|hwthread|l[1-5]cache)(?::[0-9]+)?)", re.ASCII)


def write(mapping: Mapping, job: Job) -> str:
    """Write consecutive ranks on a host as one line."""
    return "".join(f"{name}:{len(list(run))}\n" for name, run in groupby(hosts(mapping, job.hosts)))


def read_hydra(document: Document, job: Job) -> Places:
    """Return the places as Hydra reads the file. Hydra has no lists of hosts."""
    document.refuse_marks("Hydra", returns=False)
    lone = re.search("\r(?!\n)", document.text)
    if lone:
        raise document.refuse("a carriage return, which Hydra does not take for an end of line; write a line feed",
                              document.text.count("\n", 0, lone.start()) + 1)
    return _read(document, job, options=True)


def read_intel(document: Document, job: Job) -> Places:
    """Return the places as Intel MPI reads the file."""
    document.refuse_marks("Hydra", returns=False)
    return _read(document, job, options=False)


def _read(document, job, options):
    entries, before, given = [], None, set[str]()
    for number, line in document.lines():
        (word, column), *more = words(line)
        user = _USER.match(word) if options else None
        host = word[user.end():] if user else word
        if not _HOST.fullmatch(host) or (more and not options):
            raise document.refuse(why_not_a_placement(line) or
                                  f"{line.strip()[:40]!r} is not HOST or HOST:COUNT, one in each line", number, column)
        name, count = count_of(document, number, column, host)
        if word.partition(":")[0] != before:
            before, given = word.partition(":")[0], set()
        for option, at in more:
            if not _OPTION.fullmatch(option):
                raise document.refuse(why_not_a_placement(line) or
                                      f"{option[:40]!r} is no option of a host; binding=core, binding=user:0,1 and "
                                      "user=NAME are allowed, each once", number, at)
            what = option.partition("=")[0]
            if what in given:
                raise document.refuse(f"a second {what}= of {name}, at which Hydra stops; lines of a host that follow each "
                                      "other have one", number, at)
            given.add(what)
        entries.append((number, column, name, count))
    return placed(document, job, entries)


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(_HEAD.fullmatch(lines[0][1]))


def launch_hydra(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec -f {shell(path)} -n {mapping.n_tasks} {job.program}",
                  (*job.names_needed,
                   "ssh to the hosts without a password, or -launcher slurm|pbs|... where a batch system starts tasks",
                   "no -ppn: it would override the file"))


def launch_intel(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec.hydra -machinefile {shell(path)} -n {mapping.n_tasks} {job.program}",
                  (*job.names_needed, "-machinefile, not -f: -f uses a repeated host only once",
                   "under a batch system I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=off, or its own distribution wins"))


HYDRA = Format("MPICH / Hydra machinefile: host:count in rank order", write, read_hydra, looks_like, launch_hydra,
               says_slots=False, launcher="MPICH 4.0", proof="run here with MPICH 4.0.2: tests/launchers/test_hydra.py",
               launch_order=LaunchOrder(("tn",), "Hydra's order",
                                        "run with 4.0.2: hosts with counts, or -ppn; without both, ranks go round the hosts",
                                        reason="format hydra"))
INTEL = Format("Intel MPI machinefile: host:count in rank order", write, read_intel, looks_like, launch_intel,
               says_slots=False, launcher="Intel MPI 2021",
               proof="run here with Intel MPI 2021.18 (PyPI impi-rt): tests/launchers/test_hydra.py",
               launch_order=LaunchOrder(("tn",), "Intel MPI's order",
                                        "Intel MPI developer reference, I_MPI_PERHOST=allcores",
                                        reason="format intel"))
