"""Networks in the files of Slurm.

Files of Slurm in lines ``KEY=VALUE``: slurm.conf, topology.conf, and the output of ``scontrol show``.

The first key of a line is its kind; the other keys of the line belong to that key. Sources: slurm.conf(5) and
topology.conf(5); src/common/parse_config.c of Slurm for comments, escapes, quotes and continued lines; topology_tree.c for
levels; 22.05, run by tests/launchers/test_slurm_files.py. ``Include`` is followed, beside the file or from the root.

topology.yaml of Slurm: a list of topologies, each block, flat, ring, torus3d or tree.

Sources: topology.yaml(5) and the topology guide.

Slurm's topology.conf, topology.yaml, and the output of ``scontrol show topology``, as a tree of switches.

A block (topology/block) is a leaf, and the network between blocks one switch. Slurm names one switch for all spines of a
level, and neither cables nor speeds: see `pencilmap.mapper.graphs.switch_tree`.

``SLURM_TOPOLOGY_ADDR`` of each node, one in each line, describes the tree above the nodes of a job:
``srun --ntasks-per-node=1 printenv SLURM_TOPOLOGY_ADDR``. Sources: topology.conf(5), topology.yaml(5), scontrol(1), srun(1)
of Slurm 22.05 to 25.05.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.foreign import SLURM_UNITS
from pencilmap.mapper.formats.hostlist import BLOCKS, BY_SWITCH, box_coordinates, expand_hosts
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.switch_tree import TOP, Switch, tree
from pencilmap.model.base.errors import AllocationError, MapfileError
from pencilmap.model.base.reading import MOST_HOSTS, in_a_line, parse_yaml

UNITS = {"switchname": "switch", "blockname": "block", "ringname": "ring"}  # kinds of lines that hold nodes of a network
KINDS = (*UNITS, "nodename", "partitionname", "nodeset", "downnodes", "frontendname", "torusname", "aggregatedblock")
MOST_INCLUDES = 8
MOST_MEMBERS = 1 << 22  # hosts of all switches, blocks, rings and partitions together
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*[-*+/]?=\s*(?:"([^"]*)"|(\S+))(?=\s|$)')
_RECORD = re.compile(r"^(NodeName|PartitionName)=.*(\n[ \t].*)*?[ \t](CPUAlloc|TotalNodes)=", re.MULTILINE)


class Statement(NamedTuple):
    """A line with the lines that continue it: its document and number, its kind (the first key), and its other keys.

    Keys have lower case, because Slurm ignores case. If a key appears twice, the last value counts.
    """

    document: Document
    line: int
    kind: str
    value: str
    keys: dict[str, str]

    def refuse(self, message: str) -> MapfileError:
        return self.document.refuse(message, self.line)

    def hosts(self, text: str, most: int = MOST_HOSTS) -> list[str]:
        """Return names of a list, between commas or blanks."""
        try:
            return [check_name(name) for name in expand_hosts(re.sub(r"[\s,]+", ",", text).strip(","), most)]
        except MapfileError as error:
            raise self.refuse(str(error)) from error


@dataclass
class Unit:
    """A switch, a block or a ring: its hosts, the level of a switch above its hosts, the switches below, and its line."""

    hosts: tuple[str, ...]
    level: int = 0
    children: tuple[str, ...] = ()
    line: int = 0


@dataclass
class Configuration:
    """The values in the lines.

    Parameters
    ----------
    hosts : dict of str to None
        Names of NodeName lines, in order.
    places : dict of str to tuple of int
        Coordinates of names in box notation.
    units : dict
        Units of the network by kind (``switchname``, ...) and name.
    partitions : dict of str to tuple of str
        Hosts by name of the partition.
    settings : dict of str to str
        Values of the other lines.
    torus : str, optional
        Shape of the torus that ``scontrol show topology`` prints.
    members : int
        Hosts of all units and partitions so far, up to `MOST_MEMBERS`.
    """

    hosts: dict[str, None] = field(default_factory=dict)
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)
    units: dict[str, dict[str, Unit]] = field(default_factory=dict)
    partitions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    torus: str | None = None
    members: int = 0

    def within(self, statement: Statement, hosts: tuple[str, ...]) -> tuple[str, ...]:
        """Return hosts of a unit or a partition. Raises MapfileError if the total exceeds `MOST_MEMBERS`."""
        self.members += len(hosts)
        if self.members > MOST_MEMBERS:
            raise statement.refuse(f"switches and partitions have more than {MOST_MEMBERS} hosts together")
        return hosts

    @property
    def all_hosts(self) -> tuple[str, ...]:
        """Return each host once: of NodeName lines, else of the network, else of the partitions."""
        of_units = {name: None for units in self.units.values() for unit in units.values() for name in unit.hosts}
        return tuple(self.hosts or of_units or {name: None for names in self.partitions.values() for name in names})


def read_configuration(document: Document) -> Configuration:
    """Return the configuration in a document. Raises MapfileError with the line that cannot be read."""
    return configuration_of(list(_records(document) if _RECORD.search(document.text) else statements(document)))


def configuration_of(reported: list[Statement]) -> Configuration:
    """Return the configuration of the lines of a file, or of the units of a topology."""
    conf, features = Configuration(), dict[str, set[str]]()
    for statement in reported:
        if statement.kind == "nodename":
            _node(statement, conf, features)
        elif statement.kind == "torusname" and "dims" in statement.keys:
            conf.torus = statement.keys["dims"]
            _add_hosts(statement, conf, statement.keys.get("nodes", ""))
        elif statement.kind not in KINDS:
            conf.settings[statement.kind] = statement.value
    _read_units(reported, conf)
    _partitions(reported, conf, features)
    return conf


# ---- lines ----------------------------------------------------------------------------------------------------------------


def statements(document: Document, depth: int = 0) -> Iterator[Statement]:
    """Yield the statements of a configuration file, with lines joined as Slurm joins them."""
    cluster = ""
    for number, text in _joined(document):
        include = re.match(r"\s*include\s+(\S+)\s*$", text, re.IGNORECASE)
        if include:
            yield from _included(document, number, include[1].replace("%c", cluster), depth)
            continue
        statement = _statement(document, number, text)
        cluster = statement.value if statement.kind == "clustername" else cluster
        yield statement


def _joined(document: Document) -> Iterator[tuple[int, str]]:
    """Yield number and text of lines without comments and escapes, joined with the lines that continue them."""
    start, parts = 0, list[str]()
    lines = document.text.split("\n")
    for number, raw in enumerate(lines, 1):
        line = _uncommented(raw)
        start = start if parts else number
        stripped = line.rstrip()
        slashes = len(stripped) - len(stripped.rstrip("\\"))
        if slashes % 2 and number < len(lines):
            parts.append(stripped[:-1])
            continue
        text = re.sub(r"\\(.?)", r"\1", "".join([*parts, line]))
        parts = []
        if text.strip():
            yield start, text


def _uncommented(line: str) -> str:
    """Return the line up to a ``#`` that no backslash escapes."""
    for match in re.finditer("#", line):
        before = line[:match.start()]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return before
    return line


