"""Refusals: bad input ends in a sentence of 80 columns and status 1 or 2."""

import re
import shlex

import pytest

from pencilmap.scripts.command_line.cli import REFUSED, USAGE, main

FILES = {
    "empty.txt": "", "words.txt": "this is no list of nodes\n", "cut.json": '{"schema": "pencil', "binary.bin": "\0\1\2\377",
    "broken.toml": "name = \n", "thin.toml": 'name = "thin"\n', "far.txt": "9 9 9\n", "twice.txt": "0 0 0\n0 0 0\n",
    "half.map": "0 0 0 0\n", "records.jsonl": '{"schema": 0}\n', "edges.txt": "a b\nb\n", "apart.txt": "a b\nc d\n",
    "record.jsonl": '[1, 2', "traffic.mtx": "%%MatrixMarket matrix\n1\n",
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
    (REFUSED, f"plan {NETWORK} --nodes words.txt"), (REFUSED, f"plan {NETWORK} --nodes 8"),
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
]


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


@pytest.mark.parametrize(("status", "line"), BAD, ids=[line for _, line in BAD])
def test_a_bad_input_is_refused_in_a_sentence(status, line, folder, capsys):
    found, out, errors = run(line, capsys)
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
