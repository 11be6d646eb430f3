"""PBS, Torque and ALPS: ``PBS_NODEFILE`` holds one line for each task or each node, hosts in the launcher's order."""

from collections import Counter
from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.formats.lines import read_document


def from_environment(environ: Mapping[str, str]) -> Found | None:
    path = environ.get("PBS_NODEFILE")
    if not path:
        return None
    lines = [line.split()[0] for _, line in read_document(path).lines()]
    counts = Counter(lines)
    tasks = max(counts.values(), default=None)
    facts = (Fact("hosts", f"{len(counts)}: {shortened(tuple(counts))}", f"PBS_NODEFILE={path}"),
             Fact("tasks per node", str(tasks), "lines of a host in that file"))
    return Found(facts, hosts=tuple(counts), tasks_per_node=tasks)
