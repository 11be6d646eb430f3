"""Cray XT and XE: a table of nids and coordinates, as RCA or ``PMI_Get_meshcoord`` give them.

First line ``XxYxZxT``, then ``pe nid x y z t`` for each process element, in order: the file that Rubik's probe writes
(LLNL/rubik, rubik/box.py, autobox_cray). The nodes may have holes. ``nid00012 x y z`` is a plain table.
"""

import re

from pencilmap.mapper.allocations.found import Fact, Found
from pencilmap.mapper.formats.lines import Document, integers


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    return len(lines) > 1 and bool(re.fullmatch(r"\s*[0-9]+(x[0-9]+){3}\s*", lines[0][1]))


def find(document: Document) -> Found:
    (_, head), *lines = document.lines()
    *shape, cores = (int(n) for n in head.strip().split("x"))
    order, per_node = dict[str, tuple[int, ...]](), dict[int, int]()
    for number, line in lines:
        _pe, nid, *place, _core = integers(line, number, document.label, 6, "pe nid x y z t")
        where = tuple(place)
        if any(not 0 <= c < n for c, n in zip(where, shape)):
            raise document.refuse(f"node {where} is outside the {'x'.join(map(str, shape))} of the first line", number)
        if order.setdefault(f"nid{nid:05d}", where) != where:
            raise document.refuse(f"nid {nid} was at {order[f'nid{nid:05d}']} above and is at {where} here", number)
        per_node[nid] = per_node.get(nid, 0) + 1
    text = "x".join(map(str, shape))
    tasks = max(per_node.values())
    facts = (Fact("torus", text, document.label),
             Fact("nodes", f"{len(order)}, {tasks} of {cores} cores used", document.label))
    return Found(facts, text, tuple(order), order).with_tasks(per_node.values())
