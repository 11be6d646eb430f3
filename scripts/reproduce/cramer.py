"""Cramer and Board (2000): slabs on their clusters, speed-up over serial FFTW, messages, and particle-mesh Ewald.

The machine files `duke-beowulf` and `ibm-sp2` describe the clusters. fft_runner runs on the simulated network, where every
message travels and every call of FFTW takes 5 n log2 n operations a line at the rate of the machine file. Serial FFTW takes
the operations of the whole array. So its rate, which no source gives, is the only assumed figure besides those in the
machine files. As in the paper, the slices of a slab are sent as soon as they are transformed (schedule overlap along x). The
model chooses the number of messages, in which the slices of a slab go to each other process.

Fig. 10 to 12 split the processes between the two parts of an Ewald sum. Reciprocal part on R processes: spreading, halo,
forward transform, influence, backward transform, halo, gathering. The transforms and the halo are predicted by the time
model, and simulated with the example pme_c. Spreading, gathering and influence take their operations, counted in pme_c, at
the rate of the machine file, and divide by R.
Direct part on D processes: d / D seconds. Its serial time d is fitted to one published number: without a parallel FFT the
sum is at most 4 times faster, so the reciprocal part takes a quarter of the serial time of 64^3. The speed-up with a
parallel FFT is then a prediction. The slower part decides, so the best split needs no run of every split: the time of the
reciprocal part depends on R alone.
"""

import os
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from math import erf, erfc, log2
from statistics import median

from pencilmap.mapper.setting import Setting, setting
from pencilmap.model.base.reading import own_table
from pencilmap.model.decompositions import SLAB
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import block_lengths, transform_of
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.traffic.exchange import halo
from pencilmap.scripts.networks.measured import EwaldRun, ewald_s, serial_fftw_s, simulate_ewald, transforms
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate_all, simulation_of
from pencilmap.scripts.reproduce.figure import DRAWING, PICTURE, SAME, Compared, Figure, Found

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
    placement = where.place("default", ProcessGrid(processes, decomposition=SLAB), schedule)
    prediction = where.predict(placement, schedule=schedule).schedule
    assert prediction is not None and prediction.total_s is not None
    return prediction.name, len(prediction.sizes), prediction.total_s


def best_forecast(where: Setting, processes: int) -> tuple[str, int, float]:
    """Return the forecast of the fastest number of messages for the slices; one is the sequence."""
    return min((forecast(where, processes, name) for name in (SEQUENCE, "overlap")), key=lambda forecast_: forecast_[2])


def efficiency_at(machine: str, n: int, place: Place, factor: float) -> float:
    """Return the predicted efficiency if serial FFTW had `factor` times the rate of the machine file."""
    where = where_of(machine, str(n), place)
    rate = (where.costs.fft_rate_per_task or 0.0) * factor
    time_s = best_forecast(replace(where, costs=replace(where.costs, fft_rate_per_task=rate)), place.processes)[2]
    return serial_s(machine, n) / factor / time_s / place.processes


@cache
def times(machine: str, n: int, places: tuple[Place, ...]) -> list[Times]:
    """Return predicted and simulated times of n^3 in every place."""
    runs, predicted = [], []
    for place in places:
        where, grid = where_of(machine, str(n), place), ProcessGrid(place.processes, decomposition=SLAB)
        best = best_forecast(where, place.processes)
        predicted.append(best)
        runs += [simulation_of(where, simulated_network(where), grid, "default", name)
                 for name in (best[0], SEQUENCE, f"overlap:{n // place.processes}:x")]
    totals = [records[0]["phases"]["total"]["max_s"][0] for records in simulate_all(runs)]
    return [Times(place, messages, serial_s(machine, n), predicted_s, *totals[3 * i:3 * i + 3])
            for i, (place, (_, messages, predicted_s)) in enumerate(zip(places, predicted))]


CHARGES, ORDER = 2000, 5  # of pme_c; the paper gives neither
FITTED_MESH = 64
SPREAD_FLOPS, WAVE_FLOPS = 21, 30  # assumed: a charge and a point of its spline, both ways; a wave of the mesh
WORKSTATIONS = 33  # a link for each process; the direct processes send nothing
PROCESSES = (2, 3, 4, 5, 8, 12, 16, 24, 32)
RECIPROCAL = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24)  # processes of the reciprocal part that are simulated