def _statement(document: Document, number: int, text: str) -> Statement:
    pairs, at = list[tuple[str, str]](), 0
    while match := _PAIR.match(text, at):
        pairs.append((match[1].lower(), match[2] if match[2] is not None else match[3]))
        at = match.end()
    rest = text[at:].strip()
    if rest or not pairs:
        raise document.refuse(f"{rest[:40]!r} is not KEY=VALUE, which Slurm reads", number)
    (kind, value), *others = pairs
    if again := next((key for key, _ in others if key in KINDS), None):
        raise document.refuse(f"{again} is not a key of {kind}; begin a line with it", number)
    return Statement(document, number, kind, value, dict(others))


def _included(document: Document, number: int, name: str, depth: int) -> Iterator[Any]:
    if depth == MOST_INCLUDES:
        raise document.refuse(f"Include {name[:80]}: files include one another more than {MOST_INCLUDES} deep", number)
    try:
        inside = read_document(Path(document.label).parent / name, AllocationError)
    except AllocationError as error:
        raise document.refuse(f"Include: {error}; put that file beside this one", number) from error
    yield from statements(inside, depth + 1)


def _records(document: Document) -> Iterator[Statement]:
    """Yield the records of ``scontrol show nodes`` and ``... partitions``, whose values may have blanks and ``#``."""
    current: Statement | None = None
    for number, line in enumerate(document.text.split("\n"), 1):
        if not line.strip():
            continue
        begin = re.match(r"(NodeName|PartitionName)=(\S+)", line)
        if not begin and (current is None or not re.match(r"\s+[A-Za-z/]+[=:]", line)):
            raise document.refuse(f"{line.strip()[:40]!r} is not part of a record that scontrol shows", number)
        if begin:
            if current:
                yield current
            current = Statement(document, number, begin[1].lower(), begin[2], {})
        nodes = re.search(r"(?<=\s)Nodes=(\S*)", line)
        if nodes and current and current.kind == "partitionname":
            current.keys["nodes"] = "" if nodes[1] == "(null)" else nodes[1]
    if current:
        yield current


