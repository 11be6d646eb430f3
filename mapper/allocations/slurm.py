"""Slurm: the job's hosts from the environment; files of Slurm by their content.

``SLURM_JOB_NODELIST``, ``SLURM_TASKS_PER_NODE`` ("2(x3),1"), ``SLURM_DISTRIBUTION``, ``SLURM_HOSTFILE``: srun(1) of Slurm
22.05. A heterogeneous job has a list for each group: ``SLURM_HET_SIZE``, ``SLURM_JOB_NODELIST_HET_GROUP_0`` (its guide).
slurm.conf with topology/3d_torus, and names in box notation: the last characters are the coordinates in base 36. Trees and
blocks are networks, node lists give hosts alone.

topology.yaml of Slurm: the facts, hosts and places of its topologies.

Source for coordinates: src/plugins/topology/torus3d/torus3d_record.c: the index is x + y X + z X Y. A torus3d gives the
shape and the places. The first torus3d counts, and the default topology comes first.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pencilmap.mapper.allocations.found import Fact, Found, bounding_box, box_facts, mesh_box, shortened
from pencilmap.mapper.allocations.network_file import with_network
from pencilmap.mapper.formats.hostlist import base_36, box_coordinates, expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.slurm import (
    UNITS,
    Configuration,
    configuration_of_topology,
    hosts_of,
    line_of,
    looks_like_yaml,
    read_configuration,
    short_name,
    topologies,
    units_of,
)
from pencilmap.model.base.reading import MOST_HOSTS
from pencilmap.model.base.units import counted

_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName|RingName|TorusName|AggregatedBlock|TopologyPlugin|NodeName|PartitionName|"
                   r"ClusterName)[ \t]*=", re.MULTILINE | re.IGNORECASE)

#: folders of slurm.conf: of distributions, and of slurmd without files of its own (configless)
CONFIGURATIONS = [Path("/etc/slurm"), Path("/etc/slurm-llnl"), Path("/run/slurm/conf"), Path("/var/spool/slurmd/conf-cache"),
                  Path("/var/spool/slurm/d/conf-cache")]

_NAMES = r"[A-Za-z_][\w.-]*(?:\[[\w,-]+\][\w.-]*)*"  # a name, with or without brackets
_LIST = re.compile(rf"\s*(?=\S*[\[,]){_NAMES}(?:,{_NAMES})*\s*", re.ASCII)  # SLURM_JOB_NODELIST, saved to a file


def from_environment(environ: Mapping[str, str]) -> Found | None:
    groups = _groups(environ)
    variables = groups or [v for v in ("SLURM_JOB_NODELIST", "SLURM_NODELIST") if environ.get(v)][:1]
    text = ",".join(filter(None, map(environ.get, variables)))
    if not text:
        return None
    hosts, facts, tasks = of_list(text, variables[0].removesuffix("_0")), list[Fact](), list[int]()
    facts += [Fact(f"group {number}", environ.get(name, "") or "not told: left out", name)
              for number, name in enumerate(groups)]
    ends = [f"_{name.partition('NODELIST_')[2]}" for name in groups] or [""]
    for name in (f"{variable}{end}" for end in ends for variable in ("SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE")):
        counts = tasks_per_node(environ.get(name, ""))
        if counts:
            tasks = [*tasks, *counts] if groups else tasks or counts
            facts.append(Fact("tasks per node", environ[name], name))
    facts += _distribution(environ)
    facts += _place(environ)
    return replace(hosts, facts=(*hosts.facts, *facts)).with_tasks(tasks)


def _groups(environ: Mapping[str, str]) -> list[str]:
    """Return the variables with the hosts of each group of a heterogeneous job; [] for any other job."""
    for kind in ("HET", "PACK"):  # PACK before Slurm 20.02
        size = environ.get(f"SLURM_{kind}_SIZE", "")
        if re.fullmatch("[0-9]{1,3}", size) and int(size) > 1:
            return [f"SLURM_JOB_NODELIST_{kind}_GROUP_{number}" for number in range(int(size))]
    return []


def of_list(text: str, source: str) -> Found:
    """Return the hosts of a list such as ``c[010-023,200]``, and their places if the list has boxes."""
    hosts, places = tuple(dict.fromkeys(expand_hosts(text, MOST_HOSTS))), box_coordinates(text)
    facts = [Fact("hosts", f"{len(hosts)}: {shortened(hosts)}", source)]
    if not places:
        return Found(tuple(facts), hosts=hosts)
    return Found((*facts, *box_facts("hosts", places.values(), source)), mesh_box(places.values()), hosts, places)


def _distribution(environ: Mapping[str, str]) -> list[Any]:
    """Return how srun lays the ranks over the hosts, as far as variables tell."""
    known = {"SLURM_DISTRIBUTION": "distribution of the ranks", "SLURM_DIST_PLANESIZE": "ranks of a plane",
             "SLURM_HOSTFILE": "hosts of the ranks, in order"}
    return [Fact(what, environ[name][:200], name) for name, what in known.items() if environ.get(name)]


def _place(environ: Mapping[str, str]) -> list[Any]:
    """Return where this node is in Slurm's tree of switches: SLURM_TOPOLOGY_ADDR, and the kind of each part."""
    address, pattern = environ.get("SLURM_TOPOLOGY_ADDR"), environ.get("SLURM_TOPOLOGY_ADDR_PATTERN")
    if not address or pattern in (None, "node"):  # without switches the address is the name of the node
        return []
    return [Fact("place of this node", f"{address[:160]} ({pattern[:80]})", "SLURM_TOPOLOGY_ADDR")]


