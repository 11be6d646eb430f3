"""Cramer and Board (2000), Fig. 3 to 8: slabs on their clusters, predicted and simulated, as speed-up over serial FFTW.

The machine files `duke-beowulf` and `ibm-sp2` describe the clusters. fft_runner runs on the simulated network, where every
message travels and every call of FFTW takes 5 n log2 n operations a line at the rate of the machine file. Serial FFTW takes
the operations of the whole array. So its rate, which no source gives, is the only assumed figure besides those in the
machine files. As in the paper, the slices of a slab are sent as soon as they are transformed (schedule overlap along x). The
model chooses the number of messages, in which the slices of a slab go to each other process.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import log2

from pencilmap.mapper.setting import Setting, setting
from pencilmap.model.decompositions import SLAB
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate_all, simulation_of

DUKE, SP2 = "duke-beowulf", "ibm-sp2"


@dataclass(frozen=True)
class Place:
    """Processes on workstations: as many on each as there are tasks, the last workstations may be idle."""

    processes: int
    workstations: int
    tasks: int = 1


#: the cluster has 16 machines of two processors; 32 workstations would have a link for each process
DUKE_PLACES = (*(Place(p, 16) for p in (2, 4, 8, 12, 16)), Place(24, 16, 2), Place(32, 16, 2), Place(24, 32), Place(32, 32))
SP2_PLACES = tuple(Place(p, 32) for p in (2, 4, 8, 16, 32))


@dataclass(frozen=True)
class Times:
    """Seconds of a transform of n^3 complex doubles in one place, predicted and simulated."""

    place: Place
    messages: int  #: in which a process sends its slices to each other process, by the model
    serial_s: float  #: of serial FFTW, at the rate of the machine file
    predicted_s: float
    simulated_s: float
    together_s: float  #: simulated, with all slices in one message, as FFTW does
    singly_s: float  #: simulated, with each slice in a message of its own, as in the paper

    @property
    def alone(self) -> float:
        """Simulated speed-up over serial FFTW with each slice alone, as in the paper."""
        return self.serial_s / self.singly_s


def serial_s(machine: str, n: int) -> float:
    """Return the seconds of serial FFTW for n^3 complex doubles, at the rate of the machine file.

    >>> f"{serial_s(DUKE, 64):.4f}"
    '0.2359'
    """
    rate = load_machine(machine).costs.fft_rate_per_task
    assert rate is not None
    return 15 * n**3 * log2(n) / rate


def where_of(machine: str, fft: str, place: Place) -> Setting:
    """Return the setting of a transform of slabs in a place."""
    return setting(machine=machine, network=f"fat-tree:leaves=1,hosts={place.workstations},up=1", fft=fft,
                   decomposition=SLAB.name, tasks_per_node=place.tasks, idle=True)


def simulated_network(where: Setting) -> SimulatedNetwork:
    """Return the network of a setting, with the cost of a message and the rate of FFTs of its machine."""
    return SimulatedNetwork(where.network, message_s=where.costs.message_cost_s or 0.0,
                            flops=where.costs.fft_rate_per_task or 0.0)


def forecast(where: Setting, processes: int, schedule: str) -> tuple[str, int, float]:
    """Return name, number of messages and predicted seconds of a schedule, with its computing."""
    placed = where.place("default", ProcessGrid(processes, decomposition=SLAB), schedule)
    found = where.predict(placed, schedule=schedule).schedule
    assert found is not None and found.total_s is not None
    return found.name, len(found.sizes), found.total_s


def best_forecast(where: Setting, processes: int) -> tuple[str, int, float]:
    """Return the forecast of the fastest number of messages for the slices; one is the sequence."""
    return min((forecast(where, processes, name) for name in (SEQUENCE, "overlap")), key=lambda found: found[2])


def efficiency_at(machine: str, n: int, place: Place, factor: float) -> float:
    """Return the predicted efficiency if serial FFTW had `factor` times the rate of the machine file."""
    where = where_of(machine, str(n), place)
    rate = (where.costs.fft_rate_per_task or 0.0) * factor
    time_s = best_forecast(replace(where, costs=replace(where.costs, fft_rate_per_task=rate)), place.processes)[2]
    return serial_s(machine, n) / factor / time_s / place.processes


@cache
def times(machine: str, n: int, places: tuple[Place, ...]) -> list[Times]:
    """Return predicted and simulated times of n^3 in every place."""
    asked, predicted = [], []
    for place in places:
        where, grid = where_of(machine, str(n), place), ProcessGrid(place.processes, decomposition=SLAB)
        best = best_forecast(where, place.processes)
        predicted.append(best)
        asked += [simulation_of(where, simulated_network(where), grid, "default", name)
                  for name in (best[0], SEQUENCE, f"overlap:{n // place.processes}:x")]
    totals = [found[0]["phases"]["total"]["max_s"][0] for found in simulate_all(asked)]
    return [Times(place, messages, serial_s(machine, n), predicted_s, *totals[3 * i:3 * i + 3])
            for i, (place, (_, messages, predicted_s)) in enumerate(zip(places, predicted))]
