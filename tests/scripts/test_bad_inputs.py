"""Refusals by every command: bad input ends in a sentence of 80 columns and status 1 or 2."""

import re
import shlex

import pytest

from pencilmap.scripts.command_line.cli import REFUSED, USAGE, main

FILES = {
    "empty.txt": "", "words.txt": "this is no list of nodes\n", "cut.json": '{"schema": "pencil', "binary.bin": "\0\1\2\377",
    "broken.toml": "name = \n", "thin.toml": 'name = "thin"\n', "far.txt": "9 9 9\n", "twice.txt": "0 0 0\n0 0 0\n",
    "half.map": "0 0 0 0\n", "records.jsonl": '{"schema": 0}\n', "edges.txt": "a b\nb\n", "apart.txt": "a b\nc d\n",
    "record.jsonl": '[1, 2', "traffic.mtx": "%%MatrixMarket matrix\n1\n",
    "topology.conf": "SwitchName=leaf0 Nodes=c[0-3]\n", "tree.edges": "s {'kind': 'switch'}\na s\nb s\nc s\nd s\n",
    "pairs.txt": "".join(f"{rank} {(rank + 3) % 8} 9\n" for rank in range(8)),
}
NETWORK = "--network 4x4x4 "
BAD = [
    (USAGE, "frobnicate"), (USAGE, "predict --gird 4x16"), (USAGE, f"predict {NETWORK}"), (USAGE, "map --network 4x4"),
    (USAGE, f"plan {NETWORK} --effort hard"), (USAGE, f"plan {NETWORK} --by hops"), (USAGE, f"plan {NETWORK} --top 0"),
    (USAGE, f"predict {NETWORK} --grid 8x8 --seed -1"), (USAGE, f"predict {NETWORK} --grid 8x8 --time-limit 0"),
    (USAGE, f"plan {NETWORK} --tasks-per-node 0"), (USAGE, f"plan {NETWORK} --direction sideways"),
    (USAGE, f"predict {NETWORK} --grid 8x8 --decomposition pencils"), (USAGE, f"map {NETWORK} -o -"),
    (USAGE, f"map {NETWORK} -o a.map --from-format bgl"),
    (USAGE, f"map {NETWORK} -o a.map --from half.map --placement best"),
    (USAGE, f"predict {NETWORK} --grid 8x8 --traffic traffic.mtx"), (USAGE, f"simulate {NETWORK} --ports 2 --grid 8x8"),
    (USAGE, "compare"), (USAGE, "report"), (USAGE, "report record.jsonl --format svg"), (USAGE, "help nothing"),
    (USAGE, "study shape"), (USAGE, "network fugaku"), (USAGE, "network --nodes 8"), (USAGE, "plan bluegene-l"),
    (USAGE, "network --machine fugaku --output a.txt"), (USAGE, "check"), (USAGE, "validate --suite nothing"),
    (USAGE, "validate"), (USAGE, "validate nothing"), (USAGE, "validate --json"), (USAGE, "study scaling"),
    (USAGE, "study calibrate"), (USAGE, "study transposes"), (USAGE, "study shapes"), (USAGE, "study demo x"),
    (USAGE, "study calibrate --rule nothing records.jsonl"), (USAGE, "study scaling --gird 2"), (USAGE, "trace"),
    (USAGE, "trace --"), (USAGE, "trace --read traffic.mtx --format nothing"), (USAGE, "trace --json -- true"),
    (USAGE, "trace --read traffic.mtx -- true"), (USAGE, "map --network 4x4x4 --json x"),
    (REFUSED, "validate simulated --suite nothing"), (REFUSED, "validate namespaces --suite nothing"),
    (REFUSED, "validate simulated --rate 10"),
    (REFUSED, "study calibrate gone.jsonl"), (REFUSED, "study calibrate record.jsonl"),
    (USAGE, "study calibrate --published nothing"), (REFUSED, "study scaling gone.jsonl"),
    (REFUSED, "study scaling record.jsonl"), (REFUSED, "study scaling --points empty.txt"),
    (REFUSED, "study transposes gone.csv other.csv"), (REFUSED, "study reproduce nothing"),
    (REFUSED, "study shapes --nodes 8"), (REFUSED, "study shapes --nodes 8 --machine nothing"),
    (REFUSED, "trace --read gone"), (REFUSED, "trace --read traffic.mtx"), (REFUSED, "trace --read binary.bin"),
    (REFUSED, "trace -- gone-program"), (REFUSED, "plan --machine fugaku --nodes 4x6x16 -t 49"),
    (REFUSED, "plan"), (REFUSED, "plan --machine blugene-l"), (REFUSED, "plan --machine broken.toml"),
    (REFUSED, "plan --machine thin.toml"), (REFUSED, "plan --machine gone.toml"), (REFUSED, "plan --network 0x4"),
    (REFUSED, "plan --network torus"), (REFUSED, "plan --network fat-tree:leaves=4"),
    (REFUSED, "plan --network hyperx:4x4"), (REFUSED, "plan --network dragonfly:a=0,p=1,h=1"),
    (REFUSED, "plan --network dragonfly:a=4,p=2,h=2,x=3"), (REFUSED, "plan --network empty.txt"),
    (REFUSED, "plan --network binary.bin"), (REFUSED, "plan --network cut.json"),
    (REFUSED, "plan --network edges.txt,slurm"), (REFUSED, "plan --network apart.txt"),
    (REFUSED, "plan --network words.txt,nothing"), (REFUSED, f"plan {NETWORK} --nodes gone.txt"),
    (REFUSED, f"plan {NETWORK} --nodes far.txt"), (REFUSED, f"plan {NETWORK} --nodes twice.txt"),
    (REFUSED, f"plan {NETWORK} --nodes words.txt"), (REFUSED, f"plan {NETWORK} --nodes 7"),
    (REFUSED, f"plan {NETWORK} --nodes 2x2x2"), (REFUSED, "plan --machine bluegene-l --nodes 7"),
    (REFUSED, "plan --machine fugaku"), (REFUSED, f"plan {NETWORK} --failed 9-9-9"),
    (REFUSED, f"plan {NETWORK} --failed x"), (REFUSED, f"plan {NETWORK} --bandwidth fast"),
    (REFUSED, f"plan {NETWORK} --bandwidth '0 GB/s'"), (REFUSED, f"plan {NETWORK} --fft 0"),
    (REFUSED, f"plan {NETWORK} --fft 64:complex"), (REFUSED, f"plan {NETWORK} --fft 1x2"),
    (REFUSED, f"plan {NETWORK} --grid 5x5"), (REFUSED, f"plan {NETWORK} --exchange letters"),
    (REFUSED, f"plan {NETWORK} --schedule monday"), (REFUSED, f"plan {NETWORK} --routing by-car"),
    (REFUSED, f"plan {NETWORK} --routing all"), (REFUSED, f"plan {NETWORK} --placement nice"),
    (REFUSED, f"plan {NETWORK} --threads 2 --grid 8x8"), (REFUSED, f"predict {NETWORK} --grid 8x8 --placement best:5"),
    (REFUSED, f"predict {NETWORK} --grid 8x8 --placement digits:x=r9"), (REFUSED, f"predict {NETWORK} --grid 8x8 --terms"),
    (REFUSED, f"predict {NETWORK} --grid 8x8 --placement file:gone.map"),
    (REFUSED, f"predict {NETWORK} --grid 8x8 --ports 2"),
    (REFUSED, f"predict {NETWORK} --grid 8x8 --placement search:seed=x"), (REFUSED, f"predict {NETWORK} --grid 8x8x1x1"),
    (REFUSED, f"predict {NETWORK} --grid 8x8x1 --fft 64:r2c"),
    (REFUSED, f"predict {NETWORK} --grid 8x8x1 --schedule overlap"),
    (REFUSED, f"predict {NETWORK} --traffic gone"), (REFUSED, f"predict {NETWORK} --traffic traffic.mtx"),
    (USAGE, f"map {NETWORK} --format bgk -o a.map"), (REFUSED, f"map {NETWORK} --format bgl -o gone/a.map"),
    (REFUSED, f"map {NETWORK} --format bgl -o a.map --from gone.map"), (REFUSED, f"check half.map {NETWORK} --grid 8x8"),
    (REFUSED, f"check binary.bin {NETWORK} --grid 8x8"), (REFUSED, f"draw {NETWORK} --grid 8x8 -o a.gif"),
    (REFUSED, f"simulate {NETWORK} --grid 8x8"), (REFUSED, "compare gone.jsonl"), (REFUSED, "compare record.jsonl"),
    (REFUSED, "compare records.jsonl"), (REFUSED, "compare binary.bin"), (REFUSED, "report gone.jsonl"),
    (REFUSED, "report record.jsonl -o record.jsonl"), (REFUSED, "network --machine frontera --nodes 4x4"),
    (REFUSED, "network --machine bluegene-l --nodes 7"), (REFUSED, "plan --machine frontera --network 8x8x8"),
    (REFUSED, f"plan --network 8 --traffic {'n' * 300}=none --traffic pairs.txt"),
    (REFUSED, f"draw -w lengths {NETWORK} --grid 8x8 -o a.svg" + 13 * " -p default"),
]

