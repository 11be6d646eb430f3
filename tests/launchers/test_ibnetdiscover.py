"""The real ibnetdiscover on simulated fabrics (ibsim): every switch, host and cable is read."""

import os
import subprocess
from pathlib import Path
from threading import Timer

import networkx as nx
import pytest

from pencilmap.mapper.graphs import read_graph
from pencilmap.model.kinds.fat_tree import FatTree, parse
from tests.launchers.conftest import needs
from tests.patience import patience

SIMULATED = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"


def net(tree):
    """Return the net file of ibsim for a fat tree, with every cable at both ends."""
    ports, lines = dict.fromkeys(tree.vertices, 0), {name: [] for name in tree.vertices}
    for a, b in zip(tree.source.tolist(), tree.target.tolist()):
        if a < b:
            low, high = tree.vertices[a], tree.vertices[b]
            ports[low] += 1
            ports[high] += 1
            lines[low].append(f'[{ports[low]}]\t"{high}"[{ports[high]}]')
            lines[high].append(f'[{ports[high]}]\t"{low}"[{ports[low]}]')
    heads = [f'Hca\t{max(1, ports[name])}\t"{name}"' for name in tree.vertices[:tree.n_nodes]]
    heads += [f'Switch\t{ports[name]}\t"{name}"' for name in tree.vertices[tree.n_nodes:]]
    return "\n".join("\n".join([head, *lines[name], ""]) for head, name in zip(heads, tree.vertices))


@pytest.mark.parametrize("text", ["leaves=3,hosts=4,up=4,spines=2", "leaves=4,hosts=2,up=2,pods=2,core=2"])
def test_a_discovered_fabric_is_the_fat_tree_that_was_built(text, tmp_path):
    needs("ibsim", "ibsim-utils")
    needs("ibnetdiscover", "infiniband-diags")
    if not Path(SIMULATED).exists():
        pytest.skip("NOT TESTED: libumad2sim is not here")
    tree = parse(text)
    (tmp_path / "net").write_text(net(tree))
    environment = {**os.environ, "LD_PRELOAD": SIMULATED, "SIM_HOST": tree.vertices[0],
                   "IBSIM_SOCKNAME": f"sim{os.getpid()}"}
    with subprocess.Popen(["stdbuf", "-oL", "ibsim", "-s", tmp_path / "net"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env={**os.environ, "IBSIM_SOCKNAME": environment["IBSIM_SOCKNAME"]}) as simulator:
        end = Timer(patience(20), simulator.kill)
        end.start()
        try:
            while "MaxMcastCap" not in (line := simulator.stdout.readline()):  # its last line before it serves
                assert line, "ibsim ended"
            found = subprocess.run(["ibnetdiscover"], capture_output=True, env=environment, timeout=patience(20), check=True)
        finally:
            end.cancel()
            simulator.kill()
    (tmp_path / "fabric").write_bytes(found.stdout)
    ours = read_graph(tmp_path / "fabric")
    assert isinstance(ours, FatTree) and set(ours.vertices) == set(tree.vertices) and ours.switches == tree.switches
    graphs = [nx.MultiDiGraph((each.vertices[a], each.vertices[b]) for a, b in zip(each.source, each.target))
              for each in (ours, tree)]
    assert sorted(graphs[0].edges()) == sorted(graphs[1].edges())
    assert ours.bandwidth == (1e9, 1e9)[:1] * len(ours.link_classes)  # ibsim says 4xSDR: 8 Gbit/s
