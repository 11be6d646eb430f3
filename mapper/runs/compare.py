"""Predictions compared with measurements: run records of real and simulated runs, and the published table.

Measured times as samples for a calibration, from run records and from published tables.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median
from typing import Any

from pencilmap.mapper.graphs import given_network
from pencilmap.mapper.launchers import launch_order
from pencilmap.mapper.placements import place, placement_name
from pencilmap.mapper.runs.records import (
    Record,
    grid_of_record,
    has_lines,
    line_problem_of_record,
    mapping_of_record,
    transform_of_record,
)
from pencilmap.mapper.seeds.default_order import order_of
from pencilmap.model.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from pencilmap.model.base.errors import CalibrationError, PencilmapError, RecordError, ScheduleError
from pencilmap.model.base.reading import parse_json
from pencilmap.model.base.units import parse
from pencilmap.model.kinds import with_bandwidth
from pencilmap.model.machines.machine import COSTS, costs_of, load_machine
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site, spoken
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction, answer, likely_times, predict
from pencilmap.model.predict.question import ExchangePrediction, Question, predict_messages
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.times.published import PUBLISHED, Cell, bluegene_l_512
from pencilmap.model.times.timing import local_work
from pencilmap.model.traffic.exchange import HALO, REMAPS, halo

TOPOLOGY = "topology"  # label of a run on another network than a torus: its text, or the file of its cables
UNNAMED = ("default", "launcher")  # placements whose names do not tell their order
LAUNCHERS = "the launcher's order"


@dataclass(frozen=True)
class Comparison:
    """One exchange, or all exchanges of a run whose schedule sends them together, predicted and measured.

    Parameters
    ----------
    stage : str
        Name of the exchange, "row+column" of exchanges together, or "total" of a published transform.
    t_s, time_s : float or None
        Link time, and predicted time by all terms of the time model (`pencilmap.model.times.timing`).
    measured_s : float
        Median over the repetitions of the slowest rank.
    link_bandwidth : float or None
        Bytes per second in the dimension that bounds the exchange: eq. 16 solved for B with the paper's m, m D_T / (4 N t).
        None for exchanges together, whose m is their joint load.
    warnings : tuple of str
        Reasons of the runner why its times are not meaningful.
    time_range_s : (float, float), optional
        Expected range of nine in ten measured times.
    unmeasured : str
        The reason why there is no range.
    order : str
        In words, the order in which the ranks of a default placement filled the places; empty for others.
    name : str
        Of the placement, for a reader: a launch order by its launcher.
    schedule : str
    certificate : float, optional
        Cost of all exchanges over the proved limit of all placements of the grid.
    """

    source: str
    network: str
    torus: str
    tasks_per_node: int
    grid: str
    placement: str
    transform: str
    stage: str
    m: float | None
    t_s: float | None
    time_s: float | None
    measured_s: float
    spread: tuple[float, float]
    link_bandwidth: float | None
    busiest: str | None
    note: str = ""
    warnings: tuple[str, ...] = ()
    time_range_s: tuple[float, float] | None = None
    unmeasured: str = ""
    order: str = ""
    schedule: str = SEQUENCE
    certificate: float | None = None
    name: str = ""

    @property
    def t_ratio(self) -> float | None:
        return self.measured_s / self.t_s if self.t_s and self.measured_s > 0 else None

    @property
    def time_ratio(self) -> float | None:
        return self.measured_s / self.time_s if self.time_s and self.measured_s > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Return all figures for JSON."""
        figures = {key: value for key, value in self.__dict__.items() if key != "name"}
        return {**figures, "spread": list(self.spread), "warnings": list(self.warnings),
                "time_range_s": None if self.time_range_s is None else list(self.time_range_s), "t_ratio": self.t_ratio,
                "time_ratio": self.time_ratio}


