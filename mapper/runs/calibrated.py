"""Machine files with calibrated figures: the known figures of the machine, and the results of a fit."""

from collections.abc import Iterable
from dataclasses import asdict
from os import PathLike
from typing import Any

import tomli_w

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.errors import CalibrationError, MachineError
from pencilmap.model.machines.files import Figure
from pencilmap.model.machines.machine import COSTS, RATIO, Machine, read_machine
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.times.calibrate import NO_SAMPLE, PRICES, Calibration, Fitted
from pencilmap.model.times.held_out import LikelyRange

BY = "pencilmap study calibrate"    # beginning of the source of a calibrated figure
CACHE = ("cache_per_task", "cache_bandwidth_per_task")
CERTAIN = 0.25                # a figure with at most this relative uncertainty counts as certain
_SCALES = {"byte/s": ("MB/s", 1e6), "s": ("us", 1e-6), "flop/s": ("Gflop/s", 1e9)}


def calibrated_figures(machine: Machine, calibration: Calibration, source: str,
                       likely: LikelyRange | None = None) -> dict[str, Figure]:
    """Return the figures of a machine file after a calibration.

    Fitted figures replace the figures of the file. Figures without a fit stay, unless they come from an earlier calibration
    that these samples do not confirm. The samples should have been made with the bandwidth of the machine's torus.

    Parameters
    ----------
    machine : Machine
    calibration : Calibration
    source : str
        Name of the data, e.g. ``"--published bluegene-l (...)"``.
    likely : LikelyRange, optional
        `pencilmap.model.times.held_out.likely_range` of all samples.

    Returns
    -------
    dict of str to Figure
    """
    figures = {key: figure for key, figure in machine.figures.items()
               if not (figure.source.startswith(BY) and _disowned(calibration.left_out.get(key)))}
    for key, found in calibration.figures.items():
        figures[key] = _figure(key, found, machine, source)
    if not set(CACHE) <= set(figures):  # neither has a meaning alone
        figures = {key: figure for key, figure in figures.items() if key not in CACHE}
    figures.pop(RATIO, None)
    if likely is not None:
        figures[RATIO] = Figure(_rounded(likely), f"{BY} {source}", True,
                                "of nine in ten exchanges when their placement or their size was not fitted")
    return figures


def _rounded(likely):
    """Return a range as a value of a machine file."""
    value = {name: list(some) for name, some in asdict(likely).items()}
    rounded = {"range": [float(f"{ratio:.3g}") for ratio in likely.range],
               "message_bytes": list(map(round, likely.message_bytes))}
    return value | rounded


def _disowned(reason):
    return reason is not None and not reason.startswith(NO_SAMPLE)


def _figure(key: str, found: Fitted, machine: Machine, source: str) -> Figure:
    shared = f"; {found.note}" if found.note else ""
    return Figure(figure_text(key, found, machine), f"{BY} {source}", found.uncertainty <= CERTAIN and not found.note,
                  f"one standard deviation of the fit: {100 * found.uncertainty:.2g} %{shared}")


def figure_text(key: str, found: Fitted, machine: Machine | None) -> str | float | list[str]:
    """Return a fitted figure in the form of a machine file: four digits and the unit, a plain number for contention.

    >>> from pencilmap.model.times.calibrate import Fitted
    >>> figure_text("message_cost", Fitted(8.2063e-7, 0.2), None), figure_text("contention", Fitted(0.4861, 0.2), None)
    ('0.8206 us', 0.4861)
    >>> [figure_text(name, Fitted(1.48e8, 0.1), None) for name in ("injection_per_task", "fft_rate_per_task")]
    ['148 MB/s', '0.148 Gflop/s']
    """
    if key == "link_bandwidth":
        known = (machine.torus.bandwidth if machine else None) or ()
        rates = [text_with_unit(rate / found.value, "byte/s") for rate in known]
        return rates[0] if len(set(rates)) == 1 else rates
    unit = COSTS[key][1]
    return float(f"{found.value:.4g}") if unit is None else text_with_unit(found.value, unit)


def text_with_unit(value: float, unit: str) -> str:
    """Return a quantity in ``byte/s``, ``s`` or ``flop/s`` with four digits.

    >>> text_with_unit(2.5e-6, "s")
    '2.5 us'
    """
    name, scale = _SCALES[unit]
    return f"{value / scale:.4g} {name}"


def machine_text(machine: Machine, figures: dict[str, Figure]) -> str:
    """Return the machine file (TOML) of a machine with these figures, checked by reading the text back."""
    is_graph = not machine.network.has_coordinates
    first = ["network" if is_graph else "shape", "tasks_per_node", "link_bandwidth"]
    data: dict[str, Any] = {"name": machine.name, "title": machine.title}
    if not is_graph:
        data["axes"] = machine.torus.axes
    for key in dict.fromkeys([*first, *figures]):
        data[key] = {name: value for name, value in asdict(figures[key]).items() if value != "" or name != "note"}
    text = "# Every figure names its source; `certain = false` marks what is derived or doubtful.\n" + tomli_w.dumps(data)
    read_machine(text.encode("utf-8"), "that is to be written")
    return text


def write_machine(machine: Machine, figures: dict[str, Figure], path: str | PathLike[str]) -> None:
    """Write a machine file, whole or not at all."""
    write_whole(path, machine_text(machine, figures), MachineError)


def machine_of_records(records: Iterable[dict[str, Any]], name: str, bandwidth: tuple[float, ...]) -> Machine:
    """Return a machine known only from run records: its torus and the tasks per node.

    Parameters
    ----------
    records : iterable of dict
    name : str
    bandwidth : tuple of float
        Bytes per second, common to all dimensions, or for each.

    Raises
    ------
    CalibrationError
        If the records are of different machines or name none.
    """
    shapes = {record["placement"]["torus"] for record in records} - {None}
    tasks = {record["placement"]["tasks_per_node"] for record in records} - {None}
    if len(shapes) != 1:
        named = ", ".join(sorted(shapes)) or "none is named"
        raise CalibrationError(f"the records are of {len(shapes)} shapes of machine ({named}); name the machine with "
                               "`machine`")
    shape = parse_torus(shapes.pop())
    torus = parse_torus(str(shape), bandwidth=bandwidth * (shape.n_dimensions if len(bandwidth) == 1 else 1))
    rates = [text_with_unit(rate, "byte/s") for rate in torus.bandwidth or ()]
    said = "run records"
    figures = {"shape": Figure(str(torus), said, True), "tasks_per_node": Figure(min(tasks, default=1), said, True),
               "link_bandwidth": Figure(rates[0] if len(set(rates)) == 1 else rates, said, True)}
    return Machine(name, f"{name}, from run records", torus, min(tasks, default=1), figures)


assert set(PRICES) == {"link_bandwidth", *COSTS} - {
    "cache_per_node", "cache_per_task", "progress", "byte_hops_per_node", "node_message_cost"}