def topology_files(environ: Mapping[str, str]) -> list[Path]:
    """Return the files that may describe the network of this Slurm job, the likeliest first."""
    if not (environ.get("SLURM_JOB_ID") or environ.get("SLURM_JOB_NODELIST")):
        return []
    folders = [Path(environ["SLURM_CONF"]).parent] if environ.get("SLURM_CONF") else CONFIGURATIONS
    return [folder / name for folder in folders for name in ("topology.yaml", "topology.conf")]


def tasks_per_node(text: str) -> list[int]:
    """Return tasks of each kind of node.

    >>> tasks_per_node("2(x3),1"), tasks_per_node("many")
    ([2, 1], [])
    """
    counts = re.findall(r"(?:^|,)([0-9]{1,6})(?:\(x[0-9]{1,7}\))?", text)
    return [int(c) for c in counts]


def looks_like(document: Document) -> bool:
    return bool(_CONF.search(document.text) or looks_like_yaml(document) or _LIST.fullmatch(document.text))


def find(document: Document) -> Found:
    if _LIST.fullmatch(document.text):
        return of_list(document.text.strip(), document.label)
    if not _CONF.search(document.text):
        documented = find_yaml(document)
        return documented if documented.torus or not documented.hosts else with_network(documented, document)
    if document.text.lstrip().startswith("Configuration data as of"):
        raise document.refuse("is the output of scontrol show config, which names no hosts; give that of scontrol show "
                              "nodes or scontrol show topology")
    conf = read_configuration(document)
    if not conf.all_hosts:
        raise document.refuse("names no hosts; lines NodeName=, SwitchName=, BlockName= or RingName= with hosts are needed")
    facts = (*_network(document, conf), *_named_hosts(document, conf.all_hosts), *_partitions(document, conf))
    if conf.settings.get("topologyplugin", "").lower() == "topology/3d_torus":
        return _names_with_coordinates(document, conf, facts)
    if conf.places:
        box = box_facts("hosts", conf.places.values(), document.label)
        return Found((*facts, *box), mesh_box(conf.places.values()), conf.all_hosts, conf.places)
    documented = _of_units(conf, facts)
    return with_network(documented, document) if conf.units and "ringname" not in conf.units else documented


def _of_units(conf: Configuration, facts: tuple[Fact, ...]) -> Found:
    """Return the hosts of a configuration; of a single ring also their places. Several rings are no network."""
    rings = [ring.hosts for ring in conf.units.get("ringname", {}).values()]
    if len(rings) == 1:
        return Found(facts, str(len(rings[0])), rings[0], {host: (i,) for i, host in enumerate(rings[0])})
    return Found(facts, conf.torus, conf.all_hosts)


def _network(document: Document, conf: Configuration) -> list[Fact]:
    """Return a fact for each kind of unit, or a single fact without units."""
    hosts = len(conf.all_hosts)
    facts = []
    for kind, units in conf.units.items():
        levels = max(unit.level for unit in units.values()) + 1
        switches = f"{len(units)} switch{'es' * (len(units) > 1)}"
        sizes = conf.settings.get("blocksizes", "").replace(",", ", ") if kind == "blockname" else ""
        what = (f"a tree of {switches} in {levels} level{'s' * (levels > 1)} and" if kind == "switchname"
                else f"{len(units)} {UNITS[kind]}{'s' * (len(units) > 1)}{f' of sizes {sizes}' * bool(sizes)} and")
        facts.append(Fact("network", f"{what} {counted(hosts, 'host')}", document.label))
    if conf.torus:
        facts.append(Fact("torus", f"{conf.torus}, without the places of its hosts", document.label))
    return facts or [Fact("network", f"{counted(hosts, 'host')}, no switches", document.label)]


