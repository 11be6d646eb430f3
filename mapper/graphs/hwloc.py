"""The inside of a node as a tree, from hwloc XML (``lstopo --of xml``).

Hosts are the objects that run tasks: cores, NUMA nodes or packages. Objects that hold several hosts are switches, each
linked to the next object above. hwloc gives no bandwidth for these links, so you should give one (``--bandwidth``) for
times; loads need none.
Source: the schema hwloc2.dtd of hwloc 2.9; the older schema of hwloc 1, with Socket instead of Package, is also read.
"""

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.processor_sets import allowed, closest, unit_of_tasks
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import parse_xml


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


def _tree(document, kinds):
    import networkx as nx  # slow to import, and only graphs need networkx

    root = _root(document)
    kinds = kinds or (unit_of_tasks(root),)
    hosts = _hosts(root, kinds)
    holding = _holding(root, hosts)
    if root not in holding:
        raise GraphError(f"{document.label} has no object of type {' or '.join(kinds).replace('PU', 'Core or PU')}")
    notes = [f"{document.label} has no cores: tasks are on its PUs"] if kinds == ("PU",) else []
    graph, number = nx.Graph(notes=notes), Counter[str]()
    stack: list[tuple[ElementTree.Element, str | None]] = [(root, None)]
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


def _root(document):
    try:
        return parse_xml(document.text)
    except (ElementTree.ParseError, LookupError, ValueError, RecursionError) as error:
        line = getattr(error, "position", (None,))[0]
        raise GraphError(f"{document.label}{f' line {line}' if line else ''} is not XML: {error}") from error


def _hosts(root, kinds):
    """Return objects of these kinds whose processors the job may use. A NUMA node must be the closest to some core."""
    usable, numa_of, unit = allowed(root), closest(root), unit_of_tasks(root)
    objects = list(root.iter("object"))
    close = {numa_of(each) for each in objects if each.get("type") == unit and usable(each)}
    numa = [each for each in objects if each.get("type") == "NUMANode"]
    far = {each for i, each in enumerate(numa) if close and i not in close}
    return {each for each in objects if each.get("type") in kinds and usable(each) and each not in far}


def _holding(root, hosts):
    """Return elements that are hosts or contain hosts."""
    holding = set()
    for element in reversed(list(root.iter())):
        if element in hosts or any(child in holding for child in element.findall("object")):
            holding.add(element)
    return holding
