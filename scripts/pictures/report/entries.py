"""Run records joined with their predictions, and bars of times: placements and schedules beside the launcher's order."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pencilmap.mapper.placements import placement_name
from pencilmap.mapper.runs.compare import Comparison, compare_record, prediction_of_record, schedule_of_record
from pencilmap.mapper.runs.records import mapping_of_record, read_records, transform_of_record
from pencilmap.model.base.units import capitalised, milliseconds
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import worst
from pencilmap.model.predict.ranking import worth
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.pictures.report.networks import LAUNCHED, Placed
from pencilmap.scripts.pictures.runs import WAITING, kinds_of


@dataclass(frozen=True)
class Entry:
    """A run record with its prediction."""

    source: str  #: ``FILE:LINE``
    record: dict[str, Any]
    comparisons: tuple[Comparison, ...]  #: for each exchange
    torus: str = ""  #: name of the torus if other records have other tori, see `named`
    details: tuple[str, ...] = ()  #: other differences from the other records
    run: int = 0  #: number of a record that is otherwise indistinguishable; 0 if there is no such other record

    @cached_property
    def prediction(self) -> Prediction | None:
        """Return the prediction for the real placement, None if there is none, see `prediction_of_record`."""
        return prediction_of_record(self.record)[0]

    @property
    def transform(self) -> Transform:
        return transform_of_record(self.record)

    @property
    def placement(self) -> str:
        return self.comparisons[0].placement

    @property
    def name(self) -> str:
        """Name of the placement for a reader."""
        return self.comparisons[0].name

    @property
    def network(self) -> str:
        return self.comparisons[0].network

    @property
    def machine(self) -> str | None:
        """Name of the machine, if the record names a machine."""
        return self.record["labels"].get("machine")

    @property
    def mapping(self) -> Mapping | None:
        """Return the mapping of the ranks; None without a prediction."""
        if self.prediction is None:
            return None
        return mapping_of_record(self.record, self.prediction.network, self.placement)

    @property
    def series(self) -> str:
        """Label that the same runs of other sizes share."""
        return label_of(self.comparisons[0], self.torus, *self.details)

    @property
    def distinction(self) -> str:
        """Distinction from the same placement on the same torus; empty for a unique placement."""
        return "".join(f", {fact}" for fact in (*self.details, *([f"run {self.run}"] if self.run else [])))

    @property
    def label(self) -> str:
        """Distinction from other records of the same size and network."""
        return label_of(self.comparisons[0], self.torus) + self.distinction

    @property
    def title(self) -> str:
        """Distinction from all other records."""
        return f"{self.label}, {self.transform}, {self.network}"

    @property
    def stages(self) -> list[str]:
        """The names of the exchanges."""
        return [stage["name"] for stage in self.record["stages"]]

    @cached_property
    def typical(self) -> int:
        """Return the repetition with the median total; of two in the middle the faster."""
        totals = self.record["phases"]["total"]["max_s"]
        return sorted(range(len(totals)), key=totals.__getitem__)[(len(totals) - 1) // 2]

    def phase_s(self, *names: str) -> float:
        """Return seconds in phases, mean over the ranks in the typical repetition; all phases add up to ``total``.

        Phases that the run did not have count as 0.
        """
        phases = self.record["phases"]
        return sum(phases[name]["mean_s"][self.typical] for name in names if name in phases)

    @property
    def slowest_s(self) -> float:
        """Return the total of the slowest rank in the typical repetition."""
        return self.record["phases"]["total"]["max_s"][self.typical]

    @property
    def slowest_rank(self) -> str:
        """Describe the slowest rank, its place and the reason for its delay; empty without ``--per-rank`` in the run."""
        phases = self.record["phases"]
        if "ranks_s" not in phases["total"]:
            return ""
        totals = [seconds[self.typical] for seconds in phases["total"]["ranks_s"]]
        rank = totals.index(max(totals))
        beyond = {kind: sum(phases[name]["ranks_s"][rank][self.typical] - phases[name]["mean_s"][self.typical]
                            for name in names if name in phases)
                  for kind, names in kinds_of(self.stages).items() if kind != WAITING}
        kind = max(beyond, key=beyond.__getitem__)
        seat = next(seat for seat in self.record["placement"]["ranks"] if seat["rank"] == rank)
        where = f"({', '.join(map(str, seat['coordinate']))}), " if seat["coordinate"] is not None else ""
        return (f"{rank} on {where}host {seat['host']}: {milliseconds(totals[rank])}, of which beyond the mean over the "
                f"ranks {milliseconds(totals[rank] - self.phase_s('total'))}, in {kind} {milliseconds(beyond[kind])}")

    def notes(self, comparison: Comparison) -> list[str]:
        """Return possible reasons why the times of a comparison differ from the prediction."""
        return [*filter(None, [comparison.note]), *self.record.get("warnings", [])]

    @property
    def schedule(self) -> str:
        return schedule_of_record(self.record)

    @property
    def placed(self) -> Placed | None:
        """Return the placement with link loads; None without a prediction."""
        mapping, prediction = self.mapping, self.prediction
        if mapping is None or prediction is None:
            return None
        hosts = {node: seat["host"] for node, seat in zip(mapping.node_of_rank.tolist(), sorted(
            self.record["placement"]["ranks"], key=lambda seat: seat["rank"]))}
        return Placed(mapping, self.placement, self.name, prediction.routing, self.transform, self.schedule != SEQUENCE,
                      hosts, "" if self.schedule == SEQUENCE else self.schedule)


def read_entries(paths: Iterable[str]) -> list[Entry]:
    """Return the records of several files, in their order."""
    return named([entry for path in paths for entry in _joined(map(printable, read_records(path)), printable(path))])


def printable(value: Any) -> Any:
    """Return a JSON value with displayable texts: blanks for other spaces, replacement characters for unprintable
    characters.

    Labels may contain control characters, but SVG may not; characters that change the writing direction hide the text that
    follows.

    >>> printable({"a b": ["\\u65e5", "x\\ty\\x1b[31m", 1]})
    {'a b': ['日', 'x y\ufffd[31m', 1]}
    """
    if isinstance(value, str):
        return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in value)
    if isinstance(value, list):
        return [printable(part) for part in value]
    return {printable(key): printable(part) for key, part in value.items()} if isinstance(value, dict) else value


def entries_of(records: Iterable[dict[str, Any]], source: str) -> list[Entry]:
    """Return the records with their comparisons."""
    return named(_joined(records, source))


def _joined(records: Iterable[Any] | list[dict[str, Any]], source: str) -> list[Entry]:
    return [Entry(f"{source}:{number}", record, tuple(compare_record(record, f"{source}:{number}")))
            for number, record in enumerate(records, 1)]


def named(entries: list[Entry]) -> list[Entry]:
    """Return entries with the distinctions that they need.

    The torus distinguishes an entry from all others, the other facts from entries of the same network and placement."""
    groups, tori = dict[Any, list[tuple[str, ...]]](), {entry.comparisons[0].torus for entry in entries}
    for entry in entries:
        groups.setdefault(_group(entry), []).append(_facts(entry))
    differs = {key: [len(set(values)) > 1 for values in zip(*facts)] for key, facts in groups.items()}
    entries_ = [replace(entry, torus=entry.comparisons[0].torus.strip("-") if len(tori) > 1 else "", details=tuple(
        fact for fact, shown in zip(_facts(entry), differs[_group(entry)]) if fact and shown)) for entry in entries]
    total, seen = Counter(entry.title for entry in entries_), Counter[str]()
    for number, entry in enumerate(entries_):
        seen[entry.title] += 1
        if total[entry.title] > 1:
            entries_[number] = replace(entry, run=seen[entry.title])
    return entries_


def _group(entry: Entry) -> tuple[str, str, str]:
    return entry.network, entry.comparisons[0].torus, label_of(entry.comparisons[0])


def _facts(entry: Entry) -> tuple[str, ...]:
    """Return facts that may distinguish runs of the same network, torus, grid, placement and size."""
    record = entry.record
    return (record["labels"].get("machine", ""), record["direction"], f"exchange {record['exchange']}",
            f"schedule {entry.schedule}", f"sync {record['sync']}", record.get("layout", "stride1"),
            "in place" if record.get("in_place") else "out of place",
            f"skips {record['skip']}" if record.get("skip") else "")


def label_of(comparison: Comparison, *more: str) -> str:
    """Return grid and placement of a run and its other distinctions, for legends."""
    tasks = f"{comparison.tasks_per_node} tasks/node" if comparison.tasks_per_node > 1 else ""
    return ", ".join(filter(None, (comparison.grid, comparison.name, tasks, *more)))


TOGETHER = "together"  # concurrent exchanges, which have a common time
COMPUTING = "computing"
PREDICTED, MEASURED = "predicted", "measured"
SCHEDULES = {"two-way": "half the planes each way", "opposite": "forward beside backward transforms",
             "pipelined": "a pipeline of chunks"}
SMALL = 1e-9  # of a time: what rounding leaves
SAME = 0.01  # times that differ by less than this share count as equal


@dataclass(frozen=True)
class Part:
    """A part of a bar, in seconds or, without times, in loads; kind is the colour."""

    name: str
    kind: str
    amount: float


@dataclass(frozen=True)
class Bar:
    """One way to run the transform.

    Parameters
    ----------
    group : str
        The question, which is the same for bars side by side.
    label : str
        Grid, placement, and other words that tell the bar from others.
    placement, schedule, grid : str
    name : str
        Of the placement, for a reader.
    parts : tuple of Part
    least : float or None
        What the busiest links need under this placement.
    limit : float or None
        No placement, schedule or order of exchanges of the grid can be below.
    kind : str
        "predicted", "simulated" or "measured".
    timed : bool
        Whether amounts are seconds.
    prediction : Prediction, optional
        Of a bar without a run.
    """

    group: str
    label: str
    placement: str
    schedule: str
    grid: str
    name: str
    parts: tuple[Part, ...]
    least: float | None
    limit: float | None
    kind: str = PREDICTED
    timed: bool = True
    prediction: Prediction | None = None

    @property
    def amount(self) -> float:
        return sum(part.amount for part in self.parts)

    @property
    def shown(self) -> str:
        return milliseconds(self.amount) if self.timed else f"load {self.amount:.4g}"

    @property
    def is_launched(self) -> bool:
        """Whether this is the launcher's order, with one exchange after the other."""
        return self.placement == LAUNCHED and self.schedule == SEQUENCE


