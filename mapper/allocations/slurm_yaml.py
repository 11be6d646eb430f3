"""topology.yaml of Slurm: a list of topologies, each block, flat, ring, torus3d or tree.

Sources: topology.yaml(5) and the topology guide; for coordinates src/plugins/topology/torus3d/torus3d_record.c: the index
is x + y X + z X Y. A torus3d gives the shape and the places. The first torus3d counts, and the default topology comes
first.
"""

from typing import Any

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.allocations.slurm_conf import WRITE_CABLES
from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import MOST_HOSTS, in_a_line, parse_yaml

UNITS = {"tree": ("switches", "switch"), "block": ("blocks", "block"), "ring": ("rings", "ring"),
         "torus3d": ("toruses", "name")}  # of a plugin: the key of its list, and the key of a name in this list
PLUGINS = (*UNITS, "flat")


def find(document: Document) -> Found:
    """Return all plugins as facts, and a torus3d with its places, else the hosts of the default topology."""
    topologies = [_topology(document, entry) for entry in _entries(document)]
    topologies.sort(key=lambda each: each[0].get("cluster_default") != "true")  # a stable sort: the default is the first
    facts, founds = [], []
    for entry, plugin in topologies:
        told = Found() if plugin == "flat" else READERS[plugin](document, entry[plugin])
        name = _short(str(entry.get("topology", "unnamed")))
        facts += [Fact("topology", f"{name}: topology/{plugin}", document.label), *told.facts]
        founds.append(told)
    best = next((told for told in founds if told.torus), founds[0])
    return Found(tuple(facts), best.torus, best.hosts, best.places, missing=best.missing)


def _entries(document: Document) -> list[Any]:
    try:
        data = parse_yaml(document.text)
    except Exception as error:  # errors of PyYAML, with the place of the fault, or for a file too deep or large
        mark = getattr(error, "problem_mark", None)
        raise document.refuse(f"is not YAML that is read here: {getattr(error, 'problem', None) or in_a_line(error)}",
                              mark.line + 1 if mark else None, mark.column + 1 if mark else None) from error
    entries = data if isinstance(data, list) else [data]
    if not entries:
        raise document.refuse("lists no topology")
    return entries


def _topology(document, entry):
    """Return an entry, and the name of its plugin."""
    found = [key for key in entry if key in PLUGINS] if isinstance(entry, dict) else []
    if len(found) != 1:
        raise document.refuse(f"a topology has one of {', '.join(PLUGINS)}, but {_named(entry, 'topology')} has "
                              f"{' and '.join(found) or 'none'}", _line(document, entry, "topology"))
    return entry, found[0]


def _units(document, inside, plugin):
    """Return the switches, blocks, rings or toruses of a topology by name."""
    listed, key = UNITS[plugin]
    units = inside.get(listed) if isinstance(inside, dict) else None
    if not isinstance(units, list) or not units:
        raise document.refuse(f"{plugin} needs a list of {listed}", _line_of(document, f"{plugin}:"))
    found = {}
    for unit in units:
        name = unit.get(key) if isinstance(unit, dict) else None
        if not isinstance(name, str) or name in found:
            problem = f"{_short(name)} twice" if isinstance(name, str) else f"no {key}"
            raise document.refuse(f"{plugin}: {problem} in {listed}; each needs its own {key}", _line(document, unit, key))
        found[name] = unit
    return found


def _tree(document, inside):
    switches = _units(document, inside, "tree")
    for name, switch in switches.items():
        if children := switch.get("children"):
            below = _hosts(document, children, switch, "children")
            if strange := next((child for child in below if child not in switches or child == name), None):
                raise document.refuse(f"switch {_short(name)} has an invalid child {_short(strange)}",
                                      _line_of(document, name))
    hosts = _all_hosts(document, switches)
    return Found((Fact("network", f"a tree of {len(switches)} switches and {len(hosts)} hosts: no coordinates",
                       document.label), *_named_hosts(document, hosts)), hosts=hosts, missing=WRITE_CABLES)


def _blocks(document, inside):
    blocks = _units(document, inside, "block")
    hosts = _all_hosts(document, blocks)
    sizes = inside.get("block_sizes")
    sizes = f" of sizes {', '.join(map(str, sizes))}"[:60] if isinstance(sizes, list) else ""
    return Found((Fact("network", f"{len(blocks)} blocks{sizes}, {len(hosts)} hosts: no coordinates", document.label),
                  *_named_hosts(document, hosts)), hosts=hosts, missing=WRITE_CABLES)


