"""Machine files from measurements: calibrated figures, and probes of a network.

Machine files with calibrated figures: the known figures of the machine, and the results of a fit.

Results of network_probe: reading the results, and writing them into a machine file as figures.

Outputs of osu_alltoall: their times, and the two figures of a machine that are fitted to them. The OSU Micro-Benchmarks
print comments after `#`, then lines of a size in bytes and the mean time in microseconds, which with -f are followed by the
least and the largest time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from math import inf, isfinite
from os import PathLike
from typing import Any

import tomli_w

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.runs.records import Record, json_lines, schema_problem
from pencilmap.model.base.errors import CalibrationError, MachineError, RecordError
from pencilmap.model.base.reading import parse_json, read_whole
from pencilmap.model.machines import Figure
from pencilmap.model.machines.machine import COSTS, FITTED_MESSAGE, FITTED_NODES, MESSAGES, Machine, read_machine
from pencilmap.model.machines.probe import ALIKE, Burst, Probe, ProbeFit, Streams, Trip
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.times.calibrate import NO_SAMPLE, PRICES, Calibration, Fitted, Sample
from pencilmap.model.times.costs import MessageRange
from pencilmap.model.times.expected import SIZES
from pencilmap.model.times.published import MeasuredExchange, exchange_work, two_figures
from pencilmap.model.times.timing import ExchangeWork

BY = "pencilmap study calibrate"    # beginning of the source of a calibrated figure
CACHE = ("cache_per_task", "cache_bandwidth_per_task")
CERTAIN = 0.25                # a figure with at most this relative uncertainty counts as certain
_SCALES = {"byte/s": ("MB/s", 1e6), "s": ("us", 1e-6), "flop/s": ("Gflop/s", 1e9)}


def calibrated_figures(machine: Machine, calibration: Calibration, source: str,
                       fitted: Sequence[Sample] = ()) -> dict[str, Figure]:
    """Return the figures of a machine file after a calibration.

    Fitted figures replace the figures of the file. Figures without a fit stay, unless they come from an earlier calibration
    that these samples do not confirm. The samples should have been made with the bandwidth of the machine's torus.

    Parameters
    ----------
    machine : Machine
    calibration : Calibration
    source : str
        Name of the data, e.g. ``"--published bluegene-l (...)"``.
    fitted : sequence of Sample
        The fitted samples. Their exchanges decide where times have ranges.

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
    if works := [(each.nodes, each.work.message_bytes) for each in fitted
                 if isinstance(each.work, ExchangeWork) and each.work.messages]:
        nodes, sizes = zip(*works)
        figures |= _fitted(max(nodes), min(sizes), f"{BY} {source}")
    return figures


def _fitted(nodes: int, message_bytes: float, source: str) -> dict[str, Figure]:
    """Where the fitted exchanges end; ranges of times follow."""
    return {FITTED_NODES: Figure(nodes, source, True, "most nodes of the fitted exchanges"),
            FITTED_MESSAGE: Figure(f"{message_bytes:g} B", source, True, "smallest message of the fitted exchanges")}


def _disowned(reason: str | None) -> bool:
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
    "cache_per_node", "cache_per_task", "progress", "byte_hops_per_node", "node_message_cost", FITTED_MESSAGE}


SCHEMA = "pencilmap-network-probe/1"
CERTAIN_PROBE = 0.25   # a fit with at most this mean relative error counts as certain
FIGURES = ("link_bandwidth", MESSAGES, "hop_latency")


def read_probes(paths: Sequence[str | PathLike[str]]) -> Probe:
    """Read all results of JSON lines files as one probe.

    Raises
    ------
    RecordError
        If a line is not a result of network_probe. The message names file and line.
    CalibrationError
        If the results are of several networks.
    """
    found = [record for path in paths for record in _read(path)]
    kinds = {(r["torus"], r["tasks_per_node"], r["labels"].get("routing")) for r in found}
    if len(kinds) != 1:
        named = " and ".join(sorted(f"{torus or 'no torus'} with {tasks or 'unknown'} tasks a node"
                                    for torus, tasks, _ in kinds))
        raise CalibrationError(f"the results are of several networks ({named}); fit one at a time")
    shape, tasks, rule = kinds.pop()
    return Probe(
        parse_torus(shape) if shape else None, tasks,
        tuple(Trip(t["from"], t["to"], t["hops"], t["bytes"], t["seconds"]) for r in found for t in r["round_trips"]),
        tuple(Burst(b["from"], tuple(b["to"]), b["bytes"], b["seconds"]) for r in found for b in r["bursts"]),
        tuple(Streams(s["axis"], tuple((a, b) for a, b in s["pairs"]), s["bytes"], s["seconds"])
              for r in found for s in r["streams"]), rule)