def bar_of_entry(entry: Entry) -> Bar:
    """Return the measured bar: the slowest rank, the median of the repetitions."""
    rows, prediction, times = entry.comparisons, entry.prediction, [row.t_s for row in entry.comparisons]
    group = ", ".join(filter(None, (entry.machine, rows[0].torus.strip("-"), rows[0].transform)))
    limit = _limit(prediction) if prediction and all(times) else None
    least = None if None in times else sum(t or 0.0 for t in times)
    return Bar(group, entry.label, entry.placement, entry.schedule, rows[0].grid, entry.name,
               tuple(_part(row.stage, row.measured_s) for row in rows), least, limit, kind_of_run(entry))


def kind_of_run(entry: Entry) -> str:
    """Return the name of the network of a run if no machine carried its messages, else "measured"."""
    return "simulated" if entry.network == "simulated" else MEASURED


def bar_of_forecast(prediction: Prediction, group: str = "") -> Bar:
    """Return the bar predicted by all terms of the time model, or without times that of the loads."""
    p, forecast = prediction, prediction.schedule
    schedule = forecast.name if forecast and (forecast.name != SEQUENCE or forecast.transforms > 1) else ""
    name = placement_name(p.placement, p.bounds.site)
    label = ", ".join(filter(None, (str(p.grid), schedule)))
    timed = p.time_s is not None
    parts = _parts(p, schedule, 1.0 if timed else _scale(p))
    least = (forecast.t_s if forecast and schedule else p.t_s) if timed else None
    return Bar(group or str(p.network), label, p.placement, schedule or SEQUENCE, str(p.grid), name, parts, least, _limit(p),
               timed=timed, prediction=p)


