"""Messages on networks of switches, walked one by one along every route, in plain Python with fractions.

This code shares nothing with the fast loads: it only reads the list of links of a network, and finds each link by its ends.
A route is a list of link numbers, and a message has routes with shares that add up to 1.
"""

from collections import defaultdict
from fractions import Fraction


class Walker:
    """Routes on a network of switches."""

    def __init__(self, network):
        self.network, self.L = network, network.links_per_host
        self.out = defaultdict(list)
        for number, (a, b) in enumerate(zip(network.source.tolist(), network.target.tolist())):
            self.out[a].append((number, b))
        self.into = defaultdict(list)
        for number, (a, b) in enumerate(zip(network.source.tolist(), network.target.tolist())):
            self.into[b].append((number, a))

    def kind(self, number):
        return self.network.link_classes[self.network.class_of_link[number]]

    def loads(self, mapping, messages, rule):
        """Return the bytes on every link: dict from number to Fraction."""
        found = defaultdict(Fraction)
        for a, b, amount in messages:
            for share, route in self.message(mapping, a, b, rule):
                for link in route:
                    found[link] += share * amount
        return {link: load for link, load in found.items() if load}

    def message(self, mapping, a, b, rule):
        """Yield share and route of a message between two ranks."""
        here, there = int(mapping.node_of_rank[a]), int(mapping.node_of_rank[b])
        if here == there:
            return
        if self.network.use == "even":
            pairs = [(i, i, Fraction(1, self.L)) for i in range(self.L)]
        else:
            pairs = [(int(mapping.slot_of_rank[a]) % self.L, int(mapping.slot_of_rank[b]) % self.L, Fraction(1))]
        for i, j, share in pairs:
            up, first = [(k, v) for k, v in self.out[here] if self.kind(k) == "host"][i]
            down, last = [(k, v) for k, v in self.into[there] if self.kind(k) == "host"][j]
            end = there if self.network.use == "even" else there * self.L + j
            for part, route in getattr(self, rule)(first, last, end):
                yield share * part, [up, *route, down]

    def neighbours(self, v):
        return [(k, w) for k, w in self.out[v] if self.kind(k) != "host"]

    def shortest(self, a, b, end=None, classes=None):
        """All shortest paths over cables of some classes, with equal shares."""
        paths = [([], a)]
        seen = {a}
        while paths and a != b and not any(v == b for _, v in paths):
            paths = [([*route, k], w) for route, v in paths for k, w in self.neighbours(v)
                     if w not in seen and (classes is None or self.kind(k) in classes)]
            seen |= {v for _, v in paths}
        routes = [route for route, v in paths if v == b]
        return [(Fraction(1, len(routes)), route) for route in routes]

    def each_hop(self, a, b, end=None):
        """All shortest paths; at each switch all cables towards the target have equal shares."""
        if a == b:
            yield Fraction(1), []
            return
        far = len(self.shortest(a, b)[0][1])
        nearer = [(k, w) for k, w in self.neighbours(a) if w == b or len(self.shortest(w, b)[0][1]) < far]
        for k, w in nearer:
            for share, route in self.each_hop(w, b):
                yield share / len(nearer), [k, *route]

    def static(self, a, b, end):
        """Up by the digits of the receiving end, down by the cables that the receiving leaf would take."""
        one, other = self.climb(a, end), self.climb(b, end)
        for (up, at), (down, there) in zip(one, other):
            if at == there:
                return [(Fraction(1), [*up, *(self.back(k) for k in reversed(down))])]
        raise AssertionError("the cables of the digits do not meet")

    def climb(self, v, digits):
        """The cables upwards from a leaf, and where they lead: one entry for each level, from the leaf itself."""
        found, route = [([], v)], []
        while True:
            ports = [(k, w) for k, w in self.neighbours(v) if self.is_up(k)]
            if not ports:
                return found
            k, v = ports[digits % len(ports)]
            digits //= len(ports)
            route = [*route, k]
            found.append((route, v))

    def is_up(self, k):
        """Whether a link leads to a level above: switches are numbered from the leaves upwards."""
        return self.network.source[k] < self.network.target[k]

    def back(self, k):
        """The same cable in the other direction."""
        a, b = self.network.source[k], self.network.target[k]
        one = [n for n, w in self.out[a] if w == b]
        other = [n for n, w in self.out[b] if w == a]
        return other[one.index(k)]

    def group(self, v):
        return int(self.network.level("group").unit[v])

    def cables(self, g, h):
        """Global links from one group to another: (link, switch that it leaves, switch where it arrives)."""
        return [(k, v, w) for v in list(self.out) for k, w in self.neighbours(v)
                if self.kind(k) == "global" and self.group(v) == g and self.group(w) == h]

    def local(self, a, b):
        return self.shortest(a, b, classes=("local",))

    def hops(self, a, b):
        return len(self.local(a, b)[0][1])

    def minimal(self, a, b, end=None):
        """One global cable at most, evenly over the cables with the fewest local hops."""
        if self.group(a) == self.group(b):
            yield from self.local(a, b)
            return
        ways = [(self.hops(a, v) + self.hops(w, b), k, v, w) for k, v, w in self.cables(self.group(a), self.group(b))]
        least = [way for way in ways if way[0] == min(ways)[0]]
        for _, k, v, w in least:
            for share, before in self.local(a, v):
                for other, after in self.local(w, b):
                    yield share * other / len(least), [*before, k, *after]

    def valiant(self, a, b, end=None):
        """Through every third group evenly, on the nearest cables to it, then minimal."""
        ends = {self.group(a), self.group(b)}
        thirds = {int(g) for g in self.network.level("group").unit if g >= 0} - ends
        if len(ends) == 1 or not thirds:
            yield from self.minimal(a, b)
            return
        for third in thirds:
            ways = [(self.hops(a, v), k, v, w) for k, v, w in self.cables(self.group(a), third)]
            least = [way for way in ways if way[0] == min(ways)[0]]
            for _, k, v, w in least:
                for share, before in self.local(a, v):
                    for other, after in self.minimal(w, b):
                        yield share * other / len(least) / len(thirds), [*before, k, *after]