# ---- kinds of lines -------------------------------------------------------------------------------------------------------


def _node(statement: Statement, conf: Configuration, features: dict[str, set[Any]]) -> None:
    listed = statement.keys.get("features", statement.keys.get("feature"))
    if statement.value.upper() == "DEFAULT":
        features[""] = set() if listed is None else set(listed.split(","))  # of all lines below
        return
    for name in _add_hosts(statement, conf, statement.value):
        for feature in features.get("", ()) if listed is None else listed.split(","):
            features.setdefault(feature, set()).add(name)


def _add_hosts(statement: Statement, conf: Configuration, text: str) -> list[str]:
    """Add the hosts of a list to the configuration."""
    names = statement.hosts(text, MOST_HOSTS - len(conf.hosts)) if text else []
    for name in names:
        if name in conf.hosts:
            raise statement.refuse(f"host {name} is already in a line above; Slurm refuses a node that is defined twice")
        conf.hosts[name] = None
    conf.places |= box_coordinates(text) if "x" in text else {}
    return names


def _read_units(records: list[Statement], conf: Configuration) -> None:
    """Read switches, blocks and rings. Switches above others get the hosts below."""
    waiting: list[Statement] = []
    for statement in records:
        if statement.kind not in UNITS:
            continue
        kind = UNITS[statement.kind]
        known, shown = conf.units.setdefault(statement.kind, {}), statement.keys.get("level", "").isdecimal()
        if statement.value in known:
            raise statement.refuse(f"{kind} {statement.value[:40]} has already been defined")
        if "switches" in statement.keys and "nodes" in statement.keys and not shown:
            raise statement.refuse(f"switch {statement.value[:40]} has both Nodes= and Switches=; Slurm takes one of them")
        names = _unit_hosts(statement, conf, statement.keys["nodes"]) if "nodes" in statement.keys else ()
        children = tuple(statement.hosts(statement.keys["switches"])) if "switches" in statement.keys else ()
        known[statement.value] = Unit(names, int(statement.keys["level"][:6]) if shown else 0, children, statement.line)
        if "switches" in statement.keys and not shown:
            waiting.append(statement)
    _resolve(waiting, conf)


def _unit_hosts(statement: Statement, conf: Configuration, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(statement.hosts(text)))
    if strange := next((n for n in names if n.upper() == "ALL" or (conf.hosts and n not in conf.hosts)), None):
        raise statement.refuse(f"{strange[:40]} is not a host; name the hosts of {statement.kind}={statement.value[:40]}")
    return conf.within(statement, names)


def _resolve(waiting: list[Statement], conf: Configuration) -> None:
    """Set hosts and levels of switches above switches, once the children are known."""
    switches = conf.units.get("switchname", {})
    children = {statement.value: switches[statement.value].children for statement in waiting}
    for statement in waiting:
        if strange := next((c for c in children[statement.value] if c not in switches or c == statement.value), None):
            raise statement.refuse(f"switch {statement.value[:40]} has an invalid child {strange[:40]}")
    named = {statement.value: statement for statement in waiting}
    try:
        order = [name for name in TopologicalSorter(children).static_order() if name in children]
    except CycleError as error:
        first = next(statement for statement in waiting if statement.value in error.args[1])
        raise first.refuse(f"switch {first.value[:40]} is below itself") from error
    for name in order:
        below = [switches[child] for child in children[name]]
        hosts = below[0].hosts if len(below) == 1 else tuple(dict.fromkeys(host for unit in below for host in unit.hosts))
        level = 1 + max(unit.level for unit in below)
        switches[name] = replace(switches[name], hosts=conf.within(named[name], hosts), level=level)


