"""Outputs of osu_alltoall: their times, and the two figures of a machine that are fitted to them.

Source: the OSU Micro-Benchmarks print comments after `#`, then lines of a size in bytes and the mean time in microseconds,
which with -f are followed by the least and the largest time.
"""

from collections.abc import Mapping
from math import inf, isfinite

from pencilmap.mapper.runs.probes import BY, text_with_unit
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.base.reading import read_whole
from pencilmap.model.machines import Figure
from pencilmap.model.machines.machine import FITTED_NODES, Machine
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.expected import SIZES
from pencilmap.model.times.judged import exchange_work, two_figures
from pencilmap.model.times.published import MeasuredExchange


def read_osu(text: str, label: str) -> list[tuple[int, float]]:
    """Return sizes in bytes and mean times in seconds of an output of osu_alltoall.

    Raises
    ------
    CalibrationError
        For lines that are neither comments nor times; each is named.

    Examples
    --------
    >>> read_osu("# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\\n1024    31.04", "a.txt")
    [(1024, 3.104e-05)]
    """
    found, wrong = list[tuple[int, float]](), list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            size, mean_us = int(words[0]), float(words[1])
        except (ValueError, IndexError):
            size, mean_us = 0, 0.0
        if size > 0 and mean_us > 0 and isfinite(mean_us):
            found.append((size, mean_us * 1e-6))
        else:
            wrong.append(f"{number} {line.strip()[:30]!r}")
    if wrong:
        raise CalibrationError(f"{label}: lines without a size in bytes and a time in microseconds: {', '.join(wrong)}; "
                               "take the output of osu_alltoall")
    return found


def osu_figures(machine: Machine, files: Mapping[int, str]) -> dict[str, Figure]:
    """Return the figures of a machine with the rate of its ports and their time for a message.

    Parameters
    ----------
    machine : Machine
        Has the tasks on a node.
    files : dict of int to str
        The output of osu_alltoall with these tasks on each node, by the number of nodes.

    Raises
    ------
    CalibrationError
        For fewer than two numbers of nodes or sizes of messages, or without messages from 1 KiB.
    """
    if len(files) < 2 or min(files) < 2:
        raise CalibrationError("two figures need osu_alltoall on two numbers of nodes, each 2 or more; "
                               "name both, such as --osu 2=two.txt --osu 16=sixteen.txt")
    samples, sizes, tasks = list[Sample](), set[int](), machine.tasks_per_node
    for nodes, path in files.items():
        text = read_whole(path, CalibrationError).decode("utf-8", "replace")
        times = [(size, time_s) for size, time_s in read_osu(text, path) if size >= SIZES[0]]
        if not times:
            raise CalibrationError(f"{path}: no messages of {SIZES[0]} bytes or more; run osu_alltoall -m 1048576")
        sizes.update(size for size, _ in times)
        samples += [Sample(path, "exchange", "", exchange_work(MeasuredExchange(
            machine.name, "", inf, "", "alltoall", nodes, tasks, nodes * tasks, 1, size, time_s)), time_s)
            for size, time_s in times]
    if len(sizes) < 2:
        raise CalibrationError(f"all messages have {min(sizes)} bytes, so bytes and messages cannot be told apart; "
                               "run osu_alltoall -m 1048576, which takes many sizes")
    costs = two_figures(samples)
    source = f"{BY} {' '.join(f'--osu {nodes}={path}' for nodes, path in files.items())} ({len(samples)} times fitted)"
    values = {"injection_per_node": text_with_unit(costs.injection_per_node or 0.0, "byte/s"),
              "node_message_cost": text_with_unit(costs.node_message_cost_s or 0.0, "s"), FITTED_NODES: max(files)}
    return {**machine.figures, **{key: Figure(value, source, True, "") for key, value in values.items()}}