def compare_records(records: Iterable[Record], source: str) -> list[Comparison]:
    """Join run records with the predictions for their real placements.

    Parameters
    ----------
    records : iterable of dict
        Run records, as `pencilmap.mapper.runs.records.read_records` gives them.
    source : str
        Name of the source in the result.

    Returns
    -------
    list of Comparison
        Every exchange of each record. If the schedule is not the sequence, one row covers all exchanges, because the time
        of an exchange is then the time that ranks wait for its end. A pair of transforms also has one row.
    """
    return [row for number, record in enumerate(records, 1) for row in compare_record(record, f"{source}:{number}")]


def compare_record(record: Record, source: str) -> list[Comparison]:
    """Return the rows of a record, see `compare_records`; `source` is the name of the record in the result."""
    if has_lines(record):
        return _rows_of_lines(record, source)
    transform = transform_of_record(record)
    prediction, note = prediction_of_record(record)
    mapping = _placed(record, {})[0]
    labels, names, rows = record["labels"], [stage["name"] for stage in record["stages"]], []
    together = schedule_of_record(record) != SEQUENCE or record["direction"] == PAIR
    for group in [names] if together else [[name] for name in names]:
        samples = [sum(times) for times in zip(*(record["phases"][f"exchange_{name}"]["max_s"] for name in group))]
        rows.append(("+".join(group), samples, None if prediction is None else
                     _all_exchanges(prediction) if together else _move(prediction, group[0])))
    if "halo" in record:
        rows.append((HALO, record["halo"]["max_s"], _halo(record, mapping, transform) if prediction and mapping else None))
    placement, warnings = labels.get("placement", record["placement"]["source"]), tuple(record.get("warnings", ()))
    order, title = _order(placement, mapping), _name(placement, mapping, labels)
    return [_row(prediction, stage, exchange, transform, samples, source=source, network=labels.get("network", "real"),
                 grid="x".join(map(str, record["grid"])), placement=placement, note=note, warnings=warnings, order=order,
                 schedule=schedule_of_record(record), name=title)
            for stage, samples, exchange in rows]


def _order(placement: str, mapping: Mapping | None) -> str:
    """Return in words the order in which the ranks of a default placement filled the places."""
    if placement not in UNNAMED or mapping is None:
        return ""
    order = order_of(mapping)
    return spoken(order, mapping.tasks_per_node) if order else "in no order of the axes"


def _name(placement: str, mapping: Mapping | None, labels: dict[str, str]) -> str:
    """Return the name of the placement of a run for a reader."""
    if mapping is None:
        return LAUNCHERS if placement in UNNAMED else placement
    site = Site(mapping.network, mapping.tasks_per_node)
    launch = launch_order(site, load_machine(labels["machine"]) if "machine" in labels else None)
    if placement not in UNNAMED or labels.get("network") == "simulated":
        return placement_name(placement, replace(site, launch=launch))
    order = order_of(mapping)
    return launch.name(order) if order in launch.orders else f"order {order}" if order else LAUNCHERS


def _halo(record: Record, mapping: Mapping, transform: Transform) -> ExchangePrediction:
    """Predict the halo exchange that was timed beside a transform."""
    messages = halo(mapping.grid, transform, "input", (record["halo"]["width"],) * 3)
    return predict_messages(mapping, messages, Question(record["labels"].get("routing"), transform=transform,
                                                         costs=_costs(record["labels"])))


