"""`pencilmap plan`: its first choice is the one that `map` writes and `predict` predicts; notes and exit statuses."""

import json
import random
import re

import pytest

from pencilmap.mapper.ask import ask
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.choose import plan
from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.setting import setting
from pencilmap.scripts.command_line.commands import plan as plan_command
from pencilmap.scripts.pictures.report.entries import read_entries
from tests.documents import ROOT, run_by
from tests.mapper.run_records import record
from tests.mapper.test_node_choices import FREE, SINFO, TOPOLOGY
from tests.modules import needs_simgrid

pytestmark = pytest.mark.usefixtures("brief_searches")

SHAPES = ("4x4", "4x4:mesh", "6x2", "4x2x2", "8x2", "3x4", "2x2x2", "4wx3")
SWITCHED = ("fat-tree:leaves=4,hosts=4,up=2", "fat-tree:leaves=3,hosts=4,up=4", "dragonfly:a=2,p=2,h=1",
            "hyperx:2x2,hosts=3")
QUICK = ("--effort", "quick")


def reported(choice, network, folder):
    """Return the prediction that a report shows for a run of a choice."""
    mapping, where = choice.mapping(), choice.where
    rates = ",".join(f"{rate} B/s" for rate in dict.fromkeys(where.network.bandwidth))
    made = record(mapping, where.transform, where.costs, {"topology": network, "link_bandwidth": rates})
    for rank, name in zip(made["placement"]["ranks"], Hosts(where.network).names(mapping.node_of_rank)):
        rank |= {"host": name, "coordinate": None}
    made["placement"] |= {"torus": None, "coordinate_source": "none"}
    (folder / "runs.jsonl").write_text(json.dumps(made) + "\n", "ascii")
    [entry] = read_entries([str(folder / "runs.jsonl")])
    return entry.prediction


def questions(number):
    """Return random questions: options of a network and a transform."""
    rng = random.Random(44)
    for _ in range(number):
        network, tasks = rng.choice(rng.choice((SHAPES, SWITCHED))), rng.choice((1, 1, 2))
        size = "x".join(str(rng.choice((16, 24, 32, 36))) for _ in range(3))
        costs = rng.choice((["--bandwidth", f"{rng.randint(1, 9)} GB/s"], ["-m", "bluegene-l"]))
        named = network if costs[0] == "--bandwidth" or ":" in network or "w" in network else f"{network}:torus"
        yield ["--network", named, "-t", str(tasks), "--fft", size, *costs]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("words", list(questions(30)), ids=" ".join)
def test_all_commands_and_python_make_the_same_first_choice(words, pencilmap_json, tmp_path):
    planned = pencilmap_json("plan", *words, *QUICK)[0]
    written = pencilmap_json.one("map", *words, *QUICK, "-f", "hostfile", "-o", tmp_path / "hosts")["predictions"][0]
    assert all(written[key] == planned[key] for key in ("decomposition", "grid", "placement", "schedule", "total_s", "t_s"))
    grid = "x".join(map(str, planned["grid"]))
    again = pencilmap_json("predict", *words, "--decomposition", planned["decomposition"], "--grid", grid, "-p",
                           planned["way"], "--schedule", planned["schedule"]["name"], "-e", planned["exchange"], *QUICK)[0]
    assert again["schedule"]["time_s"] == pytest.approx(planned["schedule"]["time_s"])
    options = dict(zip(words[::2], words[1::2]))
    best = plan(setting(machine=options.get("-m"), network=options["--network"], tasks_per_node=int(options["-t"]),
                        bandwidth=options.get("--bandwidth"), fft=options["--fft"]), effort="quick").best
    assert (best.decomposition.name, str(best.grid), best.schedule) == (
        planned["decomposition"], grid, planned["schedule"]["name"])
    assert best.seconds == pytest.approx(planned["seconds"])
    assert reported(best, options["--network"], tmp_path).t_s == pytest.approx(planned["t_s"])


def test_the_reference_documents_statuses_commands_and_the_schema():
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    assert all(f"| {status} |" in text for status in (0, 1, 2, 3))
    schema = json.loads((ROOT / "scripts" / "command_line" / "answers.schema.json").read_text("utf-8"))
    named = {name.split()[0] for name in schema["properties"]["command"]["enum"]}
    assert [name for name in named if f"`{name}`" not in text] == [] and "answers.schema.json" in text


def test_a_quick_plan_asks_for_no_eigenvalues(pencilmap, monkeypatch):
    asked = []
    monkeypatch.setattr("pencilmap.model.kinds.torus_floors.spectral_bound", lambda *_: asked.append(1))
    words = ("plan", "--network", "4x4x4", "--failed", "0-0-0,1-1-1", "--bandwidth", "1 GB/s", "--fft", "32")
    assert pencilmap(*words, *QUICK)[0] == 0 and not asked
    assert pencilmap(*words)[0] == 0 and asked


