"""Rankfiles of Open MPI.

Open MPI rankfile: ``rank 3=node-1-0 slot=1`` binds a rank to processors of a host.

Processors are numbered logically, as ``lstopo -l`` shows them. ``slot=`` takes ``2``, ``0-3``, ``0,2``, ``1:0-2``
(package 1, its cores 0 to 2) and ``1:*``. ``+n2`` is the third host of the allocation, and ``user@host`` names the user
of ssh. Comments are ``#`` and ``//`` to the end of a line, and ``/* */``. Version 5 reads the same lines by another
option. Sources: help file, mpirun(1) and rmaps_rank_file_lex.l of Open MPI 4.1; docs/placement/rankfiles.rst and
rmaps_rank_file_lex.l of openpmix/prrte for version 5.

The reader refuses every text that the named version of Open MPI refuses or misunderstands. tests/launchers/test_verdicts.py
compares it with Open MPI 4.1.4 and 5.0.11. The end of this file has the syntax of ``slot=``.

The reader finds slots from the processors. If the processors of every task are a slot of the job, each task gets that
slot. Otherwise the ranks of a node are numbered in the order of their first processors.

Processors of a rank as Open MPI's ``slot=`` lists them.

A list has parts between semicolons. A part names cores of the node (``2``, ``0-3``, ``0,2``), or cores of a package after a
colon: ``1:2``, ``1:0-2`` or ``1:*``. ``*`` alone is core 0, because both versions read it with ``atoi``. In a part with a
colon, a comma is followed by another package in version 4, and by another core of the same package in version 5.
"""

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import RANK, Format, HostNames, Job, Launch, Places, by_rank
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping

_COMMENT = re.compile(r"/\*.*?\*/|/\*|(?:#|//)[^\n]*", re.DOTALL)
_S = r"[ \t\f\v]"
_STATEMENT = re.compile(rf"{_S}*rank{_S}+([0-9]{{1,12}}){_S}*={_S}*([^\s=]+)"
                        rf"(?:{_S}+slots?{_S}*={_S}*([^\s=]+))?{_S}*(?!\S)")  # in small letters alone
_USER = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
_RELATIVE = re.compile(r"\+n([0-9]{1,9})")


def write(mapping: Mapping, job: Job) -> str:
    hosts = job.hosts.names(mapping.node_of_rank)
    return "".join(f"rank {rank}={host} slot={job.cores[slot]}\n"
                   for rank, (host, slot) in enumerate(zip(hosts, mapping.slot_of_rank.tolist())))


def read_4(document: Document, job: Job) -> Places:
    """Read a rankfile of version 4, which needs ``slot=`` in each line and lets ranks share processors."""
    return _read(document, job, 4)


def read_5(document: Document, job: Job) -> Places:
    """Read a rankfile of version 5, which lets no ranks share processors."""
    return _read(document, job, 5)


def _read(document: Document, job: Job, version: int) -> Places:
    entries, cpus, column_of, known = [], dict[int, str](), {}, HostNames(document, job)
    document.refuse_marks("Open MPI")
    for number, column, statement in _statements(document, version):
        rank, at = int(statement[1]), column + statement.start(3)
        node = _node(document, number, column + statement.start(2), statement[2], known, job, version)
        entries.append((rank, node, 0, number))
        if version == 4 and not statement[3]:
            raise document.refuse("no slot=, without which Open MPI 4 does not start (5 does: format openmpi5); write "
                                  "rank 0=HOST slot=CPUS", number)
        problem = statement[3] and why_unbound(statement[3], version)
        if problem:
            raise document.refuse(f"slot={statement[3][:30]!r} {problem}", number, at)
        if rank == 0 and statement[3] and 0 not in cpus and any(cpus.values()):
            raise document.refuse('rank 0 is not the first rank with slot=, so Open MPI 4 and 5 stop with "rank 0 is '
                                  'already assigned"; write its line first', number)
        cpus[rank], column_of[rank] = statement[3] or "", at
    places = by_rank(document, entries)
    texts = [cpus[rank] for rank in range(len(cpus))]
    if version == 5:
        _refuse_shared(document, places, texts, column_of)
    return places._replace(slot=_slots(places.node, texts, job))


