"""The nodes that Slurm takes by itself, as a real controller tells them, and its answer to the line of a job script."""

import random
import re

import pytest

from pencilmap.mapper.ask import ask
from pencilmap.mapper.formats.hostlist import expand_hosts, folded_hosts
from pencilmap.mapper.shapes import slurm_dragonfly, slurm_flat, slurm_tree
from pencilmap.model.placement.allocation import Allocation
from pencilmap.scripts.command_line.node_choices import SCHEDULERS
from tests.launchers.conftest import run_bounded, running_slurm
from tests.launchers.slurm_cluster import Cloud

NAMES = [f"n{i:02d}" for i in range(32)]
TOPOLOGY = "".join(f"SwitchName=leaf{i} Nodes=n[{4 * i:02d}-{4 * i + 3:02d}]\n" for i in range(8)) + \
    "SwitchName=top Switches=leaf[0-7]\n"
TREE = "TopologyPlugin=topology/tree"
RULES = {"TopologyPlugin=topology/none": slurm_flat, TREE: slurm_tree,  # the same in all releases on two levels
         f"{TREE}\nTopologyParam=dragonfly": slurm_dragonfly}
CASES = 12


@pytest.fixture(scope="module", params=RULES, ids=lambda setting: setting.rpartition("=")[2])
def controller(request, tmp_path_factory):
    running = running_slurm(tmp_path_factory, Cloud("n[00-31]", TOPOLOGY, request.param))
    yield request.param, next(running)
    running.close()


def given(environment, *options):
    """Return the nodes that a job would get."""
    done = run_bounded(["srun", "--test-only", *options, "true"], environment)
    return expand_hosts(re.findall(r" on nodes? (\S+)", done.stderr)[0])


def test_slurm_takes_the_nodes_that_the_rule_says(controller, tmp_path):
    setting, environment = controller
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    question, draw = ask(network=f"{tmp_path}/topology.conf,taper=2"), random.Random(5)
    for _ in range(CASES):
        free = sorted(draw.sample(range(32), draw.randint(8, 31)))
        n_nodes = draw.randint(1, len(free))
        taken = RULES[setting](Allocation(question.network, free), n_nodes)
        others = folded_hosts([name for i, name in enumerate(NAMES) if i not in free])
        assert given(environment, f"--nodes={n_nodes}", f"--exclude={others}") == [NAMES[i] for i in taken], (free, n_nodes)
        some = question.on(sorted(draw.sample(free, n_nodes)))
        options = [word for line in SCHEDULERS["slurm"](some) for word in line.split()[1:]]
        assert given(environment, *options) == [NAMES[i] for i in some.site.allocation.nodes]
