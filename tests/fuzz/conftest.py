"""The fuzz targets in C use the library in the build folder."""

from tests.fft_runner.conftest import programs

__all__ = ["programs"]