def _parts(p: Prediction, schedule: str, scale: float) -> tuple[Part, ...]:
    """Return the exchanges, and the rest of the transform as far as its time is known. Without times, loads."""
    forecast: Any = p.schedule
    timed = p.time_s is not None
    if schedule:
        parts = [_part(f"exchanges under {schedule}", forecast.time_s if timed else float(forecast.cost) * scale)]
    else:
        parts = [_part(stage.name, stage.time_s if timed else float(worst(stage.load, p.network)) * scale)
                 for stage in p.moves]
    rest = float(p.worth) * scale - sum(part.amount for part in parts)
    return (*parts, *([Part(COMPUTING, COMPUTING, rest)] if rest > SMALL * float(p.worth) * scale else []))


def _scale(p: Prediction) -> float:
    """Return displayed loads over the m scale: the usable nodes count."""
    return p.bounds.site.allocation.n_nodes / p.network.n_nodes


def _limit(p: Prediction) -> float | None:
    """What no placement, schedule or order of exchanges can beat: the proved load of the links, or the computing."""
    forecast = p.schedule
    if forecast is None or forecast.certificate_any is None or p.remaps or p.halo:
        return None
    if forecast.t_s is None:
        return float(forecast.cost) * _scale(p) / forecast.certificate_any
    computing = (p.local.time_s if p.local else None) or 0.0
    computing *= forecast.transforms if forecast.total_s is not None else 0
    return max(forecast.t_s / forecast.certificate_any, computing)