def fact(name: str) -> float:
    """Return a number from the text of the paper."""
    return next(float(r["value"]) for r in own_table("cramer_2000.csv") if r["quantity"] == name)


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
        return min((self.split(processes, r) for r in self.reciprocal_s if r < processes), key=lambda split: split.time_s)


def other_computing_s(mesh: int) -> float:
    """Return the seconds of spreading, gathering and influence on one process.

    >>> f"{other_computing_s(64):.3f}"
    '0.092'
    """
    rate = load_machine(DUKE).costs.fft_rate_per_task
    assert rate is not None
    return (CHARGES * ORDER**3 * SPREAD_FLOPS + mesh**3 / 2 * WAVE_FLOPS) / rate


def _mesh_s(mesh: int, reciprocal: int) -> tuple[str, float]:
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
def _direct_s() -> float:
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
    totals = {r: part["total"] + alone / r for r, part in zip(RECIPROCAL, simulate_ewald(runs))}
    return Parts(_direct_s(), totals)


def ewald_split() -> Found:
    """Return the potential of a charge in the direct and the reciprocal space; both add up to 1/r."""
    rows = [[r, 1 / r, erfc(r) / r, erf(r) / r, erfc(r) / r + erf(r) / r] for r in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)]
    return Found([">r alpha", ">original", ">direct", ">reciprocal", ">sum"], rows,
                 ["potential of a unit charge over alpha: 1/r is erfc(alpha r)/r + erf(alpha r)/r; from r alpha = 3 on, the "
                  "direct part is below 1e-5, which is why it has a cutoff"],
                 [Compared("potential at r alpha = 1, the sum of both parts", 1.0, rows[2][4], "exact", SAME)])


PROCESSES_HERE = (1, 2, 4)
EWALD_PROCESSES_HERE = (2, 3, 4)
CLUSTER = 16  # workstations of the cluster
SLICES = 8  # of the arrays in the drawings, on 4 processes


# ---- Fig. 1, 2 and 9: drawings, and section 4.2 --------------------------------------------------------------------------


def slabs(after: bool) -> Found:
    """Return Fig. 1 or 2: planes of each of four processes before or after the exchange."""
    rows = []
    for process, (first, count) in enumerate(zip((0, 2, 4, 6), block_lengths(SLICES, 4).tolist())):
        mine, whole = f"{first} to {first + count - 1}", f"0 to {SLICES - 1}"
        rows.append([process, *((whole, mine) if after else (mine, whole)), whole])
    return Found([">process", "x", "y", "z"], rows,
                 [f"indices of {SLICES}^3 elements on 4 processes, {'after' if after else 'before'} the exchange: N / P = "
                  f"{SLICES // 4} slices each; fft_runner --print-plan --decomposition slab prints them for any plan"],
                 [Compared(f"slices of a process, N = {SLICES} and P = 4: N / P", SLICES // 4,
                           int(block_lengths(SLICES, 4)[0]), "exact", SAME)])


def messages() -> Found:
    """Return section 4.2: size and times of the messages of 64^3 on 4 processors."""
    size = 16 * 64**2 / 4
    rows: list[list[float | str]] = [["bytes of a message", fact("message_bytes_64_4"), size]]
    for name, published, rate in (("100 Mb/s Ethernet, s", "message_time", "link_rate"),
                                  ("SP2 through the kernel, s", "sp2_kernel_message", "sp2_kernel_rate"),
                                  ("SP2 from user space, s", "sp2_user_message", "sp2_user_rate")):
        rows.append([name, fact(published), size / fact(rate)])
    compared = [Compared(str(name), float(old), float(new), "exact", "The text rounds.") for name, old, new in rows]
    for name, latency, rate in (("start over flow, SP2 kernel", "sp2_kernel_latency", "sp2_kernel_rate"),
                                ("start over flow, SP2 user", "sp2_user_latency", "sp2_user_rate"),
                                ("start over flow, switch", "switch_latency", "link_rate")):
        rows.append([name, "-", fact(latency) * fact(rate) / size])
    return Found(["of", ">published", ">computed"], rows, ["B N^2 / P with B = 16 bytes, over the rate of a link"], compared)


# ---- Fig. 3 to 8: the FFT ------------------------------------------------------------------------------------------------

_ASSUMED = ("serial FFTW: 15 n^3 log2 n operations at {:g} Gflop/s, which is assumed; the other figures are those of "
            "machine {}, whose switch serves all links at once")


