"""Inputs of the corpus, grown towards a megabyte, under limits of seconds and memory."""

import os
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from pencilmap.model.base.errors import PencilmapError
from tests.fuzz.readers import TARGETS

MOST_S, MOST_BYTES = 5.0, 1 << 30  # of computing, and of address space beyond that of this process
VALUES = b"1000000000", b"16777215", b"65535"


def grown(content: bytes, random: Random, size: int) -> Iterator[bytes]:
    """Yield forms of a file of about `size` bytes: repeated parts, also with other numbers, nested brackets, long words."""
    lines = content.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    before, line, after = b"".join(lines[:at]), lines[at].rstrip(b"\n") + b"\n", b"".join(lines[at + 1:])
    yield content * (size // max(len(content), 1))
    yield before + line * (size // len(line)) + after
    yield before + b"".join(_numbered(line, size)) + after
    for pattern, between in ((rb"\S+", b" "), (rb"[^,\s\[\](){}]+(?=,)", b",")):
        if found := _any(pattern, content, random):
            yield content[:found.start()] + between.join(_numbered(found[0], size)) + content[found.end():]
    for pattern in (rb"\S", rb"[(\[{<]", rb"\d"):
        if found := _any(pattern, content, random):
            yield content[:found.start()] + found[0] * size + content[found.start():]
    if found := _any(rb"\d+", content, random):
        yield content[:found.start()] + random.choice(VALUES) + content[found.end():]


def _any(pattern, content, random):
    found = list(re.finditer(pattern, content))
    return random.choice(found) if found else None


def _numbered(part, size):
    """Yield copies of a part, each with its numbers one larger than those of the copy before."""
    for k in range(size // (len(part) + 1)):
        yield re.sub(rb"\d{1,9}", lambda digits, k=k: b"%0*d" % (len(digits[0]), int(digits[0]) + k), part)


def problem(name: str, content: bytes) -> str:
    """Run a target in another process with limits; return what is wrong, "" if nothing is."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "no end"
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES,) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + 2 * MOST_S),) * 2)
            began = time.process_time()
            said = _said(name, content)
            took = time.process_time() - began
            said = said or (f"takes {took:.1f} s" if took > MOST_S else "")
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or (f"ends with {status}" if status else "")


def _said(name, content):
    try:
        TARGETS[name](content)
    except PencilmapError as error:
        return str(error) if "\n" in str(error) or "MemoryError" in str(error) else ""
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""
