"""mpi4py-fft (PyPI) on arrays from its own plan, its fastest way; its default is FFTW_MEASURE."""

from functools import partial
from typing import Any

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered


class Mpi4pyFft:
    """Pencils of z in, pencils of x out; reversed for c2r."""

    def __init__(self, case: Case, comm: Any, _choice: str) -> None:
        try:
            from mpi4py_fft import PFFT, fftw
        except ImportError as error:
            raise NotOffered(f"{error}; install it by scripts/setup --everything") from error
        R, C = case.grid
        options = {}
        if case.type in ("dct", "dst"):
            there, back = (fftw.dctn, fftw.idctn) if case.type == "dct" else (fftw.dstn, fftw.idstn)
            options["transforms"] = {(axis,): (partial(there, type=2), partial(back, type=2)) for axis in range(3)}
        backward = case.type == "c2r"
        self._fft = PFFT(comm, case.shape, axes=((0,), (1,), (2,)), grid=(C, R, 1),
                         dtype=case.output_dtype if backward else case.input_dtype, **options)
        self._transform = self._fft.backward if backward else self._fft.forward
        self.input, self.output = self._transform.input_array, self._transform.output_array
        self.input_part, self.output_part = self._fft.local_slice(backward), self._fft.local_slice(not backward)

    def run(self) -> None:
        self._transform(normalize=False)


make = Mpi4pyFft
