"""The house rules that a program can check: one-way imports, and no references outside the project."""

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from click.testing import CliRunner

from pencilmap.model.kinds import KINDS
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


@cache
def tree(path):
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path):
    return list(ast.walk(tree(path)))


@pytest.fixture(scope="module", autouse=True)
def trees_are_forgotten():
    """They take as much memory as a worker."""
    yield
    tree.cache_clear()
    nodes.cache_clear()


def imports(path):
    """Return the full names that a module imports at any place: modules, and names from modules."""
    for node in nodes(path):
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


OWN_KINDS = ("model/kinds/", "model/network/", "mapper/seeds/")
CLASSES = {"CoordinateNetwork", "SwitchedNetwork", *(kind.type.__name__ for kind in KINDS.values())} - {"Torus"}


def asks_for_a_class(path):
    """Return whether a module asks for the class of a network, or names a class other than that of tori without twists.

    Many modules are about tori alone: products and their searches, shapes, partitions. They may name `Torus`.
    """
    asked = {getattr(part, "id", None) for node in nodes(path) if isinstance(node, ast.Call)
             and ast.unparse(node.func) in ("isinstance", "issubclass") for part in ast.walk(node.args[1])}
    named = {alias.name for node in nodes(path) if isinstance(node, ast.ImportFrom) for alias in node.names}
    return bool(asked & {*CLASSES, "Torus"} or named & {*CLASSES, "singledispatch"})


def test_only_kinds_and_seeds_know_the_kind_of_a_network():
    found = {name for layer in ("model", "mapper") for path in (ROOT / layer).rglob("*.py")
             if not (name := str(path.relative_to(ROOT))).startswith(OWN_KINDS)
             and asks_for_a_class(path)}
    assert found == set()


OWN_FILES = {  # modules that read files of the package, of the system, or of programs that they have started
    "model/machines/__init__.py",
    "mapper/seeds/products.py", "mapper/seeds/graph.py",
    "scripts/command_line/commands/simulate.py", "scripts/command_line/pages.py", "scripts/pictures/report/page.py",
    "scripts/networks/build.py", "scripts/networks/simulated.py",
    "scripts/networks/namespaces/experiment.py", "scripts/networks/namespaces/inside.py"}
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
            for node in nodes(path):
                called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                called = next((m for m in ("read_text", "read_bytes") if called.endswith(f".{m}")), called)
                if called in (*PARSERS, "read_text", "read_bytes") and (name, called) not in OWN_CALLS:
                    found.add(name)
    assert found - OWN_FILES == {"model/base/reading.py"} and found > OWN_FILES


