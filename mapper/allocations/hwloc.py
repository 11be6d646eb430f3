"""hwloc XML (``lstopo --of xml``): packages, NUMA nodes and cores of a node, which are assigned to the slots."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from pencilmap.mapper.allocations.found import Core, Fact, Found
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.errors import MapfileError

MAX_CORES = 1 << 16


def looks_like(document: Document) -> bool:
    return bool(re.match(r"\s*(<\?xml[^>]*\?>)?\s*(<!DOCTYPE topology[^>]*>)?\s*<topology\b", document.text))


def find(document: Document) -> Found:
    """Cores of a node."""
    try:
        root = ElementTree.fromstring(document.text)
    except (ElementTree.ParseError, RecursionError) as error:
        line, column = getattr(error, "position", (None, -1))
        raise document.refuse(f"is not XML: {error}", line, column + 1) from error
    cores = tuple(_cores(root))
    if not cores:
        raise document.refuse("has no object of type Core")
    machine = root.find("object")
    name = next((info.get("value") for info in (machine.findall("info") if machine is not None else [])
                 if info.get("name") == "HostName"), "the node")
    facts = (Fact(f"processors of {name}",
                  f"{len({c.package for c in cores})} packages, {len({c.numa for c in cores})} NUMA "
                  f"nodes, {len(cores)} cores", document.label),)
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
    """Function from the set of processors of a core to the number of its NUMA node."""
    sets = [_bits(e.get("cpuset", "")) for e in root.iter("object") if e.get("type") == "NUMANode"]
    return lambda bits: next((i for i, numa in enumerate(sets) if bits & numa), 0)


def _bits(text):
    """A set of processors as hwloc writes it, ``0x00000001,0xffffffff`` from the high end: int.

    >>> bin(_bits("0x00000001,0x00000003"))
    '0b100000000000000000000000000000011'
    """
    bits = 0
    for word in text.split(","):
        word = word.strip()
        bits = (bits << 32) | (int(word, 16) if re.fullmatch("(0x)?[0-9a-fA-F]{1,8}", word) else 0)
    return bits


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
    while per_task > 1 and sum(len(domain) // per_task for domain in domains.values()) < tasks:
        per_task -= 1
    blocks = [d[i:i + per_task] for d in domains.values() for i in range(0, len(d) - per_task + 1, per_task)]
    return tuple(str(b[0]) if per_task == 1 else f"{b[0]}-{b[-1]}" for b in blocks[:tasks])