def _read(path: str | PathLike[str]) -> list[Record]:
    import jsonschema

    schema = parse_json((files("pencilmap.fft_runner") / "network_probe.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)

    def checked(record: Any, where: str) -> Record:
        if problem := schema_problem(validator, record) or _outside(record):
            raise RecordError(f"{where} is not a result of network_probe ({SCHEMA}): {problem}")
        return record

    records = json_lines(path, checked)
    if not records:
        raise RecordError(f"{path} has no result of a probe: network_probe writes one")
    return records


def _outside(record: dict[str, Any]) -> str | None:
    """Return a problem beyond the schema: nodes or axes outside the torus."""
    if record["torus"] is None:
        return None
    torus = parse_torus(record["torus"])
    nodes = {n for t in record["round_trips"] for n in (t["from"], t["to"])}
    nodes |= {n for b in record["bursts"] for n in (b["from"], *b["to"])}
    nodes |= {n for s in record["streams"] for pair in s["pairs"] for n in pair}
    if max(nodes, default=0) >= torus.n_nodes:
        return f"node {max(nodes)} is outside of torus {torus}, which has {torus.n_nodes} nodes"
    return next((f"axis {s['axis']} is none of torus {torus}" for s in record["streams"]
                 if s["axis"] not in tuple(torus.axes)), None)


def machine_of_probe(probe: Probe, name: str) -> Machine:
    """Return a machine known only from a probe, without a real link bandwidth yet.

    Raises
    ------
    CalibrationError
        If the nodes had no coordinates.
    """
    if probe.torus is None:
        raise CalibrationError("the nodes of the probe had no coordinates: give network_probe --machine-torus SHAPE, or "
                               "name the machine with `machine`")
    torus = parse_torus(str(probe.torus), bandwidth=(1.0,) * probe.torus.n_dimensions)
    said = "network_probe"
    tasks = probe.tasks_per_node or 1
    figures = {"shape": Figure(str(torus), said, True), "tasks_per_node": Figure(tasks, said, True)}
    return Machine(name, f"{name}, from network_probe", torus, tasks, figures)


def probed_figures(machine: Machine, fit: ProbeFit, source: str) -> dict[str, Figure]:
    """Return the figures of a machine file after a probe.

    Figures of the probe replace the same figures of the file. The probe's costs of messages by size also replace the figures
    `message_cost`, `message_size_cost` and `message_hop_cost`.

    Parameters
    ----------
    machine : Machine
    fit : ProbeFit
    source : str
        Name of the data, for the sources of the figures.

    Raises
    ------
    CalibrationError
        If neither the file nor the probe gives the bandwidth of the links.
    """
    by_message = ("message_cost", "message_size_cost", "message_hop_cost")
    figures = {key: figure for key, figure in machine.figures.items() if key not in by_message}
    told = {q.of: q for q in fit.quality}

    def figure(value: Any, kind: str, note: str = "") -> Figure:
        row = told[kind]
        text = f"fit: {100 * row.mean:.2g} % off in the mean, {100 * row.largest:.2g} % at most"
        return Figure(value, f"{BY} {source}", row.mean <= CERTAIN_PROBE and not note, "; ".join(filter(None, (text, note))))

    rates = link_rates(machine.torus, fit)
    if rates is not None:
        doubts = [c.axis for c in fit.cuts if c.link_bandwidth and not c.slowed]
        note = f"at least that along {', '.join(map(str, doubts))}: streams did not slow each other" if doubts else ""
        figures["link_bandwidth"] = figure(rates, "streams across a cut", note)
    elif "link_bandwidth" not in figures:
        raise CalibrationError("a machine file needs the link bandwidth, and the probe has no streams: name the machine "
                               "with `machine`")
    kind = "messages at once" if "messages at once" in told else "messages alone"
    figures[MESSAGES] = figure([range_text(each) for each in fit.messages], kind, "; ".join(fit.notes))
    if fit.hop_latency_s is not None:
        figures["hop_latency"] = figure(text_with_unit(fit.hop_latency_s, "s"), "messages alone")
    return figures


def link_rates(torus: Torus, fit: ProbeFit) -> str | list[str] | None:
    """Return the bandwidth of a link in the form of a machine file: a single text, or a text for each dimension, or None."""
    known = {c.axis: c.link_bandwidth for c in fit.cuts if c.link_bandwidth is not None}
    if not known:
        return None
    rates = [known.get(axis) or max(known.values()) for axis in torus.axes]
    if max(rates) <= (1 + ALIKE) * min(rates):
        return text_with_unit(sum(rates) / len(rates), "byte/s")
    return [text_with_unit(rate, "byte/s") for rate in rates]


def range_text(each: MessageRange) -> dict[str, Any]:
    """Return a range of messages in the form of a machine file.

    >>> range_text(MessageRange(8192, 2e-6, 3, 1e9))
    {'up_to': '8192 B', 'start': '2 us', 'ports': 3, 'rate': '1000 MB/s'}
    """
    found: dict[str, Any] = {} if each.up_to == float("inf") else {"up_to": f"{each.up_to:.0f} B"}
    found |= {"start": text_with_unit(each.start_s, "s"), "ports": each.ports}
    rates = {"rate": each.rate, "together": each.together}
    return found | {key: text_with_unit(rate, "byte/s") for key, rate in rates.items() if rate}


def range_dict(each: MessageRange) -> dict[str, Any]:
    """Return a range of messages for JSON: SI units, null for no limit."""
    return asdict(each) | {"up_to": None if each.up_to == float("inf") else each.up_to}


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
              "node_message_cost": text_with_unit(costs.node_message_cost_s or 0.0, "s")}
    return {**machine.figures, **{key: Figure(value, source, True, "") for key, value in values.items()},
            **_fitted(max(files), min(sizes), source)}
