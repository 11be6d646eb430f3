"""Random small tori, mappings and exchanges for property tests; the seeds are the same in every run."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, settings, strategies as st

from pencilmap.model.decompositions import CUBIC, PENCIL
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import answer
from pencilmap.model.predict.question import Question
from pencilmap.model.times.costs import Costs
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import as_fraction
from tests.model import brute_force as brute

SHARE, LEAST = 1.0, 8  #: of the examples that run, and the least number; less at each commit than with --slow


def repeatable(examples):
    """Run the same examples each time, without a time limit; at night all examples."""
    chosen = settings(derandomize=True, deadline=None, max_examples=min(examples, max(LEAST, round(SHARE * examples))),
                      suppress_health_check=list(HealthCheck))
    return lambda test: pytest.mark.examples(chosen(test))


def predict_routed(mapping, transform=None, question=Question(), costs=Costs(), site=None):
    """Predict a mapping by the load of every link, even if it has a closed form."""
    return answer(replace(question, site=site or question.site, transform=transform, costs=costs), mapping, closed=False)


def predict_product(product, transform=None, question=Question(), costs=Costs()):
    """Predict a product in closed form."""
    return answer(replace(question, transform=transform, costs=costs), product)


def drawn(make):
    """Make a strategy from a function of a `random.Random`, because Hypothesis's own draws are mostly small."""
    return lambda *arguments: st.integers(0, 2**64 - 1).map(lambda seed: make(Random(seed), *arguments))


def random_shape(rng, most_nodes, most_dimensions):
    """Return extents of 1 to 8, in any order."""
    shape, room = [], most_nodes
    for left in range(rng.randint(1, most_dimensions), 0, -1):
        shape.append(rng.randint(1, min(room, 8, int(room**(1 / left)) + 2)))
        room //= shape[-1]
    rng.shuffle(shape)
    return shape


def random_torus(rng, most_nodes=36):
    """Return a torus of 1 to 5 dimensions: rings of 1, 2, 3, odd, even; open, closed, mixed; one or two cables."""
    shape = random_shape(rng, most_nodes, 5)
    wrap = [rng.random() < 0.7 for _ in shape] if rng.random() < 0.5 else [True] * len(shape)
    return Torus(tuple(shape), tuple(wrap), cables=tuple(rng.choice([1, 1, 2]) for _ in shape))


def random_mapping(rng, network, most_tasks=20):
    """Return ranks on random slots, 1 to 3 on a node; often some slots stay idle."""
    T = rng.randint(1, 3)
    most = min(network.n_nodes * T, most_tasks)
    R = rng.randint(1, rng.randint(1, most))
    return _placed(rng, network, T, ProcessGrid(R, rng.randint(max(1, most // R // 2), most // R)))


def in_three(rng, mapping):
    """Return the mapping of a grid PxQxS of about as many ranks."""
    shape, room = [], mapping.n_tasks
    for _ in range(2):
        shape.append(rng.randint(1, min(room, 4)))
        room //= shape[-1]
    grid = ProcessGrid(*rng.sample([*shape, room], 3), decomposition=CUBIC)
    used = slice(grid.n_tasks)
    return replace(mapping, grid=grid, node_of_rank=mapping.node_of_rank[used], slot_of_rank=mapping.slot_of_rank[used])


def random_full_mapping(rng, network):
    """Return ranks on all slots, in random order."""
    T = rng.randint(1, 3)
    slots = network.n_nodes * T
    R = rng.choice([r for r in range(1, slots + 1) if slots % r == 0])
    return _placed(rng, network, T, ProcessGrid(R, slots // R))


def _placed(rng, network, T, grid):
    place = np.array(rng.sample(range(network.n_nodes * T), grid.n_tasks))
    return Mapping(network, grid, T, place // T, place % T)


def random_transform(rng, grid):
    """Return None, or extents that are barely large enough and seldom divide evenly."""
    least = (grid.shape[1], max(grid.shape[0], grid.shape[1]), grid.shape[0])
    return None if rng.random() < 0.4 else Transform(*(rng.randint(n, 3 * n + 2) for n in least),
                                                     backward=rng.random() < 0.5)


def random_case(rng, network, most_tasks=20):
    """Return a mapping, an exchange under some transform, and the messages of that exchange."""
    mapping = random_mapping(rng, network, most_tasks)
    mapping = in_three(rng, mapping) if rng.random() < 0.3 else mapping
    transform = random_transform(rng, mapping.grid)
    which = rng.choice([w for w, size in enumerate(mapping.grid.shape) if size > 1] or [0])
    return mapping, exchanges(mapping.grid, transform)[which], brute.messages(mapping.grid, transform)[which]


def random_pattern(rng, n, letters="rc"):
    """Return random digits whose radices multiply to n."""
    digits, rest = [], n
    while rest > 1:
        radix = rng.choice([k for k in range(2, rest + 1) if rest % k == 0])
        digits.append((rng.choice(letters), radix))
        rest //= radix
    return Pattern(tuple(digits))


def random_product(rng, decomposition=PENCIL):
    """Return random digit patterns on a random torus, slots included."""
    torus = random_torus(rng)
    patterns = [random_pattern(rng, n, decomposition.letters) for n in (*torus.shape, rng.randint(1, 3))]
    return Product(torus, tuple(patterns[:-1]), patterns[-1], decomposition)


full_mappings = drawn(lambda rng: random_full_mapping(rng, random_torus(rng)))
cases = drawn(lambda rng, most_nodes=36, most_tasks=20: random_case(rng, random_torus(rng, most_nodes), most_tasks))
products = drawn(random_product)
all_products = drawn(lambda rng: random_product(rng, rng.choice((PENCIL, CUBIC))))
orders = drawn(lambda rng, items: tuple(rng.sample(items, len(items))))


def as_links(loads):
    """Return the nonzero loads of a torus, as a dict from link to Fraction."""
    torus, found = loads.network, {}
    for i, direction, node in zip(*np.nonzero(loads.values)):
        value = as_fraction(loads.values[i, direction, node]) / loads.denominator
        found[brute.coordinates(torus, int(node)), int(i), (1, -1)[direction]] = value
    return found


def assert_same(loads, walked):
    """Compare loads of a torus with a dict from link to Fraction."""
    carried = as_links(loads)
    assert carried.keys() == walked.keys()
    assert all(float(carried[link]) == pytest.approx(float(walked[link]), rel=1e-9) for link in walked)


def largest(torus, links):
    """Return the largest load per cable of each dimension of a dict of links."""
    return tuple(max((load / torus.cables[i] for (_, j, _), load in links.items() if j == i), default=Fraction(0))
                 for i in range(torus.n_dimensions))