def _statements(document: Document, version: int) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Yield line, column, and match of ``rank N=HOST slot=CPUS`` for each rank. A comment ends a line."""
    for number, column, text in uncommented(document):
        result = list(_in_a_line(document, number, column, text))
        if len(result) > 1 and version == 4:
            raise document.refuse("two ranks in a line, of which Open MPI 4 reads one (5 reads both: format openmpi5); "
                                  "write each in its own line", number, column + text.index("rank", result[1].start()))
        for each in result:
            yield number, column, each


def _in_a_line(document: Document, number: int, column: int, text: str) -> Iterator[re.Match[str]]:
    """Yield matches of the statements of a line. Raise MapfileError for any other text."""
    at = 0
    while text[at:].strip(" \t\f\v"):
        match = _STATEMENT.match(text, at)
        if not match:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            what = "is not expected; a rankfile line is" if at else "is not a rankfile line; write"
            raise document.refuse(f"{text[start:start + 40].rstrip()!r} {what} rank 0=HOST slot=CPUS", number,
                                  column + start)
        yield match
        at = match.end()


def uncommented(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and text between comments."""
    document.lines()  # refuses lines that are too long
    whole = document.text

    def blank(match: re.Match[str]) -> str:
        comment = match[0]
        if comment == "/*":
            raise document.refuse("a comment begins with /* and never ends; add */", whole.count("\n", 0, match.start()) + 1)
        if comment[:2] != "/*" and match.end() == len(whole):
            raise document.refuse("a comment without an end of line, at which Open MPI stops; end the line",
                                  whole.count("\n") + 1)
        return "\0" + re.sub(r"[^\n]", " ", comment[1:])

    for number, line in enumerate(_COMMENT.sub(blank, whole).split("\n"), 1):
        for piece in re.finditer(r"[^\0]+", line):
            yield number, piece.start() + 1, piece[0]


def _node(document: Document, number: int, column: int, word: str, known: HostNames, job: Job, version: int) -> int:
    """Return the node of ``host``, ``user@host`` or ``+n2``."""
    relative = _RELATIVE.fullmatch(word)
    if relative:
        nodes = job.site.allocation.nodes
        if int(relative[1]) >= nodes.size:
            raise document.refuse(f"host {word} is beyond the last of the {nodes.size} nodes (+n{nodes.size - 1})", number,
                                  column)
        return int(nodes[int(relative[1])])
    user, at, name = word.rpartition("@")
    try:
        if at and not _USER.fullmatch(user):
            raise MapfileError(f"user {user[:40]!r} is none that Open MPI reads; letters, digits, _ and - are allowed")
        if "." in name and not name[0].isalpha() and not _ADDRESS.fullmatch(name):
            raise MapfileError(f"host name {name[:40]!r} has a dot and begins with no letter, which Open MPI does not read; "
                               "write the name without its domain")
        if version == 4 and "_" in name:
            raise MapfileError(f"host name {name[:40]!r} has a _, with which Open MPI 4 does not start (5 does: "
                               "format openmpi5)")
    except MapfileError as error:
        raise document.refuse(str(error), number, column) from error
    return known.node(name, number, column)


def _refuse_shared(document: Document, places: Places, texts: Any, column_of: dict[int, int]) -> None:
    """Refuse a processor that two ranks of a node share."""
    of_node: dict[int, list[int]] = {}
    for rank, node in enumerate(places.node.tolist()):
        if texts[rank]:
            of_node.setdefault(node, []).append(rank)
    for ranks in of_node.values():
        shared = shared_by([texts[rank] for rank in ranks])
        if shared:
            first, second = sorted((ranks[i] for i in shared), key=lambda rank: places.line[rank])
            raise document.refuse(
                f"rank {second} shares a processor with rank {first} in line {places.line[first]}, which Open MPI 5 refuses "
                "unless --bind-to has :overload-allowed; give each rank processors of its own", places.line[second],
                column_of[second])