def test_the_command_that_writes_the_file_names_the_shape(pencilmap, pencilmap_json, monkeypatch, tmp_path):
    monkeypatch.setattr(plan_command, "_needs_file", lambda *_: True)
    words = ("plan", "-m", "cray-xe6", "--nodes", "12", "-t", "1", "--fft", "32", *QUICK)
    _, out, _ = pencilmap(*words)
    command = " ".join(out.replace("\\\n", "").split()).partition(" write pencilmap ")[2].partition(" FILE ")[0].split()
    [planned] = pencilmap_json(*words, "--top", "1")
    written = pencilmap_json.one(*command, tmp_path / "order")["predictions"][0]
    assert f"--network {planned['torus']}" in " ".join(command) and f"Use {planned['torus']}" in out
    assert all(written[key] == planned[key] for key in ("torus", "grid", "t_s"))


def test_several_numbers_of_tasks_on_a_node_are_ranked_together(pencilmap):
    """The best rows are those of the plans for one number."""
    asked = ("plan", "--network", "4x4", "--fft", "64", "--bandwidth", "1 GB/s", *QUICK, "--top", "99")

    def best(tasks):
        rows = json.loads(pencilmap(*asked, "-t", tasks, "--json")[1])["answers"]
        return {(p["tasks_per_node"], tuple(p["grid"])): p["seconds"] for p in rows if p["placement"] == "best"}

    assert best("2,1") == best("1") | best("2") and {tasks for tasks, _ in best("2,1")} == {1, 2}


@pytest.fixture
def costly_messages(tmp_path):
    """A machine file with messages that cost so much that `node`, which sends few, is the fastest exchange."""
    figures = {"shape": '"4x4"', "tasks_per_node": "4", "link_bandwidth": '"1 GB/s"', "message_cost": '"100 us"'}
    text = "".join(f'[{name}]\nvalue = {value}\nsource = "test"\ncertain = true\n' for name, value in figures.items())
    (tmp_path / "costly.toml").write_text(f'name = "costly"\ntitle = "Costly messages"\n{text}', "ascii")
    return "--machine", tmp_path / "costly.toml", "--fft", "32"


def test_gains_of_files_are_over_the_launch_order_under_the_same_exchange(pencilmap_json, costly_messages, tmp_path):
    best = pencilmap_json("plan", *costly_messages)[0]
    asked = (*costly_messages, "--grid", "x".join(map(str, best["grid"])))
    [launched] = pencilmap_json("predict", *asked, "-e", "node", "-p", "default")
    gain = launched["time_s"] / best["time_s"]
    assert best["exchange"] == "node" and best["gain"] == pytest.approx(gain) and gain > 1.5
    files = [pencilmap_json.one("map", *asked, *words, "-f", "hostfile", "-o", tmp_path / "hosts")["predictions"]
             for words in (("-e", "node"), ())]
    assert files[0][0]["time_s"] == pytest.approx(best["time_s"])
    assert all(p["time_s"] > 0.9 * pencilmap_json("predict", *asked, "-p", "default")[0]["time_s"] for p in files[1])


def test_a_plan_names_the_nodes_that_it_chose(pencilmap_json):
    tree = ("--network", "fat-tree:leaves=8,hosts=8,up=2")
    first, *_, own = pencilmap_json("plan", *tree, "--nodes", 16, "--grid", "4x4", *QUICK)
    assert own["nodes"]["of_scheduler"] and not first["nodes"]["of_scheduler"] and first["nodes"]["certificate"] == 1
    (quiet, busy), (packed_quiet, packed_busy) = first["nodes"]["beside"], own["nodes"]["beside"]
    assert quiet < packed_quiet and busy > packed_busy
    again = pencilmap_json("predict", *tree, "--nodes", first["nodes"]["hosts"], "--grid", "4x4", "-p", first["way"])[0]
    assert [stage["m"] for stage in again["stages"]] == [stage["m"] for stage in first["stages"]]
    packed = pencilmap_json("plan", *tree, "--nodes", 16, "--grid", "4x4", "--neighbours", 1, *QUICK)[0]
    assert packed["nodes"]["of_scheduler"] == ["topology/flat, topology/tree or topology/block"]


def test_the_free_nodes_of_a_cluster_become_a_line_of_the_job_script(pencilmap, pencilmap_json, tmp_path, monkeypatch):
    [words] = [command.split()[1:] for command in run_by(__file__)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "free.txt").write_text(SINFO)
    out = pencilmap.out(*words, *QUICK)
    [listed] = re.findall(r"^#SBATCH --nodelist=(\S+)$", out, re.MULTILINE)
    hosts = expand_hosts(listed)
    assert len(hosts) == 4 and set(hosts) <= set(FREE)
    assert pencilmap_json(*words, *QUICK)[0]["nodes"]["job"] == re.findall("^#SBATCH.*", out, re.MULTILINE)
    lines = {name: [f"--requires=host:{listed}"] if name == "flux" else hosts for name in ("pbs", "lsf", "flux")}
    for name, parts in (lines | {"slurm-block": ["--nodes=4"]}).items():
        out = pencilmap(*words, *QUICK, "--scheduler", name)[1]
        assert all(part in out for part in parts), out
        if name == "slurm-block":
            others = expand_hosts(re.findall(r"--exclude=(\S+)", out)[0])
            assert "--segment=" in out and sorted([*others, *hosts]) == [f"n{i:02d}" for i in range(16)]


