"""Signals, full disks and folders that go: what is left behind, and what is said."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import patience

ENDS = {signal.SIGINT: (130, "pencilmap: interrupted\n"), signal.SIGTERM: (143, "pencilmap: terminated\n")}
WITHIN = {  # treatment of a signal's exception by code in C
    "replaced": "try:\n    signal.raise_signal(number)\n"
                "except BaseException as error:\n"
                "    raise SystemError('returned a result with an exception set') from error\n",
    "an error of its own": "try:\n    signal.raise_signal(number)\n"
                           "except BaseException:\n    raise ValueError('half done')\n",
    "ignored": "class Freed:\n    def __del__(self):\n        signal.raise_signal(number)\n"
               "Freed()\n[time.sleep(0.01) for _ in range(3000)]\n",
    "alone": "signal.raise_signal(number)\n"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", ENDS, ids=lambda n: signal.Signals(n).name)
@pytest.mark.parametrize("within", WITHIN)
def test_a_signal_in_compiled_code_is_one_sentence(tmp_path, number, within):
    code = WITHIN[within].replace("number", str(int(number)))
    program = ("import signal, sys, time\nfrom pencilmap.__main__ import main\n"
               "from pencilmap.mapper.choose import choices\n"
               f"def place(*given, **named):\n{''.join(f'    {line}{chr(10)}' for line in code.splitlines())}"
               "choices.best_placement = place\n"
               "sys.argv = ['pencilmap', 'map', '--network', '4x4', '--grid', '4x4', '--format', 'bgl', '-o', 's.map']\n"
               "main()\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=patience(60),
                          cwd=tmp_path)
    assert (done.returncode, done.stderr.lstrip("\n"), done.stdout) == (*ENDS[number], "")
    assert os.listdir(tmp_path) == []


def test_an_error_without_a_signal_is_told_in_full(tmp_path):
    program = ("import sys\nfrom pencilmap.__main__ import main\nfrom pencilmap.mapper.choose import choices\n"
               "def place(*given, **named):\n    raise SystemError('of another cause')\n"
               "choices.best_placement = place\n"
               "sys.argv = ['pencilmap', 'predict', '--network', '4x4', '--grid', '4x4']\nmain()\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=patience(60),
                          cwd=tmp_path)
    assert done.returncode == 1 and "of another cause" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDS, ids=lambda n: signal.Signals(n).name)
def test_a_signal_at_any_moment_of_the_tilings(tmp_path, number):
    """Numba runs most of the time, and calls back into Python, which then raises the signal's exception."""
    for moment in range(12):
        command = [sys.executable, "-m", "pencilmap", "map", "-m", "bluegene-l", "--grid", "16x32", "-o", "s.map"]
        running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1 + 0.37 * moment)
        running.send_signal(number)
        _, err = running.communicate(timeout=patience(60))
        if running.returncode == 0:
            break  # the command had ended
        assert running.returncode == ENDS[number][0], err
        assert err.endswith(ENDS[number][1]) and "Traceback" not in err and not list(tmp_path.iterdir())


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


@pytest.fixture
def network(tmp_path):
    """Start `network` with an lstopo of given duration; its temporary folders are in `temporary`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "temporary").mkdir()
    lstopo = tmp_path / "bin" / "lstopo-no-graphics"
    lstopo.write_text("#!/bin/sh\nexec sleep $LSTOPO_TAKES\n")
    lstopo.chmod(0o755)

    def start(takes):
        return subprocess.Popen([sys.executable, "-m", "pencilmap", "network"], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.PIPE, start_new_session=True, env=os.environ | {
                                    "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "LSTOPO_TAKES": str(takes),
                                    "SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n1",
                                    "TMPDIR": str(tmp_path / "temporary")})

    return start


def wait_for_folders(folder, number):
    latest = time.monotonic() + patience(60)
    while len(found := list(folder.glob("*/.in-use"))) < number and time.monotonic() < latest:
        time.sleep(0.02)
    return [mark.parent for mark in found]


def test_what_a_killed_command_leaves_is_removed_by_the_next_and_what_is_in_use_is_not(network, tmp_path):
    temporary = tmp_path / "temporary"
    killed, running = network(15), network(15)
    try:
        assert len(wait_for_folders(temporary, 2)) == 2
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate(timeout=patience(60))
        assert len(list(temporary.iterdir())) == 2
        network(0).communicate(timeout=patience(60))
        [kept] = temporary.iterdir()
        os.kill(running.pid, signal.SIGTERM)
        _, told = running.communicate(timeout=patience(60))
    finally:
        os.killpg(running.pid, signal.SIGKILL) if running.poll() is None else None
    assert running.returncode == 128 + signal.SIGTERM and "Traceback" not in told
    assert not kept.exists() and not list(temporary.iterdir())
