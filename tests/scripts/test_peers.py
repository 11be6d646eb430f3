"""Drivers of peers: each builds with a stand-in for the interface of its peer, and gives the results of NumPy."""

import shutil
import subprocess
import sys
from functools import cache
from math import prod
from pathlib import Path

import pytest

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered, contestant, peers
from tests.documents import ENVIRONMENT, ROOT
from tests.patience import patience

STAND_INS = Path(__file__).parent / "peers"  # the declarations of the peers' headers and modules, by FFTW on the whole array
TIMEOUT_S = 300


def wrapper(name):
    """Return the compiler wrapper of the drivers: Open MPI's if there are several."""
    return shutil.which(f"{name}.openmpi") or name


@pytest.fixture(scope="module")
def drivers(tmp_path_factory):
    """By peer and options for its stand-in: the folder of its driver, built with the stand-in."""
    if missing := [program for program in ("mpirun", "mpicc", "mpicxx") if not shutil.which(program)]:
        pytest.skip(f"NOT TESTED: drivers of peers, for {', '.join(missing)} is missing")

    @cache
    def built(name, *options):
        if name in ("decomp2d", "p3dfft") and not shutil.which("gfortran"):
            pytest.skip(f"NOT TESTED: the driver of {name}, for gfortran is missing")
        prefix = tmp_path_factory.mktemp("prefix")
        include, lib = prefix / "include", prefix / "lib"
        shutil.copytree(STAND_INS, include), lib.mkdir()
        sources = {"p3dfft": ["p3dfft.c"], "decomp2d": ["decomp2d.c", "decomp2d.f90"]}.get(name, [])  # others are headers
        compiler = wrapper("mpicc")
        objects = [lib / f"{source}.o" for source in sources]
        for source, made in zip(sources, objects, strict=True):
            compiler = wrapper("mpifort" if source.endswith("f90") else "mpicc")
            subprocess.run([compiler, "-fPIC", *options, "-c", STAND_INS / source, "-o", made], check=True, cwd=include)
        for library in (name, "accfft_utils"):
            subprocess.run([compiler, "-shared", "-o", lib / f"lib{library}.so", *objects, "-lfftw3"], check=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(peers, "FOLDER", prefix)
            assert peers.build(name, (str(prefix),)) is None
        return prefix

    return built


@pytest.mark.sampled(4)
@pytest.mark.parametrize("grid", ["1x2", "3x1", "2x2"])
@pytest.mark.parametrize("kind", ["c2c", "r2c", "c2r"])
@pytest.mark.parametrize("name", ["accfft", "decomp2d", "heffte", "p3dfft", "p3dfft -DSTRIDE1", "plain"])
def test_a_driver_fits_the_interface_of_its_peer(name, kind, grid, drivers):
    """With stand-ins, because only plain is installed here: every element, on grids with unequal shares."""
    name, *options = name.split()
    ranks = str(prod(map(int, grid.split("x"))))
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", ranks, sys.executable, "-m", "tests.scripts.peers.ranks",
                           drivers(name, *options), name, grid, kind], capture_output=True, text=True,
                           timeout=patience(TIMEOUT_S),
                          cwd=ROOT, env=ENVIRONMENT)
    missing = {"p3dfft": "c2c", "plain": "c2r"}.get(name)
    right = f"{name} has no {kind}" if kind == missing else f"{name} {kind} is right on {grid}"
    assert (done.returncode, done.stdout) == (0, right + "\n"), done.stderr


def test_what_cannot_be_built_or_is_not_built_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setitem(peers.PEERS, "none", peers.Peer("p3dfft.c", ("mpicc.openmpi", "mpicc"), ("no-such-library",)))
    assert "rror" in peers.build("none", ())
    monkeypatch.setitem(peers.PEERS, "none", peers.Peer("p3dfft.c", ("no-such-compiler",), ()))
    assert peers.build("none", ()) == "no no-such-compiler"
    with pytest.raises(NotOffered, match=r"libpeer_heffte\.so is not built"):
        contestant("peer:heffte", Case((4, 6, 5), (1, 1)), None)
