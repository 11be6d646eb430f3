"""Readers of traffic: every format gives the same traffic, and a damaged or foreign file is refused with its line."""

import re

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files import parse_traffic, read_traffic, traced
from pencilmap.model.base.errors import PencilmapError, TrafficError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.program import predict_program
from pencilmap.model.traffic.program import (
    COLLECTIVE,
    MEASURED,
    MODELLED,
    ONE_SIDED,
    POINT,
    STATED,
    Communicator,
    Phase,
    Traffic,
    joined,
    one_phase,
    pairs_of,
)

PAIRS = {(0, 1): (800, 2), (1, 0): (30, 1), (2, 3): (5_000_000_000, 70), (4, 0): (7, 1)}  # of 5 ranks


def matrix():
    found = np.zeros((5, 5), np.int64)
    for pair, (n_bytes, _) in PAIRS.items():
        found[pair] = n_bytes
    return found


def dense():
    return "# bytes\n" + "\n".join(" ".join(map(str, row)) for row in matrix().tolist())


def sparse():
    return "ranks 5\n" + "".join(f"{a} {b} {n} {messages}\n" for (a, b), (n, messages) in PAIRS.items())


def market(tmp_path):
    mmwrite(tmp_path / "m.mtx", coo_array(matrix()), field="integer", symmetry="general")
    return (tmp_path / "m.mtx").read_text()


def own():
    columns = np.array([(a, b, n, messages) for (a, b), (n, messages) in PAIRS.items()]).T
    return traced.text(one_phase(5, pairs_of(*columns)))


def monitoring(folder):
    for rank in range(5):
        own = [(b, *sent) for (a, b), sent in PAIRS.items() if a == rank]
        lines = [f"E\t{rank}\t{b}\t{n} bytes\t{messages} msgs sent\t1,0,3" for b, n, messages in own]
        lines.append(f"C\t{rank}\t0\t999 bytes\t9 msgs sent")
        lines += ["D\tMPI_COMM_WORLD\tprocs: 0,1,2,3,4", f"A2A\t{rank}\t10 bytes\t1 msgs sent"]
        (folder / f"p.{rank}.prof").write_text("# POINT TO POINT\n" + "\n".join(lines) + "\n")
    return folder / "p.0.prof"


