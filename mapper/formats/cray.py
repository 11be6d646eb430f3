"""Cray MPICH_RANK_ORDER: ranks separated by commas, in the order of the slots, the first node's slots first.

The file permutes ranks over the slots of the job and names no coordinates. The mapper therefore needs the nodes of the
allocation in the launcher's order (the list of nodes). Sources: grid_order(1) of the HPE Cray programming environment
and the ARCHER2 user guide. The writer writes a line for each node; the reader takes ranges ``a-b`` and any line length.

Cray MPICH 9.1.0 aborts in MPI_Init if the encoded PMI_process_mapping is longer than 1023 bytes (public Perlmutter defect
note). The launch line will have a warning if the mapping exceeds this length.
"""

import re
from os import PathLike

import numpy as np

from pencilmap.mapper.base.shell import path as shell
from pencilmap.mapper.formats.flux import PMI_LIMIT, pmi_process_mapping
from pencilmap.mapper.formats.foreign import names_hosts
from pencilmap.mapper.formats.format import MORE_SLOTS, RANK, Format, Job, Launch, Places, by_rank, sbatch
from pencilmap.mapper.formats.lines import Document, span
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import LaunchOrder, Mapping

_WORD = re.compile(r"[^,\s]+")
_BESIDE = re.compile(r"[0-9]\s+[0-9]")


def write(mapping: Mapping, job: Job) -> str:
    T, position = job.site.tasks_per_node, _positions(mapping, job)
    order = np.argsort(position)
    gap = np.flatnonzero(position[order] != np.arange(position.size))
    if gap.size:
        i = int(gap[0])
        where = job.hosts.place(int(job.site.allocation.nodes[i // T]))
        raise MapfileError(f"MPICH_RANK_ORDER fills slots without gaps in the launcher's order, but {where} slot "
                           f"{i % T} stays idle before others; use every slot, or request only the nodes that are used")
    ranks = order.tolist()
    return "".join(",".join(map(str, ranks[i:i + T])) + "\n" for i in range(0, len(ranks), T))


def _positions(mapping: Mapping, job: Job) -> Ints:
    return job.node_index(mapping.node_of_rank) * job.site.tasks_per_node + mapping.slot_of_rank


def read(document: Document, job: Job) -> Places:
    T, nodes = job.site.tasks_per_node, job.site.allocation.nodes
    entries: list[tuple[int, int, int | None, int]] = []
    for number, line in document.lines(longest=None):
        beside = _BESIDE.search(line)
        if beside:
            raise document.refuse(f"{beside[0][:20]!r}: ranks are separated by commas, not by blanks alone", number,
                                  beside.start() + 1)
        for word in _WORD.finditer(line):
            for rank in _ranks(document, number, word, job.site.n_slots):
                if len(entries) == job.site.n_slots:
                    raise document.refuse(f"more ranks than the {job.site.n_slots} slots of {job.site}; {MORE_SLOTS}",
                                          number, word.start() + 1)
                i = len(entries)
                entries.append((rank, int(nodes[i // T]), i % T, number))
    return by_rank(document, entries)


def _ranks(document: Document, number: int, word: re.Match[str], most: int) -> range:
    result = span(word[0])
    if result is None:
        raise document.refuse(f"{word[0][:20]!r} is not a rank; ranks a or ranges a-b separated by commas are allowed",
                              number, word.start() + 1)
    if not 0 < len(result) <= most:
        raise document.refuse(f"range {word[0][:40]} does not hold 1 to {most} ranks", number, word.start() + 1)
    return result


def looks_like(lines: list[tuple[int, str]]) -> bool:
    return (bool(re.match(r"\s*[0-9]{1,12}(-[0-9]{1,12})?\s*(,|$)", lines[0][1])) and ";" not in lines[0][1]
            and not names_hosts(lines[1:]))


def launch(mapping: Mapping, job: Job, path: str | PathLike[str]) -> Launch:
    T = job.site.tasks_per_node
    length = len(pmi_process_mapping(job.node_index(mapping.node_of_rank)))
    needs = ("MPICH_RANK_REORDER_METHOD=3 and MPICH_RANK_REORDER_FILE in the environment (without the second the file must "
             "be called MPICH_RANK_ORDER); MPICH_RANK_REORDER_DISPLAY=1 prints the result",
             "the default distribution of srun or aprun, and the nodes in the order of `nodes`")
    warnings = []
    if length > PMI_LIMIT:
        warnings.append(f"the encoded PMI_process_mapping of this placement has {length} bytes; Cray MPICH 9.1.0 aborts in "
                        f"MPI_Init above {PMI_LIMIT} (9.0.1 does not)")
    if not job.known_order:
        warnings.append("the launcher's order of the nodes is assumed to be that of their numbers; give the nodes of the "
                        "job with `nodes`")
    options = " ".join((f"-N {-(-mapping.n_tasks // T)} -n {mapping.n_tasks} --ntasks-per-node={T}", *job.cpus_option,
                        *job.cpu_bind))
    before, program = job.listed("--multi-prog")
    line = f"{before}MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={shell(path)} srun {options} {program}"
    return Launch(line, needs, tuple(warnings), sbatch(mapping, job))


FORMAT = Format("Cray MPICH_RANK_ORDER: ranks in the order of the allocated slots", write, read, looks_like, launch,
                says_slots=True, several=True, launcher="Cray MPICH", binds=RANK,
                proof="documented examples: grid_order(1) man page, ARCHER2 user guide",
                launch_order=LaunchOrder(("tn",), "Cray's SMP order",
                                         "intro_mpi(3) of Cray MPICH: MPICH_RANK_REORDER_METHOD=1",
                                         reason="format cray"))
