# Build and install libpencilfft and fft_runner into PREFIX; conda's tools set PREFIX and CMAKE_ARGS.
set -euo pipefail
cmake -S fft_runner -B build-conda ${CMAKE_ARGS:-} -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DPENCILFFT_SMPI=OFF -DPENCILFFT_TESTS=OFF -DBUILD_SHARED_LIBS=ON
cmake --build build-conda --parallel "${CPU_COUNT:-1}"
cmake --install build-conda
