"""Sets of processors in hwloc XML: the processors of an object, those that the job may use, and the closest NUMA node.

Several NUMA nodes may have the same cores (high-bandwidth memory beside DDR), and a NUMA node may have all cores of others
or none (memory behind CXL). A core's NUMA node is the closest: the first of the nodes with the fewest processors. hwloc 2
writes NUMA nodes beside the cores, and hwloc 1 around the cores, so only the sets tell the cores of a node.
"""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError

MAX_PROCESSORS = 1 << 20  # of one node
_WORD = re.compile("(0x)?[0-9a-fA-F]{1,8}")


def bits(text: str) -> Ints:
    """Return the numbers, in order, of a set of processors: ``0x00000001,0xffffffff`` from the high end, as in hwloc.

    >>> bits("0x00000001,0x00000003").tolist()
    [0, 1, 32]
    """
    words = [word.strip() for word in reversed(text.split(","))]
    if len(words) * 32 > MAX_PROCESSORS:
        raise MapfileError(f"a set of {len(words) * 32} processors; at most {MAX_PROCESSORS} are read")
    values = [int(word, 16) if _WORD.fullmatch(word) else 0 for word in words]
    return np.flatnonzero(np.unpackbits(np.array(values, dtype="<u4").view(np.uint8), bitorder="little"))


def allowed(root: Element) -> Callable[[Element], bool]:
    """Return a test whether the job may use a processor of an object; always true if the file does not say."""
    machine = root.find("object")
    usable = set(bits(machine.get("allowed_cpuset", "")).tolist()) if machine is not None else set()
    return lambda element: not usable or not element.get("cpuset") or not usable.isdisjoint(
        bits(element.get("cpuset", "")).tolist())


def allowed_memory(root: Element) -> Callable[[Element], bool]:
    """Return a test whether an object is a NUMA node whose memory the job may use."""
    machine, usable = root.find("object"), allowed(root)
    nodes = set(bits(machine.get("allowed_nodeset", "")).tolist()) if machine is not None else set()
    return lambda element: element.get("type") == "NUMANode" and (
        not nodes.isdisjoint(bits(element.get("nodeset", "")).tolist()) if nodes else usable(element))


def unit_of_tasks(root: Element) -> str:
    """Return the type of the objects that run tasks: cores, or PUs if the file has no cores."""
    return "Core" if any(each.get("type") == "Core" for each in root.iter("object")) else "PU"


def closest(root: Element) -> Callable[[Element], int]:
    """Return a function from a core to the number of its closest NUMA node, in the order of the file, else 0."""
    sets = [bits(e.get("cpuset", "")) for e in root.iter("object") if e.get("type") == "NUMANode"]
    owner = np.zeros(max((int(found[-1]) + 2 for found in sets if found.size), default=1), dtype=np.int64)
    for i in sorted(range(len(sets)), key=lambda i: (-sets[i].size, -i)):  # the closest is the last to own a processor
        owner[sets[i]] = i

    def numa_of(core):
        inside = bits(core.get("cpuset", ""))
        inside = inside[inside < owner.size]
        return int(owner[inside[0]]) if inside.size else 0

    return numa_of
