"""A full disk, and one that becomes full in the middle: one sentence, no success, nothing half-written."""

import os
import subprocess
import sys

import pytest

SMALL = ["--torus", "4x4", "--bandwidth", "100 MB/s", "--fft", "32", "--grid", "4x4"]
PENCILMAP = [sys.executable, "-m", "pencilmap"]
COMMANDS = {
    "simulate": ["simulate", *SMALL, "--placement", "default", "--output", "{disk}/runs.jsonl"],
    "report": ["report", "runs.jsonl", "--output", "{disk}/page.html"],
    "shapes": ["shapes", "-N", "64", "-d", "2", "--bandwidth", "1 GB/s", "--fft", "64", "--top", "2", "--plot",
               "{disk}/a.svg"],
    "convert": ["convert", "a.map", "--torus", "32x32", "--from", "bgl", "--format", "openmpi4", "--output", "{disk}/b.map"],
    "map": ["map", "--torus", "32x32", "--grid", "32x32", "--placement", "default", "--format", "openmpi4", "--output",
            "{disk}/a.map"],
    "draw": ["draw", *SMALL[:4], "--grid", "4x4", "--placement", "default", "--output", "{disk}/a.svg"],
}
DISK = """set -e
mount -t tmpfs -o size=4096,nr_inodes=16 tmpfs "$1"
[ -z "$2" ] || head -c 4096 /dev/zero > "$1/full"
shift 2
exec "$@"
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    (folder / "disk").mkdir()
    for words in (COMMANDS["simulate"], [*COMMANDS["map"][:-4], "--format", "bgl", "--output", "{disk}/a.map"]):
        subprocess.run([*PENCILMAP, *(word.format(disk=".") for word in words)], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("full", ["full", ""], ids=["full", "one page left"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_sentence(given, name, full):
    unshare = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
    words = [word.format(disk="disk") for word in COMMANDS[name]]
    look = 'status=0; "$@" || status=$?; find disk -type f -size +0; exit $status'
    done = subprocess.run([*unshare, "sh", "-c", DISK, "-", "disk", full, "sh", "-c", look, "-", *PENCILMAP, *words],
                          cwd=given, capture_output=True, text=True, timeout=300)
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip("NOT TESTED: a full disk, for no file system can be mounted here")
    assert done.returncode not in (0, 1) and done.stderr.count("error: ") == 1 and "Traceback" not in done.stderr
    assert "No space left on device" in " ".join(done.stderr.split())
    assert [line for line in done.stdout.split() if line.startswith("disk/")] == ["disk/full"] * bool(full)