def ipm(n=5):
    """As IPM 2 writes it; messages of a pair in two sizes, a receipt, a collective, and a message to MPI_PROC_NULL."""
    text = '<?xml version="1.0" encoding="iso-8859-1"?>\n<ipm_job_profile>\n'
    for rank in range(n):
        calls = [(4, "MPI_Send", 0, -1, 9), (7, "MPI_Irecv", 1, 1, 3), (64, "MPI_Allreduce", 0, -2, 2)]
        for b, n_bytes, messages in [(b, *sent) for (a, b), sent in PAIRS.items() if a == rank]:
            calls += [(n_bytes // messages, "MPI_Isend", b, b, messages - 1),
                      (n_bytes - n_bytes // messages * (messages - 1), "MPI_Sendrecv", b, b, 1)]
        text += (f'<task ipm_version="2.0.6" cookie="nocookie" mpi_rank="{rank}" mpi_size="{n}" stamp_init="7.250000" '
                 f'stamp_final="9.000000" username="me" flags="0" pid="7" >\n<hash nlog="7" nkey="{len(calls)}" >\n')
        for size, call, partner, key, count in calls:
            text += (f'<hent key="{7:016X}{(size % (1 << 32)) << 32 | key & 0x3FFFFFFF:016X}" call="{call}" bytes="{size}" '
                     f'orank="{partner}" region="1" callsite="1" count="{count}" tid="0" >1e-6 1e-6 1e-6</hent>\n')
        text += "</hash>\n</task>\n"
    return text + "</ipm_job_profile>\n"


def intel(n=5):
    """As Intel MPI writes it: a table for each process, with all ranks."""
    text = "Intel(R) MPI Library Version 5.1\n____ MPI Communication Statistics ____\n\nStats level: 1\n\n"
    for rank in range(n):
        rows = [PAIRS.get((rank, b), (0, 0)) for b in range(n)]
        text += (f"~~~~ Process {rank} of {n} on node n{rank} lifetime = 1.75\n\nData Transfers\n"
                 f"Src --> Dst Amount(MB) Transfers\n{'-' * 41}\n" +
                 "".join(f"{rank:03d} --> {b:03d} {sent / 2**20:e} {m}\n" for b, (sent, m) in enumerate(rows)) +
                 f"{'=' * 41}\nTotals {sum(sent for sent, _ in rows) / 2**20:e} {sum(m for _, m in rows)}\n\n"
                 "Communication Activity\nOperation Volume(MB) Calls\nP2P\nSend 0.000000e+00 3\n\n")
    return text


@pytest.mark.parametrize("name", ["dense", "sparse", "matrix-market", "trace", "monitoring", "ipm", "intel"])
def test_every_format_is_recognised_and_gives_the_same_bytes(name, tmp_path):
    if name == "monitoring":
        path = monitoring(tmp_path)
    else:
        path = tmp_path / "traffic"
        path.write_text({"dense": dense, "sparse": sparse, "trace": own, "ipm": ipm, "intel": intel,
                         "matrix-market": lambda: market(tmp_path)}[name]())
    for given in (None, name):
        found = read_traffic(path, given)
        digits = 1e-6 if name == "intel" else 0  # relative
        assert found.n_ranks == 5 and np.allclose(found.total.bytes.toarray(), matrix(), digits, 0)
        if name in ("ipm", "intel"):
            assert found.seconds == 1.75 and ("10 calls of collectives are left out" in found.note) == (name == "ipm")
        if name not in ("dense", "matrix-market"):
            assert {(a, b): found.total.messages[a, b] for a, b in PAIRS} == {pair: m for pair, (_, m) in PAIRS.items()}


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["integer", "real"])
@pytest.mark.parametrize("dense", [False, True])
def test_matrix_market_as_scipy_writes_it(tmp_path, symmetry, field, dense):
    wanted = matrix() + matrix().T if symmetry == "symmetric" else matrix()
    mmwrite(tmp_path / "m.mtx", wanted if dense else coo_array(wanted), field=field, symmetry=symmetry, precision=17)
    assert (read_traffic(tmp_path / "m.mtx").total.bytes.toarray() == wanted).all()


@pytest.mark.parametrize("text", [
    "Source,Destination,Volume (bytes),Count\n0,1,8,10\n1,0,9,11\n", "bytes;to;max;from;messages\n8;1;3;0;10\n9;0;3;1;11\n",
    "# to from n bytes\n1 0 10 8\n0 1 11 9\n", "rank\tpeer\tmsgs sent\tbytes sent\n0\t1\t10\t8\n1\t0\t11\t9\n",
    "# mine\n0,1,8,10\n1,0,9,11\n", "from to bytes messages\n0 1 8 10\n1 0 9 11\n"])
def test_a_head_names_the_columns_of_pairs(text):
    total = parse_traffic(Document(text.encode(), "file")).total
    assert total.bytes.toarray().tolist() == [[0, 8], [9, 0]] and total.messages.toarray().tolist() == [[0, 10], [11, 0]]


def test_both_directions_of_a_pair_are_halved():
    chart = ("| Data Transfers per Rank-to-Rank Communication\n|----\n"
             "| Rank <-> Rank       Volume(MB)        Volume(%)        Transfers\n|----\n"
             "  0000 <-> 0002            16.5          80.5          7\n  0001 <-> 0002     3.8147e-06   19.5     2\n|====\n"
             "| TOTAL                  16.5              100          9\n| AVG  1.5  33.3333  3\n")
    found = parse_traffic(Document(chart.encode(), "file"))
    n = 33 << 18
    assert found.total.bytes.toarray().tolist() == [[0, 0, n], [0, 0, 2], [n, 2, 0]]
    assert found.total.messages.toarray().tolist() == [[0, 0, 4], [0, 0, 1], [3, 1, 0]] and "adds both" in found.note


def test_messages_inside_collectives_are_read_and_the_counts_as_if_every_pair_took_part_are_not(tmp_path):
    of_0 = "E\t0\t1\t8 bytes\t1 msgs sent\t0\nI\t0\t1\t100 bytes\t3 msgs sent\nS\t0\t1\t5 bytes\t1 msgs sent"
    for rank, lines in enumerate([of_0, "R\t1\t0\t6 bytes\t2 msgs sent"]):
        (tmp_path / f"m.{rank}.prof").write_text(f"# POINT TO POINT\n{lines}\nC\t{rank}\t{1 - rank}\t1 bytes\t1 msgs sent\n")
    found = read_traffic(tmp_path / "m.1.prof")
    assert found.total.bytes.toarray().tolist() == [[0, 119], [0, 0]]
    assert [n for n in found.bytes_by_kind() if n] == [8, 11, 100]


def random_traffic(random):
    n, phases = 6, []
    communicators = (Communicator(np.arange(6), (2, 3), (True, False)), Communicator(np.array([5, 0, 2])),
                     Communicator(np.array([1, 3, 5])), Communicator(np.array([0, 2, 1]), inter=True))
    for name in ("", "level 7", "rest"):
        keys = random.choice(36 * 4 * 4, 20, replace=False)
        pairs = pairs_of(keys % 6, keys // 6 % 6, random.integers(0, 1 << 40, 20), random.integers(1, 99, 20),
                         keys // 36 % 4, keys // 144)
        phases.append(Phase(n, pairs, int(random.integers(1, 50)), 0.25, name))
    return Traffic(n, tuple(phases), communicators, 3.5, (12, 1), "some MPI 1.2, with a comma")


def test_what_is_written_is_read():
    random = np.random.default_rng(5)
    for _ in range(20):
        given = random_traffic(random)
        found = parse_traffic(Document(traced.text(given).encode(), "again"))
        assert traced.text(found) == traced.text(given)
        assert (found.n_ranks, found.seconds, found.outside, found.mpi) == (6, 3.5, (12, 1), given.mpi)
        for a, b in zip(found.phases, given.phases):
            assert (a.times, a.seconds, a.name) == (b.times, b.seconds, b.name)
            assert all((x == y).all() for x, y in zip(a.pairs.columns, b.pairs.columns))
        for c, d in zip(found.communicators, given.communicators):
            assert (c.members == d.members).all() and (c.extents, c.periodic, c.inter) == (d.extents, d.periodic, d.inter)


HEAD = "%%MatrixMarket matrix coordinate integer general\n"
IPM = '<ipm_job_profile>\n<task mpi_rank="0" mpi_size="1" stamp_init="1" stamp_final="2" >\n<hash >\n'
CALL, ENDS = '<hent key="7" call="MPI_Send" bytes="8" orank="0" count="2" >', "\n</hash></task></ipm_job_profile>"
APS = "| Rank <-> Rank  Volume(MB)  Volume(%)  Transfers\n 0 <-> 1 4 100 3\n"
BAD = [
    (IPM + CALL, "no </ipm_job_profile> at the end; the file is cut"),
    (IPM.replace('size="1"', 'size="2"') + CALL + ENDS, "rank 1 of 2 has no task"),
    (IPM.replace("<hash >", "") + ENDS, "no calls of MPI; run the program with IPM_LOG=full"),
    (IPM + CALL + ENDS.replace("</ipm", IPM[18:] + "</ipm"), "2 tasks of 1 ranks"),
    (IPM + CALL.replace('bytes="8"', 'bytes="8 B"') + ENDS, "has no bytes that is understood"),
    (IPM + CALL.replace('orank="0"', 'orank="1"') + ENDS, "is no message to one of the ranks 0 to 0"),
    (IPM + CALL.replace('key="7"', f'key="{3:032X}"') + ENDS, "is no message to one of the ranks 0 to 0"),
    (IPM.replace('rank="0"', 'rank="1"') + ENDS,
     "line 2: '<task mpi_rank=\"1\" mpi_size=\"1\" stamp_init=\"1\" stamp_final=\"' is no rank of 1"),
    ("<ipm_job_profile>\n" + CALL + ENDS, "count=\"2\" ' is in no task"),
    (APS, "the last table has no line of totals"),
    (APS + "| [skipped 4 lines]\n| TOTAL 9 100 7\n", "line 3: '| [skipped 4 lines]' is no line of a table"),
    (APS + "| TOTAL 9 100 7\n", "line 3: '| TOTAL 9 100 7' is not the sum of the lines above it"),
    (APS + " 1 <-> 0 4 100 3\n| TOTAL 8 100 6\n", "line 3: this pair of ranks is also in line 2"),
    ((APS + "| TOTAL 4 100 3\n") * 2, "2 tables of bytes; a run of 2 processes"),
    (intel().replace("~~~~ Process 3", "~~~~ Process 2"), "'003 --> 000 0.000000e+00 0' is no line of Process 2 of 5"),
    (intel()[:intel().index("~~~~ Process 4")], "4 tables of bytes; a run of 5 processes"),
    ("", "empty"),
    ("0 1 8\n1 0\n", "line 2: 2 numbers, but 3"),
    ("0 1 8\n1 0 x\n", "line 2: 'x' is not a whole number"),
    ("0 1 8\n1 0 -3\n", "line 2: '-3' is not a whole number"),
    ("0 1 8\n1 0 1.5\n", "line 2: '1.5' is not a whole number"),
    ("0 1 8\n1 0 nan\n", "line 2: 'nan' is not a whole number"),
    ("0 1 8\n1 2 4\n0 1 8\n9 1 2\n", "line 3: this pair of ranks is also in line 1"),
    ("ranks 2\n0 1 8\n1 2 8\n", "line 3: rank 2, but there are ranks 0 to 1"),
    ("0 1 8\nphase\n1 0 8\n", "line 2: 'phase' is not phase NAME"),
    ("phase x\nphase y\n1 0 8\n", "line 1: phase 'x' has no messages"),
    ("phase x\n1 0 8\nphase y\n", "line 3: phase 'y' has no messages"),
    ("phase x\n1 0 8\n0 1 8\n1 0 8\nphase y\n1 0 8\n", "line 4: this pair of ranks is also in line 2"),
    ("0 1 8\nranks 9\n", "line 2: 'ranks 9' belongs into the first line"),
    ("0 8 1\n8 0 1\n1 1 0\n", "can be read as dense or as sparse"),
    ("0 1\n1 0\n0 1\n", "not traffic"),
    ("src,dst,volume (KB)\n0,1,8\n", "line 1: columns 'src, dst, volume (KB)'; name them from, to, bytes"),
    ("0,1,2\n0,10,0\n10,0,5\n0,5,0\n", "line 1: '0,1,2' may be a head"),
    ("src,dst,bytes\n0,1,8\n1,0,\n", "line 3: 2 numbers, but 3 are needed"),
    ("a,b,8\nb,a,9\n", "looks like a CSV table"),
    ("0 1\n1\n", "line 2: 1 numbers, but 2 are needed"),
    (HEAD + "3 4 1\n1 2 8\n", "line 2: 3 rows and 4 columns"),
    (HEAD + "3 3 2\n1 2 8\n", "line 2: 2 entries are promised, but 1 lines follow"),
    (HEAD + "3 3 1\n1 2 -8\n", "line 3: '-8' is not a whole number"),
    (HEAD + "3 3 2\n1 2 8\n1 2 8\n", "line 4: this pair of ranks is also in line 3"),
    (HEAD + "3 3 1\n1 9 8\n", "line 3: '1 9 8' is outside of a matrix of 3 rows"),
    (HEAD + "3 3 1\n1 0 8\n", "line 3: '1 0 8' is outside of a matrix of 3 rows"),
    (HEAD.replace("general", "symmetric") + "3 3 1\n1 2 8\n", "line 3: '1 2 8' is outside of the lower half"),
    (HEAD + "999999999 999999999 1\n1 2 8\n", "P from 1 to"),
    ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "line 1: a matrix coordinate complex general"),
    ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "line 1: a matrix coordinate pattern general"),
    ("pencilmap traffic 2\nend 0\n", "line 1: 'pencilmap traffic 2' is not 'pencilmap traffic 1'"),
    ("pencilmap traffic 1\nranks 2\n0 0 0 0 1 8 1\n", "line 3: the file ends without a line 'end'"),
    ("pencilmap traffic 1\nranks 2\nphase 0 times 1 seconds 0\n0 -1 0 0 1 8 1\nend 2\n", "line 5: the end counts 2 pairs"),
    ("pencilmap traffic 1\nranks 2\nphase 0 times 1 seconds 0\n0 -1 0 0 2 8 1\nend 1\n", "line 4: '0 -1 0 0 2 8 1' names"),
    ("pencilmap traffic 1\nranks 2\nphase 0 times 1 seconds 0\n0 3 0 0 1 8 1\nend 1\n", "line 4: '0 3 0 0 1 8 1' names"),
    ("pencilmap traffic 1\nranks 2\nphase 1 times 1 seconds 0\nend 0\n", "line 3: number 1; they count"),
    ("pencilmap traffic 1\nranks 2\nsurprise\nend 0\n", "line 3: 'surprise' is no line of a traffic file"),
    ("pencilmap traffic 1\nranks 2\ncommunicator 0 size 3 first 0 stride 1\nend 0\n", "line 3: 3 members up to rank 2"),
    ("# POINT TO POINT\nE\t0\t1\t8 bytes\t1 msgs sent\t0\n", "the files of all ranks are found by their names"),
    ("3 2\n2\n1 3\n2\n", "looks like a METIS graph"),
    ("graph G {\n  a -- b;\n}\n", "looks like a DOT graph"),
    ("# nothing but comments\n", "line 1: '# nothing but comments' is not traffic"),
    ("some text\nof a user\n", "line 1: 'some text' is not traffic"),
]


@pytest.mark.parametrize("text, message", BAD)
def test_a_damaged_or_foreign_file_is_refused_in_a_sentence(text, message):
    with pytest.raises(PencilmapError) as raised:
        parse_traffic(Document(text.encode(), "file"))
    assert message in str(raised.value) and str(raised.value).startswith("file") and "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["ranks 4\nphase x, there\n0 1 8\n2 3 8\n\nphase y  # 2\n0 1 5\n",
                                  "phase x, there\nn,to,from,bytes\n1,1,0,8\n1,3,2,8\nphase y\n1,1,0,5\n",
                                  "ranks 4\nphase x, there\n0;1;8\n2;3;8\nphase y\n0;1;5\n"])
