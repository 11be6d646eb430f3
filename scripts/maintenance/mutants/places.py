"""Where a source of Python or C can be made wrong, and how: one small change each, as a slip of the hand would make it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import tree_sitter
import tree_sitter_c
import tree_sitter_python

LANGUAGES = {".py": tree_sitter_python, ".c": tree_sitter_c}

OTHERS = {  # what may stand instead of an operator or a name
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "is": ("is not",), "is not": ("is",), "in": ("not in",), "not in": ("in",),
    "+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "//": ("*",), "%": ("+",), "**": ("*",),
    "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "|=": ("&=",), "&=": ("|=",),
    "and": ("or",), "or": ("and",), "&&": ("||",), "||": ("&&",), "++": ("--",), "--": ("++",),
    "min": ("max",), "max": ("min",), "minimum": ("maximum",), "maximum": ("minimum",), "all": ("any",), "any": ("all",),
    "floor": ("ceil",), "ceil": ("floor",), "zeros": ("ones",), "True": ("False",), "False": ("True",),
    "true": ("false",), "false": ("true",), "break": ("continue",), "continue": ("break",),
}
LEFT_ALONE = {  # with all that is in them: nothing that runs, or nothing but a message
    "type", "decorator", "import_statement", "import_from_statement", "comment", "assert_statement", "preproc_include",
    "preproc_def", "preproc_if", "preproc_function_def", "preproc_call", "parameter_declaration", "type_descriptor",
    "string_literal", "sizeof_expression", "enumerator", "array_declarator", "linkage_specification",
}
NUMBERS, NAMES = {"integer", "float", "number_literal"}, {"identifier", "field_identifier", "true", "false"}
WITH_OPERANDS = {"binary_operator", "binary_expression", "boolean_operator"}  #: `a + b`: also `a` alone and `b` alone
STATEMENTS = {"expression_statement", "raise_statement"}


@dataclass(frozen=True)
class Mutant:
    """One change: what stands at a byte of a file, and what stands there instead."""

    path: str  #: from the root of the checkout
    line: int  #: from 1
    column: int  #: in bytes, from 0
    old: str
    new: str
    around: str = field(default="", compare=False)  #: the line, by which it is found again when lines above it have changed

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.path}:{self.line}:{self.column} `{old}` -> `{new or 'nothing'}`"

    def applied(self, source: bytes) -> bytes:
        """The source with this change. Raises ValueError when the line is no longer there."""
        lines, old = source.splitlines(keepends=True), self.old.encode()
        starts = list(accumulate(map(len, lines), initial=0))
        for n in sorted(range(len(lines)), key=lambda n: abs(n + 1 - self.line)):
            at = starts[n] + self.column
            if lines[n].decode().strip() == self.around and source[at:at + len(old)] == old:
                return source[:at] + self.new.encode() + source[at + len(old):]
        raise ValueError(f"{self.path}:{self.line} has changed")


def mutants(path: Path, root: Path) -> list[list[Mutant]]:
    """The places of a file, each with the changes that are possible there."""
    source = path.read_bytes()
    lines = source.decode().splitlines()
    parser = tree_sitter.Parser(tree_sitter.Language(LANGUAGES[path.suffix].language()))

    def mutant(node: tree_sitter.Node, new: str) -> Mutant:
        row, column = node.start_point
        return Mutant(path.relative_to(root).as_posix(), row + 1, column, text(node), new, lines[row].strip())

    found = []
    for node in _nodes(parser.parse(source).root_node):
        python = path.suffix == ".py"
        news = _changes(node, python) + _turned(node, python)
        if news:
            found.append([mutant(node, new) for new in news])
    return found


def text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode()


def _nodes(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type in LEFT_ALONE:
        return
    yield node
    for child in node.children:
        yield from _nodes(child)


def _changes(node: tree_sitter.Node, python: bool) -> list[str]:
    """What may stand instead of a node; nothing for most."""
    kind, parent = node.type, node.parent
    if kind in NUMBERS:
        return _numbers(text(node))
    if kind in NAMES or (not node.is_named and parent is not None and _is_operator(node, parent)):
        return list(OTHERS.get(text(node), ()))
    if kind in ("true", "false", "break_statement", "continue_statement"):
        return [OTHERS[word][0] + text(node)[len(word):] for word in OTHERS if text(node).rstrip(";") == word]
    if kind in WITH_OPERANDS:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        return [text(side) for side in sides if side is not None]
    if kind in ("not_operator", "unary_expression", "unary_operator"):
        return [text(node)[len(word):].lstrip() for word in ("not ", "!", "-") if text(node).startswith(word)]
    if kind in STATEMENTS:
        return _without(node, python)
    return []


def _turned(node: tree_sitter.Node, python: bool) -> list[str]:
    """A condition turned around."""
    if node.parent is None or node != node.parent.child_by_field_name("condition"):
        return []
    return [f"not ({text(node)})" if python else f"(!{text(node)})"]


def _is_operator(node: tree_sitter.Node, parent: tree_sitter.Node) -> bool:
    """Whether a word is an operator in an expression: not the `*` of a pointer, nor the `|` of a type."""
    at = parent.children.index(node)
    return parent.field_name_for_child(at) in ("operator", "operators") and parent.type != "pointer_expression"


def _numbers(old: str) -> list[str]:
    try:
        value = int(old, 0)
    except ValueError:
        return ["2 * " + old] if float(old.rstrip("fFlLuU") or 1) else [old.replace("0", "1", 1)]
    return [str(value + 1), *([str(value - 1)] if value > 0 else [])]


def _without(node: tree_sitter.Node, python: bool) -> list[str]:
    """A statement left out, where that is no error in itself: a call, a write into something, a refusal."""
    first = node.children[0]
    if not python:
        return [";"] if first.type in ("call_expression", "assignment_expression", "update_expression") else []
    writes = first.type == "augmented_assignment" or (
        first.type == "assignment" and getattr(first.child_by_field_name("left"), "type", "") in ("subscript", "attribute"))
    return ["pass"] if node.type == "raise_statement" or first.type == "call" or writes else []


def sample(files: list[Path], root: Path, number: int, draw: Callable[[int], int]) -> list[Mutant]:
    """As many places of these files as asked for, drawn without a preference, with one change each.

    ``draw(n)`` gives a number below `n`.
    """
    places = [place for path in files for place in mutants(path, root)]
    chosen: list[Mutant] = []
    while places and len(chosen) < number:
        place = places.pop(draw(len(places)))
        chosen.append(place[draw(len(place))])
    return chosen
