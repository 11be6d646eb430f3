"""The placement of a program whose links are busy for the least time, phase after phase.

Idea: many starts (`pencilmap.mapper.seeds.traffic`) are compared by their exact loads. The best are improved by
swaps at low temperatures; the best of all is also heated, once or several times. The budget counts changed loads, so a seed
will give the same placement on every machine.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from pencilmap.mapper.base.search import FRESH_RUNS, MOST_TRAFFIC_MESSAGES, MOST_TRAFFIC_SWAPS, SWAPS_OF_FRESH, Search
from pencilmap.mapper.searches.boards import Groups, Pairs, Swaps, Term, board_of_places, flow_of, flows_of, pairs_of
from pencilmap.mapper.searches.swaps import ANYWHERE, BESIDE, FROM_LINK, TO_LINK
from pencilmap.mapper.seeds.graph import scotch_starts
from pencilmap.mapper.seeds.torus import slots_of
from pencilmap.mapper.seeds.traffic import climbed, grid_starts, hop_bytes, launch_orders, rank_grid, traffic_starts
from pencilmap.model.base.arrays import Ints
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import Rule
from pencilmap.model.traffic.exchange import Halo, bricks_of, exchanges
from pencilmap.model.traffic.loads import Objective
from pencilmap.model.traffic.program import Traffic

REFINED = 3  # starts that are improved
COOL = (3, 4, 5)
WARM = 0.02  # first temperature of a start that is good already
FRESH, HOT = (3,), 0.3  # stage and first temperature of a run that forgets its start
HEATED = (0, 1, 2, 3, 4, 5)
COLD, SLICES = 0.03, 4  # last temperature of a stage, as a factor of the first; slices of a stage


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


def search_traffic(site: Site, traffic: Traffic, rule: Any, within: Search | None = None, scotch: bool = True,
                   by_hops: bool = False, known: Iterable[tuple[str, Ints]] = ()) -> FoundPlaces:
    """Return the best placement that is found. It is never worse than a start, and the launcher's order is a start.

    The cost is the sum over the phases of the busiest link; `by_hops` it is that of bytes times links.

    Parameters
    ----------
    site : Site
    traffic : Traffic
    rule : Rule
    within : Search, optional
        Without a budget the best start will be the answer.
    scotch : bool
        Whether Scotch is asked for a start if it is installed.
    by_hops : bool
    known : iterable of (str, int array)
        Further starts, with their names.
    """
    within = within or Search()
    T, tables = site.tasks_per_node, _tables(site, rule)
    if tables is None or not traffic.total.bytes.nnz:
        name, places = next(iter(traffic_starts(site, traffic)))
        return FoundPlaces(places, name, {}, 0.0)
    few_hops = hop_bytes(traffic, tables)
    starts = chain(traffic_starts(site, traffic), [("hop-bytes", few_hops)] if few_hops is not None else (), known,
                   scotch_starts(site, traffic) if scotch else ())
    return search_places(site, swaps_of(traffic, tables, T, by_hops), starts, within)


def search_places(site: Site, swaps: Swaps, starts: Iterable[tuple[str, Ints]], within: Search) -> FoundPlaces:
    """Return the best placement that is found from some starts, whose first is a launch order."""
    best: list[tuple[float, str, Ints]] = []
    costs: dict[str, float] = {}
    P = swaps.game.ranks
    counts = int(within.budget / 2 / (swaps.work_of_swap * P))
    climb = climbed(site, P, swaps.cost, counts, within.seed) if counts else None
    for name, places in chain(starts, [climb] if climb else ()):
        costs[name] = swaps.cost(places)
        if all(abs(costs[name] - cost) > 1e-9 * cost for cost, *_ in best):
            best = sorted([*best, (costs[name], name, places)], key=lambda entry: entry[0])[:REFINED]
        if within.is_over():
            break
    if within.budget:
        most = MOST_TRAFFIC_SWAPS * P * swaps.work_of_swap
        best += list(_improved(swaps, best, within.part(min(1.0, most / within.budget))))
    cost, name, places = min(best, key=lambda item: item[0])
    return FoundPlaces(places, name, costs, cost)


def search_transform(site: Site, grid: ProcessGrid, transform: Transform, objective: Objective, halo: Halo, within: Search,
                     known: Sequence[Mapping] = ()) -> list[Mapping]:
    """Return the launch order, then a placement for the objective of the exchanges and a halo between transforms.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    transform : Transform
    objective : Objective
        Of the exchanges.
    halo : Halo
    within : Search
        Without a budget the launch order will be the only answer.
    known : sequence of Mapping
        Further starts.
    """
    orders = list(launch_orders(site, grid.n_tasks))
    tables = None
    if within.goes_on() and grid.n_tasks * sum(grid.shape) <= MOST_TRAFFIC_MESSAGES:
        tables = _tables(site, routing(default_routing(site.network), site.network))
    if tables is None:
        return [_mapping(site, grid, orders[0][1])]
    shapes = [grid.shape, *([bricks_of(grid.decomposition, grid.n_tasks, transform)] * grid.decomposition.has_bricks)]
    extents = [tuple(int(n) for n in shape[::-1] if n > 1) for shape in shapes]
    starts = chain(orders, ((m.name, slots_of(site, m.node_of_rank, m.slot_of_rank)) for m in known),
                   grid_starts(site, [("x".join(map(str, grid_)), rank_grid(grid_)) for grid_ in extents if len(grid_) > 1]))
    swaps = swaps_of_transform(tables, site, grid, transform, objective, halo)
    return [_mapping(site, grid, orders[0][1]), _mapping(site, grid, search_places(site, swaps, starts, within).places)]


def swaps_of_transform(tables: Routes, site: Site, grid: ProcessGrid, transform: Transform, objective: Objective,
                       halo: Halo) -> Swaps:
    """Return the search by swaps whose cost is the objective and the weighted halo, on the m scale."""
    from scipy.sparse import coo_array  # slow to import

    n, messages = site.network.n_nodes, halo.messages(grid, transform)
    source, target = messages.members.T
    scale = 4 * n * messages.unit_bytes / messages.total_bytes
    sent = coo_array((messages.group_weight * scale, (source, target)), shape=(grid.n_tasks, grid.n_tasks))
    is_even = transform.divides_evenly(grid)
    parts = exchanges(grid, None if is_even else transform)
    flows: list[Groups | Pairs] = [*(flow_of(part, n, is_even) for part in parts), pairs_of(sent)]
    order = sorted(range(len(flows)), key=lambda e: flows[e].mates)
    terms = [Term(float(term.count), (*map(float, term.shares), 0.0)) for term in objective.terms]
    terms.append(Term(float(halo.weight), (0.0,) * len(parts) + (1.0,)))
    return _swaps(tables, site.tasks_per_node, [flows[e] for e in order],
                  [term._replace(shares=tuple(term.shares[e] for e in order)) for term in terms])


def _mapping(site: Site, grid: ProcessGrid, places: Ints) -> Mapping:
    T = site.tasks_per_node
    return Mapping(site.network, grid, T, site.allocation.nodes[places // T], places % T, "best")


def _tables(site: Site, rule: Rule) -> Routes | None:
    T = site.tasks_per_node
    node, slot = np.repeat(site.allocation.nodes, T), np.tile(np.arange(T), site.allocation.n_nodes)
    return rule.routes(site.network, node, slot)


def swaps_of(traffic: Traffic, tables: Routes, tasks_per_node: int, by_hops: bool = False) -> Swaps:
    """Return the search by swaps for the phases of a program; `by_hops` all links are one link."""
    flows = flows_of(traffic)
    terms = [Term(1.0, tuple(float(e == m) for e in range(len(flows)))) for m in range(len(flows))]
    return _swaps(tables, tasks_per_node, flows, terms, by_hops)


def _swaps(tables: Routes, tasks_per_node: int, flows: Sequence[Groups | Pairs], terms: Sequence[Term],
           by_hops: bool = False) -> Swaps:
    proposal = [row for e in range(len(flows)) for row in ((ANYWHERE, e), (BESIDE, e))]
    board = board_of_places(tables, tasks_per_node)
    if by_hops:  # a single link, which every message uses once for each hop
        leg = board.leg.copy()
        leg[:, :, [FROM_LINK, TO_LINK]] = 0
        board = board._replace(leg=leg, link=np.zeros_like(board.link), links=1)
    return Swaps(board, flows, terms, proposal=proposal)


def _improved(swaps: Swaps, starts: list[tuple[float, str, Ints]], within: Search) -> Iterator[tuple[float, str, Ints]]:
    """Yield improved starts: each cooled, then the best heated and cooled again.

    Few ranks are heated several times, which forgets the start. Many ranks are heated once.
    """
    places_ = list(starts)
    part_of_run = 3 / (4 * FRESH_RUNS)
    again: list[tuple[None, tuple[int, ...], float, float]] = [(None, FRESH, HOT, part_of_run)] * FRESH_RUNS
    if part_of_run * within.budget < SWAPS_OF_FRESH * swaps.game.ranks * swaps.work_of_swap:
        again = [(None, HEATED, 1.0, 1 / 3), (None, HEATED, 0.2, 1 / 6)]
    for number, (start, stages, hot, part) in enumerate([*((start, COOL, WARM, 1 / 16) for start in starts), *again,
                                                         (None, COOL, WARM, 1 / 16)]):
        if within.is_over():
            return
        _, name, places = start or min(places_, key=lambda entry: entry[0])
        swaps.seed = within.seed + 100 * number
        slices = [(hot * COLD ** (i / SLICES), hot * COLD ** ((i + 1) / SLICES), doublings)
                  for doublings in stages for i in range(SLICES)]
        places = swaps.anneal(places, within.part(part), slices, by_change=True)
        places_.append((swaps.least, name if name.endswith("swaps") else f"{name}, swaps", places))
        yield places_[-1]