def _rows_of_lines(record: Record, source: str) -> list[Comparison]:
    """Return every exchange of distributed lines. Without a known bandwidth the time leaves out the busiest link."""
    mapping, note = _placed(record, {})
    labels, problem = record["labels"], line_problem_of_record(record)
    names = problem.stages(record["ranks"])
    forecast = dict.fromkeys(names)
    if mapping is not None and mapping.network.bandwidth is not None:
        forecast = {stage.name: stage for stage in problem.forecast(mapping, _costs(labels), routing=labels.get("routing"),
                                                                    backward=record["direction"] == "backward")}
    rows, placement = [], labels.get("placement", record["placement"]["source"])
    order, title = _order(placement, mapping), _name(placement, mapping, labels)
    for name in names:
        samples, stage = record["phases"][f"exchange_{name}"]["max_s"], forecast[name]
        rows.append(Comparison(source, network=labels.get("network", "real"), torus=str(mapping.network) if mapping else "-",
                               tasks_per_node=mapping.tasks_per_node if mapping else 0,
                               grid="x".join(map(str, problem.bricks or (record["ranks"],))),
                               placement=placement, order=order, name=title, transform=problem.told,
                               stage=name, m=None, t_s=stage and stage.link_s, time_s=stage and stage.time_s,
                               measured_s=median(samples), spread=(min(samples), max(samples)), link_bandwidth=None,
                               busiest=None, note=note, warnings=tuple(record.get("warnings", ())),
                               unmeasured="distributed lines not measured"))
    return rows


def schedule_of_record(record: Record) -> str:
    """Return the schedule of a run; a record without a schedule has the sequence."""
    return record.get("schedule") or SEQUENCE


def _move(prediction: Prediction, name: str) -> ExchangePrediction | None:
    """Return the exchange or remap of that name; None for the remaps of boxes that are no bricks."""
    return next((stage for stage in prediction.moves if stage.name == name), None)


@dataclass(frozen=True)
class _Together:
    """All exchanges of a prediction under its schedule, with the members of an `ExchangePrediction` that a row shows."""

    m: tuple[Any, ...]
    t_s: float | None
    time_s: float | None
    busiest: None = None


def _row(prediction: Prediction | None, stage: str, exchange: ExchangePrediction | _Together | None, transform: Transform,
         samples: Sequence[float], **of_run: Any) -> Comparison:
    """Return a row of an exchange; the other values are those of all exchanges of its run."""
    measured, spread = median(samples), (min(samples), max(samples))
    likely = _range(exchange, prediction)
    unmeasured = "" if likely or prediction is None else prediction.unmeasured or "halos not measured" * (stage == HALO)
    return Comparison(**of_run, torus=str(prediction.network) if prediction else "-",
                      tasks_per_node=prediction.tasks_per_node if prediction else 0, transform=str(transform), stage=stage,
                      m=float(max(exchange.m)) if exchange else None, t_s=exchange.t_s if exchange else None,
                      time_s=exchange.time_s if exchange else None, measured_s=measured, spread=spread,
                      link_bandwidth=_bandwidth(exchange, prediction, transform, measured),
                      busiest=str(exchange.busiest) if exchange and exchange.busiest else None,
                      time_range_s=likely, unmeasured=unmeasured,
                      certificate=_certificate(prediction))


def _range(exchange: ExchangePrediction | _Together | None, prediction: Prediction | None) -> tuple[float, float] | None:
    if prediction is None or exchange is None:
        return None
    return prediction.move_range_s(exchange) if isinstance(exchange, ExchangePrediction) else \
        likely_times(exchange.time_s, prediction.likely)


def _certificate(prediction: Prediction | None) -> float | None:
    """Return the cost of the run over the proved limit, under its schedule."""
    if prediction is None:
        return None
    return (prediction if prediction.schedule is None else prediction.schedule).certificate


def _all_exchanges(prediction: Prediction) -> _Together:
    """Return the row of all exchanges under the schedule. Ranks do not wait while they compute."""
    schedule = prediction.schedule
    assert schedule is not None  # the run has a schedule
    t_s, time_s = (None if seconds is None else seconds + schedule.transforms * sum(times) for seconds, times in (
        (schedule.t_s, [r.t_s or 0.0 for r in prediction.remaps]),
        (schedule.time_s, [r.time_s or 0.0 for r in prediction.remaps])))
    return _Together(schedule.load_joint, t_s, time_s if time_s is None else time_s - (schedule.hidden_s or 0.0))


