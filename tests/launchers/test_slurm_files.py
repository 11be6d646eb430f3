"""Slurm's files have the same meaning here as for slurmctld and scontrol: random configurations, each with a slurmctld."""

import os
import random
import shutil
import subprocess
from contextlib import ExitStack

import pytest

from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.mapper.graphs.slurm import read_configuration
from pencilmap.model.base.errors import PencilmapError
from tests.launchers.conftest import needs, succeed
from tests.launchers.slurm_cluster import NoCluster, configure, start, stop, wait_for

FEATURES = ("fast", "big", "old")


@pytest.fixture(scope="module")
def munge(tmp_path_factory):
    """A folder with a running munged, for slurmctld."""
    for program, package in (("scontrol", "slurm-client"), ("slurmctld", "slurmctld"), ("munged", "munge")):
        needs(program, package)
    folder = tmp_path_factory.mktemp("files")
    folder.chmod(0o755)
    configure(folder)
    with ExitStack() as running:
        start(running, folder, None, ["munged", "--foreground", "--force", f"--socket={folder}/munge.sock",
                                      f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
                                      f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"])
        try:
            wait_for((folder / "munge.sock").exists, folder)
        except NoCluster as reason:
            pytest.skip(f"NOT TESTED: munged does not run here: {reason}")
        yield folder


class Controller:
    """A slurmctld with these files, until the block ends."""

    def __init__(self, folder, nodes, topology="", others=()):
        self.folder, self.environment = folder, {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        shutil.rmtree(folder / "state", ignore_errors=True)
        (folder / "state").mkdir()
        before = (folder / "slurm.conf").read_text().partition("# below: ")[0].partition("NodeName=")[0]
        plugin = "TopologyPlugin=topology/tree\nPrivateData=cloud\n" if topology else "PrivateData=cloud\n"
        (folder / "slurm.conf").write_text(f"{before}# below: of this test\n{plugin}{nodes}")
        (folder / "topology.conf").write_text(topology)
        for name, text in others:
            (folder / name).write_text(text)

    def __enter__(self):
        with open(self.folder / "slurmctld.out", "wb") as errors:
            self.process = subprocess.Popen(["slurmctld", "-D", "-c"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=errors, env=self.environment)
        return self

    def __exit__(self, *error):
        stop(self.process)

    def answers(self):
        """Return whether slurmctld answers; False if slurmctld has ended, after a refusal of the files."""
        wait_for(lambda: self.process.poll() is not None or "is UP" in self.show("ping", check=False), self.folder)
        return self.process.poll() is None

    def show(self, *words, check=True):
        if check:
            return succeed(["scontrol", *words], self.environment)
        return subprocess.run(["scontrol", *words], capture_output=True, text=True, env=self.environment).stdout

    def expanded(self, text):
        return [] if text in ("", "(null)") else self.show("show", "hostnames", text).split()

    def records(self, what):
        """Return values of the lines that begin with a key and a name, by name."""
        lines = [line.strip() for line in self.show("-o", "-a", "show", what).splitlines() if "=" in line]
        return {line.split()[0].partition("=")[2]: dict(word.partition("=")[::2] for word in line.split()) for line in lines}


def hosts_and_lines(rng):
    """Return names of hosts, and a hostlist for each of some groups."""
    groups = {}
    for prefix in rng.sample(["n", "tux", "gpu-", "Big", "r1c", "x0y"], rng.randint(1, 4)):
        low, count = rng.choice([0, 1, 8, 98]), rng.randint(1, 9)
        width = rng.choice([1, 1, 2, 4])
        numbers = sorted(rng.sample(range(low, low + 14), count))
        names = [f"{prefix}{n:0{width}d}" for n in numbers]
        groups[listed(rng, prefix, numbers, width)] = names
    if rng.random() < 0.4:
        groups["rack[0-1]s[1-3]"] = [f"rack{r}s{s}" for r in range(2) for s in range(1, 4)]
    if rng.random() < 0.4:
        groups["login,zed"] = ["login", "zed"]
    return groups


def listed(rng, prefix, numbers, width):
    """Return the same names as a hostlist: ranges in brackets, or single names."""
    if rng.random() < 0.2:
        return ",".join(f"{prefix}{n:0{width}d}" for n in numbers)
    runs = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1 and len(str(n)) == len(str(runs[-1][0])):
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return f"{prefix}[{','.join(f'{a:0{width}d}' + (f'-{b:0{width}d}' if b > a else '') for a, b in runs)}]"


def line(rng, *pairs):
    """Return a line of a configuration: keys in any case, comments, quotes, continuation lines after any pair."""
    words = []
    for key, value in pairs:
        key = rng.choice([key, key, key.lower(), key.upper()])
        value = f'"{value}"' if rng.random() < 0.2 else value
        words.append(f"{key}={value}")
    text = words[0]
    for word in words[1:]:
        text += rng.choice([" ", " ", "   ", "\t", " \\\n", " \\\n    ", "\\\n\t "]) + word
    return text + rng.choice(["", "", "  # a comment", "#, with NodeName=none", " \\\n"]) + "\n"


def some(rng, names):
    return ",".join(rng.sample(names, rng.randint(1, len(names))))


def configuration(seed):
    """Return texts of slurm.conf from the first node on, topology.conf, and a file that slurm.conf includes."""
    rng = random.Random(seed)
    groups, text, included = hosts_and_lines(rng), "", ""
    names = [name for group in groups.values() for name in group]
    text += line(rng, ("NodeName", "DEFAULT"), ("State", "CLOUD"), ("CPUs", "2"),
                 *([("Feature", rng.choice(FEATURES))] if rng.random() < 0.5 else []))
    for group in groups:
        if rng.random() < 0.2:
            text += line(rng, ("NodeName", rng.choice(["DEFAULT", "default"])), ("Feature", some(rng, list(FEATURES))))
        feature = [("Feature", some(rng, list(FEATURES)))] if rng.random() < 0.5 else []
        text += line(rng, ("NodeName", group), ("CPUs", str(rng.randint(1, 8))), *feature) + rng.choice(["", "\n", "# x\n"])
    sets = []
    for number in range(rng.randint(0, 2)):
        key = rng.choice([("Nodes", some(rng, names)), ("Feature", rng.choice(FEATURES))])
        text += line(rng, ("NodeSet", f"set{number}"), key)
        sets.append(f"set{number}")
    partitions = ""
    for number in range(rng.randint(1, 4)):
        if rng.random() < 0.4:
            partitions += line(rng, ("PartitionName", "DEFAULT"), ("Nodes", rng.choice(["ALL", some(rng, names)])))
        of = rng.choice([[("Nodes", "ALL")], [("Nodes", "all")], [], [("Nodes", some(rng, names))],
                         [("Nodes", some(rng, [*names, *sets]))], [("Nodes", rng.choice(list(groups)))]])
        partitions += line(rng, ("PartitionName", f"p{number}"), *of, ("MaxTime", str(rng.randint(1, 99))))
    if rng.random() < 0.3:
        return f"{text}Include more.conf\n", tree(rng, names), partitions
    return text + partitions, tree(rng, names), included


def tree(rng, names):
    """Return nested switches, in any order."""
    if rng.random() < 0.15:
        return ""
    used = rng.sample(names, rng.randint(1, len(names)))
    cuts = sorted(rng.sample(range(1, len(used)), min(len(used) - 1, rng.randint(0, 5))))
    lines, level = [], []
    for number, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(used)])):
        lines.append(line(rng, ("SwitchName", f"s{number}"), ("Nodes", ",".join(used[a:b])),
                          *([("LinkSpeed", "100")] if rng.random() < 0.3 else [])))
        level.append(f"s{number}")
    number = len(level)
    while len(level) > 1 and rng.random() < 0.9:
        below = rng.sample(level, rng.randint(1, len(level)))
        switch = f"s{number}"
        lines.append(line(rng, ("SwitchName", switch), ("Switches", ",".join(below))))
        level = [name for name in level if name not in below or rng.random() < 0.1] + [switch]  # a few have two parents
        number += 1
    if rng.random() < 0.5:
        rng.shuffle(lines)
    return "# switches\n" + "".join(lines)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(200))