@dataclass(frozen=True)
class Compared:
    """Bars of one question with their factors over the first of them, the launcher's order if it was run.

    bars : the first is what the others are compared with
    factors : how many times faster each bar is than the first
    limit : factor that nothing can exceed; None if it is not known
    """

    title: str
    bars: tuple[Bar, ...]
    factors: tuple[float, ...]
    limit: float | None
    ranges: tuple[tuple[float, float] | None, ...] = ()

    @property
    def kind(self) -> str:
        return self.bars[0].kind

    @property
    def most(self) -> float:
        """The largest amount, for the scale."""
        return max(max(bar.amount, bar.least or 0.0) for bar in self.bars)

    @property
    def limit_amount(self) -> float | None:
        return None if self.limit is None else self.bars[0].amount / self.limit

    @property
    def limit_shown(self) -> str:
        amount = self.limit_amount or 0.0
        return milliseconds(amount) if self.bars[0].timed else f"load {amount:.4g}"

    def name(self, bar: Bar) -> str:
        """Return a bar in words."""
        return way_in_words(bar, len({bar_.grid for bar_ in self.bars}) > 1)

    def factor(self, number: int) -> str:
        """Return the factor of a bar, or the range of it if the routers adapt."""
        least, most = self.ranges[number] or (self.factors[number],) * 2
        return f"{least:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f}"

    @property
    def sentence(self) -> str:
        """Return the gain in a sentence: of the fastest in sequence, of the fastest of all, and the limit."""
        chosen = self._chosen()
        than = self.name(self.bars[0])
        timed = self.bars[0].timed
        limit = f"Nothing is over {self.limit:.2f}x {'faster' if timed else 'better'} (proved)." if self.limit else ""
        if not chosen:
            same = (f"No other way here is {'faster' if timed else 'better'} than {than}." if len(self.bars) > 1
                    else f"{capitalised(self.name(self.bars[0]))} takes {self.bars[0].shown}.")
            return " ".join(filter(None, (same, limit)))
        first, *rest = chosen
        plural, factor = self.name(self.bars[first]).startswith("rows "), self.factor(first)
        how = (f"{'are' if plural else 'is'} {factor}x faster than" if timed else
               f"{'load' if plural else 'loads'} the busiest links {factor}x less than")
        said = [f"{capitalised(self.name(self.bars[first]))} {how} {than}",
                *(f"{self.name(self.bars[k])} {self.factor(k)} times" for k in rest)]
        return f"{', '.join(said)}." + (f" {limit}" if limit else "")

    def _chosen(self) -> list[int]:
        """Numbers of the fastest bar in sequence and of the fastest bar, as far as they are faster than the first."""
        numbers = [k for k in range(1, len(self.bars)) if self.factors[k] > 1 + SAME]
        plain = [k for k in numbers if self.bars[k].schedule == SEQUENCE]
        best = [max(bars, key=self.factors.__getitem__) for bars in (plain, numbers) if bars]
        return sorted(set(best), key=self.factors.__getitem__)


