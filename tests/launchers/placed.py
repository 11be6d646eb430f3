"""A random placement on four hosts, and the comparison of the reported hosts with the file's hosts."""

import os
import random
from pathlib import Path

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.base.node import ranges
from pencilmap.mapper.formats import FORMATS, Job, write_mapping
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid

TORUS = Torus((2, 2))
TASKS = min(2, len(os.sched_getaffinity(0)))
N_RANKS = TORUS.n_nodes * TASKS
REPORT = Path(__file__).with_name("report.sh")
SEVERAL = f"-n 3 {REPORT} : -n {N_RANKS - 3} {REPORT}"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="1us"/>
</platform>
"""


def random_mapping(seed):
    """Return a mapping that uses every slot, in random order."""
    places = np.array(random.Random(seed).sample(range(N_RANKS), N_RANKS))
    return Mapping(TORUS, ProcessGrid(N_RANKS, 1), TASKS, places // TASKS, places % TASKS)


def written(folder, format_name, seed, program=REPORT, template=None, name="ranks and hosts", alone=False, node=None):
    """Return mapping, job, and launch line of a newly written file; its name has blanks, as a user's may.

    With `alone` the line is that without a batch system; `node` is the inside of the hosts.
    """
    job = Job(Site(TORUS, TASKS), Hosts(TORUS, template), program=str(program), node=node)
    mapping, path = random_mapping(seed), folder / name
    write_mapping(mapping, path, format_name, job)
    launch = FORMATS[format_name].launch(mapping, job, path)
    return mapping, job, launch.alone if alone else launch.line


def hosts_of(job, mapping):
    return job.hosts.names(mapping.node_of_rank)


def reported(text):
    """Return (host, processors) of each rank, from the output of report.sh and where.c."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].isdecimal():
            found[int(words[0])] = (words[1], words[2])
    assert sorted(found) == list(range(len(found)))
    return [found[rank] for rank in sorted(found)]


def assert_where_the_file_says(text, mapping, job):
    assert [host for host, _ in reported(text)] == hosts_of(job, mapping)


def assert_bound_by_slot(text, mapping):
    """Check that equal slots have equal processors, and different slots different processors."""
    seen = set(zip(mapping.slot_of_rank.tolist(), (cpus for _, cpus in reported(text))))
    assert len(seen) == TASKS == len({cpus for _, cpus in seen})


def assert_bound_inside(text, job, slots):
    """Check that each rank may use the processors of its slot, and no others."""
    assert [cpus for _, cpus in reported(text)] == [ranges(job.node.processors[slot]) for slot in slots]
