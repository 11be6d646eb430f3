"""Cramer and Board (2000): slabs on a cluster, their speed-up against serial FFTW, and the messages of the paper."""

import os
from functools import partial
from statistics import median

from pencilmap.model.published import table
from pencilmap.scripts.networks.measured import serial_fftw_s, transforms
from pencilmap.scripts.reproduce.figure import PICTURE, SKETCH, Figure, Found

PROCESSES = (1, 2, 4)


def fact(name: str) -> float:
    """A number in the text of the paper."""
    return next(float(r["value"]) for r in table("cramer_2000.csv") if r["quantity"] == name)


def speedups(n: int) -> Found:
    """Slabs of n^3 against one call of serial FFTW, both on this machine; in sequence, and overlapped as in the paper."""
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
    """Section 4.2: size and times of the messages of 64^3 on 4 processors."""
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
_DPME = "numbers of the abstract alone: processors and speed-up of a whole program"


def dpme() -> Found:
    """Fig. 10 to 12: what the abstract says of the whole program."""
    rows = [[which, fact(f"dpme_{key}_processors"), fact(f"dpme_{key}_speedup"),
             fact(f"dpme_{key}_speedup") / fact(f"dpme_{key}_processors")]
            for which, key in (("serial FFT", "serial"), ("parallel FFT", "parallel"))]
    return Found(["DPME with", ">published processors", ">published speed-up", ">efficiency"], rows,
                 [f"the curves: {PICTURE}; the program is not run here"])


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
    "fig10": Figure("DPME with a serial reciprocal sum", PICTURE, _DPME, dpme),
    "fig11": Figure("DPME with a parallel one, 64^3", f"{PICTURE}; 24 processors, 12 times", _DPME, dpme),
    "fig12": Figure("DPME with a parallel one, 96^3", PICTURE, _DPME, dpme),
}
