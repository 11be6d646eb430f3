"""Graphs: the hosts, switches and cables of a file, of which nothing more is known."""

from typing import Any

from pencilmap.model.base.errors import GraphError
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH


def _only_from_files(text: str, **options: Any) -> Any:
    raise GraphError(f"network graph:{text[:60]}: a graph has no text form; give the file of its cables")


KIND = Kind("graph", "", "hosts, switches and cables of a file", "link", GraphNetwork, _only_from_files,
            (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL))
