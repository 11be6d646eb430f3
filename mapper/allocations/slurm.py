"""Slurm: the job's hosts from the environment, coordinates from the configuration of its torus plugins.

``SLURM_JOB_NODELIST`` and ``SLURM_TASKS_PER_NODE`` ("2(x3),1"): srun(1) of Slurm 22.05. ``topology.yaml`` of
topology/torus3d: src/plugins/topology/torus3d/torus3d_record.c and Slurm's tests (``torus3d: toruses: - name, dims, nodes or
regions``); index = x + y X + z X Y. slurm.conf with topology/3d_torus: the last three characters of a name are x, y and z in
base 36. topology.conf (``SwitchName=``) is a tree: it gives hosts but no coordinates.
"""

import re
from collections.abc import Mapping, Sequence

from pencilmap.mapper.allocations.found import Fact, Found, bounding_box
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.errors import MapfileError
from pencilmap.model.reading import MOST_HOSTS, in_a_line, parse_yaml


def from_environment(environ: Mapping[str, str]) -> Found | None:
    variable = next((v for v in ("SLURM_JOB_NODELIST", "SLURM_NODELIST") if environ.get(v)), None)
    if variable is None:
        return None
    hosts = tuple(expand_hosts(environ[variable], MOST_HOSTS))
    facts = [Fact("hosts", f"{len(hosts)}: {shortened(hosts)}", variable)]
    tasks = None
    for name in ("SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"):
        counts = tasks_per_node(environ.get(name, ""))
        if counts:
            tasks = tasks or max(counts)
            facts.append(Fact("tasks per node", environ[name], name))
    return Found(tuple(facts), hosts=hosts, tasks_per_node=tasks)


def tasks_per_node(text: str) -> list[int]:
    """Tasks of each kind of node.

    >>> tasks_per_node("2(x3),1"), tasks_per_node("many")
    ([2, 1], [])
    """
    counts = re.findall(r"(?:^|,)([0-9]{1,6})(?:\(x[0-9]{1,7}\))?", text)
    return [int(c) for c in counts]


def shortened(hosts: Sequence[str], most: int = 4) -> str:
    """The first names of a list."""
    return ", ".join(hosts[:most]) + (", ..." if len(hosts) > most else "")


def looks_like(document: Document) -> bool:
    return bool(re.search(r"^[ \t]*(SwitchName|TopologyPlugin|NodeName|(torus3d|-[ \t]*topology|toruses)[ \t]*:)",
                          document.text, re.MULTILINE | re.IGNORECASE))


def find(document: Document) -> Found:
    if re.search(r"^[ \t]*(-[ \t]*)?(torus3d|toruses)[ \t]*:", document.text, re.MULTILINE):
        return _torus3d(document)
    if re.search(r"^[ \t]*TopologyPlugin[ \t]*=[ \t]*topology/3d_torus", document.text, re.MULTILINE | re.IGNORECASE):
        return _names_with_coordinates(document)
    return _tree(document)


def _lists(document, key):
    """Hosts of every ``key=`` in the file."""
    hosts = []
    for number, line in document.lines(longest=None):
        for text in re.findall(rf"(?<![A-Za-z]){key}\s*=\s*(\S+)", line, re.IGNORECASE):
            try:
                hosts += expand_hosts(text, MOST_HOSTS - len(hosts))
            except MapfileError as error:
                raise document.refuse(str(error), number) from error
    return hosts


def _tree(document):
    switches = len(re.findall(r"^[ \t]*SwitchName[ \t]*=", document.text, re.MULTILINE | re.IGNORECASE))
    hosts = _lists(document, "Nodes") or _lists(document, "NodeName")
    facts = (Fact("network", f"a tree of {switches} switches and {len(hosts)} hosts: no coordinates" if switches
                  else f"{len(hosts)} hosts, no coordinates", document.label),)
    return Found(facts)


def _names_with_coordinates(document):
    places = {}
    for name in _lists(document, "NodeName"):
        last = name[-3:].upper()
        if not re.fullmatch("[0-9A-Z]{3}", last):
            raise document.refuse(f"host {name[:40]} does not end in the three characters that topology/3d_torus needs")
        places[name] = tuple(int(c, 36) for c in last)
    if not places:
        raise document.refuse("names no hosts; NodeName= lines are needed")
    box = bounding_box(places.values())
    return Found((Fact("torus", f"{box}, by the last three characters of the names (topology/3d_torus)", document.label),),
                 box, places=places)


def _torus3d(document):
    try:
        data = parse_yaml(document.text)
    except Exception as error:  # errors of PyYAML; they say where the fault is, or that the file is too deep or too large
        mark = getattr(error, "problem_mark", None)
        raise document.refuse(f"is not YAML that is read here: {getattr(error, 'problem', None) or in_a_line(error)}",
                              mark.line + 1 if mark else None, mark.column + 1 if mark else None) from error
    toruses = list(_toruses(data))
    if not toruses:
        raise document.refuse("has no torus3d with toruses")
    return _one_torus(document, toruses[0], len(toruses))


def _toruses(data):
    """Descriptions of toruses: ``torus3d: toruses:`` at the top or inside one of several topologies."""
    for entry in data if isinstance(data, list) else [data]:
        inside = entry.get("torus3d", entry) if isinstance(entry, dict) else None
        listed = inside.get("toruses") if isinstance(inside, dict) else None
        yield from (t for t in listed or [] if isinstance(t, dict))


def _one_torus(document, torus, count):
    dims = _triple(document, torus, "dims")
    places = {}
    regions = torus.get("regions") or [{"nodes": torus.get("nodes"), "anchor": {"x": 0, "y": 0, "z": 0},
                                        "dims": torus["dims"]}]
    for region in regions if isinstance(regions, list) else []:
        places |= _region(document, region, dims)
    text = "x".join(map(str, dims))
    name = str(torus.get("name", "unnamed"))[:40]
    facts = [Fact("torus", f"{text}, {name}, {len(places)} hosts (topology/torus3d)", document.label)]
    if count > 1:
        facts.append(Fact("other toruses", f"{count - 1} are not read", document.label))
    return Found(tuple(facts), text, places=places)


def _region(document, region, dims):
    if not isinstance(region, dict) or not isinstance(region.get("nodes"), str):
        raise document.refuse("a torus needs nodes, or regions with nodes, anchor and dims")
    size, anchor = _triple(document, region, "dims"), _triple(document, region, "anchor")
    if any(a + s > d for a, s, d in zip(anchor, size, dims)):
        raise document.refuse(f"region at {anchor} of {size} nodes reaches out of the torus of {dims}")
    hosts = expand_hosts(region["nodes"], MOST_HOSTS)
    if len(hosts) != size[0] * size[1] * size[2]:
        raise document.refuse(f"{len(hosts)} hosts for a box of {'x'.join(map(str, size))}")
    return {host: (anchor[0] + i % size[0], anchor[1] + i // size[0] % size[1], anchor[2] + i // (size[0] * size[1]))
            for i, host in enumerate(hosts)}


def _triple(document, owner, key):
    value = owner.get(key)
    numbers = [str(value.get(axis)) for axis in "xyz"] if isinstance(value, dict) else None
    if not numbers or not all(re.fullmatch("[0-9]{1,5}", n) and int(n) < 1 << 16 for n in numbers):
        raise document.refuse(f"{key} needs x, y and z")
    return tuple(int(n) for n in numbers)
