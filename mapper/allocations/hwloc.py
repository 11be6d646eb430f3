"""hwloc XML (``lstopo --of xml``): packages, NUMA nodes and cores of a node, which are assigned to the slots.

Several NUMA nodes may have the same cores (high-bandwidth memory beside DDR), and a NUMA node may have all cores of others.
A core's NUMA node is the closest: the one with the fewest processors, the first of these. hwloc 2 writes NUMA nodes beside
the cores, and hwloc 1 around them, so that only their sets of processors tell which cores they have.
"""

import re
from collections.abc import Sequence
from os import PathLike
from xml.etree import ElementTree

import numpy as np

from pencilmap.mapper.allocations.found import Core, Fact, Found
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.hwloc import looks_like as looks_like
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import parse_xml, reading

MAX_CORES = 1 << 16
MAX_PROCESSORS = 1 << 20  # of one node
_WORD = re.compile("(0x)?[0-9a-fA-F]{1,8}")


def read_cores(path: str | PathLike[str]) -> tuple[Core, ...]:
    """Cores of the node in the file at a path."""
    document = read_document(path)
    with reading(document.label, MapfileError, len(document.text)):
        return find(document).cores or ()


def find(document: Document) -> Found:
    """Cores of a node."""
    try:
        root = parse_xml(document.text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        line, column = getattr(error, "position", (None, -1))
        raise document.refuse(f"is not XML: {error}", line, column + 1) from error
    cores = tuple(_cores(root))
    if not cores:
        raise document.refuse("has no object of type Core")
    machine = root.find("object")
    name = next((info.get("value") for info in (machine.findall("info") if machine is not None else [])
                 if info.get("name") == "HostName"), "the node")
    numa = max(1, sum(each.get("type") == "NUMANode" for each in root.iter("object")))  # hwloc 1 writes none if it is one
    packages = len({core.package for core in cores})
    facts = (Fact(f"processors of {name}", f"{packages} packages, {numa} NUMA nodes, {len(cores)} cores", document.label),)
    return Found(facts, cores=cores)


def _cores(root):
    """Cores in logical order, which is the order of the tree. No recursion, because the tree may be deep."""
    numa_of = _numa_by_set(root)
    package, numbered, stack = -1, 0, [root]
    while stack:
        element = stack.pop()
        kind = element.get("type")
        package += kind in ("Package", "Socket")
        if kind == "Core":
            yield Core(numbered, max(package, 0), numa_of(_bits(element.get("cpuset", ""))))
            numbered += 1
            if numbered > MAX_CORES:
                raise MapfileError(f"more than {MAX_CORES} cores in one node")
        stack += reversed(element.findall("object"))


def _numa_by_set(root):
    """Function from the processors of a core to the number of its closest NUMA node, else 0."""
    sets = [_bits(e.get("cpuset", "")) for e in root.iter("object") if e.get("type") == "NUMANode"]
    owner = np.zeros(max((int(bits[-1]) + 2 for bits in sets if bits.size), default=1), dtype=np.int64)
    for i in sorted(range(len(sets)), key=lambda i: (-sets[i].size, -i)):  # the closest is the last to own a processor
        owner[sets[i]] = i

    def numa_of(bits):
        inside = bits[bits < owner.size]
        return int(owner[inside[0]]) if inside.size else 0

    return numa_of


def _bits(text: str) -> Ints:
    """A set of processors as hwloc writes it, ``0x00000001,0xffffffff`` from the high end: their numbers in order.

    >>> _bits("0x00000001,0x00000003").tolist()
    [0, 1, 32]
    """
    words = [word.strip() for word in reversed(text.split(","))]
    if len(words) * 32 > MAX_PROCESSORS:
        raise MapfileError(f"a set of {len(words) * 32} processors; at most {MAX_PROCESSORS} are read")
    values = [int(word, 16) if _WORD.fullmatch(word) else 0 for word in words]
    return np.flatnonzero(np.unpackbits(np.array(values, dtype="<u4").view(np.uint8), bitorder="little"))


def slot_cores(cores: Sequence[Core], tasks: int) -> tuple[str, ...]:
    """Processors of each slot in Open MPI's syntax: equal blocks of cores, within a NUMA node where possible.

    >>> two_packages = [Core(i, i // 4, i // 4) for i in range(8)]
    >>> slot_cores(two_packages, 4), slot_cores(two_packages, 2), slot_cores(two_packages, 3)
    (('0-1', '2-3', '4-5', '6-7'), ('0-3', '4-7'), ('0-1', '2-3', '4-5'))
    """
    domains: dict[tuple[int, int], list[int]] = {}
    for core in cores:
        domains.setdefault((core.package, core.numa), []).append(core.number)
    if tasks > len(cores):
        raise MapfileError(f"{tasks} tasks per node, but the node has {len(cores)} cores; one core per task is needed")
    per_task = len(cores) // tasks
    while sum(len(domain) // per_task for domain in domains.values()) < tasks:
        per_task -= 1
    blocks = [d[i:i + per_task] for d in domains.values() for i in range(0, len(d) - per_task + 1, per_task)]
    return tuple(str(b[0]) if per_task == 1 else f"{b[0]}-{b[-1]}" for b in blocks[:tasks])
