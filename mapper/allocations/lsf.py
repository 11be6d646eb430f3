"""LSF: the host of each task, from the environment or from its affinity file.

``LSB_DJOB_HOSTFILE`` (a host in each line), ``LSB_MCPU_HOSTS`` ("n1 4 n2 4"), ``LSB_HOSTS`` ("n1 n1 n2"): environment
variable reference of IBM Spectrum LSF. ``LSB_AFFINITY_HOSTFILE``: ``HOST CPUS [NUMA-NODES [MEMORY-POLICY]]`` for each task;
Open MPI's ras/lsf reads the first two columns. On machines with jsrun the first host has one slot and runs the job script,
and no tasks.
"""

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pencilmap.mapper.allocations.found import Fact, Found
from pencilmap.mapper.allocations.pbs import hosts_of_file, hosts_of_tasks
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.lines import Document

FILE_NAME = "hostAffinityFile"  # as LSF names the file, after a number
_NUMBERS = r"[0-9]{1,6}(?:-[0-9]{1,6})?(?:,[0-9]{1,6}(?:-[0-9]{1,6})?)*"
_AFFINITY = re.compile(rf"\s*([A-Za-z_][\w.-]*)\s+({_NUMBERS})(?:\s+({_NUMBERS}|-)(?:\s+[0-9]|\s+-)?)?\s*", re.ASCII)


def from_environment(environ: Mapping[str, str]) -> Found | None:
    if environ.get("LSB_DJOB_HOSTFILE"):
        return _of_tasks(*hosts_of_file(environ, "LSB_DJOB_HOSTFILE"), environ)
    if words := environ.get("LSB_MCPU_HOSTS", "").split():
        counts = [int(n) if n.isdecimal() and n.isascii() and len(n) < 6 else 0 for n in words[1::2]]
        if len(words) % 2 == 0 and all(counts):
            hosts = [host for host, n in zip(words[::2], counts) for _ in range(n)]
            return _of_tasks(hosts, "LSB_MCPU_HOSTS", environ)
    hosts = environ.get("LSB_HOSTS", "").split()
    return _of_tasks(hosts, "LSB_HOSTS", environ) if hosts else None


def _of_tasks(hosts, source, environ):
    """Return the hosts without the launch node of jsrun: one slot on the first host, and as many on all others.

    Without jsrun on the path its name must differ from those of the others in more than numbers.
    """
    counts = list(Counter(map(check_name, hosts)).items())
    (first, slots), *others = counts
    letters = [re.sub("[0-9]+", "0", name.partition(".")[0]) for name, _ in counts]
    if not (slots == 1 and len({count for _, count in others}) == 1 and others[0][1] > 1
            and (letters[0] not in letters[1:] or shutil.which("jsrun", path=environ.get("PATH", "")))):
        return hosts_of_tasks(hosts, source)
    found = hosts_of_tasks(hosts[1:], source)
    left_out = Fact("launch node", f"{first}, which runs no tasks of jsrun: left out", source)
    return replace(found, facts=(*found.facts, left_out))


def looks_like(document: Document) -> bool:
    """Return whether the lines are an LSF affinity file.

    The evidence is the file's name, a list of processors, or a host given twice with the same memory policy in all lines.
    In a table of coordinates a host given twice is a mistake.
    """
    lines = [line for _, line in document.lines(longest=None)]
    found = [match for line in lines[:1000] if (match := _AFFINITY.fullmatch(line))]
    if len(found) < min(len(lines), 1000):
        return False
    twice = len({match[1] for match in found}) < len(found)
    return (document.label.endswith(FILE_NAME) or any(re.search("[,-]", match[2]) for match in found)
            or (twice and len({tuple(match[0].split()[3:]) for match in found}) == 1 and len(found[0][0].split()) == 4))


def find(document: Document) -> Found:
    hosts, cpus = [], set()
    for number, line in document.lines():
        match = _AFFINITY.fullmatch(line)
        if not match:
            raise document.refuse(f"{line.strip()[:40]!r} is not HOST CPUS NUMA-NODES MEMORY-POLICY, as in LSF's affinity "
                                  "file", number)
        hosts.append(match[1])
        cpus.add(match[2])
    found = hosts_of_tasks(hosts, document.label)
    fact = Fact("processors of a task", f"{', '.join(sorted(cpus)[:4])}{', ...' * (len(cpus) > 4)} (LSF affinity)",
                document.label)
    return Found((*found.facts, fact), hosts=found.hosts, tasks_per_node=found.tasks_per_node,
                 most_tasks=found.most_tasks)
