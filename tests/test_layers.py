"""The house rules that a program can check: one-way imports, and no reference to what is not in the project."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = {"model": ("pencilmap.mapper", "pencilmap.scripts"), "mapper": ("pencilmap.scripts",),
             "scripts/networks": ("pencilmap.scripts.command_line", "pencilmap.scripts.maintenance"),
             "scripts/pictures": ("pencilmap.scripts.command_line", "pencilmap.scripts.maintenance"),
             "scripts/command_line": ("pencilmap.scripts.maintenance",)}


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


def errors(path):
    """Texts of the errors that a module raises, what is filled in left out."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise):
            yield "".join(c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str))


def test_errors_of_the_library_name_arguments_and_each_is_an_option():
    """Else the command line would tell the user an option that is not there, or a library call of one it has not."""
    from pencilmap.scripts.command_line.cli import pencilmap

    options = {o for command in pencilmap.commands.values() for option in command.params for o in option.opts}
    found = {(path.name, text) for layer in ("model", "mapper") for path in (ROOT / layer).rglob("*.py")
             for text in errors(path)}
    named = {(file, argument) for file, text in found for argument in re.findall(r"`([a-z]\w*)`", text)}
    assert {argument for _, argument in named} >= {"machine", "torus", "graph", "hosts"}
    assert [(file, name) for file, name in sorted(named) if "--" + name.replace("_", "-") not in options] == []
    assert [(file, text) for file, text in found for option in options if re.search(rf"{option}(?![\w-])", text)
            and option.startswith("--") and "fft_runner" not in text] == []


@pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(),
                    reason="no git checkout: what is tracked is unknown")
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
