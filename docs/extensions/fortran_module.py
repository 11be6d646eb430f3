"""Fortran for sphinx-fortran-domain: join continued lines, which its lexer does not see, and keep only public names."""

from __future__ import annotations

from sphinx_fortran_domain.lexers import register_lexer
from sphinx_fortran_domain.lexers.lexer_regex import RegexFortranLexer


def joined(lines: list[str]) -> list[str]:
    """Join each line of a source with its continuation lines.

    >>> joined(["integer :: a, & ! one", "  & b", "! c &", "end"])
    ['integer :: a, b', '! c &', 'end']
    """
    out: list[str] = []
    going_on = False
    for line in lines:
        code = line.split("!")[0].rstrip()
        going, text = code.endswith("&"), code.removesuffix("&").rstrip() if code.endswith("&") else line.rstrip()
        if going_on:
            out[-1] += " " + text.strip().removeprefix("&").strip()
        else:
            out.append(text)
        going_on = going
    return out


class JoinedLines(RegexFortranLexer):
    """The lexer of the extension, on joined lines."""

    name = "joined"

    def _parse_file(self, path, lines, **found):
        super()._parse_file(path, joined(lines), **found)


def setup(app):
    register_lexer("joined", JoinedLines)
    return {"parallel_read_safe": True}