TOLD = """\
1 draw -w image --network fat-tree:leaves=2,hosts=2,up=1 --grid 2x2 | fat-tree:leaves=2,hosts=2,up=1 has no coordinates
1 draw -w image --network fat-tree:leaves=2,hosts=2,up=1 --grid 2x2 -o a.svg | this picture is for tori, and network
1 draw -w graph --network 4x4x4 --grid 8x8 | torus 4x4x4 has coordinates
1 draw -w lengths --network 4x4x4 --grid 8x8 | lengths are drawn into a file
1 draw -w gain --network 4x4x4 --grid 8x8 | gain is an SVG, which suits light and dark pages
1 draw -w gain --network 4x4x4 --grid 8x8 -o a.png | gain is an SVG, which suits light and dark pages
1 draw -w gain --network 2x2x2x2 --grid 4x4 -p default -o a.svg | torus 2x2x2x2 has 4 dimensions and 64 cables; this
1 draw -w gain --network 4x4x8:twisted --grid 16x8 -o a.svg | this picture is for tori without twists, and twisted torus
1 draw -w image --network 4x4x4 --grid 8x8 -p default -p line -o a.svg | 2 placements: this picture shows one; only
1 draw -w image --network 4x4x4 --grid 8x8 -p default --row 8 -o a.svg | row 8: grid 8x8 has rows 0..7
1 draw -w image --network 4x4x4 --grid 8x8 -p default --row -1 -o a.svg | row -1: grid 8x8 has rows 0..7
1 draw -w image --network 32x32x32 --grid 32x1024 -p default -o a.svg | torus 32x32x32 has 32768 nodes and needs 1
1 draw -w image --network 3x3x3x3x3x3x3x3 --grid 81x81 -p default -o a.svg | torus 3x3x3x3x3x3x3x3 has 6561 nodes and
1 draw -w loads --network 32x32x32 --grid 32x1024 -p default -o a.svg | torus 32x32x32 has 196608 links; a picture takes
1 draw -w loads --network 1x1 --grid 1x1 -o a.svg | torus 1x1 has 0 links; a picture takes 1 to 60000
1 draw -w loads --network 4x4 --grid 2x4x2 --exchange row | --exchange row: grid 2x4x2 has the exchanges x-line, y-line
1 predict --network 4x4 --decomposition line -p default | a line has points
1 predict --network 4x4 --decomposition line -p default --size 64 --fft 64 | --fft is not for --decomposition line
1 predict --network 4x4 --decomposition line -p default --size 64 --schedule pipelined | --schedule is not for
1 predict --network 4x4 --size 64 | --size is for --decomposition line
1 map --network 4x4 --grid 16 --decomposition line -o x | distributed lines are for predict and simulate: --decomposition
1 predict --network 4x4 --decomposition brick:2x2x4 --algorithm dft | bricks of lines are an array
1 predict --network 4x4 --decomposition brick:2x2x4 --fft 12x8x16 --algorithm dft --grid 4x4 | --grid is not for
1 predict --network 4x4 --decomposition brick:2x2x4 --fft 8x8x8:r2c --algorithm dft | lines transform complex numbers
1 predict --network 4x4 --decomposition brick:2x2x2 --fft 8 --order natural | 2x2x2 bricks are 8, but there are 16 tasks
1 predict --network 4x4 --decomposition brick --fft 8 --algorithm dft | decomposition 'brick' is not understood
1 validate simulated --suite paper --at-most 8 | suite paper has no transform of 8 or less; its smallest is 64
1 validate simulated --into words.txt | words.txt: there is no line '<!-- simulated quick -->' followed by a
1 validate namespaces --rate fast | 'fast' is not a rate
1 validate namespaces --network 64x64 | torus 64x64 has 4096 nodes; 2 to 256 can be made
1 validate namespaces --fft 32:r2c | transform 32x32x32:r2c is not run
1 validate namespaces --fft 4 | transform 4x4x4 is too small: the traffic of a run of 4x4x4 is
1 validate namespaces --into gone/v.md | gone/v.md: gone/v.md cannot be read: No such file or directory
1 plan --network 4x4 -t 1,2 --wrap both | --wrap both compares the torus and the open mesh for one number of
2 predict --network 4x4 -t 1,2 --grid 4x4 | Invalid value for '--tasks-per-node' / '-t': 1,2 names several
1 plan --network 4x4 -t 1,2 --threads 2 --fft 64 | --threads divides the cores of one number of tasks on a node
1 study shapes -d 1 --nodes 1024 --fft 1024 | every shape has a dimension of more than 256 nodes
2 study shapes -d 3 --nodes many | Invalid value for '--nodes' / '-N': 'many' is not understood
2 study shapes -d 3 --nodes 64,32 | Invalid value for '--nodes' / '-N': '64,32'
1 study shapes -d 3 --nodes 64 --fft 64 --plot a.svg | a plot needs times, but no bandwidth is known
1 study shapes -d 3 --nodes 64,128 | how it scales, and a plot, need a transform
1 study shapes -m bluegene-l --mesh --nodes 512 | --mesh: machine bluegene-l decides which dimensions wrap
1 study shapes -m bluegene-l --nodes 1000 | machine bluegene-l hands out no partition of 1000 nodes
2 study shapes -d 9 --nodes 64 | Invalid value for '--torus-dimensions' / '-d': 9 is not in the range
1 study reproduce jagode:table9 | jagode has no figure 'table9' (did you mean table3?); it has fig1
2 report --published --network 4x4 | --published is for run records
2 report record.jsonl --grid 2x2 | --grid asks for a prediction, and record.jsonl has runs
1 report empty.txt | empty.txt contains no run record; fft_runner --json empty.txt writes
1 simulate --network 4x4 --grid 2x4x2 --fft 16 --bandwidth '1 GB/s' | grid 2x4x2: libpencilfft runs in a simulation, and
1 simulate --network 4x4 --grid 4x4 | torus 4x4 has no bandwidth; a simulation needs the bytes per second
1 simulate --machine bluegene-l --grid 8x64 | a simulation transforms an array
1 predict --network 2x2 --traffic pairs.txt | pairs.txt has the traffic of 8 ranks, and torus 2x2 with 1 task per
1 predict --network 4x4 --traffic pairs.txt | pairs.txt has the traffic of 8 ranks, and torus 4x4 with 1 task per
1 predict --network 4x2 --traffic pairs.txt -p box:2x2 | placement 'box:2x2' depends on the grid of a transform; with
2 check half.map --machine bluegene-l --fft 64 | no grid is named
1 predict --machine bluegene-l --grid 8x59 -p line --idle | line:x fills every slot, but grid 8x59 leaves 40 of 512 idle
1 predict --network 4x4x4 --fft 64 --grid 4x16 --exchange node --schedule overlap:4 | exchange node cannot run beside
2 network --no-hardware -o new/ | Invalid value for '--output' / '-o': a name that is empty or ends in
1 predict --machine bluegene-l --grid 0x64 | process grid 0x64 is empty; rows and columns need at least 1 task
1 predict --network 4x4x4 --grid 8x8 -p file: | file: needs a path, e.g. file:demo.map or file:demo.hosts,hostfile
1 compare empty.txt | empty.txt contains no run record; fft_runner --json empty.txt writes
1 compare record.jsonl --plot x.svg | --plot x.svg draws the published measurements
1 plan --network 4x4x4 --nodes 65 | torus 4x4x4 has 64 nodes, fewer than the 65 of --nodes
1 simulate --network 4x4 --grid 4x4 --fft 16 --bandwidth '1 GB/s' --exchange put --message-cost '1 us' | SimGrid cannot
1 predict --network 4x4 --grid 4x4 -p default --wrap both --page p.html | --page draws one network
1 predict -m Fugaku | (did you mean fugaku?)
1 predict -m blugene-l | (did you mean bluegene-l?)
1 predict --network 4x4 -g 4x4 -p bset | (did you mean best?)
1 predict --network 4x4 -g 4x4 -p defualt:tn | (did you mean default?)
1 predict --network 4x4 -g 4x4 --routing shortestpath | (did you mean shortest-path?)
2 predict --network 16 -g 16 --decomposition slap | (did you mean slab?)
1 predict --network 4x4 -g 4x4 --exchange alltoalv | (did you mean alltoallv?)
1 predict --network 4x4 -g 4x4 --fft 64 --schedule overlop:4 | (did you mean overlap?)
1 predict --network 4x4 -g 4x4 --fft 64:r2r | (did you mean r2c?)
2 map --network 4x4 -g 4x4 -o never -f hostfil | (did you mean hostfile?)
2 map --from nothing --network 4x4 -o never --from-format Jax -f bgl | (did you mean jax?)
2 draw --network 4x4 -g 4x4 -o never.svg --what lenghts | (did you mean lengths?)
2 study shapes -N 64 -m bluegene-l --scaling storng | (did you mean strong?)
2 predict -m bluegene-l -g 8x64 --grid 64x8 | --grid is given 2 times; give it once
2 predict -m bluegene-l --machine fugaku | --machine is given 2 times; give it once
2 map --network 4x4 -g 4x4 -o a --output=b | --output is given 2 times; give it once
2 map --network 4x4 -g 4x4 -o a -p default -p line | --placement is given 2 times; give it once
2 predict --network 4x4 -g 4x4 --json --json | --json is given 2 times; give it once
1 predict --network 4x4 --bandwidth 1Gbit | '1Gbit' is not a quantity in byte/s (did you mean '1 Gbit/s'?)
1 predict --network 4x4 --bandwidth '1.5e3 MB' | '1.5e3 MB' is not a quantity in byte/s (did you mean '1.5e3 MB/s'?)
1 predict --network 4x4 --bandwidth '10 GBps' | '10 GBps' is not a quantity in byte/s (did you mean '10 GB/s'?)
1 predict --network 4x4 --bandwidth '4 gib/s' | '4 gib/s' is not a quantity in byte/s (did you mean '4 GiB/s'?)
1 predict --network 4x4 --bandwidth '200 Gb/s' | '200 Gb/s' is not a quantity in byte/s (did you mean '200 Gbit/s'?)
1 predict --network 4x4 --bandwidth 7 | '7' is not a quantity in byte/s;
1 predict --network 4x4 --bandwidth 1,2GB/s | '1,2GB/s' is not a quantity in byte/s;
1 predict --network 4x4 --bandwidth '5 gb/s' | '5 gb/s' is not a quantity in byte/s;
1 predict --network 4x4 --bandwidth '1..5 GB' | '1..5 GB' is not a quantity in byte/s;
1 predict --network 4x4x4 -g 8x8 --routing fastest | known are dimension-order
1 predict --network 4x4x4 -g 8x8 --routing dimension-order:xy | name each of x, y, z
1 predict --network 4x4x4 -g 8x8 --routing shortest-path | does not work on torus 4x4x4
1 predict --network tree.edges -g 2x2 -p box:2x2 | needs a torus
1 predict --network tree.edges -g 2x2 -p search:seed=x | seed
1 predict --network tree.edges -g 2x2 -p default:xyt | not an order of
1 predict --network tree.edges -g 3x2 -p default | 4 slots
1 predict --network tree.edges -g 2x2 -p default --routing minimal-adaptive | does not work on
2 plan --network 8 --traffic a=pairs.txt --traffic a=pairs.txt | same name
2 plan --network 8 --traffic =pairs.txt | no name is in front of pairs.txt
1 plan --network 8 --traffic pairs.txt --code '' | code '' is not understood
2 plan --network 8 --traffic pairs.txt --fft 64 | --fft describes a transform
2 plan --network 8 --traffic pairs.txt --threads 2 | --threads describes a transform
2 plan --network 8 --code lammps | name the trace with --traffic
2 map -m bluegene-l -o - | - is no file; name one, or write ./- for
2 map --from a -o - | - is no file; name one, or write ./- for
2 draw -m bluegene-l -o - | - is no file; name one, or write ./- for
2 report -o - | - is no file; name one, or write ./- for
1 plan -m v4-2048 -n 64 | --machine tpu-v4 and --nodes 8x8x16, or another shape of its 1024 chips
1 plan -m v6e-128 -n 64 | --machine tpu-v6e and --nodes 8x16, or another shape of its 128 chips
1 plan -m v5litepod-16 -n 64 | --machine tpu-v5e and --nodes 4x4, or another shape of its 16 chips
1 plan -m tpu-v5p-128 -n 64 | --machine tpu-v5p and --nodes 4x4x4
1 plan -m v2-512 -n 64 | --machine tpu-v2 and --nodes 16x16
1 plan -m v4 -n 64 | --machine tpu-v4 and the shape
2 plan --network 4x4 --axes a=16 --fft 64 | --fft describes a transform, and --axes a machine-learning job; give one
2 plan --network 4x4 --axes a=16 --traffic pairs.txt | --traffic is for other programs
2 plan --network 4x4 --axes a=16 --routing minimal-adaptive | --routing is for other programs
1 plan --network 4x4 --axes '' | axis '' is not understood; write a name
1 plan --network 4x4 --axes a=4,b=2 | axes of 4 x 2 are 8 devices, but torus 4x4 has 16; give axes whose product is 16
1 plan --network 4x4 --axes a=4:allgather:1GB,b=4 | 'allgather' is unknown (did you mean all-gather?)
1 plan --network 4x4 --axes a=4:all-gather:1,b=4 | axis a: '1' is not a quantity in byte
1 plan --network 4x4 --axes a=4:all-gather:1GB,b=4 | axis b has no collective
1 plan --machine tpu-v6e --nodes 8x12 --axes a=96 | there is no partition of 8x12 nodes
1 plan --network tree.edges --axes a=8 | axes of 8 are 8 devices, but a job with 1 on each node has 4
1 draw topology.conf | topology.conf looks like Slurm's topology file (topology.conf, topology.yaml or slurm.conf); name
1 check topology.conf | topology.conf looks like Slurm's topology file (topology.conf, topology.yaml or slurm.conf); name
1 map --network 4x4 -n 32 -g 4x4 -o order | give --format, for example slurm or openmpi5; pencilmap help formats
1 validate namespaces --suite tori | known are overlap, programs
1 validate namespaces --suite overlap -p best | --placement
1 validate namespaces --suite programs -p best | leave --placement out
1 validate namespaces --suite programs --grid 4x4 | leave --grid out
"""  # status, command, and words of the error


