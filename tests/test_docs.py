"""The documentation: its commands print the shown output, the build has no warnings, the reference is complete.

``python tests/documents.py docs/tutorial.md`` rewrites the outputs of a page.
"""

import doctest
import re
import shutil
import subprocess
import sys
from importlib import import_module

import pytest

from pencilmap.model.placement.grid import LIBRARIES, grid_in_words
from pencilmap.scripts.command_line.documents import between
from pencilmap.scripts.maintenance import write_tables
from pencilmap.scripts.maintenance.write_tables import TABLES
from tests.documents import EXAMPLE, ROOT, commands, make_folder, read_result, run, run_by, unrun, wrong_examples
from tests.fft_runner.tables import fortran_module
from tests.patience import patience
from tests.scripts.browser import browser, needs_browser, window

pytestmark = pytest.mark.random_order(disabled=True)  # a command of a page depends on the commands before it

PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
WALKED = "howto/before-a-job.md"  # test_package.py runs the commands of this page from a wheel
CASES = [pytest.param(page, number, command, marks=[pytest.mark.slow] if command.is_slow or str(page) == WALKED else [],
                      id=f"{page}-{number}-{command.text[:40]}")
         for page in PAGES for number, command in enumerate(commands((ROOT / "docs" / page).read_text("utf-8")))]


@pytest.fixture(scope="module")
def ran():
    """(page, number) of the finished commands."""
    return set()


@pytest.fixture(scope="module")
def folders():
    """The folders of the pages whose commands ran."""
    return {}


@pytest.fixture(scope="module")
def folder_of(folders, tmp_path_factory):
    """The folder for the commands of a page."""
    def folder(page):
        if page not in folders:
            folders[page] = tmp_path_factory.mktemp("docs")
            make_folder(folders[page])
        return folders[page]

    return folder


@pytest.mark.parametrize("page, number, command", CASES)
def test_commands_of_the_docs_work_and_print_what_is_shown(page, number, command, folder_of, ran):
    printed = run(command, folder_of(page))
    ran.add((page, number))
    assert not command.shown or command.agrees(printed), printed


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_command_of_a_page_is_left_out(page):
    assert unrun((ROOT / "docs" / page).read_text("utf-8")) == []


@pytest.mark.parametrize("page", [p for p in PAGES if EXAMPLE.search((ROOT / "docs" / p).read_text("utf-8"))], ids=str)
def test_examples_of_the_docs_print_what_is_shown(page, folder_of, ran):
    """After the commands of their page, whose files the examples read."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    for number, command in enumerate(commands(text)):
        if (page, number) not in ran:
            run(command, folder_of(page))
    assert wrong_examples(text, folder_of(page)) == ""


@pytest.mark.parametrize("file, first, last, content", [pytest.param(*table, id=table[0]) for table in TABLES])
def test_tables_are_those_of_the_program(file, first, last, content):
    text = (ROOT / file).read_text("utf-8")
    assert between(text, first, last, content()) == text, f"{file}: python -m pencilmap.scripts.maintenance.write_tables"


def test_the_grids_of_libraries_are_those_of_the_program():
    """docs/howto/your-grid.md has a row for each library: what to type, in each form, and the same in plain numbers."""
    page = (ROOT / "docs" / "howto" / "your-grid.md").read_text("utf-8")
    rows = re.findall(r"^\| [^|]* \| ([^|]*) \| `(\d\S*)`[^|]* \|", page, re.MULTILINE)
    typed = [(text, grid) for cell, grid in rows for text in re.findall(r"`([^`]*[:=][^`]*)`", cell)]
    assert [str(grid_in_words(text)) for text, _ in typed] == [grid for _, grid in typed]
    assert {text.partition(":")[0] for text, _ in typed if ":" in text} == {*LIBRARIES}


@pytest.mark.parametrize("path, content", [pytest.param(*result, id=result[0].stem) for result in write_tables.RESULTS])
def test_result_files_are_those_of_the_program(path, content):
    columns, rows = content()
    assert [list(row.values()) for row in read_result(path)] == rows and len(columns) == len(rows[0])


# ---- the rules of tests/documents.py ----

PAGE = """
<!-- output: digits differ -->
```console
$ echo 'took 1.5 s' && \\
true
took 2.75 s
$ false
```
```sh
pencilmap unnamed     # a comment
```
<!-- run by tests/scripts/test_demo.py -->
```sh
pencilmap named
```
<!-- run by tests/test_docs.py -->
```sh
pencilmap named by a test that does not ask
```
```text
scripts/demo in a picture
```

    OMP_NUM_THREADS=1 mpirun -n 4 indented

    pencilmapper is no command
