"""Temporary folders of interrupted commands disappear, at the latest after the next start."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.patience import patience


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
