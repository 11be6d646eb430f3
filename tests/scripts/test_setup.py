"""Without rights, the set-up tells the user the exact packages to ask for, and changes nothing."""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import patience

SETUP = Path(__file__).resolve().parents[2] / "scripts" / "setup"


def stub(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_a_user_without_root_is_told_the_packages(tmp_path):
    for name, body in {"dpkg-query": "exit 1", "id": "echo 1000", "sudo": "exit 1",
                       "apt-get": f"touch {tmp_path}/called"}.items():
        stub(tmp_path, name, body)
    done = subprocess.run([SETUP], env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True,
                          text=True, timeout=patience(60), stdin=subprocess.DEVNULL)
    packages = subprocess.run([SETUP, "--print-packages"], capture_output=True, text=True,
                              timeout=patience(60)).stdout.split()
    assert done.returncode == 1 and not (tmp_path / "called").exists()
    assert "apt-get install -y --no-install-recommends " + " ".join(packages) in done.stderr
    assert {"libopenmpi-dev", "libfftw3-dev", "libhwloc-dev", "libsimgrid-dev"} <= set(packages)


def test_what_would_be_installed_is_told_and_nothing_is(tmp_path):
    stub(tmp_path, "dpkg-query", 'case "$3" in cmake|gcc) exit 1;; *) echo installed;; esac')
    before = (SETUP.parent.parent / "build" / "setup.log").exists()
    done = subprocess.run([SETUP, "--missing"], env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
                          capture_output=True, text=True, timeout=patience(60), stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and done.stdout.split()[:2] == ["cmake", "gcc"] and done.stderr == ""
    assert (SETUP.parent.parent / "build" / "setup.log").exists() == before


def test_sudo_without_a_password_is_used_when_there_is_one(tmp_path):
    for name, body in {"dpkg-query": "exit 1", "id": "echo 1000",
                       "sudo": f'shift; [ "$1" = true ] || {{ echo "$@" >>{tmp_path}/sudo.log; exit 7; }}'}.items():
        stub(tmp_path, name, body)
    done = subprocess.run([SETUP], env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True,
                          text=True, timeout=patience(60), stdin=subprocess.DEVNULL)
    assert done.returncode != 0, "the stub of apt-get fails, so the set-up has to"
    assert (tmp_path / "sudo.log").read_text().startswith("apt-get update")


def test_two_at_once_wait_for_each_other():
    missing = subprocess.run([SETUP, "--missing"], capture_output=True, text=True, timeout=patience(60)).stdout.strip()
    if missing:
        pytest.skip(f"NOT TESTED: two set-ups at once, for scripts/setup would install {missing}")
    with open(SETUP.parent.parent / "build" / ".setup-lock", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with subprocess.Popen([SETUP], stderr=subprocess.PIPE, text=True) as second:
            assert second.stderr.readline() == "setup: waiting for another set-up\n"
            fcntl.flock(other, fcntl.LOCK_UN)
            assert "setup: ready" in second.communicate(timeout=patience(300))[1] and second.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gfortran"), reason="NOT TESTED: gfortran is missing")
def test_a_fortran_compiler_that_came_later_is_found(tmp_path):
    configure = ["cmake", "-S", SETUP.parent.parent / "fft_runner", "-B", tmp_path, "-DPENCILFFT_SMPI=OFF"]
    none = ["-DPENCILFFT_FORTRAN=OFF", "-DCMAKE_Fortran_COMPILER=NOTFOUND"]  # as a failed search leaves the cache
    for options, found in (none, False), (["-DPENCILFFT_FORTRAN=ON"], True):
        done = subprocess.run([*configure, *options], capture_output=True, text=True, timeout=patience(120))
        assert done.returncode == 0, done.stderr
        targets = subprocess.run(["cmake", "--build", tmp_path, "--target", "help"], capture_output=True, text=True,
                                 timeout=patience(60))
        assert ("pencilfft_fortran" in targets.stdout) == found


def test_parts_of_the_night_are_listed_with_tests_that_exist_and_no_other_is_run():
    nightly = SETUP.parent / "test-nightly"
    listed = subprocess.check_output([nightly, "--list"], text=True, timeout=patience(60)).splitlines()
    assert "plans" in [line.split()[0] for line in listed] and all(line.split()[1].isdecimal() for line in listed)
    files = re.findall(r"tests/\S+\.py", nightly.read_text("utf-8").replace("$runner", "tests/fft_runner"))
    subprocess.run(["bash", "-c", f"ls {' '.join(files)}"], cwd=SETUP.parents[1], check=True)
    done = subprocess.run([nightly, "matrices"], capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stderr) == (2, "test-nightly: no part matrices; --list prints the parts\n")
