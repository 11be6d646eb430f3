"""Starting placements of the search: boxes and corners compared with all boxes and corners, groups by their places."""

from math import prod

import numpy as np
import pytest

from pencilmap.mapper.seeds.torus import (
    _skipping,
    _whole_products,
    axis_orders,
    bisections,
    grouped,
    inner_products,
    launchers,
    likely_product,
    products,
)
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict


def test_products_of_inner_boxes_where_slots_are_idle_or_missing():
    torus, grid = Torus((4, 6)), ProcessGrid(4, 4)
    site = Site(torus, 2, idle=True)
    found = dict(inner_products(site, grid))
    assert len(found) == 2
    for slots in found.values():
        node = site.allocation.nodes[slots // 2]
        assert len(set(node.tolist())) == 8 and sorted(slots.tolist()) == sorted(set(slots.tolist()))
        where = torus.coordinates(np.unique(node))
        assert np.ptp(where, axis=0).tolist() in ([1, 3], [3, 1]), "a box"
    assert list(inner_products(Site(torus, 2), ProcessGrid(6, 8))) == [], "all slots are used: that is a product itself"
    assert list(inner_products(Site(torus, 2, idle=True), ProcessGrid(3, 5))) == [], "15 tasks fill no nodes of two"
    holed = Site(torus, 2, Allocation(torus).without([0]), idle=True)
    assert all((holed.allocation.nodes[slots // 2] != 0).all() for _, slots in inner_products(holed, grid))
    assert len(dict(inner_products(holed, grid))) == 2


def test_launchers_fill_nodes_in_every_order_of_the_axes():
    torus = Torus((3, 2, 1))
    assert sorted(axis_orders(torus)) == sorted(["xyzt", "txyz", "yxzt", "tyxz"])
    found = dict(launchers(Site(torus, 2), ProcessGrid(4, 3)))
    assert len(found) == 6 and len({slots.tobytes() for slots in found.values()}) == 4  # nt and tn are two of the four


def test_products_skip_what_is_not_there():
    torus, grid = Torus((4, 4)), ProcessGrid(4, 3)
    site = Site(torus, 1, Allocation(torus).without([5, 6]), idle=True)
    found = dict(products(site, grid))
    assert set(found) == {"product rows", "product columns"}
    for slots in found.values():
        assert sorted(slots.tolist()) == sorted(set(slots.tolist())) and len(slots) == 12 and slots.max() < 14


def test_the_likely_product_costs_least_on_the_whole_torus():
    torus, grid = Torus((4, 4)), ProcessGrid(7, 8)
    site = Site(torus, 4, Allocation(torus).without([3]), idle=True)
    wholes = [(predict(product).cost, product, dimension) for product, dimension in _whole_products(site, grid, None)]
    least = min(cost for cost, *_ in wholes)
    assert least < max(cost for cost, *_ in wholes)
    best = [_skipping(product, site, grid, dimension).tolist() for cost, product, dimension in wholes if cost == least]
    assert likely_product(site, grid).tolist() in best


@pytest.mark.parametrize("shape, T, grid", [((8, 4), 1, ProcessGrid(4, 8)), ((4, 4, 4), 1, ProcessGrid(8, 8)),
                                            ((4, 2), 4, ProcessGrid(8, 4)), ((16,), 1, ProcessGrid(4, 4))])
def test_bisection_makes_boxes_of_groups(shape, T, grid):
    site = Site(Torus(shape), T)
    found = dict(bisections(site, grid))
    assert set(found) == {"bisection rows", "bisection columns"}
    for letter, name in (("r", "rows"), ("c", "columns")):
        nodes = site.allocation.nodes[found[f"bisection {name}"] // T][grid.groups(letter)]
        for group in nodes:
            where = site.network.coordinates(np.unique(group))
            assert prod((np.ptp(where, axis=0) + 1).tolist()) == len(where), "a box, whole"
            assert np.unique(group, return_counts=True)[1].tolist() == [len(group) // len(where)] * len(where)


def test_every_kind_of_start_is_among_them():
    torus = Torus((4, 6))
    names = [name for name, _ in grouped(Site(torus, 1, Allocation(torus).without([3]), idle=True), ProcessGrid(4, 4))]
    for kind in ("product rows", "product columns", "stretched", "product of", "bisection rows", "bisection columns",
                 "boxes"):
        assert any(name.startswith(kind) for name in names), (kind, names)
