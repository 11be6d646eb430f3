"""The launch order: every printed gain is relative to the order that the launcher really uses.

Plain loops over nodes and slots build the orders again here.
"""

import re
from itertools import product

import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, mapping_text
from pencilmap.mapper.launchers import launch_order
from pencilmap.mapper.setting import setting
from pencilmap.model.machines import machine_names
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping


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
JAX, NEURON = (filled, boxes_of_two), FILLS
MACHINES = {  # the possible orders of the launcher, and the options of a small part of the machine
    "bluegene-l": ([ROUND], "--network 4x4x4:torus -t 2 -g 8x16"), "bluegene-p": ([ROUND],
                                                                                  "--network 4x4x4:torus -t 2 -g 8x16"),
    "bluegene-q": ([(filled, last_axis_fastest)], "--network 4x2x2x4x2:torus -t 2 -g 8x32"),
    "cray-xe6": ([FILLS], "--network 4x4x8:torus -t 4 -g 16x32"), "cray-xt3": ([FILLS],
                                                                               "--network 4x4x4:torus -t 1 -g 4x16"),
    "cray-xt5": ([FILLS], "--network 4x4x4:torus -t 2 -g 8x16"), "fugaku": ([FILLS, ROUND],
                                                                            "--network 4x6x4:torus -t 2 -g 8x24"),
    "fx10": ([FILLS, ROUND], "--network 4x6x4:torus -t 2 -g 8x24"),
    "hector-xt4": ([FILLS], "--network 4x4x4:torus -t 2 -g 8x16"),
    "k-computer": ([FILLS, ROUND], "--network 4x4x4:torus -t 2 -g 8x16"), "tpu-v2": ([JAX],
                                                                                     "--network 8x4:torus -t 2 -g 8x8"),
    "tpu-v3": ([JAX], "--network 8x8:torus -t 2 -g 8x16"), "tpu-v4": ([JAX], "--network 4x4x4:torus -t 1 -g 4x16"),
    "tpu-v5p": ([JAX], "--network 4x4x8:torus -t 1 -g 4x32"), "trainium2": ([NEURON], "--network 4x4:torus -t 4 -g 4x16"),
    "tpu7x": ([JAX], "--network 4x4x4:torus -t 2 -g 8x16"), "tpu-v5e": ([JAX], "--network 8x8:torus -t 1 -g 4x16"),
    "tpu-v6e": ([JAX], "--network 8x8:torus -t 1 -g 4x16"),
    "trainium2-ultraserver": ([NEURON], "--network 4x4x4:torus -t 2 -g 8x16"),
}
LAUNCHERS = {"openmpi4": [FILLS], "openmpi5": [FILLS], "hydra": [FILLS], "intel": [FILLS], "cray": [FILLS],
             "slurm": [FILLS, (filled, last_axis_fastest)],
             "flux": [FILLS], "hostfile": [FILLS], "bgl": [ROUND], "bgq": [(filled, last_axis_fastest)],
             "vcoordfile": [FILLS, ROUND], "rankmap": [FILLS, ROUND], "jax": [JAX], "scotch": [FILLS]}
ALIKE = ("openmpi5", "rankmap", "intel", "hostfile", "cray")  # formats that share their files with another launcher
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


def real_mapping(where, grid, slots, nodes):
    """Return the mapping of a launcher, from its loops."""
    network, tasks = where.network, where.tasks_per_node
    places = slots(nodes(network.shape), tasks)
    node = [int(network.node(np.array(place))) for place, _ in places]
    return Mapping(network, grid, tasks, np.array(node), np.array([slot for _, slot in places]), "real")


def printed_gains(text):
    """Return the different gains of the first row of a prediction over the launch orders in the other rows.

    The gain in its first sentence, and in its row, is the one over the fastest of them.
    """
    time, gain, could = r"([\d.]+) ms(?:  +[\d.]+ to [\d.]+)?", r"as fast|[\d.]+x (?:faster|slower)", r"[\d.]+x|nothing|-"
    rows = re.findall(rf"^\S.*?  +{time}(?:  +({gain}))?(?:  +(?:{could}))?$", text, re.MULTILINE)
    (mine, cell), *others = rows
    found = [1.0] * (len(others) == 0 and cell == "as fast") + [float(time) / float(mine) for time, _ in others]
    if found:
        assert gain_of(cell or "as fast") == pytest.approx(min(found), abs=0.011), text
        assert gain_of(text.partition("\n")[0]) == pytest.approx(min(found), abs=0.011), text
    return distinct(found)


