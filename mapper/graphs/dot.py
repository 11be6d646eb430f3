"""DOT (Graphviz): vertices with ``kind``, edges with ``bandwidth`` and ``cables``.

An example::

    graph cluster {
        node [kind=switch]; leaf0; leaf1;
        leaf0 -- leaf1 [bandwidth="25 GB/s", cables=2];
        leaf0 -- {n0 n1} [bandwidth="12.5 GB/s"];
    }

A vertex gets the defaults of ``node [...]`` that hold where it is named first; subgraphs inherit defaults. Other attributes
of vertices (label, shape, ...) are ignored; numbers of edges are refused if they may be bandwidths. Ports (``a:p``) are
ignored, and text in angle brackets is not read. Source: "DOT Language" of graphviz.org.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs.parts import EDGE, refuse_bare_number, refuse_other_numbers
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.reading import MOST_DEPTH

_HEAD = re.compile(r"(?:\s|//[^\n]*\n|#[^\n]*\n|/\*.{0,2000}?\*/)*(strict\s+)?(di)?graph\b[^\[\]{]{0,200}\{",
                   re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r'(?P<space>\s+|//[^\n]*|^\#[^\n]*|/\*.*?\*/)|(?P<edge>--|->)|(?P<mark>[{}\[\];,=:])'
                    r'|(?P<id>[A-Za-z_\x80-\U0010ffff][\w]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|"(?:[^"\\]|\\.)*")',
                    re.DOTALL | re.MULTILINE)
_DRAWN = re.compile(r"x?label\w*|weight|len|penwidth|fontsize|minlen|arrowsize|constraint|color\w*|style|dir"
                    r"|tooltip|URL|headport|tailport|headlabel|taillabel|pos|lp|id|class|comment|decorate|key")
_KEYWORDS = ("graph", "node", "edge", "subgraph", "digraph", "strict")
BOTH_WAYS = "write graph and -- in place of digraph and ->"
VERTEX = ("kind", "type", "role")  # attributes of a vertex; without any kind, a refusal tells the others
MOST_PAIRS = 1 << 20  # of all edges, because a single line may join two sets of vertices


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def looks_like(document: Document) -> bool:
    return _HEAD.match(document.text[:1 << 16]) is not None


def read(document: Document) -> Any:
    """Return the graph. Raises GraphError with the line that is not understood."""
    return _Parser(document).graph()


class _Parser:
    """A parser of one document by recursive descent."""

    def __init__(self, document: Document) -> None:
        self.document, self.at = document, 0
        self.tokens = list(self._tokens(document.text))

    def _tokens(self, text: str) -> Iterator[_Token]:
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._refusal(f"{text[at:at + 20].splitlines()[0]!r} is not read in DOT", line)
            if match.lastgroup != "space":
                yield _Token(str(match.lastgroup), match[0], line)
            line += match[0].count("\n")
            at = match.end()

    def _refusal(self, message: str, line: int) -> GraphError:
        return GraphError(f"{self.document.label} line {line}: {message}")

    def _peek(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _Token("end", "", self.document.text.count("\n") + 1)

    def _next(self, *texts: str) -> _Token:
        token = self._peek()
        if texts and token.text.lower() not in texts:
            got = repr(token.text[:20]) if token.text else "the end of the file"
            raise self._refusal(f"{' or '.join(texts)} is expected in place of {got}", token.line)
        self.at += 1
        return token

    def _id(self) -> str:
        token = self._peek()
        if token.kind != "id" or token.text.lower() in _KEYWORDS:
            got = repr(token.text[:20]) if token.text else "the end of the file"
            raise self._refusal(f"a name is expected in place of {got}", token.line)
        self.at += 1
        text = token.text
        return re.sub(r"\\(.)", r"\1", text[1:-1].replace("\\\n", "")) if text.startswith('"') else text

    def graph(self) -> Any:
        import networkx as nx  # slow to import, and only graphs need networkx

        self.pairs = 0
        strict = self._peek().text.lower() == "strict"
        self.at += strict
        self.directed = self._next("graph", "digraph").text.lower() == "digraph"
        several, one = (nx.MultiDiGraph, nx.DiGraph) if self.directed else (nx.MultiGraph, nx.Graph)
        self.network = one(both_ways=BOTH_WAYS) if strict else several(both_ways=BOTH_WAYS)
        if self._peek().text != "{":
            self._id()
        self._body({}, {}, 0)
        if self.at < len(self.tokens):
            raise self._refusal("there is more after the end of the graph", self._peek().line)
        return self.network

    def _body(self, nodes: dict[str, str], edges: dict[str, str], depth: int) -> dict[str, None]:
        """Read ``{...}`` with defaults of vertices and edges; return its vertices."""
        begin, nodes, edges, names = self._next("{"), dict(nodes), dict(edges), dict[str, None]()
        if depth > MOST_DEPTH:
            raise self._refusal(f"subgraphs are nested more than {MOST_DEPTH} deep", begin.line)
        while self._peek().text != "}":
            if self._peek().kind == "end":
                raise self._refusal("the graph that begins here has no end: } is missing", begin.line)
            self._statement(nodes, edges, names, depth)
            while self._peek().text in (";", ","):
                self.at += 1
        self.at += 1
        return names

    def _statement(self, nodes: dict[str, str], edges: dict[str, str], names: dict[str, None], depth: int) -> None:
        token = self._peek()
        word = token.text.lower()
        if word in ("graph", "node", "edge"):
            self.at += 1
            {"graph": {}, "node": nodes, "edge": edges}[word].update(self._attributes())
            return
        if token.kind == "id" and self.tokens[self.at + 1:self.at + 2] and self.tokens[self.at + 1].text == "=":
            self._id()
            self._next("=")
            self._id()
            return
        ends, lines = [self._end(nodes, edges, depth)], [token.line]
        while self._peek().kind == "edge":
            arrow = self._next()
            if (arrow.text == "->") != self.directed:
                raise self._refusal(f"{arrow.text} in {'a digraph' if self.directed else 'an undirected graph'}", arrow.line)
            ends.append(self._end(nodes, edges, depth))
            lines.append(arrow.line)
        own = self._attributes() if self._peek().text == "[" else {}
        for end in ends:
            names.update(end)
        if len(ends) == 1:
            for vertex in ends[0]:
                self.network.nodes[vertex].update({key: value for key, value in own.items() if key in VERTEX})
            return
        data = self._checked({**edges, **own}, token.line)
        for left, right, line in zip(ends, ends[1:], lines[1:]):
            self.pairs += len(left) * len(right)
            if self.pairs > MOST_PAIRS:
                raise self._refusal(f"more than {MOST_PAIRS} edges", line)
            self.network.add_edges_from((a, b, dict(data)) for a in left for b in right)

    def _end(self, nodes: dict[str, str], edges: dict[str, str], depth: int) -> dict[str, None]:
        """Return the vertices at an end of an edge: one, or those of a subgraph."""
        if self._peek().text.lower() == "subgraph":
            self.at += 1
            if self._peek().text != "{":
                self._id()
        if self._peek().text == "{":
            return self._body(nodes, edges, depth + 1)
        name = self._id()
        while self._peek().text == ":":
            self.at += 1
            self._id()
        if name not in self.network:
            self.network.add_node(name, **{key: value for key, value in nodes.items() if key in VERTEX})
        return {name: None}

    def _attributes(self) -> dict[str, str]:
        attributes = {}
        while self._peek().text == "[":
            self.at += 1
            while self._peek().text != "]":
                key = self._id()
                attributes[key] = "true"
                if self._peek().text == "=":
                    self.at += 1
                    attributes[key] = self._id()
                while self._peek().text in (",", ";"):
                    self.at += 1
            self.at += 1
        return attributes

    def _checked(self, data: dict[str, str], line: int) -> dict[str, str]:
        where = f"{self.document.label} line {line}: the edge"
        plain = {key: value if key in EDGE or not re.fullmatch(r"-?[0-9.]+", value) else float(value.strip(".") or 0)
                 for key, value in data.items() if not _DRAWN.fullmatch(key)}
        refuse_other_numbers(where, plain)
        if re.fullmatch(r"-?[0-9.]+", data.get("bandwidth", "")):
            refuse_bare_number(where, {"bandwidth": float(data["bandwidth"].strip(".") or 0)})
        return {key: value for key, value in data.items() if key in ("bandwidth", "cables")}
