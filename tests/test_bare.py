"""scripts/test-bare: starts, refuses and reports; a complete run takes most of an hour."""

import os
import shutil
import subprocess

import pytest

from tests.documents import ROOT
from tests.patience import patience

BARE = ROOT / "scripts" / "test-bare"


def run(*arguments, **environment):
    return subprocess.run([BARE, *arguments], capture_output=True, text=True,
                          timeout=patience(900), env=os.environ | environment)


def test_a_missing_program_is_named_with_what_installs_it(tmp_path):
    for name in ("bash", "dirname", "readlink", "env", "id", "sed"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = run("true", PATH=str(tmp_path))
    assert done.returncode == 2 and "mmdebstrap is missing; on Debian: apt-get install mmdebstrap" in done.stderr


@pytest.mark.slow
def test_a_bare_system_has_the_checkout_and_nothing_else(tmp_path):
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        pytest.skip("NOT TESTED: a bare Debian needs root and mmdebstrap (Debian: mmdebstrap)")
    cache = os.environ.get("PENCILMAP_BARE", str(tmp_path))
    done = run("test -e README.md && test ! -e .venv && ! command -v python3", "cat /etc/debian_version", "exit 7",
               PENCILMAP_BARE=cache)
    assert done.returncode == 7, done.stdout + done.stderr
    assert "\n12." in done.stdout and "exit 7                         status 7" in done.stdout
    assert not any((ROOT / "scripts").glob("runs")) and os.listdir(os.path.join(cache, "runs")) == []