def _rings(document, inside):
    rings = _units(document, inside, "ring")
    hosts = _all_hosts(document, rings)
    facts = (Fact("network", f"{len(rings)} rings, {len(hosts)} hosts", document.label), *_named_hosts(document, hosts))
    if len(rings) > 1:
        return Found(facts, hosts=hosts)
    return Found(facts, str(len(hosts)), hosts, {host: (i,) for i, host in enumerate(hosts)})


def _toruses(document, inside):
    name, torus = next(iter((toruses := _units(document, inside, "torus3d")).items()))
    dims = _triple(document, torus, "dims")
    places = {}
    if ("regions" in torus) == ("nodes" in torus):
        raise document.refuse(f"torus {_short(name)} needs either nodes or regions", _line_of(document, name))
    whole = {"nodes": torus.get("nodes"), "anchor": dict.fromkeys("xyz", 0), "dims": torus["dims"]}
    regions = torus.get("regions", [whole])
    for region in regions if isinstance(regions, list) else [regions]:
        places |= _region(document, region, dims, places)
    text = "x".join(map(str, dims))
    facts = [Fact("torus", f"{text}, {_short(name)}, {len(places)} hosts", document.label)]
    if len(toruses) > 1:
        facts.append(Fact("other toruses", f"{len(toruses) - 1} are not read", document.label))
    return Found(tuple(facts), text, places=places)


def _region(document, region, dims, above):
    if not isinstance(region, dict) or not isinstance(region.get("nodes"), str):
        raise document.refuse("a torus needs nodes, or regions with nodes, anchor and dims", _line_of(document, "regions"))
    size, anchor = _triple(document, region, "dims"), _triple(document, region, "anchor")
    line = _line_of(document, region["nodes"])
    if any(a + s > d for a, s, d in zip(anchor, size, dims)):
        raise document.refuse(f"region at {anchor} of {size} nodes reaches out of the torus of {dims}", line)
    hosts = _hosts(document, region["nodes"], region, "nodes")
    if len(hosts) != size[0] * size[1] * size[2]:
        raise document.refuse(f"{len(hosts)} hosts for a box of {'x'.join(map(str, size))}", line)
    found = {host: (anchor[0] + i % size[0], anchor[1] + i // size[0] % size[1], anchor[2] + i // (size[0] * size[1]))
             for i, host in enumerate(hosts)}
    if len(found) < len(hosts) or not found.keys().isdisjoint(above) or not set(found.values()).isdisjoint(above.values()):
        raise document.refuse("a host or a place of the torus is given twice", line)
    return found


def _triple(document, owner, key):
    value = owner.get(key)
    numbers = [str(value.get(axis)) for axis in "xyz"] if isinstance(value, dict) else None
    if not numbers or not all(n.isdecimal() and n.isascii() and len(n) < 6 and int(n) < 1 << 16 for n in numbers):
        raise document.refuse(f"{key} needs x, y and z", _line_of(document, f"{key}:"))
    return tuple(int(n) for n in numbers)


def _all_hosts(document, units):
    """Return each host once, in order."""
    return tuple(dict.fromkeys(host for unit in units.values() if "nodes" in unit
                               for host in _hosts(document, unit["nodes"], unit, "nodes")))


def _hosts(document, text, unit, key):
    try:
        return [check_name(name) for name in expand_hosts(text if isinstance(text, str) else "", MOST_HOSTS)]
    except MapfileError as error:
        raise document.refuse(f"{key} of {_named(unit, *('switch', 'block', 'ring', 'name'))}: {error}",
                              _line_of(document, str(text))) from error


def _named_hosts(document, hosts):
    return (Fact("hosts", f"{len(hosts)}: {shortened(hosts)}", document.label),) if hosts else ()


def _named(entry, *keys):
    name = next((entry[key] for key in keys if isinstance(entry.get(key), str)), None) if isinstance(entry, dict) else None
    return _short(name) if name else "an entry without a name"


def _short(name):
    """Shorten a name for a message line."""
    return in_a_line(name)[:40]


def _line(document, entry, key):
    return _line_of(document, entry[key]) if isinstance(entry, dict) and isinstance(entry.get(key), str) else None


def _line_of(document, text):
    """Return the first line with a text, None if no line has the same spelling."""
    return next((number for number, line in enumerate(document.text.split("\n"), 1) if text and text in line), None)


READERS = {"tree": _tree, "block": _blocks, "ring": _rings, "torus3d": _toruses}
