"""Hostfile: line i is the host of rank i; ``host:k`` stands for k ranks in a row on that host.

Without given names, hosts have the coordinates as their last numbers, ``node-3-0-7``, as the simulated torus names its
hosts. Slots are filled in the order of the lines. For Slurm, ``host*k``, several hosts in a line and compressed lists
(``n[0-3],n7``) are also read, as it does itself.
Used by SimGrid (``smpirun -hostfile FILE``), Open MPI (``mpirun --hostfile FILE --map-by seq``) and Slurm's arbitrary
distribution (``SLURM_HOSTFILE``; srun(1) of Slurm 22.05).
"""

import re
from os import PathLike

import numpy as np

from pencilmap.mapper.formats.format import Format, Job, Launch, Places, sbatch, shell
from pencilmap.mapper.formats.hostlist import expand_hosts, split_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.hosts import Hosts, check_name
from pencilmap.model.errors import MapfileError
from pencilmap.model.launch_order import LaunchOrder
from pencilmap.model.mapping import Mapping

_ENTRY = re.compile(r"[A-Za-z0-9_+][\w.+\[\],-]*([:*][0-9]+)?", re.ASCII)
_ALONE = re.compile(r"[A-Za-z0-9_][\w.-]*(:[0-9]{1,9})?", re.ASCII)


def hosts(mapping: Mapping, names: Hosts | None = None) -> list[str]:
    """Host name of each rank: list of str."""
    return (names or Hosts(mapping.network)).names(mapping.node_of_rank)


def write(mapping: Mapping, job: Job) -> str:
    return "".join(name + "\n" for name in hosts(mapping, job.hosts))


def read(document: Document, job: Job) -> Places:
    """The places as SimGrid reads them: it takes whatever else is in a line as a part of the name."""
    document.refuse_marks("SimGrid")
    for number, line in enumerate(document.text.split("\n"), 1):
        if line and not _ALONE.fullmatch(line):
            raise document.refuse(f"{line.strip()[:40]!r} is not what SimGrid reads: HOST or HOST:COUNT alone in a line, no "
                                  "blanks, comments, lists or carriage returns (format slurm has lists)", number)
    return read_hosts(document, job, ":")


def read_slurm(document: Document, job: Job) -> Places:
    """The places as Slurm reads them: with lists in each line, and HOST*COUNT."""
    document.refuse_marks("Slurm")
    return read_hosts(document, job, "*")


def read_hosts(document: Document, job: Job, mark: str) -> Places:
    """Hosts of each line, with counts after `mark`."""
    nodes, numbers, most = list[int](), list[int](), job.site.n_slots
    for number, line in document.lines():
        for name, count in _entries(document, number, line, most, mark):
            node = job.hosts.node(name)
            if node is None:
                raise document.refuse(job.hosts.why_not(name), number, line.find(name) + 1 or 1)
            if len(nodes) + count > most:
                raise document.refuse(f"more ranks than the {most} slots of {job.site}", number)
            nodes += [node] * count
            numbers += [number] * count
    return Places(np.array(nodes, dtype=np.int64), None, numbers)


def _entries(document, number, line, most, mark):
    """Host names and counts of one line."""
    try:
        for part in split_hosts(line.strip()):
            name, colon, count = part.partition(mark)
            if colon and not (re.fullmatch("[0-9]{1,9}", count) and int(count) > 0):
                raise MapfileError(f"{count[:20]!r} is not a number of ranks; write HOST or HOST{mark}COUNT")
            if not name or re.search(r"\s", name):
                raise MapfileError(f"{part[:40]!r} is not a host; one HOST or HOST{mark}COUNT per line is needed")
            for host in expand_hosts(name, most) if "[" in name or "]" in name else [name]:
                yield check_name(host), int(count or 1)
    except MapfileError as error:
        raise document.refuse(str(error), number, len(line) - len(line.lstrip()) + 1) from error


def looks_like(lines: list[tuple[int, str]]) -> bool:
    word = lines[0][1].strip()
    return bool(_ALONE.fullmatch(word) and re.search("[A-Za-z]", word))


def looks_like_slurm(lines: list[tuple[int, str]]) -> bool:
    word = lines[0][1].strip()
    return bool(_ENTRY.fullmatch(word) and re.search("[A-Za-z]", word))


def launch_simgrid(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    blank = (f"smpirun cannot open {path}: it cuts paths at blanks; write the file elsewhere",) if " " in str(path) else ()
    return Launch(f"smpirun -np {mapping.n_tasks} -platform PLATFORM -hostfile {shell(path)} {job.program}",
                  ("a PLATFORM whose hosts have these names: pencilmap simulate writes one and runs it",
                   f"with Open MPI: mpirun -np {mapping.n_tasks} --hostfile {shell(path)} --map-by seq {job.program}"),
                  blank)


def launch_slurm(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    n_nodes = len(set(mapping.node_of_rank.tolist()))
    place = path if "/" in str(path) else f"./{path}"  # srun takes a word without / as a name
    return Launch(f"SLURM_HOSTFILE={shell(place)} srun -N {n_nodes} -n {mapping.n_tasks} --distribution=arbitrary "
                  f"{job.program}",
                  ("an allocation that holds these hosts", "Cray's PMI refuses this distribution; use format cray there"),
                  job_script=sbatch(mapping, job))


HOSTFILE = Format("one host name for each rank: SimGrid, Open MPI --map-by seq", write, read, looks_like, launch_simgrid,
                  says_slots=False, proof="run here with SimGrid 3.32 and Open MPI 4.1.4: tests/launchers",
                  launch_order=LaunchOrder(("nt",), "smpirun's order",
                                           "smpirun of SimGrid: the hosts of the list in turn",
                                           reason="format hostfile"))
SLURM = Format("Slurm arbitrary distribution (SLURM_HOSTFILE): one host name for each rank", write, read_slurm,
               looks_like_slurm, launch_slurm, says_slots=False,
               proof="run here with Slurm 22.05.8: tests/launchers/test_slurm.py",
               launch_order=LaunchOrder(("tn",), "Slurm's block order",
                                        "srun(1), --distribution: block is the default",
                                        reason="format slurm"))
