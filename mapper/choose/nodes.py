"""Which of the free nodes: the sites that a plan tries on hosts on switches, the scheduler's own, and a bound over all."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from pencilmap.mapper.place import place
from pencilmap.mapper.shapes import node_choices, slurm_tree
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.kinds import kind_of
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import answer
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import worth

DEFAULT = "default"
MOST_SITES = 3  # that a plan tries besides the scheduler's own choice and that of the bound


def own_choice(question: Question) -> Question | None:
    """Return the question on the nodes that Slurm takes if it is not told which; None without levels of switches."""
    if question.among is None or not question.network.levels:
        return None
    return question.on(slurm_tree(question.among, question.site.allocation.n_nodes))


def sites(question: Question, grid: ProcessGrid) -> list[Question]:
    """Return the question on the choices of nodes that a plan should try: the best for the launch order of a grid.

    The first is the scheduler's own choice. A question that leaves no choice, or is on a network without levels, is returned
    as it is.
    """
    own, free = own_choice(question), question.among
    if own is None or free is None:
        return [question.alone]
    n_nodes = question.site.allocation.n_nodes
    tried = [question.on(nodes) for nodes in node_choices(free, n_nodes)]
    tried.sort(key=lambda here: worth(answer(here, place(here, DEFAULT, grid), DEFAULT)))
    proved = kind_of(question.network).of_choices(replace(question.site, allocation=free), n_nodes, _sizes(grid)[0])[1]
    tried[MOST_SITES:] = [question.on(proved)]
    return list({_counts(here): here for here in (*tried[::-1], own)}.values())[::-1]


def _counts(question: Question) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of nodes in the units of each level, the largest first."""
    nodes = question.site.allocation.nodes
    return tuple(tuple(sorted(np.bincount(level.unit[nodes]).tolist(), reverse=True)) for level in question.network.levels)


def bound_of_choices(question: Question, grid: ProcessGrid) -> Fraction:
    """Return a bound on the cost of a grid on any of the free nodes, in any placement; 0 if none is known."""
    if question.among is None or not question.network.levels or grid.n_tasks < question.n_slots:
        return Fraction(0)
    free, n_nodes = replace(question.site, allocation=question.among), question.site.allocation.n_nodes
    smallest = Crossing(grid, question.transform).smallest
    return max(kind_of(question.network).of_choices(free, n_nodes, sizes)[0] for sizes in _sizes(grid)) * smallest


def _sizes(grid: ProcessGrid) -> list[tuple[int, int]]:
    """Return the sizes of two exchanges for which a bound holds; of three, each against the others together."""
    sizes = [size for stage in grid.decomposition.exchanges if (size := grid.extent(stage.letters)) > 1]
    least = {min(size, grid.n_tasks // size) for size in sizes} or {1}
    return [(size, grid.n_tasks // size) for size in sorted(least)]