def _bandwidth(exchange: ExchangePrediction | _Together | None, prediction: Prediction | None, transform: Transform,
               measured: float) -> float | None:
    """Return B of equation 16 in the class of links that bounds: the nominal bandwidth times bound over measured.

    None for several exchanges together, and without a time.
    """
    network = prediction.network if prediction else None
    if not isinstance(exchange, ExchangePrediction) or not (network and network.bandwidth and exchange.t_s and measured > 0):
        return None
    m, _ = max(zip(map(float, exchange.m), network.bandwidth), key=lambda one: one[0] / one[1])
    return m * transform.total_bytes / (4 * network.n_nodes * measured)


def prediction_of_record(record: Record, **changes: Any) -> tuple[Prediction | None, str]:
    """Predict a run for the real placement of its ranks.

    Parameters
    ----------
    record : dict
        The label `routing` names the rule of the network; without the label the default rule will be used.
    **changes
        bandwidth (tuple of bytes per second) or costs (`Costs`), to override the labels of the record.

    Returns
    -------
    Prediction or None
        None if the network of the run is unknown, or its schedule is impossible there.
    str
        A note about the prediction, or the reason why there is none.
    """
    described = {key: value for key, value in record.items() if key not in ("phases", "time", HALO)}
    return _prediction(json.dumps(described), tuple(sorted(changes.items())))


@lru_cache(maxsize=64)
def _prediction(text: str, changed: tuple[tuple[str, Any], ...]) -> tuple[Prediction | None, str]:
    """Return the prediction of a run. Runs that differ only in their times share one prediction."""
    record, changes = parse_json(text), dict(changed)
    labels, transform = record["labels"], transform_of_record(record)
    mapping, note = _placed(record, changes)
    if mapping is None:
        return None, note
    try:
        costs = changes.get("costs", _costs(labels))
        question = Question(labels.get("routing"), _algorithms(record), schedule_of_record(record), record["direction"],
                            transform=transform, costs=costs)
        prediction = answer(question, mapping)
        return (prediction.without_range("simulated") if _is_simulated(labels) else prediction), note
    except ScheduleError as error:
        return None, str(error)


def _placed(record: Record, changes: dict[str, Any]) -> tuple[Mapping | None, str]:
    """Return the mapping of a run on its network, None if unknown, and a note."""
    placement, labels = record["placement"], record["labels"]
    bandwidth = changes.get("bandwidth", bandwidth_of_record(record))
    if placement["torus"] is None and TOPOLOGY in labels:
        return _placed_on(labels[TOPOLOGY], bandwidth, record)
    if placement["torus"] is None or any(r["coordinate"] is None for r in placement["ranks"]):
        return None, (f"the run does not know its network: give --machine-torus and a placement to the runner, or --label "
                      f"{TOPOLOGY}=NETWORK if its hosts have the names of that network")
    shape = parse_torus(placement["torus"])
    rates = None if bandwidth is None else bandwidth * (shape.n_dimensions if len(bandwidth) == 1 else 1)
    torus = parse_torus(placement["torus"], bandwidth=rates, cables=_cables(labels, shape.n_dimensions))
    mapping = mapping_of_record(record, torus, labels.get("placement", "recorded"))
    notes = []
    if placement["coordinate_source"] == "assumed":
        order = placement.get("launch_order")
        notes.append(f"coordinates were assumed{f' (launch order {order})' if order else ''}, not found: the times are not "
                     "those of this torus")
    if rates is None:
        notes.append("no bandwidth: label the run machine=NAME or link_bandwidth='148 MB/s'")
    return mapping, "; ".join(notes)


def _placed_on(text: str, bandwidth: tuple[float, ...] | None, record: Record) -> tuple[Mapping | None, str]:
    """Return the mapping of a run on a network that its label names, and a note; None if a file is missing."""
    try:
        network = given_network(text, hosts=lambda: [rank["host"] for rank in record["placement"]["ranks"]])
    except PencilmapError as error:
        return None, f"label {TOPOLOGY}={text[:60]}: {error}"
    if bandwidth is not None:
        network = with_bandwidth(network, bandwidth * (len(network.link_classes) if len(bandwidth) == 1 else 1))
    note = "" if network.bandwidth else "no bandwidth: label the run link_bandwidth='25 GB/s'"
    return mapping_of_record(record, network, record["labels"].get("placement", "recorded")), note


