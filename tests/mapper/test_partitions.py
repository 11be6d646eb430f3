"""Compact groups of slots: every slot once, compact, and with columns that are translates if possible."""

import numpy as np
import pytest

from pencilmap.mapper.seeds.torus import _affinity, blobs, distances, matched, spectral
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site

SITES = [Site(Torus((6, 4))), Site(Torus((5, 4), (False, True)), 2), Site(Torus((4, 4, 4)), 1,
         Allocation(Torus((4, 4, 4))).without([3, 17, 40, 63]), idle=True)]


@pytest.mark.parametrize("site", SITES, ids=str)
@pytest.mark.parametrize("make", [blobs, spectral])
def test_groups_are_compact_and_take_every_slot_at_most_once(site, make):
    size = 4
    groups = matched(site, make(site, [size] * (site.n_slots // size)))
    every = np.concatenate(groups)
    assert len(set(every.tolist())) == len(every) == site.n_slots // size * size
    apart = distances(site)
    spread = np.mean([apart[np.ix_(group, group)].mean() for group in groups])
    others = np.random.default_rng(0).permutation(site.n_slots)[:len(every)].reshape(-1, size)
    assert spread < 0.8 * np.mean([apart[np.ix_(group, group)].mean() for group in others])


def test_members_that_sit_alike_are_matched():
    site, rng = Site(Torus((6, 4), (False, False))), np.random.default_rng(1)
    tiles = [[x + dx + 6 * (y + dy) for dy in range(2) for dx in range(2)] for y in (0, 2) for x in (0, 2, 4)]
    groups = matched(site, [rng.permutation(tile) for tile in tiles])
    steps = {tuple(group - group[0]) for group in groups}
    assert len(steps) == 1 and all(set(group) == set(tile) for group, tile in zip(groups, tiles))


def test_slots_of_a_node_belong_together_more_than_neighbours_and_these_more_than_others():
    torus = Torus((4, 3), (True, False))
    found = _affinity(torus, 2, np.arange(12).tobytes())
    apart = distances(Site(torus, 2))
    assert (np.diag(found) == 0).all() and set(found[apart == 0]) == {0, 2} and set(found[apart == 1]) == {1, 0.99}
    assert (found[0, :8:2] == [0, 1, 1e-3 / 9, 1]).all() and found[0, 8] == 0.99, "links of later dimensions count less"
