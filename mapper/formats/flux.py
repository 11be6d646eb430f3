"""Task maps: the node of each rank, as Flux reads them and PMI hands them out.

Task maps: the node of each rank, as blocks of (node, nodes, ranks on each, repeats).

Sources: RFC 34 of Flux (flux-framework/rfc, spec_34.rst) and, without the repeats, the PMI-1 key ``PMI_process_mapping``
(RFC 13), which MPICH and Cray MPICH hand to every rank.

Flux task map (RFC 34): a JSON array of ``[nodeid, nnodes, ppn, repeat]``; node ids count the job's nodes in order.

Source: flux-framework/rfc, spec_34.rst, whose test vectors are among our tests; flux-run(1), option --taskmap. The reader
also takes the other forms of flux-core (src/common/libtaskmap/taskmap.c): the object ``{"version": 1, "map": [...]}``,
the raw form ``0-1;2-3`` (ranks of each node), and the vector of PMI, ``(vector,(nodeid,nnodes,ppn),...)``.

Flux stops if a node of the job has no task. Up to version 0.74, Flux also stops unless each node has as many tasks as in
Flux's block order, which gives the remaining tasks to the first nodes (``taskmap_check`` of libtaskmap and
``shell_info_set_taskmap`` of the shell). Version 0.75.0 has no such rule (flux-core pull request 6815).
"""

import json
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.format import MORE_SLOTS, Format, Job, Launch, Places, by_rank
from pencilmap.mapper.formats.lines import Document, Leaf, check_json, leaves, places_of, span
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping

PMI_LIMIT = 1023


def blocks(node: ArrayLike) -> list[list[int]]:
    """Return the blocks [node, nodes, ranks on each, repeats] of the nodes of all ranks.

    >>> blocks([0, 1, 0, 1]), blocks([1, 0]), blocks([0, 0, 1, 1, 2, 2, 2])
    ([[0, 2, 1, 2]], [[1, 1, 1, 1], [0, 1, 1, 1]], [[0, 2, 2, 1], [2, 1, 3, 1]])
    """
    rows: list[list[int]] = []
    for first, n_nodes, per_node in pmi_blocks(node):
        if rows and rows[-1][:3] == [first, n_nodes, per_node]:
            rows[-1][3] += 1
        else:
            rows.append([first, n_nodes, per_node, 1])
    return rows


def pmi_blocks(node: ArrayLike) -> list[tuple[int, int, int]]:
    """Return the blocks without repeats: (node, nodes, ranks on each)."""
    rows: list[list[int]] = []
    for first, count in _runs(node):
        if rows and rows[-1][2] == count and rows[-1][0] + rows[-1][1] == first:
            rows[-1][1] += 1
        else:
            rows.append([first, 1, count])
    return [(first, n_nodes, per_node) for first, n_nodes, per_node in rows]


def _runs(node: Any) -> Iterable[Any]:
    node = np.asarray(node, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(node) != 0])) if node.size else node
    return zip(node[starts].tolist(), np.diff(np.append(starts, node.size)).tolist())


def pmi_process_mapping(node: ArrayLike) -> str:
    """Return the text of the PMI key.

    >>> pmi_process_mapping([0, 0, 1, 1])
    '(vector,(0,2,2))'
    """
    return f"(vector,{','.join('({},{},{})'.format(*block) for block in pmi_blocks(node))})"


def expand(blocks: Iterable[Sequence[int]], limit: int) -> list[int]:
    """Return the nodes of at most `limit` + 1 ranks: the inverse of `blocks`.

    >>> expand([[0, 2, 1, 2]], 10)
    [0, 1, 0, 1]
    """
    ranks: list[int] = []
    for node, n_nodes, per_node, repeat in blocks:
        for _ in range(repeat):
            for n in range(node, node + n_nodes):
                ranks += [n] * min(per_node, limit + 1 - len(ranks))
                if len(ranks) > limit:
                    return ranks
    return ranks


_VECTOR = re.compile(r"\s*\(\s*vector(?=,\s*\()")
_BLOCK = r"\(\s*[0-9]{1,12},\s*[0-9]{1,12},\s*[0-9]{1,12}\)"
_BLOCKS = re.compile(rf",\s*{_BLOCK}(?:\s*,\s*{_BLOCK})*\s*\)\s*")


def write(mapping: Mapping, job: Job) -> str:
    index = job.node_index(mapping.node_of_rank)
    empty = np.flatnonzero(np.bincount(index) == 0)
    if empty.size:
        where = job.hosts.place(int(job.site.allocation.nodes[empty[0]]))
        raise MapfileError(f"Flux starts a task on every node of a job, but {where} gets none before others; request "
                           "only the nodes that are used, and list them with `nodes`")
    return json.dumps(blocks(index), separators=(",", ":")) + "\n"


def read(document: Document, job: Job) -> Places:
    if re.match(r"\s*[\[{]", document.text):
        return _read_blocks(document, job)
    if re.match(r"\s*\(", document.text):
        return _read_vector(document, job)
    return _read_raw(document, job)