"""


def test_commands_are_found_with_what_they_show():
    first, second = commands(PAGE)
    assert (first.text, first.shown) == ("echo 'took 1.5 s' && \\\ntrue", "took 2.75 s")
    assert first.agrees("took 1.5 s") and not first.agrees("lasted 1.5 s")
    assert (second.text, second.shown) == ("false", "")


def test_commands_that_nothing_runs_are_found():
    assert unrun(PAGE) == ["pencilmap unnamed", "pencilmap named by a test that does not ask", "scripts/demo in a picture",
                           "OMP_NUM_THREADS=1 mpirun -n 4 indented"]


def test_tests_get_the_commands_that_documents_say_they_run():
    assert run_by(ROOT / "tests" / "scripts" / "test_demo.py") == ["scripts/demo", "scripts/test"]
    with pytest.raises(LookupError, match="tests/test_docs.py"):
        run_by(ROOT / "tests" / "test_docs.py")


# ---- the built pages ----

@pytest.fixture(scope="module")
def built(folders, tmp_path_factory):
    """Folder of the built pages; every warning is an error. Pictures that commands of the pages drew are not drawn again."""
    for needed in ("sphinx", "sphinx_fortran_domain"):
        pytest.importorskip(needed, reason=f"{needed} is missing; pip install -e '.[docs]'")
    for picture in (file for folder in folders.values() for file in (folder / "docs" / "pictures").glob("*.svg")):
        if not (ROOT / "docs" / "pictures" / picture.name).exists():
            shutil.copyfile(picture, ROOT / "docs" / "pictures" / picture.name)
    out = tmp_path_factory.mktemp("html")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", out],
                          capture_output=True, text=True, timeout=patience(400))
    assert done.returncode == 0, done.stderr
    return out


def test_the_docs_are_built_without_a_warning_and_load_nothing_from_elsewhere(built):
    for page in built.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"([^\"]*)\"", text)
        loaded += re.findall(r"<link\b(?=[^>]*\brel=\"[^\"]*stylesheet)[^>]*\bhref=\"([^\"]*)\"", text)
        assert [address for address in loaded if re.match(r"\w+:|//", address)
                and not address.startswith("data:")] == [], page


@needs_browser
def test_no_page_is_cut_off_by_its_window(built, tmp_path):
    with browser(tmp_path) as driver:
        for page in ("tutorial.html", "theory.html", "reference/c.html", "validation.html"):
            driver.get((built / page).as_uri())
            for width in (360, 1000, 1300, 1400, 1920):
                window(driver, width, 900)
                article = driver.execute_script("return document.querySelector('article').getBoundingClientRect().right")
                assert driver.execute_script("return document.documentElement.scrollWidth") <= width, (page, width)
                assert article <= width, (page, width)


@needs_browser
@pytest.mark.parametrize("words, first", [("p_row", "Your library's grid"), ("iproc", "Your library's grid")])
def test_a_search_begins_with_the_page_about_the_word(built, tmp_path, words, first):
    with browser(tmp_path) as driver:
        driver.get(f"{(built / 'search.html').as_uri()}?q={words}")
        driver.implicitly_wait(patience(20))
        assert driver.find_element("css selector", "#search-results li a").text.startswith(first)


@needs_browser
def test_the_first_page_has_twelve_entries_and_cards_that_fit(built, tmp_path):
    with browser(tmp_path) as driver:
        driver.get((built / "index.html").as_uri())
        for width, columns in ((400, 1), (1280, 3)):
            window(driver, width, 900)
            places = driver.execute_script("""return [...document.querySelectorAll('.cards li')].map((card) => [
                card.getBoundingClientRect().left, card.scrollWidth - card.clientWidth])""")
            assert len(places) == 8 and len({left for left, _ in places}) == columns
            assert all(beyond <= 0 for _, beyond in places)
        assert len(driver.find_elements("css selector", ".sidebar-tree > ul > li")) == 12


CUT_OFF = """
const wide = (line) => {
  const probe = document.createElement('span'); probe.style.whiteSpace = 'pre'; probe.textContent = line; return probe; };