def circles(links):
    """Return groups of names that reach each other, each sorted; a link of a name to itself does not count."""
    graph = nx.DiGraph((a, b) for a, b in links if a != b)
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def rooms(layer):
    """Return the folders of a layer, and the modules beside the folders."""
    return {path.stem for path in (ROOT / layer).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def arrows(layer):
    """Return (room, imported room) of a layer, without rooms whose modules import each other."""
    known = rooms(layer) - {"__init__"}
    for name, path in modules().items():
        head = f"pencilmap.{layer}."
        for target in imports(path) if name.startswith(head) else ():
            room, used = (full.removeprefix(head).split(".")[0] for full in (name, target))
            if target.startswith(head) and used in known and used != room:
                yield room, used


def documented(layer):
    """Return (room, allowed room) by the table of the layer in docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for room, used in re.findall(rf"^\| `{layer}/(\w+)(?:/|\.py)` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE):
        yield from ((room, each) for each in re.findall(r"`(\w+)`", used) or [""])


@pytest.mark.parametrize("layer, levels", [("model", 7), ("mapper", 7)])
def test_rooms_form_no_circle_and_are_few_levels(layer, levels):
    graph = nx.DiGraph(arrows(layer))
    assert circles(graph.edges) == []
    assert nx.dag_longest_path_length(graph) + 1 <= levels, nx.dag_longest_path(graph)


@pytest.mark.parametrize("layer", ["model", "mapper"])
def test_the_table_of_rooms_says_what_each_uses(layer):
    """Each room has a row, whose last column lists the imported rooms."""
    told = set(documented(layer))
    assert {room for room, _ in told} == rooms(layer) - {"__init__", "data"}
    assert {(room, used) for room, used in told if used} == set(arrows(layer))


def own_room(name):
    """Return layer and room of a module; a folder of `scripts` is a room."""
    return tuple(name.split(".")[1:3])


def private_names(name, path, known):
    """Yield the private names of other rooms that a module imports or takes from an imported module."""
    taken = {}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pencilmap"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                taken |= {alias.asname or alias.name: full} if full in known else {}
                if alias.name.startswith("_") and own_room(full) != own_room(name):
                    yield full
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in taken \
                and re.match("_[^_]", node.attr) and own_room(taken[node.value.id]) != own_room(name):
            yield f"{taken[node.value.id]}.{node.attr}"


def test_no_private_name_is_used_in_another_room():
    known = modules()
    assert [(name, private) for name, path in known.items() for private in private_names(name, path, known)] == []


def test_no_result_is_known_by_the_identity_of_its_question():
    """An address may belong to another object later. A chain of errors is walked by identity within one call."""
    found = {str(path.relative_to(ROOT)) for layer in ("model", "mapper", "scripts") for path in (ROOT / layer).rglob("*.py")
             for node in nodes(path)
             if isinstance(node, ast.Call) and ast.unparse(node.func) == "id"}
    assert found == {"mapper/base/progress.py"}


MOST_PARAMETERS = 8


def parameters(function):
    """Return the number of parameters of a function that count: options of commands, and arguments that a public function
    takes by name alone, say at each call what they are.
    """
    if any("command" in ast.unparse(decorator) for decorator in function.decorator_list):
        return 0
    given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    named = function.args.kwonlyargs if function.name.startswith("_") else []
    return len(given) - (given[:1] in (["self"], ["cls"])) + len(named)


def test_no_function_has_many_parameters():
    found = [f"{name}: {node.name}" for name, path in modules().items()
             for node in nodes(path)
             if isinstance(node, ast.FunctionDef) and parameters(node) > MOST_PARAMETERS]
    assert found == []


@cache
def own_file(name):
    """Return the file of a code object below the project, None for files of others; links lead to the layers."""
    real = "" if name.startswith("<") else os.path.realpath(name)
    return real if any(real.startswith(f"{ROOT / layer}/") for layer in ("model", "mapper", "scripts")) else None


def traced(run):
    """Return the own files whose functions a call uses, and the most own functions in flight together.

    A first call imports modules and fills caches. Comprehensions are no functions, and ``looks_like`` of a format asks only
    whether a file is its own, so that another format is no further file to read.
    """
    files, deepest = set(), 0

    def enter(frame, event, argument):
        nonlocal deepest
        file = own_file(frame.f_code.co_filename) if event == "call" and frame.f_code.co_name[0] != "<" else None
        if file is None or frame.f_code.co_name.startswith("looks_like"):
            return
        files.add(file)
        depth = 0
        while frame is not None:
            depth += frame.f_code.co_name[0] != "<" and own_file(frame.f_code.co_filename) is not None
            frame = frame.f_back
        deepest = max(deepest, depth)

    run()
    sys.setprofile(enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(files), deepest


@pytest.mark.parametrize("words, most_files, most_levels", [
    ("predict -m bluegene-l -n 512 -g 8x64 -p box:2x2x2", 60, 14),
    ("map --network 4x4:mesh --bandwidth 1GB/s -n 64 -g 4x4 -f bgl -o FILE", 70, 17)])
def test_a_command_passes_few_files_and_levels(words, most_files, most_levels, tmp_path):
    """A reader follows an answer through these files. The limits are those of its design."""
    from pencilmap.scripts.command_line.cli import pencilmap

    words = words.replace("FILE", str(tmp_path / "a.map")).split()
    files, levels = traced(lambda: CliRunner().invoke(pencilmap, words, catch_exceptions=False))
    assert 20 < files <= most_files and 10 < levels <= most_levels


def with_packages(name):
    """Return a module and its packages, which Python loads before the module: a.b.c, a.b, a."""
    return [name.rsplit(".", n)[0] for n in range(name.count(".") + 1)]


def test_no_imports_form_a_circle():
    """Any module may be the first to load; its own packages load before the module and import nothing else."""
    known = modules()
    links = [(name, loaded) for name, path in known.items() for target in imports(path)
             for loaded in with_packages(target if target in known else target.rpartition(".")[0])
             if loaded not in with_packages(name)]
    assert circles((name, target) for name, target in links if target in known) == []


@pytest.mark.parametrize("package", ["mapper.formats", "mapper.placements", "model.kinds"])
def test_no_file_is_forgotten_in_the_table_of_its_folder(package):
    """A folder with a table loads all its files; at their first use, those that the table names by ``file:object`` or that
    another file imports late."""
    here, folder = f"pencilmap.{package}", ROOT / package.replace(".", "/")
    named = [name for name in re.findall(r'"(\w+):\w+"', (folder / "__init__.py").read_text("utf-8"))
             if (folder / f"{name}.py").exists()]  # others are examples of texts
    named += [name for path in folder.glob("*.py")
              for name in re.findall(rf"^ +from {here}\.(\w+) import", path.read_text("utf-8"), re.MULTILINE)]
    modules_of_table = ", ".join([here, *(f"{here}.{name}" for name in named)])
    done = subprocess.run([sys.executable, "-c", f"import sys, {modules_of_table}; print(*sys.modules)"],
                          capture_output=True, text=True, timeout=patience(60), check=True, cwd=ROOT / "packaging")
    assert {name for name in modules() if name.startswith(here)} - set(done.stdout.split()) == set()


def included():
    """Return (unit, included unit) of the sources: paths from fft_runner without a suffix, or with .cpp for C++."""
    top = ROOT / "fft_runner"
    for path in (p for p in top.rglob("*") if p.suffix in (".c", ".h", ".cpp", ".hpp")):
        for name in re.findall(r'^#include "(.*)"', path.read_text("utf-8"), re.MULTILINE):
            places = (path.parent, *(top / room for room in ("", "include", "src", "runner", "reorder")))
            found = next((place / name for place in places if (place / name).exists()), None)
            assert found, f"{path.relative_to(ROOT)} includes {name}, which is nowhere"
            yield tuple(file.resolve().relative_to(top).with_suffix(".cpp" if "pp" in file.suffix else "")
                        for file in (path, found))


def test_no_includes_form_a_circle():
    links = list(included())
    assert len(links) > 100 and circles((str(a), str(b)) for a, b in links) == []
    assert circles((str(a.parent), str(b.parent)) for a, b in links) == []


LIBRARY = ROOT / "fft_runner" / "src"
OBJECTS = ROOT / "build" / "CMakeFiles" / "pencilfft_objects.dir" / "src"
BEHIND_ONE_HEADER = {"layout", "ends", "passes", "run", "choose", "plan", "line_plans"}


def called():
    """Return (file, used file) of the library, as "room/name", by the symbols of the object files."""
    names = sorted(str(path.relative_to(LIBRARY)) for path in LIBRARY.rglob("*.c"))
    missing = [name for name in names if not (OBJECTS / f"{name}.o").exists()]
    assert missing == [], "without object file; run: cmake --build build"
    told = subprocess.run(["nm", "-A", "-P", *(f"{name}.o" for name in names)], cwd=OBJECTS, capture_output=True, text=True,
                          check=True, timeout=patience(60)).stdout
    symbols = re.findall(r"^(.*)\.c\.o: (\S+) (\w)", told, re.MULTILINE)
    defined = {symbol: name for name, symbol, kind in symbols if kind in "TDRBC"}
    return [(name, defined[symbol]) for name, symbol, kind in symbols if kind == "U" and symbol in defined]


def room(name):
    return name.partition("/")[0]


def rooms_in_the_docs():
    """Return {room of the library: allowed rooms, also through others}, from the table of the docs."""
    rows = re.findall(r"^\| `fft_runner/src/(\w+)/` \|.*\| (.*) \|$", (ROOT / "docs/architecture.md").read_text("utf-8"),
                      re.MULTILINE)
    graph = nx.DiGraph((name, used) for name, cell in rows for used in re.findall(r"`(\w+)`", cell))
    return {name: nx.descendants(graph, name) for name, _ in rows}


needs_objects = pytest.mark.skipif(not OBJECTS.exists() or not shutil.which("nm"),
                                   reason="no nm, or the library is not built")


@needs_objects
def test_no_calls_between_rooms_of_the_library_form_a_circle():
    links = called()
    assert len(links) > 100 and circles((room(a), room(b)) for a, b in links) == []


@needs_objects
def test_rooms_of_the_library_call_only_the_rooms_of_their_row():
    allowed = rooms_in_the_docs()
    assert {path.name for path in LIBRARY.iterdir() if path.is_dir()} == set(allowed)
    assert [(a, b) for a, b in called() if room(a) != room(b) and room(b) not in allowed[room(a)]] == []


def test_rooms_of_the_library_include_only_the_rooms_of_their_row():
    allowed, found = rooms_in_the_docs(), []
    for path in sorted(LIBRARY.rglob("*.[ch]")):
        for name in re.findall(r'^#include "(\w+)/', path.read_text("utf-8"), re.MULTILINE):
            if name not in {path.parent.name, *allowed[path.parent.name]}:
                found.append((str(path.relative_to(LIBRARY)), name))
    assert found == []


def test_other_rooms_include_only_the_header_of_a_room():
    found = [(str(path.relative_to(LIBRARY)), f"{name}/{header}") for path in sorted(LIBRARY.rglob("*.[ch]"))
             for name, header in re.findall(r'^#include "(\w+)/(.*)"', path.read_text("utf-8"), re.MULTILINE)
             if name in BEHIND_ONE_HEADER - {path.parent.name} and header != f"{name}.h"]
    assert found == []


def errors(path):
    """Return the texts of the errors that a module raises, without the inserted values."""
    for node in nodes(path):
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
    assert {argument for _, argument in named} >= {"machine", "network", "hosts"}
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


def test_docstrings_describe_no_parameter_that_a_function_lacks():
    wrong = []
    for module, path in modules().items():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n--|\Z)", ast.get_docstring(node) or "", re.DOTALL)
                names = re.findall(r"(?m)^\**(\w[^:\n]*)", section[1]) if section else []
                known = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
                wrong += [f"{module}: {node.name}: {name}"
                          for name in re.findall(r"\w+", " ".join(names)) if name not in known]
    assert wrong == []


def test_every_module_says_what_it_is_for():
    bare = [str(path.relative_to(ROOT)) for layer in ("model", "mapper", "scripts") for path in (ROOT / layer).rglob("*.py")
            if path.stat().st_size and not ast.get_docstring(tree(path))]
    assert bare == []


def decisions():
    text = (ROOT / "docs/architecture.md").read_text("utf-8").partition("## Where it is decided")[2].partition("\n## ")[0]
    found = re.findall(r"^\| ([^|]+) \|[^|]*?`([^`|]+/[^`|]+)`[^|]*\| `(\w+)` \|$", text, re.MULTILINE)
    assert len(found) == text.count("\n| ") - 2  # all rows but the head
    return found


@pytest.mark.parametrize("decision, file, name", decisions())
def test_every_decision_is_in_the_file_that_the_map_names(decision, file, name):
    defined = rf"^ *\w[\w:<>]* [\w:<>*& ]*{name}[(:][^;]*$"
    assert re.search(defined, (ROOT / file).read_text("utf-8"), re.MULTILINE), decision