def gain_of(said):
    """Return the gain that a sentence or a cell states."""
    up, down = re.search(r"([\d.]+)x faster|([\d.]+)x slower|as fast|no file|$", said).groups()
    return float(up or 1 / float(down or 1))


def distinct(gains):
    """Return gains without those that are alike within rounding."""
    found = []
    for gain in sorted(gains):
        found += [gain] if not found or gain > 1.011 * found[-1] else []
    return found


def check_gains(pencilmap, words, where, orders):
    """Check that each printed gain is the time in a real order over the time of the placement."""
    grid = where.grid(words[words.index("-g") + 1])
    lines = f"line:{where.network.axes[0]}"
    best = where.predictions(str(grid), [lines])[0]
    out = pencilmap.out("predict", *words, "-p", lines, "-n", "256", "--notes")
    times = []
    for slots, nodes in orders:
        real = where.predict(real_mapping(where, grid, slots, nodes))
        times.append(float(real.known_s / best.known_s))
    assert printed_gains(out) == pytest.approx(distinct(times), rel=0.011), out
    return out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MACHINES)
def test_a_gain_on_a_machine_is_one_over_its_launch_order(name, pencilmap):
    orders, words = MACHINES[name]
    words = ["-m", name, *words.split()]
    where = setting(machine=name, network=words[3], tasks_per_node=int(words[5]), fft="256")
    out = check_gains(pencilmap, words, where, orders)
    assert load_machine(name).launch_order.title in out


def test_every_machine_has_a_launch_order():
    """A machine of switches has that of its launcher, if its file names one."""
    tori = {name for name in machine_names() if isinstance(load_machine(name).network, Torus)}
    assert set(MACHINES) == tori and all(load_machine(name).figures["launch_order"].source for name in tori)
    for name in set(machine_names()) - tori:
        assert (form := load_machine(name).figures["formats"].value[0]) == "hostfile" or FORMATS[form].launch_order


def test_every_launcher_has_a_launch_order():
    """Except Scotch, which launches nothing, and lists of hosts, which many launchers read."""
    assert set(LAUNCHERS) == set(FORMATS)
    assert {name for name, form in FORMATS.items() if form.launch_order is None} == {"scotch", "hostfile"}
    assert all(form.launch_order.source for form in FORMATS.values() if form.launch_order)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_gain_of_a_launcher_is_one_over_its_launch_order(name, pencilmap, tmp_path):
    torus = "4x2x4x2x2:axes=abcde" if name == "bgq" else "4x4x4"
    where = setting(network=torus, tasks_per_node=2, bandwidth="1 GB/s", fft="256")
    grid, lines = where.grid(f"8x{where.n_slots // 8}"), f"line:{where.network.axes[0]}"
    best = where.predictions(str(grid), [lines])[0]
    out = pencilmap.out("map", "--network", torus, "-t", "2", "--bandwidth", "1 GB/s", "-n", "256", "-g", str(grid),
                        "-p", lines, "-f", name, "-o", tmp_path / "file")
    real = distinct(float(where.predict(real_mapping(where, grid, *order)).known_s / best.known_s)
                    for order in LAUNCHERS[name])
    assert printed_gains(out) == pytest.approx(real, rel=0.011)
    out = pencilmap.out("check", tmp_path / "file", "--network", torus, "-t", "2", "--bandwidth", "1 GB/s", "-n",
                        "256", "-g", str(grid), *(["-f", name] if name in ALIKE else []))
    assert printed_gains(out) == pytest.approx(real, rel=0.011)


def test_without_a_machine_ranks_fill_the_nodes_in_the_order_of_their_list(pencilmap, tmp_path):
    torus = setting(network="4x4", tasks_per_node=2, bandwidth="1 GB/s", fft="64")
    check_gains(pencilmap, ["--network", "4x4", "-t", "2", "-g", "4x8", "--bandwidth", "1 GB/s"],
                setting(network="4x4", tasks_per_node=2, bandwidth="1 GB/s", fft="256"), [FILLS])
    places = np.random.default_rng(3).permutation(16)
    listed = [tuple(c) for c in torus.network.coordinates(places).tolist()]
    (tmp_path / "nodes").write_text("".join(f"{x} {y}\n" for x, y in listed))
    check_gains(pencilmap, ["--network", "4x4", "-t", "2", "-g", "4x8", "--bandwidth", "1 GB/s", "--nodes",
                            tmp_path / "nodes"],
                setting(network="4x4", tasks_per_node=2, bandwidth="1 GB/s", nodes=tmp_path / "nodes", fft="256"),
                [(filled, lambda shape: listed)])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("variables, slots", SETTINGS, ids=[variables for variables, _ in SETTINGS])
