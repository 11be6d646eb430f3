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
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from pencilmap.mapper.formats.lines import Document, xml_root
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GraphError, MapfileError, PencilmapError


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
    root = root_of(document, GraphError)
    kinds = kinds or (unit_of_tasks(root),)
    hosts = _hosts(root, kinds)
    if not hosts:
        raise GraphError(f"{document.label} has no object of type {' or '.join(kinds).replace('PU', 'Core or PU')}")
    notes = [f"{document.label} has no cores: tasks are on its PUs"] if kinds == ("PU",) else []
    return tree_of(root, [[each] for each in root.iter() if each in hosts], notes)


def root_of(document: Document, error: type[PencilmapError] = MapfileError) -> Element:
    """Return the root of a file. Raises an error about the line of a set that is none, or if the text is not XML."""
    root = xml_root(document, error)
    for found in _SET.finditer(document.text):
        try:
            bits(found[2])
        except MapfileError as problem:
            line = document.text.count("\n", 0, found.start()) + 1
            raise error(str(document.refuse(f"{found[1]}: {problem}", line))) from problem
    return root


def tree_of(root: Element, blocks: Sequence[Sequence[Element]], notes: Iterable[str] = ()) -> Any:
    """Return the tree whose hosts are blocks of objects, in this order. Without recursion, because a file may be deep.

    A block belongs to the smallest object that holds all of it. Objects that hold several blocks are switches.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    graph, number = nx.Graph(notes=list(notes)), Counter[str]()
    own: dict[Element, list[str]] = {}
    for block, around in zip(blocks, _around(root, blocks)):
        name = _numbered(block[0] if len(block) == 1 else None, number)
        graph.add_node(name, kind="host")
        own.setdefault(around, []).append(name)
    held: dict[Element, int] = {}
    for element in reversed(list(root.iter())):
        held[element] = len(own.get(element, ())) + sum(held[child] for child in element.findall("object"))
    stack: list[tuple[Element, str | None]] = [(root, None)]
    while stack:
        element, above = stack.pop()
        hosts, inner = own.get(element, []), [child for child in element.findall("object") if held[child]]
        if len(hosts) + len(inner) > 1:
            name = _numbered(element, number)
            graph.add_node(name, kind="switch")
            hosts, above = [*hosts, *([above] if above else [])], name
        graph.add_edges_from((above, host) for host in hosts if above)
        stack += [(child, above) for child in reversed(inner)]
    return graph


def _numbered(element: Element | None, number: Counter[str]) -> str:
    kind = "block" if element is None else element.get("type", "Topology").lower()
    number[kind] += 1
    return f"{kind}-{number[kind] - 1}"


def _around(root: Element, blocks: Sequence[Sequence[Element]]) -> Iterator[Element]:
    """Yield the smallest object that holds each block."""
    above, depth = dict[Element, Element](), {root: 0}
    for element in root.iter():
        for child in element.findall("object"):
            above[child], depth[child] = element, depth[element] + 1
    for around, *others in blocks:
        for other in others:
            while around is not other:
                if depth[around] < depth[other]:
                    other = above[other]
                else:
                    around = above[around]
        yield around


def _hosts(root: Element, kinds: tuple[str, ...]) -> set[Element]:
    """Return objects of these kinds whose processors the job may use. A NUMA node must be the closest to some core."""
    usable, numa_of, unit = allowed(root), closest(root), unit_of_tasks(root)
    objects = list(root.iter("object"))
    close = {numa_of(each) for each in objects if each.get("type") == unit and usable(each)}
    numa = [each for each in objects if each.get("type") == "NUMANode"]
    far = {each for i, each in enumerate(numa) if close and i not in close}
    return {each for each in objects if each.get("type") in kinds and usable(each) and each not in far}


MAX_PROCESSORS = 1 << 20  # of one node
_WORD = re.compile(r"(?:0x)?([0-9a-fA-F]{1,8})|0xf\.\.\.f|")  # the second begins a set without end, the last is 0
_SET = re.compile(r"\b((?:allowed_)?(?:cpu|node)set)=[\"']([^\"']+)")


def bits(text: str) -> Ints:
    """Return the numbers, in order, of a set of processors: ``0x00000001,0xffffffff`` from the high end, as in hwloc.

    >>> bits("0x00000001,,0x00000003").tolist()
    [0, 1, 64]
    """
    words = [word.strip() for word in reversed(text.split(","))]
    if len(words) * 32 > MAX_PROCESSORS:
        raise MapfileError(f"a set of {len(words) * 32} processors; at most {MAX_PROCESSORS} are read")
    found = [_WORD.fullmatch(word) for word in words]
    if None in found:
        raise MapfileError(f"{text[:40]!r} is no set of processors such as 0x0000000f,0xffffffff")
    values = [int(word[1] or "0", 16) for word in found if word]
    return np.flatnonzero(np.unpackbits(np.array(values, dtype="<u4").view(np.uint8), bitorder="little"))


def allowed(root: Element) -> Callable[[Element], bool]:
    """Return a test whether the job may use a processor of an object; always true if the file does not say."""
    usable = _usable(root)
    return lambda element: not usable or not element.get("cpuset") or not usable.isdisjoint(
        bits(element.get("cpuset", "")).tolist())


def processors(root: Element) -> Callable[[Element], tuple[int, ...]]:
    """Return a function from an object to its processors that the job may use, as the system numbers them."""
    usable = _usable(root)
    return lambda element: tuple(n for n in bits(element.get("cpuset", "")).tolist() if not usable or n in usable)


def _usable(root: Element) -> set[int]:
    machine = root.find("object")
    return set(bits(machine.get("allowed_cpuset", "")).tolist()) if machine is not None else set()


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
