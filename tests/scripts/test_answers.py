"""Answers of commands in words: `answers.txt` has the commands, and beside each the words that its answer must have.

A paragraph of that file is a test, whose commands share a folder with the files of `FILES`. A row is a command and words of
its answer: ``command | words | - words that are not there | 1 words that are there once``. A row that begins with blanks
goes on with words of the row above. A status before the command is that with which it must end; otherwise it must succeed.
``! NAME=VALUE ...`` sets variables, ``$NAME`` stands for words of a line ``NAME = words``, and ``$HERE`` for the folder.
With ``--json`` the words are compared with the JSON text; ``cat FILE`` compares the text of a file.
"""

import html
import json
import re
import shlex
from pathlib import Path

import networkx as nx
import pytest

from pencilmap.model.kinds import network_named
from tests.documents import ROOT
from tests.mapper.test_node_choices import SINFO, TOPOLOGY

TEXT = Path(__file__).with_name("answers.txt").read_text("utf-8")
NAMES = dict(re.findall(r"^([A-Z]\w*) = (.*)$", TEXT, re.MULTILINE)) | {"ROOT": str(ROOT)}
CASES = [part for part in TEXT.split("\n\n") if not re.match(r"[A-Z]\w* = ", part)]


def shift(n, *steps, size=1000):
    """Return the traffic of n ranks that send to the ranks some steps further."""
    return "".join(f"{a} {(a + step) % n} {size}\n" for a in range(n) for step in steps)


def leaves(groups, *above):
    """Return a topology file of Slurm: the hosts of each leaf, and lines above."""
    return "".join(f"SwitchName={name} Nodes={hosts}\n" for name, hosts in groups.items()) + "".join(
        f"SwitchName={line}\n" for line in above)


def ranks(*hosts, slot="0"):
    return "".join(f"rank {rank}={host} slot={slot}\n" for rank, host in enumerate(hosts))


def detour(wide):
    """Return hosts a and b, and between them a way of 1 GB/s and one of wider links."""
    kinds = "".join(f"{v} {{'kind': '{'host' if v in 'ab' else 'switch'}'}}\n" for v in ("a", "b", "s1", "s2", "s3", "s4"))
    slow, fast = "{'bandwidth': '1 GB/s'}", "{'bandwidth': '100 GB/s'}"
    return f"{kinds}a s1 {fast}\ns1 s2 {slow}\ns1 s3 {wide}\ns2 s4 {slow}\ns3 s4 {wide}\ns4 b {fast}\n"


CLUSTER = ('<?xml version="1.0"?><platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="h" suffix="" '
           'radical="0-7" speed="1Gf" bw="1GBps" lat="1us"{}/></zone></platform>')