def way_in_words(bar: Bar, with_grid: bool = False) -> str:
    """Return placement and schedule in words that need no explanation.

    >>> way_in_words(Bar("", "", "box:2x2x2", "sequence", "8x64", "rows on 2x2x2 cubes", (), None, None))
    'rows on 2x2x2 cubes'
    >>> way_in_words(Bar("", "", "default", "two-way:128", "8x64", "block order", (), None, None), True)
    'block order with half the planes each way, grid 8x64'
    >>> way_in_words(Bar("", "", "best", "overlap:1,2,2:x", "8x64", "best", (), None, None))
    'best with rows beside columns in 3 chunks'
    """
    schedule, *chunks = bar.schedule.split(":")
    when = SCHEDULES.get(schedule, f"schedule {bar.schedule}")
    if schedule == "overlap" and chunks:
        when = f"rows beside columns in {chunks[0].count(',') + 1 if ',' in chunks[0] else chunks[0]} chunks"
    words = bar.name if schedule == SEQUENCE else f"{bar.name} with {when}"
    return f"{words}, grid {bar.grid}" if with_grid else words


def compared(bars: Iterable[Bar | None]) -> list[Compared]:
    """Return the bars by question, each compared with the launcher's order or else with the slowest bar."""
    groups: dict[tuple[str, str, bool], list[Bar]] = {}
    for bar in bars:
        if bar and bar.amount > 0:
            groups.setdefault((bar.group, bar.kind, bar.timed), []).append(bar)
    return [_compared(title, group) for (title, _, _), group in groups.items()]


def _compared(title: str, bars: list[Bar]) -> Compared:
    first = next((bar for bar in bars if bar.is_launched), None) or max(bars, key=lambda bar: bar.amount)
    ordered = [first, *(bar for bar in bars if bar is not first)]
    limits = [bar.limit for bar in ordered if bar.limit] if all(bar.limit for bar in ordered) else []
    limit = max(1.0, first.amount / min(limits)) if limits else None
    return Compared(title, tuple(ordered), tuple(first.amount / bar.amount for bar in ordered), limit,
                    tuple(_range(bar, first) for bar in ordered))


def _range(bar: Bar, first: Bar) -> Any:
    """The least and the largest factor under the rules between which adaptive routers are; None if the routing is known."""
    if not bar.prediction or not first.prediction or not bar.prediction.bracket:
        return None
    theirs = {p.routing: p for p in first.prediction.bracket}
    ratios = [float(worth(theirs[p.routing])) / float(worth(p)) for p in bar.prediction.bracket
              if p.routing in theirs and worth(p)]
    return (min(ratios), max(ratios)) if ratios else None


def shown_bars(group: Compared) -> list[dict[str, Any]]:
    """Return the bars for the template, on one scale."""
    return [{"name": group.name(bar), "label": bar.label, "shown": bar.shown,
             "factor": group.factor(k).replace(" to ", "\N{EN DASH}"),
             "width": f"{100 * bar.amount / group.most:.2f}",
             "least": None if bar.least is None else f"{100 * bar.least / group.most:.2f}",
             "parts": [{"name": part.name, "kind": part.kind, "share": f"{part.amount / bar.amount:.4f}",
                        "shown": milliseconds(part.amount) if bar.timed else f"{part.amount:.4g}"} for part in bar.parts]}
            for k, bar in enumerate(group.bars)]


def kinds_of_bars(groups: Sequence[Compared]) -> dict[str, str]:
    """Return the colours of the legend, with their meaning."""
    parts = [part for group in groups for bar in group.bars for part in bar.parts]
    return {part.kind: {TOGETHER: "exchanges beside each other", COMPUTING: "computing"}.get(
        part.kind, f"{part.name} exchange") for part in parts}


def _part(name: str, amount: Any) -> Part:
    return Part(name, name if name in ("row", "column", "slab") else TOGETHER, amount)
