"""The profile of IPM, XML: for each rank the calls of MPI by partner and size (``IPM_LOG=full``).

    <?xml version="1.0" encoding="iso-8859-1"?>
    <ipm_job_profile>
    <task ipm_version="2.0.6" mpi_rank="0" mpi_size="2" stamp_init="7.5" stamp_final="9.0" >
    <hash nlog="2" nkey="1" >
    <hent key="..." call="MPI_Isend" bytes="800" orank="1" region="1" callsite="1" count="2" tid="0" >1e-6 1e-6 1e-6</hent>
    </hash>
    </task>
    ...
    </ipm_job_profile>

A `hent` counts the calls of a rank with a number of bytes and a partner, a world rank. Calls that send one message are read.
The ranks of a collective are not told, and persistent requests have no partner. Version 2, with keys of 32 digits, cuts each
size to three binary digits, and gives MPI_PROC_NULL partner 0, but a key that ends with a larger rank.

Reference: src/report_xml.c, include/hashkey.h, etc/wrap_mpi_c.c and etc/ipm_key_mpi of IPM 2.0.6, src/log.c of IPM 1,
https://github.com/nerscadmin/IPM.
"""

import re
from dataclasses import replace

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.matrices import MOST
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import Traffic, added, check_ranks, one_phase, pairs_of

_FIRST = re.compile(r"\s*(<\?xml[^>]*>\s*)?<ipm_job_profile\b")
_TAG = re.compile(r"<(task|hash|hent)\b([^>]*)>")
_END = re.compile(r"</ipm_job_profile>\s*$")
_GIVEN = re.compile(r'(\w+)="([^"]*)"')
_N, _T = r"[0-9]{1,15}", r"[0-9]{1,12}(\.[0-9]{1,9})?"
_NEEDED = {"task": {"mpi_rank": _N, "mpi_size": _N, "stamp_init": _T, "stamp_final": _T}, "hash": {},
           "hent": {"key": r"-?[0-9]{1,19}|[0-9A-F]{32}", "call": r"\w+", "bytes": _N, "orank": f"-?{_N}", "count": _N}}
_SENDS = re.compile(r"MPI_(I?[sbr]?send|Sendrecv(_replace)?)", re.IGNORECASE)
_COLLECTIVE = re.compile(r"MP[IE]_I?(bcast|reduce|gather|scatter|scan|exscan|all(gather|reduce|toall)|reduce_scatter)[vw]?",
                         re.IGNORECASE)
_RANKS = 0x3FFFFFFF  # bits of the partner in a key of version 2


def looks_like(document: Document) -> bool:
    return _FIRST.match(document.text) is not None


def read(document: Document) -> Traffic:
    """Return the traffic in a profile.

    Raises
    ------
    TrafficError
        If a tag is not understood, the file has no end, a rank is missing, or the calls are not in the file.

    Examples
    --------
    >>> task = b'<task mpi_rank="%d" mpi_size="2" stamp_init="1" stamp_final="3.5" ><hash >%s</hash></task>'
    >>> sent = b'<hent key="7" call="MPI_Send" bytes="8" orank="1" count="5" >'
    >>> text = b"<ipm_job_profile>" + task % (0, sent) + task % (1, b"") + b"</ipm_job_profile>"
    >>> found = read(Document(text, "demo"))
    >>> found.total.bytes.toarray().tolist(), found.seconds
    ([[0, 40], [0, 0]], 2.5)
    """
    rows, ranks, seconds, n, logs, calls, is_cut = list[tuple[int, ...]](), list[int](), 0.0, 0, 0, 0, False

    def refused(tag: re.Match[str], problem: str) -> TrafficError:
        line = 1 + document.text.count("\n", 0, tag.start())
        return TrafficError(f"{document.label} line {line}: {tag[0][:60]!r} {problem}")

    for tag in _TAG.finditer(document.text):
        given = dict(_GIVEN.findall(tag[2]))
        wrong = [name for name, form in _NEEDED[tag[1]].items() if not re.fullmatch(form, given.get(name, ""))]
        if wrong or (tag[1] != "task" and not ranks):
            raise refused(tag, f"has no {wrong[0]} that is understood" if wrong else "is in no task")
        if tag[1] == "task":
            n = n or int(given["mpi_size"])
            ranks.append(int(given["mpi_rank"]))
            seconds = max(seconds, float(given["stamp_final"]) - float(given["stamp_init"]))
            if int(given["mpi_size"]) != n or ranks[-1] not in range(n):
                raise refused(tag, f"is no rank of {n}")
        elif tag[1] == "hash":
            logs += 1
        elif _SENDS.fullmatch(given["call"]):
            target, sent = int(given["orank"]), int(given["bytes"]) * int(given["count"])
            is_cut |= len(given["key"]) == 32
            partner = int(given["key"][-8:], 16) & _RANKS if is_cut else target
            if partner < 0 or (target == 0 and partner >= _RANKS - 2):
                continue  # MPI_PROC_NULL
            if target != partner or target >= n or sent > MOST:
                raise refused(tag, f"is no message to one of the ranks 0 to {n - 1}")
            rows.append((ranks[-1], target, sent, int(given["count"])))
        elif _COLLECTIVE.fullmatch(given["call"]) and int(given["bytes"]):
            calls += int(given["count"])
    check_ranks(n)
    missing = set(range(n)) - set(ranks)
    problem = (f"rank {min(missing)} of {n} has no task; the file is cut" if missing else
               f"{len(ranks)} tasks of {n} ranks; give the file of one run" if len(ranks) > n else
               "no </ipm_job_profile> at the end; the file is cut" if not _END.search(document.text) else
               "" if logs else "no calls of MPI; run the program with IPM_LOG=full")
    if problem:
        raise TrafficError(f"{document.label}: {problem}")
    pairs = added(pairs_of(*np.array(rows, np.int64).reshape(-1, 4).T))
    notes = ["IPM 2 cuts the sizes of messages by up to 20 %"] if is_cut else []
    if calls:
        notes.append(f"{calls:,} calls of collectives are left out, as IPM does not tell their ranks; pencilmap trace "
                     "counts them")
    return replace(one_phase(n, pairs), seconds=seconds or None, note="; ".join(notes))
