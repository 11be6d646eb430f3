"""Compare each part of a transform of libpencilfft with the limit by memory.

A pass is the phases between two exchanges. Packing and unpacking are fused with the FFTs, so a pass reads and writes the
array once. An exchange reads and writes the data that leaves the rank. The time of these bytes at the rate of STREAM's copy
is a lower limit for everything that goes through memory; arrays that fit into the caches can be faster.
"""

from dataclasses import dataclass

from pencilmap.scripts.maintenance.benchmarks import Case

PASSES = {  # by R > 1 and C > 1; as in fft_runner/src/layout/forms.c
    (True, True): (("fft_z", "pack_row"), ("exchange_row",), ("unpack_row", "fft_y", "pack_column"), ("exchange_column",),
                   ("unpack_column", "fft_x")),
    (False, True): (("fft_z", "fft_y", "pack_column"), ("exchange_column",), ("unpack_column", "fft_x")),
    (True, False): (("fft_z", "fft_x", "pack_row"), ("exchange_row",), ("unpack_row", "fft_y")),
    (False, False): (("fft_z", "fft_y"), ("fft_x",)),
}


@dataclass(frozen=True)
class Pass:
    """The phases of a pass, its seconds, and the seconds of a copy of its bytes."""

    phases: tuple[str, ...]
    seconds: float
    limit_s: float

    @property
    def is_exchange(self) -> bool:
        return self.phases[0].startswith("exchange")


def passes(case: Case, grid: tuple[int, int], seconds: dict[str, float], stream_copy: float) -> list[Pass]:
    """The passes of a transform.

    `grid` is the one of the plan, `seconds` are the times of the phases, `stream_copy` the bytes per second read and written
    by all ranks together.

    >>> from pencilmap.scripts.maintenance.benchmarks import Case
    >>> spent = {"fft_z": 1.0, "fft_y": 1.0, "pack_column": 0.5, "exchange_column": 1.0, "unpack_column": 1.0, "fft_x": 1.0}
    >>> for part in passes(Case((64, 64, 64), (1, 2)), (1, 2), spent, 2 * 16 * 64**3):
    ...     print(part.phases, part.seconds, part.limit_s)
    ('fft_z', 'fft_y', 'pack_column') 2.5 1.0
    ('exchange_column',) 1.0 0.5
    ('unpack_column', 'fft_x') 2.0 1.0
    """
    R, C = grid
    parts = {"exchange_row": (R - 1) / R, "exchange_column": (C - 1) / C}
    found = []
    for phases in PASSES[R > 1, C > 1]:
        n_bytes = _bytes(case, phases) * parts.get(phases[0], 1)
        found.append(Pass(phases, sum(seconds[phase] for phase in phases), n_bytes / stream_copy))
    return found


def _bytes(case, phases):
    """The bytes read and written once. In the pass with z, one side is the real array if z is halved."""
    complex_bytes = _elements(case.output_shape if case.type == "r2c" else case.input_shape) * (
        case.real_bytes if case.type in ("dct", "dst") else 2 * case.real_bytes)
    real_bytes = _elements(case.shape) * case.real_bytes
    return complex_bytes + (real_bytes if "fft_z" in phases and case.type in ("r2c", "c2r") else complex_bytes)


def _elements(shape):
    nx, ny, nz = shape
    return nx * ny * nz