def test_a_line_begins_a_phase_and_phases_travel_one_after_the_other(text):
    found = parse_traffic(Document(text.encode(), "file"))
    assert [(phase.name, phase.bytes.sum()) for phase in found.phases] == [("x, there", 16), ("y", 5)]
    mapping = Mapping(Torus((4,)), ProcessGrid(4, 1), 1, np.arange(4), np.zeros(4, dtype=int))
    assert predict_program(mapping, found).phase_bytes == (8.0, 5.0)
    unnamed = parse_traffic(Document(b"0 1 8\nphase y\n0 1 5\n", "file"))
    assert [phase.name for phase in unnamed.phases] == ["", "y"]


@pytest.mark.parametrize("name, whole", [("trace", traced.text(random_traffic(np.random.default_rng(1)))), ("ipm", ipm()),
                                         ("intel", intel().rpartition("\n\nCommunication Activity")[0])])
def test_a_file_that_is_cut_anywhere_is_refused(name, whole):
    for end in range(0, len(whole) - 1, 7):
        with pytest.raises(PencilmapError):
            parse_traffic(Document(whole[:end].encode(), "file"), name)


def test_a_missing_rank_of_the_monitoring_is_named(tmp_path):
    path = monitoring(tmp_path)
    (tmp_path / "p.3.prof").unlink()
    with pytest.raises(TrafficError, match=r"p.3.prof is missing; the ranks are 0 to 4"):
        read_traffic(path)
    (tmp_path / "p.3.prof").write_text("# POINT TO POINT\nE\t2\t1\t8 bytes\t1 msgs sent\n")
    with pytest.raises(TrafficError, match=r"p.3.prof line 2: messages of rank 2 to rank 1, in the file of rank 3"):
        read_traffic(path)


