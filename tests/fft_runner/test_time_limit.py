"""A rank that is killed or stopped while the others wait: the job fails, and the message names the rank and its phase.

Tested under both MPIs.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.fft_runner.conftest import AT_ONCE, ENVIRONMENT, RUN_S
from tests.patience import patience

LIMIT_S = 6
MOMENTS = {  # options with which most of the time is spent in this phase
    "repetition": ["--size", 32, 32, 32, "--reps", 1000000],
    "warm-up": ["--size", 32, 32, 32, "--warmup", 1000000],
    "planning": ["--size", 128, 128, 128, "--exchange", "auto", "--auto-budget", 60, "--rigor", "patient"],
    "the verification": ["--size", 384, 384, 384, "--rigor", "estimate", "--verify"]}


def ranks_of(job):
    """Return the processes of the ranks: the topmost fft_runner below the launcher; below each is its watcher."""
    parent, name = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:  # the process has ended
            continue
        process = int(path.parent.name)
        name[process] = text[text.index("(") + 1:text.rindex(")")]
        parent[process] = int(text.rpartition(")")[2].split()[1])

    def is_of_job(process):
        while process not in (0, job):
            process = parent.get(process, 0)
        return process == job

    return [one for one in parent if name[one] == "fft_runner" and name.get(parent[one]) != "fft_runner" and is_of_job(one)]


def rank_of(process):
    words = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    [rank] = [word.partition(b"=")[2] for word in words if word.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="))]
    return int(rank)


def signalled(start, what, phase, after_s, limit_s):
    """Return status, output, and the rank whose process got the signal, some seconds after all ranks had begun."""
    launcher = [word for word in start.mpirun if word != AT_ONCE]  # the watchers need the time between the signals
    command = [*launcher, "-n", "2", start.programs / "fft_runner", "--grid", "2x1", *MOMENTS[phase], "--time-limit",
               limit_s]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT, start_new_session=True) as job:
        ranks, latest = [], time.monotonic() + patience(RUN_S)
        while len(ranks) < 2 and time.monotonic() < latest:
            ranks = ranks_of(job.pid)
            time.sleep(0.05)
        time.sleep(after_s)
        victim = max(ranks, key=rank_of)
        rank = rank_of(victim)
        os.kill(victim, what)
        _, said = job.communicate(timeout=patience(RUN_S))
    deadline = time.monotonic() + patience(10)
    while any(Path(f"/proc/{one}/exe").exists() for one in ranks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{one}/exe").exists() for one in ranks)
    return job.returncode, said, rank


def check(start, what, phase):
    """Check the message; try a later signal if a busy machine had not reached the phase.

    Also try again if the launcher had ended the other rank before the watcher of the first rank woke up.
    """
    limit_s = round(patience(LIMIT_S))
    for share in (1 / 3, 3 / 4):
        status, said, rank = signalled(start, what, phase, share * limit_s, limit_s)
        assert status != 0, said
        lines = [line for line in said.splitlines() if line.startswith("fft_runner: rank")]
        assert len(lines) == 1, said
        how = f"was stopped when the time limit of {limit_s} s" if what == signal.SIGSTOP else "was killed or ended by"
        assert how in lines[0]
        heard = re.search(rf"last heard of in {phase}( \d+)?, \d+\.\d s after the start$", lines[0])
        if heard and f"rank {rank} (process" in lines[0]:
            return
    pytest.fail(lines[0])


def cases(*quick):
    return [pytest.param(what, phase, marks=[] if (what, phase) in quick else pytest.mark.slow)
            for what in ("SIGKILL", "SIGSEGV", "SIGSTOP") for phase in MOMENTS]


@pytest.mark.parametrize("what, phase", cases(("SIGKILL", "repetition"), ("SIGSTOP", "planning")))
def test_a_rank_that_is_killed_or_stopped_ends_all(mpirun, what, phase):
    check(mpirun, getattr(signal, what), phase)


@pytest.mark.parametrize("what, phase", cases())
def test_a_rank_that_is_killed_or_stopped_ends_all_under_mpich(mpich_run, what, phase):
    check(mpich_run, getattr(signal, what), phase)


def test_a_time_limit_that_is_not_reached_changes_nothing(mpirun):
    done = mpirun(2, "--size", 8, 8, 8, "--grid", "2x1", "--reps", 1, "--verify", "--time-limit", 60)
    assert done.returncode == 0 and "last heard of" not in done.stderr


def test_a_message_of_our_own_is_the_only_one(mpirun, one_message):
    message = one_message(mpirun(2, "--size", 8, 8, 8, "--grid", "2x2", "--time-limit", 60))
    assert "grid 2x2 needs 4 processes" in message
