"""Several hosts at each node, as the two compute nodes at a Gemini router: launchers see each host as a node.

A format that names or counts hosts gets a network with a node for each host. Host k of a node has slots k T to
(k + 1) T - 1, if T is the number of its tasks. Formats that name coordinates know only the nodes.
"""

from dataclasses import dataclass, replace

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats.format import Job, Places
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Allocation
from pencilmap.model.placement.mapping import Mapping


@dataclass(frozen=True)
class HostNetwork(Torus):
    """A torus whose last dimension counts the hosts of a node."""

    @property
    def title(self) -> str:
        return f"{self.nodes.title} with {self.shape[-1]} hosts at each node"

    @property
    def nodes(self) -> Torus:
        """Return the torus without the hosts."""
        return Torus(self.shape[:-1], self.wrap[:-1], axes=self.axes[:-1])


def tasks_of_host(tasks_per_node: int, hosts: Hosts) -> int:
    """Return the tasks of each host. Raises MapfileError unless the tasks of a node divide evenly among its hosts."""
    if tasks_per_node % hosts.per_node:
        raise MapfileError(f"{tasks_per_node} tasks per node are not the same number on each of its {hosts.per_node} hosts; "
                           f"give a multiple of {hosts.per_node} as `tasks_per_node`")
    return tasks_per_node // hosts.per_node


def job_of_hosts(job: Job) -> Job:
    """Return the job with each host as a node; the same job if each node has one host."""
    hosts = job.hosts
    if hosts.per_node == 1 or hosts.hosts is None:
        return job
    torus, tasks = as_torus(job.network), tasks_of_host(job.site.tasks_per_node, hosts)
    letter = next(c for c in "hklmnopqr" if c not in torus.axes)
    network = HostNetwork((*torus.shape, hosts.per_node), (*torus.wrap, False), axes=torus.axes + letter)
    numbered, count = dict[str, int](), dict[int, int]()
    for name, node in hosts.hosts.items():
        numbered[name] = node + torus.n_nodes * count.get(node, 0)
        count[node] = count.get(node, 0) + 1
    allocation = Allocation(network, _order(job, numbered), listed=job.site.allocation.listed)
    site = replace(job.site, network=network, tasks_per_node=tasks, allocation=allocation)
    names = Hosts(network, table={node: name for name, node in numbered.items()})
    return replace(job, site=site, hosts=names, cores=job.cores[:tasks])


def _order(job, numbered):
    """Return the hosts of the usable nodes in the launcher's order.

    This is the order of the list if the list has the nodes in their order, else node by node.
    """
    n, nodes = job.network.n_nodes, job.site.allocation.nodes
    usable = set(nodes.tolist())
    listed = [number for number in numbered.values() if number % n in usable]
    if list(dict.fromkeys(number % n for number in listed)) == nodes.tolist():
        return np.array(listed, dtype=np.int64)
    return (nodes[:, None] + n * np.arange(job.hosts.per_node)).ravel()


def mapping_to_hosts(mapping: Mapping, job: Job) -> Mapping:
    """Return the mapping with each host as a node; `job` comes from `job_of_hosts`."""
    host, slot = np.divmod(mapping.slot_of_rank, job.site.tasks_per_node)
    return replace(mapping, network=job.network, tasks_per_node=job.site.tasks_per_node,
                   node_of_rank=mapping.node_of_rank + mapping.network.n_nodes * host, slot_of_rank=slot)


def places_on_nodes(places: Places, slot: Ints, job: Job, of_hosts: Job) -> tuple[Places, Ints]:
    """Return the places and slots on the nodes: the inverse of `mapping_to_hosts`."""
    host, node = np.divmod(places.node, job.network.n_nodes)
    return places._replace(node=node), host * of_hosts.site.tasks_per_node + slot