SQUARE = [f"node-{x}-{y}" for y in range(2) for x in range(2)]
FILES = {
    "backbone.xml": CLUSTER.format(' bb_bw="1GBps" bb_lat="0"'), "cluster.xml": CLUSTER.format(""),
    "one-way.xml": '<?xml version="1.0"?><platform version="4.1"><zone id="w" routing="Full"><host id="a" speed="1f"/>'
                   '<host id="b" speed="1f"/><link id="f" bandwidth="1GBps" latency="0"/><link id="s" bandwidth="100MBps" '
                   'latency="0"/><route src="a" dst="b" symmetrical="NO"><link_ctn id="f"/></route>'
                   '<route src="b" dst="a" symmetrical="NO"><link_ctn id="s"/></route></zone></platform>',
    "odd.conf": leaves({"a": "n[1,3,5,7]", "b": "n[2,4,6,8]"}, "top Switches=a,b"),
    "mixed.conf": leaves({f"l{i}": f"n[{4 * i - 3}-{4 * i}]" for i in range(1, 7)}, "root Switches=im1,g1",
                         "im1 Switches=g2,g3", *(f"g{i} Switches=l{2 * i - 1},l{2 * i}" for i in (1, 2, 3))),
    "uneven.conf": leaves({"a": "n[1-4]", "b": "n[5-6]", "c": "n[7-12]"}, "t Switches=a,b,c"),
    "deep.conf": leaves({leaf: f"n[{2 * k}-{2 * k + 1}]" for k, leaf in enumerate("abcd")}, "p Switches=a,b",
                        "q Switches=c,d", "r Switches=p,q"),
    "parts.conf": "".join(leaves({f"s{s}0": f"{s}[0-3]", f"s{s}1": f"{s}[4-7]"}, f"{s} Switches=s{s}[0-1]") for s in "xy"),
    "two.conf": leaves({"leaf0": "n[0-1]", "leaf1": "n[2-3]"}, "top Switches=leaf[0-1]"),
    "cluster.conf": leaves({f"leaf{k}": f"c[{8 * k}-{8 * k + 7}]" for k in range(4)}, "spine Switches=leaf[0-3]"),
    "cluster.nodes": "".join(f"c{k}\n" for k in (*range(3, 13), *range(16, 22))),
    "blocks.conf": "BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\n",
    "blocks.yaml": "- topology: t\n  cluster_default: true\n  block:\n    block_sizes: [2]\n    blocks:\n"
                   "      - {block: b0, nodes: 'n[0-1]'}\n      - {block: b1, nodes: 'n[2-3]'}\n",
    "one.conf": leaves({"leaf": "n[0-7]"}), "sixteen.conf": TOPOLOGY, "free.txt": SINFO,
    "corpus.conf": (ROOT / "tests/fuzz/corpus/graph/slurm").read_text(),
    "slurm/topology.conf": (ROOT / "tests/fuzz/corpus/graph/slurm").read_text(),
    "a,b.conf": (ROOT / "tests/fuzz/corpus/graph/slurm").read_text(),
    "ib": 'Switch 8 "S1"\n[1] "H1"[1]\n[2] "H2"[1]\n[7] "S2"[7]\n[8] "S2"[8]\n\nSwitch 8 "S2"\n[1] "H3"[1]\n[7] "S1"[7]\n'
          '[8] "S1"[8]\n\nHca 2 "H1"\n[1] "S1"[1]\n\nHca 2 "H2"\n[1] "S1"[2]\n\nHca 2 "H3"\n[1] "S2"[1]\n',
    "fast": detour("{'bandwidth': '3 GB/s'}"), "triple": detour("{'bandwidth': '1 GB/s', 'cables': 3}"),
    "numbers": "1 2\n1 3\n2 3\n2 4\n3 5\n4 5\n4 6\n5 6\n6 1\n", "box": "0 0\n0 1\n1 0\n1 1\n",
    "tree.edges": "".join(f"{leaf}{k} leaf-{leaf} 1 GB/s\n" for leaf in "ab" for k in range(2)) + "".join(
        f"leaf-{leaf} spine 2 GB/s\n" for leaf in "ab") + "".join(
        f"{switch} {{'kind': 'switch'}}\n" for switch in ("leaf-a", "leaf-b", "spine")),
    "costly.toml": 'name = "costly"\ntitle = "Costly messages"\n' + "".join(
        f'[{name}]\nvalue = {value}\nsource = "test"\ncertain = true\n' for name, value in (
            ("shape", '"4x4"'), ("tasks_per_node", 4), ("link_bandwidth", '"1 GB/s"'), ("message_cost", '"100 us"'))),
    "other.yaml": "name: ft\ntopology:\n  nodes:\n    h1: {kind: linux}\n  links:\n    - endpoints: [h1:e1, s1:e1]\n",
    "from1": "".join(f"node{i}\n" for i in range(1, 9)), "commas": "from,to,bytes\n0,1,1000\n1,0,1000\n2,3,500\n",
    "by-name": "".join(f"n{i}\n" for i in range(1, 9)), "places": "0 0\n1 0\n2 0\n3 0\n", "four": "0\n1\n2\n3\n",
    "twelve": "".join(f"n{k}\n" for k in (7, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)), "ab": "a0\nb0\na1\nb1\n",
    "slow.rf": ranks(*(f"node-{r % 4}-{r // 4}" for r in range(16))),
    "bad.rf": ranks(*(f"node-{r % 2 * 8 + r // 2}" for r in range(16))),
    "c16.rf": "".join(f"rank {r}=c{r // 2 + 16:03} slot={r % 2}\n" for r in range(32)),
    "square.hosts": "\n".join(SQUARE), "star.rf": ranks(*SQUARE, slot="*"), "zero.rf": ranks(*SQUARE),
    "used": "n0\nn1\nn0\nn1\nn2\nn2\nn3\n", "same": "n0\nn0\nn1\nn1\n", "many": "n0\nn0\nn0\nn1\n",
    "job.nodes": "# from the scheduler\n3 1 0\n0 0 0\n2 2 2\n1 0 3\n", "other.nodes": "3 1 0\n0 0 0\n2 2 2\n1 0 2\n",
    "named.nodes": "nid7 3 1 0\nnid5 0 0 0\n", "half.nodes": "nid7 3 1 0\n0 0 0\n",
    "y.hosts": "".join(f"y{i}\n" for i in (0, 4, 1, 5, 2, 6, 3, 7)), "y.rf": ranks(*(f"y{i}" for i in range(8))),
    "xy.hosts": "x0\ny0\n",
    "pairs": "".join(f"{a} {a ^ 1} 1000000\n" for a in range(8)), "ring": shift(8, 3),
    "s12": shift(12, 5), "s16": shift(16, 5),
    "usual": shift(8, 4, size=2000), "near": shift(8, 1), "far": shift(8, 3), "other/near": shift(8, 3),
    "corner": "0 3 100\n",
    "next4": "0 1 9\n1 2 9\n2 3 9\n3 0 9\n", "pairs4": "0 2 9\n1 3 9\n", "inside": "0 1 1000\n2 3 1000\n",
    "across": "0 2 1000\n1 3 1000\n", "zeros": "0 0 0 0\n" * 4, "own": "5 0 0 0\n0 5 0 0\n0 0 5 0\n0 0 0 5\n",
    "silent": "pencilmap traffic 1\nranks 4\nphase 0 times 1 seconds 0.0\nend 0\n", "there": "ranks 4\n0 3 1000\n3 0 1000\n",
    "halo": "".join(f"{r} {r // 4 * 4 + (r + s) % 4} 100\n{r} {(r + 4 * s) % 16} 100\n" for r in range(16) for s in (1, 3)),
    "rows": "".join(f"{a} {(a + d) % 16} {1000 * d}\n" for a in range(16) for d in (4, 8)),
    "all": "".join(f"{a} {b} 1000000\n" for a in range(8) for b in range(8) if a != b), "s72": shift(72, 1, 9, 27),
    "aps": "| Rank <-> Rank  Volume(MB)  Volume(%)  Transfers\n 0 <-> 1 4 100 3\n| TOTAL 4 100 3\n",
    "ring6": "".join(f"{i} {(i + 1) % 6} 1000 2\n{(i + 1) % 6} {i} 1000 2\n" for i in range(6)),
    "scontrol": f"#!/bin/sh\nexec /bin/cat {ROOT}/tests/fuzz/corpus/graph/slurm-shown\n",
    "broken/topology.conf": "nonsense\n", "broken/scontrol": "#!/bin/sh\necho No topology information; exit 1\n",
    "flux": "#!/bin/sh\necho 'tux[0-1,8]'\n",
    "dragonfly.nodes": "".join(f"{network_named(NAMES['DRAGONFLY']).node_name(k)}\n" for k in (
        *range(15), *(16 * group + k for group in range(1, 12) for k in range(group + 1)))),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: re.sub(r"\A(?:# )?(.{,70}).*", r"\1", case, flags=re.DOTALL))