return [...document.querySelectorAll('article table')].filter((t) => t.scrollWidth > t.parentElement.clientWidth + 4)
  .map((t) => t.innerText.slice(0, 80))
  .concat([...document.querySelectorAll('article .highlight-console pre')].flatMap((pre) => {
    const rules = pre.textContent.split('\\n').filter((line) => line.includes('────')).map(wide);
    rules.forEach((rule) => pre.append(rule));
    const space = pre.clientWidth - 2 * parseFloat(getComputedStyle(pre).paddingLeft);
    return rules.filter((rule) => rule.offsetWidth > space + 1).map((rule) => `${rule.offsetWidth} in ${space}`);
  }));
"""


@needs_browser
def test_no_table_of_any_page_is_cut_off_at_1400_pixels(built, tmp_path):
    with browser(tmp_path) as driver:
        window(driver, 1400, 900)
        cut = {}
        for page in PAGES:
            driver.get((built / page).with_suffix(".html").as_uri())
            if found := driver.execute_script(CUT_OFF):
                cut[str(page)] = found
        assert cut == {}
        driver.execute_script("document.querySelector('article').style.width = '200px'")
        assert driver.execute_script(CUT_OFF) != [], "a table that is cut off is not seen"


def test_every_command_and_its_options_are_in_the_reference(built):
    from pencilmap.scripts.command_line.cli import pencilmap

    text = (built / "reference" / "command-line.html").read_text("utf-8")
    for name in pencilmap.list_commands(None):
        for option in pencilmap.get_command(None, name).params:
            if getattr(option, "hidden", False):  # accepted only for a clear refusal
                continue
            for written in (*option.opts, *option.secondary_opts):
                place = f'id="cmdoption-pencilmap-{name}-{written.lstrip("-")}"'
                assert place in text or option.param_type_name == "argument", (name, written)


@pytest.mark.parametrize("layer", ["model", "mapper"])
def test_every_public_class_and_function_is_in_the_reference(built, layer):
    import ast

    text = (built / "reference" / f"python-{layer}.html").read_text("utf-8")
    for path in (ROOT / layer).rglob("*.py"):
        module = ".".join(("pencilmap", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node,
                          (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_") and ast.get_docstring(node):
                assert f'id="{module}.{node.name}"' in text, f"{module}.{node.name}"


def test_every_public_name_of_the_python_binding_is_in_the_reference_with_its_words(built):
    import ast

    text = (built / "reference" / "python-pencilfft.html").read_text("utf-8")
    package = ROOT / "fft_runner" / "python" / "pencilfft"
    exported = next(ast.literal_eval(node.value) for node in ast.parse((package / "__init__.py").read_text("utf-8")).body
                    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    members = [f"Plan.{node.name}" for file, name in (("plan", "Plan"), ("queries", "_Queries"))
               for part in ast.parse((package / f"{file}.py").read_text("utf-8")).body
               if isinstance(part, ast.ClassDef) and part.name == name
               for node in part.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    assert {"Plan.forward", "Plan.buffer_bytes"} <= set(members)
    for name in (*exported, *members):
        assert f'id="pencilfft.{name}"' in text, name
    for name in (*exported, *members):
        assert text.partition(f'id="pencilfft.{name}"')[2].partition("</dt>")[2].lstrip().startswith("<dd><p>"), name


@pytest.mark.parametrize("extension", ["c_header", "fortran_module"])
def test_the_examples_of_the_extensions_hold(extension, monkeypatch):
    pytest.importorskip("sphinx_fortran_domain", reason="sphinx_fortran_domain is missing; pip install -e '.[docs]'")
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    failed, tried = doctest.testmod(import_module(extension))
    assert tried and not failed


@pytest.fixture(scope="module")
def index(built):
    """The names in the index of the built pages, by kind of object."""
    from sphinx.util.inventory import InventoryFile

    return InventoryFile.loads((built / "objects.inv").read_bytes(), uri="").data


def described(page, name):
    """Whether text follows the signatures of a name on a page."""
    after = re.search(rf'id="{re.escape(name)}".*?</dt>(?:\s*<dt.*?</dt>)*\s*<dd>(.*?)</d[ld]>', page, re.DOTALL)
    return after is not None and re.sub("<[^>]+>|\\s", "", after[1]) != ""


def test_every_public_name_of_the_fortran_modules_is_in_the_index_with_its_words(built, index):
    modules = fortran_module() + (ROOT / "fft_runner" / "fortran" / "pencilmap_reorder.f90").read_text("utf-8")
    source = re.sub(r"&\s*\n\s*", "", modules)
    names = {name for line in re.findall(r"\bpublic ::([^!\n]*)", source)
             for name in re.findall(r"(?:pencilfft|pm)_\w+", line)}
    found = {name for kind, objects in index.items() if kind.startswith("f:") for name in objects}
    assert {"pencilfft_plan_create", "pencilfft_wisdom_forget", "pencilfft_not_possible", "pencilfft_part",
            "pm_comm_reorder", "pm_error"} <= names
    specific = {name for line in re.findall(r"module procedure ([^!\n]*)", source) for name in re.findall(r"\w+", line)}
    assert names == found - specific - {"pencilfft", "pencilmap_reorder"}
    page = (built / "reference" / "fortran.html").read_text("utf-8")
    procedures = [name for name in names if re.search(rf"(?:function|subroutine) {name}\(", source)]
    assert len(procedures) > 20 and [name for name in procedures if name not in page] == []
    assert "auto_budget_s, decomposition, schedule, torus, node" in re.sub("<[^>]+>", "", page)  # continued lines


@pytest.mark.parametrize("header", ["include/pencilfft.h", "include/pencilfft_line.h", "reorder/pm_reorder.h"])
def test_every_name_of_a_header_is_in_the_index_with_its_words(built, index, header):
    code = re.sub(r"/\*.*?\*/", "", (ROOT / "fft_runner" / header).read_text("utf-8"), flags=re.DOTALL)
    functions = set(re.findall(r"\b((?:pencilfft|pm)_\w+)\(", code))
    guards = {"PENCILFFT_H", "PENCILFFT_LINE_H", "PM_REORDER_H"}
    constants = set(re.findall(r"\b((?:PENCILFFT|PM)_[A-Z0-9_]+)\b(?!_H)", code)) - guards
    types = set(re.findall(r"\}\s*(\w+);", code)) | set(re.findall(r"enum (\w+) \{", code))
    members = {f"{name}.{member}" for body, name in re.findall(r"typedef struct \{(.*?)\}\s*(\w+);", code, re.DOTALL)
               for line in body.split(";") for member in re.findall(r"(\w+)(?:\[\d\])?\s*(?:,|$)", line)}
    assert functions <= set(index["c:function"])
    assert constants <= {*index["c:enumerator"], *index["c:macro"]}
    assert types <= {*index["c:struct"], *index["c:enum"], *index.get("c:type", ())}
    assert members <= set(index["c:member"])
    page = (built / "reference" / "c.html").read_text("utf-8")
    assert functions and [name for name in sorted(functions | types) if not described(page, f"c.{name}")] == []


def test_the_reference_of_c_has_nothing_that_the_headers_have_not(index):
    code = "".join((ROOT / "fft_runner" / header).read_text("utf-8") for header in (
        "include/pencilfft.h", "include/pencilfft_line.h", "reorder/pm_reorder.h"))
    shown = [name for kind in ("function", "struct", "enum", "enumerator", "macro", "type") for name in index[f"c:{kind}"]]
    assert len(shown) > 100 and [name for name in shown if not re.search(rf"\b{name.split('.')[-1]}\b", code)] == []
