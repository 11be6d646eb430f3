"""Predictions beside what was measured: run records of real and simulated runs, and the published table."""

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from statistics import median

import numpy as np

from pencilmap.mapper.placements import place
from pencilmap.model.allocation import Site
from pencilmap.model.costs import Costs
from pencilmap.model.errors import PencilmapError, RecordError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.machine import COSTS, costs_of, load_machine
from pencilmap.model.mapping import Mapping
from pencilmap.model.predict import predict
from pencilmap.model.published import bluegene_l_512
from pencilmap.model.torus import parse_torus
from pencilmap.model.transform import transform_of
from pencilmap.model.units import parse

SCHEMA = "pencilmap-run-record/1"


@dataclass(frozen=True)
class Comparison:
    """One exchange, predicted and measured.

    predicted_s is the time of the busiest link, full_s that of all terms of the time model (`pencilmap.model.timing`); ratio
    and full_ratio are measured over predicted. measured_s is the median over the repetitions of the slowest rank.
    link_bandwidth is eq. 16 solved for B with the paper's m: m D_T / (4 N t), bytes per second, in the dimension that bounds
    the exchange. warnings are the runner's own of this run: what makes its times mean little.
    """

    source: str
    network: str
    torus: str
    tasks_per_node: int
    grid: str
    placement: str
    transform: str
    exchange: str
    m: float | None
    predicted_s: float | None
    measured_s: float
    spread: tuple
    ratio: float | None
    link_bandwidth: float | None
    busiest: str | None
    note: str = ""
    full_s: float | None = None
    warnings: tuple = ()

    @property
    def full_ratio(self):
        return self.measured_s / self.full_s if self.full_s and self.measured_s > 0 else None

    def as_dict(self):
        return {**self.__dict__, "spread": list(self.spread), "warnings": list(self.warnings), "full_ratio": self.full_ratio}


def compare_records(records, source):
    """Join run records with the predictions for the placement that each of them really had.

    Parameters
    ----------
    records : iterable of dict
        Run records (see the schema of `fft_runner`).
    source : str
        Named in the result.

    Returns
    -------
    list of Comparison
        Row and column exchange of each record.
    """
    return [row for number, record in enumerate(records, 1) for row in _compare_record(record, f"{source}:{number}")]


