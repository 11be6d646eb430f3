"""Draw the pictures of the pages before Sphinx reads the pages.

A page shows the command that draws its picture: a line ``$ pencilmap ... docs/pictures/NAME.svg`` of a console block. Only
missing pictures are drawn, so a second build is faster.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"^\$ pencilmap (.* docs/pictures/([\w-]+\.svg))$", re.MULTILINE)
LIMIT_S = 600


def draw_missing(app):
    """Run each command whose picture is missing, from the root of the checkout."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    for arguments, name in dict.fromkeys(found for page in pages for found in COMMAND.findall(page.read_text("utf-8"))):
        if (ROOT / "docs" / "pictures" / name).exists():
            continue
        logging.getLogger(__name__).info("drawing docs/pictures/%s", name)
        done = subprocess.run([sys.executable, "-m", "pencilmap", *shlex.split(arguments)], cwd=ROOT, capture_output=True,
                              text=True, timeout=LIMIT_S)
        if done.returncode:
            raise ExtensionError(f"pencilmap {arguments} failed:\n{done.stderr}")


def setup(app):
    app.connect("builder-inited", draw_missing)
    return {"parallel_read_safe": True}