def speedups(machine: str, sizes: tuple[int, ...], timings: bool) -> Found:
    """Return Fig. 3 to 8: speed-up over serial FFTW, or times, predicted and simulated with fft_runner."""
    places = DUKE_PLACES if machine == DUKE else SP2_PLACES
    by_size = {n: times(machine, n, places) for n in sizes}
    rows = [[f"{n}^3", t.place.processes, f"{t.place.processes // t.place.tasks} x {t.place.tasks}",
             t.messages, *((1e3 * s if timings else t.serial_s / s)
                           for s in (t.predicted_s, t.simulated_s, t.singly_s, t.together_s))]
            for n, item in by_size.items() for t in item]
    what = "ms" if timings else "times faster"
    columns = ["size", ">processes", "nodes x tasks", ">messages", f">predicted {what}", f">simulated {what}",
               f">each slice alone, {what}", f">all slices at once, {what}"]
    at = _at(by_size[sizes[-1]], int(fact("speedup_limit" if machine == DUKE else "efficiency_processors"))).place
    others = ", ".join(f"{efficiency_at(machine, sizes[-1], at, f):.2f}" for f in (1, 0.5, 2))
    serial = ", ".join(f"{n}^3 {1e3 * item[0].serial_s:.4g} ms" for n, item in by_size.items())
    rate = (load_machine(machine).costs.fft_rate_per_task or 0.0) / 1e9
    return Found(columns, rows, [_ASSUMED.format(rate, machine), f"serial FFTW takes {serial}",
                                 "messages: in which a process sends its slices to each other process, the best number by "
                                 "the model; each slice alone is the method of the paper, all slices at once that of FFTW",
                                 f"predicted efficiency of {sizes[-1]}^3 on {at.processes} processes at this rate, half and "
                                 f"twice the rate of serial FFTW: {others}", f"published: {PICTURE}"],
                 _timed(by_size) if timings else _judged_sp2(by_size) if machine == SP2 else _judged_duke(by_size))


def _at(rows: list[Times], processes: int, tasks: int = 1) -> Times:
    return next(t for t in rows if (t.place.processes, t.place.tasks) == (processes, tasks))


_BOTH = "simulated, assumed"
_SWITCH = ("Here two processes share a link from 17 on. The paper blames losses of the switch, for with another one the "
           "speed-up fell above {:g}; the simulated switch loses no packet.")
_FFTW = "Here all messages travel at once; FFTW exchanged them in blocking steps over TCP."
_BEST = "The paper sends each slice alone and expects the best number between one and all slices at a time (section 8)."
_KERNEL = "Each slice alone, as in the paper, through the kernel; processor and rate of serial FFTW are assumed."
_POINTS = "The points of the picture are not available in text; each slice alone, as in the paper."
_WORD = "The text has a word, no number; the rate of serial FFTW is assumed."


def _judged_duke(by_size: dict[int, list[Times]]) -> list[Compared]:
    compared, limit = list[Compared](), int(fact("speedup_limit"))
    for n, rows in by_size.items():
        own = [t for t in rows if t.place.workstations == CLUSTER]
        last = next((t for t, more in pairwise(own) if more.alone < t.alone), own[-1]).place.processes
        four = _at(rows, 4)
        compared += [
            Compared(f"efficiency of {n}^3 on {limit} processors", "reasonable", _at(rows, limit).alone / limit, _BOTH,
                     _WORD),
            Compared(f"processors above which the speed-up of {n}^3 falls", limit, last, "simulated",
                     _SWITCH.format(fact("backplane_limit_intel"))),
            Compared(f"speed-up of {n}^3 on 4 processors, all slices at once", "below 1", four.serial_s / four.together_s,
                     _BOTH, _FFTW),
            Compared(f"messages for the slices of {n}^3 on 16 processors", n // 16, _at(rows, 16).messages, "modelled",
                     _BEST)]
    return compared


def _timed(by_size: dict[int, list[Times]]) -> list[Compared]:
    compared = []
    for n, rows in by_size.items():
        for name, time_s in (("serial", rows[0].serial_s), ("on 16 processors", _at(rows, 16).singly_s)):
            compared.append(Compared(f"ms of {n}^3 {name}", "a picture", 1e3 * time_s, _BOTH, _POINTS))
    return compared


