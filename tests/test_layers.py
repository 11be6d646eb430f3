"""The house rules that a program can check: one-way imports, and no references outside the project."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from tests.patience import patience

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "pencilmap.scripts"
FORBIDDEN = {"model": ("pencilmap.mapper", SCRIPTS), "mapper": (SCRIPTS,), "packaging/pencilmap/__init__.py": (SCRIPTS,),
             "scripts/networks": (f"{SCRIPTS}.command_line", f"{SCRIPTS}.maintenance"),
             "scripts/pictures": (f"{SCRIPTS}.command_line", f"{SCRIPTS}.maintenance"),
             "scripts/reproduce": (f"{SCRIPTS}.command_line", f"{SCRIPTS}.maintenance"),
             "scripts/command_line": (f"{SCRIPTS}.maintenance",)}


def modules():
    """Return {name: path} of all modules of the package; links in `packaging` are the layers themselves."""
    own = {("pencilmap", *path.relative_to(ROOT / "packaging" / "pencilmap").with_suffix("").parts): path
           for path in (ROOT / "packaging" / "pencilmap").glob("*.py")}
    layers = {("pencilmap", *path.relative_to(ROOT).with_suffix("").parts): path
              for layer in ("model", "mapper", "scripts") for path in (ROOT / layer).rglob("*.py")}
    return {".".join(name).removesuffix(".__init__"): path for name, path in (own | layers).items()}


def imports(path):
    """Return the full names that a module imports at any place: modules, and names from modules."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_imports_go_one_way(layer):
    place = ROOT / layer
    found = [(path.name, name) for path in (place.rglob("*.py") if place.is_dir() else [place]) for name in imports(path)
             if name.startswith(FORBIDDEN[layer])]
    assert found == []


OWN_FILES = {  # modules that read files of the package, of the system, or of programs that they have started
    "model/bounds/known_optima.py", "model/bounds/computed_floors.py", "model/times/published.py", "model/machines/files.py",
    "mapper/searches/stored_ring_maps.py", "mapper/searches/scotch_map.py", "scripts/command_line/cli.py",
    "scripts/command_line/memory.py", "scripts/pictures/report/page.py",
    "scripts/networks/build.py", "scripts/networks/simulated.py", "scripts/networks/probed.py",
    "scripts/networks/namespaces/box.py",
    "scripts/networks/namespaces/counters.py", "scripts/networks/namespaces/inside.py",
    "scripts/networks/namespaces/kernel.py"}
OWN_CALLS = {("model/machines/machine.py", "read_text"), ("model/machines/machine.py", "loads"),  # schemas
             ("mapper/runs/records.py", "read_text"), ("mapper/runs/probes.py", "read_text"),
             ("mapper/runs/records.py", "json.loads")}
PARSERS = {"json.load", "json.loads", "loads", "tomllib.load", "tomllib.loads", "literal_eval", "ast.literal_eval",
           "yaml.load", "yaml.safe_load", "ElementTree.parse", "ElementTree.fromstring", "ElementTree.iterparse", "eval",
           "open", "np.load", "np.genfromtxt", "np.fromfile"}


def test_whatever_is_read_from_elsewhere_has_a_budget():
    """Only `pencilmap.model.base.reading` reads files and calls parsers."""
    found = set()
    for layer in ("model", "mapper", "scripts/command_line", "scripts/pictures", "scripts/networks"):
        for path in (ROOT / layer).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                called = next((m for m in ("read_text", "read_bytes") if called.endswith(f".{m}")), called)
                if called in (*PARSERS, "read_text", "read_bytes") and (name, called) not in OWN_CALLS:
                    found.add(name)
    assert found - OWN_FILES == {"model/base/reading.py"} and found > OWN_FILES


def circles(links):
    """Return groups of names that reach each other, each sorted; a link of a name to itself does not count."""
    graph = nx.DiGraph((a, b) for a, b in links if a != b)
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def with_packages(name):
    """Return a module and its packages, which Python loads before it: a.b.c, a.b, a."""
    return [name.rsplit(".", n)[0] for n in range(name.count(".") + 1)]


def test_no_imports_form_a_circle():
    """Any module may be the first to load; its own packages load before it and import nothing else."""
    known = modules()
    links = [(name, loaded) for name, path in known.items() for target in imports(path)
             for loaded in with_packages(target if target in known else target.rpartition(".")[0])
             if loaded not in with_packages(name)]
    assert circles((name, target) for name, target in links if target in known) == []


@pytest.mark.parametrize("package", ["mapper.formats", "mapper.placements", "model.algorithms",
                                     "model.decompositions", "model.routing"])
def test_no_file_is_forgotten_in_the_table_of_its_folder(package):
    """A folder with a table loads all its files."""
    here = f"pencilmap.{package}"
    done = subprocess.run([sys.executable, "-c", f"import sys, {here}; print(*sys.modules)"], capture_output=True, text=True,
                          timeout=patience(60), check=True, cwd=ROOT / "packaging")
    assert {name for name in modules() if name.startswith(here)} - set(done.stdout.split()) == set()


def included():
    """Return (unit, included unit) of the C and C++ sources: paths from fft_runner without suffix, so .c and .h are one."""
    top = ROOT / "fft_runner"
    for path in (p for p in top.rglob("*") if p.suffix in (".c", ".h", ".cpp", ".hpp")):
        for name in re.findall(r'^#include "(.*)"', path.read_text("utf-8"), re.MULTILINE):
            places = (path.parent, *(top / room for room in ("", "include", "src", "runner", "reorder")))
            found = next((place / name for place in places if (place / name).exists()), None)
            assert found, f"{path.relative_to(ROOT)} includes {name}, which is nowhere"
            yield tuple(file.resolve().relative_to(top).with_suffix("") for file in (path, found))


def test_no_includes_form_a_circle():
    links = list(included())
    assert len(links) > 100 and circles((str(a), str(b)) for a, b in links) == []
    assert circles((str(a.parent), str(b.parent)) for a, b in links) == []


def test_a_circle_is_named():
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "e")]) == [["a", "b", "c"]]


def errors(path):
    """Return the texts of the errors that a module raises, without the inserted values."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise):
            yield "".join(c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str))


def test_errors_of_the_library_name_arguments_and_each_is_an_option():
    """Otherwise the command line would name a missing option, or a library error would name an option."""
    from pencilmap.scripts.command_line.cli import pencilmap

    options = {o for name in pencilmap.list_commands(None) for option in pencilmap.get_command(None, name).params
               for o in option.opts}
    found = {(path.name, text) for layer in ("model", "mapper", "scripts/networks", "scripts/pictures")
             for path in (ROOT / layer).rglob("*.py") for text in errors(path)}
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


def public_functions(body):
    """Return the functions and methods that a user may call; members of private classes are private."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name.startswith("__")):
            yield node


def test_every_public_function_is_annotated():
    bare = [f"{name}: {function.name}" for name, path in modules().items()
            for function in public_functions(ast.parse(path.read_text("utf-8")).body)
            if function.returns is None or any(argument.annotation is None and argument.arg not in ("self", "cls")
                                               for argument in ast.walk(function.args) if isinstance(argument, ast.arg))]
    assert bare == []


def test_every_module_says_what_it_is_for():
    bare = [str(path.relative_to(ROOT)) for layer in ("model", "mapper", "scripts") for path in (ROOT / layer).rglob("*.py")
            if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert bare == []
