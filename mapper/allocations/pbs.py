"""PBS, Torque and ALPS: ``PBS_NODEFILE`` holds a line for each task or each node, hosts in the launcher's order.

The reader also recognises such a file by its content: a host in each line, alone or with its number of tasks as in the
host files of Open MPI (``n1 slots=4``) and MPICH (``n1:4``).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import MAX_LINE, MAX_PLACES, Document, is_integer, read_document
from pencilmap.model.base.errors import MapfileError

_LINE = re.compile(r"(?P<host>[^\s:=]+)(?::(?P<count>[1-9][0-9]{0,6}))?(?P<rest>(\s+[A-Za-z_-]+=\S+)*)")
_SLOTS = r"(?<![\w-])(slots|cpus?|count)\s*=\s*([0-9]{1,7})\b"


def from_environment(environ: Mapping[str, str]) -> Found | None:
    return hosts_of_tasks(*hosts_of_file(environ, "PBS_NODEFILE")) if environ.get("PBS_NODEFILE") else None


def looks_like(document: Document) -> bool:
    """Return whether the first line is a host, alone or with its number of tasks."""
    found = _LINE.fullmatch(document.head(1)[0][1].strip()[:MAX_LINE])
    return found is not None and not is_integer(found["host"]) and _is_name(found["host"])


def find(document: Document) -> Found:
    return hosts_of_tasks(hosts_in(document), document.label)


def hosts_in(document: Document) -> list[str]:
    """Return the host of each line, as often as it has tasks."""
    hosts, kinds = list[str](), set[bool]()
    for number, line in document.lines():
        found = _LINE.fullmatch(line.strip())
        if found is None or not _is_name(found["host"]):
            raise document.refuse(f"{line.strip()[:40]!r} is not a host, as in the lines above; write a host in each "
                                  "line, as often as it has tasks", number)
        slots = re.search(_SLOTS, found["rest"])
        kinds |= {slots is not None} if "=" in found["rest"] or slots else {*kinds} or {False}
        if len(kinds) > 1:
            raise document.refuse(f"{line.strip()[:40]!r}: some hosts have slots=, and others have none; give all of them "
                                  "slots=", number)
        hosts += [found["host"]] * int(found["count"] or (slots[2] if slots else 1))
        if len(hosts) > MAX_PLACES:
            raise document.refuse(f"more than {MAX_PLACES} tasks", number)
    return hosts


def hosts_of_file(environ: Mapping[str, str], variable: str) -> tuple[list[str], str]:
    """Return the hosts in the lines of the file that a variable names, and the source for facts."""
    path = environ[variable]
    try:
        document = read_document(path)
    except MapfileError as error:
        raise MapfileError(f"{variable}: {error}; run on a host that has this file, or unset {variable}") from error
    return hosts_in(document), f"{variable}={path}"


def hosts_of_tasks(hosts: Sequence[str], source: str) -> Found:
    """Return the hosts in order, and the most tasks of a host, from the host of each task."""
    counts = Counter(hosts)
    tasks = max(counts.values(), default=None)
    few = [f"{host} has {n}" for host, n in counts.items() if n != tasks]
    facts = (Fact("hosts", f"{len(counts)}: {shortened(tuple(counts))}", source),
             Fact("tasks per node", f"{tasks}{', but ' * bool(few)}{shortened(few)}", source))
    return Found(facts, hosts=tuple(counts)).with_tasks(counts.values())


def _is_name(word):
    try:
        return bool(check_name(word))
    except MapfileError:
        return False
