"""The launch order is the one that the launcher really uses: plain loops over nodes and slots build the orders again."""

from itertools import product

import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, mapping_text
from pencilmap.mapper.launchers import launch_order
from pencilmap.mapper.setting import setting
from pencilmap.model.machines import machine_names
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import Torus


def first_axis_fastest(shape):
    return [place[::-1] for place in product(*map(range, shape[::-1]))]


def last_axis_fastest(shape):
    return list(product(*map(range, shape)))


def boxes_of_two(shape):
    """Return hosts of 2x2 nodes, the first axis fastest inside and outside."""
    halves = [shape[0] // 2, shape[1] // 2, *shape[2:]]
    return [(2 * host[0] + x, 2 * host[1] + y, *host[2:])
            for host in first_axis_fastest(halves) for y in range(2) for x in range(2)]


def filled(nodes, tasks):
    return [(node, slot) for node in nodes for slot in range(tasks)]


def in_turn(nodes, tasks):
    return [(node, slot) for slot in range(tasks) for node in nodes]


def by_two(nodes, tasks):
    return [(node, slot + k) for slot in range(0, tasks, 2) for node in nodes for k in range(2)]


FILLS, ROUND = (filled, first_axis_fastest), (in_turn, first_axis_fastest)
JAX, LAST = (filled, boxes_of_two), (filled, last_axis_fastest)
MACHINES = {name: row for *row, names in (  # possible orders, a small part and the tasks on a node, and machines with these
    ([ROUND], "4x4x4:torus", 2, "bluegene-l bluegene-p"), ([LAST], "4x2x2x4x2:torus", 2, "bluegene-q"),
    ([FILLS], "4x4x8:torus", 4, "cray-xe6"), ([FILLS], "4x4x4:torus", 1, "cray-xt3"),
    ([FILLS], "4x4x4:torus", 2, "cray-xt5 hector-xt4 trainium2-ultraserver"), ([FILLS], "4x4:torus", 4, "trainium2"),
    ([FILLS, ROUND], "4x6x4:torus", 2, "fugaku fx10"), ([FILLS, ROUND], "4x4x4:torus", 2, "k-computer"),
    ([JAX], "8x4:torus", 2, "tpu-v2 tpu-v3"), ([JAX], "8x8:torus", 1, "tpu-v5e tpu-v6e"),
    ([JAX], "4x4x8:torus", 1, "tpu-v4 tpu-v5p"), ([JAX], "4x4x4:torus", 2, "tpu7x")) for name in names.split()}
LAUNCHERS = {name: orders for orders, names in (
    ([FILLS], "openmpi4 openmpi5 hydra intel cray flux hostfile scotch"), ([FILLS, LAST], "slurm"), ([ROUND], "bgl"),
    ([LAST], "bgq"), ([FILLS, ROUND], "vcoordfile rankmap"), ([JAX], "jax")) for name in names.split()}
SETTINGS = [  # variables of a job, and the loops of its launcher; None if no order can express these loops
    ("SLURM_DISTRIBUTION=cyclic:block", in_turn), ("SLURM_DISTRIBUTION=block,Pack", filled),
    ("SLURM_DISTRIBUTION=*:cyclic", filled), ("SLURM_DISTRIBUTION=NoPack", filled), ("SLURM_DISTRIBUTION=plane=2", by_two),
    ("SLURM_DISTRIBUTION=plane SLURM_DIST_PLANESIZE=2", by_two), ("SLURM_DISTRIBUTION=plane=4", filled),
    ("SLURM_DISTRIBUTION=plane=3", None), ("SLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE=hosts", None),
    ("MPICH_RANK_REORDER_METHOD=0", in_turn), ("MPICH_RANK_REORDER_METHOD=1", filled),
    ("MPICH_RANK_REORDER_METHOD=2", None), ("MPICH_RANK_REORDER_METHOD=3", None),
    ("MPICH_RANK_REORDER_METHOD=1 SLURM_DISTRIBUTION=cyclic", in_turn),
    ("OMPI_MCA_rmaps_base_mapping_policy=node:PE=2", in_turn), ("OMPI_MCA_rmaps_base_bynode=1", in_turn),
    ("OMPI_MCA_rmaps_base_schedule_policy=node", in_turn), ("OMPI_MCA_rmaps_base_mapping_policy=socket:span", None),
    ("OMPI_MCA_rmaps_base_mapping_policy=seq", None), ("PRTE_MCA_rmaps_default_mapping_policy=core", filled),
    ("PRTE_MCA_rmaps_default_mapping_policy=slot PRTE_MCA_rmaps_default_ranking_policy=node", in_turn),
    ("I_MPI_PERHOST=1", in_turn), ("I_MPI_PERHOST=2", by_two), ("BG_MAPPING=TXYZ", filled), ("BG_MAPPING=XYZT", in_turn),
    ("BG_MAPPING=my.map", None)]


def check(where, orders):
    """Check that the claimed orders put the ranks on the nodes of these loops."""
    grid, network = where.grid(f"{where.n_slots}x1"), where.network
    texts = [f"default:{text}" if k else "default" for k, text in enumerate(where.site.launch.orders)]
    claimed = {tuple(where.place(text, grid).node_of_rank.tolist()) for text in texts}
    real = [slots(nodes(network.shape), where.tasks_per_node) for slots, nodes in orders]
    assert claimed == {tuple(int(network.node(np.array(place))) for place, _ in places) for places in real}


@pytest.mark.parametrize("name", MACHINES)
def test_the_order_of_a_machine(name):
    orders, network, tasks = MACHINES[name]
    where = setting(machine=name, network=network, tasks_per_node=tasks)
    check(where, orders)
    assert where.site.launch.title == load_machine(name).launch_order.title


def test_every_machine_and_every_launcher_has_a_launch_order():
    """Except Scotch, which launches nothing, and lists of hosts, which many launchers read. A machine of switches has the
    order of its launcher, if its file names one."""
    tori = {name for name in machine_names() if isinstance(load_machine(name).network, Torus)}
    assert set(MACHINES) == tori and all(load_machine(name).figures["launch_order"].source for name in tori)
    for name in set(machine_names()) - tori:
        assert (form := load_machine(name).figures["formats"].value[0]) == "hostfile" or FORMATS[form].launch_order
    assert set(LAUNCHERS) == set(FORMATS)
    assert {name for name, form in FORMATS.items() if form.launch_order is None} == {"scotch", "hostfile"}
    assert all(form.launch_order.source for form in FORMATS.values() if form.launch_order)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_the_order_of_a_launcher(name):
    check(setting(network="4x2x4x2x2:axes=abcde" if name == "bgq" else "4x4x4", tasks_per_node=2, launcher=name),
          LAUNCHERS[name])


def test_without_a_machine_ranks_fill_the_nodes_in_the_order_of_their_list(tmp_path):
    check(setting(network="4x4", tasks_per_node=2), [FILLS])
    listed = [divmod(int(node), 4) for node in np.random.default_rng(3).permutation(16)]
    (tmp_path / "nodes").write_text("".join(f"{x} {y}\n" for x, y in listed))
    check(setting(network="4x4", tasks_per_node=2, nodes=tmp_path / "nodes"), [(filled, lambda shape: listed)])


@pytest.mark.parametrize("variables, slots", SETTINGS, ids=[variables for variables, _ in SETTINGS])
def test_visible_settings_of_the_job_decide(variables, slots):
    """Even if they contradict the named machine and launcher."""
    where = setting(machine="cray-xe6", network="4x4x4:torus", tasks_per_node=4,
                    environ=dict(variable.split("=", 1) for variable in variables.split()))
    by_name = [(slots, last_axis_fastest)] * ("SLURM_DISTRIBUTION" in variables)
    check(where, [(slots, first_axis_fastest), *by_name]) if slots else check(where, [])


OWN_SETTINGS = [  # a variable, its value, and the launchers on which it has an effect
    ("SLURM_DISTRIBUTION", "cyclic", ("slurm", "cray")), ("I_MPI_PERHOST", "1", ("intel",)),
    ("MPICH_RANK_REORDER_METHOD", "0", ("slurm", "cray")), ("OMPI_MCA_rmaps_base_mapping_policy", "node", ("openmpi4",)),
    ("PRTE_MCA_rmaps_default_mapping_policy", "node", ("openmpi5",)), ("BG_MAPPING", "TXYZ", ("bgl",)),
    ("RUNJOB_MAPPING", "ABCDET", ("bgq",))]


@pytest.mark.parametrize("launcher", [name for name, form in FORMATS.items() if form.launch_order])
@pytest.mark.parametrize("variable, value, launchers", OWN_SETTINGS)
def test_a_variable_of_another_launcher_does_not_count(launcher, variable, value, launchers):
    """Run with both versions of Open MPI: neither reads the variables of the other one or of Slurm."""
    site = setting(network="4x4x4" if launcher != "bgq" else "2x2x2x2x2:axes=abcde", tasks_per_node=2).site
    set_here = launch_order(site, launcher=launcher, environ={variable: value}).reason == f"{variable}={value}"
    assert set_here == (launcher in launchers)


def test_the_nodes_of_a_slurm_job_are_in_the_order_of_their_list_or_of_their_names(tmp_path):
    """Slurm sorts the nodes by name, so that the last coordinate of node-x-y-z is the fastest. A list decides."""
    options = {"tasks_per_node": 2, "environ": {"SLURM_DISTRIBUTION": "cyclic"}}
    check(setting(network="4x2x4", **options), [(in_turn, first_axis_fastest), (in_turn, last_axis_fastest)])
    listed = [(x, y, z) for z in (1, 0, 3, 2) for x in range(4) for y in range(2)]
    (tmp_path / "nodes").write_text("".join(f"{x} {y} {z}\n" for x, y, z in listed))
    check(setting(network="4x2x4", nodes=tmp_path / "nodes", **options), [(in_turn, lambda shape: listed)])
    check(setting(network="16", **options), [(in_turn, first_axis_fastest)])


TREE = "SwitchName=a Nodes=n[1,3,5,10]\nSwitchName=b Nodes=n[2,4,6,8]\nSwitchName=top Switches=a,b\n"
BY_NAME, BY_FILE = "n1 n2 n3 n4 n5 n6 n8 n10", "n1 n3 n5 n10 n2 n4 n6 n8"
SOME = "n8 n1 n2 n3"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("launcher", ["slurm", "openmpi4", "hostfile"])
@pytest.mark.parametrize("head, nodes, variables, by_slurm, by_list", [
    ("", None, "", BY_NAME, BY_FILE), ("", "8", "", BY_NAME, BY_FILE),
    ("", SOME, "", "n1 n2 n3 n8", SOME), ("", None, "n[1-6,8,10]", BY_NAME, BY_NAME),
    ("", None, "n[1-3,8]", "n1 n2 n3 n8", "n1 n2 n3 n8"), ("", SOME, "n[1-3,8]", "n1 n2 n3 n8", SOME),
    ("", None, "n[10,5,3,1,2,4,6,8]", "n10 n5 n3 n1 n2 n4 n6 n8", "n10 n5 n3 n1 n2 n4 n6 n8"),
    ("TopologyParam=SwitchAsNodeRank\n", None, "", BY_FILE, BY_FILE),
    ("TopologyParam=SwitchAsNodeRank\n", SOME, "", "n1 n3 n2 n8", SOME)])
def test_nodes_are_in_the_order_of_the_launcher_however_they_are_given(launcher, head, nodes, variables, by_slurm, by_list,
                                                                        tmp_path):
    """Slurm sorts them by name, or by switch, and tells its order in the job. Other launchers take their list."""
    (tmp_path / "tree").write_text(head + TREE)
    if nodes and " " in nodes:
        (tmp_path / "nodes").write_text(nodes.replace(" ", "\n"))
        nodes = tmp_path / "nodes"
    environ = {"SLURM_JOB_NODELIST": variables} if variables else {}
    is_slurm = launcher == "slurm" or (launcher == "hostfile" and environ)  # srun starts a job of Slurm
    where = setting(network=tmp_path / "tree", nodes=nodes, launcher=launcher, environ=environ)
    names = " ".join(where.network.host_names[node] for node in where.place("default", where.grid(f"{where.n_slots}x1")
                                                                           ).node_of_rank.tolist())
    assert names == (by_slurm if is_slurm else by_list)


def test_some_hosts_of_a_slurm_job_keep_the_order_of_its_list(tmp_path):
    """Whether the job has all hosts or more: six of eight, as a number of nodes and as a list."""
    (tmp_path / "tree").write_text(TREE)
    environ, order = {"SLURM_JOB_NODELIST": "n[10,5,3,1,2,4,6,8]"}, ["n10", "n5", "n3", "n1", "n2", "n4", "n6", "n8"]
    (tmp_path / "nodes").write_text("\n".join(sorted(order[:6])))
    for nodes in ("6", tmp_path / "nodes"):
        where = setting(network=tmp_path / "tree", nodes=nodes, launcher="slurm", environ=environ)
        placed = where.place("default", where.grid("6x1")).node_of_rank.tolist()
        used = [where.network.host_names[node] for node in placed]
        assert used == [name for name in order if name in used], nodes


def test_names_of_hosts_decide_the_order_of_slurm(tmp_path):
    """Two hosts at each node keep their places; names by a template or a file."""
    options = {"network": "4", "launcher": "slurm"}
    for names in ("n{node:d}", "NAMES"):
        (tmp_path / "names").write_text("n2 0\nn10 1\nn1 2\nn3 3\n")
        where = setting(**options, names=tmp_path / "names" if names == "NAMES" else names)
        wanted = [2, 0, 3, 1] if names == "NAMES" else [0, 1, 2, 3]
        assert where.place("default", where.grid("4x1")).node_of_rank.tolist() == wanted
    (tmp_path / "two").write_text("b1 0\na2 1\nb0 0\na1 1\n")
    where = setting(network="2", launcher="slurm", nodes=tmp_path / "two", tasks_per_node=2)
    placed, job = where.place("default", where.grid("4x1")), where.job()
    assert placed.node_of_rank.tolist() == [1, 1, 0, 0]
    assert mapping_text(placed, "slurm", job).split() == ["a1", "a2", "b0", "b1"]


def test_launchers_count_hosts_that_share_a_node(tmp_path):
    """Two hosts at each node, in an order in which they do not follow each other. Tasks of a node: two on each host."""
    nodes = [(int(h) % 4, int(h) // 4) for h in np.random.default_rng(5).permutation(16) // 2]
    (tmp_path / "nodes").write_text("".join(f"nid{k} {x} {y}\n" for k, (x, y) in enumerate(nodes)))
    for environ, slots in (({}, filled), ({"SLURM_DISTRIBUTION": "cyclic"}, in_turn)):
        where = setting(network="4x2", tasks_per_node=4, nodes=tmp_path / "nodes", environ=environ)
        check(where, [(lambda shape, tasks, slots=slots: slots(nodes, tasks // 2), lambda shape: shape)])
