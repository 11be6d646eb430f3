"""hwloc XML (``lstopo --of xml``): packages, NUMA nodes and cores of a node, which are assigned to the slots.

Cores that the job may not use (``lstopo --disallowed``) get no number, as in hwloc and launchers. Some systems tell no
cores: then each PU is taken for one.
"""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from pencilmap.mapper.allocations.found import Core, Fact, Found
from pencilmap.mapper.base.node import Node, ranges
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.hwloc import (
    allowed,
    allowed_memory,
    closest,
    looks_like as looks_like,
    processors,
    root_of,
    tree_of,
    unit_of_tasks,
)
from pencilmap.model.base.errors import MachineError, MapfileError
from pencilmap.model.base.reading import reading
from pencilmap.model.base.units import counted
from pencilmap.model.kinds import recognised
from pencilmap.model.network.graph import from_networkx

MAX_CORES = 1 << 16
THIS = "this"  # name of the machine that runs this program, in place of a file
LSTOPO = ("lstopo-no-graphics", "lstopo")
SECONDS = 30
NO_CORES = "has no object of type Core or PU that the job may use; give the output of lstopo --of xml"


def read_node(name: str | PathLike[str], tasks: int) -> Node:
    """Return the inside of a node with a number of tasks.

    Parameters
    ----------
    name : path or str
        A file, or ``this`` for the machine that runs this program, if lstopo is installed.
    tasks : int
    """
    if re.fullmatch("[0-9]+", str(name)) and not Path(name).exists():
        raise MachineError(f"`node` {name} is no file of a node; give the output of lstopo --of xml, and a number of nodes "
                           "as `nodes`")
    document = this_node() if name == THIS and not Path(THIS).exists() else read_document(name)
    with reading(document.label, MapfileError, len(document.text)):
        root = root_of(document)
        units = tuple(_units(root, document))
        if not units:
            raise document.refuse(NO_CORES)
        blocks = slot_blocks([core for core, _ in units], tasks)
        tree = None
        if tasks > 1:
            graph = from_networkx(tree_of(root, [[units[i][1] for i in block] for block in blocks]), document.label)
            tree = recognised(graph) or graph
        cores = [[units[i][0] for i in block] for block in blocks]
        return Node(Path(document.label).name, tree, tuple(tuple(core.number for core in block) for block in cores),
                    tuple(tuple(n for core in block for n in core.processors) for block in cores),
                    np.array([block[0].package for block in cores]), np.array([block[0].numa for block in cores]),
                    len(units), _host(root))


def this_node() -> Document:
    """Return the hwloc XML of this machine. Raises MapfileError if lstopo is missing or fails."""
    program = next(filter(None, map(shutil.which, LSTOPO)), None)
    if program is None:
        raise MapfileError("lstopo, which describes this node, is not installed (Debian: hwloc-nox); give the output of "
                           "lstopo --of xml of a node of the job")
    try:
        done = subprocess.run([program, "--of", "xml"], check=True, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise MapfileError(f"{program} --of xml failed: {error}") from error
    return Document(done.stdout, "this node")


def find(document: Document) -> Found:
    """Return cores of a node."""
    root = root_of(document)
    cores = tuple(core for core, _ in _units(root, document))
    if not cores:
        raise document.refuse(NO_CORES)
    name = _host(root) or "the node"
    objects = Counter(each.get("type") for each in root.iter("object"))
    numa = max(1, sum(map(allowed_memory(root), root.iter("object"))))  # hwloc 1 writes no single node
    packages = len({core.package for core in cores})
    told = ", ".join((*([counted(packages, "package")] if objects["Package"] + objects["Socket"] else []),
                      counted(numa, "NUMA node"), counted(len(cores), "core" if objects["Core"] else "PU")))
    facts = (Fact(f"processors of {name}", told, document.label),)
    return Found(facts, cores=cores)


def _host(root: Element) -> str:
    """Return the name of the host, "" if the file has none."""
    machine = root.find("object")
    return next((info.get("value") or "" for info in (machine.findall("info") if machine is not None else [])
                 if info.get("name") == "HostName"), "")


def _units(root: Element, document: Document) -> Iterator[tuple[Core, Element]]:
    """Yield cores, or PUs of a file without cores, in the order of the tree. Without recursion, because it may be deep."""
    numa_of, usable, of = closest(root), allowed(root), processors(root)
    wanted = unit_of_tasks(root)
    package, numbered, stack = -1, 0, [root]
    while stack:
        element = stack.pop()
        kind = element.get("type")
        package += kind in ("Package", "Socket")
        if kind == wanted and usable(element):
            yield Core(numbered, max(package, 0), numa_of(element), of(element)), element
            numbered += 1
            if numbered > MAX_CORES:
                raise document.refuse(f"has more than {MAX_CORES} cores")
        stack += reversed(element.findall("object"))


def slot_blocks(cores: Sequence[Core], tasks: int) -> tuple[tuple[int, ...], ...]:
    """Return the cores of each slot, by their positions: equal blocks, spread over the node.

    Blocks stay within a NUMA node if there are at least as many tasks as NUMA nodes, else within a package if there are at
    least as many tasks as packages.

    >>> two_packages = [Core(i, i // 4, i // 4) for i in range(8)]
    >>> slot_blocks(two_packages, 2), slot_blocks(two_packages, 3)
    (((0, 1, 2, 3), (4, 5, 6, 7)), ((0, 1), (2, 3), (4, 5)))
    """
    if not 0 < tasks <= len(cores):
        raise MachineError(f"{counted(tasks, 'task')} per node, but the node has {counted(len(cores), 'core')}; give at "
                           f"most {len(cores)} as `tasks_per_node`, a core for each task, and more nodes with `network` if "
                           "the ranks need them")
    levels = ([(core.package, core.numa) for core in cores], [core.package for core in cores], [0] * len(cores))
    level = next(level for level in levels if len(set(level)) <= tasks)
    domains = [[i for i, each in enumerate(level) if each == one] for one in dict.fromkeys(level)]
    per_task = len(cores) // tasks
    while sum(len(domain) // per_task for domain in domains) < tasks:
        per_task -= 1
    counts = [0] * len(domains)
    for _ in range(tasks):  # to the domain with the most cores for each of its tasks
        d = max(range(len(domains)), key=lambda d: (len(domains[d]) >= (counts[d] + 1) * per_task,
                                                    len(domains[d]) / (counts[d] + 1)))
        counts[d] += 1
    return tuple(tuple(domain[i * per_task:(i + 1) * per_task]) for domain, n in zip(domains, counts) for i in range(n))


def slot_cores(cores: Sequence[Core], tasks: int) -> tuple[str, ...]:
    """Return the cores of each slot in Open MPI's syntax, see `slot_blocks`.

    >>> slot_cores([Core(i, i // 4, i // 4) for i in range(8)], 3)
    ('0-1', '2-3', '4-5')
    """
    return tuple(ranges(cores[i].number for i in block) for block in slot_blocks(cores, tasks))
