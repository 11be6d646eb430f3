"""The best product placement for uneven blocks, found exactly.

Idea: with uneven blocks the load in a dimension depends on its own digit pattern, and also on the digits of the dimensions
before and after. But only the number of these digits for each letter matters
(`pencilmap.model.traffic.product_blocks`). So one dynamic program over the dimensions, with these numbers as states, still
finds the best product. It keeps for every state the non-dominated choices: no other choice has a smaller worst length in
every exchange. The digits after a dimension follow from the grid, and the slots are tried in turn.
Choices that already cost more than the best product for even blocks are dropped. No message is smaller than a known part
of the mean. So the loads for even blocks rule out many choices before their real loads are counted.
Cost: (states) x (patterns of n_i) lines of n_i nodes for each dimension; milliseconds, a second or two for rings of 100.
Needs: digit patterns, exchanges in sequence, dimension order.
"""

from fractions import Fraction
from typing import NamedTuple

from pencilmap.mapper.searches.product_search import best_product, patterns, weights
from pencilmap.model.base.factors import factorisations
from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Pattern, Product, ring_load
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict_product
from pencilmap.model.traffic.product_blocks import first_line, stage_blocks


class _Beginning(NamedTuple):
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
    prediction = predict_product(even, transform)
    if prediction is None:
        return even
    best, least = even, Fraction(prediction.cost)
    letters = grid.decomposition.letters
    for extents in factorisations(tasks_per_node, len(letters)):
        if any(n % k for n, k in zip(grid.shape, extents)):
            continue
        slots = dict(zip(letters, extents))
        found = _best_with(torus, grid, slots, transform, least)
        if found is not None:
            least = sum(found.lengths, Fraction(0))
            best = Product(torus, found.chosen, Pattern(tuple(slots.items())), grid.decomposition)
    return best


def _best_with(torus, grid, slots, transform, least):
    """Return the best choice for all dimensions that costs less than `least`, or None."""
    letters, blocks = grid.decomposition.letters, stage_blocks(grid, transform)
    unit = Fraction(2 * torus.n_nodes, transform.total_bytes)  # of half a byte on the m scale; cables are among the weights
    smallest = Crossing(grid, transform).smallest
    goal = tuple(n // slots[letter] for n, letter in zip(grid.shape, letters))
    found = {(1,) * len(letters): [_Beginning((Fraction(0),) * len(blocks), ())]}
    for i, weight in enumerate(weights(torus)):
        longer: dict[tuple[int, ...], list[_Beginning]] = {}
        for before, beginnings in found.items():
            for pattern in patterns(torus.shape[i], letters):
                total = tuple(b * pattern.extent(letter) for b, letter in zip(before, letters))
                if any(n % k for n, k in zip(goal, total)):
                    continue
                floor = [smallest * weight * ring_load(pattern, some.letters, torus.is_ring(i)).largest for some in blocks]
                hopeful = [b for b in beginnings if sum(map(max, b.lengths, floor)) < least]
                if not hopeful:
                    continue
                there = dict(zip(letters, before))
                here = [unit * weight * int(first_line(pattern, torus.is_ring(i), some, there, slots).max())
                        for some in blocks]
                for beginning in hopeful:
                    lengths = tuple(map(max, beginning.lengths, here))
                    if sum(lengths) < least:
                        _keep(longer.setdefault(total, []), _Beginning(lengths, (*beginning.chosen, pattern)))
        found = longer
    return min(found.get(goal, ()), key=lambda beginning: sum(beginning.lengths), default=None)


def _keep(rivals, candidate):
    """Add a candidate unless a rival is nowhere longer. Drop the rivals that the candidate makes useless."""
    if any(all(a <= b for a, b in zip(rival.lengths, candidate.lengths)) for rival in rivals):
        return
    rivals[:] = [r for r in rivals if not all(a <= b for a, b in zip(candidate.lengths, r.lengths))] + [candidate]