def _algorithms(record: Record) -> list[str]:
    """Return the exchange algorithm of each stage; the default if the model does not know the algorithm of the run."""
    names = [stage["exchange"] for stage in record["stages"] if stage["name"] not in REMAPS]
    return [name if name in ALGORITHMS else DEFAULT_ALGORITHM for name in names]


def _costs(labels: dict[str, str]) -> Costs:
    """Return the figures of the labels, and the machine's figures unless the network was simulated.

    A simulation has no other costs.
    """
    real = "machine" in labels and not _is_simulated(labels)
    costs = load_machine(labels["machine"]).costs if real else Costs()
    if {"link_bandwidth", *COSTS} & set(labels):  # not the figures of the calibration
        costs = replace(costs, fitted_nodes=None, **costs_of({key: labels[key] for key in COSTS if key in labels}))
    if "ports" not in labels:
        return costs
    if not labels["ports"].isdigit() or int(labels["ports"]) < 1:
        raise RecordError(f"label ports={labels['ports'][:60]}: a whole number of 1 or more is needed")
    ranges = (MessageRange(float("inf"), costs.message_cost_s or 0.0, int(labels["ports"])),)
    return replace(costs, message_cost_s=None, message_size_cost_s=None, message_hop_cost_s=None, fitted_nodes=None,
                   messages=ranges)


def _is_simulated(labels: dict[str, str]) -> bool:
    return labels.get("network") == "simulated"


def bandwidth_of_record(record: Record) -> tuple[float, ...] | None:
    """Return bytes per second of the links by the labels of a run, common to all dimensions, or for each.

    None if no label gives a bandwidth.
    """
    labels = record["labels"]
    if "link_bandwidth" in labels:
        return tuple(parse(part, "byte/s") for part in labels["link_bandwidth"].split(","))
    if "machine" in labels:
        rates = load_machine(labels["machine"]).torus.bandwidth or ()
        return rates if len(set(rates)) > 1 else rates[:1]
    return None


def _cables(labels: dict[str, str], n_dimensions: int) -> tuple[int, ...] | None:
    """Return the cables of the machine. None (one each) without a machine, or with another number of dimensions."""
    cables = load_machine(labels["machine"]).torus.cables if "machine" in labels else ()
    return cables if len(cables) == n_dimensions else None


def compare_published() -> list[Comparison]:
    """Return every published cell of Blue Gene/L with its prediction. Only the predicted time of totals has the FFTs."""
    machine = load_machine("bluegene-l")
    return [_published_row(cell, prediction_of_cell(cell, machine.torus, machine.costs)) for cell in bluegene_l_512()]


def prediction_of_cell(cell: Cell, torus: Torus, costs: Costs = Costs()) -> Prediction:
    """Predict a cell of a published table."""
    return _predict_cached(torus, cell.placement, cell.grid, cell.tasks_per_node, cell.transform, costs)


@lru_cache(maxsize=256)
def _predict_cached(torus: Torus, placement: str, grid: ProcessGrid, tasks_per_node: int, transform: Transform,
                    costs: Costs) -> Prediction:
    site = Site(torus, tasks_per_node)
    site = replace(site, launch=launch_order(site, load_machine("bluegene-l")))
    return predict(place(placement, site, grid), transform, costs=costs)


