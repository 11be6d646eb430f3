"""Hostfile: line i is the host of rank i; ``host:k`` stands for k ranks in a row on that host.

Hosts without given names have the coordinates as their last numbers, ``node-3-0-7``, like the hosts of the simulated
torus. Slots are filled in the order of the lines. The launchers are SimGrid (``smpirun -hostfile FILE``), Open MPI
(``mpirun --hostfile FILE --map-by seq``) and Slurm's arbitrary distribution (``SLURM_HOSTFILE``; srun(1) of Slurm 22.05).
Without ``-N`` srun takes the nodes of the file; from 23.11 on it refuses the option (``_validate_arbitrary`` in
src/common/slurm_opt.c), and 26.05 refuses topology/block (CHANGELOG/slurm-26.05.md).
SimGrid reads counts, and Open MPI reads comments. Slurm reads comments, ``host*k``, and several hosts between commas, but
takes a list in brackets for a single host. tests/launchers/test_verdicts.py runs each launcher.
"""

import re
from collections.abc import Iterable
from os import PathLike

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import MORE_SLOTS, Format, Job, Launch, Places, sbatch
from pencilmap.mapper.formats.host_names import HostNames
from pencilmap.mapper.formats.hostlist import BLOCKS, expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.formats.resources import names_hosts, why_not_a_placement
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, by_name
from pencilmap.model.placement.mapping import Mapping

_HOST = r"[A-Za-z0-9_][\w.-]*"
_SLURM = re.compile(r"([A-Za-z0-9][\w.-]*)[ \t]*(?:\*[ \t]*([0-9]{1,9})[ \t]*)?", re.ASCII)
_IN_A_LINE = re.compile(r"[A-Za-z0-9_][\w.+\[\],* \t-]*", re.ASCII)
_SEQUENCE = r"(?:{host}(?: +#.*)?|#.*)?"
_LINE = {"SimGrid 3.32": re.compile(rf"(?:{_HOST}(?::[0-9]{{1,9}})?)?", re.ASCII),  # the lines that each launcher reads
         "Open MPI 4.1 --map-by seq": re.compile(_SEQUENCE.format(host="[A-Za-z0-9][A-Za-z0-9.-]*")),
         "Open MPI 5.0 --map-by seq": re.compile(_SEQUENCE.format(host=_HOST), re.ASCII)}
_ALONE = re.compile(rf"{_HOST}(:[0-9]{{1,9}})?", re.ASCII)


def hosts(mapping: Mapping, names: Hosts | None = None) -> list[str]:
    """Return the host name of each rank."""
    return (names or Hosts(mapping.network)).names(mapping.node_of_rank)


def write(mapping: Mapping, job: Job) -> str:
    return "".join(name + "\n" for name in hosts(mapping, job.hosts))


def read(document: Document, job: Job) -> Places:
    """Return the places as SimGrid or Open MPI reads the file, whichever reads the whole file."""
    document.refuse_marks("SimGrid")
    stops = _stops(document)
    if all(stops.values()):
        raise _refusal(document, stops)
    entries = []
    for number, line in document.lines():
        column = len(line) - len(line.lstrip()) + 1
        entries.append((number, column, *count_of(document, number, column, line.strip())))
    return placed(document, job, entries)


def _refusal(document, stops):
    """Return the error about the line that no launcher reads, or about the lines at which the launchers stop."""
    number = max(line for line, _ in stops.values())
    line = document.text.split("\n")[number - 1]
    others = "; ".join(f"{launcher} stops at line {at}, {why}" for launcher, (at, why) in stops.items() if at < number)
    return document.refuse(
        why_not_a_placement(line) or f"{line[:40]!r} is not HOST, HOST:COUNT (SimGrid) or HOST # COMMENT (Open MPI), "
        f"without other blanks and lists{f'; {others}' if others else ' (format slurm has commas)'}", number)


def _stops(document):
    """Return the line at which each launcher stops, and the reason; None if the launcher reads the file."""
    lines = document.text.split("\n")
    ended = lines[-1] == ""
    found: dict[str, tuple[int, str] | None] = {}
    for launcher, pattern in _LINE.items():
        number = next((i for i, line in enumerate(lines, 1) if not pattern.fullmatch(line)), 0)
        found[launcher] = (number, f"{lines[number - 1].strip()[:20]!r}") if number else None
        if not number and not ended and launcher.startswith("Open MPI"):
            found[launcher] = len(lines), "which has no end of line"
    return found


def verdicts(document: Document) -> dict[str, str]:
    """Return each launcher's reason to refuse the file, "" if the launcher reads the file."""
    return {launcher: f"it stops at line {stop[0]}, {stop[1]}" if stop else ""
            for launcher, stop in _stops(document).items()}