def test_an_answer_has_its_words(case, tmp_path, monkeypatch, pencilmap):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
        Path(name).chmod(0o755 if content.startswith("#!") else 0o644)
    nx.write_weighted_edgelist(nx.cycle_graph(4), "cycle.edges")
    for line in re.sub(r"\n +\| ", " | ", case).splitlines():
        while name := re.search(r"\$([A-Z]\w*)", line):
            line = line.replace(name[0], (NAMES | {"HERE": str(tmp_path)})[name[1]])
        if line.startswith("! "):
            for variable in shlex.split(line[2:]):
                monkeypatch.setenv(*variable.split("=", 1))
        elif not line.startswith("#"):
            check(line, pencilmap)


def check(line, pencilmap):
    """Run the command of a row and compare its answer."""
    command, *words = re.split(r" \| ", line)
    status, command = re.fullmatch(r"(?:([123]) )?(.*)", command).groups()
    if command.startswith("cat "):
        found, out, err = 0, html.unescape(Path(command[4:]).read_text("utf-8")), ""
    else:
        found, out, err = pencilmap(*shlex.split(command))
    said = " ".join((out + err).replace("\\\n", " ").split())
    if "--json" in command and not found:
        json.loads(out)
    assert found == int(status or 0), f"{line}\n{said}"
    for each in words:
        kind, each = (each[0], each[2:]) if each[:2] in ("- ", "1 ") else ("", each)
        times = said.count(" ".join(each.split()))
        assert times == {"-": 0, "1": 1}.get(kind, max(times, 1)), f"{line}\n{each}\n{said}"