def test_random_configurations_are_read_as_slurm_reads_them(munge, seed):
    nodes, topology, included = configuration(seed)
    with Controller(munge, nodes, topology, [("more.conf", included)]) as controller:
        assert controller.answers(), (munge / "slurmctld.out").read_text()
        ours = read_configuration(read_document(munge / "slurm.conf"))
        assert set(ours.hosts) == set(controller.records("nodes"))
        theirs = {name: controller.expanded(told["Nodes"]) for name, told in controller.records("partitions").items()}
        assert {name: sorted(hosts) for name, hosts in ours.partitions.items()} == {
            name: sorted(hosts) for name, hosts in theirs.items()}
        for what in ("nodes", "partitions"):  # the test also reads the output of scontrol, on a line each or on several
            for options in ((), ("-o",)):
                shown = read_configuration(Document(controller.show("-a", *options, "show", what).encode(), what))
                assert set(shown.all_hosts) == (set(ours.hosts) if what == "nodes" else
                                                {n for hosts in theirs.values() for n in hosts})
        if topology:
            told = controller.records("topology")
            theirs = {name: (int(of["Level"]), sorted(controller.expanded(of["Nodes"]))) for name, of in told.items()}
            for text in (topology, controller.show("show", "topology")):
                units = read_configuration(Document(text.encode(), "topology.conf")).units["switchname"]
                assert {name: (unit.level, sorted(unit.hosts)) for name, unit in units.items()} == theirs


BROKEN = {
    "a node twice": ("NodeName=n[1-2]\nNodeName=n2\n", ""),
    "a kind inside a line": ("NodeName=n1 NodeName=n2\n", ""),
    "words after a line": ("NodeName=n1 CPUs=2 and more\n", ""),
    "backwards": ("NodeName=n[3-1]\n", ""),
    "open bracket": ("NodeName=n[1-3\n", ""),
    "a partition twice": ("NodeName=n1\nPartitionName=p Nodes=n1\nPartitionName=p Nodes=ALL\n", ""),
    "an unknown node in a partition": ("NodeName=n1\nPartitionName=p Nodes=n1,n2\n", ""),
    "a switch twice": ("NodeName=n[1-2]\n", "SwitchName=s Nodes=n1\nSwitchName=s Nodes=n2\n"),
    "an unknown child": ("NodeName=n1\n", "SwitchName=s Nodes=n1\nSwitchName=t Switches=s,u\n"),
    "a child of itself": ("NodeName=n1\n", "SwitchName=s Nodes=n1\nSwitchName=t Switches=s,t\n"),
    "nodes and switches": ("NodeName=n1\n", "SwitchName=s Nodes=n1\nSwitchName=t Nodes=n1 Switches=s\n"),
    "words in topology.conf": ("NodeName=n1\n", "SwitchName=s Nodes=n1\nfour\n"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_slurm_refuses_is_refused(munge, case):
    nodes, topology = BROKEN[case]
    with Controller(munge, "NodeName=DEFAULT State=CLOUD\n" + nodes, topology) as controller:
        assert not controller.answers(), f"{case}: slurmctld starts"
    with pytest.raises(PencilmapError, match=r"line [0-9]+:"):
        read_configuration(read_document(munge / "slurm.conf"))
        read_configuration(read_document(munge / "topology.conf"))
