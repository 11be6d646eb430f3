"""Places the MPI ranks of a pencil-decomposed 3D-FFT on a torus or mesh, and says how long its exchanges take.

The top-level folders of the checkout are its layers, linked here so that editors, type checkers and setuptools find them.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pencilmap")
except PackageNotFoundError:  # a checkout on PYTHONPATH
    __version__ = "0+unknown"
