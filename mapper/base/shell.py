"""Lines to type: words that come from elsewhere are quoted, and lines are folded between words."""

import shlex
from collections.abc import Iterable, Iterator
from os import PathLike, fspath


def word(text: str) -> str:
    r"""Quote a text as one word of a shell; control characters as ``$'...'`` of bash, zsh and ksh.

    >>> print(word("site;rm.conf"), word("8x8"), word("it's"), word("a\nb"))
    'site;rm.conf' 8x8 'it'"'"'s' $'a\012b'
    """
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(c if c.isprintable() and c not in "'\\" else
                          "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogateescape")) for c in text) + "'"


def path(name: str | PathLike[str]) -> str:
    """Quote a path, which no command takes for an option.

    >>> print(path("my map"), path("-x.map"))
    'my map' ./-x.map
    """
    text = fspath(name)
    return word(f"./{text}" if text.startswith("-") else text)


def command(words: Iterable[str]) -> str:
    """Return words as a line to type.

    >>> command(["cat", "my map"])
    "cat 'my map'"
    """
    return " ".join(map(word, words))


def split(line: str) -> Iterator[str]:
    """Yield the words of a line to type as they are written, with their quotes.

    >>> list(split("cp 'my map' $(cat 'a b')"))
    ['cp', "'my map'", "$(cat 'a b')"]
    """
    inside, begin, escaped = list[str](), 0, False
    for at, c in enumerate(line):
        top, before = inside[-1] if inside else "", line[at - 1:at]
        if escaped:
            escaped = False
        elif c == "\\" and top != "'":
            escaped = True
        elif (c == "'" and top != '"') or top in ("'", "$'"):
            if c == "'":
                inside = inside[:-1] if top in ("'", "$'") else [*inside, "$'" if before == "$" else "'"]
        elif c == '"':
            inside = inside[:-1] if top == '"' else [*inside, '"']
        elif c == "(" and before == "$":
            inside = [*inside, ")"]
        elif c == ")" == top:
            inside = inside[:-1]
        elif c.isspace() and not inside:
            if begin < at:
                yield line[begin:at]
            begin = at + 1
    if begin < len(line):
        yield line[begin:]


def folded(line: str, width: int) -> list[str]:
    """Return a line to type as lines of at most `width` characters, if its words are not longer.

    >>> folded("cat 'my map' other", 12)
    ["cat 'my map'", 'other']
    """
    lines = [""]
    for part in split(line):
        if lines[-1] and len(lines[-1]) + 1 + len(part) > width:
            lines.append("")
        lines[-1] += f" {part}" if lines[-1] else part
    return lines
