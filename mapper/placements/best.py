"""The best placement for a grid. The site decides which families are tried:

- on a whole torus or mesh digit patterns, ring maps, lattice tilings (rings only), and the local search from the best;
- on tori with holes or idle slots the local search;
- on a whole twisted torus digit bases, see `pencilmap.mapper.seeds.twisted_torus`;
- on every other network, and on twisted tori with holes, idle slots or uneven blocks, the search of
  `pencilmap.mapper.searches.network_search`, which under another routing than the default follows all others, too.

Digit patterns and ring maps are searched exactly at any size. Tilings, for exchanges in sequence, and the local search take
some seconds, on as many slots and messages as the constants say. They will be left out if a bound proves the product
optimal. The searches count the messages of a transform with uneven blocks. Slabs P and pencils 1xP are one question.
`search` is the local search by name (`pencilmap.mapper.searches.annealing`); on twisted tori and networks without
coordinates it is the search by routes.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from pencilmap.mapper.base.progress import now_and_then, part, say
from pencilmap.mapper.base.search import AFTER_TILING, MOST_SWAPS, OF_EVALUATION, OF_TILING, PATIENCE, Search, parse_search
from pencilmap.mapper.seeds import Twin, seeds_of
from pencilmap.mapper.seeds.default_order import default, launched
from pencilmap.mapper.seeds.products import as_slab, best_product
from pencilmap.mapper.seeds.torus import likely_product
from pencilmap.model.base.errors import PlacementError, RoutingError
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.kinds import DEFAULT_ROUTING, default_routing, judged_routings, kind_of, routing, routings_of
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import lower_bound, objective_bound, together_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, at_once, in_sequence, routed_joint

MOST_MESSAGES = 10_000_000     # with holes or idle slots: no search above this number
MOST_ORDERED, MOST_AXES = 1_000_000, 4  # one group with idle slots: not all orders of coordinates above these numbers
MOST_MESHED = 2_000_000        # on a whole mesh: no search above this number of messages
MOST_TWISTED = 256             # nodes of a twisted torus: above this number a table of all routes takes long
MOST_SWAPPED = 2048            # slots of a torus of rings: above this number tilings take the place of the local search
MOST_TILED = 16384             # slots of a torus of rings: above this number the best product is the answer
TOLERANCE = Fraction(1, 10**9)  # relative to a bound, for loads that are floats


def best(argument: str, site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Placement:
    """Return the best placement of all families; on a site with holes or idle slots the result of the local search.

    Parameters
    ----------
    argument : str
        Must be empty.
    site : Site
    grid : ProcessGrid
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.

    Returns
    -------
    Product or Mapping

    Raises
    ------
    PlacementError
        If there is an argument.
    GridError
        If the grid does not fit the site.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> str(best("", Site(Torus((8, 8))), ProcessGrid(4, 16)))
    'digits:x=r2c4,y=r2c4'
    """
    if argument:
        raise PlacementError(f"placement best:{argument}: best takes no argument; search does, e.g. search:seed=2")
    return candidates(site, grid, objective)[-1]


def candidates(site: Site, grid: ProcessGrid, objective: Objective | None = None, within: Search | None = None,
               rules: Sequence[str] = (), transform: Transform | None = None, robust: bool = False) -> list[Placement]:
    """Return placements, the best last: the best product if products exist, then a better placement if a search finds one.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    within : Search, optional
        Without a budget nothing will be searched, or little if no product exists.
    rules : sequence of str
        On a network that is no torus, the routings that count; all of its routings by default.
    transform : Transform, optional
        Its blocks give the sizes of the messages; without a transform all are equal.
    robust : bool
        Whether the local search of a torus minimises the worst cost over the rules for ties.

    Returns
    -------
    list of Product or Mapping
    """
    site.check_grid(grid)
    within, objective = within or Search(), objective or in_sequence(len(grid.decomposition.exchanges))
    uneven = transform if transform is not None and not transform.divides_evenly(grid) else None
    is_whole = _is_whole(site, grid) and site.network.has_products
    if not is_whole and _are_alike(site, grid, uneven):
        return [launched(site, grid)]
    if (one := as_slab(grid, objective, uneven)) and not (is_whole and uneven is None):
        return [replace(_mapping(candidate), grid=grid)
                for candidate in candidates(site, *one, within, rules, transform, robust)]
    if not site.network.has_products:
        return _without_products(site, grid, objective, within, rules, uneven)
    turns = _is_unusual(site, rules) and within.budget and is_searched(site, grid, uneven)
    if turns and (twin := seeds_of(site.network).twin(site)):  # 6x4 is 4x6 unless messages take one dimension first
        return [*_on_twin(twin, site, grid, objective, within, rules, uneven)]
    if is_whole:
        placements = _on_whole_torus(site, grid, objective, within, uneven, robust)
    elif not within.budget or not is_searched(site, grid, transform):
        return _unsearched(site, grid, objective, within)
    else:
        from pencilmap.mapper.searches.annealing import work_of_swap  # numba is loaded only for a search

        few = within.at_most(MOST_SWAPS * grid.n_tasks * work_of_swap(grid))
        placements = [*_filled(site, grid), searched(site, grid, few, objective, robust, uneven)]
    return _with_routes(placements, site, grid, objective, within, rules, uneven) if turns else placements


def _is_whole(site: Site, grid: ProcessGrid) -> bool:
    return site.allocation.is_complete and grid.n_tasks == site.n_slots


def _are_alike(site: Site, grid: ProcessGrid, uneven: Transform | None) -> bool:
    """Return whether one group of even blocks takes every slot: then all placements cost the same."""
    return uneven is None and grid.n_tasks in grid.shape and grid.n_tasks == site.n_slots


def _mapping(placement: Mapping | Product | Placement) -> Any:
    return placement.mapping("best") if placement.is_product else placement


def _on_whole_torus(site: Site, grid: ProcessGrid, objective: Objective, within: Search, uneven: Transform | None,
                    robust: bool) -> Any:
    """Return the best product, then a tiling and the result of the local search if each costs less than those before."""
    torus, T = as_torus(site.network), site.tasks_per_node
    product = best_product(torus, grid, T, objective)
    tried = _tried(site, grid, objective) if uneven is None else None
    letters = tuple(stage.letters for stage in grid.decomposition.exchanges)
    cost = objective.of_loads(routing(DEFAULT_ROUTING, torus).joint_of_product(product, letters))
    if tried is not None and not robust:
        return [product, tried[1]] if tried[0] < cost else [product]
    if not within.budget or not is_searched(site, grid, uneven):
        return [product]
    if uneven is None and not robust and _floor(torus, grid, T, objective) >= cost:
        return [product]
    tiling, begin, swaps = list[Mapping](), 0.0, within.part(1 - OF_TILING)
    if objective == in_sequence(2) and _has_rings(torus) and grid.n_tasks not in grid.shape:
        begin = 0.5
        with part(0, begin):
            tiling = _tiling(torus, grid, T, float(cost), within.part(OF_TILING))
        if tiling:
            swaps = swaps.part(AFTER_TILING)
    if (site.n_slots <= MOST_SWAPPED or not _has_rings(torus)) and not within.is_over():
        with part(begin, 1):
            tiling += _swapped(site, grid, objective, tiling, swaps, uneven, robust)
    return [product, *tiling]


@lru_cache(maxsize=256)
def _floor(torus: Torus, grid: ProcessGrid, tasks_per_node: int, objective: Objective) -> Fraction:
    """Return a lower bound of the objective on a whole torus."""
    site = Site(torus, tasks_per_node)
    if objective == in_sequence(len(grid.decomposition.exchanges)):
        return lower_bound(site, grid, ordered=True, split=True).value
    return objective.moved * together_bound(site, grid).value


def _without_products(site: Site, grid: ProcessGrid, objective: Objective, within: Search, rules: Sequence[str],
                      uneven: Transform | None) -> Any:
    """Return the result of the search by routes; with coordinates also the orders before it, and placements of seeds."""
    network = site.network
    if twin := seeds_of(network).twin(site):
        return _on_twin(twin, site, grid, objective, within, rules, uneven)
    if not network.has_coordinates:
        return [_by_routes(site, grid, objective, within, rules, uneven)]
    placements = [*_filled(site, grid), launched(site, grid)]
    if not within.budget or not is_searched(site, grid, uneven):
        return placements
    if closed := seeds_of(network).closed(site, grid, objective, within):
        if uneven is None or network.n_nodes > MOST_TWISTED:
            return _with_routes(closed, site, grid, objective, within, rules, uneven) if _is_unusual(site, rules) else closed
        placements = closed
    return [*placements, _by_routes(site, grid, objective, within, rules or (default_routing(network),), uneven)]


def _is_unusual(site: Site, rules: Sequence[str]) -> bool:
    """Return whether the routing that counts first is not that of the families: the default of the network."""
    return bool(rules) and rules[0].partition(":")[0] != default_routing(site.network)


def _with_routes(placements: Sequence[Any], site: Site, grid: ProcessGrid, objective: Objective, within: Search,
                 rules: Sequence[str], uneven: Transform | None) -> list[Any]:
    """Return the placements and that of the search by routes, the best under the first rule last."""
    judged, parts = [routing(rules[0], site.network)], exchanges(grid, uneven)
    return sorted([*placements, _by_routes(site, grid, objective, within.part(1), rules, uneven)],
                  key=lambda placement: -_costs(_mapping(placement), parts, judged, objective)[0])


def _by_routes(site: Site, grid: ProcessGrid, objective: Objective, within: Search, rules: Sequence[str],
               uneven: Transform | None) -> Mapping:
    from pencilmap.mapper.searches import network_search  # loads much, and tori do not need it

    return network_search.best_mapping(site, grid, within, objective, rules, uneven if within.budget else None)


def _on_twin(twin: Twin, site: Site, grid: ProcessGrid, objective: Objective, within: Search, rules: Sequence[str],
             uneven: Any) -> list[Mapping]:
    """Return the best placements of the twin and of the network, by the routing that counts first, the best last.

    Placements whose worst cost is above that of the launch order are left out.
    """
    names = rules or judged_routings(site.network)
    parts, judged = exchanges(grid, uneven), [routing(name, site.network) for name in names]
    known = [name for name in rules if name.partition(":")[0] in routings_of(twin.site.network)]
    placements = [launched(site, grid), *(twin.back(_mapping(candidate)) for candidate in candidates(
        twin.site, grid, objective, within.part(1), known, uneven))]
    costs = [_costs(mapping, parts, judged, objective) for mapping in placements]
    enough = objective_bound(site, grid, objective) * Crossing(grid, uneven).smallest
    if names[0].partition(":")[0] not in routings_of(twin.site.network) and min(costs)[0] > enough * (1 + TOLERANCE):
        placements.append(twin.back(_by_routes(twin.in_order, grid, objective, within.part(1), rules, uneven)))
        costs.append(_costs(placements[-1], parts, judged, objective))
    allowed = [i for i, cost in enumerate(costs) if max(cost) <= max(costs[0])]
    return [placements[i] for i in sorted(allowed, key=lambda i: costs[i][0], reverse=True)]


def _costs(mapping: Mapping, parts: Sequence[Any], judged: Sequence[Any], objective: Objective) -> list[Fraction]:
    """Return the objective under each routing that works here."""
    result = []
    for rule in judged:
        with suppress(RoutingError):  # such as static routes on a tree with different numbers of cables
            result.append(objective.of_loads(routed_joint(mapping.network, parts, mapping.ends, rule)))
    return result


def _tried(site: Site, grid: ProcessGrid, objective: Objective) -> tuple[Fraction, Mapping] | None:
    """Return the optimum of a small machine and an optimal placement if every placement was tried, else None."""
    known = kind_of(site.network).optima(site, grid)
    if known is None or objective not in (in_sequence(2), at_once(2)):
        return None
    least, rows = (known.joint, known.rows_joint) if objective == at_once(2) else (known.sequence, known.rows_sequence)
    nodes = np.array(rows).ravel()
    slots = np.array([np.count_nonzero(nodes[:rank] == node) for rank, node in enumerate(nodes)])
    return least, Mapping(as_torus(site.network), grid, site.tasks_per_node, nodes, slots, "best")


def _unsearched(site: Site, grid: ProcessGrid, objective: Objective, within: Search) -> Any:
    """Return the best product of the whole torus without the unusable slots, if one count of all messages takes seconds.

    If this grid is the only one, return the launcher's order if it costs less. For one group that leaves slots idle, only
    its nodes matter: return all orders of coordinates, too, from which blocks of unequal length choose.
    """
    slot, T = likely_product(site, grid, objective), site.tasks_per_node
    product = Mapping(site.network, grid, T, site.allocation.nodes[slot // T], slot % T, "best")
    orders = _filled(site, grid)
    if not within.budget and not orders:
        return [product]
    placements = [*orders, launched(site, grid), product]
    placements.sort(key=lambda placement: -predict(placement, site=site).cost)
    return placements if orders else placements[-1:]


def _filled(site: Site, grid: ProcessGrid) -> list[Mapping]:
    """Return all orders of coordinates for one group that leaves slots idle."""
    axes = site.network.axes
    if grid.n_tasks not in grid.shape or grid.n_tasks == site.n_slots or len(axes) > MOST_AXES \
            or grid.n_tasks**2 > MOST_ORDERED:
        return []
    return [default(f"t{''.join(order)}", site, grid) for order in permutations(axes)]


def is_searched(site: Site, grid: ProcessGrid, transform: Transform | None = None) -> bool:
    """Return whether other placements than products and launch orders are searched."""
    uneven = transform if transform is not None and not transform.divides_evenly(grid) else None
    messages, is_group = grid.n_tasks * sum(grid.shape), grid.n_tasks in grid.shape
    if _are_alike(site, grid, uneven):
        return False
    if not site.network.has_coordinates:
        return True
    if not site.network.has_products:
        has_family = uneven is None and seeds_of(site.network).has_closed(site, grid)
        return (has_family or site.network.n_nodes <= MOST_TWISTED) and messages <= MOST_MESHED
    if not _is_whole(site, grid):
        return messages <= MOST_MESSAGES
    if grid.decomposition.has_bricks:
        return False
    if _has_rings(as_torus(site.network)) and not is_group:
        return site.n_slots <= MOST_TILED
    return messages <= MOST_MESHED


def _has_rings(torus: Torus) -> bool:
    return all(wrap or n <= 2 for n, wrap in zip(torus.shape, torus.wrap))


def _tiling(torus: Torus, grid: ProcessGrid, tasks_per_node: int, cost: float, within: Search) -> list[Mapping]:
    """Return a tiling of less cost if one is found."""
    from pencilmap.mapper.seeds import tilings  # numba is loaded only when a tiling is searched

    key = tilings, torus, grid, tasks_per_node, within.key
    if key not in within.results:
        within.results[key] = tilings.best_tiling(torus, grid, tasks_per_node, within, cost, PATIENCE)[0]
    tiling = within.results[key]
    return [tiling.mapping(grid)] if tiling else []


def _swapped(site: Site, grid: ProcessGrid, objective: Objective, known: Sequence[Mapping], within: Search,
             transform: Transform | None, robust: bool) -> list[Mapping]:
    """Return the result of the local search if it is better than the best product and the known placements."""
    from pencilmap.mapper.searches import annealing

    swapped = annealing.search(site, grid, within, objective, annealing.TIED if robust else annealing.USUAL, transform,
                               known, _report(grid))
    from_known = swapped.start == "best product" or swapped.start.startswith("known")
    return [] if from_known and swapped.cost > swapped.start_cost - 1e-9 else [swapped.mapping]


def _report(grid: ProcessGrid) -> Callable[..., None]:
    return now_and_then(lambda line, share=None: say(f"search of grid {grid}: {line}", share))


def search(argument: str, site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Mapping:
    """Search with options, e.g. ``search`` or ``search:seed=1,evaluations=200000,seconds=30``.

    The same seed and evaluations will give the same placement on any machine. When a time limit, `seconds`, ends the search
    early, a note of the placement will say so. Without `evaluations` there is always a time limit. The search reports to
    `pencilmap.mapper.base.progress`.

    Parameters
    ----------
    argument : str
        Options, for example ``seed=1,seconds=30``, or empty.
    site : Site
    grid : ProcessGrid
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.

    Raises
    ------
    PlacementError
        If the argument is not understood.
    GridError
        If the grid does not fit the site.
    """
    return searched(site, grid, search_of_text(argument, site, grid), objective)


def search_of_text(argument: str, site: Site, grid: ProcessGrid, robust: bool = False) -> Search:
    """Return the search that the text after ``search:`` describes. Raises PlacementError if it is not understood."""
    try:
        return parse_search(argument, _work_of_evaluation(site, grid, robust))
    except ValueError as error:
        raise PlacementError(f"search:{argument}: {error}; write search, or e.g. search:seed=1,evaluations=200000,"
                             "seconds=30") from None


def _work_of_evaluation(site: Site, grid: ProcessGrid, robust: bool) -> int:
    if not site.network.has_products:
        return OF_EVALUATION
    from pencilmap.mapper.searches import annealing  # numba is loaded only when a search is requested

    return annealing.work_of_swap(grid, annealing.TIED if robust else annealing.USUAL)


def searched(site: Site, grid: ProcessGrid, within: Search, objective: Objective | None = None, robust: bool = False,
             transform: Transform | None = None) -> Mapping:
    """Return the result of the local search.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    within : Search
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    robust : bool
        Whether to minimise the worst objective over the rules for ties.
    transform : Transform, optional
        Its uneven blocks give the sizes of the messages; without them all are equal.

    Raises
    ------
    GridError
        If the grid does not fit the site.
    """
    site.check_grid(grid)
    objective = objective or in_sequence(len(grid.decomposition.exchanges))
    if transform is not None and transform.divides_evenly(grid):
        transform = None
    if one := as_slab(grid, objective, transform):
        return replace(searched(site, one[0], within, one[1], robust, transform), grid=grid)
    from pencilmap.mapper.searches import annealing, network_search  # numba is loaded only when a search is requested

    if not site.network.has_products:
        rules = (default_routing(site.network),) if site.network.has_coordinates else ()
        mapping = network_search.search(site, grid, within, objective, rules, transform).mapping
        name = f"search:seed={within.seed},evaluations={within.budget // OF_EVALUATION}"
        return replace(mapping, name=name + ",cut=seconds" * within.cut_short,
                       notes=(f"{name}: {annealing.ENDS['seconds']}",) if within.cut_short else ())
    report = _report(grid)
    result = annealing.search(site, grid, within, objective, annealing.TIED if robust else annealing.USUAL, transform,
                              report=report)
    report(str(result), 1.0)
    return result.mapping
