"""Cramer and Board (2000), Fig. 10 to 12: the split of processes between the two parts of an Ewald sum, on their cluster.

Reciprocal part on R processes: spreading, halo, forward transform, influence, backward transform, halo, gathering. The
transforms and the halo are predicted by the time model, and simulated with the example pme_c. Spreading, gathering and
influence take their operations, counted in pme_c, at the rate of the machine file, and divide by R.
Direct part on D processes: d / D seconds. Its serial time d is fitted to one published number: without a parallel FFT the
sum is at most 4 times faster, so the reciprocal part takes a quarter of the serial time of 64^3. The speed-up with a
parallel FFT is then a prediction. The slower part decides, so the best split needs no run of every split: the time of the
reciprocal part depends on R alone.
"""

from dataclasses import dataclass
from functools import cache

from pencilmap.model.decompositions import SLAB
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import transform_of
from pencilmap.model.times.published import table
from pencilmap.model.traffic.halo import halo
from pencilmap.scripts.networks.simulated_ewald import EwaldRun, simulate_ewald
from pencilmap.scripts.reproduce.cramer_fft import DUKE, Place, best_forecast, simulated_network, where_of

CHARGES, ORDER = 2000, 5  # of pme_c; the paper gives neither
FITTED_MESH = 64
SPREAD_FLOPS, WAVE_FLOPS = 21, 30  # assumed: a charge and a point of its spline, both ways; a wave of the mesh
WORKSTATIONS = 33  # a link for each process; the direct processes send nothing
PROCESSES = (2, 3, 4, 5, 8, 12, 16, 24, 32)
RECIPROCAL = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24)  # processes of the reciprocal part that are simulated


def fact(name: str) -> float:
    """Return a number from the text of the paper."""
    return next(float(r["value"]) for r in table("cramer_2000.csv") if r["quantity"] == name)


@dataclass(frozen=True)
class Split:
    """Processes of both parts, and the seconds of the slower part."""

    direct: int
    reciprocal: int
    time_s: float


@dataclass(frozen=True)
class Parts:
    """Seconds of both parts of an Ewald sum on a mesh."""

    direct_s: float  #: of one process
    reciprocal_s: dict[int, float]  #: by the number of processes

    @property
    def serial_s(self) -> float:
        """Seconds of both parts on one process, one after the other."""
        return self.direct_s + self.reciprocal_s[1]

    def split(self, processes: int, reciprocal: int) -> Split:
        """Return the split of so many processes with `reciprocal` of them for the mesh."""
        direct = processes - reciprocal
        return Split(direct, reciprocal, max(self.direct_s / direct, self.reciprocal_s[reciprocal]))

    def best(self, processes: int) -> Split:
        """Return the fastest split; the fewest reciprocal processes among equals."""
        return min((self.split(processes, r) for r in self.reciprocal_s if r < processes), key=lambda each: each.time_s)


def other_computing_s(mesh: int) -> float:
    """Return the seconds of spreading, gathering and influence on one process.

    >>> f"{other_computing_s(64):.3f}"
    '0.092'
    """
    rate = load_machine(DUKE).costs.fft_rate_per_task
    assert rate is not None
    return (CHARGES * ORDER**3 * SPREAD_FLOPS + mesh**3 / 2 * WAVE_FLOPS) / rate


def _mesh_s(mesh, reciprocal):
    """Return name of the schedule and predicted seconds of two transforms and two halos on a number of processes."""
    place = Place(reciprocal, WORKSTATIONS)
    where = where_of(DUKE, f"{mesh}:r2c", place)
    name, _, transform_s = best_forecast(where, reciprocal)
    sent = halo(ProcessGrid(reciprocal, decomposition=SLAB), transform_of((mesh,) * 3, "r2c"), "input", (ORDER - 1,) * 3,
                (0, 0, 0))
    of = [float(sent.group_weight[sent.members[:, 0] == rank].sum() * sent.unit_bytes) for rank in range(reciprocal)]
    messages = max(int((sent.members[:, 0] == rank).sum()) for rank in range(reciprocal))
    assert where.network.bandwidth is not None
    halo_s = max(of) / where.network.bandwidth[0] + messages * (where.costs.message_cost_s or 0.0) if reciprocal > 1 else 0.0
    return name, 2 * transform_s + 2 * halo_s


@cache
def predicted(mesh: int) -> Parts:
    """Return the parts by the time model."""
    alone = other_computing_s(mesh)
    reciprocal = {r: _mesh_s(mesh, r)[1] + alone / r for r in RECIPROCAL}
    return Parts(_direct_s(), reciprocal)


@cache
def _direct_s():
    """Return the serial direct part, so that the serial reciprocal part limits the speed-up to the published one."""
    serial = _mesh_s(FITTED_MESH, 1)[1] + other_computing_s(FITTED_MESH)
    return (fact("dpme_serial_speedup") - 1) * serial


@cache
def simulated(mesh: int) -> Parts:
    """Return the parts with transforms and halos by pme_c on the simulated network."""
    runs = []
    for r in RECIPROCAL:
        network = simulated_network(where_of(DUKE, f"{mesh}:r2c", Place(r, WORKSTATIONS)))
        runs.append(EwaldRun(network, r, ("--random", str(CHARGES), "--order", str(ORDER), "--mesh", str(mesh),
                                          "--decomposition", SLAB.name, "--schedule", _mesh_s(mesh, r)[0])))
    alone = other_computing_s(mesh)
    totals = {r: found["total"] + alone / r for r, found in zip(RECIPROCAL, simulate_ewald(runs))}
    return Parts(_direct_s(), totals)
