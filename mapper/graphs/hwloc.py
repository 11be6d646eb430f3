"""The inside of a node as a tree, from hwloc XML (``lstopo --of xml``).

Hosts are the objects that run tasks: cores, NUMA nodes or packages. Objects that hold several hosts are switches, each
linked to the next object above. hwloc gives no bandwidth for these links, so you should give one (``--bandwidth``) for
times; loads need none.
Source: the schema hwloc2.dtd of hwloc 2.9; the older schema of hwloc 1, with Socket instead of Package, is also read.

Sets of processors in hwloc XML: the processors of an object, those that the job may use, and the closest NUMA node.

Several NUMA nodes may have the same cores (high-bandwidth memory beside DDR), and a NUMA node may have all cores of others
or none (memory behind CXL). A core's NUMA node is the closest: the first of the nodes with the fewest processors. hwloc 2
writes NUMA nodes beside the cores, and hwloc 1 around the cores, so only the sets tell the cores of a node.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from pencilmap.mapper.formats.lines import Document, xml_root
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GraphError, MapfileError


def looks_like(document: Document) -> bool:
    """Return whether the root is a topology without node elements, which netloc's XML has."""
    head = document.text.lstrip()[:4000]
    return (re.match(r"(<\?xml[^>]*\?>)?\s*(<!DOCTYPE topology[^>]*>)?\s*<topology\b", head) is not None
            and re.search(r"<node\b", head) is None)


def read_cores(document: Document) -> Any:
    """Return the tree with a task on each core, or on each PU if the file has no cores, as in some virtual machines."""
    return _tree(document, ())


def read_numa(document: Document) -> Any:
    """Return the tree with tasks on NUMA nodes."""
    return _tree(document, ("NUMANode",))


def read_packages(document: Document) -> Any:
    """Return the tree with tasks on packages."""
    return _tree(document, ("Package", "Socket"))


def _tree(document: Document, kinds: tuple[str, ...]) -> Any:
    import networkx as nx  # slow to import, and only graphs need networkx

    root = xml_root(document, GraphError)
    kinds = kinds or (unit_of_tasks(root),)
    hosts = _hosts(root, kinds)
    holding = _holding(root, hosts)
    if root not in holding:
        raise GraphError(f"{document.label} has no object of type {' or '.join(kinds).replace('PU', 'Core or PU')}")
    notes = [f"{document.label} has no cores: tasks are on its PUs"] if kinds == ("PU",) else []
    graph, number = nx.Graph(notes=notes), Counter[str]()
    stack: list[tuple[Element, str | None]] = [(root, None)]
    while stack:
        element, above = stack.pop()
        inner = [] if element in hosts else [child for child in element.findall("object") if child in holding]
        if len(inner) != 1:  # a host, or a fork
            kind = element.get("type", "Topology").lower()
            name = f"{kind}-{number[kind]}"
            number[kind] += 1
            graph.add_node(name, kind="switch" if inner else "host")
            if above:
                graph.add_edge(above, name)
            above = name
        stack += [(child, above) for child in reversed(inner)]
    return graph


def _hosts(root: Element, kinds: tuple[str, ...]) -> set[Element]:
    """Return objects of these kinds whose processors the job may use. A NUMA node must be the closest to some core."""
    usable, numa_of, unit = allowed(root), closest(root), unit_of_tasks(root)
    objects = list(root.iter("object"))
    close = {numa_of(each) for each in objects if each.get("type") == unit and usable(each)}
    numa = [each for each in objects if each.get("type") == "NUMANode"]
    far = {each for i, each in enumerate(numa) if close and i not in close}
    return {each for each in objects if each.get("type") in kinds and usable(each) and each not in far}


def _holding(root: Element, hosts: set[Element]) -> set[Element]:
    """Return elements that are hosts or contain hosts."""
    holding = set()
    for element in reversed(list(root.iter())):
        if element in hosts or any(child in holding for child in element.findall("object")):
            holding.add(element)
    return holding


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

    def numa_of(core: Element) -> int:
        inside = bits(core.get("cpuset", ""))
        inside = inside[inside < owner.size]
        return int(owner[inside[0]]) if inside.size else 0

    return numa_of
