"""topology.yaml of Slurm: a list of topologies, each block, flat, ring, torus3d or tree.

Sources: topology.yaml(5) and the topology guide.
"""

import re
from typing import Any

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.foreign import SLURM_UNITS
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import MOST_HOSTS, in_a_line, parse_yaml

UNITS = {"tree": ("switches", "switch"), "block": ("blocks", "block"), "ring": ("rings", "ring"),
         "torus3d": ("toruses", "name")}  # of a plugin: the key of its list, and the key of a name in this list
PLUGINS = (*UNITS, "flat")
_NAME = re.compile(r"\btopology[ \t]*:[ \t]*[^\s#{\[]")
_PLUGIN = re.compile(rf"(^|[{{,])[ \t]*(-[ \t]+)?({'|'.join(PLUGINS)})[ \t]*:", re.MULTILINE)


def looks_like(document: Document) -> bool:
    """Return whether a file has a topology with a name and a plugin, or a plugin with its units.

    Other tools have a list below ``topology:``.
    """
    text = document.text
    return bool((_NAME.search(text) and _PLUGIN.search(text)) or SLURM_UNITS.search(text))


def topologies(document: Document) -> list[tuple[dict[str, Any], str]]:
    """Return each topology and the name of its plugin, the default topology first."""
    found = [_topology(document, entry) for entry in _entries(document)]
    found.sort(key=lambda each: each[0].get("cluster_default") != "true")  # a stable sort: the default is the first
    return found


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


def units_of(document: Document, inside: Any, plugin: str) -> dict[str, Any]:
    """Return the switches, blocks, rings or toruses of a topology by name."""
    listed, key = UNITS[plugin]
    units = inside.get(listed) if isinstance(inside, dict) else None
    if not isinstance(units, list) or not units:
        raise document.refuse(f"{plugin} needs a list of {listed}", line_of(document, f"{plugin}:"))
    found = {}
    for unit in units:
        name = unit.get(key) if isinstance(unit, dict) else None
        if not isinstance(name, str) or name in found:
            problem = f"{short_name(name)} twice" if isinstance(name, str) else f"no {key}"
            raise document.refuse(f"{plugin}: {problem} in {listed}; each needs its own {key}", _line(document, unit, key))
        found[name] = unit
    return found


def all_hosts(document: Document, units: dict[str, Any]) -> tuple[str, ...]:
    """Return each host once, in order."""
    return tuple(dict.fromkeys(host for unit in units.values() if "nodes" in unit
                               for host in hosts_of(document, unit["nodes"], unit, "nodes")))


def children_of(document: Document, switches: dict[str, Any], name: str) -> list[str]:
    """Return the switches below a switch."""
    if not (children := switches[name].get("children")):
        return []
    below = hosts_of(document, children, switches[name], "children")
    if strange := next((child for child in below if child not in switches or child == name), None):
        raise document.refuse(f"switch {short_name(name)} has an invalid child {short_name(strange)}",
                              line_of(document, name))
    return below


def hosts_of(document: Document, text: Any, unit: Any, key: str) -> list[str]:
    """Return the names of a list of hosts or switches."""
    try:
        return [check_name(name) for name in expand_hosts(text if isinstance(text, str) else "", MOST_HOSTS)]
    except MapfileError as error:
        raise document.refuse(f"{key} of {_named(unit, *('switch', 'block', 'ring', 'name'))}: {error}",
                              line_of(document, str(text))) from error


def _named(entry, *keys):
    name = next((entry[key] for key in keys if isinstance(entry.get(key), str)), None) if isinstance(entry, dict) else None
    return short_name(name) if name else "an entry without a name"


def short_name(name: str) -> str:
    """Shorten a name for a message line."""
    return in_a_line(name)[:40]


def _line(document, entry, key):
    return line_of(document, entry[key]) if isinstance(entry, dict) and isinstance(entry.get(key), str) else None


def line_of(document: Document, text: str) -> int | None:
    """Return the first line with a text, None if no line has the same spelling."""
    return next((number for number, line in enumerate(document.text.split("\n"), 1) if text and text in line), None)
