"""Every link of a Markdown file to another file or to a heading has a target, and the sources that it names exist.

Sphinx only checks the links of the docs.
"""

import re

import pytest

from tests.documents import ROOT

PAGES = sorted(path for folder in ("", "docs/", "fft_runner/", "mapfiles/", "model/", "mapper/")
               for path in ROOT.glob(f"{folder}{'**/' if folder else ''}*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
SCHEME = re.compile(r"[a-z]+:")
ROOMS = "docs", "fft_runner", "mapfiles", "mapper", "model", "packaging", "scripts", "tests"
SOURCE = re.compile(rf"`((?:{'|'.join(ROOMS)})/[\w./-]+|[\w-]+\.(?:c|cpp|hpp|py))`")


def headings(text):
    """Return the anchors that GitHub makes from the headings of ``text``."""
    lines = re.findall(r"^#+ +(.*?) *#*$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines} | set(
        re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def broken(page):
    """Return the links of ``page``, a path, without a target."""
    wrong, text = [], page.read_text("utf-8")
    for link in LINK.findall(FENCE.sub("", text)):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if SCHEME.match(link):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in headings(target.read_text("utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    assert broken(page) == []


def unknown(text):
    """Return the paths and file names of sources in ``text`` that do not exist. NAME stands for any name."""
    def exists(name):
        pattern = name.rstrip("/").replace("NAME", "*")
        return any(ROOT.glob(pattern)) if "/" in name else any(next((ROOT / room).rglob(pattern), None) for room in ROOMS)
    return [name for name in SOURCE.findall(FENCE.sub("", text)) if not exists(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_source_that_a_page_names_exists(page):
    assert unknown(page.read_text("utf-8")) == []