def _partitions(records: list[Statement], conf: Configuration, features: dict[str, set[Any]]) -> None:
    sets, default = dict[str, tuple[str, ...]](), ""
    for statement in records:
        if statement.kind == "nodeset":
            members = features.get(statement.keys.get("feature") or " ", set())
            listed = _members(statement, conf, sets, statement.keys.get("nodes", ""))
            sets[statement.value] = tuple(dict.fromkeys([*listed, *(n for n in conf.hosts if n in members)]))
    for statement in records:
        if statement.kind != "partitionname":
            continue
        if statement.value.upper() == "DEFAULT":
            default = statement.keys.get("nodes", default)
            continue
        if statement.value in conf.partitions:
            raise statement.refuse(f"partition {statement.value[:40]} has already been defined")
        conf.partitions[statement.value] = _members(statement, conf, sets, statement.keys.get("nodes", default))


def _members(statement: Statement, conf: Configuration, sets: dict[Any, Any], text: str) -> tuple[str, ...]:
    """Return hosts of a partition: each once, in the order of the nodes if the nodes are known."""
    if text.strip().upper() == "ALL":
        return conf.within(statement, tuple(conf.hosts))
    names = dict[str, None]()
    for name in statement.hosts(text) if text.strip() else []:
        inside = sets.get(name, (name,))
        if name not in sets and conf.hosts and name not in conf.hosts:
            raise statement.refuse(f"{name[:40]} is neither a host nor a NodeSet of this file")
        names |= dict.fromkeys(inside)
    return conf.within(statement, tuple(n for n in conf.hosts if n in names) if conf.hosts else tuple(names))


UNITS_YAML = {"tree": ("switches", "switch"), "block": ("blocks", "block"), "ring": ("rings", "ring"),
              "torus3d": ("toruses", "name")}  # of a plugin: the key of its list, and the key of a name in this list
PLUGINS = (*UNITS_YAML, "flat")
_NAME = re.compile(r"\btopology[ \t]*:[ \t]*[^\s#{\[]")
_PLUGIN = re.compile(rf"(^|[{{,])[ \t]*(-[ \t]+)?({'|'.join(PLUGINS)})[ \t]*:", re.MULTILINE)


def looks_like_yaml(document: Document) -> bool:
    """Return whether a file has a topology with a name and a plugin, or a plugin with its units.

    Other tools have a list below ``topology:``.
    """
    text = document.text
    return bool((_NAME.search(text) and _PLUGIN.search(text)) or SLURM_UNITS.search(text))


def topologies(document: Document) -> list[tuple[dict[str, Any], str]]:
    """Return each topology and the name of its plugin, the default topology first."""
    entries = [_topology(document, entry) for entry in _entries(document)]
    entries.sort(key=lambda topology: topology[0].get("cluster_default") != "true")  # stable: the default is the first
    return entries


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


def _topology(document: Document, entry: str | dict[str, Any]) -> Any:
    """Return an entry, and the name of its plugin."""
    plugins = [key for key in entry if key in PLUGINS] if isinstance(entry, dict) else []
    if len(plugins) != 1:
        raise document.refuse(f"a topology has one of {', '.join(PLUGINS)}, but {_named(entry, 'topology')} has "
                              f"{' and '.join(plugins) or 'none'}", _line(document, entry, "topology"))
    return entry, plugins[0]


def units_of(document: Document, inside: Any, plugin: str) -> dict[str, Any]:
    """Return the switches, blocks, rings or toruses of a topology by name."""
    listed, key = UNITS_YAML[plugin]
    units = inside.get(listed) if isinstance(inside, dict) else None
    if not isinstance(units, list) or not units:
        raise document.refuse(f"{plugin} needs a list of {listed}", line_of(document, f"{plugin}:"))
    result = {}
    for unit in units:
        name = unit.get(key) if isinstance(unit, dict) else None
        if not isinstance(name, str) or name in result:
            problem = f"{short_name(name)} twice" if isinstance(name, str) else f"no {key}"
            raise document.refuse(f"{plugin}: {problem} in {listed}; each needs its own {key}", _line(document, unit, key))
        result[name] = unit
    return result


def configuration_of_topology(document: Document, inside: Any, plugin: str) -> Configuration:
    """Return the switches, blocks or rings of a topology, as lines of topology.conf would give them."""
    records, sizes = [], inside.get("block_sizes") if isinstance(inside, dict) else None
    for name, unit in units_of(document, inside, plugin).items():
        keys = {key: unit[own] for key, own in (("nodes", "nodes"), ("switches", "children")) if unit.get(own)}
        line = next(filter(None, (line_of(document, str(text)) for text in (*keys.values(), name))), 0)
        if wrong := next((key for key, text in keys.items() if not isinstance(text, str)), None):
            raise document.refuse(f"{wrong} of {short_name(name)} is not a list of names", line)
        records.append(Statement(document, line, f"{UNITS_YAML[plugin][1]}name", in_a_line(name), keys))
    if isinstance(sizes, list):
        records.append(Statement(document, 0, "blocksizes", ",".join(map(str, sizes))[:60], {}))
    return configuration_of(records)


