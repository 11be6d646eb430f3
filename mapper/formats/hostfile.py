"""Hostfiles and machinefiles: a host for each rank.

Hostfile: line i is the host of rank i; ``host:k`` stands for k ranks in a row on that host.

Hosts without given names have the coordinates as their last numbers, ``node-3-0-7``, like the hosts of the simulated
torus. Slots are filled in the order of the lines. The launchers are SimGrid (``smpirun -hostfile FILE``), Open MPI
(``mpirun --hostfile FILE --map-by seq``) and Slurm's arbitrary distribution (``SLURM_HOSTFILE``; srun(1) of Slurm 22.05).
Without ``-N`` srun takes the nodes of the file; from 23.11 on it refuses the option (``_validate_arbitrary`` in
src/common/slurm_opt.c), and 26.05 refuses topology/block (CHANGELOG/slurm-26.05.md).
SimGrid reads counts, and Open MPI reads comments. Slurm reads comments, ``host*k``, and several hosts between commas, but
takes a list in brackets for a single host. tests/launchers/test_verdicts.py runs each launcher.

Machinefile: ``host:k`` in rank order, k consecutive ranks on that host; a host may appear again further down.

MPICH's Hydra reads the file with ``-f``, and accepts ``user@host``, ``binding=`` and ``user=`` after the host. Each line has
its own ``binding=user:0+1,2``, with the processors of its first, second and further rank as the operating system numbers
them (run with 4.0.2). Intel MPI
needs ``-machinefile``, because its ``-f`` uses a repeated host only once. Sources: MPICH wiki, "Using the Hydra Process
Manager"; MPICH, src/pm/hydra/utils/args/args.c; Intel MPI developer reference, "Global Hydra options".
"""

import re
from collections.abc import Iterable
from itertools import groupby
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.foreign import names_hosts, why_not_a_placement
from pencilmap.mapper.formats.format import MORE_SLOTS, NODE, RANK, Format, HostNames, Job, Launch, Places, sbatch
from pencilmap.mapper.formats.hostlist import BLOCKS, expand_hosts
from pencilmap.mapper.formats.lines import Document, words
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping, by_name

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


def _refusal(document: Document, stops: Any) -> MapfileError:
    """Return the error about the line that no launcher reads, or about the lines at which the launchers stop."""
    number = max(line for line, _ in stops.values())
    line = document.text.split("\n")[number - 1]
    others = "; ".join(f"{launcher} stops at line {at}, {why}" for launcher, (at, why) in stops.items() if at < number)
    return document.refuse(
        why_not_a_placement(line) or f"{line[:40]!r} is not HOST, HOST:COUNT (SimGrid) or HOST # COMMENT (Open MPI), "
        f"without other blanks and lists{f'; {others}' if others else ' (format slurm has commas)'}", number)


def _stops(document: Document) -> dict[str, tuple[int, str] | None]:
    """Return the line at which each launcher stops, and the reason; None if the launcher reads the file."""
    lines = document.text.split("\n")
    ended = lines[-1] == ""
    result: dict[str, tuple[int, str] | None] = {}
    for launcher, pattern in _LINE.items():
        number = next((i for i, line in enumerate(lines, 1) if not pattern.fullmatch(line)), 0)
        result[launcher] = (number, f"{lines[number - 1].strip()[:20]!r}") if number else None
        if not number and not ended and launcher.startswith("Open MPI"):
            result[launcher] = len(lines), "which has no end of line"
    return result


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


def _without_brackets(text: str) -> str:
    """Return the hosts of a short list."""
    try:
        return ",".join(expand_hosts(text.strip(), 8))
    except MapfileError:
        return "every host"


def _slurm_entry(document: Document, number: int, column: int, word: str) -> tuple[str, int]:
    match = _SLURM.fullmatch(word)
    if not match:
        raise document.refuse(why_not_a_placement(word) or
                              f"{word[:40]!r} is not HOST or HOST*COUNT, and a comma between two of them", number, column)
    if match[2] and not int(match[2]):
        raise document.refuse(f"{word[:40]!r} has no ranks; write HOST or HOST*COUNT", number, column)
    return match[1], int(match[2] or 1)


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
    options = " ".join((f"-n {mapping.n_tasks}", *job.cpus_option, "--distribution=arbitrary", *job.cpu_bind))
    blocks = ("srun inside a job that sbatch or salloc made: Slurm 26.05 and later allocate no nodes in this distribution "
              "with topology/block",) if BLOCKS in job.network.notes else ()
    before, program = job.listed("--multi-prog")
    return Launch(f"{before}SLURM_HOSTFILE={shell(place)} srun {options} {program}",
                  (*job.names_needed, "an allocation that holds these hosts", *blocks,
                   "Cray's PMI refuses this distribution; use format cray there"),
                  job_script=sbatch(mapping, job))


HOSTFILE = Format("one host name for each rank: SimGrid, Open MPI --map-by seq", write, read, looks_like, launch_simgrid,
                  says_slots=False, launcher="SimGrid 3.32",
                  proof="run here with SimGrid 3.32, Open MPI 4.1.4 and 5.0.11: tests/launchers",
                  verdicts=verdicts)
