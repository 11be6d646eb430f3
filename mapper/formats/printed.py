"""Placements as launchers and test programs print them. They can be read, but not written: was a mapping used?

- A label with the rank before the name of a host: ``srun -l hostname`` (``0: n1``), ``mpiexec -prepend-rank hostname`` of
  Hydra (``[0] n1``), ``mpirun --tag-output hostname`` of Open MPI (``[1,0]<stdout>: n1``).
- The lines of xthi, a program for affinity that many centres have (``Hello from rank 0, thread 0, on n1. (core affinity =
  0)``, or ``Node 0, hostname n1`` and ``Node 0, rank 0``), and of OLCF's hello_mpi_omp (``MPI 000 - OMP 000 - HWT 001 -
  Node n1``). A line for each thread; the label of srun may come first.
- The job map of Open MPI: ``--display-map`` of 4.1 and ``--display map`` of 5.0, run with 4.1.4 and 5.0.11.
- The explicit resource file of jsrun, which ``--erf_output`` writes: IBM Job Step Manager, "Explicit Resource File (ERF)
  format". ``host: 1`` is the first compute host of the job.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from pencilmap.mapper.formats.format import Format, HostNames, Job, Places, by_rank
from pencilmap.mapper.formats.lines import Document, span

_HOST = r"([A-Za-z0-9_][\w.-]*)"
_RANK = r"([0-9]{1,9})"
_LABELS = [re.compile(rf"\s*{label}\s*{_HOST}\s*", re.ASCII) for label in (
    rf"{_RANK}:\s", rf"\[{_RANK}\]\s", rf"\[[^][,\s]+,\s*{_RANK}\]<stdout>:")]
_PREFIX = r"\s*(?:[0-9]{1,9}:\s+)?"
_THREADS = [re.compile(rf"{_PREFIX}{line}.*", re.ASCII) for line in (
    rf"Hello from (?:level [0-9]+: )?rank[ =]\s*{_RANK}, thread[^,]*, on {_HOST}?\.? \(core affinity",
    rf"MPI {_RANK} - OMP [0-9]+ - HWT [0-9]+ - Node {_HOST}")]
_NUMBERED = re.compile(rf"{_PREFIX}Node\s+{_RANK},\s+hostname\s+{_HOST},.*", re.ASCII)
_RANK_ON = re.compile(rf"{_PREFIX}Node\s+{_RANK},\s+rank\s+{_RANK},.*", re.ASCII)
_HEADS = re.compile(rf"{_PREFIX}(Node summary for|MPI summary:).*")
_MAP, _END = re.compile(r"\s*=+\s+JOB MAP\s+=+\s*"), re.compile(r"\s*=+\s*")
_MAP_NODE = re.compile(rf"\s*Data for node: {_HOST}(?:\s.*)?", re.ASCII)
_MAP_ALIAS = re.compile(r"\s*resolved from ([A-Za-z_][\w.-]*)\s*", re.ASCII)  # a name that was given, and no address
_MAP_RANK = re.compile(rf"\s*(?:Process .*Process rank: {_RANK}\b.*|Data for proc: \[.*,\s*{_RANK}\]\s*)")
_MAP_COUNT = re.compile(r".*\bNum procs: ([0-9]{1,9})\b")
_ERF_SETTING = re.compile(r"\s*(app [0-9]+|[a-z_-]+)\s*:.*")
_ERF_RANKS = re.compile(r"\s*rank\s*:([^{]*|\s*\{[^{}]*\}\s*):\s*\{(.*)\}\s*(?::\s*app\s+[0-9]+\s*)?")
_ERF_HOST = re.compile(rf"(?:^|;)\s*(?:host\s*:\s*\{{?\s*([0-9]{{1,9}})\s*\}}?|hostname\s*:\s*\{{?\s*{_HOST}\s*\}}?)"
                       r"\s*(?:;|$)", re.ASCII)
MOST_RANKS = 1 << 23


def read_labels(document: Document, job: Job) -> Places:
    """Return the places from lines with a rank and a host."""
    return _placed(document, job, ((number, *_matched(document, number, line, _LABELS, "RANK: HOST"))
                                   for number, line in _lines(document)))


def read_threads(document: Document, job: Job) -> Places:
    """Return the places from the lines of xthi or hello_mpi_omp, one for each thread."""
    return _placed(document, job, _threads(document))


def _threads(document: Document) -> Iterator[tuple[int, str, str]]:
    host_of = dict[str, str]()
    for number, line in _lines(document):
        if match := _NUMBERED.fullmatch(line):
            host_of[match[1]] = match[2]
        elif match := _RANK_ON.fullmatch(line):
            if match[1] not in host_of:
                raise document.refuse(f"node {match[1]} has no line above with its hostname; keep the whole output", number)
            yield number, match[2], host_of[match[1]]
        elif not _HEADS.fullmatch(line):
            what = "Hello from rank 0, thread 0, on HOST. (core affinity = 0)"
            yield number, *_matched(document, number, line, _THREADS, what)


def _lines(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the lines without the messages of srun."""
    return ((number, line) for number, line in document.lines() if not line.startswith("srun: "))


def _matched(document: Document, number: int, line: str, patterns: Any, what: str) -> tuple[str, str]:
    match = next(filter(None, (pattern.fullmatch(line) for pattern in patterns)), None)
    if not match:
        raise document.refuse(f"{line.strip()[:40]!r} is not {what}, as in other lines; keep the lines of the ranks alone",
                              number)
    return match.groups()


