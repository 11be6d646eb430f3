"""hwloc XML (``lstopo --of xml``): packages, NUMA nodes and cores of a node, which are assigned to the slots.

Cores that the job may not use (``lstopo --disallowed``) get no number, as in hwloc and launchers. Some systems tell no
cores: then each PU is taken for one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from xml.etree.ElementTree import Element

from pencilmap.mapper.allocations.found import Core, Fact, Found
from pencilmap.mapper.formats.lines import Document, read_document, xml_root
from pencilmap.mapper.graphs.hwloc import allowed, allowed_memory, closest, looks_like as looks_like, unit_of_tasks
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import reading
from pencilmap.model.base.units import counted

MAX_CORES = 1 << 16


def read_cores(path: str | PathLike[str]) -> tuple[Core, ...]:
    """Return cores of the node in the file at a path."""
    document = read_document(path)
    with reading(document.label, MapfileError, len(document.text)):
        return find(document).cores or ()


def find(document: Document) -> Found:
    """Return cores of a node."""
    root = xml_root(document)
    cores = tuple(_cores(root))
    if not cores:
        raise document.refuse("has no object of type Core or PU that the job may use")
    machine = root.find("object")
    name = next((info.get("value") for info in (machine.findall("info") if machine is not None else [])
                 if info.get("name") == "HostName"), "the node")
    objects = Counter(each.get("type") for each in root.iter("object"))
    numa = max(1, sum(map(allowed_memory(root), root.iter("object"))))  # hwloc 1 writes no single node
    packages = len({core.package for core in cores})
    told = ", ".join((*([counted(packages, "package")] if objects["Package"] + objects["Socket"] else []),
                      counted(numa, "NUMA node"), counted(len(cores), "core" if objects["Core"] else "PU")))
    facts = (Fact(f"processors of {name}", told, document.label),)
    return Found(facts, cores=cores)


def _cores(root: Element) -> Iterator[Core]:
    """Return cores, or PUs of a file without cores, in the order of the tree. Without recursion, because it may be deep."""
    numa_of, usable = closest(root), allowed(root)
    wanted = unit_of_tasks(root)
    package, numbered, stack = -1, 0, [root]
    while stack:
        element = stack.pop()
        kind = element.get("type")
        package += kind in ("Package", "Socket")
        if kind == wanted and usable(element):
            yield Core(numbered, max(package, 0), numa_of(element))
            numbered += 1
            if numbered > MAX_CORES:
                raise MapfileError(f"more than {MAX_CORES} cores in one node")
        stack += reversed(element.findall("object"))


def slot_cores(cores: Sequence[Core], tasks: int) -> tuple[str, ...]:
    """Return processors of each slot in Open MPI's syntax: equal blocks of cores, within a NUMA node if possible.

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
