"""Slurm's topology.conf, topology.yaml, and the output of ``scontrol show topology``, as a tree of switches.

A block (topology/block) is a leaf, and the network between blocks one switch. Slurm names one switch for all spines of a
level, and neither cables nor speeds: see `pencilmap.mapper.graphs.switch_tree`.

``SLURM_TOPOLOGY_ADDR`` of each node, one in each line, describes the tree above the nodes of a job:
``srun --ntasks-per-node=1 printenv SLURM_TOPOLOGY_ADDR``. Sources: topology.conf(5), topology.yaml(5), scontrol(1), srun(1)
of Slurm 22.05 to 25.05.
"""

import itertools
import re
from typing import Any

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.hostlist import BLOCKS, BY_SWITCH
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import slurm_yaml
from pencilmap.mapper.graphs.slurm_conf import read_configuration
from pencilmap.mapper.graphs.slurm_yaml import children_of, hosts_of, line_of, topologies, units_of
from pencilmap.mapper.graphs.switch_tree import TOP, Switch, tree

_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName|RingName|AggregatedBlock|NodeName|PartitionName|TopologyPlugin)[ \t]*=",
                   re.MULTILINE | re.IGNORECASE)


def looks_like(document: Document) -> bool:
    return _CONF.search(document.text) is not None or slurm_yaml.looks_like(document)


def read(document: Document, **cables: int) -> Any:
    """Return the tree of switches or blocks. Raises MapfileError if the file has none."""
    switches, notes = _of_conf(document) if _CONF.search(document.text) else _of_yaml(document)
    graph = tree(document.label, switches, document.refuse, **cables)
    graph.graph["notes"] += notes
    return graph


def _of_conf(document):
    """Return the switches, and notes."""
    cut = next((n for n, line in enumerate(document.text.split("\n"), 1) if line.rstrip().endswith("...")), None)
    if cut:
        raise document.refuse("ends in ..., for scontrol has shortened it; unset SLURM_TOPO_LEN and write it again",
                              cut)
    found = read_configuration(document)
    units, ranked = found.units, re.search("(switch|block)asnoderank", found.settings.get("topologyparam", "").lower())
    notes = [BY_SWITCH] if ranked else []
    if "switchname" in units:
        return [Switch(name, () if unit.children else unit.hosts, unit.children, unit.line)
                for name, unit in units["switchname"].items()], notes
    if "blockname" in units:
        return _blocks({name: (unit.hosts, unit.line) for name, unit in units["blockname"].items()}), [BLOCKS, *notes]
    raise document.refuse("names no switches and no blocks; lines SwitchName= or BlockName= with Nodes= are needed, as in "
                          "topology.conf")


def _of_yaml(document):
    found = next((each for each in topologies(document) if each[1] in ("tree", "block")), None)
    if found is None:
        raise document.refuse("has no topology of kind tree or block")
    entry, plugin = found
    units = units_of(document, entry[plugin], plugin)
    hosts = {name: hosts_of(document, unit["nodes"], unit, "nodes") if "nodes" in unit else ()
             for name, unit in units.items()}
    if plugin == "block":
        return _blocks({name: (hosts[name], line_of(document, name)) for name in units}), [BLOCKS]
    return [Switch(name, hosts[name], children_of(document, units, name), line_of(document, name)) for name in units], []


def _blocks(found):
    """Return a leaf for each block, and the switch above them."""
    top = next(f"{TOP}{mark}" for mark in ("", *range(len(found) + 1)) if f"{TOP}{mark}" not in found)
    return [*(Switch(name, hosts, (), line) for name, (hosts, line) in found.items()), Switch(top, (), tuple(found))]


# ---- SLURM_TOPOLOGY_ADDR --------------------------------------------------------------------------------------------------


def looks_like_addresses(document: Document) -> bool:
    """Return whether lines are names with dots that begin alike and end differently. Full names of hosts end alike."""
    lines = [line.strip() for _, line in document.lines(longest=None)]
    parts = [line.split(".") for line in lines]
    return (len(lines) > 1 and all(re.fullmatch(r"[\w-]+(\.[\w-]+)+", line) for line in lines)
            and len({each[0] for each in parts}) == 1 and len({each[-1] for each in parts}) == len(lines)
            and len(set(map(len, parts))) == 1)


def read_addresses(document: Document, **cables: int) -> Any:
    """Return the tree above the nodes of a job."""
    below: dict[str, dict[str, None]] = {}
    hosts: dict[str, dict[str, None]] = {}
    line_of_switch: dict[str, int] = {}
    for number, line in document.lines():
        *path, host = line.strip().split(".")
        if not path or not all(path):
            raise document.refuse(f"{line.strip()[:40]!r} is not an address such as top.leaf1.node7", number)
        for upper, lower in itertools.pairwise(path):
            below.setdefault(upper, {})[lower] = None
        hosts.setdefault(path[-1], {})[check_name(host)] = None
        line_of_switch.update(dict.fromkeys(path, number))
    if mixed := next((name for name in hosts if name in below), None):
        raise document.refuse(f"switch {mixed[:40]} has hosts and switches below it", line_of_switch[mixed])
    switches = [Switch(name, tuple(hosts.get(name, ())), tuple(below.get(name, ())), number)
                for name, number in line_of_switch.items()]
    return tree(document.label, switches, document.refuse, **cables)
