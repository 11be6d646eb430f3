"""PBS, Torque and ALPS: ``PBS_NODEFILE`` holds one line for each task or each node, hosts in the launcher's order.

The same file is read by its content: a host alone in each line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import Document, is_integer, read_document
from pencilmap.model.base.errors import MapfileError


def from_environment(environ: Mapping[str, str]) -> Found | None:
    path = environ.get("PBS_NODEFILE")
    return hosts_of_tasks(hosts_in(read_document(path)), f"PBS_NODEFILE={path}") if path else None


def looks_like(document: Document) -> bool:
    """Whether the first line is a host alone."""
    found = document.lines(longest=None)[0][1].split()
    return len(found) == 1 and not is_integer(found[0]) and _is_name(found[0])


def find(document: Document) -> Found:
    return hosts_of_tasks(hosts_in(document), document.label)


def hosts_in(document: Document) -> list[str]:
    """The host of each line."""
    hosts = []
    for number, line in document.lines():
        found = line.split()
        if len(found) != 1 or not _is_name(found[0]):
            raise document.refuse(f"{line.strip()[:40]!r} is not a host alone, as in the lines above", number)
        hosts.append(found[0])
    return hosts


def hosts_of_tasks(hosts: Sequence[str], source: str) -> Found:
    """What the host of each task tells: the hosts in order, and the tasks of a host."""
    counts = Counter(hosts)
    tasks = max(counts.values(), default=None)
    facts = (Fact("hosts", f"{len(counts)}: {shortened(tuple(counts))}", source),
             Fact("tasks per node", str(tasks), "lines of a host in that file"))
    return Found(facts, hosts=tuple(counts), tasks_per_node=tasks)


def _is_name(word):
    try:
        return bool(check_name(word))
    except MapfileError:
        return False
