"""MPICH and Intel MPI start ranks on four simulated hosts where the machinefile says; a script stands in for ssh."""

import os
import shutil
from pathlib import Path

import pytest

from tests.launchers.conftest import AGENT, ROOT, needs, succeed
from tests.launchers.placed import assert_where_the_file_says, written


@pytest.mark.parametrize("seed", range(2))
def test_mpich_follows_the_machinefile(tmp_path, seed):
    folder = tmp_path / "bin"
    folder.mkdir()
    wrapper = folder / "mpiexec"  # no link: Hydra looks for its proxies beside the name it is called by
    wrapper.write_text(f'#!/bin/sh\nexec {needs("mpiexec.mpich", "mpich")} "$@"\n')
    wrapper.chmod(0o755)
    mapping, job, line = written(tmp_path, "hydra", seed)
    out = succeed(["sh", "-c", line], {"PATH": f"{folder}:{os.environ['PATH']}", "HYDRA_LAUNCHER": "ssh",
                                       "HYDRA_LAUNCHER_EXEC": str(AGENT)})
    assert_where_the_file_says(out, mapping, job)


@pytest.mark.parametrize("seed", range(2))
def test_intel_mpi_follows_the_machinefile(tmp_path, seed):
    root = Path(os.environ.get("PENCILMAP_INTELMPI", ROOT / "build" / "launchers" / "intelmpi"))
    if not shutil.which(root / "bin" / "hydra_bstrap_proxy"):
        pytest.skip(f"NOT TESTED: Intel MPI is not in {root} (python3 -m venv {root} && {root}/bin/pip install impi-rt)")
    mapping, job, line = written(tmp_path, "intel", seed)
    out = succeed(["sh", "-c", line], {"PATH": f"{root}/bin:{os.environ['PATH']}", "I_MPI_ROOT": str(root),
                                       "I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(AGENT)})
    assert_where_the_file_says(out, mapping, job)
