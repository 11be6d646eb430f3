"""Rules by which the name of a host tells its place in a network of groups. A new rule is a line of the table."""

import re
from dataclasses import dataclass

from pencilmap.mapper.formats.lines import Document, words
from pencilmap.model.network.network import Network


@dataclass(frozen=True)
class NameRule:
    """A rule.

    Parameters
    ----------
    title : str
        The maker, and an example of a name.
    pattern : re.Pattern
        Has the group ``group``, a number, and one group for each digit of the place inside a group.
    radix : dict of str to int
        Largest number of places of each digit, the slowest digit first; the last digits share the rest.
    source : str
        The public document that states the rule.
    note : str
        Limits of the rule.
    """

    title: str
    pattern: re.Pattern[str]
    radix: dict[str, int]
    source: str
    note: str


XNAME = NameRule(
    "HPE Cray EX, x1000c0s0b0n0",
    re.compile(r"x(?P<group>[0-9]{4,5})c(?P<chassis>[0-7])s(?P<slot>[0-7])b(?P<board>[0-3])n(?P<node>[0-3])"),
    {"chassis": 8, "slot": 8},
    "docs.alcf.anl.gov/aurora/running-jobs-aurora, Placement: rack and chassis are the first parts of the name; "
    "docs.nersc.gov/systems/perlmutter/architecture: a cabinet has 8 chassis of 8 blades and is one dragonfly group",
    "Cabinets are numbered in order from group 0 on, which changes nothing, because all groups have as many cables to each "
    "other. The chassis is that of the name; the switch of a node among the switches of its chassis is assumed.")
NAME_RULES = (XNAME,)


def named_places(document: Document, network: Network) -> dict[str, int] | None:
    """Return the nodes of the hosts in a list of names, or None if no rule is for these names and this network.

    A line is the name, or another name of the host and then the name.

    Raises
    ------
    MapfileError
        If the network has fewer groups, or no such place in a group.
    """
    rows = [(number, [word for word, _ in words(line)]) for number, line in document.lines()]
    for rule in NAME_RULES:
        found = [rule.pattern.fullmatch(row[-1]) if len(row) <= 2 else None for _, row in rows]
        level = next((level for level in network.levels if level.name == "group"), None)
        if level and found and all(found):
            return _placed(document, network, level.count, rule,
                           [(number, row[0], match) for (number, row), match in zip(rows, found)])
    return None


def _placed(document, network, count, rule, rows):
    groups = {text: number for number, text in enumerate(sorted({match["group"] for *_, match in rows}, key=int))}
    hosts = network.n_nodes // count
    rest = hosts
    for places_of_digit in rule.radix.values():
        rest //= places_of_digit
    if len(groups) > count or not rest:
        raise document.refuse(f"names hosts of {len(groups)} cabinets, but {network.title} has {count} groups of "
                              f"{hosts} hosts; name the network of the whole machine")
    places, taken = dict[str, int](), dict[int, int]()
    for number, name, match in rows:
        inside = _inside(match, rule, rest)
        if inside is None or inside >= hosts:
            raise document.refuse(f"host {match[0]} has no place in a group of {hosts} hosts ({rule.title}); name a network "
                                  "whose groups have as many hosts as a cabinet", number)
        node = groups[match["group"]] * hosts + inside
        if node in taken:
            raise document.refuse(f"host {name} is also in line {taken[node]}; delete one of both lines", number)
        places[name], taken[node] = node, number
    return places


def _inside(match, rule, rest):
    """Return the place inside a group, None if the last digits are too large."""
    place = 0
    for name, count in rule.radix.items():
        place = place * count + int(match[name])
    boards = 2 if rest > 1 else 1
    board, node = int(match["board"]), int(match["node"])
    if board >= boards or node >= rest // boards:
        return None
    return place * rest + board * (rest // boards) + node
