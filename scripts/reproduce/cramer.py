"""Cramer and Board (2000): slabs on a cluster, their speed-up over serial FFTW, and the messages of the paper."""

import os
from functools import partial
from statistics import median

from pencilmap.model.times.published import table
from pencilmap.scripts.networks.measured import ewald_s, serial_fftw_s, transforms
from pencilmap.scripts.reproduce.figure import PICTURE, SKETCH, Figure, Found

PROCESSES = (1, 2, 4)
EWALD_PROCESSES = (2, 3, 4)


def fact(name: str) -> float:
    """Return a number from the text of the paper."""
    return next(float(r["value"]) for r in table("cramer_2000.csv") if r["quantity"] == name)


def speedups(n: int) -> Found:
    """Return the speed-up of slabs of n^3 over serial FFTW on this machine; in sequence, and overlapped as in the paper."""
    serial, rows = serial_fftw_s(n), []
    for ranks in PROCESSES:
        line: list[float | str] = [ranks]
        for schedule in ("sequence", "pipelined:4") if ranks > 1 else ("sequence",):
            record, = transforms(ranks, (n, n, n), [str(ranks)], "--decomposition", "slab", "--schedule", schedule, reps=5)
            time_s = median(record["phases"]["total"]["max_s"])
            line += [1e3 * time_s, serial / time_s]
        rows.append(line + ["-"] * (5 - len(line)))
    cores = len(os.sched_getaffinity(0))
    return Found([">processes", ">sequence ms", ">speed-up", ">pipelined ms", ">speed-up pipelined"], rows,
                 [f"against {1e3 * serial:.4g} ms of serial FFTW; this machine has {cores} processors for these processes",
                  f"published: {PICTURE}; the text: reasonable efficiency up to {fact('speedup_limit'):g} processors on 100 "
                  "Mb/s "
                  f"Ethernet, and {100 * fact('efficiency_128_sp2'):.0f} % for 128^3 on up to "
                  f"{fact('efficiency_processors'):g} "
                  "processors of the SP2"])


def messages() -> Found:
    """Return section 4.2: size and times of the messages of 64^3 on 4 processors."""
    size = 16 * 64**2 / 4
    rows: list[list[float | str]] = [["bytes of a message", fact("message_bytes_64_4"), size]]
    for name, published, rate in (("100 Mb/s Ethernet, s", "message_time", "link_rate"),
                                  ("SP2 through the kernel, s", "sp2_kernel_message", "sp2_kernel_rate"),
                                  ("SP2 from user space, s", "sp2_user_message", "sp2_user_rate")):
        rows.append([name, fact(published), size / fact(rate)])
    for name, latency, rate in (("start over flow, SP2 kernel", "sp2_kernel_latency", "sp2_kernel_rate"),
                                ("start over flow, SP2 user", "sp2_user_latency", "sp2_user_rate"),
                                ("start over flow, switch", "switch_latency", "link_rate")):
        rows.append([name, "-", fact(latency) * fact(rate) / size])
    return Found(["of", ">published", ">computed"], rows, ["B N^2 / P with B = 16 bytes, over the rate of a link"])


_PAIR = "the clusters are gone: slabs against serial FFTW on this machine"
_DPME = "another program, measured here; the abstract's processors and speed-up of DPME"
_CHARGES = "2000"


def _ewald_s(mesh, processes, *options):
    return ewald_s(processes, "--random", _CHARGES, "--order", "5", "--mesh", str(mesh), "--steps", "5", *options)["total"]


def dpme(mesh: int, splits: bool) -> Found:
    """Return Fig. 10 to 12: an Ewald sum without, with one, and with the best number of reciprocal processes."""
    alone, rows = _ewald_s(mesh, 1), []
    for processes in EWALD_PROCESSES:
        times = {r: _ewald_s(mesh, processes, "--reciprocal-ranks", str(r)) for r in range(1, processes if splits else 2)}
        best = min(times, key=lambda r: times[r])
        line: list[float | str] = [processes, 1e3 * times[1], alone / times[1]]
        rows.append(line + ([best, 1e3 * times[best], alone / times[best]] if splits else []))
    cores = len(os.sched_getaffinity(0))
    columns = [">processes", ">serial reciprocal ms", ">speed-up"]
    published = "; ".join(f"{name} FFT {fact(f'dpme_{key}_speedup'):g} times faster on {fact(f'dpme_{key}_processors'):g} "
                          "processors" for name, key in (("serial", "serial"), ("parallel", "parallel")))
    return Found([*columns, *([">best reciprocal", ">ms", ">speed-up best"] if splits else [])], rows,
                 [f"fft_runner/examples/pme.c with {_CHARGES} charges at random, {mesh}x{mesh}x{mesh} points, order 5, "
                  f"against {1e3 * alone:.4g} ms of one process; this machine has {cores} processors for these processes",
                  f"the curves: {PICTURE}; the abstract: {published}"])


FIGURES = {
    "fig1": Figure("slabs", SKETCH, "docs/theory.md"),
    "fig2": Figure("slabs after the exchange", SKETCH, "docs/theory.md"),
    "fig3": Figure("speed-up on the Beowulf cluster, 64^3", f"{PICTURE}; up to 12 processors", _PAIR, partial(speedups, 64),
                   True),
    "fig4": Figure("its times", PICTURE, _PAIR, partial(speedups, 64), True),
    "fig5": Figure("speed-up on the Beowulf cluster, 128^3", f"{PICTURE}; up to 12 processors", _PAIR, partial(speedups,
                                                                                                               128), True),
    "fig6": Figure("its times", PICTURE, _PAIR, partial(speedups, 128), True),
    "fig7": Figure("speed-up on the IBM SP2", f"{PICTURE}; 70 % on 32 processors", _PAIR, partial(speedups, 128), True),
    "fig8": Figure("its times", PICTURE, _PAIR, partial(speedups, 128), True),
    "messages": Figure("size and time of messages (sec. 4.2)", "all numbers", "computed", messages),
    "fig9": Figure("problem spaces of the Ewald sum", SKETCH, "nothing"),
    "fig10": Figure("DPME with a serial reciprocal sum", PICTURE, _DPME, partial(dpme, 64, False), True),
    "fig11": Figure("DPME with a parallel one, 64^3", f"{PICTURE}; 24 processors, 12 times", _DPME,
                    partial(dpme, 64, True), True),
    "fig12": Figure("DPME with a parallel one, 96^3", PICTURE, _DPME, partial(dpme, 96, True), True),
}
