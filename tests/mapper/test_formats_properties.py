"""Properties of every format, on random tori, placements and texts."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import FORMATS, Job, mapping_text, parse_mapping
from pencilmap.mapper.formats.flux import blocks, expand
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site, slots_in_order
from pencilmap.model.placement.grid import ProcessGrid

REPRODUCIBLE = settings(derandomize=True, deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def placed(draw, n_dimensions):
    """Draw a job on some nodes of a small torus in any order, with ranks on its first slots in any order."""
    torus = Torus(tuple(draw(st.lists(st.integers(1, 4), min_size=n_dimensions, max_size=n_dimensions))))
    nodes = draw(st.permutations(range(torus.n_nodes)))[:draw(st.integers(1, torus.n_nodes))]
    site = Site(torus, draw(st.integers(1, 3)), Allocation(torus, nodes), idle=True)
    n = draw(st.integers(1, site.n_slots))
    places = (site.allocation.nodes[:, None] * site.tasks_per_node + np.arange(site.tasks_per_node)).ravel()[:n]
    places = np.array(draw(st.permutations(places.tolist())))
    R = draw(st.sampled_from([r for r in range(1, n + 1) if n % r == 0]))
    template = draw(st.sampled_from([None, "nid{node:05d}"]))
    return Job(site, Hosts(torus, template)), Mapping(torus, ProcessGrid(R, n // R), site.tasks_per_node,
                                                      places // site.tasks_per_node, places % site.tasks_per_node)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_read_again(name):
    form = FORMATS[name]

    @REPRODUCIBLE
    @given(st.data())
    def check(data):
        job, mapping = data.draw(placed(5 if name == "bgq" else data.draw(st.integers(1, 3))))
        text = form.write(mapping, job)
        back = parse_mapping(text.encode(), "file", job, mapping.grid, name)
        assert np.array_equal(back.node_of_rank, mapping.node_of_rank)
        slots = mapping.slot_of_rank if form.says_slots else slots_in_order(mapping.node_of_rank)
        assert np.array_equal(back.slot_of_rank, slots)
        assert form.write(back, job) == text
        assert form.launch(mapping, job, "file").line

    check()


NAMES = (st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,5}", fullmatch=True)
         | st.from_regex("0{0,2}[1-9][0-9]?", fullmatch=True))


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_for_any_names_of_hosts_is_accepted(name):
    """Names with ``_``, ``-``, ``.``, upper case, digits alone, leading zeros: read by name and unnamed, or not written."""
    written = set()

    @REPRODUCIBLE
    @given(st.data())
    def check(data):
        torus = Torus((2, 2, 1, 1, 1) if name == "bgq" else (2, 2))
        hosts = Hosts(torus, table=dict(enumerate(data.draw(st.lists(NAMES, min_size=4, max_size=4, unique=True)))))
        job = Job(Site(torus), hosts)
        mapping = Mapping(torus, ProcessGrid(2, 2), 1, np.array(data.draw(st.permutations(range(4)))), np.zeros(4, int))
        try:
            text = mapping_text(mapping, name, job)
        except PencilmapError as error:
            assert "cannot be written in format" in str(error)
            return
        written.add(text)
        for form in (name, None):
            assert np.array_equal(parse_mapping(text.encode(), "file", job, mapping.grid, form).node_of_rank,
                                  mapping.node_of_rank)

    check()
    assert written


@REPRODUCIBLE
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_task_maps_are_shorter_than_the_list_and_give_it_back(node):
    found = blocks(node)
    assert len(found) <= len(node) and expand(found, len(node)) == node
