"""PBS, Torque and ALPS: ``PBS_NODEFILE`` holds a line for each task or each node, hosts in the launcher's order.

The reader also recognises such a file by its content: a host alone in each line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import Document, is_integer, read_document
from pencilmap.model.base.errors import MapfileError


def from_environment(environ: Mapping[str, str]) -> Found | None:
    return hosts_of_file(environ, "PBS_NODEFILE") if environ.get("PBS_NODEFILE") else None


def looks_like(document: Document) -> bool:
    """Return whether the first line is a host alone."""
    found = document.lines(longest=None)[0][1].split()
    return len(found) == 1 and not is_integer(found[0]) and _is_name(found[0])


def find(document: Document) -> Found:
    return hosts_of_tasks(hosts_in(document), document.label)


def hosts_in(document: Document) -> list[str]:
    """Return the host of each line."""
    hosts = []
    for number, line in document.lines():
        found = line.split()
        if len(found) != 1 or not _is_name(found[0]):
            raise document.refuse(f"{line.strip()[:40]!r} is not a host alone, as in the lines above; write a "
                                  "host in each line, as often as it has tasks", number)
        hosts.append(found[0])
    return hosts


def hosts_of_file(environ: Mapping[str, str], variable: str) -> Found:
    """Return the hosts in the file that a variable names."""
    path = environ[variable]
    try:
        document = read_document(path)
    except MapfileError as error:
        raise MapfileError(f"{variable}: {error}; run on a host that has this file, or unset {variable}") from error
    return hosts_of_tasks(hosts_in(document), f"{variable}={path}")


def hosts_of_tasks(hosts: Sequence[str], source: str) -> Found:
    """Return the hosts in order, and the most tasks of a host, from the host of each task."""
    counts = Counter(hosts)
    tasks = max(counts.values(), default=None)
    few = [f"{host} has {n}" for host, n in counts.items() if n != tasks]
    facts = (Fact("hosts", f"{len(counts)}: {shortened(tuple(counts))}", source),
             Fact("tasks per node", f"{tasks}{', but ' * bool(few)}{shortened(few)}", source))
    return Found(facts, hosts=tuple(counts), tasks_per_node=tasks)


def _is_name(word):
    try:
        return bool(check_name(word))
    except MapfileError:
        return False