def _slots(node: Ints, cpus: list[str], job: Job) -> Ints:
    """Return the slots of the ranks by their processors (see the head of the file)."""
    slot_of = {text: slot for slot, text in enumerate(job.cores)}
    if all(text in slot_of for text in cpus):
        slot = np.array([slot_of[text] for text in cpus], dtype=np.int64)
        if len(set(zip(node.tolist(), slot.tolist()))) == slot.size:
            return slot
    first = [tuple(int(n) for n in re.findall(r"[0-9]+", text)[:2 if ":" in text else 1]) for text in cpus]
    slot, taken = np.zeros_like(node), dict[int, int]()
    for rank in sorted(range(len(cpus)), key=lambda r: (first[r], r)):
        slot[rank] = taken.get(node[rank], 0)
        taken[node[rank]] = slot[rank] + 1
    return slot


def verdicts_4(document: Document) -> dict[str, str]:
    """Return the verdicts of version 4, which knows ``+n2`` only if a batch system gave the hosts, and of version 5 if ranks
    share a processor.
    """
    hosts: dict[str, list[tuple[str, str]]] = {}
    for _, _, statement in _statements(document, 4):
        hosts.setdefault(statement[2], []).append((statement[1], statement[3] or ""))
    names_relative = any(map(_RELATIVE.fullmatch, hosts))
    verdicts = {"Open MPI 4.1" + (" inside a batch job (+n counts its hosts)" if names_relative else ""): ""}
    for host, ranks in hosts.items():
        if both := shared_by([cpus for _, cpus in ranks]):
            (a, cpus), (b, _) = (ranks[i] for i in both)
            verdicts["Open MPI 5.0"] = (f"ranks {a} and {b} share slot={cpus} of {host}, one core under Open MPI 4; "
                                        "give each its own")
            break
    return verdicts


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(re.match(r"\s*(rank\s+\d+\s*=|//|/\*)", lines[0][1]))  # no other format has comments of C


NEEDS = ("processors are numbered logically, as lstopo -l shows them",
         "the program at one path on all hosts; ssh to them without a batch system")


