"""The file of libpencilmap_traffic, which `pencilmap trace` writes: phases, communicators and pairs of ranks.

    pencilmap traffic 1
    mpi Open MPI v4.1.4
    ranks 4
    seconds 1.5
    processor_seconds 0.4
    ranks_per_core 2.0
    phase 0 times 10 seconds 1.2
    rank 0 computing 0.5 waiting 0.7
    ...
    communicator 0 size 4 first 0 stride 1
    0 0 0 0 1 8000 10
    end 1

The numbers of a pair are phase, communicator, kind, source, target, bytes and messages. Kinds are those of `KINDS`; a pair
of kind 4 has communicator -1. `processor_seconds` and `ranks_per_core` may be missing; the last is 0 if it is not known. The
lines `rank` have the seconds of each phase outside of MPI and inside; all or none are there. The last line counts the pairs,
so that a file that was cut will be refused.

A rank of a program that ended before MPI_Finalize writes the file FILE.rank-RANK, with its own messages alone and a line
`cut RANK of RUN`, where RUN is the same number in the files of all ranks.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pencilmap.mapper.formats.lines import Document, plain_integers, read_document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import (
    KINDS,
    MOST_RANKS,
    UNKNOWN,
    Communicator,
    Pairs,
    Phase,
    Traffic,
    added,
    check_ranks,
    joined,
    pairs_of,
)

FIRST = "pencilmap traffic 1"
MOST_PHASES = 1024
_N, _T = r"([0-9]{1,9})", r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_TIMES = r"(?: [0-9]{1,9}\.[0-9]{1,9})+"
_LINES = {
    "ranks": re.compile(rf"ranks {_N}"),
    "mpi": re.compile(r"mpi (.*)"),
    "seconds": re.compile(rf"seconds {_T}"),
    "processor_seconds": re.compile(rf"processor_seconds {_T}"),
    "ranks_per_core": re.compile(rf"ranks_per_core {_T}"),
    "cut": re.compile(rf"cut {_N} of ([0-9]{{1,18}})"),
    "outside": re.compile(r"outside ([0-9]{1,18}) ([0-9]{1,18})"),
    "phase": re.compile(rf"phase {_N} times {_N} seconds {_T}( rest)?(?: level ([0-9]{{1,10}}))?"),
    "rank": re.compile(rf"rank {_N} computing({_TIMES}) waiting({_TIMES})"),
    "communicator": re.compile(rf"communicator {_N} size {_N}(?: grid ([0-9x]{{1,200}}) periodic ([01,]{{1,40}}))?( inter)?"
                               rf"(?: first (-?[0-9]{{1,9}}) stride (-?[0-9]{{1,9}})| ranks ([-0-9,]+))"),
    "end": re.compile(r"end ([0-9]{1,12})"),
}
_MEANING = "phase, communicator, kind, from, to, bytes, messages"


def looks_like(document: Document) -> bool:
    return document.text.startswith("pencilmap traffic ")


def read(document: Document) -> Traffic:
    """Return the traffic of a traced program. If the file is of one rank, those of the other ranks are beside it.

    Raises
    ------
    TrafficError
        If a line is not understood, the file has no end, or the file of a rank is missing.

    Examples
    --------
    >>> text = b"pencilmap traffic 1\\nranks 2\\nphase 0 times 3 seconds 0.1\\n0 0 0 1 0 8 2\\nend 1\\n"
    >>> text = text.replace(b"0 0 0 1", b"communicator 0 size 2 first 0 stride 1\\n0 0 0 1")
    >>> read(Document(text, "demo")).phases[0].bytes.toarray().tolist()
    [[0, 0], [8, 0]]
    """
    traffic, cut = _read(document)
    return _of_all_ranks(document, traffic, *cut) if cut else traffic


def _read(document: Document) -> Any:
    """Return the traffic of one file, and its rank and number of the run if it is of one rank."""
    lines = document.lines(longest=None)
    first = lines[0][1].strip() if lines else ""
    if first != FIRST:
        raise TrafficError(f"{document.label} line 1: {first[:40]!r} is not {FIRST!r}, the first line of a traffic file of "
                           "this version of pencilmap")
    pairs = [line for line in lines[1:] if line[1][:1].isdecimal()]
    head: dict[str, list[Any]] = {name: [] for name in _LINES}
    for number, line in lines[1:]:
        if not line[:1].isdecimal():
            name = line.split(" ", 1)[0]
            match = _LINES[name].fullmatch(line.rstrip()) if name in _LINES else None
            if match is None:
                raise TrafficError(f"{document.label} line {number}: {line[:40]!r} is no line of a traffic file")
            head[name].append((number, match))
    _check_end(document, lines, head, len(pairs))
    n_ranks = int(_only(document, head, "ranks")[1])
    check_ranks(n_ranks)
    phases = _in_order(document, head["phase"])
    communicators = tuple(_communicator(document, number, match, n_ranks)
                          for number, match in _in_order(document, head["communicator"]))
    table = _table(document, pairs, (len(phases), len(communicators), n_ranks))
    single: dict[str, Any] = {name: float(head[name][0][1][1]) if head[name] else None
                              for name in ("seconds", "processor_seconds", "ranks_per_core")}
    outside = (int(head["outside"][0][1][1]), int(head["outside"][0][1][2])) if head["outside"] else (0, 0)
    cut = (int(head["cut"][0][1][1]), head["cut"][0][1][2]) if head["cut"] else None
    times = _times(document, head["rank"], (2, len(phases), n_ranks), cut)
    traffic = Traffic(n_ranks, tuple(_phase(match, _rows(table, i), n_ranks,
                                            () if times is None else times[:, i])
                                     for i, (_, match) in enumerate(phases)),
                      communicators, outside=outside, mpi=head["mpi"][0][1][1] if head["mpi"] else "",
                      **{**single, "ranks_per_core": single["ranks_per_core"] or None})
    return traffic, cut


def _of_all_ranks(document: Document, first: Traffic, rank: int, run: Any) -> Any:
    """Return the traffic in the files of all ranks, of which this is one."""
    path = Path(document.label)
    prefix, dot, own = path.name.rpartition(".rank-")
    if not dot or own != str(rank):
        raise TrafficError(f"{document.label} has the messages of rank {rank} alone; the files of all ranks are found by "
                           "their names, FILE.rank-0, FILE.rank-1, ...")
    parts = []
    for i in range(first.n_ranks):
        name = path.with_name(f"{prefix}.rank-{i}")
        if i != rank and not name.exists():
            raise TrafficError(f"{name} is missing: rank {i} was ended before it could write its messages")
        part, cut = (first, (rank, run)) if i == rank else _read(read_document(name, TrafficError))
        if cut != (i, run) or part.n_ranks != first.n_ranks:
            raise TrafficError(f"{name} is of another run than {document.label}; remove the files of the earlier run")
        parts.append(part)
    return _together(parts)


def _together(parts: list[Traffic]) -> Traffic:
    """Return the traffic of the parts, each with the messages of one rank, as one phase."""
    numbers: dict[Any, int] = {}
    communicators: list[Communicator] = []
    rows = []
    for part in parts:
        new = []
        for c in part.communicators:
            key = c.members.tobytes(), c.extents, c.periodic, c.inter
            if key not in numbers:
                numbers[key] = len(communicators)
                communicators.append(c)
            new.append(numbers[key])
        pairs = part.pairs
        rows.append(replace(pairs, communicator=np.array([*new, UNKNOWN], np.int64)[pairs.communicator]))
    most: dict[str, Any] = {name: max((getattr(part, name) or 0.0) for part in parts) or None
                            for name in ("seconds", "processor_seconds", "ranks_per_core")}
    n, single = parts[0].n_ranks, [part.phases[0] for part in parts]
    times = [] if any(part.computing is None for part in parts) else [
        np.sum([getattr(phase, name) for phase in single], axis=0) for name in ("computing", "waiting")]
    phase = Phase(n, added(joined(rows)), 1, most["seconds"], "", *times)
    return Traffic(n, (phase,), tuple(communicators), mpi=parts[0].mpi,
                   outside=(sum(part.outside[0] for part in parts), sum(part.outside[1] for part in parts)), **most)


def _check_end(document: Document, lines: list[tuple[int, str]], head: dict[str, list[tuple[int, re.Match[str]]]],
               n_pairs: int) -> None:
    if not head["end"] or lines[-1][0] != head["end"][-1][0] or len(head["end"]) > 1:
        raise TrafficError(f"{document.label} line {lines[-1][0]}: the file ends without a line 'end'; it was cut")
    if int(head["end"][0][1][1]) != n_pairs:
        raise TrafficError(f"{document.label} line {lines[-1][0]}: the end counts {head['end'][0][1][1]} pairs, but there "
                           f"are {n_pairs}")


def _only(document: Document, head: dict[str, list[tuple[int, re.Match[str]]]], name: str) -> re.Match[str]:
    if len(head[name]) != 1:
        raise TrafficError(f"{document.label}: {len(head[name])} lines {name}; a traffic file has one")
    return head[name][0][1]


def _in_order(document: Document, matches: list[tuple[int, re.Match[str]]]) -> list[tuple[int, re.Match[str]]]:
    """Return the lines of phases or communicators, whose numbers count from 0."""
    for i, (number, match) in enumerate(matches):
        if int(match[1]) != i or i >= MOST_RANKS:
            raise TrafficError(f"{document.label} line {number}: number {match[1]}; they count 0, 1, 2, ..., so {i} is next")
    return matches


def _communicator(document: Document, number: int, match: re.Match[str], n_ranks: int) -> Communicator:
    size, extents = int(match[2]), [int(part or 0) for part in (match[3] or "").split("x")] if match[3] else []
    if size > MOST_RANKS or len(extents) > 16:
        raise TrafficError(f"{document.label} line {number}: a communicator of {size} ranks in {len(extents)} dimensions")
    if match[8]:
        words = match[8].split(",")
        members = np.array([int(word) if re.fullmatch("-?[0-9]{1,9}", word) else n_ranks for word in words], np.int64)
    else:
        members = int(match[6]) + int(match[7]) * np.arange(size)
    if len(members) != size or (size and members.max() >= n_ranks):
        raise TrafficError(f"{document.label} line {number}: {len(members)} members up to rank {members.max(initial=-1)}, "
                           f"but {size} of ranks 0 to {n_ranks - 1}")
    periodic = tuple(word == "1" for word in (match[4] or "").split(",")) if extents else ()
    if extents and (len(periodic) != len(extents) or int(np.prod([float(n) for n in extents])) != size):
        raise TrafficError(f"{document.label} line {number}: a grid {match[3]} periodic {match[4]} of {size} ranks")
    return Communicator(members, tuple(extents), periodic, bool(match[5]))


def _table(document: Document, lines: list[tuple[int, str]], limits: tuple[int, ...]) -> Ints:
    """Return the pairs: int array, shape (pairs, 7)."""
    table = plain_integers(lines, 7)
    if table is None:
        table = np.array([_numbers(document, number, line.split()) for number, line in lines], np.int64).reshape(-1, 7)
    n_phases, n_communicators, n_ranks = limits
    low = np.array([0, UNKNOWN, 0, 0, 0, 0, 0])
    most = np.array([n_phases, n_communicators, len(KINDS), n_ranks, n_ranks, 1 << 62, 1 << 62])
    bad = ((table < low) | (table >= most)).any(axis=1)
    if bad.any():
        at = int(np.argmax(bad))
        raise TrafficError(f"{document.label} line {lines[at][0]}: {lines[at][1].strip()[:60]!r} names a phase, "
                           f"communicator, kind or rank that the file does not have ({_MEANING})")
    return table


def _numbers(document: Document, number: int, words: Any) -> Any:
    if len(words) != 7:
        raise TrafficError(f"{document.label} line {number}: {len(words)} numbers, but 7 are needed ({_MEANING})")
    for word in words:
        if not re.fullmatch("-?[0-9]{1,18}", word):
            raise TrafficError(f"{document.label} line {number}: {word[:20]!r} is not a whole number ({_MEANING})")
    return [int(word) for word in words]


def _rows(table: Ints, phase: int) -> Pairs:
    _, communicator, kind, source, target, n_bytes, messages = table[table[:, 0] == phase].T
    return pairs_of(source, target, n_bytes, messages, kind, communicator)


def _times(document: Document, lines: list[tuple[int, re.Match[str]]], shape: tuple[int, ...], cut: Any) -> Any:
    """Return the seconds outside of MPI and inside: float array, shape (2, phases, ranks), None if there are no lines."""
    if not lines:
        return None
    times, ranks = np.zeros(shape), [cut[0]] if cut else range(shape[2])
    if [int(match[1]) for _, match in lines] != list(ranks):
        raise TrafficError(f"{document.label} line {lines[0][0]}: {len(lines)} lines of ranks; there is one for each of "
                           f"{len(ranks)} in order, or none")
    for number, match in lines:
        for i in range(2):
            words = match[2 + i].split()
            if len(words) != shape[1]:
                raise TrafficError(f"{document.label} line {number}: {len(words)} times of {shape[1]} phases")
            times[i, :, int(match[1])] = words
    return times


def _phase(match: re.Match[str], pairs: Pairs, n_ranks: int, times: Any) -> Phase:
    name = "rest" if match[4] else f"level {match[5]}" if match[5] else ""
    return Phase(n_ranks, pairs, int(match[2]), float(match[3]), name, *times)


# ---- writing ---------------------------------------------------------------------------------------------------------


def text(traffic: Traffic) -> str:
    """Return the text of a file, which `read` reads.

    Examples
    --------
    >>> from pencilmap.model.traffic.program import one_phase
    >>> print(text(one_phase(2, pairs_of([0], [1], [8]))), end="")
    pencilmap traffic 1
    ranks 2
    phase 0 times 1 seconds 0.000000
    0 -1 0 0 1 8 1
    end 1
    """
    lines = [FIRST, *([f"mpi {traffic.mpi}"] if traffic.mpi else []), f"ranks {traffic.n_ranks}"]
    if traffic.seconds is not None:
        lines.append(f"seconds {traffic.seconds:.6f}")
    if traffic.processor_seconds is not None:
        lines.append(f"processor_seconds {traffic.processor_seconds:.6f}")
    if traffic.ranks_per_core is not None:
        lines.append(f"ranks_per_core {traffic.ranks_per_core:.6f}")
    if traffic.outside[1]:
        lines.append(f"outside {traffic.outside[0]} {traffic.outside[1]}")
    for i, phase in enumerate(traffic.phases):
        lines.append(" ".join([f"phase {i} times {phase.times} seconds {phase.seconds or 0:.6f}", *phase.name.split()]))
    if traffic.computing is not None:
        for rank, times in enumerate(np.array([(p.computing, p.waiting) for p in traffic.phases]).T):
            computing, waiting = (" ".join(f"{seconds:.6f}" for seconds in row) for row in times)
            lines.append(f"rank {rank} computing {computing} waiting {waiting}")
    lines += [_communicator_line(i, communicator) for i, communicator in enumerate(traffic.communicators)]
    for i, phase in enumerate(traffic.phases):
        lines += [f"{i} {' '.join(map(str, row))}" for row in zip(*(column.tolist() for column in phase.pairs.columns))]
    lines.append(f"end {len(traffic.pairs)}")
    return "\n".join(lines) + "\n"


def _communicator_line(number: int, communicator: Any) -> Any:
    members, words = communicator.members, [f"communicator {number} size {len(communicator.members)}"]
    if communicator.extents:
        words.append(f"grid {'x'.join(map(str, communicator.extents))}")
        words.append(f"periodic {','.join(str(int(end)) for end in communicator.periodic)}")
    if communicator.inter:
        words.append("inter")
    stride = int(members[1] - members[0]) if len(members) > 1 else 0
    if len(members) and (members == members[0] + stride * np.arange(len(members))).all():
        words.append(f"first {members[0]} stride {stride}")
    else:
        words.append(f"ranks {','.join(map(str, members))}")
    return " ".join(words)
