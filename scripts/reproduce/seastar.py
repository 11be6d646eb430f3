"""The rates of a node of a Cray XT from published all-to-alls of Jaguar (Schulz 2008), and tori for a number of nodes.

Idea: every message takes its start, and each hop of its bytes takes a share of links that other jobs use, too:
t = starts + bytes x hops of a node / rate. The rate is the least-squares fit of the relative errors; the start is the mean
of the 1 KiB row. A port of the node (bytes / rate, added) would be fitted as faster than its hardware; it decides nothing.
Source: R. Schulz, "3D FFT with 2D decomposition" (2008), sec. 5: MPI_Alltoall by the Intel MPI Benchmarks on Jaguar, two
cores a node; the nodes of a job were not contiguous. Assumed here: processes fill nodes, on tori as cubic as possible.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, log, prod

from pencilmap.mapper.setting import setting
from pencilmap.model.times.published import table

START_BYTES, LARGE_BYTES = 1024, (32768, 65536)
PROCESSES, CORES = (4, 8, 16, 32, 64, 128), 2


@dataclass(frozen=True)
class Rates:
    """Seconds of the start of a message, and bytes times hops per second of a node."""

    start_s: float
    byte_hops: float


@dataclass(frozen=True)
class AllToAll:
    """A published all-to-all: bytes of a message, processes, seconds, and bytes times hops of a node by the model."""

    size: int
    processes: int
    time_s: float
    byte_hops: float

    def time_by(self, rates: Rates) -> float:
        """Return seconds by the two rates."""
        return rates.start_s * (self.processes - 1) + self.byte_hops / rates.byte_hops


def shape_for(nodes: int) -> str:
    """Return the torus of at least that many nodes with the fewest nodes among those no longer than a cube.

    >>> shape_for(342), shape_for(11), shape_for(32)
    ('7x7x7', '3x2x2', '4x4x2')
    """
    side = ceil(nodes ** (1 / 3) - 1e-9)
    found = [(x, y, z) for x in range(1, side + 1) for y in range(1, x + 1) for z in range(1, y + 1) if x * y * z >= nodes]
    return "x".join(map(str, min(found, key=lambda sides: (prod(sides), sides))))


@lru_cache
def published() -> tuple[AllToAll, ...]:
    """Return the all-to-alls of the largest messages, which the rates are fitted to."""
    lines = {int(line["bytes"]): line for line in table("schulz_2008.csv") if line["table"] == "alltoall-jaguar"}
    return tuple(_one(size, p, 1e-6 * float(lines[size][f"{p} processes"])) for size in LARGE_BYTES for p in PROCESSES)


def _one(size, processes, time_s):
    where = setting(network=shape_for(processes // CORES), tasks_per_node=CORES, bandwidth="1 GB/s", idle=True,
                    fft=f"{size // 16}x{processes}x{processes}")
    work = where.predictions(f"1x{processes}", ["default"])[0].stage("column").work
    assert work is not None
    return AllToAll(size, processes, time_s, work.byte_hops)


@lru_cache
def rates() -> Rates:
    """Return the fitted rates. The machine file of the Cray XT5 has them, rounded to two digits."""
    line = next(line for line in table("schulz_2008.csv")
                if line["table"] == "alltoall-jaguar" and int(line["bytes"]) == START_BYTES)
    starts = [1e-6 * float(line[f"{p} processes"]) / (p - 1) for p in PROCESSES]
    start_s = exp(sum(map(log, starts)) / len(starts))
    rest = [(a.time_s - start_s * (a.processes - 1)) / a.time_s for a in published()]
    parts = [a.byte_hops / a.time_s for a in published()]
    return Rates(start_s, sum(p * p for p in parts) / sum(p * r for p, r in zip(parts, rest)))
