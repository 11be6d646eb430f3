# What this MPI has beyond MPI-3, and whether FFTW's MPI library here was built for it. Sets
#   PENCILFFT_HAVE_ALLTOALLV_INIT, PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT   persistent collectives, of MPI-4 or of Open MPI 4
#   PENCILFFT_HAVE_LARGE_COUNTS                                          MPI_Alltoallv_c and its like, of MPI-4
#   PENCILFFT_HAVE_FFTW_MPI, PENCILFFT_FFTW_MPI_LIBRARY
#   PENCILFFT_FEATURES                                                   the definitions for the library's sources
include(CheckSymbolExists)
include(CMakePushCheckState)

cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Alltoallv_init mpi.h PENCILFFT_HAVE_ALLTOALLV_INIT)
if(NOT PENCILFFT_HAVE_ALLTOALLV_INIT)
  check_symbol_exists(MPIX_Alltoallv_init "mpi.h;mpi-ext.h" PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT)
endif()
check_symbol_exists(MPI_Alltoallv_init_c mpi.h PENCILFFT_HAVE_LARGE_COUNTS) # among the last that an MPI gains
cmake_pop_check_state()

# A library for another MPI links just as well and crashes when called, so it is called once here, in a single process.
# Where programs cannot be run, give -DPENCILFFT_HAVE_FFTW_MPI=ON yourself.
find_library(PENCILFFT_FFTW_MPI_LIBRARY fftw3_mpi HINTS ${FFTW3_LIBRARY_DIRS})
find_path(PENCILFFT_FFTW_MPI_HEADERS fftw3-mpi.h HINTS ${FFTW3_INCLUDE_DIRS})
if(PENCILFFT_FFTW_MPI_LIBRARY AND PENCILFFT_FFTW_MPI_HEADERS AND NOT DEFINED PENCILFFT_HAVE_FFTW_MPI)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/fftw_mpi_probe.c)
  file(WRITE ${probe} "
#include <fftw3-mpi.h>
int __lsan_is_turned_off(void) /* MPI leaks memory, which is no error here */
{
    return 1;
}
int main(int argc, char **argv)
{
    double in[6], out[6] = {0};
    fftw_plan plan;
    int right = 0, i;
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    plan = fftw_mpi_plan_transpose(2, 3, in, out, MPI_COMM_WORLD, FFTW_ESTIMATE);
    for (i = 0; i < 6; i++)
        in[i] = i;
    if (plan) {
        fftw_execute(plan);
        right = out[1] == 3 && out[2] == 1 && out[5] == 5;
        fftw_destroy_plan(plan);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
")
  try_run(fftw_mpi_runs fftw_mpi_compiles ${CMAKE_CURRENT_BINARY_DIR} ${probe}
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PENCILFFT_FFTW_MPI_HEADERS}
    LINK_LIBRARIES ${PENCILFFT_FFTW_MPI_LIBRARY} PkgConfig::FFTW3 MPI::MPI_C m)
  if(fftw_mpi_compiles AND fftw_mpi_runs STREQUAL "0")
    set(works ON)
  else()
    set(works OFF)
  endif()
  set(PENCILFFT_HAVE_FFTW_MPI ${works} CACHE BOOL "FFTW's MPI library is there and was built for this MPI")
endif()
message(STATUS "FFTW's MPI library for exchange fftw: ${PENCILFFT_HAVE_FFTW_MPI}")

set(PENCILFFT_FFTW_MPI_FLAG)
if(PENCILFFT_HAVE_FFTW_MPI)
  set(PENCILFFT_FFTW_MPI_FLAG -lfftw3_mpi) # programs that link the static library need it too
endif()
set(PENCILFFT_FEATURES)
foreach(feature ALLTOALLV_INIT MPIX_ALLTOALLV_INIT LARGE_COUNTS FFTW_MPI)
  if(PENCILFFT_HAVE_${feature})
    list(APPEND PENCILFFT_FEATURES PENCILFFT_HAVE_${feature})
  endif()
endforeach()
