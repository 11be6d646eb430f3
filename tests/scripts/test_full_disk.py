"""A full disk, one that fills during the run, and a read-only one: a single sentence, nothing half-written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]

SMALL = ["--network", "4x4", "--bandwidth", "100 MB/s", "--fft", "32", "--grid", "4x4"]
PENCILMAP = [sys.executable, "-m", "pencilmap"]
COMMANDS = {
    "simulate": ["simulate", *SMALL, "--placement", "default", "--output", "disk/runs.jsonl"],
    "report": ["report", "runs.jsonl", "--output", "disk/page.html"],
    "shapes": ["study", "shapes", "-N", "64", "-d", "2", "--bandwidth", "1 GB/s", "--fft", "64", "--top", "2", "--plot",
               "disk/a.svg"],
    "convert": ["map", "--from", "a.map", "--network", "32x32", "--from-format", "bgl", "--format", "openmpi4",
                "--output", "disk/b.map"],
    "map": ["map", "--network", "32x32", "--grid", "32x32", "--placement", "default", "--format", "openmpi4", "--output",
            "disk/a.map"],
    "draw": ["draw", *SMALL[:4], "--grid", "4x4", "--placement", "default", "--output", "disk/a.svg"],
}
SMALL_DISK = "mount -t tmpfs -o size=4096,nr_inodes=16 tmpfs disk"
DISKS = {  # how each is made, and the words of its error
    "full": (f"{SMALL_DISK} && head -c 4096 /dev/zero >disk/full", "No space left on device"),
    "one page left": (SMALL_DISK, "No space left on device"),
    "read-only": ("mount -t tmpfs -o ro tmpfs disk", "Read-only file system help: name another file")}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    (folder / "disk").mkdir()
    for words in (COMMANDS["simulate"], [*COMMANDS["map"][:-4], "--format", "bgl", "--output", "disk/a.map"]):
        subprocess.run([*PENCILMAP, *(word.replace("disk/", "") for word in words)], cwd=folder, check=True,
                       capture_output=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("disk", DISKS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_without_room_is_one_sentence(given, name, disk):
    made, words = DISKS[disk]
    unshare = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
    look = f'{made} || exit 9; status=0; "$@" || status=$?; find disk -type f -size +0; exit $status'
    done = subprocess.run([*unshare, "sh", "-c", look, "-", *PENCILMAP, *COMMANDS[name]], cwd=given, capture_output=True,
                          text=True, timeout=patience(300))
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"NOT TESTED: a disk that is {disk}, for no file system can be mounted here")
    assert done.returncode == 1 and done.stderr.split().count("error:") == 1 and "Traceback" not in done.stderr
    assert words in " ".join(done.stderr.split())
    assert [line for line in done.stdout.split() if line.startswith("disk/")] == ["disk/full"] * (disk == "full")


SETUP_DISK = """set -e
mount -t tmpfs -o size="$2" tmpfs "$1"
cp -r "$3" "$1/checkout"
cd "$1/checkout"
scripts/setup >"$3.out" 2>&1 || status=$?
tail -n 3 "$3.out"
echo "status ${status:-0}"
mount -o remount,size=4G "$1"
scripts/setup 2>&1 | tail -n 1
.venv/bin/pencilmap --version
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", ["40M", "300M"], ids=["40M", "300M"])
def test_a_set_up_on_a_full_disk_says_so_and_goes_on_where_there_is_room(tmp_path, size):
    """In a copy of the checkout on a small disk, which then grows; needs the index of packages."""
    if os.getuid() or subprocess.run([ROOT / "scripts" / "setup", "--missing"], capture_output=True).stdout.strip():
        pytest.skip("NOT TESTED: a set-up on a full disk, for this needs root and all packages of scripts/setup")
    source, disk = tmp_path / "source", tmp_path / "disk"
    disk.mkdir()
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", SETUP_DISK, "-", disk, size, source], capture_output=True,
                          text=True, timeout=patience(1200))
    *told, status, ready, version = done.stdout.splitlines()
    assert status == "status 1" and ready == "setup: ready" and version.startswith("pencilmap"), done.stdout + done.stderr
    assert any(line == f"setup: the disk of {disk}/checkout is full" for line in told), told
