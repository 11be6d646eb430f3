"""Write the version and the hashes of every package that the tests and the demo install.

``python -m pencilmap.scripts.maintenance.lock`` writes ``packaging/locked/*.txt`` from ``pyproject.toml`` and the newest
versions in the index. ``scripts/setup`` and ``scripts/test-nightly`` install only these versions. Needs uv
(``pip install uv``).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging" / "locked"
EXTRAS = ("test", "peers", "nightly")  #: of `pyproject.toml`; a file each, without packages of earlier files
HEAD = "# Written by python -m pencilmap.scripts.maintenance.lock; scripts/setup or scripts/test-nightly installs it.\n"


def resolved(uv: str, extras: tuple[str, ...]) -> list[str]:
    """Return the requirements of some extras, with all their dependencies: a line for each package.

    The list holds for every Python and every platform.
    """
    done = subprocess.run(
        [uv, "pip", "compile", str(ROOT / "pyproject.toml"), "--universal", "--generate-hashes", "--upgrade", "--quiet",
         "--no-header", "--no-annotate", "--python-version", "3.11", *(word for e in extras for word in ("--extra", e))],
        capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: uv found no versions for {', '.join(extras)}; nothing was written\n{done.stderr}")
    return re.findall(r"^\S.*\n", re.sub(r" *\\\n +", " ", done.stdout), re.MULTILINE)


def main() -> None:
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("error: uv is missing; pip install uv")
    entries = [resolved(uv, EXTRAS[:n + 1]) for n in range(len(EXTRAS))]
    FOLDER.mkdir(exist_ok=True)
    for name, own, before in zip(EXTRAS, entries, ([], *entries)):
        aside = FOLDER / f"{name}.new"
        aside.write_text(HEAD + "".join(entry for entry in own if entry not in before), "utf-8")
        aside.replace(FOLDER / f"{name}.txt")
        print(f"wrote packaging/locked/{name}.txt")


if __name__ == "__main__":
    main()
