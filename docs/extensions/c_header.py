"""The directive ``c-header``: every declaration of a C header with the comment before it, in Sphinx's C domain.

A comment belongs to the declarations that follow without a blank line. A comment behind a declaration, on its line, belongs
to that declaration alone. Indented lines of a comment are shown as they stand. The first comment of the file is the
introduction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
BEHIND = re.compile(r"[ \t]*/\*(.*?)\*/", re.DOTALL)
CONSTANT = re.compile(r"(\w+)\s*(?:=\s*([^,/]+?)\s*)?(?:,|(?=/\*)|\Z)\s*(?:/\*(.*?)\*/)?", re.DOTALL)
NAMES = re.compile(r"(.*?)((?:\*?\w+(?:\[\w+\])?)(?:\s*,\s*\*?\w+(?:\[\w+\])?)*)\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Declaration:
    """A declaration, without its semicolon."""

    code: str     #: in one line
    comment: str  #: the comment before the declaration, or before the first of its group
    behind: str   #: the comment behind the declaration
    body: str     #: the text between the braces of a struct or enum, with comments


def declarations(text: str) -> tuple[str, list[list[Declaration]]]:
    """Split a header into its introduction and its declarations, in groups that share a comment.

    >>> declarations("/* One. */\\nint f(int a,\\n      int b);\\nint g(void); /* other */\\n\\nint h(void);")[1]
    ... # doctest: +NORMALIZE_WHITESPACE
    [[Declaration(code='int f(int a, int b)', comment='One.', behind='', body=''),
      Declaration(code='int g(void)', comment='One.', behind='other', body='')],
     [Declaration(code='int h(void)', comment='', behind='', body='')]]
    """
    first = COMMENT.match(text)
    introduction, at = "", 0
    if first and text[first.end():].lstrip().startswith("#ifndef"):
        introduction, at = words(first[1]), first.end()
    groups: list[list[Declaration]] = []
    comment, joined = "", False
    while at < len(text):
        if blank := re.compile(r"\s+").match(text, at):
            at = blank.end()
            if blank[0].count("\n") > 1:
                comment, joined = "", False
        elif found := COMMENT.match(text, at):
            at, comment, joined = found.end(), words(found[1]), False
        elif found := re.compile(r"#(?:.*\\\n)*.*|extern \"C\" \{|\}").match(text, at):
            at = found.end()
            if value := re.match(r'#define\s+(\w+)\s+\S', found[0]):
                groups.append([Declaration(f"#define {value[1]}", comment, "", "")])
        else:
            end = _end(text, at)
            behind = BEHIND.match(text, end + 1)
            code, body = _without_body(text[at:end])
            if not joined:
                groups.append([])
            groups[-1].append(Declaration(" ".join(COMMENT.sub("", code).split()), comment,
                                          words(behind[1]) if behind else "", body))
            at, joined = behind.end() if behind else end + 1, True
    return introduction, groups


def _end(text, at):
    """Return the offset of the semicolon that ends the declaration: outside braces and comments."""
    depth = 0
    for found in re.compile(r"/\*.*?\*/|[{};]", re.DOTALL).finditer(text, at):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if found[0] == ";" and depth == 0:
            return found.start()
    raise ValueError(f"no semicolon after {text[at:at + 60]!r}")


def _without_body(code):
    head, brace, rest = code.partition("{")
    body, _, tail = rest.rpartition("}")
    return (f"{head}{{}}{tail}", body) if brace else (code, "")


def words(comment: str) -> str:
    """Return a comment without the stars and indentation of its lines."""
    return dedent("\n".join(re.sub(r"^\s*\* ?", "", line) if number else f"{line.strip()}"
                            for number, line in enumerate(comment.rstrip().split("\n")))).strip()


def restructured(comment: str) -> str:
    """Return a comment as reStructuredText: paragraphs, with indented lines and columns as literal blocks."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", comment):
        lines = block.split("\n")
        if len(lines) > 1 and re.fullmatch(r"-{3,}", lines[1]):
            out += [f".. rubric:: {_escaped(lines[0])}", ""]
            lines = lines[2:]
        while lines:
            kept = lines[0].startswith("  ") or "   " in lines[0].strip()
            many = len(lines) if kept and not lines[0].startswith("  ") else next(
                (i for i, line in enumerate(lines) if line.startswith("  ") != kept), len(lines))
            part, lines = lines[:many], lines[many:]
            out += [".. code-block:: text", "", indent(dedent("\n".join(part)), "   "), ""] if kept else [_prose(part), ""]
    return "\n".join(out)


