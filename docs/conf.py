"""Sphinx configuration of the pencilmap documentation: ``sphinx-build -W -b html docs build/docs``."""

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from subprocess import run
from tempfile import mkdtemp

from sphinx.ext.autodoc import mock

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
sys.path.append(str(Path(__file__).parents[1] / "packaging"))  # pencilfft, which is a distribution of its own

project = "pencilmap"
author = "the pencilmap authors"
release = version = import_module("pencilmap").__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_fortran_domain",
              "c_header", "drawn_pictures", "fortran_module"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "extensions"]
suppress_warnings = ["ref.python",    # types in docstrings are plain words: "node" is no reference
                     "myst.domains"]  # the Fortran domain is not asked for links without a role
add_module_names = False
nitpicky = False
smartquotes = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
toc_object_entries = False  # every page carries the contents of all: a quarter of the time of a build
autodoc_mock_imports = ["mpi4py"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"

fortran = Path(__file__).parents[1] / "fft_runner" / "fortran"
fortran_sources = [str(Path(mkdtemp()) / "pencilfft.f90"), str(fortran / "pencilmap_reorder.f90")]
run(["cmake", f"-DTO={fortran_sources[0]}", "-P", fortran / "generate.cmake"], check=True)
fortran_lexer = "joined"
fortran_doc_chars = [">", "!"]

html_theme = "furo"
html_title = f"pencilmap {release}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False

PYTHON_PAGES = {"reference/python-model": "pencilmap.model", "reference/python-mapper": "pencilmap.mapper",
                "reference/python-pencilfft": "pencilfft"}
INHERITED = {"reference/python-pencilfft": "   :inherited-members: BaseException, dict, ndarray\n"}
WIDE_PAGES = ("time-model", "machines")


def modules_of(package):
    """Return the names of all public modules of a package, with the modules of its folders after it."""
    with mock(autodoc_mock_imports):
        found = import_module(package)
    names = [package] if (found.__doc__ or "").strip() else []
    behind = [module.name for module in pkgutil.walk_packages(found.__path__, f"{package}.")]
    return sorted(names + [name for name in behind if "._" not in name])


def add_modules(app, name, source):
    """Put every module of a layer on its page: a new module is in the reference without a line here."""
    if name not in PYTHON_PAGES:
        return
    for module in modules_of(PYTHON_PAGES[name]):
        title = module.removeprefix("pencilmap.")
        options = "   :members:\n" + INHERITED.get(name, "")
        source[0] += f"\n## {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n{options}```\n"


def widen(app, name, template, context, tree):
    """Leave out the contents of a page, so that its widest tables have room."""
    if name in WIDE_PAGES:
        context["furo_hide_toc"] = True


def setup(app):
    app.connect("source-read", add_modules)
    app.connect("html-page-context", widen, priority=900)  # after that of the theme
    return {"parallel_read_safe": True}
