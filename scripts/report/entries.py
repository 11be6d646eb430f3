"""Run records joined with their predictions, and the tori that the page draws."""

from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np

from pencilmap.mapper.compare import (compare_records, mapping_of_record, prediction_of_record, read_records,
                                      transform_of_record)
from pencilmap.model.exchange import exchanges
from pencilmap.model.routing import routing
from pencilmap.scripts.figures.loads import link_values

MAX_NODES = 20_000  # of a torus that is drawn
EXCHANGES = ("row", "column")


@dataclass(frozen=True)
class Entry:
    """One run record and what the model says of it.

    Parameters
    ----------
    source : str
        ``FILE:LINE``.
    record : dict
    comparisons : tuple of Comparison
        Row and column exchange.
    """

    source: str
    record: dict
    comparisons: tuple

    @cached_property
    def prediction(self):
        """For the placement that the ranks had; None where the run does not know its torus."""
        return prediction_of_record(self.record)[0]

    @property
    def transform(self):
        return transform_of_record(self.record)

    @property
    def placement(self):
        return self.comparisons[0].placement

    @property
    def network(self):
        return self.comparisons[0].network

    @property
    def mapping(self):
        """None where the run does not know its torus."""
        return self.prediction and mapping_of_record(self.record, self.prediction.torus, self.placement)

    @property
    def title(self):
        """What tells it from other records."""
        return f"{'x'.join(map(str, self.record['grid']))} {self.placement}, {self.transform}, {self.network}"

    def phase_s(self, name):
        """Seconds of the slowest rank in a phase, the median of the repetitions."""
        return median(self.record["phases"][name]["max_s"])

    def link_loads(self, exchange):
        """Loads of all links in one exchange, under the routing of the prediction."""
        found = exchanges(self.mapping.grid, self.transform)[EXCHANGES.index(exchange)]
        torus = self.mapping.torus
        return routing(self.prediction.routing, torus).loads(torus, found, self.mapping.node_of_rank)


def read_entries(paths):
    """The records of several files, in their order: list of Entry."""
    return [entry for path in paths for entry in entries_of(read_records(path), path)]


def entries_of(records, source):
    """Records joined with their comparisons: list of Entry."""
    rows = compare_records(records, source)
    return [Entry(f"{source}:{number}", record, tuple(rows[2 * number - 2:2 * number]))
            for number, record in enumerate(records, 1)]


def views(entries):
    """What the page draws of the tori: one dict for each placement and its loads, however many records had them.

    Returns
    -------
    list of dict
        For JSON. ``nodes`` (one int32 for each rank) and ``loads`` (float32, shape (d, 2, N), one cable, scale of m, nan
        where there is no link) are base64, little-endian.
    list of int or None
        For each entry the number of its view, None where it has none.
    """
    numbers, found, of_entry = {}, [], []
    for entry in entries:
        view = _view(entry)
        key = view and str(sorted((k, v) for k, v in view.items() if k != "title"))
        if view and key not in numbers:
            numbers[key] = len(found)
            found.append(view)
        of_entry.append(numbers.get(key))
    return found, of_entry


def _view(entry):
    mapping = entry.mapping
    if mapping is None or mapping.torus.n_nodes > MAX_NODES:
        return None
    torus = mapping.torus
    return {
        "title": f"{torus}, grid {mapping.grid}, {entry.placement}",
        "shape": list(torus.shape), "ring": [torus.is_ring(i) for i in range(torus.n_dimensions)], "axes": torus.axes,
        "grid": [mapping.grid.R, mapping.grid.C], "routing": entry.prediction.routing,
        "nodes": _base64(mapping.node_of_rank, "<i4"),
        "loads": {name: _base64(link_values(entry.link_loads(name), with_bytes=False), "<f4") for name in EXCHANGES},
    }


def _base64(values, kind):
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
