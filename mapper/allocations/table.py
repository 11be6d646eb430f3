"""Plain table of nodes: ``x y z``, ``NAME x y z`` or ``x y z NAME`` in each line, in the order in which the launcher fills
them.

A line may also be a name alone whose last numbers are the coordinates. ``#`` starts a comment.

Cray XT and XE: a table of nids and coordinates, as RCA or ``PMI_Get_meshcoord`` give them.

First line ``XxYxZxT``, then ``pe nid x y z t`` for each process element, in order: the file that Rubik's probe writes
(LLNL/rubik, rubik/box.py, autobox_cray). The nodes may have holes. ``nid00012 x y z`` is a plain table.

Names of hosts that tell their places in a network of groups.
"""

import re
from collections.abc import Iterator
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.allocations.found import Fact, Found, box_facts, from_one, guessed, mesh_box
from pencilmap.mapper.base.hosts import Hosts, check_even, check_name, first_hosts, hosts_per_node
from pencilmap.mapper.formats.foreign import NODES, refuse_foreign
from pencilmap.mapper.formats.hostlist import expand_hosts, hosts_document
from pencilmap.mapper.formats.lines import Document, integers, is_integer, words
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import reading
from pencilmap.model.network.network import Network
from pencilmap.model.network.twisted_torus import logical, nodes_of_logical


class NodeTable(NamedTuple):
    """The nodes of a table.

    Several hosts may have the coordinates of one node, as the two compute nodes at a Gemini router of Cray XE.

    Parameters
    ----------
    nodes : int array
        Node numbers in the order of the file.
    hosts : dict of str to int
        Node number by name, {} without names.
    by_name : tuple of str
        Hosts whose coordinates are the numbers in their names.
    """

    nodes: Ints
    hosts: dict[str, int]
    by_name: tuple[str, ...] = ()

    @property
    def names(self) -> dict[int, str]:
        """The first name of each node."""
        return first_hosts(self.hosts)

    def guess(self, network: Network) -> str | None:
        """Return a note about numbers in names that were taken for coordinates; None for names such as node-3-0-7.

        >>> from pencilmap.model.network.torus import Torus
        >>> NodeTable(np.array([1]), {"n1": 1}, ("n1",)).guess(Torus((4,)))
        'the numbers in names of hosts are taken for x, e.g. n1 for node (1); lines NAME x say otherwise'
        """
        return guessed(network, {name: self.hosts[name] for name in self.by_name})

    @property
    def shared(self) -> Ints | None:
        """The node of each host if several hosts share a node."""
        return np.array(list(self.hosts.values()), dtype=np.int64) if hosts_per_node(self.hosts) > 1 else None


def read_table(path: str | PathLike[str], network: Network) -> NodeTable:
    """Return the table at a path, or of a list of hosts such as ``c[0-3,7]``. Raises MapfileError naming file and line."""
    return parse_table(hosts_document(path), network)


def parse_table(document: Document, network: Network) -> NodeTable:
    """Return the table in a document, as `read_table` does.

    >>> from pencilmap.mapper.formats.lines import Document
    >>> from pencilmap.model.network.torus import Torus
    >>> parse_table(Document(b"cab7 1 0\\ncab3 0 0\\n", "demo"), Torus((2, 2))).names
    {1: 'cab7', 0: 'cab3'}
    """
    if (folded := logical(network)) is not network:
        table = parse_table(document, folded)
        hosts = nodes_of_logical(network, np.array(list(table.hosts.values()), dtype=np.int64)).tolist()
        return NodeTable(nodes_of_logical(network, table.nodes), dict(zip(table.hosts, hosts)), table.by_name)
    with reading(document.label, MapfileError, len(document.text)):
        refuse_foreign(document, NODES)
        if places := named_places(document, network):
            return NodeTable(np.array(list(places.values()), dtype=np.int64), places)
        line_of, hosts, used, shared = dict[int, int](), dict[str, int](), dict[str, int](), set[int]()
        by_name = list[str]()
        numbers = {name: node for node, name in (network.host_names or {}).items() if is_integer(name)}  # hosts 1 to 9
        for number, line in node_lines(document):
            word = line.strip()
            node, name = (numbers[word], word) if word in numbers else _entry(document, number, line, network)
            shares = name is not None and len(words(line)) > 1  # its coordinates are given, rather than found in its name
            if name in used:
                raise document.refuse(f"host {name} is also in line {used[name]}; delete one of both lines, or correct the "
                                      "name", number)
            if node in line_of and not (shares and node in shared):
                raise document.refuse(f"node {network.node_name(node)} is also in line {line_of[node]}; delete one of both "
                                      "lines, or correct one", number)
            line_of.setdefault(node, number)
            if shares:
                shared.add(node)
            if name:
                hosts[name], used[name] = node, number
                if not shares:
                    by_name.append(name)
        if not line_of:
            raise document.refuse(f"lists no node; write one line of coordinates ({' '.join(network.axes)}) for each")
        check_even(hosts, network, used)
        return NodeTable(np.array(list(line_of), dtype=np.int64), hosts, () if network.host_names else tuple(by_name))


