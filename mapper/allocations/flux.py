"""Flux: the numbers of nodes and tasks from the environment, hosts from ``flux hostlist``.

``FLUX_JOB_NNODES``, ``FLUX_JOB_SIZE``: flux-environment(7). The environment has no names of hosts;
``flux hostlist local`` prints the hosts of the job: flux-hostlist(1).
"""

from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found

COMMAND = ("flux", "hostlist", "local")


def from_environment(environ: Mapping[str, str]) -> Found | None:
    told = {name: environ.get(name, "") for name in ("FLUX_JOB_NNODES", "FLUX_JOB_SIZE")}
    counts = {name: int(text) for name, text in told.items() if text.isascii() and text.isdecimal() and 0 < len(text) < 9}
    if not environ.get("FLUX_JOB_ID") and not counts:
        return None
    nodes, tasks = counts.get("FLUX_JOB_NNODES"), counts.get("FLUX_JOB_SIZE")
    facts = [Fact(what, str(counts[name]), name) for name, what in
             (("FLUX_JOB_NNODES", "nodes"), ("FLUX_JOB_SIZE", "tasks")) if name in counts]
    per_node = [tasks // nodes, -(-tasks // nodes)] if nodes and tasks and tasks >= nodes else []
    return Found(tuple(facts) or (Fact("job", environ["FLUX_JOB_ID"][:40], "FLUX_JOB_ID"),)).with_tasks(per_node)
