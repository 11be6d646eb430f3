"""Names of nodes: launchers use names, the model uses numbers."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.errors import MapfileError
from pencilmap.model.kinds import is_network
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus

MAX_NAME = 255
_FIELD = re.compile(r"([a-z]+)(?:\+([0-9]{1,6}))?")  # an axis or node, and the number of the first
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")


def check_name(name: str) -> str:
    """Return a host's name if launchers, shells and batch systems accept the name.

    Raises
    ------
    MapfileError
        If the name is too long or has other characters.

    Examples
    --------
    >>> check_name("r1c2-n03.site.org")
    'r1c2-n03.site.org'
    """
    if _NAME.fullmatch(name):
        return name
    what = f"has {len(name)} characters" if len(name) > MAX_NAME else "is none that launchers take"
    raise MapfileError(f"host name {name[:40]!r} {what}; names have letters, digits and . _ -, begin with a letter, a digit "
                       f"or _, and have at most {MAX_NAME} characters")


@dataclass(frozen=True, eq=False)
class Hosts:
    """Host name of every node, by a template or by a table.

    Without either, names contain the coordinates: ``node-3-0-7``, as the simulated torus names its hosts. When a file is
    read, any name whose last numbers are coordinates will be accepted.

    Raises
    ------
    MapfileError
        If a template has unknown fields, or a name is given twice.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> hosts = Hosts(Torus((4, 2)), "n{y}{x:02d}")
    >>> hosts.names([5]), hosts.node("n101"), hosts.node("n101.site.org"), hosts.node("m")
    (['n101'], 5, 5, None)
    >>> Hosts(Torus((4, 2))).node("cab-3-1")
    7
    """

    network: Network
    #: with fields for the axes and ``node`` for the node's number, e.g. ``nid{node:05d}``, ``r{x}c{y:02d}n{z}``, or
    #: ``node{node+1}``, which counts from 1
    template: str | None = None
    table: dict[int, str] | None = field(default=None, repr=False)  #: names of some or all nodes
    #: node of each host, in the launcher's order, in place of a table: a node may have several hosts, each node as many
    hosts: dict[str, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.hosts is not None:
            check_even(self.hosts, self.network)
            object.__setattr__(self, "table", first_hosts(self.hosts))
        if self.is_default:
            object.__setattr__(self, "table", self.network.host_names)  # None on a torus
        if self.template is not None:
            _check_template(self.template, self.network)
        if self.table is not None:
            _check_names(self.table.values())

    @cached_property
    def per_node(self) -> int:
        """Hosts at each node of the network."""
        return hosts_per_node(self.hosts) if self.hosts else 1

    @property
    def is_default(self) -> bool:
        return self.template is None and self.table is None

    @property
    def are_made_up(self) -> bool:
        """Whether nobody named the hosts: the names follow from coordinates, or from a text such as ``fat-tree:...``.

        >>> from pencilmap.model.kinds import network_named
        >>> tree = network_named("fat-tree:leaves=2,hosts=2,up=1")
        >>> Hosts(tree).are_made_up, Hosts(tree, "n{node}").are_made_up
        (True, False)
        """
        return self.is_default or (self.template is None and self.hosts is None and is_network(str(self.network)))

    def names(self, nodes: ArrayLike) -> list[str]:
        """Return the names of nodes, in the order given.

        Raises
        ------
        MapfileError
            If the template gives several nodes the same name, or the table does not name a node.
        """
        nodes = np.asarray(nodes, dtype=np.int64)
        if self.table is not None:
            return [check_name(self._listed(self.table, n)) for n in nodes.tolist()]
        coordinates = self.network.coordinates(nodes).tolist()
        if self.template is None:
            return ["node-" + "-".join(map(str, c)) for c in coordinates]
        axes, fields = self.network.axes, list[tuple[int, int]]()
        for _, name, _, _ in Formatter().parse(self.template):
            if match := _FIELD.fullmatch(name or ""):
                fields.append((len(axes) if match[1] == "node" else axes.index(match[1]), int(match[2] or 0)))
        written = re.sub(r"\{[^:}]*", "{", self.template)  # fields without names, in their order
        names = [written.format(*((*c, n)[at] + first for at, first in fields)) for n, c in zip(nodes.tolist(), coordinates)]
        if len(set(names)) < np.unique(nodes).size:
            raise MapfileError(f"host template {self.template[:60]!r} gives several nodes one name: numbers run together; "
                               f"put a character between the fields or give them a width, e.g. {{{axes[0]}:02d}}")
        return names

    def node(self, name: str) -> int | None:
        """Return the number of the node of that name, with or without its domain, or None if no node has the name."""
        if self.is_default:
            coordinates = self.coordinates_in(name)
            return None if coordinates is None or self.network.outside(coordinates) else int(self.network.node(coordinates))
        return self._numbers.get(name, self._numbers.get(name.partition(".")[0]))

    def place(self, node: int) -> str:
        """Return a node in words: its host if it has a name, else its coordinates.

        >>> from pencilmap.model.network.torus import parse_torus
        >>> hosts = Hosts(parse_torus("4"), table={3: "c031"})
        >>> hosts.place(3), hosts.place(2)
        ('host c031', 'node (2)')
        """
        name = self.table.get(node) if self.table else None
        return f"host {name}" if name else f"node {self.network.node_name(node)}"

    def why_not(self, name: str) -> str:
        """Return a sentence that explains why `node` found nothing."""
        if self.is_default:
            coordinates, d = self.coordinates_in(name), self.network.n_dimensions
            outside = self.network.outside(coordinates) if coordinates else None
            if outside:
                return f"host {name[:40]}: {outside}; name the hosts of the nodes with `nodes`"
            why = f"does not end in {d} coordinates of {self.network.title}, as {self.names([0])[0]} does"
        else:
            example = next(iter(self.table.values())) if self.table else self.names([0])[0]
            why = f"is not a node of {self.network.title}, whose nodes are named {example} and so on"
        axes = self.network.axes if self.network.has_coordinates else ()
        return (f"host {name[:40]!r} {why}; give names with `hosts`, such as '{_template(name, axes)}', or name the nodes "
                f"with `nodes`, a file of lines NAME {' '.join(axes) or 'NUMBER'}")

    def coordinates_in(self, name: str) -> list[int] | None:
        """Return the last numbers of a name, one for each dimension, or None if there are fewer."""
        numbers = [int(c) for c in re.findall(r"[0-9]{1,12}", name.partition(".")[0])[-self.network.n_dimensions:]]
        return numbers if len(numbers) == self.network.n_dimensions else None

    def _listed(self, table: dict[int, str], node: int) -> str:
        if node not in table:
            raise MapfileError(f"node {self.network.node_name(node)} has no host name; add its line to the list of hosts, "
                               "or leave the node out with `nodes` or `failed`")
        return table[node]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        if self.hosts is not None:
            return self.hosts
        if self.table is not None:
            return {name: node for node, name in self.table.items()}
        nodes = np.arange(self.network.n_nodes)
        return dict(zip(self.names(nodes), nodes.tolist()))


def first_hosts(hosts: dict[str, int]) -> dict[int, str]:
    """Return the first host of each node.

    >>> first_hosts({"a": 3, "b": 3, "c": 1})
    {3: 'a', 1: 'c'}
    """
    names: dict[int, str] = {}
    for name, node in hosts.items():
        names.setdefault(node, name)
    return names


def hosts_per_node(hosts: dict[str, int]) -> int:
    """Return the largest number of hosts of a node.

    >>> hosts_per_node({"a": 3, "b": 3, "c": 1})
    2
    """
    return max(Counter(hosts.values()).values(), default=1)


def check_even(hosts: dict[str, int], network: Network, line_of: dict[str, int] | None = None) -> None:
    """Raise MapfileError unless each node of the network has the same number of hosts: slots are alike on all nodes.

    `line_of` are the lines of the hosts in their file.
    """
    counts = Counter(hosts.values())
    if len(set(counts.values())) > 1:
        lines = []
        for node in (max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)):
            names = [name for name, at in hosts.items() if at == node][:3]
            lines.append(f"{network.node_name(node)} has " + ", ".join(
                f"{name} (line {line_of[name]})" if line_of else name for name in names))
        raise MapfileError(f"nodes have different numbers of hosts: {' but '.join(lines)}; correct the coordinates, or use "
                           "only nodes with all of their hosts")


def _template(name: str, axes: str | tuple[Any, ...] = ()) -> str:
    """Return a template for names like this one, with a field for each axis if the name has as many numbers.

    >>> _template("c07"), _template("rack1-n3"), _template("rack1-n3", "xy")
    ('c{node:02d}', 'rack1-n{node}', 'rack{x}-n{y}')
    """
    parts = re.split(r"[0-9]+", name[:40])
    if len(axes) > 1 and len(parts) == len(axes) + 1:
        return "".join(f"{part}{{{axis}}}" for part, axis in zip(parts, axes)) + parts[-1]

    def field(number: re.Match[str]) -> str:
        return f"{{node:0{len(number[0])}d}}" if len(number[0]) > 1 else "{node}"

    return re.sub(r"[0-9]+(?=[^0-9]*$)", field, name[:40]) if re.search("[0-9]", name) else "n{node}"


def _check_template(template: str, network: Network) -> None:
    known = (*network.axes, "node")
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise MapfileError(f"host template {template[:60]!r} is not understood: {error}; {_fields(network)}") from error
    strange = re.search(r"[^A-Za-z0-9._-]", "".join(text for text, *_ in parsed))
    if strange:
        raise MapfileError(f"host template {template[:60]!r}: {strange[0]!r} is not allowed in a host name; letters, "
                           "digits and . _ - can")
    if parsed and parsed[0][0]:
        check_name(parsed[0][0])
    fields = [(name, f"{spec}{(conversion and f'!{conversion}') or ''}")
              for _, name, spec, conversion in parsed if name is not None]
    for name, spec in fields:
        match = _FIELD.fullmatch(name)
        if not match or match[1] not in known or not re.fullmatch(r"(0[0-9]{1,2})?d?", spec):
            raise MapfileError(f"host template {template[:60]!r}: field {name[:20]!r}:{spec[:20]!r} is not one of "
                               f"{', '.join(known)} with a width such as 03d; {{{known[-1]}+1}} counts from 1; "
                               f"{_fields(network)}")
    used = {name.partition("+")[0] for name, _ in fields}
    needed = {axis for axis, n in zip(network.axes, network.shape) if n > 1}
    if "node" not in used and not needed <= used:
        raise MapfileError(f"host template {template[:60]!r} gives several nodes one name; {_fields(network)}")


def _fields(network: Torus | Network) -> str:
    axes = "".join(f"{{{axis}}}" for axis in network.axes)
    return f"use a field for each axis, e.g. n-{axes}, or the node's number, e.g. nid{{node:05d}}"


def _check_names(names: Iterable[Any]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise MapfileError(f"host name {name[:40]!r} is given to two nodes; every node needs its own")
        seen.add(name)
