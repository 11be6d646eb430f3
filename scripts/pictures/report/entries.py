"""Run records joined with their predictions."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pencilmap.mapper.runs.compare import Comparison, compare_record, prediction_of_record, schedule_of_record
from pencilmap.mapper.runs.records import mapping_of_record, read_records, transform_of_record
from pencilmap.model.base.units import milliseconds
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.pictures.figures.runs import WAITING, kinds_of
from pencilmap.scripts.pictures.report.networks import Placed


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


def _joined(records, source):
    return [Entry(f"{source}:{number}", record, tuple(compare_record(record, f"{source}:{number}")))
            for number, record in enumerate(records, 1)]


def named(entries: list[Entry]) -> list[Entry]:
    """Return entries with the distinctions that they need.

    The torus distinguishes an entry from all others, the other facts from entries of the same network and placement."""
    groups, tori = dict[Any, list[tuple[str, ...]]](), {entry.comparisons[0].torus for entry in entries}
    for entry in entries:
        groups.setdefault(_group(entry), []).append(_facts(entry))
    differs = {key: [len(set(values)) > 1 for values in zip(*facts)] for key, facts in groups.items()}
    found = [replace(entry, torus=entry.comparisons[0].torus.strip("-") if len(tori) > 1 else "", details=tuple(
        fact for fact, shown in zip(_facts(entry), differs[_group(entry)]) if fact and shown)) for entry in entries]
    total, seen = Counter(entry.title for entry in found), Counter[str]()
    for number, entry in enumerate(found):
        seen[entry.title] += 1
        if total[entry.title] > 1:
            found[number] = replace(entry, run=seen[entry.title])
    return found


def _group(entry):
    return entry.network, entry.comparisons[0].torus, label_of(entry.comparisons[0])


def _facts(entry):
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