def _partitions(document: Document, conf: Configuration) -> list[Fact]:
    named = [f"{name[:40]}: {len(hosts)}" for name, hosts in conf.partitions.items()]
    return [Fact("hosts of partitions", shortened(named), document.label)] if named else []


def _names_with_coordinates(document: Document, conf: Configuration, facts: tuple[Any, ...]) -> Found:
    places = {}
    for name in conf.all_hosts:
        last = name[-3:].upper()
        if not re.fullmatch("[0-9A-Z]{3}", last):
            raise document.refuse(f"host {name[:40]} does not end in the three characters that topology/3d_torus needs")
        places[name] = base_36(last)
    box = bounding_box(places.values())
    fact = Fact("torus", f"{box}, by the last three characters of the names (topology/3d_torus)", document.label)
    return Found((fact, *facts), box, places=places)


def find_yaml(document: Document) -> Found:
    """Return all plugins as facts, and a torus3d with its places, else the hosts of the default topology."""
    facts, founds = [], []
    for entry, plugin in topologies(document):
        if plugin == "torus3d":
            facts_ = _toruses(document, entry[plugin])
        elif plugin == "flat":
            facts_ = Found()
        else:
            topology = configuration_of_topology(document, entry[plugin], plugin)
            facts_ = _of_units(topology, (*_network(document, topology), *_named_hosts(document, topology.all_hosts)))
        name = short_name(str(entry.get("topology", "unnamed")))
        facts += [Fact("topology", f"{name}: topology/{plugin}", document.label), *facts_.facts]
        founds.append(facts_)
    best = next((candidate for candidate in founds if candidate.torus), founds[0])
    return Found(tuple(facts), best.torus, best.hosts, best.places, missing=best.missing)


def _toruses(document: Document, inside: dict[str, list[dict[str, Any]]]) -> Found:
    name, torus = next(iter((toruses := units_of(document, inside, "torus3d")).items()))
    dims = _triple(document, torus, "dims")
    places: dict[str, tuple[int, ...]] = {}
    if ("regions" in torus) == ("nodes" in torus):
        raise document.refuse(f"torus {short_name(name)} needs either nodes or regions", line_of(document, name))
    whole = {"nodes": torus.get("nodes"), "anchor": dict.fromkeys("xyz", 0), "dims": torus["dims"]}
    regions = torus.get("regions", [whole])
    for region in regions if isinstance(regions, list) else [regions]:
        places |= _region(document, region, dims, places)
    text = "x".join(map(str, dims))
    facts = [Fact("torus", f"{text}, {short_name(name)}, {counted(len(places), 'host')}", document.label)]
    if len(toruses) > 1:
        facts.append(Fact("other toruses", f"{len(toruses) - 1} are not read", document.label))
    return Found(tuple(facts), text, places=places)


def _region(document: Document, region: Any, dims: tuple[int, ...], above: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    if not isinstance(region, dict) or not isinstance(region.get("nodes"), str):
        raise document.refuse("a torus needs nodes, or regions with nodes, anchor and dims", line_of(document, "regions"))
    size, anchor = _triple(document, region, "dims"), _triple(document, region, "anchor")
    line = line_of(document, region["nodes"])
    if any(a + s > d for a, s, d in zip(anchor, size, dims)):
        raise document.refuse(f"region at {anchor} of {size} nodes reaches out of the torus of {dims}", line)
    hosts = hosts_of(document, region["nodes"], region, "nodes")
    if len(hosts) != size[0] * size[1] * size[2]:
        raise document.refuse(f"{len(hosts)} hosts for a box of {'x'.join(map(str, size))}", line)
    places = {host: (anchor[0] + i % size[0], anchor[1] + i // size[0] % size[1], anchor[2] + i // (size[0] * size[1]))
              for i, host in enumerate(hosts)}
    if (len(places) < len(hosts) or not places.keys().isdisjoint(above)
            or not set(places.values()).isdisjoint(above.values())):
        raise document.refuse("a host or a place of the torus is given twice", line)
    return places


def _named_hosts(document: Document, hosts: Sequence[str]) -> tuple[Fact, ...]:
    return (Fact("hosts", f"{len(hosts)}: {shortened(hosts)}", document.label),) if hosts else ()


def _triple(document: Document, owner: dict[str, Any], key: str) -> tuple[int, ...]:
    value = owner.get(key)
    numbers = [str(value.get(axis)) for axis in "xyz"] if isinstance(value, dict) else None
    if not numbers or not all(n.isdecimal() and n.isascii() and len(n) < 6 and int(n) < 1 << 16 for n in numbers):
        raise document.refuse(f"{key} needs x, y and z", line_of(document, f"{key}:"))
    return tuple(int(n) for n in numbers)
