"""The placement of a program whose links are busy for the least time, phase after phase.

Idea: many starts (`pencilmap.mapper.seeds.traffic`) are compared by their exact loads. The best are improved by
swaps at low temperatures; the best of all is also heated, once or several times. The budget counts changed loads, so a seed
will give the same placement on every machine.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.boards import Swaps, Term, board_of_places, flows_of
from pencilmap.mapper.searches.hop_bytes import hop_bytes
from pencilmap.mapper.searches.swaps import ANYWHERE, BESIDE
from pencilmap.mapper.seeds.graph import scotch_starts
from pencilmap.mapper.seeds.traffic import climbed, traffic_starts
from pencilmap.model.base.arrays import Ints
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing.routes import Routes
from pencilmap.model.traffic.program import Traffic

REFINED = 3  # starts that are improved
COOL = (3, 4, 5)
WARM = 0.02  # first temperature of a start that is good already
FRESH, HOT = (3,), 0.3  # stage and first temperature of a run that forgets its start
FRESH_RUNS = 6
SWAPS_OF_FRESH = 2000  # swaps for each rank that make a run from a high temperature worth its time
HEATED = (0, 1, 2, 3, 4, 5)
COLD = 0.03  # last temperature of a stage, as a factor of the first
MOST_SWAPS = 40_000  # of a search, for each rank


@dataclass(frozen=True)
class FoundPlaces:
    """Places of the ranks, and how they were found.

    places : int array, shape (P,); place s T + t is slot t of the s-th usable node
    name : the start, and whether swaps improved it
    costs : cost of each start by its name; cost of the result
    """

    places: Ints
    name: str
    costs: dict[str, float]
    cost: float


def search_traffic(site: Site, traffic: Traffic, rule: Any, within: Search | None = None,
                   scotch: bool = True) -> FoundPlaces:
    """Return the best placement that is found. It is never worse than a start, and the launcher's order is a start.

    Parameters
    ----------
    site : Site
    traffic : Traffic
    rule : Rule
    within : Search, optional
        Without a budget the best start will be the answer.
    scotch : bool
        Whether Scotch is asked for a start if it is installed.
    """
    within = within or Search()
    T = site.tasks_per_node
    node, slot = np.repeat(site.allocation.nodes, T), np.tile(np.arange(T), site.allocation.n_nodes)
    tables = rule.routes(site.network, node, slot)
    if tables is None or not traffic.total.bytes.nnz:
        name, places = next(iter(traffic_starts(site, traffic)))
        return FoundPlaces(places, name, {}, 0.0)
    swaps = swaps_of(traffic, tables, T)
    best: list[tuple[float, str, Ints]] = []
    costs: dict[str, float] = {}
    counts = int(within.budget / 2 / (swaps.work_of_swap * traffic.n_ranks))
    climb = climbed(site, traffic.n_ranks, swaps.cost, counts, within.seed) if counts else None
    few_hops = hop_bytes(traffic, tables)
    for name, places in chain(traffic_starts(site, traffic), [climb] if climb else (),
                              [("hop-bytes", few_hops)] if few_hops is not None else (),
                              scotch_starts(site, traffic) if scotch else ()):
        costs[name] = swaps.cost(places)
        if all(abs(costs[name] - cost) > 1e-9 * cost for cost, *_ in best):
            best = sorted([*best, (costs[name], name, places)], key=lambda some: some[0])[:REFINED]
        if within.is_over():
            break
    if within.budget:
        work = min(within.budget, MOST_SWAPS * traffic.n_ranks * swaps.work_of_swap)
        best += list(_improved(swaps, best, work, within))
    cost, name, places = min(best, key=lambda some: some[0])
    return FoundPlaces(places, name, costs, cost)


def swaps_of(traffic: Traffic, tables: Routes, tasks_per_node: int) -> Swaps:
    """Return the search by swaps for the phases of a program."""
    flows = flows_of(traffic)
    terms = [Term(1.0, tuple(float(e == m) for e in range(len(flows)))) for m in range(len(flows))]
    proposal = [row for e in range(len(flows)) for row in ((ANYWHERE, e), (BESIDE, e))]
    return Swaps(board_of_places(tables, tasks_per_node), flows, terms, proposal=proposal)


def _improved(swaps, starts, work, within):
    """Yield improved starts: each cooled, then the best heated and cooled again.

    Few ranks are heated several times, which forgets the start. Many ranks are heated once.
    """
    found = list(starts)
    each = 3 * work / (4 * FRESH_RUNS)
    again: list[tuple[None, tuple[int, ...], float, float]] = [(None, FRESH, HOT, each)] * FRESH_RUNS
    if each < SWAPS_OF_FRESH * swaps.game.ranks * swaps.work_of_swap:
        again = [(None, HEATED, 1.0, work / 3), (None, HEATED, 0.2, work / 6)]
    for number, (start, stages, hot, part) in enumerate([*((start, COOL, WARM, work / 16) for start in starts), *again,
                                                         (None, COOL, WARM, work / 16)]):
        if within.is_over():
            return
        _, name, places = start or min(found, key=lambda some: some[0])
        swaps.seed = within.seed + 100 * number
        swaps.begin(places)
        for doublings in stages:
            typical = hot * swaps.typical_change(doublings)
            within.goes_on(swaps.cool(part / len(stages), typical, COLD * typical, doublings))
        found.append((swaps.least, name if name.endswith("swaps") else f"{name}, swaps", swaps.best))
        yield found[-1]
