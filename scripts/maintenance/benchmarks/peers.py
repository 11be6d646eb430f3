"""Build drivers of peers that are installed: AccFFT, 2DECOMP&FFT, heFFTe, P3DFFT, and of plain FFTW with MPI_Alltoallv.

    python -m pencilmap.scripts.maintenance.benchmarks.peers --prefix /opt/heffte --prefix ~/2decomp-fft/build/opt
    python scripts/maintenance/benchmark_fft.py --contestant peer:heffte --contestant peer:decomp2d

The code of the peers is not part of this tree. The plain way is part of its driver and always builds. A prefix is a folder
with include and lib (or lib64), from `cmake --install` or `make install`; the prefixes of the system are searched, too. A
driver is a small shared library in build/peers, so the peers must be shared libraries or have position-independent code.
The program reports each driver that cannot be built, with the reason.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from pencilmap.scripts.networks.build import tail

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "peers"
DRIVERS = Path(__file__).resolve().parent / "drivers"
FFTW = ("fftw3", "fftw3f", "fftw3_threads")


@dataclass(frozen=True)
class Peer:
    """A peer's driver, the compiler wrapper, and the libraries to link."""

    source: str
    compilers: tuple[str, ...]
    libraries: tuple[str, ...]
    options: tuple[str, ...] = ()


PEERS = {
    "accfft": Peer("accfft.cpp", ("mpicxx.openmpi", "mpicxx"), ("accfft", "accfft_utils", *FFTW, "gomp"), ("-fopenmp",)),
    "decomp2d": Peer("decomp2d.f90", ("mpifort.openmpi", "mpifort"), ("decomp2d", *FFTW)),
    "heffte": Peer("heffte.cpp", ("mpicxx.openmpi", "mpicxx"), ("heffte", *FFTW), ("-std=c++17",)),
    "p3dfft": Peer("p3dfft.c", ("mpicc.openmpi", "mpicc"), ("p3dfft", *FFTW, "gfortran", "mpi_mpifh"), ("-DGNU",)),
    "plain": Peer("plain.c", ("mpicc.openmpi", "mpicc"), ("fftw3",)),
}


def library_of(name: str) -> Path:
    """Return the path of a peer's driver, built or not."""
    return FOLDER / f"libpeer_{name}.so"


def build(name: str, prefixes: tuple[str, ...]) -> str | None:
    """Build the driver of a peer; return None, or the reason if the build fails."""
    peer = PEERS[name]
    compiler = next(filter(None, map(shutil.which, peer.compilers)), None)
    if compiler is None:
        return f"no {peer.compilers[-1]}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    library_of(name).unlink(missing_ok=True)
    where = [option for prefix in prefixes for option in _options(Path(prefix).expanduser())]
    done = subprocess.run([compiler, "-O2", "-shared", "-fPIC", *peer.options, DRIVERS / peer.source, f"-J{FOLDER}"
                           if peer.source.endswith("f90") else f"-I{DRIVERS}", *where, "-o", library_of(name),
                           *(f"-l{library}" for library in peer.libraries)], capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "rror" in line]
    return (errors[0] if errors else tail(done.stderr, 1)) if done.returncode else None


def _options(prefix):
    for folder in ("include", "mod", "include/p3dfft", "opt/include"):
        if (prefix / folder).is_dir():
            yield f"-I{prefix / folder}"
    for folder in ("lib", "lib64", "opt/lib"):
        if (prefix / folder).is_dir():
            yield from (f"-L{prefix / folder}", f"-Wl,-rpath,{prefix / folder}")


@click.command(help=__doc__.split("\n\n")[0])
@click.option("--prefix", "prefixes", multiple=True, metavar="DIR", help="Where peers are installed; may be repeated.")
@click.argument("names", nargs=-1, type=click.Choice(list(PEERS)))
def main(prefixes: tuple[str, ...], names: tuple[str, ...]) -> None:
    built = 0
    for name in names or PEERS:
        why = build(name, prefixes)
        if why is None:
            built += 1
            click.echo(f"{name}: {library_of(name)}")
        else:
            click.echo(f"NOT BUILT: {name}: {why}", err=True)
    sys.exit(0 if built == len(names or PEERS) else 1)


if __name__ == "__main__":
    main()
