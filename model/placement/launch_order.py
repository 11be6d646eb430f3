"""The order in which a launcher fills the places of a job without a placement.

An order names the slot t and the axes, the fastest first: ``xyzt`` fills x first and the second slot of a node last,
``txyz`` fills the slots of a node first. (Blue Gene's names XYZT and TXYZ mean the same.) ``tn`` and ``nt`` take the nodes
in the order of their list. A number limits a letter to so many steps, and the rest of the letter follows later: for example,
``tx2y2xyz`` goes through boxes of 2x2 nodes, ``t4nt`` puts four ranks on a node at a time. A launcher's order may hold ``+``
for all axes with the first axis fastest and ``-`` for all axes with the last axis fastest, because a launcher runs on
networks of any dimension.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

_DIGITS = re.compile(r"([a-z+-])([0-9]{0,6})")
_BOX = re.compile(r"t?((?:[a-su-z][0-9]+)+)[a-z+-]")


@dataclass(frozen=True)
class LaunchOrder:
    """A launcher's order, and its certainty.

    Parameters
    ----------
    orders : tuple of str
        Usually one. Several if the sources leave the order open, the likeliest first; none if the notation cannot
        express it.
    title : str
        Name in sentences.
    source : str
        The document or the run that states the order.
    certain : bool
        Whether the source states the order for this case.
    reason : str
        Why the order applies: a variable, a launcher, a machine.
    """

    orders: tuple[str, ...]
    title: str
    source: str
    certain: bool = True
    reason: str = ""

    def on(self, axes: str, fits: Callable[[str], object]) -> "LaunchOrder":
        """Return the order for a network, with its letters in place of ``+`` and ``-``, and without orders that do not fit.

        >>> LaunchOrder(("t-", "tz"), "a name", "a source").on("xy", lambda order: "z" not in order).orders
        ('tyx',)
        """
        written = (order.replace("+", axes).replace("-", axes[::-1]) for order in self.orders)
        return replace(self, orders=tuple(order for order in written if fits(order)))

    def of_nodes(self, listed: bool) -> "LaunchOrder":
        """The same for nodes whose order is given, or not. An order of the axes beside one of the list stands for a list
        that is not given; without the list it is open which of the two applies.

        >>> both = LaunchOrder(("tn", "tyx"), "a name", "a source")
        >>> both.of_nodes(True).orders, both.of_nodes(False).certain
        (('tn',), False)
        """
        by_list = tuple(order for order in self.orders if "n" in order)
        if not 0 < len(by_list) < len(self.orders):
            return self
        return replace(self, orders=by_list) if listed else replace(self, certain=False)

    def name(self, order: str = "") -> str:
        """Return its name in a table or sentence; of several possible orders with the words that tell this one apart.

        >>> LaunchOrder(("txy", "xyt"), "Fujitsu's order", "a source").name("xyt")
        "Fujitsu's order, round nodes"
        """
        if len(self.orders) < 2 or not order:
            return self.title
        short, same = _short(order), [other for other in self.orders if _short(other) == _short(order)]
        first = next((letter for letter in order if letter.isalpha() and letter != "t"), "")
        nodes = ("nodes as listed" if first == "n" else f"{first} fastest") if len(same) > 1 and first else ""
        parts = [short] * (len(same) < len(self.orders)) + [nodes] * bool(nodes)
        return ", ".join([self.title, *parts])

    def phrase(self, *orders: str, tasks_per_node: int = 0, listed: bool = True) -> str:
        """Return its name and some of its orders, in a sentence. For the other arguments see `spoken`.

        >>> LaunchOrder(("tn",), "Slurm's block order", "srun(1)").phrase("tn")
        "Slurm's block order (ranks fill each node first)"
        """
        assumed = not self.certain or ("n" in "".join(orders) and not listed)
        words = " or ".join(spoken(order, tasks_per_node, listed) for order in orders)
        return f"{self.title} ({words}{'; assumed' if assumed else ''})"


def by_name(order: str) -> tuple[str, str]:
    """An order of listed nodes, and the same for nodes that are sorted by names with all coordinates.

    >>> by_name("t4nt")
    ('t4nt', 't4-t')
    """
    return order, order.replace("n", "-")


def digits_of(order: str, extents: Mapping[str, int]) -> list[tuple[str, int, int]] | None:
    """Return the letters of an order as digits: letter, value of one step, number of steps.

    None if the text is not an order of these letters.

    >>> digits_of("tx2x", {"x": 4, "t": 2})
    [('t', 1, 2), ('x', 1, 2), ('x', 2, 2)]
    >>> digits_of("xt", {"x": 2, "y": 2, "t": 1}) is None
    True
    """
    found = [(m[1], m[2]) for m in _DIGITS.finditer(order)]
    if "".join(letter + number for letter, number in found) != order or {letter for letter, _ in found} != set(extents):
        return None
    step, digits, done = dict.fromkeys(extents, 1), list[tuple[str, int, int]](), set[str]()
    for letter, number in found:
        left = extents[letter] // step[letter]
        count = int(number) if number else left
        if letter in done or count < 1 or left % count:
            return None
        if not number:
            done.add(letter)
        digits.append((letter, step[letter], count))
        step[letter] *= count
    return digits if step == dict(extents) else None


def spoken(order: str, tasks_per_node: int = 0, listed: bool = True) -> str:
    """Return an order in words.

    Parameters
    ----------
    order : str
    tasks_per_node : int
        0 stands for any number.
    listed : bool
        Whether the order of the nodes was given.

    Examples
    --------
    >>> spoken("tedcba"), spoken("nt", 1, False)
    ('ranks fill each node first, e fastest', 'nodes in the order of their numbers')
    """
    parts = [] if tasks_per_node == 1 else [_slots(order)]
    box = _BOX.match(order)
    if box and "n" not in order:
        parts.append(f"boxes of {'x'.join(re.findall('[0-9]+', box[1]))} nodes")
    letter = next((letter for letter in order if letter.isalpha() and letter != "t"), "")
    if "+" in order or "-" in order:
        parts.append(f"the {'first' if '+' in order else 'last'} axis fastest")
    elif letter != "n":
        parts.append(f"{letter} fastest")
    elif not listed:
        parts.append("nodes in the order of their numbers")
    elif tasks_per_node == 1:
        parts.append("nodes in the order of their list")
    return ", ".join(parts)


def _short(order):
    few = re.match(r"t([0-9]+)", order)
    return f"{few[1]} ranks at a time" if few else "nodes filled" if order.startswith("t") else "round nodes"


def _slots(order):
    few = re.match(r"t([0-9]+)", order)
    if few:
        return f"{few[1]} ranks on a node at a time"
    return "ranks fill each node first" if order.startswith("t") else "ranks go round the nodes"


USUAL = LaunchOrder(("tn",), "block order", "most launchers fill a node before the next one", certain=False,
                    reason="no machine, launcher or job setting tells another one")
