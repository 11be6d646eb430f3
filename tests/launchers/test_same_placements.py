"""C and Python read the same placement from a text: random digit patterns and axis orders on every machine."""

import random
import subprocess
from math import prod

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.base.errors import PlacementError, TorusError
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.machines.machine import load_machine, machine_names
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.patience import patience

PATTERNS, IDLE, ORDERS = 2, 1, 3


def prime_factors(n):
    divisor = 2
    while n > 1:
        while n % divisor == 0:
            yield divisor
            n //= divisor
        divisor += 1


def random_pattern(n, owners, choose):
    """Return digits whose radices multiply to n, as text, and the product of the radices of each owner."""
    radices = list(prime_factors(n)) or [1]
    choose.shuffle(radices)
    digits = [(choose.choice(owners), radix) for radix in radices]
    return "".join(f"{o}{r}" for o, r in digits), {owner: prod(r for o, r in digits if o == owner) for owner in owners}


def random_digits(torus, tasks, decomposition, idle, choose):
    """Return a digits placement and its grid; sometimes axes or slots are left out."""
    owners, parts, extents = decomposition.letters + "i" * idle, [], []
    for axis, n in (*zip(torus.axes, torus.shape), ("t", tasks)):
        if choose.random() < 0.2 and axis != "t":
            extents.append({decomposition.letters[-1]: n})
            continue
        text, extent = random_pattern(n, owners, choose)
        parts.append(f"{axis}={text}")
        extents.append(extent)
    choose.shuffle(parts)
    grid = ProcessGrid(*(prod(extent.get(owner, 1) for extent in extents) for owner in decomposition.letters),
                       decomposition=decomposition)
    return "digits:" + ",".join(parts), grid


def random_order(counts, choose):
    """Return a launch order with numbers that split some of the letters."""
    words = [(letter, factor) for letter, n in counts.items() for factor in prime_factors(n)]
    choose.shuffle(words)
    last = {letter: k for k, (letter, _) in enumerate(words)}
    return "".join(letter if k == last[letter] and choose.random() < 0.5 else f"{letter}{factor}"
                   for k, (letter, factor) in enumerate(words)) + "".join(letter for letter, n in counts.items() if n == 1)


def cases(name):
    """Yield (placement, grid, idle allowed) on a machine."""
    machine, choose = load_machine(name), random.Random(name)
    torus, tasks = machine.torus, machine.tasks_per_node
    for decomposition in DECOMPOSITIONS.values():
        for idle in [False] * PATTERNS + [True] * IDLE:
            yield *random_digits(torus, tasks, decomposition, idle, choose), idle
    letters, counts = torus.axes + "t", {**dict(zip(torus.axes, torus.shape)), "t": tasks}
    parted = [random_order({"n": torus.n_nodes, "t": tasks}, choose), random_order(counts, choose)]
    for order in ["", "nt", "tn", *parted, *("".join(choose.sample(letters, len(letters))) for _ in range(ORDERS))]:
        R = prod(choose.sample(list(prime_factors(torus.n_nodes)), 2))
        yield f"default:{order}" if order else "default", ProcessGrid(R, torus.n_nodes // R * tasks), False


def places_in_c(program, pairs):
    text = "".join(f"{machine}\n{grid}\n" for machine, grid in pairs)
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=patience(200), check=True)
    return done.stdout.splitlines()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in machine_names() if isinstance(load_machine(name).network, Torus)])
def test_c_and_python_read_the_same_placement(programs, name):
    machine, some = load_machine(name), list(cases(name))
    torus, tasks = machine.torus, machine.tasks_per_node
    lines = places_in_c(programs / "placement_test",
                        [(f"{torus} tasks={tasks} placement={text}", grid) for text, grid, _ in some])
    for (text, grid, idle), line in zip(some, lines, strict=True):
        mapping = as_mapping(place(text, Site(torus, tasks, idle=idle), grid), text)
        assert not line.startswith("refused"), (text, line)
        found = np.array(line.split(), dtype=np.int64)
        assert np.array_equal(found, mapping.node_of_rank * tasks + mapping.slot_of_rank), (str(torus), text)


def test_the_letter_of_an_axis_is_that_of_the_machine(programs):
    """C and Python must read a= as the machine's axis."""
    torus = parse_torus("2x2:axes=za")
    [line] = places_in_c(programs / "placement_test", [(f"{torus} placement=digits:a=r2", "2x2")])
    mapping = as_mapping(place("digits:a=r2", Site(torus), ProcessGrid(2, 2)), "a")
    assert line.split() == ["0", "2", "1", "3"] == [str(n) for n in mapping.node_of_rank]


@pytest.mark.parametrize("text, places", [
    ("digits:x=s2,y=s2", "0 1 2 3"), ("digits:y=s2,t=s1", "0 1 2 3"), ("default:yxt", "0 2 1 3"),
    ("digits:x=s4", "refused: "), ("digits:x=r2", "refused: "),
])
def test_slabs_have_one_owner(programs, text, places):
    [line] = places_in_c(programs / "placement_test", [(f"2x2 placement={text}", "4")])
    assert line.strip().startswith(places.strip())