def test_an_unknown_format_is_named_with_the_nearest():
    with pytest.raises(TrafficError, match="did you mean sparse"):
        parse_traffic(Document(b"0 1 8\n", "file"), "sparce")


# ---- the model ---------------------------------------------------------------------------------------------------------


def test_measured_collectives_replace_the_model_pair_by_pair():
    """Rows in one phase, columns in another: the pairs tell the phases apart, and all counts are kept."""
    random = np.random.default_rng(2)
    n, phases = 12, []
    rows, columns = ([(a, b) for a in range(n) for b in range(n) if a != b and same(a) == same(b)]
                     for same in (lambda rank: rank // 4, lambda rank: rank % 4))
    for pairs in (rows, columns):
        source, target = np.array(pairs).T
        phases.append(Phase(n, joined([pairs_of(source, target, 100, 1, STATED), pairs_of([0], [1], [5])])))
    source, target = np.array(rows + columns).T
    counts = random.integers(1, 10**6, (2, len(source)))
    found = Traffic(n, tuple(phases)).with_measured_collectives(pairs_of(source, target, *counts))
    for phase, pairs, part in zip(found.phases, (rows, columns), (slice(None, len(rows)), slice(len(rows), None))):
        inside = phase.pairs.of([MEASURED])
        assert set(zip(inside.source.tolist(), inside.target.tolist())) == set(pairs)
        order = np.lexsort((target[part], source[part]))
        assert (inside.bytes == counts[0][part][order]).all() and (inside.messages == counts[1][part][order]).all()
        assert len(phase.pairs.of([STATED, MODELLED])) == 0 and phase.pairs.of([POINT]).bytes.tolist() == [5]


def test_measured_collectives_keep_every_sum():
    random = np.random.default_rng(3)
    for _ in range(30):
        given = random_traffic(random)
        keys = random.choice(36, 15, replace=False)
        measured = pairs_of(keys // 6, keys % 6, random.integers(0, 1 << 40, 15), random.integers(1, 99, 15))
        found = given.with_measured_collectives(measured)
        inside = found.pairs.of(COLLECTIVE)
        assert (inside.bytes.sum(), inside.messages.sum()) == (measured.bytes.sum(), measured.messages.sum())
        assert inside.bytes.min(initial=0) >= 0 and inside.messages.min(initial=0) >= 0
        others = [traffic.pairs.of([POINT, ONE_SIDED]).bytes.sum() for traffic in (given, found)]
        assert others[0] == others[1]


HEAD = "pencilmap traffic 1\nranks 2\ncut {} of {}\nseconds {}\nprocessor_seconds 0.5\nranks_per_core 4\n"


def of_rank(folder, rank, lines, run=7, seconds=1.5):
    text = HEAD.format(rank, run, seconds) + f"outside 1 {rank}\nphase 0 times 1 seconds 1\n{lines}"
    (folder / f"t.rank-{rank}").write_text(text + f"end {len(re.findall('^[0-9]', lines, re.MULTILINE))}\n")


def test_the_files_of_the_ranks_of_a_program_that_ended_early_are_one_trace(tmp_path):
    both, pair = "communicator 0 size 2 first 0 stride 1\n", "communicator {} size 1 first {} stride 0\n"
    of_rank(tmp_path, 0, both + pair.format(1, 0) + "0 0 0 0 1 8 1\n0 0 0 0 1 2 1\n")
    of_rank(tmp_path, 1, pair.format(0, 1) + both.replace("or 0", "or 1") + "0 1 2 1 0 5 1\n0 -1 1 0 1 4 1\n", seconds=2)
    found = read_traffic(tmp_path / "t.rank-1")
    assert [list(row) for row in zip(*(column.tolist() for column in found.pairs.columns))] == [
        [-1, 1, 0, 1, 4, 1], [0, 0, 0, 1, 10, 2], [0, 2, 1, 0, 5, 1]]
    assert [c.members.tolist() for c in found.communicators] == [[0, 1], [0], [1]]
    assert (found.seconds, found.processor_seconds, found.ranks_per_core, found.outside) == (2, 0.5, 4, (2, 1))
    again = parse_traffic(Document(traced.text(found).encode(), "again"))
    assert traced.text(again) == traced.text(found) and again.shared_cores


@pytest.mark.parametrize("change, message", [
    (lambda folder: (folder / "t.rank-1").unlink(), "t.rank-1 is missing: rank 1 was ended before it could write"),
    (lambda folder: of_rank(folder, 1, "", run=8), "t.rank-1 is of another run than"),
    (lambda folder: (folder / "t.rank-0").rename(folder / "t.txt"), "t.txt has the messages of rank 0 alone"),
    (lambda folder: (folder / "t.rank-0").write_text(HEAD.format(0, 7, 1)), "the file ends without a line 'end'")])
def test_files_of_ranks_that_are_not_one_run_are_refused(tmp_path, change, message):
    for rank in range(2):
        of_rank(tmp_path, rank, "")
    change(tmp_path)
    with pytest.raises(TrafficError, match=message):
        read_traffic(next(path for path in (tmp_path / "t.txt", tmp_path / "t.rank-0") if path.exists()))