def read_slurm(document: Document, job: Job) -> Places:
    """Return the places as Slurm reads the file: hosts between commas in each line, and HOST*COUNT."""
    document.refuse_marks("Slurm")
    document.lines()  # refuses lines that are too long
    entries = []
    for number, line in enumerate(document.text.split("\n"), 1):
        line = line.partition("#")[0]
        if line and not re.match("[A-Za-z0-9]", line):
            raise document.refuse(f"{line[:20]!r} does not begin with a letter or digit, at which srun stops", number, 1)
        if "[" in line or "]" in line:
            raise document.refuse(f"{line.strip()[:40]!r} has brackets, which srun takes for the name of one host; write "
                                  f"{_without_brackets(line)}", number, 1)
        column = 1
        for part in line.split(","):
            word = part.strip(" \t")
            at = column + len(part) - len(part.lstrip(" \t"))
            column += len(part) + 1
            if word:
                entries.append((number, at, *_slurm_entry(document, number, at, word)))
    return placed(document, job, entries)


def _without_brackets(text):
    """Return the hosts of a short list."""
    try:
        return ",".join(expand_hosts(text.strip(), 8))
    except MapfileError:
        return "every host"


def _slurm_entry(document, number, column, word):
    found = _SLURM.fullmatch(word)
    if not found:
        raise document.refuse(why_not_a_placement(word) or
                              f"{word[:40]!r} is not HOST or HOST*COUNT, and a comma between two of them", number, column)
    if found[2] and not int(found[2]):
        raise document.refuse(f"{word[:40]!r} has no ranks; write HOST or HOST*COUNT", number, column)
    return found[1], int(found[2] or 1)


def count_of(document: Document, number: int, column: int, word: str) -> tuple[str, int]:
    """Return host and number of ranks of HOST or HOST:COUNT."""
    name, colon, count = word.partition(":")
    if colon and not (re.fullmatch("[0-9]{1,9}", count) and int(count) > 0):
        raise document.refuse(f"{count[:20]!r} is not a number of ranks; write HOST or HOST:COUNT", number, column)
    return name, int(count or 1)


def placed(document: Document, job: Job, entries: Iterable[tuple[int, int, str, int]]) -> Places:
    """Return the places of entries (line, column, host, number of ranks)."""
    nodes, numbers, most, known = list[int](), list[int](), job.site.n_slots, HostNames(document, job)
    for number, column, name, count in entries:
        node = known.node(name, number, column)
        if len(nodes) + count > most:
            raise document.refuse(f"more ranks than the {most} slots of {job.site}; {MORE_SLOTS}", number)
        nodes += [node] * count
        numbers += [number] * count
    if not nodes:
        raise document.refuse("names no host; one for each rank is needed")
    return Places(np.array(nodes, dtype=np.int64), None, numbers)


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(_ALONE.fullmatch(lines[0][1].strip())) and names_hosts(lines)


def looks_like_slurm(lines: list[tuple[int, str]]) -> bool:
    word = lines[0][1].strip()
    return bool(_IN_A_LINE.fullmatch(word) and not re.search(r"[\w.-]\s+[\w.-]", word)) and names_hosts(lines)


def launch_simgrid(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    blank = (f"smpirun cannot open {path}: it cuts paths at blanks; write the file elsewhere",) if " " in str(path) else ()
    return Launch(f"smpirun -np {mapping.n_tasks} -platform PLATFORM -hostfile {shell(path)} {job.program}",
                  ("a PLATFORM whose hosts have these names: pencilmap simulate writes one and runs it",), blank, others=(
                      ("with Open MPI", f"mpirun -np {mapping.n_tasks} --hostfile {shell(path)} --map-by seq {job.program}"),
                      ("as the last resort, if the launch line cannot change",
                       f"env LD_PRELOAD=libpencilmap_place.so PENCILMAP_PLACEMENT={shell(path)} {job.program}")))


def launch_slurm(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    place = path if "/" in str(path) else f"./{path}"  # srun takes a word without / as a name
    options = " ".join((f"-n {mapping.n_tasks}", *job.cpus_option, "--distribution=arbitrary"))
    blocks = ("srun inside a job that sbatch or salloc made: Slurm 26.05 and later allocate no nodes in this distribution "
              "with topology/block",) if BLOCKS in job.network.notes else ()
    return Launch(f"SLURM_HOSTFILE={shell(place)} srun {options} {job.program}",
                  (*job.names_needed, "an allocation that holds these hosts", *blocks,
                   "Cray's PMI refuses this distribution; use format cray there"),
                  job_script=sbatch(mapping, job))


HOSTFILE = Format("one host name for each rank: SimGrid, Open MPI --map-by seq", write, read, looks_like, launch_simgrid,
                  says_slots=False, launcher="SimGrid 3.32",
                  proof="run here with SimGrid 3.32, Open MPI 4.1.4 and 5.0.11: tests/launchers",
                  verdicts=verdicts)
SLURM = Format("Slurm arbitrary distribution (SLURM_HOSTFILE): one host name for each rank", write, read_slurm,
               looks_like_slurm, launch_slurm, says_slots=False,
               launcher="Slurm 22.05",
               proof="run here with Slurm 22.05.8: tests/launchers/test_slurm.py",
               launch_order=LaunchOrder(by_name("tn"), "Slurm's block order",
                                        "srun(1), --distribution: block is the default; run with 22.05.8: nodes are sorted "
                                        "by name; from 26.05 on by switch and then by name (CR_NO_DIST_TOPO_BLOCK: by name)",
                                        reason="format slurm"))