def launch_4(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return _launch(f"--rankfile {shell(path)}", mapping, job, path,
                   "Open MPI 4; for 5 use format openmpi5 (--rankfile is deprecated there)")


def launch_5(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return _launch(f"--map-by rankfile:file={shell(path)}", mapping, job, path,
                   "Open MPI 5 or prterun; for 4 use format openmpi4")


def _launch(placement: str, mapping: Mapping, job: Job, path: str | PathLike[str], version: str) -> Launch:
    """Return the command for the hosts of a batch job, and for hosts that the file names, each as often as it has ranks."""
    start, end = f"mpirun {job.ranks('-np', mapping.n_tasks)}".rstrip(), f"{placement} {job.program}"
    hosts = f"--host $(cut -d= -f2 {shell(path)} | sed s/.slot// | paste -sd,)"
    return Launch(f"{start} {end}", (*job.names_needed, *NEEDS, version), alone=f"{start} {hosts} {end}")


OPENMPI4 = Format("Open MPI 4 rankfile: host and processors of each rank", write, read_4, looks_like, launch_4,
                  says_slots=True, several=True, launcher="Open MPI 4.1", binds=RANK,
                  proof="run here with Open MPI 4.1.4: tests/launchers/test_followed.py",
                  verdicts=verdicts_4,
                  launch_order=LaunchOrder(("tn",), "Open MPI's order",
                                           "mpirun(1) of Open MPI 4.1; run with 4.1.4",
                                           reason="format openmpi4"))
OPENMPI5 = Format("Open MPI 5 / PRRTE rankfile: host and processors of each rank", write, read_5, looks_like, launch_5,
                  says_slots=True, several=True, launcher="Open MPI 5.0", binds=RANK,
                  proof="run here with Open MPI 5.0.11 (PyPI): tests/launchers/test_followed.py",
                  launch_order=LaunchOrder(("tn",), "Open MPI's order",
                                           "prte, docs/placement; run with 5.0.11",
                                           reason="format openmpi5"))


_N = "[0-9]{1,9}"
_ONES = rf"(?:\*|{_N}(?:-{_N})?)"
_OF_NODE = rf"{_ONES}(?:,{_ONES})*"
_PART = {4: re.compile(rf"{_OF_NODE}|{_N}:{_ONES}(?:,{_N}:{_ONES})*"),
         5: re.compile(rf"{_OF_NODE}|{_N}:(?:\*|{_N}-{_N}|{_N}(?:,{_N})*)")}
_BEYOND = 1 << 30  # more cores than a package has


def why_unbound(text: str, version: int) -> str:
    """Return the reason why that version does not bind a rank to these processors, or "".

    >>> why_unbound("0-3", 4), why_unbound("1:0,1", 5), why_unbound("a", 5)
    ('', '', 'names no processors; 2, 0-3, 0,2, 1:2, 1:0-2 and 1:* are allowed')
    """
    for part in text.split(";"):
        if _PART[version].fullmatch(part):
            backwards = [item[0] for item in re.finditer(rf"({_N})-({_N})", part) if int(item[1]) > int(item[2])]
            if backwards:
                return f"has the range {backwards[0]}, which runs backwards and binds to nothing"
        elif any(pattern.fullmatch(part) for pattern in _PART.values()):
            return _OTHER_VERSION[version]
        else:
            return "names no processors; 2, 0-3, 0,2, 1:2, 1:0-2 and 1:* are allowed"
    return ""


_OTHER_VERSION = {
    4: "lists cores of a package by commas, of which Open MPI 4 takes all but the first for packages (5 reads them: format "
       "openmpi5); write 1:0;1:1",
    5: "lists packages by commas, which Open MPI 5 takes for cores of the first one; put a semicolon between packages"}


def shared_by(lists: Iterable[str]) -> tuple[int, int] | None:
    """Return the positions in `lists` of two ranks of a node that share a processor, or None.

    Core 2 of package 0 is core 2 of the node. Cores of other packages are compared only with cores of that package,
    because a rankfile does not say how many cores a package has.

    >>> shared_by(["0-1", "2", "1"]), shared_by(["0:2", "2"]), shared_by(["1:*", "1:3"]), shared_by(["0", "1:0"])
    ((0, 2), (0, 1), (0, 1), None)
    """
    ranges: dict[str, list[tuple[int, int, int]]] = {}
    for rank, text in enumerate(lists):
        for where, first, last in _ranges(text):
            ranges.setdefault(where, []).append((first, last, rank))
    for of_one in ranges.values():
        end, owner = -1, -1
        for first, last, rank in sorted(of_one):
            if first <= end and rank != owner:
                return min(owner, rank), max(owner, rank)
            if last > end:
                end, owner = last, rank
    return None


def _ranges(text: str) -> Iterator[tuple[str, int, int]]:
    """Return (package, first core, last core) for each range of a list; the package is "node" for cores of the node."""
    for part in text.split(";"):
        package = ""
        for one in part.split(","):
            before, colon, cores = one.rpartition(":")
            package = str(int(before)) if colon else package
            every = cores == "*" and package
            numbers = [int(n) for n in cores.split("-")] if cores != "*" else [0]
            if package:
                yield package, numbers[0], _BEYOND if every else numbers[-1]
            if package in ("", "0"):
                yield "node", numbers[0], numbers[-1]
