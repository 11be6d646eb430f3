"""The best product placement, found exactly.

Idea: the load in a dimension depends on that dimension's digit pattern alone, also if several exchanges are on the links
at once. So each dimension offers a few non-dominated choices: extents in the process grid, and a length for every term of
the objective. One dynamic program over the dimensions and the slots combines the choices to the extents of the grid.

The product has the least objective; in sequence the objective is the sum over the exchanges of the worst lengths. Among
equals the next-worse dimension decides, then the next, then hop-bytes, then the smaller number of messages between nodes.

The search is exact. It compares the largest length first, then the next. This order stays if both sides gain the same
element. So the best beginning with some extents stays the best, whatever follows.

The search skips sets of worst lengths that are worth less than any mapping can reach (the composition bound). Lengths are
whole numbers inside the search, on a scale common to all dimensions.
Cost: (patterns of n_i) x (divisors of the grid) for each dimension and each set of worst lengths that could be optimal;
milliseconds.

With both exchanges at once digit patterns are seldom the best way to share a dimension. So for rings and lines of up to 32
nodes the map of rows and columns with the least joint load is stored. For rings of up to 15 nodes and lines of up to 14
every map was tried. Longer rings and lines were annealed.

With uneven blocks the load in a dimension depends on its own digit pattern, and also on the digits of the dimensions before
and after. But only the number of these digits for each letter matters (`pencilmap.model.traffic.product_blocks`). So one
dynamic program over the dimensions, with these numbers as states, still finds the best product. It keeps for every state
the non-dominated choices: no other choice has a smaller worst length in every exchange. The digits after a dimension follow
from the grid, and the slots are tried in turn. Choices that already cost more than the best product for even blocks are
dropped. No message is smaller than a known part of the mean. So the loads for even blocks rule out many choices before
their real loads are counted.
Cost: (states) x (patterns of n_i) lines of n_i nodes for each dimension; milliseconds, a second or two for rings of 100.
Needs: digit patterns, exchanges in sequence, dimension order.

Grids of one group: pencils 1xP, and Px1 with even blocks, are the same question as slabs P.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from itertools import product as cartesian
from math import ceil, lcm
from operator import mul
from typing import Any, NamedTuple

from pencilmap.model.base.arrays import divisors, factorisations
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.decompositions import PENCIL, SLAB, Decomposition
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid, all_grids, check_tasks, per_node
from pencilmap.model.placement.product import Pattern, Product, RingMap, parse_ring_map, ring_load
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction, predict
from pencilmap.model.predict.certificates import machine_bound
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, at_once, in_sequence, objective, ring_vectors  # noqa: F401  (doctest)
from pencilmap.model.traffic.product_blocks import first_line, stage_blocks


def best_product(torus: Torus, grid: ProcessGrid, tasks_per_node: int = 1, wanted: Objective | None = None,
                 maps: bool = True) -> Product:
    """Return the product placement of `grid` with the least objective.

    Parameters
    ----------
    torus : Torus
        Its bandwidths weigh the dimensions; without bandwidth all links are alike.
    grid : ProcessGrid
        Must have as many tasks as the torus has slots.
    tasks_per_node : int
    wanted : Objective, optional
        Objective to minimise; by default the exchanges take place in sequence.
    maps : bool
        Whether ring maps are tried besides digit patterns if they can be better.

    Returns
    -------
    Product

    Raises
    ------
    GridError
        If the grid does not fill the torus.
    PlacementError
        If no product has this grid.

    Examples
    --------
    >>> from pencilmap.model.predict import predict
    >>> torus = Torus((8, 8, 8))
    >>> [int(predict(best_product(torus, ProcessGrid(r, 512 // r))).cost) for r in (8, 64)]
    [6, 6]
    >>> str(best_product(torus, ProcessGrid(8, 64), wanted=at_once(2)))
    'digits:x=r8,y=c8,z=c8'
    >>> str(best_product(torus, ProcessGrid(16, 32), wanted=at_once(2)))
    'ring:x=r8,y=0.1/2.3/7.5/6.4,z=c8'
    """
    check_tasks(grid, torus.n_nodes * tasks_per_node, f"torus {torus} with {per_node(tasks_per_node)}")
    return _best_product(torus, grid, tasks_per_node, wanted or in_sequence(len(grid.decomposition.exchanges)), maps)


@lru_cache(maxsize=1024)
def _best_product(torus: Torus, grid: ProcessGrid, tasks_per_node: int, requested: Objective, maps: bool) -> Product:
    places = [_all_choices(n, torus.is_ring(i), weight, grid.decomposition, requested, maps)
              for i, (n, weight) in enumerate(zip(torus.shape, weights(torus)))]
    scale, places = _whole_numbers([[c for c in choices if _divide(c.extents, grid)]
                                    for choices in (*places, _slot_choices(tasks_per_node, grid.decomposition, requested))])
    unit = lcm(*(term.count.denominator for term in requested.terms))
    counts = [int(term.count * unit) for term in requested.terms]
    least = unit * scale * requested.moved * max(weight * bound * cables for weight, bound, cables
                                                 in zip(weights(torus), machine_bound(torus), torus.cables))
    best = None
    for worth, caps in _caps(places, counts, ceil(least)):
        if best is not None and worth > best[0][0]:
            break
        beginnings = _combine(places, grid, caps)
        if beginnings is not None:
            key = (_worth(map(max, zip(*(c.lengths for c in beginnings.choices))), counts), beginnings.key)
            best = min(best, (key, beginnings.choices), key=lambda b: b[0]) if best else (key, beginnings.choices)
    if best is None:
        raise PlacementError(f"no product placement puts grid {grid} on torus {torus}")
    *dimensions, slots = (c.pattern for c in best[1])
    return Product(torus, tuple(dimensions), slots, grid.decomposition)


@dataclass(frozen=True)
class _Choice:
    """A way to share out a dimension: extents in the grid, weighted length for each term of the objective, hop length."""

    pattern: Pattern | RingMap
    extents: tuple[int, ...]
    lengths: tuple[Fraction | int, ...]
    hops: Fraction | int
    partners: int = 0  # tasks of its groups that a task meets on its own node

    def dominated_by(self, other: "_Choice") -> bool:
        return all(b <= a for a, b in zip(self.lengths, other.lengths)) and other.hops <= self.hops


def weights(torus: Torus) -> list[Fraction]:
    """Return the weight of a load in each dimension: one over the cables, more for slower links. Exact fractions."""
    rates = torus.bandwidth or (1,) * torus.n_dimensions
    return [Fraction(max(rates)) / Fraction(rate) / cables for rate, cables in zip(rates, torus.cables)]


def _divide(extents: tuple[int, ...], grid: ProcessGrid) -> bool:
    return not any(n % extent for n, extent in zip(grid.shape, extents))


@lru_cache(maxsize=1024)
def _all_choices(n: int, ring: bool, weight: Fraction, decomposition: Decomposition, requested: Objective,
                 maps: bool = True) -> tuple[Any, ...]:
    """Return the non-dominated choices of a dimension of `n` nodes."""
    kept, letters = dict[tuple[int, ...], list[_Choice]](), tuple(stage.letters for stage in decomposition.exchanges)
    for pattern in (*patterns(n, decomposition.letters), *(_maps(n, ring, decomposition, requested) if maps else ())):
        vectors = ring_vectors(pattern, letters, ring)
        choice = _Choice(pattern, tuple(map(pattern.extent, decomposition.letters)),
                         tuple(weight * max(sum(map(mul, term.shares, vector)) for vector in vectors)
                               for term in requested.terms),
                         sum((ring_load(pattern, letter, ring).total for letter in letters), Fraction(0)) / n)
        rivals = kept.setdefault(choice.extents, [])
        if not any(choice.dominated_by(r) for r in rivals):
            rivals[:] = [r for r in rivals if not r.dominated_by(choice)] + [choice]
    return tuple(c for rivals in kept.values() for c in rivals)


def _maps(n: int, ring: bool, decomposition: Decomposition, requested: Objective) -> list[RingMap]:
    """Return the ring maps to try besides the patterns; ring maps are made for exchanges that run at once."""
    if decomposition != PENCIL or requested == in_sequence(len(decomposition.exchanges)):
        return []
    return ring_maps(n, ring)


def _whole_numbers(places: list[list[Any]]) -> Any:
    """Return the scale that makes all lengths whole numbers, and the choices on this scale."""
    scale = lcm(*(x.denominator for choices in places for c in choices for x in (*c.lengths, c.hops)))
    return scale, [[replace(c, lengths=tuple(int(x * scale) for x in c.lengths), hops=int(c.hops * scale))
                    for c in choices] for choices in places]


def _slot_choices(tasks_per_node: int, decomposition: Decomposition, requested: Objective) -> list[Any]:
    """Return the choices of the slots. Slots load no links; they only make groups larger."""
    choices = []
    for extents in factorisations(tasks_per_node, len(decomposition.letters)):
        pattern = Pattern(tuple(zip(decomposition.letters, extents)))
        choices.append(_Choice(pattern, extents, (Fraction(0),) * len(requested.terms), Fraction(0),
                               sum(pattern.extent(stage.letters) for stage in decomposition.exchanges)))
    return choices


def _worth(lengths: Iterable[Any] | tuple[int, ...], counts: Sequence[int]) -> int:
    """Return the objective from the largest length of each term; all are whole numbers."""
    return sum(map(mul, counts, lengths))


def _caps(places: list[Any], counts: Sequence[int], least: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the worst lengths that could occur together, with their worth from `least` on, the least worth first."""
    of_term = [sorted(set(lengths)) for lengths in zip(*(c.lengths for choices in places for c in choices))]
    worths = ((_worth(caps, counts), caps) for caps in cartesian(*of_term))
    return sorted(pair for pair in worths if pair[0] >= least)


class _Beginning(NamedTuple):
    """Choices for the first dimensions, with a key to compare them: all lengths from the worst down, hop-bytes, messages.

    key : (lengths in falling order, hops, minus the partners on the own node)
    """

    choices: tuple[Any, ...]
    key: tuple[Any, ...]

    def and_then(self, choice: _Choice) -> "_Beginning":
        lengths, hops, partners = self.key
        lengths = sorted((*lengths, *choice.lengths), reverse=True)
        return _Beginning((*self.choices, choice), (lengths, hops + choice.hops, partners - choice.partners))


def _combine(places: list[Any], grid: ProcessGrid, caps: tuple[int, ...]) -> _Beginning | None:
    """Return the best combination of one choice for each place, or None.

    Its extents multiply to the grid's, and no length is above the caps.
    """
    beginnings = {(1,) * len(grid.shape): _Beginning((), ([], 0, 0))}
    for choices in places:
        low = [c for c in choices if all(length <= cap for length, cap in zip(c.lengths, caps))]
        longer: dict[tuple[int, ...], _Beginning] = {}
        for extents, beginning in beginnings.items():
            for choice in low:
                total = tuple(a * b for a, b in zip(extents, choice.extents))
                if _divide(total, grid):
                    candidate = beginning.and_then(choice)
                    if total not in longer or candidate.key < longer[total].key:
                        longer[total] = candidate
        beginnings = longer
    return beginnings.get(grid.shape)


@lru_cache(maxsize=1024)
def patterns(n: int, letters: str = PENCIL.letters) -> tuple[Pattern, ...]:
    """Return all digit patterns of n nodes: ordered factorisations in which neighbouring digits have different letters.

    >>> [str(p) for p in patterns(4)]
    ['r4', 'r2c2', 'c4', 'c2r2']
    """
    def endings(rest: int, owner: str) -> Iterator[tuple[tuple[str, int], ...]]:
        for radix in divisors(rest)[:0:-1]:
            for tail in followed(rest // radix, owner):
                yield ((owner, radix), *tail)

    def followed(rest: int, owner: str | None) -> list[tuple[tuple[str, int], ...]]:
        return [()] if rest == 1 else [tail for other in letters if other != owner for tail in endings(rest, other)]

    return tuple(Pattern(digits) for digits in followed(n, None))


def ring_maps(n: int, ring: bool) -> list[RingMap]:
    """Return the maps of a ring (or an open line) of n nodes with a joint load below the load of every digit pattern.

    >>> [str(m) for m in ring_maps(4, True)], ring_maps(4, False), len(ring_maps(12, True))
    (['1.0/2.3'], [], 4)
    """
    return [maps for (kind, nodes, _), maps in _table().items() if (kind, nodes) == (ring, n)]


@lru_cache(maxsize=1)
def _table() -> dict[tuple[bool, int, int], RingMap]:
    """Return the map of each (ring, nodes, row members). Its transpose has the same joint load."""
    table = {}
    for line in (files("pencilmap.mapper.data") / "ring_maps.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        kind, extents, _, _, text = line.split()
        r, c = map(int, extents.split("x"))
        rows = parse_ring_map(text).rows
        table[kind == "ring", r * c, r] = RingMap(rows)
        table[kind == "ring", r * c, c] = table.get((kind == "ring", r * c, c), RingMap(tuple(zip(*rows))))
    return table


class _Uneven(NamedTuple):
    """Patterns of the first dimensions, and the worst length of every exchange in them."""

    lengths: tuple[Fraction, ...]
    chosen: tuple[Pattern, ...]


def best_product_of(torus: Torus, grid: ProcessGrid, tasks_per_node: int, transform: Transform | None) -> Product:
    """Return the fastest product placement of `grid` for the blocks of `transform`, exchanges in sequence.

    Parameters
    ----------
    torus : Torus
    grid : ProcessGrid
    tasks_per_node : int
    transform : Transform or None
        None: even blocks.

    Returns
    -------
    Product
        Among equals the product for even blocks, `best_product`.

    Examples
    --------
    >>> torus, grid = Torus((4, 4, 4)), ProcessGrid(8, 8)
    >>> [str(best_product_of(torus, grid, 1, Transform(n, n, n))) for n in (16, 17)]
    ['digits:x=r4,y=r2c2,z=c4', 'digits:x=r2c2,y=r2c2,z=r2c2']
    """
    even = best_product(torus, grid, tasks_per_node)
    if transform is None or transform.divides_evenly(grid):
        return even
    best, least = even, predict(even, transform).cost
    letters = grid.decomposition.letters
    for extents in factorisations(tasks_per_node, len(letters)):
        if any(n % k for n, k in zip(grid.shape, extents)):
            continue
        slots = dict(zip(letters, extents))
        product = _best_with(torus, grid, slots, transform, least)
        if product is not None:
            least = sum(product.lengths, Fraction(0))
            best = Product(torus, product.chosen, Pattern(tuple(slots.items())), grid.decomposition)
    return best


def _best_with(torus: Torus, grid: ProcessGrid, slots: Mapping[str, int], transform: Transform, least: Fraction) -> Any:
    """Return the best choice for all dimensions that costs less than `least`, or None."""
    letters, blocks = grid.decomposition.letters, stage_blocks(grid, transform)
    unit = Fraction(2 * torus.n_nodes, transform.total_bytes)  # of half a byte on the m scale; cables are among the weights
    smallest = Crossing(grid, transform).smallest
    goal = tuple(n // slots[letter] for n, letter in zip(grid.shape, letters))
    result = {(1,) * len(letters): [_Uneven((Fraction(0),) * len(blocks), ())]}
    for i, weight in enumerate(weights(torus)):
        longer: dict[tuple[int, ...], list[_Uneven]] = {}
        for before, beginnings in result.items():
            for pattern in patterns(torus.shape[i], letters):
                total = tuple(b * pattern.extent(letter) for b, letter in zip(before, letters))
                if any(n % k for n, k in zip(goal, total)):
                    continue
                floor = [smallest * weight * ring_load(pattern, block.letters, torus.is_ring(i)).largest for block in blocks]
                hopeful = [b for b in beginnings if sum(map(max, b.lengths, floor)) < least]
                if not hopeful:
                    continue
                indices = dict(zip(letters, before))
                loads = [unit * weight * int(first_line(pattern, torus.is_ring(i), block, indices, slots).max())
                         for block in blocks]
                for beginning in hopeful:
                    lengths = tuple(map(max, beginning.lengths, loads))
                    if sum(lengths) < least:
                        _keep(longer.setdefault(total, []), _Uneven(lengths, (*beginning.chosen, pattern)))
        result = longer
    return min(result.get(goal, ()), key=lambda beginning: sum(beginning.lengths), default=None)


def _keep(rivals: list[Any], candidate: Any) -> None:
    """Add a candidate unless a rival is nowhere longer. Drop the rivals that the candidate makes useless."""
    if any(all(a <= b for a, b in zip(rival.lengths, candidate.lengths)) for rival in rivals):
        return
    rivals[:] = [r for r in rivals if not all(a <= b for a, b in zip(candidate.lengths, r.lengths))] + [candidate]


def rank_grids(torus: Torus, tasks_per_node: int = 1, transform: Transform | None = None, costs: Costs | None = None,
               decomposition: Decomposition = PENCIL) -> list[tuple[ProcessGrid, Product, Prediction]]:
    """Rank all grids by their best product placements, the fastest first.

    Grids that leave tasks without data count only if no grid gives data to every task.

    Parameters
    ----------
    torus : Torus
    tasks_per_node : int
    transform : Transform, optional
        Without a transform the m scale decides.
    costs : Costs, optional
        With the costs of a machine the predicted time decides, else the link time.
    decomposition : Decomposition

    Returns
    -------
    list of (ProcessGrid, Product, Prediction)

    Examples
    --------
    >>> [str(grid) for grid, *_ in rank_grids(Torus((2, 4)))[:2]]
    ['1x8', '8x1']
    """
    ranked = []
    for grid in filled_grids(torus.n_nodes * tasks_per_node, transform, decomposition):
        product = best_product_of(torus, grid, tasks_per_node, transform)
        ranked.append((grid, product, predict(product, transform, costs=costs or Costs())))
    return sorted(ranked, key=lambda f: f[2].order)


def filled_grids(n_tasks: int, transform: Transform | None = None,
                 decomposition: Decomposition = PENCIL) -> list[ProcessGrid]:
    """Return the grids on which every task holds a part of the transform, or all grids if there is no such grid.

    >>> [str(grid) for grid in filled_grids(4, Transform(2, 4, 4))], len(filled_grids(4, Transform(1, 1, 1)))
    (['2x2', '4x1'], 3)
    """
    grids = all_grids(n_tasks, decomposition)
    return [grid for grid in grids if transform is None or transform.fills(grid)] or grids


def as_slab(grid: ProcessGrid, wanted: Objective,
            transform: Transform | None = None) -> tuple[ProcessGrid, Objective] | None:
    """Return the grid of slabs with the same ranks, messages and cost, and its objective; None if there is none.

    Parameters
    ----------
    grid : ProcessGrid
    wanted : Objective
    transform : Transform, optional
        Its blocks give the sizes of the messages; without a transform all are equal.

    Examples
    --------
    >>> from pencilmap.model.traffic.loads import in_sequence
    >>> slab, wanted = as_slab(ProcessGrid(1, 6), in_sequence(2))
    >>> str(slab), wanted == in_sequence(1), as_slab(ProcessGrid(2, 3), in_sequence(2))
    ('6', True, None)
    """
    if len(grid.shape) == 1 or grid.n_tasks not in grid.shape:
        return None
    slab = ProcessGrid(grid.n_tasks, decomposition=SLAB)
    at, [like] = grid.shape.index(grid.n_tasks), exchanges(slab, transform)
    letter = grid.decomposition.letters[at]
    e, mine = next((e, exchange) for e, exchange in enumerate(exchanges(grid, transform)) if letter in exchange.letters)
    if any(getattr(mine, name).tolist() != getattr(like, name).tolist()
           for name in ("members", "group_weight", "send_weight", "receive_weight")):
        return None
    return slab, objective((term.count * Fraction(term.shares[e]),) for term in wanted.terms)