def run(line, capsys):
    """Run a command in this process and return status, output and errors."""
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    found = capsys.readouterr()
    return ended.value.code, found.out, found.err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "latin-1")
    return tmp_path


@pytest.mark.parametrize("status, line, told", [(*row, "") for row in BAD] + [
    (int(row[0]), *row[2:].split(" | ")) for row in TOLD.splitlines()])
def test_a_bad_input_is_refused_in_a_sentence(status, line, told, folder, capsys):
    found, out, errors = run(line, capsys)
    assert told in " ".join(errors.replace("\nhelp:", ";").split())
    assert (found, out) == (status, ""), (found, out, errors)
    assert errors.count("error: ") == 1 and "Traceback" not in errors and len(errors) < 1000
    assert max(map(len, errors.splitlines())) <= 80
    what_to_do = " ".join(errors.partition("\nhelp: ")[2].split())
    assert what_to_do and not re.fullmatch(r"pencilmap[\w ]* --help", what_to_do), errors
    assert not {path.name for path in folder.iterdir()} - FILES.keys()


@pytest.mark.parametrize("placement", ["box:{}", "box:{}x1", "lattice:c=1.{}/0.5,tile=0", "lattice:c=1.0,tile={}"])
def test_a_number_of_too_many_digits_in_a_placement_is_refused(placement, capsys):
    status, out, errors = run(f"predict --network 4x4 --grid 4x4 --placement {placement.format('2' * 5000)}", capsys)
    assert (status, out) == (1, "") and errors.startswith("error: ") and "Traceback" not in errors
