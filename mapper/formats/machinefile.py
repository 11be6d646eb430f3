"""Machinefile: ``host:k`` in rank order, k consecutive ranks on that host; a host may appear again further down.

MPICH's Hydra reads it with ``-f``. Intel MPI's ``-f`` uses a repeated host only once, so its ``-machinefile`` is needed.
Sources: MPICH wiki, "Using the Hydra Process Manager"; Intel MPI developer reference, "Global Hydra options".
"""

import re
from itertools import groupby
from os import PathLike

from pencilmap.mapper.formats.format import Format, Job, Launch, Places, shell
from pencilmap.mapper.formats.hostfile import hosts, read_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.launch_order import LaunchOrder
from pencilmap.model.mapping import Mapping

_LINE = re.compile(r"\s*[A-Za-z0-9_][\w.-]*(:[0-9]{1,9})?\s*", re.ASCII)


def write(mapping: Mapping, job: Job) -> str:
    """Consecutive ranks on one host are one line."""
    return "".join(f"{name}:{len(list(run))}\n" for name, run in groupby(hosts(mapping, job.hosts)))


def read(document: Document, job: Job) -> Places:
    """The places as Hydra reads them. It knows no lists of hosts."""
    document.refuse_marks("Hydra", returns=False)
    for number, line in document.lines():
        if not _LINE.fullmatch(line):
            raise document.refuse(f"{line.strip()[:40]!r} is not HOST or HOST:COUNT, one in each line", number,
                                  len(line) - len(line.lstrip()) + 1)
    return read_hosts(document, job, ":")


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(re.fullmatch(r"\s*[A-Za-z0-9][\w.-]*:[0-9]+\s*", lines[0][1]))


def launch_hydra(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec -f {shell(path)} -n {mapping.n_tasks} {job.program}",
                  ("ssh to the hosts without a password, or -launcher slurm|pbs|... where a batch system starts tasks",
                   "no -ppn: it would override the file"))


def launch_intel(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec.hydra -machinefile {shell(path)} -n {mapping.n_tasks} {job.program}",
                  ("-machinefile, not -f: -f uses a repeated host only once",
                   "under a batch system I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=off, or its own distribution wins"))


HYDRA = Format("MPICH / Hydra machinefile: host:count in rank order", write, read, looks_like, launch_hydra,
               says_slots=False, proof="run here with MPICH 4.0.2: tests/launchers/test_hydra.py",
               launch_order=LaunchOrder(("tn",), "Hydra's order",
                                        "run with 4.0.2: hosts with counts, or -ppn; without both, ranks go round the hosts",
                                        reason="format hydra"))
INTEL = Format("Intel MPI machinefile: host:count in rank order", write, read, looks_like, launch_intel, says_slots=False,
               proof="run here with Intel MPI 2021.18 (PyPI impi-rt): tests/launchers/test_hydra.py",
               launch_order=LaunchOrder(("tn",), "Intel MPI's order",
                                        "Intel MPI developer reference, I_MPI_PERHOST=allcores",
                                        reason="format intel"))