def _published_row(cell: Cell, prediction: Prediction) -> Comparison:
    source = f"UT-CS-08-613 App. A, {cell.mode}"
    launch, site = load_machine("bluegene-l").launch_order, Site(prediction.network, cell.tasks_per_node)
    title = placement_name(cell.placement, replace(site, launch=launch_order(site, load_machine("bluegene-l"))))
    order = spoken(launch.orders[0], cell.tasks_per_node) if launch and cell.placement in UNNAMED else ""
    if cell.phase == "total":
        computing_s, likely = (prediction.total_s or 0.0) - (prediction.time_s or 0.0), prediction.time_range_s
        return Comparison(source, network="published", torus=str(prediction.network), tasks_per_node=cell.tasks_per_node,
                          grid=str(cell.grid), placement=cell.placement, transform=str(cell.transform), stage="total",
                          m=None, t_s=prediction.t_s, time_s=prediction.total_s, measured_s=cell.time_s,
                          spread=(cell.time_s,) * 2, link_bandwidth=None, busiest=None,
                          note="the FFTs are in the predicted time only", order=order, name=title,
                          time_range_s=likely and (likely[0] + computing_s, likely[1] + computing_s),
                          unmeasured=prediction.unmeasured)
    return _row(prediction, cell.phase, _move(prediction, cell.phase), cell.transform, [cell.time_s], source=source,
                network="published", grid=str(cell.grid), placement=cell.placement, note=_what_the_bound_leaves_out(cell),
                order=order, name=title)


def _what_the_bound_leaves_out(cell: Cell) -> str:
    """Return why a published cell is not expected within 10 % of the bound (docs/time-model.md), or an empty text."""
    if cell.mapping == "cube64" and cell.phase == "column" and cell.mode == "CO" and cell.transform.nx >= 256:
        return "above the bound for a reason that no term of the model explains"
    left_out = []
    if cell.mapping == "cube64" and cell.phase == "row":
        left_out.append("contention inside the box")
    if cell.mapping == "cube8" and cell.mode == "CO" and cell.phase == "row":
        left_out.append("injection limit of a task")
    if cell.transform.nx <= 256:
        left_out.append("cost of each message")
    return f"not in the bound: {', '.join(left_out)}" if left_out else ""


LOCAL_PHASES = {  # phase of the sample: beginnings of its phase names in a record, options of `local_work`
    "fft": (("fft_",), {"copies": False}),
    "copy": (("pack_", "unpack_"), {"fft": False}),
}
MOST_STAGES = 100
_ANY = Costs(contention=0.0)  # requests the contention work at any cost


def published_samples(name: str, torus: Torus) -> list[Sample]:
    """Return every cell of a published table in its order: the exchanges, and the rest of the total as computing.

    Parameters
    ----------
    name : str
        One of `pencilmap.model.times.published.PUBLISHED`.
    torus : Torus
        Has the bandwidth of the machine file.

    Raises
    ------
    CalibrationError
        If the table is unknown.
    """
    if name not in PUBLISHED:
        raise CalibrationError(f"published measurements of {name!r} are unknown; known are {', '.join(PUBLISHED)}")
    cells = PUBLISHED[name]()
    time_s = {_key(cell, cell.phase): cell.time_s for cell in cells}
    return [_local_of_cell(cell, time_s) if cell.phase == "total" else _exchange_of_cell(cell, torus) for cell in cells]


def _key(cell: Cell, phase: str) -> tuple[Any, ...]:
    return cell.tasks_per_node, cell.grid, cell.mapping, cell.transform, phase


def _label(cell: Cell, what: str) -> str:
    return f"{cell.mode} {cell.grid} {cell.mapping} {what} {cell.transform.nx}^3"


def _exchange_of_cell(cell: Cell, torus: Torus) -> Sample:
    exchange = prediction_of_cell(cell, torus, _ANY).stage(cell.phase)
    assert exchange.work is not None
    return Sample(_label(cell, cell.phase), phase=cell.phase, size=str(cell.transform), work=exchange.work,
                  measured_s=cell.time_s, bound_s=exchange.bound_s, placement=f"{cell.mode} {cell.grid} {cell.placement}",
                  network=str(torus), exchange=exchange.algorithm, direction=FORWARD, nodes=torus.n_nodes)


def _local_of_cell(cell: Cell, time_s: dict[tuple[Any, ...], float]) -> Sample:
    rest = cell.time_s
    for name in cell.grid.decomposition.names:
        rest -= time_s[_key(cell, name)]
    return Sample(_label(cell, "computing"), "local", str(cell.transform),
                  local_work(cell.transform, cell.grid, cell.tasks_per_node), rest)


