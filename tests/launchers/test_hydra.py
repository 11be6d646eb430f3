"""MPICH and Intel MPI start ranks on four simulated hosts as the machinefile says; a script stands in for ssh."""

import os

import pytest

from tests.launchers.conftest import AGENT, intel_mpi, needs, succeed
from tests.launchers.placed import assert_where_the_file_says, written


@pytest.mark.parametrize("seed", range(2))
def test_mpich_follows_the_machinefile(tmp_path, seed):
    folder = tmp_path / "bin"
    folder.mkdir()
    wrapper = folder / "mpiexec"  # not a link: Hydra searches its proxies next to the name of the call
    wrapper.write_text(f'#!/bin/sh\nexec {needs("mpiexec.mpich", "mpich")} "$@"\n')
    wrapper.chmod(0o755)
    mapping, job, line = written(tmp_path, "hydra", seed)
    out = succeed(["sh", "-c", line], {"PATH": f"{folder}:{os.environ['PATH']}", "HYDRA_LAUNCHER": "ssh",
                                       "HYDRA_LAUNCHER_EXEC": str(AGENT)})
    assert_where_the_file_says(out, mapping, job)


@pytest.mark.parametrize("seed", range(2))
def test_intel_mpi_follows_the_machinefile(tmp_path, seed):
    _, environment = intel_mpi()
    mapping, job, line = written(tmp_path, "intel", seed)
    out = succeed(["sh", "-c", line], environment)
    assert_where_the_file_says(out, mapping, job)
