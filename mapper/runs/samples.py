"""Measured times as samples for a calibration, from run records and from published tables."""

from collections import Counter
from dataclasses import replace
from statistics import median

from pencilmap.mapper.runs.compare import prediction_of_cell, prediction_of_record, schedule_of_record
from pencilmap.mapper.runs.records import Record, grid_of_record, transform_of_record
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.network.torus import Torus
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.published import PUBLISHED
from pencilmap.model.times.timing import local_work

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


def _key(cell, phase):
    return cell.tasks_per_node, cell.grid, cell.mapping, cell.transform, phase


def _label(cell, what):
    return f"{cell.mode} {cell.grid} {cell.mapping} {what} {cell.transform.nx}^3"


def _exchange_of_cell(cell, torus):
    exchange = prediction_of_cell(cell, torus, _ANY).stage(cell.phase)
    assert exchange.work is not None
    return Sample(_label(cell, cell.phase), phase=cell.phase, size=str(cell.transform), work=exchange.work,
                  measured_s=cell.time_s, bound_s=exchange.bound_s, placement=f"{cell.mode} {cell.grid} {cell.placement}",
                  network=str(torus), exchange=exchange.algorithm, direction=FORWARD)


def _local_of_cell(cell, time_s):
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
        found = list(enumerate(exchanges))
        if reason:
            refused.append(f"{label}: exchanges left out: {reason}")
        if record["labels"].get("network") != "simulated":
            found += [(MOST_STAGES + k, _local_of_record(record, phase, label)) for k, phase in enumerate(LOCAL_PHASES)]
        samples += [(place, sample) for place, sample in found if sample.measured_s > 0]
        refused += [f"{sample.label}: left out: no time was measured" for _, sample in found if sample.measured_s <= 0]
    return [sample for _, sample in sorted(samples, key=lambda s: s[0])], refused


def _exchanges_of_record(record, label, bandwidth):
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
                   direction=record["direction"]) for stage in prediction.stages if stage.work and stage.work.messages], ""


def _local_of_record(record, phase, label):
    beginnings, passes = LOCAL_PHASES[phase]
    transform = transform_of_record(record)
    work = local_work(transform, grid_of_record(record), _tasks_per_node(record), **passes)
    work = replace(work, operations=work.operations / record.get("threads", 1))  # rates are per thread
    names = [name for name in record["phases"] if name.startswith(beginnings)]
    return Sample(f"{label} {phase}", phase, str(transform), work, _seconds(record, names))


def _tasks_per_node(record):
    hosts = Counter(rank["host"] for rank in record["placement"]["ranks"])
    return record["placement"]["tasks_per_node"] or max(hosts.values())


def _seconds(record, phases):
    """Return the sum over the phases of the median over the repetitions of the slowest rank."""
    return sum(median(record["phases"][name]["max_s"]) for name in phases)