def read_records(path):
    """Run records of a JSON lines file, each checked against the schema."""
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path} cannot be read: {error}") from error
    records = [_parse(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not records:
        raise RecordError(f"{path} holds no run record; fft_runner --json {path} writes one")
    return records


def _parse(line, path, number):
    import jsonschema

    try:
        record = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} line {number} is no JSON: {error}") from error
    wrong = jsonschema.exceptions.best_match(_validator().iter_errors(record))
    if wrong is not None:
        where = ".".join(str(p) for p in wrong.absolute_path) or "top level"
        raise RecordError(f"{path} line {number} is no run record of {SCHEMA}: {where}: {wrong.message[:300]}")
    return record


def _finite(text):
    """A number of JSON, which has none that are not finite, though Python reads them."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


@lru_cache
def _validator():
    import jsonschema

    schema = json.loads((files("pencilmap.fft_runner") / "run_record.schema.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema)


def transform_of_record(record):
    """The transform of a run record."""
    return transform_of(record["size"], record["type"], record["precision"], record.get("fields", 1))


def _compare_record(record, source):
    transform = transform_of_record(record)
    prediction, note = prediction_of_record(record)
    labels = record["labels"]
    for name in ("row", "column"):
        samples = record["phases"][f"exchange_{name}"]["max_s"]
        row = _row(source, labels.get("network", "real"), prediction, name, record["grid"], transform, median(samples),
                   (min(samples), max(samples)), labels.get("placement", record["placement"]["source"]), note)
        yield replace(row, warnings=tuple(record.get("warnings", ())))


def _row(source, network, prediction, name, grid, transform, measured, spread, placement, note):
    exchange = prediction and getattr(prediction, name)
    predicted = exchange and exchange.t_s
    timed = bool(predicted) and measured > 0
    return Comparison(
        source, network, str(prediction.torus) if prediction else "-",
        prediction.tasks_per_node if prediction else 0, "x".join(map(str, grid)), placement, str(transform), name,
        float(max(exchange.m)) if exchange else None, predicted, measured, spread,
        measured / predicted if timed else None, _bandwidth(exchange, prediction, transform, measured) if timed else None,
        str(exchange.busiest) if exchange and exchange.busiest else None, note, exchange and exchange.time_s)


def _bandwidth(exchange, prediction, transform, measured):
    """Equation 16 solved for B in the dimension that bounds: the nominal bandwidth times bound over measured."""
    torus = prediction.torus
    i = max(range(torus.n_dimensions), key=lambda j: float(exchange.m[j]) / torus.bandwidth[j])
    return float(exchange.m[i]) * transform.total_bytes / (4 * torus.n_nodes * measured)


def prediction_of_record(record, **changes):
    """Prediction for the placement that the ranks of a run really had.

    Parameters
    ----------
    record : dict
        A run record.
    **changes
        bandwidth (tuple of bytes per second) or costs (`Costs`) in place of what the labels of the record say.

    Returns
    -------
    (Prediction or None, str)
        None where the run does not know its torus; what to know of the prediction, or the reason why there is none.
    """
    placement, labels, transform = record["placement"], record["labels"], transform_of_record(record)
    if placement["torus"] is None or any(r["coordinate"] is None for r in placement["ranks"]):
        return None, "the run does not know its torus: give --machine-torus and a placement to the runner"
    bandwidth = changes.get("bandwidth", bandwidth_of_record(record))
    shape = parse_torus(placement["torus"])
    rates = None if bandwidth is None else bandwidth * (shape.n_dimensions if len(bandwidth) == 1 else 1)
    torus = parse_torus(placement["torus"], bandwidth=rates, cables=_cables(labels, shape.n_dimensions))
    mapping = mapping_of_record(record, torus, labels.get("placement", "recorded"))
    notes = []
    if placement["coordinate_source"] == "assumed":
        notes.append("coordinates were assumed, not found: the times are not those of this torus")
    if rates is None:
        notes.append("no bandwidth: label the run machine=NAME or link_bandwidth='148 MB/s'")
    return predict(mapping, transform, costs=changes.get("costs", _costs(labels))), "; ".join(notes)


def _costs(labels):
    """Figures of the labels, and those of the machine unless its network was simulated, which charges nothing by itself."""
    real = "machine" in labels and labels.get("network") != "simulated"
    costs = load_machine(labels["machine"]).costs if real else Costs()
    return replace(costs, **costs_of({key: labels[key] for key in COSTS if key in labels}))


def bandwidth_of_record(record):
    """Bytes per second of the links by the labels of a run, one for all dimensions or one for each; None without."""
    labels = record["labels"]
    if "link_bandwidth" in labels:
        return tuple(parse(part, "byte/s") for part in labels["link_bandwidth"].split(","))
    if "machine" in labels:
        rates = load_machine(labels["machine"]).torus.bandwidth
        return rates if len(set(rates)) > 1 else rates[:1]
    return None


def _cables(labels, n_dimensions):
    """Those of the machine; None, one each, where no machine is named or it has another number of dimensions."""
    found = load_machine(labels["machine"]).torus.cables if "machine" in labels else ()
    return found if len(found) == n_dimensions else None


def mapping_of_record(record, torus, name):
    """The mapping that the ranks of a run really had; RecordError where there can be no such."""
    ranks = sorted(record["placement"]["ranks"], key=lambda r: r["rank"])
    for r in ranks:
        found = len(r["coordinate"])
        problem = torus.outside(r["coordinate"]) if found == torus.n_dimensions else (
            f"{found} coordinates, but {torus.title} has {torus.n_dimensions} dimensions")
        if problem:
            raise RecordError(f"the record's placement is impossible: rank {r['rank']}: {problem}")
    try:
        nodes = torus.node(np.array([r["coordinate"] for r in ranks]))
        return Mapping(torus, ProcessGrid(*record["grid"]), record["placement"]["tasks_per_node"] or 1, nodes,
                       np.array([r["slot"] for r in ranks]), name)
    except (PencilmapError, OverflowError) as error:
        raise RecordError(f"the record's placement is impossible: {error}") from error


def compare_published():
    """Every published cell of Blue Gene/L beside the prediction; of totals only the full time has the FFTs in it."""
    machine = load_machine("bluegene-l")
    return [_published_row(cell, prediction_of_cell(cell, machine.torus, machine.costs)) for cell in bluegene_l_512()]


def prediction_of_cell(cell, torus, costs=Costs()):
    """Prediction for a cell of a published table."""
    return _predict_cached(torus, cell.placement, cell.grid, cell.tasks_per_node, cell.transform, costs)


@lru_cache(maxsize=256)
def _predict_cached(torus, placement, grid, tasks_per_node, transform, costs):
    return predict(place(placement, Site(torus, tasks_per_node), grid), transform, costs=costs)


def _published_row(cell, prediction):
    source = f"UT-CS-08-613 App. A, {cell.mode}"
    if cell.phase == "total":
        predicted = prediction.t_s
        return Comparison(source, "published", str(prediction.torus), cell.tasks_per_node, str(cell.grid), cell.placement,
                          str(cell.transform), "total", None, predicted, cell.time_s, (cell.time_s,) * 2,
                          cell.time_s / predicted, None, None, "the FFTs are in the full time only", prediction.total_s)
    return _row(source, "published", prediction, cell.phase, (cell.grid.R, cell.grid.C), cell.transform, cell.time_s,
                (cell.time_s,) * 2, cell.placement, _what_the_bound_leaves_out(cell))


def _what_the_bound_leaves_out(cell):
    """Why a published cell is not expected within 10 % of the bound, empty where it is (docs/time-model.md)."""
    if cell.mapping == "cube64" and cell.phase == "column" and cell.mode == "CO" and cell.transform.nx >= 256:
        return "above the bound for a reason that no term of the model gives"
    left_out = []
    if cell.mapping == "cube64" and cell.phase == "row":
        left_out.append("contention inside the box")
    if cell.mapping == "cube8" and cell.mode == "CO" and cell.phase == "row":
        left_out.append("injection limit of a task")
    if cell.transform.nx <= 256:
        left_out.append("cost of each message")
    return f"not in the bound: {', '.join(left_out)}" if left_out else ""
