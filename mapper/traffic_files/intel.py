"""Intel's tables of bytes between ranks: the statistics of Intel MPI (I_MPI_STATS), and the chart of ``aps-report -x``.

Intel MPI up to version 2018 writes a table for each process:

    ~~~~ Process 0 of 2 on node n1 lifetime = 414.13
    Data Transfers
    Src --> Dst Amount(MB) Transfers
    -----------------------------------------
    000 --> 000 0.000000e+00 0
    000 --> 001 7.629395e-06 2
    =========================================
    Totals 7.629395e-06 2

Application Performance Snapshot writes one chart. It adds both directions of a pair, and half is taken in each.

    | Rank <-> Rank       Volume(MB)        Volume(%)        Transfers
      0000 <-> 0001            16440          34.7826           877039
    | TOTAL                  47264.9              100          2521681

A MB has 2^20 bytes. Bytes are as exact as the six or seven digits of the tables.

References: Intel MPI Library Reference Manual for Linux 5.1, "Native Statistics Format"; Application Performance Snapshot
User Guide for Linux 2025.0, "Data Transfers per Rank-to-Rank Communication".
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.matrices import MOST, refuse_twice
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import Traffic, check_ranks, joined, one_phase, pairs_of

_X = r"([0-9]{1,16}(?:\.[0-9]{1,9})?(?:e[+-]?[0-9]{1,2})?)"
_PROCESS = re.compile(rf"~~~~ Process ([0-9]{{1,9}}) of ([0-9]{{1,9}}) on node \S+(?:,? lifetime = {_X})?.*")
_HEAD = re.compile(r"\|?[ \t]*(Src *--> *Dst +Amount\(MB\)|Rank <-> Rank +Volume\(MB\) +Volume\(%\)) +Transfers[ \t]*")
_ROW = re.compile(rf"\s*([0-9]{{1,9}}) *(-->|<->) *([0-9]{{1,9}})\s+{_X}(?:\s+{_X})?\s+([0-9]{{1,16}})\s*")
_TOTAL = re.compile(rf"\|?\s*(?:Totals|TOTAL)\s+{_X}(?:\s+{_X})?\s+{_X}\s*")
_RULE = re.compile(r"[|\s=-]*")
_ANY_HEAD = re.compile(f"^{_HEAD.pattern}$", re.MULTILINE)
_MB = 1 << 20


def looks_like(document: Document) -> bool:
    return _ANY_HEAD.search(document.text) is not None


def read(document: Document) -> Traffic:
    """Return the traffic in the tables.

    Raises
    ------
    TrafficError
        If a line of a table is not understood, a table is cut or leaves pairs out, or a process has no table.

    Examples
    --------
    >>> text = b"| Rank <-> Rank Volume(MB) Volume(%) Transfers\\n 0000 <-> 0001 4 100 3\\n| TOTAL 4 100 3\\n"
    >>> found = read(Document(text, "demo"))
    >>> found.total.bytes.toarray().tolist(), found.total.messages.toarray().tolist()
    ([[0, 2097152], [2097152, 0]], [[0, 2], [1, 0]])
    """
    tables = list(_tables(document))
    table = np.array([row for _, rows in tables for row in rows], np.int64).reshape(-1, 5)
    numbers, source, target, n_bytes, messages = table.T
    processes = [process for process, _ in tables if process]
    n = int(processes[0][2]) if processes else 1 + int(table[:, 1:3].max(initial=-1))
    check_ranks(n)
    if len(tables) != (n if processes else 1) or len({process[1] for process in processes}) != len(processes):
        raise TrafficError(f"{document.label}: {len(tables)} tables of bytes; a run of {n} processes has one of each or "
                           "one of all")
    if processes:
        seconds = max(float(process[3] or 0) for process in processes)
        refuse_twice(document, numbers.tolist(), source * n + target)
        return replace(one_phase(n, pairs_of(source, target, n_bytes, messages)), seconds=seconds or None)
    refuse_twice(document, numbers.tolist(), np.minimum(source, target) * n + np.maximum(source, target))
    there = pairs_of(source, target, (n_bytes + 1) // 2, (messages + 1) // 2)
    back = pairs_of(target, source, n_bytes // 2, messages // 2)
    return replace(one_phase(n, joined([there, back])),
                   note="half of the bytes of a pair are taken in each direction, because aps-report adds both")


def _tables(document: Document) -> Iterator[tuple[re.Match[str] | None, list[tuple[int, ...]]]]:
    """Yield for each table the line of its process, if there is one, and its lines: number, from, to, bytes, messages."""
    process, rows, megabytes = None, list[tuple[int, ...]](), None
    for number, line in document.lines("\n", None):
        row, total = _ROW.fullmatch(line), _TOTAL.fullmatch(line)
        where = f"{document.label} line {number}: {line.strip()[:60]!r}"
        if megabytes is None:
            process = _PROCESS.fullmatch(line) or process
            megabytes = 0.0 if _HEAD.fullmatch(line) else None
        elif row:
            source, target, n_bytes = int(row[1]), int(row[3]), float(row[4]) * _MB
            if (process and (source != int(process[1]) or target >= int(process[2]))) or n_bytes > MOST:
                raise TrafficError(f"{where} is no line of {process[0].strip('~ ') if process else 'this table'}")
            megabytes += float(row[4])
            rows.append((number, source, target, round(n_bytes), int(row[6])))
        elif total:
            messages = sum(row[-1] for row in rows)
            if not np.allclose((megabytes, messages), (float(total[1]), float(total[3])), 1e-3, 1e-5):
                raise TrafficError(f"{where} is not the sum of the lines above it; write the report again, without filters")
            yield process, rows
            process, rows, megabytes = None, [], None
        elif not _RULE.fullmatch(line):
            raise TrafficError(f"{where} is no line of a table of bytes between ranks; write the report with all pairs")
    if megabytes is not None:
        raise TrafficError(f"{document.label}: the last table has no line of totals; the file is cut")
