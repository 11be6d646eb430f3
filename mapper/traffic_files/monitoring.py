"""The files of Open MPI's monitoring, one for each rank: ``PREFIX.RANK.prof`` of pml_monitoring_enable_output 3.

Lines E (user messages) and I (messages that collectives really sent) are read, and the one-sided lines S (to the target)
and R (from the target). The lines C, O2A, A2O and A2A count collectives again, as if every pair took part; they are left
out. With pml_monitoring_enable 1 there are no lines I, and E has both.

Reference: comments of ompi/mca/common/monitoring/common_monitoring.c in Open MPI 4.1, `output_monitoring`.
"""

import re
from pathlib import Path

import numpy as np

from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import (
    MEASURED,
    MOST_RANKS,
    ONE_SIDED,
    POINT,
    Pairs,
    Traffic,
    joined,
    one_phase,
    pairs_of,
)

_FIRST = re.compile(r"# POINT TO POINT\s*\n")
_LINE = re.compile(r"([EISR])\t([0-9]{1,9})\t([0-9]{1,9})\t([0-9]{1,16}) bytes\t([0-9]{1,16}) msgs sent\t?[0-9,]*")
_LEFT_OUT = re.compile(r"(C\t[0-9]+\t[0-9]+|(O2A|A2O|A2A)\t[0-9]+)\t[0-9]+ bytes\t[0-9]+ msgs sent.*|D\t.*|#.*|\s*")
_NAME = re.compile(r"(?P<prefix>.*)\.(?P<rank>[0-9]{1,9})\.prof")
_KIND = {"E": POINT, "I": MEASURED, "S": ONE_SIDED, "R": ONE_SIDED}


def looks_like(document: Document) -> bool:
    return _FIRST.match(document.text) is not None


def read(document: Document) -> Traffic:
    """Return the traffic of all ranks: the other files are beside this one.

    Raises
    ------
    TrafficError
        If a line is not understood, or the file of a rank is missing.
    """
    path = Path(document.label)
    named = _NAME.fullmatch(path.name)
    if not named:
        raise TrafficError(f"{document.label} has the messages of one rank; the files of all ranks are found by their "
                           "names, PREFIX.0.prof, PREFIX.1.prof, ...")
    ranks = {int(match["rank"]) for file in path.parent.iterdir() if (match := _NAME.fullmatch(file.name))
             and match["prefix"] == named["prefix"]}
    parts = []
    for rank in sorted(ranks):
        file = path.with_name(f"{named['prefix']}.{rank}.prof")
        parts.append(of_rank(document if file == path else read_document(file, TrafficError), rank))
    pairs = joined(parts)
    n = 1 + max([*ranks, int(pairs.source.max(initial=0)), int(pairs.target.max(initial=0))])
    missing = sorted(set(range(min(n, MOST_RANKS))) - ranks)
    if missing:
        raise TrafficError(f"{path.with_name(named['prefix'])}.{missing[0]}.prof is missing; the ranks are 0 to {n - 1}, "
                           "and each has a file")
    return one_phase(n, pairs)


def of_rank(document: Document, rank: int) -> Pairs:
    """Return the pairs in the file of a rank.

    Raises
    ------
    TrafficError
        If a line is not understood or is about another rank.

    Examples
    --------
    >>> text = b"# POINT TO POINT\\nE\\t0\\t1\\t8 bytes\\t2 msgs sent\\t2,0\\nC\\t0\\t1\\t9 bytes\\t1 msgs sent\\n"
    >>> found = of_rank(Document(text, "demo.0.prof"), 0)
    >>> found.bytes.tolist(), found.messages.tolist()
    ([8], [2])
    """
    rows, kinds = [], []
    for number, line in document.lines("\n", None):
        match = _LINE.fullmatch(line)
        if match is None and not _LEFT_OUT.fullmatch(line):
            raise TrafficError(f"{document.label} line {number}: {line[:40]!r} is no line of Open MPI's monitoring")
        if match:
            if int(match[2]) != rank or int(match[3]) >= MOST_RANKS:
                raise TrafficError(f"{document.label} line {number}: messages of rank {match[2]} to rank {match[3]}, in the "
                                   f"file of rank {rank}")
            ends = (int(match[3]), int(match[2])) if match[1] == "R" else (int(match[2]), int(match[3]))
            rows.append((*ends, int(match[4]), int(match[5])))
            kinds.append(_KIND[match[1]])
    source, target, n_bytes, messages = np.array(rows, np.int64).reshape(-1, 4).T
    return pairs_of(source, target, n_bytes, messages, np.array(kinds, np.int64))