def _prose(lines):
    text = _escaped("\n".join(lines))
    return re.sub(r"\b((?:pencilfft|pm)(?:\\_\w+?)+)\(\)", lambda name: ":c:func:`" + name[1].replace("\\", "") + "`", text)


def _escaped(text):
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def directives(group: list[Declaration]) -> str:
    """Return a group as directives of the C domain."""
    out: list[str] = []
    alike: list[Declaration] = []
    for declaration in group:
        if declaration.behind or not _is_function(declaration):
            out += _functions(alike)
            alike = []
            out += _functions([declaration]) if _is_function(declaration) else _type(declaration)
        else:
            alike.append(declaration)
    return "\n".join(out + _functions(alike))


def _is_function(declaration):
    return declaration.code.endswith(")")


def _functions(alike):
    texts = [restructured(alike[0].comment), restructured(alike[0].behind)] if alike else []
    return _entry("function", [declaration.code for declaration in alike], *texts) if alike else []


def _type(declaration):
    code, text = declaration.code, restructured(declaration.comment)
    if code.startswith("#define "):
        return _entry("macro", [code.split()[1]], text)
    name = (re.search(r"\}\s*(\w+)$", code) or re.search(r"enum\s+(\w+)\s*\{", code) or [None, ""])[1]
    if "enum" in code and "{" in code:
        members = [([f"{found[1]} = {found[2]}" if found[2] else found[1]], found[3])
                   for found in CONSTANT.finditer(declaration.body.strip())]
        if name:
            return _entry("enum", [name], text, _members("enumerator", members))
        return _entry("enumerator", [constant for names, _ in members for constant in names], text)
    if "struct" in code and "{" in code:
        return _entry("struct", [name], text, _members("member", _fields(declaration.body)))
    return _entry("type", [code.removeprefix("typedef ")], text)


def _fields(body):
    """Yield the members of a struct that share a comment, and the comment."""
    for found in re.finditer(r"([^;]+);[ \t]*(?:/\*(.*?)\*/)?", body, re.DOTALL):
        kind, names = NAMES.match(" ".join(COMMENT.sub("", found[1]).split())).groups()
        yield [f"{kind.strip()} {name.strip()}" for name in names.split(",")], found[2]


def _members(kind, members):
    return [line for names, comment in members for line in _entry(kind, names, _prose([" ".join((comment or "").split())]))]


def _entry(kind, names, *texts):
    """Return the lines of a directive."""
    head = f".. c:{kind}:: "
    lines = [head + names[0], *(" " * len(head) + name for name in names[1:]), ""]
    for text in texts:
        lines += [*indent("\n".join([text] if isinstance(text, str) else text), "   ").split("\n"), ""]
    return lines


class CHeader(SphinxDirective):
    """``.. c-header:: PATH``, from the folder of the page."""

    required_arguments = 1

    def run(self):
        path = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        self.env.note_dependency(str(path.resolve()))
        introduction, groups = declarations(path.read_text("utf-8"))
        text = "\n".join([restructured(introduction), *map(directives, groups)])
        return self.parse_text_to_nodes(StringList(text.splitlines(), str(path)))


def setup(app):
    app.add_directive("c-header", CHeader)
    return {"parallel_read_safe": True}
