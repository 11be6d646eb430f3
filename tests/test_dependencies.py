"""Installed packages: the locked versions satisfy `pyproject.toml`, and all licences are listed."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OWN = PROJECT["name"]


def asked(extras=()):
    """Return the requirements of the package with some extras, and of extras that name the package itself."""
    texts = [*PROJECT["dependencies"], *(text for e in extras for text in PROJECT["optional-dependencies"][e])]
    found = {str(r): r for r in map(Requirement, texts)}
    inner = {e for r in found.values() if r.name == OWN for e in r.extras}
    return [r for r in (*found.values(), *(asked(inner) if inner else ())) if r.name != OWN]


def locked(*names):
    """Return {package: version} of files in packaging/locked, each entry with a hash or more."""
    text = "".join((ROOT / "packaging" / "locked" / f"{name}.txt").read_text("utf-8") for name in names)
    entries = re.findall(r"^([\w.-]+)==([^\s;]+)(?: ;.*?)?((?: --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE)), "an entry without a hash"
    return {canonicalize_name(name): version for name, version, _ in entries}


@pytest.mark.parametrize("extras", [("test",), ("test", "peers"), ("test", "peers", "nightly")], ids=str)
def test_what_is_locked_is_what_is_asked_for(extras):
    """After a change of the requirements, run packaging/locked/lock."""
    versions = locked(*extras)
    for requirement in asked(extras):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_every_dependency_has_a_lower_bound_or_is_pinned():
    everything = asked(tuple(PROJECT["optional-dependencies"]))
    assert everything and [str(r) for r in everything if not re.match(r"(>=|==)", str(r.specifier))] == []


def test_the_licence_of_every_dependency_is_told():
    text = (ROOT / "docs" / "third-party.md").read_text("utf-8")
    table = [re.split(r"[ ,;:|]+", line) for line in text.splitlines() if line.startswith("| ")]
    told = {word for line in table for word in line}
    assert {r.name for r in asked(tuple(PROJECT["optional-dependencies"]))} - told == set()