def _judged_sp2(by_size: dict[int, list[Times]]) -> list[Compared]:
    processes = int(fact("efficiency_processors"))
    small, large = (_at(by_size[n], processes).alone / processes for n in (64, 128))
    return [Compared(f"efficiency of 128^3 on {processes} processors", fact("efficiency_128_sp2"), large, _BOTH, _KERNEL),
            Compared(f"efficiency of 64^3 on {processes} processors", "moderate", small, _BOTH, _WORD)]


def speedups_here(n: int) -> Found:
    """Return the speed-up of slabs of n^3 over serial FFTW on this machine; in sequence, and overlapped as in the paper."""
    serial, rows = serial_fftw_s(n), []
    for ranks in PROCESSES_HERE:
        line: list[float | str] = [ranks]
        for schedule in ("sequence", "overlap:4:x") if ranks > 1 else ("sequence",):
            record, = transforms(ranks, (n, n, n), [str(ranks)], "--decomposition", "slab", "--schedule", schedule, reps=5)
            time_s = median(record["phases"]["total"]["max_s"])
            line += [1e3 * time_s, serial / time_s]
        rows.append(line + ["-"] * (5 - len(line)))
    cores = len(os.sched_getaffinity(0))
    return Found([">processes", ">sequence ms", ">speed-up", ">overlapped ms", ">speed-up overlapped"], rows,
                 [f"against {1e3 * serial:.4g} ms of serial FFTW; this machine has {cores} processors for these processes, "
                  "which share their memory instead of a network"])


# ---- Fig. 10 to 12: particle-mesh Ewald ----------------------------------------------------------------------------------

_EWALD = (f"{CHARGES} charges, splines of order {ORDER}; the direct part has 3 times the serial work of the reciprocal part "
          "of 64^3, fitted to the published limit of 4 without a parallel FFT; direct processes send no messages here")


def dpme_serial() -> Found:
    """Return Fig. 10: speed-up with one reciprocal process."""
    rows, compared = [], []
    for mesh in (64, 96):
        both = predicted(mesh), simulated(mesh)
        for processes in PROCESSES:
            rows.append([f"{mesh}^3", processes, *(p.serial_s / p.split(processes, 1).time_s for p in both)])
        if mesh == 64:
            own = [p.serial_s / p.split(int(fact("dpme_serial_processors")), 1).time_s for p in both]
            compared.append(Compared("speed-up on 5 processors with a serial reciprocal part", fact("dpme_serial_speedup"),
                                     own[1], "simulated, assumed", "The serial work of the direct part was fitted to this "
                                     "number, so it is no test."))
    return Found(["mesh", ">processes", ">predicted times faster", ">simulated times faster"], rows,
                 [_EWALD, f"the curves: {PICTURE}"], compared)


def dpme(mesh: int) -> Found:
    """Return Fig. 11 or 12: speed-up with one and with the best number of reciprocal processes."""
    ours, checked = predicted(mesh), simulated(mesh)
    rows = []
    for processes in PROCESSES:
        best, also = ours.best(processes), checked.best(processes)
        rows.append([processes, checked.serial_s / checked.split(processes, 1).time_s, f"{best.direct}+{best.reciprocal}",
                     ours.serial_s / best.time_s, f"{also.direct}+{also.reciprocal}", checked.serial_s / also.time_s])
    most = int(fact("dpme_parallel_processors"))
    at, times_s = checked.best(most), [checked.best(p).time_s for p in PROCESSES]
    last = max(p for p, (before, now) in zip(PROCESSES[1:], pairwise(times_s)) if now < 0.99 * before)  # faster by 1 %
    compared = [Compared(f"speed-up on {most} processors, {mesh}^3", fact("dpme_parallel_speedup"),
                         checked.serial_s / at.time_s, _BOTH, "The abstract names no mesh. Processes of DPME also exchange "
                         "charges and forces, and the switch loses packets; neither is simulated."),
                Compared(f"most processors with a gain, {mesh}^3", most, last, "simulated",
                         "The simulated switch loses no packet.")]
    return Found([">processes", ">one reciprocal, times faster", ">predicted split", ">predicted times faster",
                  ">simulated split", ">simulated times faster"], rows,
                 [_EWALD, f"split: direct + reciprocal processes, of {', '.join(map(str, RECIPROCAL))} reciprocal ones the "
                  f"fastest; the curves: {PICTURE}"], compared)


