"""topology.yaml of Slurm: the facts, hosts and places of its topologies.

Source for coordinates: src/plugins/topology/torus3d/torus3d_record.c: the index is x + y X + z X Y. A torus3d gives the
shape and the places. The first torus3d counts, and the default topology comes first.
"""

from pencilmap.mapper.allocations.found import Fact, Found, shortened
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.slurm_yaml import all_hosts, children_of, hosts_of, line_of, short_name, topologies, units_of
from pencilmap.model.base.units import counted


def find(document: Document) -> Found:
    """Return all plugins as facts, and a torus3d with its places, else the hosts of the default topology."""
    facts, founds = [], []
    for entry, plugin in topologies(document):
        told = Found() if plugin == "flat" else READERS[plugin](document, entry[plugin])
        name = short_name(str(entry.get("topology", "unnamed")))
        facts += [Fact("topology", f"{name}: topology/{plugin}", document.label), *told.facts]
        founds.append(told)
    best = next((told for told in founds if told.torus), founds[0])
    return Found(tuple(facts), best.torus, best.hosts, best.places, missing=best.missing)


def _tree(document, inside):
    switches = units_of(document, inside, "tree")
    for name in switches:
        children_of(document, switches, name)
    hosts = all_hosts(document, switches)
    return Found((Fact("network", f"a tree of {counted(len(switches), 'switch')} and {counted(len(hosts), 'host')}",
                       document.label), *_named_hosts(document, hosts)), hosts=hosts)


def _blocks(document, inside):
    blocks = units_of(document, inside, "block")
    hosts = all_hosts(document, blocks)
    sizes = inside.get("block_sizes")
    sizes = f" of sizes {', '.join(map(str, sizes))}"[:60] if isinstance(sizes, list) else ""
    return Found((Fact("network", f"{counted(len(blocks), 'block')}{sizes}, {counted(len(hosts), 'host')}", document.label),
                  *_named_hosts(document, hosts)), hosts=hosts)


def _rings(document, inside):
    rings = units_of(document, inside, "ring")
    hosts = all_hosts(document, rings)
    facts = (Fact("network", f"{counted(len(rings), 'ring')}, {counted(len(hosts), 'host')}", document.label),
             *_named_hosts(document, hosts))
    if len(rings) > 1:
        return Found(facts, hosts=hosts)
    return Found(facts, str(len(hosts)), hosts, {host: (i,) for i, host in enumerate(hosts)})


def _toruses(document, inside):
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


def _region(document, region, dims, above):
    if not isinstance(region, dict) or not isinstance(region.get("nodes"), str):
        raise document.refuse("a torus needs nodes, or regions with nodes, anchor and dims", line_of(document, "regions"))
    size, anchor = _triple(document, region, "dims"), _triple(document, region, "anchor")
    line = line_of(document, region["nodes"])
    if any(a + s > d for a, s, d in zip(anchor, size, dims)):
        raise document.refuse(f"region at {anchor} of {size} nodes reaches out of the torus of {dims}", line)
    hosts = hosts_of(document, region["nodes"], region, "nodes")
    if len(hosts) != size[0] * size[1] * size[2]:
        raise document.refuse(f"{len(hosts)} hosts for a box of {'x'.join(map(str, size))}", line)
    found = {host: (anchor[0] + i % size[0], anchor[1] + i // size[0] % size[1], anchor[2] + i // (size[0] * size[1]))
             for i, host in enumerate(hosts)}
    if len(found) < len(hosts) or not found.keys().isdisjoint(above) or not set(found.values()).isdisjoint(above.values()):
        raise document.refuse("a host or a place of the torus is given twice", line)
    return found


def _named_hosts(document, hosts):
    return (Fact("hosts", f"{len(hosts)}: {shortened(hosts)}", document.label),) if hosts else ()


def _triple(document, owner, key):
    value = owner.get(key)
    numbers = [str(value.get(axis)) for axis in "xyz"] if isinstance(value, dict) else None
    if not numbers or not all(n.isdecimal() and n.isascii() and len(n) < 6 and int(n) < 1 << 16 for n in numbers):
        raise document.refuse(f"{key} needs x, y and z", line_of(document, f"{key}:"))
    return tuple(int(n) for n in numbers)


READERS = {"tree": _tree, "block": _blocks, "ring": _rings, "torus3d": _toruses}