SLURM = Format("Slurm arbitrary distribution (SLURM_HOSTFILE): one host name for each rank", write, read_slurm,
               looks_like_slurm, launch_slurm, says_slots=False, several=True, binds=NODE,
               launcher="Slurm 22.05",
               proof="run here with Slurm 22.05.8: tests/launchers/test_slurm.py",
               launch_order=LaunchOrder(by_name("tn"), "Slurm's block order",
                                        "srun(1), --distribution: block is the default; run with 22.05.8: nodes are sorted "
                                        "by name; from 26.05 on by switch and then by name (CR_NO_DIST_TOPO_BLOCK: by name)",
                                        reason="format slurm"))


BIND = "binding=user:"
_HOST_AND_COUNT = re.compile(r"[A-Za-z0-9_][\w.-]*(:[0-9]{1,9})?", re.ASCII)
_HEAD = re.compile(r"\s*(\S+@)?[A-Za-z0-9_][\w.-]*(:[0-9]+|(:[0-9]+)?(\s+(binding|user)=\S*)+)\s*", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9_][\w.-]*@", re.ASCII)
_OPTION = re.compile(r"user=[A-Za-z0-9_][\w.-]*|binding=(?:none|rr|user:[0-9]+(?:[,+][0-9]+)*|"
                     r"(?:board|machine|numa|socket|core|hwthread|l[1-5]cache)(?::[0-9]+)?)", re.ASCII)


def write_machinefile(mapping: Mapping, job: Job) -> str:
    """Write consecutive ranks on a host as one line."""
    return "".join(f"{name}:{len(list(run))}\n" for name, run in groupby(hosts(mapping, job.hosts)))


def write_hydra(mapping: Mapping, job: Job) -> str:
    """Write consecutive ranks on a host as one line, with the processors of each rank if a node is described."""
    if job.node is None:
        return write_machinefile(mapping, job)
    slots = ["+".join(map(str, processors)) for processors in job.processors]
    ranks, lines = iter(mapping.slot_of_rank.tolist()), list[str]()
    for name, run in groupby(hosts(mapping, job.hosts)):
        bound = [slots[next(ranks)] for _ in run]
        lines.append(f"{name}:{len(bound)} {BIND}{','.join(bound)}\n")
    return "".join(lines)


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


def _read(document: Document, job: Job, options: bool) -> Places:
    entries, bound, before, given = [], list[str](), None, set[str]()
    for number, line in document.lines():
        (word, column), *more = words(line)
        user = _USER.match(word) if options else None
        host = word[user.end():] if user else word
        if not _HOST_AND_COUNT.fullmatch(host) or (more and not options):
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
        texts = next((option[len(BIND):].split(",") for option, _ in more if option.startswith(BIND)), [])
        bound += [*texts[:count], *[""] * (count - len(texts))]
    places = placed(document, job, entries)
    slot_of = {"+".join(map(str, processors)): slot for slot, processors in enumerate(job.processors)}
    if job.node is None or not all(text in slot_of for text in bound):
        return places
    return places._replace(slot=np.array([slot_of[text] for text in bound], dtype=np.int64))


def looks_like_machinefile(lines: list[tuple[int, str]]) -> bool:
    return bool(_HEAD.fullmatch(lines[0][1]))


def launch_hydra(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec -f {shell(path)} {job.ranks('-n', mapping.n_tasks)}{job.program}",
                  (*job.names_needed,
                   "ssh to the hosts without a password, or -launcher slurm|pbs|... where a batch system starts tasks",
                   "no -ppn: it would override the file"))


def launch_intel(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpiexec.hydra -machinefile {shell(path)} {job.ranks('-n', mapping.n_tasks)}{job.program}",
                  (*job.names_needed, "-machinefile, not -f: -f uses a repeated host only once",
                   "under a batch system I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=off, or its own distribution wins"))


HYDRA = Format("MPICH / Hydra machinefile: host:count in rank order", write_hydra, read_hydra, looks_like_machinefile,
               launch_hydra, says_slots=False, several=True, launcher="MPICH 4.0", binds=RANK,
               proof="run here with MPICH 4.0.2: tests/launchers/test_followed.py",
               launch_order=LaunchOrder(("tn",), "Hydra's order",
                                        "run with 4.0.2: hosts with counts, or -ppn; without both, ranks go round the hosts",
                                        reason="format hydra"))
INTEL = Format("Intel MPI machinefile: host:count in rank order", write_machinefile, read_intel, looks_like_machinefile,
               launch_intel, says_slots=False, several=True, launcher="Intel MPI 2021",
               proof="run here with Intel MPI 2021.18 (PyPI impi-rt): tests/launchers/test_followed.py",
               launch_order=LaunchOrder(("tn",), "Intel MPI's order",
                                        "Intel MPI developer reference, I_MPI_PERHOST=allcores",
                                        reason="format intel"))
