"""Ctrl-C and SIGTERM while compiled code runs: a single sentence, the status of the signal, nothing half-written."""

import os
import signal
import subprocess
import sys
import time

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