def _read_blocks(document: Document, job: Job) -> Places:
    lists = check_json(document)
    if isinstance(lists, dict):
        if lists.get("version") != 1 or len(lists) != 2:
            raise document.refuse('is not {"version": 1, "map": [...]}')
        lists = lists.get("map")
    lists_ = leaves(document, lists)
    for leaf in lists_:
        if leaf.depth != 2 or len(leaf.values) != 4:
            raise document.refuse("a block of a task map is [nodeid,nnodes,ppn,repeat]", leaf.line, leaf.column)
    return _expanded(document, job, lists_)


def _read_vector(document: Document, job: Job) -> Places:
    """Read a value of PMI_process_mapping."""
    document.refuse_marks("Flux")
    head = _VECTOR.match(document.text)
    if not head or not _BLOCKS.fullmatch(document.text, head.end()):
        raise document.refuse(f"{document.text.strip()[:40]!r} is not a vector of PMI; write "
                              "(vector,(nodeid,nnodes,ppn),...)", 1)
    matches = list(re.finditer(_BLOCK, document.text))
    places = places_of(document.text, [block.start() for block in matches])
    return _expanded(document, job, [Leaf((*map(int, re.findall("[0-9]+", block[0])), 1), 2, *place)
                                     for block, place in zip(matches, places)])


def _expanded(document: Document, job: Job, lists: list[Leaf]) -> Places:
    """Return the places of the blocks."""
    index, numbers = list[int](), list[int]()
    for leaf in lists:
        _check_block(document, leaf, job)
        more = expand([leaf.values], job.site.n_slots - len(index))
        index += more
        numbers += [leaf.line] * len(more)
        if len(index) > job.site.n_slots:
            raise document.refuse(f"more ranks than the {job.site.n_slots} slots of {job.site}; {MORE_SLOTS}", leaf.line,
                                  leaf.column)
    return Places(job.site.allocation.nodes[np.array(index, dtype=np.int64)], None, numbers)


def _check_block(document: Document, leaf: Leaf, job: Job) -> None:
    node, n_nodes, per_node, repeat = leaf.values
    most = job.site.allocation.n_nodes
    if min(n_nodes, per_node, repeat) < 1 or node < 0 or node + n_nodes > most:
        raise document.refuse(f"block {list(leaf.values)} is not possible: nodes are 0..{most - 1}, and nnodes, ppn and "
                              "repeat at least 1", leaf.line, leaf.column)


def _read_raw(document: Document, job: Job) -> Places:
    document.refuse_marks("Flux")
    text = document.text.rstrip("\n")
    strange = re.search(r"[^0-9,;-]", text)
    if strange:
        line = text.count("\n", 0, strange.start()) + 1
        column = strange.start() - text.rfind("\n", 0, strange.start())
        raise document.refuse(f"{strange[0]!r} is not expected; the raw form is one line without blanks or comments, such "
                              "as 0-1;2-3 (the ranks of each node)", line, column)
    entries, column, most = list[tuple[int, int, None, int]](), 1, job.site.n_slots
    nodes = job.site.allocation.nodes
    for node, idset in enumerate(text.split(";")):
        if node >= nodes.size:
            raise document.refuse(f"more than the {nodes.size} nodes of {job.site}", 1, column)
        for part in idset.split(","):
            ranks = span(part) or ()
            if not 0 < len(ranks) <= most - len(entries):
                raise document.refuse(f"{part[:20]!r} is not a set of at most {most} ranks such as 0-3,8", 1, column)
            entries += [(rank, int(nodes[node]), None, 1) for rank in ranks]
            column += len(part) + 1
    return by_rank(document, entries)


def looks_like(lines: list[tuple[int, str]]) -> bool:
    first = lines[0][1].strip()
    wrapped = re.match(r'\{\s*("version"|"map"|$)', first)
    return bool(wrapped or re.match(r"\[\s*(\[\s*[0-9]|$)|\(\s*vector", first)
                or (";" in first and re.fullmatch(r"[0-9,;\s-]*", first)))


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    tasks = np.bincount(job.node_index(mapping.node_of_rank))  # of each node, up to the last node with tasks
    block = mapping.n_tasks // tasks.size + (np.arange(tasks.size) < mapping.n_tasks % tasks.size)
    needs = ["node ids count the nodes of the job in the order of its resource set (flux resource list; `nodes`)"]
    if (tasks != block).any():
        at = int(np.flatnonzero(tasks != block)[0])
        needs.append("Flux 0.75.0 or newer: older versions take only as many tasks on each node as their block order, which "
                     f"puts {block[at]} on node id {at}, where this file puts {tasks[at]}")
    warnings = () if job.known_order else (
        "the order of the job's nodes is assumed to be that of the node numbers; give it with `nodes`",)
    before, program = job.listed("flux multi-prog")
    if before:
        needs.append("Flux 0.76.0 or newer for several programs")
    line = f"{before}flux run -N {tasks.size} -n {mapping.n_tasks} --taskmap=manual:\"$(cat {shell(path)})\" {program}"
    return Launch(line, tuple(needs), warnings)


FORMAT = Format("Flux task map (RFC 34): [nodeid,nnodes,ppn,repeat]", write, read, looks_like, launch, says_slots=False,
                several=True,
                launcher="Flux (RFC 34)",
                proof="the 14 test vectors of RFC 34",
                launch_order=LaunchOrder(("tn",), "Flux's block order",
                                         "flux-core, flux-run(1), --taskmap: block is the default, and consecutive tasks "
                                         "share nodes",
                                         reason="format flux"))