def _placed(document: Document, job: Job, entries: Any) -> Any:
    """Return the places of entries (line, rank, host); the threads of a rank repeat its host."""
    place, known = dict[int, tuple[int, str, int]](), HostNames(document, job)
    for number, rank, host in entries:
        node = known.node(host, number, 1)
        before = place.setdefault(int(rank), (node, host, number))
        if before[0] != node:
            raise document.refuse(f"rank {rank} is on {host[:40]}, and on {before[1][:40]} in line {before[2]}; keep the "
                                  "output of one run", number)
    return by_rank(document, [(rank, node, None, number) for rank, (node, _, number) in place.items()])


def read_map(document: Document, job: Job) -> Places:
    """Return the places from a job map of Open MPI. Text before and after the map does not count.

    Version 5 names a node by its own name, and then the names by which it was given.
    """
    entries, known = list[tuple[int, int, None, int]](), HostNames(document, job)
    names, n_ranks, found_here, inside, ended = list[str](), 0, 0, False, False

    def check_count(number: int) -> None:
        if found_here != n_ranks:
            raise document.refuse(f"{found_here} processes of a node with {n_ranks}: the job map is not complete", number)

    for number, line in document.lines():
        if not inside:
            inside = not ended and _MAP.fullmatch(line) is not None
        elif _END.fullmatch(line):
            check_count(number)
            inside, ended = False, True
        elif match := _MAP_NODE.fullmatch(line):
            check_count(number)
            names, found_here = [match[1]], 0
            n_ranks = int(count[1]) if (count := _MAP_COUNT.fullmatch(line)) else 0
        elif match := _MAP_RANK.fullmatch(line):
            if not names:
                raise document.refuse("a process before the first node: the job map is not complete", number)
            name = next((name for name in names if job.hosts.node(name) is not None), names[0])
            entries.append((int(match[1] or match[2]), known.node(name, number, 1), None, number))
            found_here += 1
        elif match := _MAP_ALIAS.fullmatch(line):
            names.append(match[1])
        elif count := _MAP_COUNT.match(line):
            n_ranks = int(count[1])
    if not ended:
        raise document.refuse("has no whole job map: JOB MAP, and a line of = at its end")
    return by_rank(document, entries)


def read_erf(document: Document, job: Job) -> Places:
    """Return the places from an explicit resource file of jsrun, each line with the ranks on one host."""
    entries, known, nodes = list[tuple[int, int, None, int]](), HostNames(document, job), job.site.allocation.nodes
    for number, line in document.lines():
        match = _ERF_RANKS.fullmatch(line)
        if not match:
            if _ERF_SETTING.fullmatch(line) and "{" not in line:
                continue
            raise document.refuse(f"{line.strip()[:40]!r} is not rank: RANKS: {{ host: N; cpu: {{...}} }}; the form with a "
                                  "number of ranks alone says no places: let jsrun write it with --erf_output", number)
        host = _ERF_HOST.search(match[2])
        if not host:
            raise document.refuse("names no single host: N or hostname: NAME", number)
        if host[1] and not 1 <= int(host[1]) <= nodes.size:
            raise document.refuse(f"host {host[1]} is not one of the {nodes.size} nodes, which count from 1", number)
        node = int(nodes[int(host[1]) - 1]) if host[1] else known.node(host[2], number, 1)
        entries += [(rank, node, None, number) for rank in _ranks(document, number, match[1])]
        if len(entries) > MOST_RANKS:
            raise document.refuse(f"more than {MOST_RANKS} ranks", number)
    return by_rank(document, entries)


def _ranks(document: Document, number: int, text: str) -> list[int]:
    """Return the ranks of ``3``, ``0-3`` or ``{0,2-3}``."""
    ranks = list[int]()
    for part in text.strip().removeprefix("{").removesuffix("}").split(","):
        result = span(part) or ()
        if not 0 < len(result) <= MOST_RANKS:
            raise document.refuse(f"{part.strip()[:20]!r} is not a rank or a range of ranks such as 0-3", number)
        ranks += result
    return ranks


def _first(*patterns: re.Pattern[str]) -> Callable[..., Any]:
    """Return a test whether a line near the head, after messages of srun, has one of some forms."""
    def looks_like(lines: list[tuple[int, str]]) -> bool:
        return any(pattern.fullmatch(line) for _, line in lines if not line.startswith("srun: ") for pattern in patterns)

    return looks_like


LABELS = Format("RANK: HOST, as srun -l hostname prints it (can only be read)", None, read_labels, _first(*_LABELS), None,
                says_slots=False, launcher="Slurm", proof="srun(1), --label; run here with Slurm 22.05.8 and MPICH 4.0.2",
                launched_as="slurm")
THREADS = Format("output of xthi or hello_mpi_omp (can only be read)", None, read_threads,
                 _first(*_THREADS, _NUMBERED, _HEADS), None, says_slots=False, launcher="any launcher",
                 proof="xthi.c of Cray, ARCHER2 and NERSC; hello_mpi_omp of OLCF")
JOB_MAP = Format("job map of Open MPI: --display-map, --display map (can only be read)", None, read_map,
                 lambda lines: any(_MAP.fullmatch(line) or line.startswith((" Data for JOB [", "Data for JOB "))
                                   for _, line in lines), None, says_slots=False,
                 launcher="Open MPI", proof="run here with Open MPI 4.1.4 and 5.0.11", launched_as="openmpi4")
ERF = Format("explicit resource file of jsrun: --erf_output (can only be read)", None, read_erf,
             _first(_ERF_RANKS, re.compile(r"\s*(app [0-9]+|cpu_index_using|overlapping[_-]rs|oversubscribe_(cpu|gpu|mem)|"
                                           r"launch_distribution|skip_missing_cpu)\s*:.*")), None,
             says_slots=False, launcher="jsrun", proof="IBM Job Step Manager, Explicit Resource File (ERF) format")