def hosts_of(document: Document, text: Any, unit: Any, key: str) -> list[str]:
    """Return the names of a list of hosts or switches."""
    try:
        return [check_name(name) for name in expand_hosts(text if isinstance(text, str) else "", MOST_HOSTS)]
    except MapfileError as error:
        raise document.refuse(f"{key} of {_named(unit, *('switch', 'block', 'ring', 'name'))}: {error}",
                              line_of(document, str(text))) from error


def _named(entry: Any, *keys: str) -> str:
    name = next((entry[key] for key in keys if isinstance(entry.get(key), str)), None) if isinstance(entry, dict) else None
    return short_name(name) if name else "an entry without a name"


def short_name(name: str) -> str:
    """Shorten a name for a message line."""
    return in_a_line(name)[:40]


def _line(document: Document, entry: Any, key: str) -> int | None:
    return line_of(document, entry[key]) if isinstance(entry, dict) and isinstance(entry.get(key), str) else None


def line_of(document: Document, text: str) -> int | None:
    """Return the first line with a text, None if no line has the same spelling."""
    return next((number for number, line in enumerate(document.text.split("\n"), 1) if text and text in line), None)


_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName|RingName|AggregatedBlock|NodeName|PartitionName|TopologyPlugin)[ \t]*=",
                   re.MULTILINE | re.IGNORECASE)


def looks_like(document: Document) -> bool:
    return _CONF.search(document.text) is not None or looks_like_yaml(document)


def read(document: Document, **cables: int) -> Any:
    """Return the tree of switches or blocks. Raises MapfileError if the file has none."""
    conf, notes = _of_conf(document) if _CONF.search(document.text) else _of_yaml(document), []
    if re.search("(switch|block)asnoderank", conf.settings.get("topologyparam", "").lower()):
        notes = [BY_SWITCH]
    if "switchname" in conf.units:
        switches = [Switch(name, () if unit.children else unit.hosts, unit.children, unit.line)
                    for name, unit in conf.units["switchname"].items()]
    elif "blockname" in conf.units:
        notes = [BLOCKS, *notes]
        switches = _blocks({name: (unit.hosts, unit.line) for name, unit in conf.units["blockname"].items()})
    else:
        raise document.refuse("names no switches and no blocks; lines SwitchName= or BlockName= with Nodes= are needed, as "
                              "in topology.conf")
    graph = tree(document.label, switches, document.refuse, **cables)
    graph.graph["notes"] += notes
    return graph


def _of_conf(document: Document) -> Configuration:
    cut = next((n for n, line in enumerate(document.text.split("\n"), 1) if line.rstrip().endswith("...")), None)
    if cut:
        raise document.refuse("ends in ..., for scontrol has shortened it; unset SLURM_TOPO_LEN and write it again", cut)
    return read_configuration(document)


def _of_yaml(document: Document) -> Configuration:
    """Return the first topology of switches or blocks."""
    for entry, plugin in topologies(document):
        if plugin in ("tree", "block"):
            return configuration_of_topology(document, entry[plugin], plugin)
    raise document.refuse("has no topology of kind tree or block")


def _blocks(blocks: dict[str, tuple[tuple[str, ...], int]]) -> Any:
    """Return a leaf for each block, and the switch above them."""
    top = next(f"{TOP}{mark}" for mark in ("", *range(len(blocks) + 1)) if f"{TOP}{mark}" not in blocks)
    return [*(Switch(name, hosts, (), line) for name, (hosts, line) in blocks.items()), Switch(top, (), tuple(blocks))]


# ---- SLURM_TOPOLOGY_ADDR --------------------------------------------------------------------------------------------------


def looks_like_addresses(document: Document) -> bool:
    """Return whether lines are names with dots that begin alike and end differently. Full names of hosts end alike."""
    lines = [line.strip() for _, line in document.lines(longest=None)]
    parts = [line.split(".") for line in lines]
    return (len(lines) > 1 and all(re.fullmatch(r"[\w-]+(\.[\w-]+)+", line) for line in lines)
            and len({parts_[0] for parts_ in parts}) == 1 and len({parts_[-1] for parts_ in parts}) == len(lines)
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