def record_samples(records: dict[str, Record],
                   bandwidth: tuple[float, ...] | None = None) -> tuple[list[Sample], list[str]]:
    """Return the phases of run records: every exchange, the FFTs together, and the packing together.

    Omitted are the computing of simulated runs, which is no measurement; the exchanges of runs without coordinates;
    pairs of transforms, whose times are the sum of both; exchanges among one task, which send nothing; and phases
    without a time, as the packing of exchange fftw.

    Parameters
    ----------
    records : dict of str to dict
        Records by label.
    bandwidth : tuple of float, optional
        Bytes per second of the links, for each dimension, or common to all; by default from the labels of each record.

    Returns
    -------
    list of Sample
        All first exchanges, then all second exchanges, then all computing, so that a rule by order is fair to each kind.
    list of str
        The omitted phases, with reasons.
    """
    samples, refused = list[tuple[int, Sample]](), list[str]()
    for label, record in records.items():
        if record["direction"] == PAIR:
            refused.append(f"{label}: left out: a forward and a backward transform ran as a pair, so no time is that of one")
            continue
        exchanges, reason = _exchanges_of_record(record, label, bandwidth)
        stages = list(enumerate(exchanges))
        if reason:
            refused.append(f"{label}: exchanges left out: {reason}")
        if record["labels"].get("network") != "simulated":
            stages += [(MOST_STAGES + k, _local_of_record(record, phase, label)) for k, phase in enumerate(LOCAL_PHASES)]
        samples += [(place, sample) for place, sample in stages if sample.measured_s > 0]
        refused += [f"{sample.label}: left out: no time was measured" for _, sample in stages if sample.measured_s <= 0]
    return [sample for _, sample in sorted(samples, key=lambda s: s[0])], refused


def _exchanges_of_record(record: Record, label: str, bandwidth: tuple[float, ...] | None) -> tuple[list[Sample], str]:
    if record["placement"]["coordinate_source"] == "assumed":
        return [], "coordinates were assumed, not found"
    if schedule_of_record(record) != SEQUENCE:
        return [], f"schedule {schedule_of_record(record)}: the exchanges travelled together, so none has a time of its own"
    prediction, note = prediction_of_record(record, costs=_ANY, **({"bandwidth": bandwidth} if bandwidth else {}))
    if prediction is None or prediction.t_s is None:
        return [], note
    size = "x".join(map(str, record["size"]))
    placement = f"{prediction.tasks_per_node} {prediction.grid} {prediction.placement}"
    return [Sample(f"{label} {stage.name}", phase=stage.name, size=size, work=stage.work,
                   measured_s=_seconds(record, [f"exchange_{stage.name}"]), bound_s=stage.bound_s,
                   placement=placement, network=str(prediction.network), exchange=stage.algorithm,
                   direction=record["direction"], nodes=prediction.n_nodes)
            for stage in prediction.stages if stage.work and stage.work.messages], ""


def _local_of_record(record: Record, phase: str, label: str) -> Sample:
    beginnings, passes = LOCAL_PHASES[phase]
    transform = transform_of_record(record)
    work = local_work(transform, grid_of_record(record), _tasks_per_node(record), **passes)
    work = replace(work, operations=work.operations / record.get("threads", 1))  # rates are per thread
    names = [name for name in record["phases"] if name.startswith(beginnings)]
    return Sample(f"{label} {phase}", phase, str(transform), work, _seconds(record, names))


def _tasks_per_node(record: Record) -> int:
    hosts = Counter(rank["host"] for rank in record["placement"]["ranks"])
    return record["placement"]["tasks_per_node"] or max(hosts.values())


def _seconds(record: Record, phases: Iterable[str]) -> float:
    """Return the sum over the phases of the median over the repetitions of the slowest rank."""
    return sum(median(record["phases"][name]["max_s"]) for name in phases)
