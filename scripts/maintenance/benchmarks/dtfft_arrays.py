"""dtFFT (PyPI: dtfft-fftw-openmpi) by its Python binding; it chooses the exchange by trial (effort PATIENT)."""

from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered
from pencilmap.scripts.maintenance.benchmarks.fftw_mpi import aligned

INPUT, OUTPUT = (2, 1, 0), (0, 2, 1)  # axes of its counts before and after a transform, fastest first


class DtFft:
    """Divides x before and y after the transform, which is dtFFT's choice."""

    def __init__(self, case: Case, comm: Any, _choice: str) -> None:
        try:
            import dtfft
        except ImportError as error:
            raise NotOffered(f"{error}; install it: pip install dtfft-fftw-openmpi") from error
        if not dtfft.is_fftw_enabled():
            raise NotOffered("this dtfft was built without FFTW; install dtfft-fftw-openmpi alone")
        kinds = {"dct": "DCT_2", "dst": "DST_2"}
        how = (comm, getattr(dtfft.Precision, case.precision.upper()), dtfft.Effort.PATIENT, dtfft.Executor.FFTW3)
        extents = list(case.shape[::-1])
        if case.type in kinds:
            self._plan = dtfft.PlanR2R(extents, [getattr(dtfft.R2RKind, kinds[case.type])] * 3, *how)
        else:
            self._plan = (dtfft.PlanC2C if case.type == "c2c" else dtfft.PlanR2C)(extents, *how)
        backward = case.type == "c2r"
        self._way = dtfft.Execute.BACKWARD if backward else dtfft.Execute.FORWARD
        in_starts, in_counts, out_starts, out_counts, _ = self._plan.local_sizes
        before, after = (in_starts, in_counts, INPUT), (out_starts, out_counts, OUTPUT)
        first, last = (after, before) if backward else (before, after)
        self.input, self.input_part, self._source = self._laid(first, case.input_dtype)
        self.output, self.output_part, self._target = self._laid(last, case.output_dtype)

    def _laid(self, where, dtype):
        """An array with the axes x, y, z, its slices, and its memory."""
        starts, counts, axes = where
        memory = aligned(self._plan.alloc_bytes).view(dtype)
        array = memory[:int(np.prod(counts))].reshape(counts[::-1]).transpose([2 - axis for axis in _inverse(axes)])
        order = _inverse(axes)
        return array, tuple(slice(starts[i], starts[i] + counts[i]) for i in order), memory

    def run(self) -> None:
        self._plan.execute(self._source, self._target, self._way)


def _inverse(axes):
    """The indices of the counts of x, y and z."""
    return [axes.index(axis) for axis in range(3)]


make = DtFft
