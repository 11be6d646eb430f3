"""Local search: a good placement of any grid on any nodes, if no product of digit patterns exists or is good enough.

Idea: take the best few launch orders and compact groupings (`pencilmap.mapper.seeds.torus`). Anneal these starts by
swaps of two ranks and moves to idle slots, on the exact routed loads (`pencilmap.mapper.searches.routed_swaps`). The
schedule gives the objective; in sequence the objective is the sum over the exchanges of the worst weighted length. A p-norm
over all links decides between placements of equal cost, and for steps that do not change the worst link. The search keeps
the best placement seen. So the answer is never worse than any start, and all launch orders of the axes are starts.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220 (1983); swaps that
bring partners together after S. H. Bokhari, "On the mapping problem", IEEE Trans. Comput. C-30 (1981).
Cost: one evaluation is a swap, O(group x path), and counts as `work_of_swap` changed loads. A start routes everything, which
counts as `SWAP` ranks an evaluation if there are more than `FEW_RANKS`. Uneven blocks give the sizes of the messages.
Deterministic: the same seed and budget give the same placement on any machine, unless the deadline ends the search.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from pencilmap.mapper.base.progress import by_signal
from pencilmap.mapper.base.search import FEWEST_MATES, OF_MATE, ROUNDS_OF_MESHES, ROUNDS_OF_RINGS, Search
from pencilmap.mapper.searches import routed_swaps
from pencilmap.mapper.seeds.products import best_product, best_product_of
from pencilmap.mapper.seeds.torus import grouped, launchers, products, slots_of
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.units import counted
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import TIES, Torus, as_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, in_sequence

if TYPE_CHECKING:
    from pencilmap.mapper.searches.routed_swaps import State

TRIALS = 3             # starts of different kinds that are annealed for a while; then the best start is annealed further
TRIAL_SHARE = 0.25     # of the evaluations, for these starts and a random start
SWAP = 4               # ranks whose messages a swap routes: those of two ranks, before and after
FEW_RANKS = 256        # up to this number a start counts as one evaluation: routing takes milliseconds
START_SHARE = 2        # divides the evaluations for starts other than launch orders and known placements
MOST_BYTES = 1 << 26   # of the loads of starts that are kept for further searches
LOADS = "loads of starts"  # their key among the results of a search
HOT, COLD = 0.4, 0.002  # temperatures in units of the energy divided by the number of links
DOUBLINGS = 4          # the p-norm that leads has p = 2^DOUBLINGS at first
LARGEST = 300          # decimal digits of the largest number
MELT, FREEZE = 0.003, 5e-5  # from a random start: in units of the energy
GAIN = 100.0           # the first `gain` of `routed_swaps.State`: more than any length

USUAL = (DimensionOrder(),)  # rules of routing
TIED = tuple(DimensionOrder(None, tie) for tie in TIES)  # a robust search counts the worst of these rules

ENDS = {"seconds": "CUT SHORT by its time limit; another run may find another placement",
        "interrupt": "interrupted, this is the best so far"}


def work_of_swap(grid: ProcessGrid, rules: Sequence[DimensionOrder] = USUAL) -> int:
    """Return the changed loads that take as long as a swap."""
    return OF_MATE * len(rules) * max(FEWEST_MATES, sum(n for n in grid.shape if n > 1))


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    mapping: Mapping
    cost: float  #: the objective; in sequence the sum over the exchanges of the worst weighted length
    #: start, start_cost: the start with the least cost
    start: str
    start_cost: float
    launcher_cost: float  #: cost of the launch order of the site; if this order is unknown, of ranks that fill each node
    evaluations: int
    seconds: float
    cut: str | None  #: reason for an early end: "seconds", "interrupt", or None if all evaluations were used

    def __str__(self) -> str:
        text = (f"load {self.cost:.4g} after {self.evaluations} evaluations in {self.seconds:.1f} s; launch order "
                f"{self.launcher_cost:.4g}, best start {self.start_cost:.4g} ({self.start})")
        return f"{text}; {ENDS[self.cut]}" if self.cut else text


class _Cut(Exception):
    """The time limit of the search is over."""


def search(site: Site, grid: ProcessGrid, within: Search | None = None, objective: Objective | None = None,
           rules: Sequence[DimensionOrder] = USUAL, transform: Transform | None = None,
           known: Sequence[Mapping] = (), report: Callable[..., None] | None = None) -> Found:
    """Search for a placement with a small objective.

    The result will never be worse than any launch order of the axes, or than the best product placement if products exist,
    unless the time is up before all of these starts were tried.

    Parameters
    ----------
    site : Site
        Any torus, with any usable nodes and idle slots.
    grid : ProcessGrid
    within : Search, optional
    objective : Objective, optional
        Objective to minimise; by default exchanges in sequence.
    rules : sequence of DimensionOrder
        Rules of routing; if there are several, the worst cost counts.
    transform : Transform, optional
        Its blocks give the sizes of the messages; without a transform all are equal.
    known : sequence of Mapping
        Further starts.
    report : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Found

    Raises
    ------
    GridError
        If the grid does not fit the site.

    Examples
    --------
    >>> from pencilmap.model.placement.allocation import Allocation
    >>> from pencilmap.model.network.torus import Torus
    >>> torus = Torus((4, 4))
    >>> site = Site(torus, allocation=Allocation(torus).without([5]))
    >>> found = search(site, ProcessGrid(3, 5), Search(2000 * work_of_swap(ProcessGrid(3, 5))))
    >>> found.cost < found.launcher_cost, found.evaluations
    (True, 2000)
    """
    site.check_grid(grid)
    objective = objective or in_sequence(len(grid.decomposition.exchanges))
    within, began = within or Search(), monotonic()
    uneven = transform if transform is not None and not transform.divides_evenly(grid) else None
    silent = report or (lambda line, share=None: None)
    run = _Run(site, grid, within, silent, objective, rules, uneven, known)
    key = (search, as_torus(site.network), site.tasks_per_node, site.allocation.nodes.tobytes(), site.launch, within.key,
           run.short if _alike(grid, objective, uneven) and not known else grid, tuple(rules), objective, uneven,
           tuple((mapping.node_of_rank.tobytes(), mapping.slot_of_rank.tobytes()) for mapping in known))
    if key in within.results:
        return within.results[key].of(grid, began).result(None)
    cut = None
    try:
        run.search()
        within.results[key] = run
    except _Cut:
        cut = "seconds"
    except (KeyboardInterrupt, SystemError) as error:
        if run.launcher_cost is None or not by_signal(error, KeyboardInterrupt):
            raise
        cut = "interrupt"
    return run.result(cut)


def _alike(grid: ProcessGrid, objective: Objective, uneven: Transform | None) -> bool:
    """Whether CxR is the same problem as RxC: even exchanges of rows and columns, in sequence."""
    return len(grid.shape) == 2 and objective == in_sequence(2) and uneven is None


class _Run:
    """A running search: the state of the loop and the used part of the budget.

    The loop works on the grid with its dimensions in rising order. So CxR and RxC are one search if all exchanges count
    alike, and the second search takes the result of the first.
    """

    def __init__(self, site: Site, grid: ProcessGrid, within: Search, report: Callable[..., Any], objective: Objective,
                 rules: Sequence[DimensionOrder], transform: Transform | None = None, known: Sequence[Mapping] = ()) -> None:
        self.site, self.grid, self.within, self.report = site, grid, within, report
        self.work = work_of_swap(grid, rules)
        self.evaluations = within.budget // self.work
        self.objective, self.rules, self.transform, self.known = objective, rules, transform, known
        self.short = ProcessGrid(*sorted(grid.shape), decomposition=grid.decomposition)
        self.turned = _turned(grid)
        order = _order_of_exchanges(grid)
        sizes = _sizes(grid, transform, order, self.turned)
        self.state = _state(site, self.short, within.seed, _terms(objective, order), rules, sizes)
        self.whole = site.allocation.is_complete and grid.n_tasks == site.n_slots
        self.began = monotonic()
        self.used = 0
        self.routed = 0  # starts
        self.key = (as_torus(site.network), site.tasks_per_node, site.allocation.nodes.tobytes(), self.short, tuple(rules),
                    None if transform is None else (sizes[0].tobytes(), sizes[1].tobytes()))
        self.start, self.start_cost = "", np.inf
        self.launcher_costs: dict[ProcessGrid, float] = {}

    @property
    def launcher_cost(self) -> float | None:
        """Cost of the launch order, or None as long as the cost is unknown."""
        return self.launcher_costs.get(self.grid)

    @property
    def _start_evaluations(self) -> int:
        """Evaluations that a start counts as."""
        return self.grid.n_tasks // SWAP if self.grid.n_tasks > FEW_RANKS else 1

    @property
    def _most_for_starts(self) -> int:
        """Evaluations for starts other than launch orders and known placements."""
        return self.evaluations // (START_SHARE if self.grid.n_tasks > FEW_RANKS else 1)

    def of(self, grid: ProcessGrid, began: float) -> "_Run":
        """Return this finished search for `grid`, which has the same or the exchanged extents."""
        run = copy(self)
        run.grid, run.turned, run.began = grid, _turned(grid), began
        # if one group takes every slot, all placements cost the same, and the launch order of `grid` was not tried
        run.launcher_costs = {grid: run.launcher_costs[self.grid], **run.launcher_costs}
        return run

    def search(self) -> None:
        self._know_the_best_product()
        tried = self._try_starts()
        self.used = min(self.used, self._most_for_starts)  # launch orders do not shorten the search
        self.within.goes_on(self.used * self.work)
        left = self.evaluations - self.used
        trial = int(left * TRIAL_SHARE) // (len(tried) + 1)
        if trial > 0:
            ends = [self._anneal(slot, trial, name) for name, slot in tried]
            ends.append(self._melt(trial))
            _, slot = min(ends, key=lambda end: end[0])
            rounds = ROUNDS_OF_RINGS if self.whole and self.state.places.ring.all() else ROUNDS_OF_MESHES
            for k, (between, doublings) in enumerate(rounds):
                if not self.whole:  # on full meshes a rising norm finds less
                    self.state.doublings[0] = min(doublings, self._most_doublings())
                self._anneal(slot, (self.evaluations - self.used) // (len(rounds) - k), "the best so far", between)
                slot = self.state.best_slot.copy()

    def _most_doublings(self) -> int:
        """Return the largest number of doublings that keeps lengths ten times as large as now finite."""
        return int(np.log2(LARGEST / np.log10(10 * max(1.0, self.state.sums.top.max()))))

    def _melt(self, steps: int) -> tuple[tuple[float, float], Ints]:
        """Anneal from a random start, so hot at first that the start does not matter."""
        slot = np.random.default_rng(self.within.seed).permutation(self.site.n_slots)[:self.grid.n_tasks]
        links = self.state.terms.links
        return self._anneal(slot, steps, "a random start", (MELT * links, FREEZE * links))

    def _know_the_best_product(self) -> None:
        """Begin with the best product if the grid fills a torus: products need no routing, a time limit may come early."""
        site, grid = self.site, self.grid
        if not site.allocation.is_complete or grid.n_tasks != site.n_slots:
            return
        if self.transform is not None and self.objective == in_sequence(len(grid.decomposition.exchanges)):
            product = best_product_of(as_torus(site.network), grid, site.tasks_per_node, self.transform)
        else:
            product = best_product(as_torus(site.network), grid, site.tasks_per_node, self.objective)
        letters = tuple(stage.letters for stage in grid.decomposition.exchanges)
        slots = self._slots(product.mapping())
        if self.transform is None:
            cost = max(float(self.objective.of_loads(rule.joint_of_product(product, letters))) for rule in self.rules)
        else:
            self._settle_down(slots)
            cost = float(routed_swaps.cost(self.state))
        self.start, self.start_cost, self.state.best[0] = "best product", cost, cost
        self.state.best_slot[:] = slots

    def _slots(self, mapping: Mapping) -> Ints:
        """Return the slots of the ranks of the short grid."""
        return slots_of(self.site, mapping.node_of_rank, mapping.slot_of_rank)[self.turned]

    def _starts(self) -> Iterator[tuple[str, Ints, ProcessGrid | None]]:
        """Yield all launch orders, and other starts while the budget lasts; one start if all placements cost the same."""
        for name, slot, grid in self._all_starts():
            if self.used >= self._most_for_starts and grid is None:
                return
            yield name, slot, grid
            if self.transform is None and self.grid.n_tasks in self.grid.shape and self.grid.n_tasks == self.site.n_slots:
                self.evaluations = self.used
                if self.launcher_cost is not None:
                    return

    def _all_starts(self) -> Iterator[tuple[str, Ints, ProcessGrid | None]]:
        """Yield launch orders, then groups of neighbours for the grid in rising order.

        If RxC and CxR are one problem (in sequence), the launch orders of both grids are yielded.
        """
        alike = _alike(self.grid, self.objective, self.transform)
        both = [self.short.shape, self.short.shape[::-1]] if alike else [self.grid.shape]
        for shape in dict.fromkeys(both):
            grid = ProcessGrid(*shape, decomposition=self.grid.decomposition)
            for name, slot in launchers(self.site, grid):
                yield name, slot[_turned(grid)], grid
        for mapping in self.known:
            yield f"known: {mapping.name}", self._slots(mapping), None
        for name, slot in grouped(self.site, self.short):
            yield name, slot, None
        if self.objective != in_sequence(len(self.grid.shape)):
            yield from ((name, slot[self.turned], None) for name, slot in products(self.site, self.grid, self.objective))

    def _try_starts(self) -> list[tuple[str, Ints]]:
        """Evaluate all starts and return the best start of each kind, at most `TRIALS`."""
        best_of_kind: dict[tuple[str, bool], tuple[tuple[float, float], str, np.ndarray]] = {}
        last, square = f" {self.grid.decomposition.dimensions[-1].name}s", len(set(self.grid.shape)) == 1
        for name, slot, grid in self._starts():
            self._settle_down(slot)
            self.used += self._start_evaluations
            self.routed += 1
            cost = float(routed_swaps.cost(self.state))
            if grid is not None:
                self.launcher_costs.setdefault(grid, cost)
            if cost < self.start_cost - 1e-9:
                self.start, self.start_cost = name, cost
            routed_swaps.remember(self.state)
            key = (cost, float(routed_swaps.energy(self.state)))
            kind = name.split(":")[0].split(" ")[0], name.endswith(last) and not square
            if kind not in best_of_kind or key < best_of_kind[kind][0]:
                best_of_kind[kind] = key, name, slot
            self.report(f"{counted(self.routed, 'start')}, best load {self.start_cost:.4g} ({self.start})", 0.0)
            if self.launcher_cost is not None:
                self._look()
        self.report(f"{counted(self.routed, 'start')}, best load {self.start_cost:.4g} ({self.start}), launch order "
                    f"{self.launcher_cost:.4g}", 0.0)
        kept = sorted(best_of_kind.values(), key=lambda start: start[0])[:TRIALS]
        return [(name, slot) for _, name, slot in kept]

    def _anneal(self, slot: Ints, steps: int, name: str,
                between: tuple[float, float] = (HOT, COLD)) -> tuple[tuple[float, float], Ints]:
        """Anneal from a start and return the (cost, energy) of the best placement of this annealing, and its slots."""
        state, before = self.state, (self.state.best.copy(), self.state.best_slot.copy())
        self._settle_down(slot)
        state.best[:] = np.inf
        routed_swaps.remember(state)
        try:
            self._cool(steps, name, between)
        finally:
            end = tuple(state.best), state.best_slot.copy()
            if before[0][0] < end[0][0] - 1e-9:
                state.best[:], state.best_slot[:] = before
        return end

    def _settle_down(self, slot: Ints) -> None:
        """Put the ranks into their slots, with the loads of an earlier search if one routed the same placement."""
        key, state, known = (*self.key, slot.tobytes()), self.state, self.within.results.setdefault(LOADS, {})
        routed_swaps.settle_down(state, slot, known.get(key))
        change = state.loads.change
        if key not in known:
            known[key] = change.copy()
        while len(known) * change.nbytes > MOST_BYTES:
            del known[next(iter(known))]

    def _cool(self, steps: int, name: str, between: tuple[float, float]) -> None:
        state = self.state
        share = max(routed_swaps.energy(state), 1.0) / state.terms.links
        hot, cold = (part * share for part in between)
        done, piece = 0, min(steps, 100)
        while done < steps:
            low, high = (hot * (cold / hot) ** (k / steps) for k in (done + piece, done))
            routed_swaps.anneal(state, piece, high, low)
            routed_swaps.refresh(state)
            done += piece
            self.used += piece
            self.within.goes_on(piece * self.work)
            self.report(f"best load {state.best[0]:.4g} (from {name})", self.used / self.evaluations)
            self._look()
            piece = min(steps - done, 1000)

    def _look(self) -> None:
        if self.within.is_over():
            raise _Cut

    def result(self: Any, cut: str | None) -> Any:
        nodes, T = self.site.allocation.nodes, self.site.tasks_per_node
        place = np.empty_like(self.state.best_slot)
        place[self.turned] = self.state.best_slot
        name = f"search:seed={self.within.seed},evaluations={self.used}" + (f",cut={cut}" if cut else "")
        notes = (f"{name}: {ENDS[cut]}",) if cut else ()
        mapping = Mapping(self.site.network, grid=self.grid, tasks_per_node=T, node_of_rank=nodes[place // T],
                          slot_of_rank=place % T, name=name, notes=notes)
        return Found(mapping, cost=float(self.state.best[0]), start=self.start, start_cost=self.start_cost,
                     launcher_cost=self.launcher_cost, evaluations=self.used, seconds=monotonic() - self.began, cut=cut)


def _turned(grid: ProcessGrid) -> Ints:
    """Return the rank of `grid` for each rank of the grid with dimensions in rising order: int array, shape (P,)."""
    slowest_first = sorted(range(len(grid.shape)), key=lambda i: grid.shape[i])[::-1]
    ranks = np.arange(grid.n_tasks).reshape(grid.shape[::-1])
    return ranks.transpose([len(grid.shape) - 1 - i for i in slowest_first]).ravel()


def _order_of_exchanges(grid: ProcessGrid) -> list[int]:
    """Return the exchanges of `grid` in the order of the grid with dimensions in rising order."""
    letters, stages = grid.decomposition.letters, grid.decomposition.exchanges
    meant = dict(zip(letters, (letters[i] for i in sorted(range(len(grid.shape)), key=lambda i: grid.shape[i]))))
    return [next(e for e, other in enumerate(stages) if set(other.letters) == {meant[x] for x in stage.letters})
            for stage in stages]


def _terms(objective: Objective, order: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the factors of the terms, (M,), and their shares of the exchanges in that order, (M, E): float arrays."""
    return (np.array([float(term.count) for term in objective.terms]),
            np.array([[float(term.shares[e]) for e in order] for term in objective.terms]))