def random_rings(choose):
    """Return a product of ring maps and digit patterns: torus, tasks per node, text, grid."""
    torus, tasks = Torus(tuple(choose.randint(1, 9) for _ in range(choose.randint(1, 3)))), choose.randint(1, 4)
    parts, extents = [], []
    for axis, n in (*zip(torus.axes, torus.shape), ("t", tasks)):
        r = choose.choice([k for k in range(1, n + 1) if n % k == 0])
        extents.append((r, n // r))
        order = choose.sample(range(n), n)
        text = "/".join(".".join(map(str, order[q * r:q * r + r])) for q in range(n // r))
        parts.append(f"{axis}={f'r{r}c{n // r}' if axis == 't' or choose.random() < 0.3 else text}")
    choose.shuffle(parts)
    R, C = map(prod, zip(*extents))
    return torus, tasks, "ring:" + ",".join(parts), ProcessGrid(R, C)


def random_tiling(choose):
    """Return a lattice tiling with a poor tile that has a single place of every coset."""
    from pencilmap.mapper.seeds.tilings import coset_numbers, normal_forms

    torus, tasks = Torus(tuple(choose.randint(2, 6) for _ in range(choose.randint(2, 3)))), choose.randint(1, 3)
    shape = (*torus.shape, tasks)
    places, letter = prod(shape), choose.choice("cr")
    size = choose.choice([k for k in range(2, places) if places % k == 0 and list(normal_forms(shape, k))])
    form = choose.choice(list(normal_forms(shape, size)))
    numbers = coset_numbers(np.array(shape), form)
    tile = [choose.choice(np.flatnonzero(numbers == coset).tolist()) for coset in choose.sample(range(size), size)]
    text = f"lattice:{letter}={'/'.join('.'.join(map(str, row)) for row in form)},tile={'.'.join(map(str, tile))}"
    return torus, tasks, text, ProcessGrid(*(size, places // size)[::1 if letter == "c" else -1])


def test_c_and_python_read_the_same_ring_maps_and_tilings(programs):
    choose = random.Random(12)
    some = [make(choose) for make in (random_rings, random_tiling) for _ in range(60)]
    lines = places_in_c(programs / "placement_test", [(f"{torus} tasks={tasks} placement={text}", grid)
                                                      for torus, tasks, text, grid in some])
    for (torus, tasks, text, grid), line in zip(some, lines, strict=True):
        mapping = as_mapping(place(text, Site(torus, tasks), grid), text)
        assert not line.startswith("refused"), (text, line)
        found = np.array(line.split(), dtype=np.int64)
        assert np.array_equal(found, mapping.node_of_rank * tasks + mapping.slot_of_rank), (str(torus), text)


@pytest.mark.parametrize("torus, grid, text", [
    ("4x4", "4x4", "ring:x=0.1/3.3,y=r2c2"), ("4x4", "4x4", "ring:x=0.1/3.2.1,y=r2c2"), ("4x4", "4x4", "ring:x=0.1/3.2"),
    ("4x4", "4x4", "ring:x=0.1/3.4,y=r2c2"), ("4x4", "4x4", "ring:x=i2r2,y=r2c2"), ("4x4", "4x4", "ring:x=0.1/,y=r2c2"),
    ("3x3", "3x3", "lattice:c=1.0.0/0.3.0/0.0.1,tile=0.3"), ("3x3", "3x3", "lattice:c=1.0.0/0.3.0/0.0.1,tile=0.3.6.1"),
    ("3x3", "3x3", "lattice:c=1.0.0/0.3.0/0.0.1,tile=0.3.3"), ("3x3", "3x3", "lattice:c=1.0.0/0.3.0/0.0.1,tile=0.3.9"),
    ("3x3", "3x3", "lattice:c=1.0.0/1.3.0/0.0.1,tile=0.3.6"), ("3x3", "3x3", "lattice:c=1.0/0.3,tile=0.3.6"),
    ("4x4", "4x4", "lattice:c=1.3.0/0.4.0/1.0.1,tile=0.4.8.12"),
    ("3x3:mesh", "3x3", "lattice:c=1.0.0/0.3.0/0.0.1,tile=0.3.6"),
    ("6x6", "4x9", "lattice:c=1.1.0/0.4.0/0.0.1,tile=0.6.12.18"), ("3x3", "3x3", "lattice:c=,tile=0")])
def test_c_and_python_refuse_the_same_ring_maps_and_tilings(programs, torus, grid, text):
    [line] = places_in_c(programs / "placement_test", [(f"{torus} placement={text}", grid)])
    assert line.startswith("refused: placement="), line
    with pytest.raises(PlacementError):
        place(text, Site(parse_torus(torus)), ProcessGrid(*map(int, grid.split("x"))))


TEXTS = ["8", "8x8x8", "8x8x8:mesh", "8wx8x4w", "2wx2w", "4x4:torus", "4x6x16x2x3x2:axes=xyzabc", "8x8x8:mesh:axes=abc",
         "4wx4:axes=AZ", "", "x8", "8x", "0x8", "8x-1", "8wx8:mesh", "8wx8:torus", "8x8:axes=", "8x8:axes=xx",
         "8x8:axes=xt", "8x8:axes=x", "8x8:axes=x1", "8x8:axes=xy:mesh", "8x8:ring", "1x1x1x1x1x1x1x1x1", "8*8",
         "1048576x1048577", "1048576x1048576"]


def test_c_and_python_read_the_same_torus_text(programs):
    """Both refuse the text, or both read the same letters."""
    lines = places_in_c(programs / "placement_test", [(f"{text} placement=digits:?", "1x1") for text in TEXTS])
    for text, line in zip(TEXTS, lines, strict=True):
        try:
            read = parse_torus(text)
        except TorusError:
            read = None
        assert ("is not understood" in line and "torus '" in line) == (read is None), (text, line)
