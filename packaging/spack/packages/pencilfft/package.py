"""Recipe for Spack 1: spack repo add packaging/spack && spack install pencilfft"""

from pathlib import Path

from spack.package import conflicts, depends_on, license, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Pencilfft(CMakePackage):
    """Three-dimensional FFTs over MPI by pencils or slabs, and pm_comm_reorder; with the runner, fft_runner."""

    git = Path(__file__).resolve().parents[4].as_uri()  # the checkout that this recipe lies in
    root_cmakelists_dir = "fft_runner"

    license("BSD-3-Clause")
    version("main", branch="main")

    variant("shared", default=True, description="Shared libraries; else static ones")
    variant("fortran", default=True, description="The Fortran module")
    variant("runner", default=True, description="The programs fft_runner, transpose_bench and network_probe")
    variant("fftw_mpi", default=True, description="The exchange fftw, by FFTW's MPI library")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")  # writes the wrappers of libpencilmap_place.so
    depends_on("mpi@3:")
    depends_on("fftw-api@3")
    depends_on("fftw precision=float,double")
    depends_on("fftw +mpi", when="+fftw_mpi")
    depends_on("fftw ~mpi", when="~fftw_mpi")
    depends_on("hwloc", when="+runner")
    depends_on("jansson@2.13:", when="+runner")
    conflicts("platform=windows")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("PENCILFFT_SMPI", False),
            self.define("PENCILFFT_TESTS", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("PENCILFFT_FORTRAN", "fortran"),
            self.define_from_variant("PENCILFFT_RUNNER", "runner"),
            self.define_from_variant("PENCILFFT_HAVE_FFTW_MPI", "fftw_mpi"),
        ]
