"""One search for every network of hosts and switches: seeds, swaps, and a judgement under every routing.

Idea: (1) Make closed-form seeds (`pencilmap.mapper.seeds.levels`). (2) Anneal the best of them by swaps, on the
loads of the network's default routing (`pencilmap.mapper.searches.swaps`): by counts on fat trees, by a table of routes
elsewhere. Some rounds give up a swap early if its smallest groups lose, so they keep more of a seed. (3) On fat trees,
lessen the loads of static routes by the Latin rule and by swaps inside leaves, which leave the traffic between leaves as it
is; then lessen both by further swaps. (4) Judge candidates under each routing of the network, those of the least default
cost first. Candidates whose worst cost is above that of the launch order are out. The answer is the first of the others; if
several cost the same, the one with the least regret, which is the largest factor from the least cost of a judged candidate
under a routing to its own.
Source: mixed tilings and Latin rule are ours (docs/theory.md); annealing as in `pencilmap.mapper.searches.annealing`.
Without a budget only launch orders and the best seeds are judged, without compiled code; the best seeds are those that
send the least across the borders of hosts, leaves and groups. They are judged under the default routing, as long as they may
cost less than those before; only the Latin order of the best of them is judged under static routes, too.
Cost: the changed loads of the budget. The search ends when a candidate reaches the lower bound.
Deterministic: the same seed and budget give the same placement, unless the deadline ends the search.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from pencilmap.mapper.base.progress import now_and_then, say
from pencilmap.mapper.base.search import OF_ROUNDS, ROUNDS_OF_SWITCHES, Search
from pencilmap.mapper.seeds.levels import FEW, MANY, Ground, all_equal, latin, seeds
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import LINEAR_PROGRAMS, default_routing, judged_routings, kind_of, routing
from pencilmap.model.kinds.levels import Units, units_of
from pencilmap.model.network.network import Network, link_weights
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import objective_bound
from pencilmap.model.routing.routes import RouteTable
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, in_sequence, routed_joint

FIRST, FILLED = 2, 32     # best seeds by the traffic across units: judged without a budget; compared by all loads
FIRST_RANKS, FILLED_RANKS = 250_000, 20_000_000  # ranks of all seeds that are made for these two
FULL = 16                 # entries of a table of counts for each rank, above which sorting is faster
MOST_PAIRED = 128         # units whose pairs are compared
POLISHED = 3              # candidates whose swaps are continued under static routes
MOST_JUDGED = 16          # seeds that are judged
MOST_PROGRAMS = 4         # placements that are judged by linear programs, each of which takes up to some seconds
SLICES = (4,) * 8 + (5,) * 6 + (6,) * 6  # the exponents of the guide are 2 to the power of these
HOT, COLD = 0.004, 1e-6   # temperatures in units of the cost; by routes there are fewer swaps, so these end at:
COLD_BY_ROUTES = 4e-6
WARM = 0.001              # a polish begins here, for a warmer one forgets the placement: 12.78, not 12.33, on 36 hosts, 8x9
PATIENT, PATIENT_BY_ROUTES, EAGER = 1.0, 0.999, 0.99  # fading of the gain of later flows: by counts nothing is given up
LAUNCHED = "launch order", "transposed"  # seeds that every answer is compared with
MOST_COUNTS = 1 << 27    # units times groups; above this number only the launch orders are compared
UNEVEN = 2               # sums of uneven blocks take so many times the memory of counts
EQUAL = "with an even split all placements cost the same: no leaf has fewer cables up than hosts in use, and no pod either"

Level: TypeAlias = tuple[Ints, Floats, Floats]  # unit of each slot; 1 over the capacity of each unit, and between units


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    mapping: Mapping
    costs: dict[str, Fraction]  #: objective under each routing that was judged
    seed: str  #: name of the seed from which it comes
    cut: bool  #: whether the deadline ended the search


@dataclass(frozen=True, eq=False)
class View:
    """The loads that swaps see: units with cables, and a table of routes."""

    unit: Ints  #: int array, shape (S, L); units of each slot
    length: Floats  #: float array, shape (U,); length of a byte on the cables of each unit, relative to the fastest class
    routes: RouteTable | None
    within: Ints  #: int array, shape (S,); part of the network in which the rank of each slot stays
    both: bool = False  #: whether the objective by counts alone and the objective with all routes are added


def views(ground: Ground, directed: bool = False, rule: str = "") -> list[View]:
    """Return the loads under a routing of a network (its default), then those of a polish inside leaves.

    If `directed`, the two directions of the routes between two points are apart.
    """
    network = ground.network
    anywhere = np.zeros(len(ground.node), dtype=np.int64)
    unit, length = kind_of(network).counted(network, network.ends(ground.node, ground.slot))
    routes = _routes(network, network.ends(ground.node, ground.slot).tobytes(), rule or default_routing(network), directed)
    if not kind_of(network).counts_suffice:
        return [View(unit, length, routes, anywhere)]
    result, parts = [View(unit, length, None, anywhere)], (ground.levels[0], anywhere)
    return result if routes is None else [*result, *(View(unit, length, routes, part, both=True) for part in parts)]


@lru_cache(maxsize=2)
def _routes(network: Network, ends: bytes, rule: str, directed: bool) -> RouteTable | None:
    return kind_of(network).guiding_routes(network, np.frombuffer(ends, dtype=np.int64), routing(rule, network), directed)


def swaps_of(ground: Ground, view: View, objective: Objective, seed: int = 1, transform: Transform | None = None) -> Any:
    """Return the search by swaps, see `pencilmap.mapper.searches.boards.Swaps`.

    Parameters
    ----------
    ground : Ground
    view : View
    objective : Objective
    seed : int
    transform : Transform, optional
        Its uneven blocks give the sizes of the messages; the view is directed then.
    """
    from pencilmap.mapper.searches import boards  # numba is loaded only if something is searched

    network, table = ground.site.network, view.routes
    point = np.zeros_like(ground.node) if table is None else table.points[network.ends(ground.node, ground.slot)]
    board = boards.board_of(view.unit, view.length, table, point, view.within, transform is not None)
    parts = exchanges(ground.grid, transform)
    order = sorted(range(len(parts)), key=lambda e: parts[e].size)  # small groups first, see `Swaps`
    terms = [boards.Term(float(term.count), tuple(float(term.shares[e]) for e in order)) for term in objective.terms]
    units_alone = [term._replace(linked=False) for term in terms] if view.both else []
    flows = [boards.flow_of(parts[e], network.n_nodes, transform is None) for e in order]
    return boards.Swaps(board, flows, [*units_alone, *terms], seed)


def annealed(swaps: Any, slots: Ints, within: Search, hot: float = HOT, cold: float = COLD, fading: float = PATIENT,
             enough: float = 0.0) -> Ints:
    """Return a placement that costs no more, found by swaps; they end early at a cost that is `enough`."""
    ratio = (cold / hot) ** (1 / len(SLICES))
    slices = [(hot * ratio**i, hot * ratio**(i + 1), doublings) for i, doublings in enumerate(SLICES)]
    return swaps.anneal(slots, within, slices, fading=fading, enough=enough)


def search(site: Site, grid: ProcessGrid, within: Search | None = None, objective: Objective | None = None,
           rules: Sequence[str] = (), transform: Transform | None = None, launch: str = LAUNCHED[0]) -> Found:
    """Search for a placement with the least worst objective under all routings of a network.

    Parameters
    ----------
    site : Site
        A network of hosts and switches, or any graph, with any usable nodes.
    grid : ProcessGrid
    within : Search, optional
        Without a budget the best seed will be the answer.
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    rules : sequence of str
        Routings that count; all routings of the network by default.
    transform : Transform, optional
        Its uneven blocks give the sizes of the messages; without a transform all are equal.
    launch : {"launch order", "transposed"}
        The seed than which no answer is worse.

    Raises
    ------
    GridError
        If the grid does not fit the site.

    Examples
    --------
    >>> from pencilmap.model.kinds import network_named
    >>> found = search(Site(network_named("dragonfly:a=2,p=1,h=1")), ProcessGrid(3, 2), Search(100_000))
    >>> {name: round(float(cost), 3) for name, cost in found.costs.items()}
    {'minimal': 4.667, 'valiant': 7.333}
    """
    site.check_grid(grid)
    within = within or Search()
    ground = Ground(site, grid, variety=MANY if within.budget else FEW)
    objective = objective or in_sequence(len(grid.decomposition.exchanges))
    return _Search(ground, objective, within, rules, transform, launch).result()


def best_mapping(site: Site, grid: ProcessGrid, within: Search, objective: Objective | None = None,
                 rules: Sequence[str] = (), transform: Transform | None = None, launch: str = LAUNCHED[0]) -> Mapping:
    """Return the placement that `search` finds, with notes for a reader.

    RxC and CxR of even blocks are one problem with rows and columns exchanged, so only the grid with the shorter rows is
    searched.
    """
    if grid.decomposition == PENCIL and grid.shape[0] > grid.shape[1] and transform is None:
        turned = None if objective is None else objective.turned
        mapping = best_mapping(site, ProcessGrid(*grid.shape[::-1]), within, turned, rules, launch=LAUNCHED[1])
        node, slot = (ranks.reshape(grid.shape).T.ravel() for ranks in (mapping.node_of_rank, mapping.slot_of_rank))
        return replace(mapping, grid=grid, node_of_rank=node, slot_of_rank=slot)
    key = (search, site.network, site.allocation.nodes.tobytes(), site.tasks_per_node, site.launch, grid, objective,
           within.key, tuple(rules), transform, launch if within.budget else None)
    if key not in within.results:
        result = search(site, grid, within, objective, rules, transform, launch)
        within.results[key] = replace(result.mapping, notes=notes(site, result))
    return within.results[key]


def notes(site: Site, result: Found) -> tuple[str, ...]:
    """Return sentences about a result for a reader."""
    judged = ", ".join(f"{name} {float(cost):.4g}" for name, cost in result.costs.items())
    lines = [EQUAL] if all_equal(site) else []
    if len(result.costs) > 1:
        lines.append(f"placement chosen by its cost under {judged}")
    if result.cut:
        lines.append("the search was CUT SHORT by its time limit; another run may find another placement")
    return tuple(lines)


class _Search:
    def __init__(self, ground: Ground, objective: Objective, within: Search, rules: Sequence[str] = (),
                 transform: Transform | None = None, launch: str = LAUNCHED[0]) -> None:
        self.transform, self.launch = transform, launch
        self.ground, self.objective, self.within = ground, objective, within.part(1)
        self.report = now_and_then(lambda line: say(f"search of grid {ground.grid}: {line}",
                                                    min(1.0, within.spent / max(1, within.budget))))
        self.rules = {name: routing(name, ground.network) for name in rules or judged_routings(ground.network)}
        self.parts = exchanges(ground.grid, transform)
        self.known: dict[bytes, dict[str, Fraction | None]] = {}

    @cached_property
    def enough(self) -> float:
        """Cost at which a search is done."""
        bound = objective_bound(self.ground.site, self.ground.grid, self.objective)
        return float(bound * Crossing(self.ground.grid, self.transform).smallest) * (1 + 1e-9)

    def result(self) -> Found:
        """Return the best candidate."""
        if not self.within.budget:
            return self._of(self._spread(self._first()))
        first, *others = views(self.ground, self.transform is not None, self.first_rule)
        counts = len(first.length) * sum(self.ground.grid.n_tasks // each.size for each in self.parts)
        if counts * (1 if self.transform is None else UNEVEN) > MOST_COUNTS:
            others = []
            candidates = dict(islice(seeds(self.ground), len(LAUNCHED)))
        else:
            others = others if self._routes("static") else []
            candidates = self._annealed(first, OF_ROUNDS if others else 1)
        candidates = self._spread(candidates)
        for left, board in zip(range(len(others), 0, -1), others):
            candidates = self._polished(board, candidates, left)
        return self._of(candidates)

    def _of(self, candidates: dict[str, Ints]) -> Found:
        name = self._chosen(candidates) if len(candidates) > 1 else next(iter(candidates))
        return Found(self._mapping(candidates[name]), self._known(candidates[name]), name, self.within.cut_short)

    def _first(self) -> dict[str, Ints]:
        """Return the first that costs least under the default routing, of the launch orders and the seeds that send least.

        The traffic across units is a lower bound of this cost, so a seed with as much traffic as a known cost is left out.
        """
        scale, best, slots = 4 * self.ground.network.n_nodes, LAUNCHED[0], self.ground.launch
        least = float(self._first_cost(slots))
        bounds = self.first_rule == default_routing(self.ground.network) and self.transform is None
        alike = self.transform is None and least <= self._by_hosts * scale * (1 + 1e-9)
        others = () if alike else sorted(self._seeds(FIRST), key=lambda seed: seed[2])
        for name, slots_, crossing in others:
            if not bounds or crossing * scale < least * (1 - 1e-9):
                cost = float(self._first_cost(slots_))
                if cost < least * (1 - 1e-9):
                    best, slots, least = name, slots_, cost
        return {best: slots}

    @property
    def _by_hosts(self) -> float:
        """Traffic across the border of a host, which is the same for all placements of one task on a host; else 0."""
        if self.ground.site.tasks_per_node > 1 or not self.ground.network.levels:
            return 0.0
        return self._crossing([self._level(units_of(self.ground.network)[0])], self.ground.launch, np.inf)

    def _seeds(self, most: int) -> Iterator[tuple[str, Ints, float]]:
        """Yield name, slots and crossing of the launch orders, and of the seeds that send least across units.

        Without a budget, only seeds that send less than the launch orders.
        """
        P, network = self.ground.grid.n_tasks, self.ground.network
        ranks = FILLED_RANKS if self.within.budget else FIRST_RANKS
        levels = self._levels if network.levels else []
        seeds_ = dict(islice(seeds(self.ground), max(2 * len(LAUNCHED), ranks // P) if levels else most))
        crossing = self._crossings(seeds_, levels) if levels else dict.fromkeys(seeds_, 0.0)
        best = sorted(seeds_, key=crossing.__getitem__)[:most]
        if levels and not self.within.budget:
            least = min(crossing[name] for name in islice(seeds_, len(LAUNCHED)))
            best = [name for name in best if crossing[name] < least * (1 - 1e-9)]
        for name in dict.fromkeys([*islice(seeds_, len(LAUNCHED)), *best]):
            yield name, seeds_[name], crossing[name]

    def _crossings(self, slots_of: dict[str, Ints], levels: list[Level]) -> dict[str, float]:
        """Return the crossing of each seed; without a budget infinity if units alone send more than a launch order."""
        crossings, known, least = {}, {}, np.inf
        for name, slots in slots_of.items():
            limit = np.inf if self.within.budget or name in LAUNCHED else least * (1 - 1e-9)
            key = slots.tobytes()  # many seeds are the same
            if key not in known:
                known[key] = self._crossing(levels, slots, limit)
            crossings[name] = known[key]
            if name in LAUNCHED:
                least = min(least, crossings[name])
        return crossings

    @property
    def _levels(self) -> list[Level]:
        """The levels whose traffic depends on the placement."""
        alone = self.ground.site.tasks_per_node == 1  # sends all to other hosts
        return [self._level(units) for units in units_of(self.ground.network)[alone:]]

    def _level(self, units: Units) -> Level:
        """Return the unit of each slot, and 1 over the capacity of each unit, and between units."""
        rates = np.array([1 / float(weight) for weight in link_weights(self.ground.network)])
        used, unit = np.unique(units.of_node[self.ground.node], return_inverse=True)
        pairs = np.zeros((0, 0)) if units.between is None or len(used) > MOST_PAIRED else units.between[np.ix_(used, used)]
        between = _inverse(pairs * ~np.eye(len(pairs), dtype=bool))
        return unit, _inverse(units.leaving[used] @ rates), between if between.any() else between[:0]

    def _crossing(self, levels: list[Level], slots: Ints, limit: float) -> float:
        """Return about the objective: the traffic across each unit, and between units with cables, over their cables.

        Infinity if the traffic across the units of a level alone reaches the limit.
        """
        places, worst, pairs = [slots[part.members] for part in self.parts], np.zeros(len(self.objective.terms)), []
        for unit, leaving, between in levels[::-1]:
            units = [unit[place] for place in places]
            counts = [_counts(some, len(leaving)).astype(float) for some in units] if len(between) else None
            alone = self._largest([_leaving(some, len(leaving), counts[i] if counts else None) * leaving
                                   for i, some in enumerate(units)])
            if self._total(alone) >= limit:
                return np.inf
            worst = np.maximum(worst, alone)
            if counts is not None:
                pairs.append((counts, between))
        for counts, between in pairs[::-1]:
            worst = np.maximum(worst, self._largest([(inside.T @ inside * between).ravel() for inside in counts]))
        return self._total(worst)

    def _largest(self, loads: list[Floats]) -> Floats:
        """Return the largest load for each term of the objective, given the loads of each exchange."""
        scaled = [load / (len(part.members) * part.size**2) for part, load in zip(self.parts, loads)]
        return np.array([np.max(sum(float(share) * load for share, load in zip(term.shares, scaled)), initial=0.0)
                         for term in self.objective.terms])

    def _total(self, largest: Floats) -> float:
        return sum(float(term.count) * load for term, load in zip(self.objective.terms, largest.tolist()))

    def _spread(self, candidates: dict[str, Ints]) -> dict[str, Ints]:
        """Return all candidates, under rules whose receivers decide also with the hosts of each leaf in a Latin order."""
        placements = dict(candidates)
        for rule_name, rule in self.rules.items():
            if (ports := rule.ports(self.ground.network)) and self._routes(rule_name):
                placements |= {f"{name}, Latin": latin(self.ground, slots, *ports) for name, slots in candidates.items()}
        return placements

    def _chosen(self, candidates: dict[str, Ints]) -> str:
        """Return the candidate of the least default cost, of those whose worst cost is at most that of the launch order.

        Of equal costs the least regret decides.
        """
        launched = list(self._judged(candidates[self.launch]).values()) if self.launch in candidates else [np.inf]
        limit, usual = max(launched), launched[0]
        costs = {name: self._first_cost(slots) for name, slots in candidates.items()}
        allowed: dict[str, list[Fraction]] = {}
        for name in sorted(candidates, key=costs.__getitem__):  # the regret under the default rises
            if allowed and (costs[name] > usual or _regret(costs[name], costs.values()) > self._least(allowed)[0]):
                break
            result = list(self._judged(candidates[name]).values())
            if max(result) <= limit:
                allowed[name] = result
        return self._least(allowed)[2]

    @staticmethod
    def _least(allowed: dict[str, list[Fraction]]) -> tuple[float, list[Fraction], str]:
        """Return the least regret, the costs, and the name."""
        least = [min(costs_) for costs_ in zip(*allowed.values())]
        regrets = {name: max(_regret(cost, [low]) for cost, low in zip(item, least)) for name, item in allowed.items()}
        return min((round(regrets[name], 9), item, name) for name, item in allowed.items())

    def _annealed(self, board: View, fraction: float) -> dict[str, Ints]:
        """Return the two launch orders, and the best seeds before and after swaps: dict from name to slots of ranks."""
        swaps = swaps_of(self.ground, board, self.objective, self.within.seed, self.transform)
        kept, costs = dict[str, Ints](), dict[str, float]()
        for name, slots, _ in self._seeds(FILLED):
            self.report(f"start {name}")
            if len(kept) >= len(LAUNCHED) and self.within.is_over():
                break
            kept[name], costs[name] = slots, swaps.cost(slots)
        best = _different(costs)
        placements = {name: kept[name] for name in (*LAUNCHED, *best[:MOST_JUDGED]) if name in kept}
        for place, hot, patient in ROUNDS_OF_SWITCHES:
            name = best[min(place, len(best) - 1)]
            if self._is_best(kept[name]) or costs[best[0]] <= self.enough < costs[name]:
                break
            swapped = f"{name}, swapped from {hot:g}" + ", eager" * (not patient)
            placements[swapped] = self._anneal(swaps, board, kept[name], fraction / len(ROUNDS_OF_SWITCHES), hot, patient)
            if swaps.least <= self.enough:
                break
        if self.first_rule in LINEAR_PROGRAMS:
            costs = {name: swaps.cost(slots) for name, slots in placements.items()}
            return {name: placements[name] for name in (*LAUNCHED, *_different(costs)[:MOST_PROGRAMS]) if name in placements}
        return placements

    def _polished(self, board: View, candidates: dict[str, Ints], left: int) -> dict[str, Ints]:
        """Return all candidates, and the best after further swaps: those that cost least by default and here.

        left : boards that share what is left of the budget
        """
        swaps = swaps_of(self.ground, board, self.objective, self.within.seed, self.transform)
        judged = {name: [float(cost) for cost in self._judged(slots).values()] for name, slots in candidates.items()}
        default = min(candidates, key=lambda name: (judged[name][0], sum(judged[name])))
        placements = dict(candidates)
        fraction = max(0, 1 - self.within.spent / self.within.budget) / left / POLISHED
        sums = {name: sum(costs) for name, costs in judged.items()}
        for name in dict.fromkeys([default, *_different(sums)[:POLISHED - 1]]):
            if sum(judged[name]) > self.enough * len(judged[name]):
                placements[f"{name}, polished {left}"] = self._anneal(swaps, board, candidates[name], fraction, WARM)
        return placements

    def _anneal(self, swaps: Any, board: View, slots: Ints, fraction: float, hot: float = HOT, patient: bool = True) -> Ints:
        cold, fading = COLD, PATIENT
        if board.routes is not None:
            cold, fading = COLD_BY_ROUTES, PATIENT_BY_ROUTES
        slots_ = annealed(swaps, slots, self.within.part(fraction), hot, cold, fading if patient else EAGER,
                          self.enough * (1 + board.both))
        self.report(f"best load {swaps.least:.4g}")
        return slots_

    @property
    def first_rule(self) -> str:
        """The routing that counts first: the default, or the first of the given ones."""
        return next(iter(self.rules))

    def _first_cost(self, slots: Ints) -> Fraction:
        """Return the objective under that routing, which works on every network that is searched."""
        cost = self._cost(slots, self.first_rule)
        assert cost is not None
        return cost

    def _routes(self, name: str) -> bool:
        """Return whether a routing counts and works here."""
        return name in self.rules and self._cost(self.ground.launch, name) is not None

    def _known(self, slots: Ints) -> dict[str, Fraction]:
        """Return the objective under each routing that was judged."""
        return {name: cost for name, cost in self.known[slots.tobytes()].items() if cost is not None}

    def _is_best(self, slots: Ints) -> bool:
        return self.first_rule not in LINEAR_PROGRAMS and max(self._judged(slots).values()) <= self.enough

    def _judged(self, slots: Ints) -> dict[str, Fraction]:
        """Return the objective under each routing."""
        costs = {name: self._cost(slots, name) for name in self.rules}
        return {name: cost for name, cost in costs.items() if cost is not None}

    def _cost(self, slots: Ints, name: str) -> Fraction | None:
        """Return the objective under a routing, None if it does not work here."""
        costs = self.known.setdefault(slots.tobytes(), {})
        if name not in costs:
            mapping = self._mapping(slots)
            try:
                loads = routed_joint(mapping.network, self.parts, mapping.ends, self.rules[name])
                costs[name] = self.objective.of_loads(loads)
            except RoutingError:  # such as static routes on a tree with different numbers of cables
                costs[name] = None
        return costs[name]

    def _mapping(self, slots: Ints) -> Mapping:
        ground = self.ground
        return Mapping(ground.site.network, ground.grid, ground.site.tasks_per_node, ground.node[slots], ground.slot[slots],
                       "best")


def _counts(unit: Ints, n: int) -> Ints:
    """Return the members of each group in each unit, given the unit of each member: int array, shape (groups, n)."""
    place = np.arange(len(unit))[:, None] * n + unit
    return np.bincount(place.ravel(), minlength=len(unit) * n).reshape(len(unit), n)


def _leaving(unit: Ints, n: int, inside: Floats | None = None) -> Floats:
    """Return the messages of all groups that leave each unit, given the unit of each member: float array, shape (n,).

    inside : result of `_counts` if known
    """
    groups, size = unit.shape
    if inside is not None or groups * n <= FULL * unit.size:
        inside = _counts(unit, n).astype(float) if inside is None else inside
        return (inside * (size - inside)).sum(axis=0)
    place = np.sort((np.arange(groups)[:, None] * n + unit).ravel())
    begin = np.flatnonzero(np.diff(place, prepend=-1))
    number = np.diff(begin, append=len(place))
    return np.asarray(np.bincount(place[begin] % n, number * (size - number), n), dtype=float)


def _regret(cost: Fraction, others: Iterable[Fraction]) -> float:
    """Return the factor from the least cost to a cost."""
    least = min(others)
    return float(cost / least) if least else 1.0


def _inverse(capacity: Floats) -> Floats:
    return np.divide(1, capacity, out=np.zeros(capacity.shape), where=capacity > 0)


def _different(costs: dict[str, float]) -> list[str]:
    """Return the names with the least costs, one for each cost, the least first."""
    names: dict[float, str] = {}
    for name, cost in costs.items():
        names.setdefault(round(cost, 9), name)
    return [names[cost] for cost in sorted(names)]
