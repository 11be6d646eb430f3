"""The house rules that a program can check: one-way imports, and no reference to what is not in the project."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = {"model": ("pencilmap.mapper", "pencilmap.scripts"), "mapper": ("pencilmap.scripts",)}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_imports_go_one_way(layer):
    found = [(path.name, name) for path in (ROOT / layer).rglob("*.py") for name in imports(path)
             if name.startswith(FORBIDDEN[layer])]
    assert found == []


@pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(), reason="no git checkout: what is tracked is unknown")
def test_nothing_refers_to_the_folder_beside_the_project():
    word = "../" + "shared"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    guilty = [name for name in tracked.split("\0") if name and (ROOT / name).is_file()
              and word in (ROOT / name).read_text("utf-8", errors="ignore")]
    assert guilty == []


def test_every_module_says_what_it_is_for():
    bare = [str(path.relative_to(ROOT)) for layer in ("model", "mapper", "scripts") for path in (ROOT / layer).rglob("*.py")
            if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert bare == []