def _entry(document: Document, number: int, line: str, network: Any) -> tuple[int, str | None]:
    row, d = words(line), network.n_dimensions
    names = [(word, column) for word, column in row if not is_integer(word)]
    if len(row) == 1 and names:
        return _from_name(document, number, names[0], network), names[0][0]
    if len(names) > 1 or (names and names[0] not in (row[0], row[-1])):
        raise document.refuse(f"{names[-1][0][:20]!r} is not an integer ({' '.join(network.axes)}, with a name before or "
                              "after)", number, names[-1][1])
    if len(row) - len(names) != d:
        raise document.refuse(f"{len(row) - len(names)} coordinates, but {network.title} has {d} dimensions", number)
    if names:
        _check_name(document, number, names[0])
    coordinates = [int(word) for word, _ in row if is_integer(word)]
    problem = network.outside(coordinates)
    if problem:
        raise document.refuse(problem, number)
    return int(network.node(coordinates)), names[0][0] if names else None


_LIST = re.compile(r"\s*[A-Za-z0-9][^\s\[\]]*\[[0-9]")


def node_lines(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; a line with a list of hosts, such as ``c[0-3,7]``, is a line for each host."""
    for number, line in document.lines():
        if not _LIST.match(line):
            yield number, line
            continue
        try:
            hosts = expand_hosts(line.strip())
        except MapfileError as error:
            raise document.refuse(str(error), number) from error
        yield from ((number, host) for host in hosts)


def _from_name(document: Document, number: int, word: tuple[str, int], network: Any) -> int:
    hosts = Hosts(network)
    if network.host_names is None:
        _check_name(document, number, word)
    node = hosts.node(word[0])
    if node is None:
        if hosts.is_default and hosts.coordinates_in(word[0]) is None:
            raise document.refuse(f"host {word[0][:40]!r} has no coordinates; write NAME {' '.join(network.axes)} in each "
                                  f"line, e.g. {word[0][:40]}{' 0' * network.n_dimensions}", number, word[1])
        raise document.refuse(f"{hosts.why_not(word[0])}{from_one(network, word[0])}", number, word[1])
    return node


def _check_name(document: Document, number: int, word: tuple[str, int]) -> None:
    try:
        check_name(word[0])
    except MapfileError as error:
        raise document.refuse(str(error), number, word[1]) from error


_DECIMAL = re.compile(r"[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")  # the weight of an edge, and no name


def looks_like(document: Document) -> bool:
    """Return whether the first line is a node: coordinates, with or without a name, which is no number such as 1.5."""
    row = [word for word, _ in words(document.lines(longest=None)[0][1])]
    names = [word for word in row if not is_integer(word)]
    return len(names) < len(row) and len(names) <= 1 and not any(map(_DECIMAL.fullmatch, names))


_HEADER = re.compile(r"^\s*#.*\bx\b.*\by\b.*\bz\b", re.MULTILINE)


def _refuse_affinity(document: Document) -> None:
    """Refuse lines that may be either LSF's affinity file (HOST CPUS NUMA-NODES MEMORY-POLICY) or coordinates.

    The last two numbers are the same in all lines, and the last is above 0.
    """
    lines = document.lines()
    rows = [[word for word, _ in words(line)] for _, line in lines]
    same = {tuple(row[2:]) for row in rows}
    if all(len(row) == 4 and not is_integer(row[0]) for row in rows) and len(same) == 1 and not _HEADER.search(
            document.text):
        _numa, policy = next(iter(same))
        if is_integer(policy) and int(policy) > 0:
            raise document.refuse("may be coordinates or LSF's affinity file (HOST CPUS NUMA-NODES MEMORY-POLICY); for "
                                  "coordinates, begin the file with the comment # NAME x y z", lines[0][0])


EDGES = "its lines are the edges of a graph, name it as the network: --network {label}"
TASKS = "the numbers are tasks of hosts, write HOST:TASKS in each line"


def _may_be_edges(places: dict[str, tuple[int, ...]], coordinates: Any) -> bool:
    """Return whether lines of coordinates may also be edges: two numbers, perhaps with a weight, which are never equal."""
    return (not places and len(coordinates) > 1 and len(coordinates[0]) in (2, 3)
            and all(where[0] != where[1] for where in coordinates))


def find(document: Document) -> Found:
    """Return coordinates, names, and the bounding box of a plain table without a known torus."""
    _refuse_affinity(document)
    places, coordinates = dict[str, tuple[int, ...]](), list[tuple[int, ...]]()
    line_of = dict[tuple[int, ...], tuple[int, str | None]]()
    for number, line in document.lines():
        row = words(line)
        where = tuple(int(word) for word, _ in row if is_integer(word))
        if len(where) != len(row) - (len(row) > len(where)) or (coordinates and len(where) != len(coordinates[0])):
            raise document.refuse("is not a line of coordinates with a name before or after, with as many coordinates as "
                                  "the lines above", number)
        name = next((word for word, _ in row if not is_integer(word)), None)
        if min(where) < 0 or name in places:
            raise document.refuse(f"host {name} is listed twice" if name in places else "a coordinate below 0", number)
        if where in line_of and not (name and line_of[where][1]):
            raise document.refuse(f"node {where} is already listed in line {line_of[where][0]}; list every node once, or "
                                  "give the names of its hosts", number)
        line_of.setdefault(where, (number, name))
        coordinates.append(where)
        if name:
            places[name] = where
    is_line = bool(places) and len(coordinates[0]) == 1 and len(coordinates) > 1
    if is_line and len(line_of) < len(coordinates):
        raise document.refuse("gives several hosts the same number, which is no coordinate on a line of nodes; if the "
                              "numbers are tasks, write HOST:TASKS in each line")
    advice = TASKS if is_line else EDGES.format(label=document.label) if _may_be_edges(places, coordinates) else None
    facts = (Fact("nodes", f"{len(coordinates)}{' with names' if places else ''}", document.label),
             *box_facts("nodes", coordinates, document.label),
             *([Fact("read as", f"coordinates of nodes; if {advice}", document.label)] if advice else []))
    return Found(facts, mesh_box(coordinates), tuple(places) or None, places, tuple(coordinates))


def looks_like_cray(document: Document) -> bool:
    lines = document.lines(longest=None)
    return len(lines) > 1 and bool(re.fullmatch(r"\s*[0-9]+(x[0-9]+){3}\s*", lines[0][1]))


def find_cray(document: Document) -> Found:
    (_, head), *lines = document.lines()
    *shape, cores = (int(n) for n in head.strip().split("x"))
    order, per_node = dict[str, tuple[int, ...]](), dict[int, int]()
    for number, line in lines:
        _pe, nid, *place, _core = integers(line, number, document.label, 6, "pe nid x y z t")
        where = tuple(place)
        if any(not 0 <= c < n for c, n in zip(where, shape)):
            raise document.refuse(f"node {where} is outside the {'x'.join(map(str, shape))} of the first line", number)
        if order.setdefault(f"nid{nid:05d}", where) != where:
            raise document.refuse(f"nid {nid} was at {order[f'nid{nid:05d}']} above and is at {where} here", number)
        per_node[nid] = per_node.get(nid, 0) + 1
    text = "x".join(map(str, shape))
    tasks = max(per_node.values())
    facts = (Fact("torus", text, document.label),
             Fact("nodes", f"{len(order)}, {tasks} of {cores} cores used", document.label))
    return Found(facts, text, tuple(order), order).with_tasks(per_node.values())


# Names of HPE Cray EX such as x1000c0s0b0n0: a cabinet has 8 chassis of 8 blades and is one group of a dragonfly. Sources:
# docs.alcf.anl.gov/aurora/running-jobs-aurora, Placement; docs.nersc.gov/systems/perlmutter/architecture. Cabinets are
# numbered in order from group 0 on, which changes nothing, because all groups have as many cables to each other. The switch
# of a node among the switches of its chassis is assumed.
XNAME = re.compile(r"x(?P<group>[0-9]{4,5})c(?P<chassis>[0-7])s(?P<slot>[0-7])b(?P<board>[0-3])n(?P<node>[0-3])")
CHASSIS = BLADES = 8


def named_places(document: Document, network: Network) -> dict[str, int] | None:
    """Return the nodes of hosts whose names tell their places in a network of groups, or None for other names or networks.

    A line is the name, or another name of the host and then the name.

    Raises
    ------
    MapfileError
        If the network has fewer groups, or no such place in a group.
    """
    rows = [(number, [word for word, _ in words(line)]) for number, line in document.lines()]
    result = [(number, row[0], XNAME.fullmatch(row[-1]) if len(row) <= 2 else None) for number, row in rows]
    count = next((level.count for level in network.levels if level.name == "group"), 0)
    if not (count and result and all(match for *_, match in result)):
        return None
    matches = [(number, name, match) for number, name, match in result if match]
    groups = {text: number for number, text in enumerate(sorted({match["group"] for *_, match in matches}, key=int))}
    hosts = network.n_nodes // count
    rest = hosts // (CHASSIS * BLADES)
    if len(groups) > count or not rest:
        raise document.refuse(f"names hosts of {len(groups)} cabinets, but {network.title} has {count} groups of "
                              f"{hosts} hosts; name the network of the whole machine")
    places, used = dict[str, int](), dict[int, int]()
    for number, name, match in matches:
        boards = 2 if rest > 1 else 1
        board, node = int(match["board"]), int(match["node"])
        inside = ((int(match["chassis"]) * BLADES + int(match["slot"])) * boards + board) * (rest // boards) + node
        if board >= boards or node >= rest // boards:
            raise document.refuse(f"host {match[0]} has no place in a group of {hosts} hosts; name a network whose groups "
                                  "have as many hosts as a cabinet", number)
        place = groups[match["group"]] * hosts + inside
        if place in used:
            raise document.refuse(f"host {name} is also in line {used[place]}; delete one of both lines", number)
        places[name], used[place] = place, number
    return places