def _sizes(grid: ProcessGrid, transform: Transform | None, order: range | list[int],
           turned: Ints) -> tuple[Ints, Ints, Floats]:
    """Return for each exchange of the grid in rising order what every rank sends and receives, and half a message of 1.

    Returns
    -------
    send, receive : int64 arrays, shape (E, P)
        A message has `send` of its source times `receive` of its end units.
    unit : float array, shape (E,)
        Length of half a unit on the m scale, times tasks over nodes.
    """
    parts = exchanges(grid, transform)
    send, receive = np.ones((2, len(parts), grid.n_tasks), dtype=np.int64)
    for e, part in enumerate(parts):
        send[e, part.members] = part.group_weight[:, None] * part.send_weight
        receive[e, part.members] = part.receive_weight
    unit = [2 * grid.n_tasks * part.unit_bytes / part.total_bytes for part in parts]
    return send[order][:, turned], receive[order][:, turned], np.array(unit)[order]


def _state(site: Site, grid: ProcessGrid, seed: int, terms: tuple[Floats, Floats], rules: Sequence[DimensionOrder] = USUAL,
           sizes: tuple[Ints, Ints, Floats] | None = None) -> "State":
    """Return the state of the inner loop before any rank is placed."""
    send, receive, half = sizes or _sizes(grid, None, range(len(grid.decomposition.exchanges)), np.arange(grid.n_tasks))
    torus, T, P = as_torus(site.network), site.tasks_per_node, grid.n_tasks
    N, d, S, Q = torus.n_nodes, torus.n_dimensions, site.n_slots, len(rules)
    nodes = site.allocation.nodes
    first = np.full(N, -1, dtype=np.int64)
    first[nodes] = np.arange(len(nodes)) * T
    steps, counts = _groups(grid)
    worth, shares = terms
    M, E = shares.shape
    by_rule = np.zeros((Q, M, Q, E, d))
    for q in range(Q):
        by_rule[q, :, q] = shares[:, :, None] * _units(torus, P, half)
    unit = by_rule.reshape(Q * M, Q * E, d)
    flows = [np.flatnonzero(used) for used in np.any(unit, axis=2)]
    extent = np.repeat(np.arange(d), [2 * (N // n) for n in torus.shape])
    start = np.concatenate([[0], np.cumsum(np.array(torus.shape)[extent] + 1)])

    def zeros(*shape: int, kind: type[Any | float] = np.int64) -> Any:
        return np.zeros(shape, dtype=kind)

    changes, lanes = (Q * E, int(start[-1])), (Q * M, len(extent))
    lines, legs = _legs(torus, [rule.tie for rule in rules])
    ends = np.stack([_ends(torus, rule.dimensions(torus), line) for rule, line in zip(rules, lines)])
    starts = start[:-1].astype(np.uint32)
    return routed_swaps.State(
        routed_swaps.Traffic(steps, counts, send, receive),
        routed_swaps.Routes(ends, legs, starts),
        routed_swaps.Lanes(starts, extent.astype(np.uint32), np.array(torus.shape)),
        routed_swaps.Terms(
            rules=Q, worth=np.tile(worth, Q), rule=np.repeat(np.arange(Q), M), unit=unit, links=changes[1] - len(extent),
            alone=np.array([used[0] if len(used) == 1 else -1 for used in flows])),
        routed_swaps.Places(
            tasks=T, slots=np.repeat(nodes, T).astype(np.int64), first=first, coordinates=torus.coordinates(np.arange(N)),
            shape=np.array(torus.shape), stride=np.array(torus.strides),
            ring=np.array([torus.is_ring(i) for i in range(d)])),
        routed_swaps.Seats(node=zeros(P, kind=np.uint32), slot=zeros(P), rank_in=zeros(S)),
        routed_swaps.Loads(
            change=zeros(*changes), stamp=zeros(Q * E, len(extent)), touched=zeros(Q * E, len(extent) + 1, kind=np.uint32),
            touches=zeros(Q * E), number=zeros(1)),
        routed_swaps.Sums(
            lane_norm=zeros(*lanes, kind=float), lane_top=zeros(*lanes, kind=float), norm=zeros(Q * M, kind=float),
            top=zeros(Q * M, kind=float), seen=zeros(*lanes), together=zeros(changes[1], kind=float)),
        before=routed_swaps.Kept(zeros(*changes), zeros(*lanes, kind=float), zeros(*lanes, kind=float)),
        random=np.array([(seed * 2 + 1) * 0x9E3779B97F4A7C15 % 2**64], dtype=np.uint64),  # odd, so never 0
        gain=np.full(1, GAIN), doublings=np.full(1, DOUBLINGS), best=np.full(2, np.inf),
        best_slot=zeros(P))


def _legs(torus: Any, ties: list[str]) -> Any:
    """Return the first line of every rule and dimension in `routed_swaps.Routes.legs`, and all its lines."""
    rows: dict[tuple[Any, ...], int] = {}
    first: list[int] = []
    lines: list[tuple[Any, ...]] = []
    for tie in ties:
        for i, n in enumerate(torus.shape):
            if (tie, i) not in rows:
                rows[tie, i] = len(lines)
                lines += _legs_of(n, torus.is_ring(i), tie, len(lines))
            first.append(rows[tie, i])
    return np.array(first).reshape(len(ties), -1), np.array(lines, dtype=np.uint32)


def _legs_of(n: int, ring: bool, tie: str, first: int) -> list[Any]:
    """Return the lines of a dimension, numbered from `first`."""
    lines, others = [], []
    for a in range(n):
        for b in range(n):
            up = (b - a) % n
            up_halves = (2 if b >= a else 0) if not ring else 2 if 2 * up < n else 0 if 2 * up > n else \
                {"split": 1, "parity": 2 * (a % 2 == 0), "plus": 2}[tie]
            ways = [(0, up_halves, a, b, int(b < a), 0), (1, 2 - up_halves, b + 1, a + 1, int(b > a), 0)]
            real = [way for way in ways if way[1]] if a != b else [(0,) * 6]
            if len(real) == 2:
                others.append(real[1])
                real[0] = (*real[0][:-1], first + n * n + len(others) - 1)
            lines.append(real[0])
    return lines + others


def _ends(torus: Torus | Network, order: Sequence[int], first: Ints) -> Any:
    """Return `routed_swaps.Routes.ends` of one rule: its order of the dimensions, and the first line of each in `legs`.

    When a message runs along a dimension, it has the coordinates of its end in the dimensions before this one in the order,
    and of its source in those after. These coordinates number the lanes of the dimension that run up, by steps of two.
    """
    places, lanes = torus.coordinates(np.arange(torus.n_nodes)), 0
    ends = np.zeros((torus.n_nodes, torus.n_dimensions, 4), dtype=np.uint32)
    for i, (n, stride) in enumerate(zip(torus.shape, torus.strides)):
        ends[:, i, routed_swaps.LANE_FROM] = lanes
        ends[:, i, routed_swaps.LINE_FROM] = first[i] + n * places[:, i]
        ends[:, i, routed_swaps.LINE_TO] = places[:, i]
        for k, other in enumerate(torus.strides):
            if k != i:
                end = routed_swaps.LANE_TO if order.index(k) < order.index(i) else routed_swaps.LANE_FROM
                ends[:, i, end] += (2 * places[:, k] * (other // n if other > stride else other)).astype(np.uint32)
        lanes += 2 * (torus.n_nodes // n)
    return ends


def _groups(grid: ProcessGrid) -> tuple[Ints, Ints]:
    """Return the step between ranks of a group, and the size of the group, for each exchange: int arrays, shape (E,)."""
    groups = [grid.groups(stage.letters) for stage in grid.decomposition.exchanges]
    return (np.array([group[0, 1] - group[0, 0] if group.shape[1] > 1 else 1 for group in groups]),
            np.array([group.shape[1] for group in groups]))


def _units(torus: Any, n_tasks: int, half: Floats) -> Floats:
    """Return half a unit on the m scale, longer for slower dimensions: float array, shape (E, d)."""
    rates = np.array(torus.bandwidth or (1.0,) * torus.n_dimensions)
    return half[:, None] * torus.n_nodes / n_tasks * (rates.max() / rates / np.array(torus.cables))