def test_a_plan_chooses_the_nodes_of_a_program(pencilmap, pencilmap_json, tmp_path, monkeypatch):
    """An all-to-all: four nodes of a leaf send 16 messages through its cable, two nodes 12."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "all").write_text("".join(f"{a} {b} 1000000\n" for a in range(8) for b in range(8) if a != b))
    words = ("--network", "topology.conf,taper=4", "--traffic", "all", *QUICK, "-p", "default")
    status, out, _ = pencilmap("plan", *words, "--nodes", 8)
    [listed] = re.findall(r"^#SBATCH --nodelist=(\S+)$", out, re.MULTILINE)
    assert status == 0 and "Slurm takes 4 nodes of each of 2 leaves by itself" in " ".join(out.split())
    first, packed = (pencilmap_json.one("predict", *words, "--nodes", nodes)["predictions"][0]["link_bytes"]
                     for nodes in (listed, "n[00-07]"))
    assert first < packed
    status, out, _ = pencilmap("map", *words, "--nodes", 8, "--format", "slurm", "-o", "ranks")
    assert status == 0 and f"--nodelist={listed}" in out
    assert {*(tmp_path / "ranks").read_text().split()} == {*expand_hosts(listed)}
    of_program = "--traffic", "all", "-p", "default"
    for some in (of_program, ("--fft", 64, "-g", "2x4")):
        asked = (*words[:2], *some, *QUICK, "--nodes", 8)
        named = [pencilmap_json(*command, *asked)[0]["nodes"] for command in (
            ("plan",), ("map", "--format", "slurm", "-o", tmp_path / "ranks"))]
        fields = ("hosts", "words", "job", "of_scheduler")
        assert [named[0][field] for field in fields] == [named[1][field] for field in fields], some
        assert some != of_program or named[0]["hosts"] == listed


SIMULATED = [  # free choice on a tree or dragonfly, hosts of each unit that are taken, lengths of both exchanges by hand
    ("fat-tree:leaves=8,hosts=16,up=4", "static", [(leaf, range(16)) for leaf in range(2)], "4x8", 11.0),   # packed
    ("fat-tree:leaves=8,hosts=16,up=4", "static", [(leaf, range(4)) for leaf in range(8)], "4x8", 6.5),     # spread
    ("fat-tree:leaves=8,hosts=16,up=8", "static", [(leaf, range(8)) for leaf in range(8)], "8x8", 7.0),     # all residues
    ("fat-tree:leaves=8,hosts=16,up=8", "static", [(leaf, range(0, 16, 2)) for leaf in range(8)], "8x8", 10.5),  # half
    ("dragonfly:a=8,p=8,groups=4,cables=8", "minimal", [(switch, range(1)) for switch in range(32)], "4x8", 6.5)]  # groups


@needs_simgrid
@pytest.mark.parametrize("network, routing, taken, grid, length", SIMULATED)
def test_choices_of_nodes_are_simulated_as_predicted(pencilmap_json, network, routing, taken, grid, length):
    per_unit = int(re.findall("(?:hosts|,p)=([0-9]+)", network)[0])
    where = ask(network=network)
    nodes = ",".join(Hosts(where.network).names([unit * per_unit + host for unit, hosts in taken for host in hosts]))
    runs = pencilmap_json("simulate", "--network", network, "--bandwidth", "1 GB/s", "--nodes", nodes, "--grid", grid,
                          "--fft", 64, "-p", "default", "--routing", routing)
    n_nodes = len(nodes.split(","))
    predicted_s = length / 4 * 16 * 64**3 / n_nodes / 1e9
    assert sum(row["time_s"] for row in runs) == pytest.approx(predicted_s)
    assert sum(row["measured_s"] for row in runs) == pytest.approx(predicted_s, rel=0.005)


def test_a_long_list_of_nodes_is_no_name_of_a_file(pencilmap_json):
    nodes = ",".join(f"node-{x}-{y}-{z}" for z in range(4) for y in range(4) for x in range(4))
    assert len(nodes) > 255
    assert pencilmap_json("predict", "--network", "8x8x8", "--nodes", nodes, "--grid", "8x8", "-p", "default")


def test_map_chooses_only_nodes_that_have_names(pencilmap_json, tmp_path):
    """A job can ask for no other nodes; `map` then answers for those of `predict` and `check`."""
    words = ("--network", "fat-tree:leaves=4,hosts=4,up=1", "--bandwidth", "1 GB/s", "--nodes", 8, "--fft", 32, "-g", "2x4")
    written = pencilmap_json.one("map", *words, *QUICK, "-p", "default", "-f", "hostfile", "-o", tmp_path / "hosts")
    [predicted] = pencilmap_json("predict", *words, "-p", "default")
    [chosen, *_] = pencilmap_json("plan", *words, *QUICK)
    assert written["predictions"][0]["t_s"] == predicted["t_s"] > chosen["t_s"]
