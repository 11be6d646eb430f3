"""The fuzz targets in C take the library from the build."""

from tests.fft_runner.conftest import programs

__all__ = ["programs"]
