"""Functions of model and mapper without a test of their own keep their values: searches, parts of bounds, starts, fits.

`known_values.txt` holds expressions after ``>>>`` and their values; modules go by their last names. After an intended
change, run ``python -m tests.mapper.test_known_values`` and read the diff.
"""

import importlib
import pkgutil
import re
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pencilmap.mapper
import pencilmap.model
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.decompositions import SLAB
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.routing import routing
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.joint_loads import routed_joint
from tests.model.test_probe import made

KNOWN = Path(__file__).with_name("known_values.txt")
NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")


def site(text, tasks=1, missing=(), bandwidth=None, cables=None):
    """Return a torus without some of its nodes."""
    torus = parse_torus(text)
    torus = Torus(torus.shape, torus.wrap, bandwidth, cables or torus.cables)
    return Site(torus, tasks, Allocation(torus).without(list(missing)) if missing else None, idle=True)


def placed(text, where, grid, schedule="sequence"):
    """Return the slot of every rank, and the cost under a schedule."""
    ranks = parse_grid(grid) if isinstance(grid, str) else grid
    found = NAMES["placements"].place(text, where, ranks, NAMES["objectives"].objectives(schedule, ranks)[0])
    mapping = NAMES["placements"].as_mapping(found, text)
    cost = NAMES["predict"].predict(mapping, schedule=schedule).schedule.cost
    return mapping.node_of_rank * where.tasks_per_node + mapping.slot_of_rank, cost


def refused(calls):
    """Return the refusal of each call, or its value."""
    def said(call):
        try:
            return shown(call())
        except PencilmapError as error:
            return str(error)

    return [said(call) for call in calls]


def probed(shape, seed, noise, rates=None, **figures):
    """Return a probe of a torus with times from figures, plus noise."""
    exact = made(Torus(shape), rates or (1e9,) * len(shape), **{"start_s": 2e-6, "hop_s": 3e-7, "ports": 2, **figures})
    rng = np.random.default_rng(seed)

    def noisy(some):
        return tuple(replace(one, seconds=one.seconds * float(np.exp(noise * rng.standard_normal()))) for one in some)

    return replace(exact, trips=noisy(exact.trips), bursts=noisy(exact.bursts), streams=noisy(exact.streams))



def mapped_loads(R, C):
    """Return the loads of both exchanges of a grid in default order on a torus of two dimensions."""
    placements = NAMES["placements"]
    mapping = placements.as_mapping(placements.place("default", site(f"{C}x{R}"), ProcessGrid(R, C)), "default")
    return routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank, routing("dimension-order"))




def slab(tasks):
    return ProcessGrid(tasks, decomposition=SLAB)


def modules():
    """Return every module of model and mapper by its last name; the outer module wins."""
    found: dict[str, str] = {}
    for package in (pencilmap.model, pencilmap.mapper):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            last = module.name.rpartition(".")[2]
            found[last] = min(found.get(last, module.name), module.name, key=lambda name: name.count("."))
    return {last: importlib.import_module(name) for last, name in found.items()}


NAMES = {**modules(), "np": np, "ns": SimpleNamespace, "Fraction": Fraction, "site": site, "placed": placed, "slab": slab,
         "refused": refused, "torus": parse_torus, "grid": parse_grid, "transform": parse_transform, "probed": probed,
         "mapped_loads": mapped_loads}


def shown(value):
    """Return a value in one line, with floats of eight digits."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bool | str | None):
        return str(value).replace("\n", "\\n")
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, int | Fraction):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "(" + ", ".join(f"{name}={shown(getattr(value, name))}" for name in value._fields) + ")"
    if hasattr(value, "__iter__"):
        return "[" + " ".join(map(shown, value)) + "]"
    if type(value).__str__ is not object.__str__ and not is_dataclass(value):
        return str(value)
    if is_dataclass(value):
        return "(" + ", ".join(f"{part.name}={shown(getattr(value, part.name))}" for part in fields(value)) + ")"
    return str(value)


def cases():
    """Return expressions and their values."""
    lines = KNOWN.read_text("utf-8").splitlines()
    return [(line.removeprefix(">>> "), value) for line, value in zip(lines[::2], lines[1::2], strict=True)]


def value_of(expression):
    """Return the value as shown, or the error in words."""
    try:
        return shown(eval(expression, dict(NAMES)))
    except PencilmapError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("expression, known", [
    pytest.param(*case, id=f"{n} {case[0].replace('::', ':')[:60]}") for n, case in enumerate(cases())])
def test_a_function_gives_what_it_gave(expression, known):
    found = value_of(expression)
    if found != known:  # another machine may round floats differently
        assert NUMBER.sub("#", found) == NUMBER.sub("#", known)
        numbers = ([float(n) for n in NUMBER.findall(text)] for text in (found, known))
        assert next(numbers) == pytest.approx(next(numbers), rel=1e-6)


if __name__ == "__main__":
    KNOWN.write_text("".join(f">>> {expression}\n{value_of(expression)}\n" for expression, _ in cases()), "utf-8")