def _ewald_here_s(mesh: int, processes: int, *options: str) -> float:
    return ewald_s(processes, "--random", str(CHARGES), "--order", str(ORDER), "--mesh", str(mesh), "--steps", "5",
                   *options)["total"]


def dpme_here(mesh: int) -> Found:
    """Return an Ewald sum measured here, with one and with the best number of reciprocal processes."""
    alone, rows = _ewald_here_s(mesh, 1), []
    for processes in EWALD_PROCESSES_HERE:
        seconds = {r: _ewald_here_s(mesh, processes, "--reciprocal-ranks", str(r)) for r in range(1, processes)}
        best = min(seconds, key=lambda r: seconds[r])
        rows.append([processes, 1e3 * seconds[1], alone / seconds[1], f"{processes - best}+{best}", 1e3 * seconds[best],
                     alone / seconds[best]])
    cores = len(os.sched_getaffinity(0))
    return Found([">processes", ">one reciprocal, ms", ">times faster", ">best split", ">ms", ">times faster with it"], rows,
                 [f"fft_runner/examples/pme.c with {CHARGES} charges at random, {mesh}^3 points, order {ORDER}, against "
                  f"{1e3 * alone:.4g} ms of one process; this machine has {cores} processors for these processes"])


_CLUSTER = "the cluster is gone: its network and processors simulated, with fft_runner"
_SIZE = "the caption names no size"
_DPME = "the example pme_c on the simulated cluster"


def _fft(title: str, published: str, machine: str, sizes: tuple[int, ...], timings: bool) -> Figure:
    return Figure(title, published, _CLUSTER, partial(speedups, machine, sizes, timings), simulates=True,
                  kind="modelled, simulated, assumed")


FIGURES = {
    "fig1": Figure("slabs before the exchange", DRAWING, "the planes of each process", partial(slabs, False), kind="exact"),
    "fig2": Figure("slabs after the exchange", DRAWING, "the planes of each process", partial(slabs, True), kind="exact"),
    "fig3": _fft("speed-up on the Beowulf cluster, 64^3", f"{PICTURE}; up to 12 processors; {_SIZE}", DUKE, (64,), False),
    "fig4": _fft("its times", PICTURE, DUKE, (64,), True),
    "fig5": _fft("speed-up on the Beowulf cluster, 128^3", f"{PICTURE}; up to 12 processors; {_SIZE}", DUKE, (128,), False),
    "fig6": _fft("its times", PICTURE, DUKE, (128,), True),
    "fig7": _fft("speed-up on the IBM SP2, 64^3 and 128^3", f"{PICTURE}; 70 % on 32 processors", SP2, (64, 128), False),
    "fig8": _fft("its times", PICTURE, SP2, (64, 128), True),
    "here64": Figure("slabs against serial FFTW on this machine, 64^3", "no figure of the paper", "measured beside fig3",
                     partial(speedups_here, 64), True),
    "here128": Figure("slabs against serial FFTW on this machine, 128^3", "no figure of the paper", "measured beside fig5",
                      partial(speedups_here, 128), True),
    "messages": Figure("size and time of messages (sec. 4.2)", "all numbers", "computed", messages, kind="exact"),
    "fig9": Figure("problem spaces of the Ewald sum", DRAWING, "the potentials of both spaces and their sum", ewald_split,
                   kind="exact"),
    "fig10": Figure("DPME with a serial reciprocal sum, 64^3 and 96^3", f"{PICTURE}; 4 times on 5 processors", _DPME,
                    dpme_serial, simulates=True, kind="modelled, simulated, assumed"),
    "fig11": Figure("DPME with a parallel one, 64^3", f"{PICTURE}; 12 times on 24 processors", _DPME, partial(dpme, 64),
                    simulates=True, kind="modelled, simulated, assumed"),
    "fig12": Figure("DPME with a parallel one, 96^3", PICTURE, _DPME, partial(dpme, 96), simulates=True,
                    kind="modelled, simulated, assumed"),
    "here-ewald64": Figure("an Ewald sum on this machine, 64^3", "no figure of the paper", "measured beside fig11",
                           partial(dpme_here, 64), True),
    "here-ewald96": Figure("an Ewald sum on this machine, 96^3", "no figure of the paper", "measured beside fig12",
                           partial(dpme_here, 96), True),
}
