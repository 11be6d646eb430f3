"""Results of transpose_bench, read and compared: exchanges of one file, or one exchange of two files."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from statistics import median
from typing import Any

from pencilmap.mapper.runs.records import json_lines
from pencilmap.model.base.errors import RecordError

SCHEMA = "pencilmap-transpose-bench/1"


@dataclass(frozen=True)
class Case:
    """An exchange of messages of equal size in groups of equal size.

    Parameters
    ----------
    time_s : float
        Seconds with packing, of the slowest rank, the median over repetitions and over runs of the same case.
    mean_s, deviation_s : float or None
        Mean and deviation over the ranks, medians as well; deviation is None in files of older programs.
    """

    mpi: str
    group: int
    exchange: str
    message_bytes: int
    time_s: float
    mean_s: float
    deviation_s: float | None

    @property
    def key(self) -> tuple[int, str, int]:
        return self.group, self.exchange, self.message_bytes


def read_transposes(path: str | PathLike[str]) -> list[Case]:
    """Read every case of a JSON lines file, by group, exchange and message size.

    Cases that their exchange refused are left out.

    Raises
    ------
    RecordError
        If a line is not of transpose_bench. The message names file and line.
    """
    result: dict[tuple[int, str, int], list[dict[str, Any]]] = {}

    def keep(record: Any, where: str) -> None:
        if not isinstance(record, dict) or record.get("schema") != SCHEMA:
            raise RecordError(f"{where} is not of transpose_bench (schema {SCHEMA})")
        try:
            if record["refused"] is None:
                key = record["group"], record["exchange"], record["message_bytes"]
                result.setdefault(key, []).append(record)
                _check_times(record["total_times"])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{where} is not of transpose_bench: {error} is missing or not a time") from error

    json_lines(path, keep)
    if not result:
        raise RecordError(f"{path} has no times: transpose_bench writes them")
    return [_case(key, records) for key, records in sorted(result.items())]


def _check_times(times: dict[str, list[float]]) -> None:
    """Raise KeyError, TypeError or ValueError for a time that is missing or no time."""
    for name in ("max_s", "mean_s", *(["deviation_s"] if "deviation_s" in times else [])):
        if not 0 <= median(times[name]) <= max(times[name]):
            raise ValueError(name)


def _case(key: tuple[int, str, int], records: Any) -> Case:
    def middle(name: str) -> Any:
        item = [record["total_times"].get(name) for record in records]
        return None if None in item else median(median(times) for times in item)

    group, exchange, size = key
    return Case(records[0]["mpi"], group=group, exchange=exchange, message_bytes=size, time_s=middle("max_s"),
                mean_s=middle("mean_s"), deviation_s=middle("deviation_s"))


Ratios = dict[int, dict[int, float]]  # bytes of a message: {ranks of a group: ratio}


def ratios(cases: Sequence[Case], others: Sequence[Case]) -> Ratios:
    """Return the times of the first cases over the times of the others, for common groups and message sizes.

    >>> mine, other = (Case("", 4, name, 16, t, t, None) for name, t in (("p2p", 3e-6), ("fftw", 2e-6)))
    >>> ratios([mine], [other])
    {16: {4: 1.5}}
    """
    known = {(case.group, case.message_bytes): case.time_s for case in others}
    result: Ratios = {}
    for case in cases:
        other = known.get((case.group, case.message_bytes))
        if other:
            result.setdefault(case.message_bytes, {})[case.group] = case.time_s / other
    return dict(sorted(result.items()))


def by_exchange(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Return the cases of each exchange."""
    result: dict[str, list[Case]] = {}
    for case in cases:
        result.setdefault(case.exchange, []).append(case)
    return result