def test_visible_settings_of_the_job_decide(variables, slots, pencilmap, monkeypatch):
    """Even if they contradict the named machine and launcher."""
    for variable in variables.split():
        monkeypatch.setenv(*variable.split("=", 1))
    words = ["-m", "cray-xe6", "--network", "4x4x4:torus", "-t", "4", "-g", "16x16"]
    where = setting(machine="cray-xe6", network="4x4x4:torus", tasks_per_node=4, fft="256")
    if slots is None:
        status, out, _ = pencilmap("predict", *words, "-n", "256", "-p", "line:x")
        assert status == 0 and not printed_gains(out) and "because the launch order is not known" in out
        status, _, err = pencilmap("predict", *words, "-n", "256", "-p", "default")
        assert status in (1, 2) and "name an order, e.g. default:nt" in err
        return
    by_name = [(slots, last_axis_fastest)] * ("SLURM_DISTRIBUTION" in variables)
    check_gains(pencilmap, words, where, [(slots, first_axis_fastest), *by_name])


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


def test_the_nodes_of_a_slurm_job_are_in_the_order_of_their_list_or_of_their_names(pencilmap, monkeypatch, tmp_path):
    """Slurm sorts the nodes by name, so that the last coordinate of node-x-y-z is the fastest. A list decides."""
    monkeypatch.setenv("SLURM_DISTRIBUTION", "cyclic")
    words, options = ["--network", "4x2x4", "-t", "2", "-g", "8x8", "--bandwidth", "1 GB/s"], {
        "network": "4x2x4", "tasks_per_node": 2, "bandwidth": "1 GB/s", "fft": "256"}
    out = check_gains(pencilmap, words, setting(**options), [(in_turn, first_axis_fastest), (in_turn, last_axis_fastest)])
    assert "order is assumed: " in out and "Slurm's cyclic order, z fastest" in out
    listed = [(x, y, z) for z in (1, 0, 3, 2) for x in range(4) for y in range(2)]
    (tmp_path / "nodes").write_text("".join(f"{x} {y} {z}\n" for x, y, z in listed))
    out = check_gains(pencilmap, [*words, "--nodes", tmp_path / "nodes"], setting(nodes=tmp_path / "nodes", **options),
                      [(in_turn, lambda shape: listed)])
    assert "assumed" not in out
    ring = check_gains(pencilmap, ["--network", "16", "-t", "2", "-g", "16x2", "--bandwidth", "1 GB/s"],
                       setting(**{**options, "network": "16"}), [(in_turn, first_axis_fastest)])
    assert "Slurm's cyclic order, " not in ring


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


def test_launchers_count_hosts_that_share_a_node(pencilmap, monkeypatch, tmp_path):
    """Two hosts at each node, in an order in which they do not follow each other. Tasks of a node: two on each host."""
    hosts = np.random.default_rng(5).permutation(16) // 2
    nodes = [(int(h) % 4, int(h) // 4) for h in hosts]
    (tmp_path / "nodes").write_text("".join(f"nid{k} {x} {y}\n" for k, (x, y) in enumerate(nodes)))
    words = ["--network", "4x2", "-t", "4", "-g", "4x8", "--bandwidth", "1 GB/s", "--nodes", tmp_path / "nodes"]
    where = setting(network="4x2", tasks_per_node=4, bandwidth="1 GB/s", nodes=tmp_path / "nodes", fft="256")
    first = [k for k in range(16) if nodes[k] not in nodes[:k]]

    def hosts_filled(_, tasks):
        return [(nodes[k], 2 * (k not in first) + t) for k in range(16) for t in range(2)]

    def hosts_in_turn(_, tasks):
        return [(nodes[k], 2 * (k not in first) + t) for t in range(2) for k in range(16)]

    check_gains(pencilmap, words, where, [(hosts_filled, first_axis_fastest)])
    monkeypatch.setenv("SLURM_DISTRIBUTION", "cyclic")
    check_gains(pencilmap, words, where, [(hosts_in_turn, first_axis_fastest)])
