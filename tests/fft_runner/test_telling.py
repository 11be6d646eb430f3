"""The report of a run: waiting, times of every rank, traffic, the byte matrix, topology, warnings; and transpose_bench."""

import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from pencilmap.mapper.studies.transposes import ratios, read_transposes
from pencilmap.model.algorithms import algorithm_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.command_line.cli import pencilmap

ROOT = Path(__file__).resolve().parents[2]
UNEVEN = ["--size", 9, 8, 7, "--grid", "2x2", "--rigor", "estimate", "--reps", 3]
BYTES = 16


def blocks(n, parts):
    return [n // parts + (j < n % parts) for j in range(parts)]


def expected_matrix(nx, ny, nz, R, C, which):
    """Return the bytes from rank to rank, from the layout in pencilfft.h alone."""
    P = R * C
    matrix = [[0] * P for _ in range(P)]
    for i in range(P):
        q, p = divmod(i, R)
        for j in range(P):
            q2, p2 = divmod(j, R)
            if i != j and q == q2 and "row" in which:
                matrix[i][j] += BYTES * blocks(nx, C)[q] * blocks(ny, R)[p] * blocks(nz, R)[p2]
            if i != j and p == p2 and "column" in which:
                matrix[i][j] += BYTES * blocks(nx, C)[q] * blocks(ny, C)[q2] * blocks(nz, R)[p]
    return matrix


# ---- the record ------------------------------------------------------------------------------------------------------


def test_waiting_is_a_phase_of_its_own_with_barrier(run):
    record = run(4, *UNEVEN, "--barrier")
    phases = record["phases"]
    assert record["sync"] == "barrier" and "ranks_s" not in phases["total"]
    assert list(phases)[-3:] == ["total", "wait_row", "wait_column"]
    parts = [name for name in phases if name not in ("total", "wait_row", "wait_column")]
    for rep in range(3):
        assert phases["total"]["mean_s"][rep] == pytest.approx(sum(phases[p]["mean_s"][rep] for p in parts), rel=1e-6)
    assert max(phases["wait_row"]["max_s"]) > 0


def test_times_of_every_rank_give_the_summary_and_without_sync_nothing_waits(run):
    phases = run(4, *UNEVEN, "--per-rank")["phases"]
    assert "wait_row" not in phases
    for phase in phases.values():
        ranks = phase["ranks_s"]
        assert len(ranks) == 4 and {len(times) for times in ranks} == {3}
        for rep in range(3):
            of_all = [times[rep] for times in ranks]
            assert (max(of_all), min(of_all)) == (phase["max_s"][rep], phase["min_s"][rep])


@pytest.mark.parametrize("exchange", ["alltoallv", "alltoallw", "p2p", "persistent"])
def test_traffic_of_each_rank_follows_from_the_layout(run, exchange):
    for stage in run(4, *UNEVEN, "--exchange", exchange)["stages"]:
        assert stage["bytes"] == [sum(row) for row in expected_matrix(9, 8, 7, 2, 2, stage["name"])]
        assert stage["messages"] == [1] * 4


@pytest.mark.parametrize("exchange", ["bruck2", "bruck4"])
def test_blocks_that_are_passed_on_are_traffic_where_they_pass(run, exchange):
    """Compare with the model, with uneven blocks in a group of five."""
    grid = ProcessGrid(1, 5)
    mapping = Mapping(Torus((5,)), grid, 1, np.arange(5), np.zeros(5, int))
    [_, stage] = run(5, "--size", 9, 8, 7, "--grid", "1x5", "--reps", 1, "--exchange", exchange)["stages"]
    sent, messages = np.zeros(5, int), np.zeros(5, int)
    for each in algorithm_named(exchange).rounds(exchanges(grid, Transform(9, 8, 7))[1], mapping):
        source = each.members[:, 0]
        np.add.at(sent, source, each.group_weight * each.unit_bytes)
        np.add.at(messages, source, 1)
    assert (stage["bytes"], stage["messages"]) == (sent.tolist(), messages.tolist())


def test_padding_is_traffic(run):
    row = run(4, *UNEVEN, "--exchange", "padded")["stages"][0]
    assert row["bytes"] == [BYTES * 5 * 4 * 4] * 2 + [BYTES * 4 * 4 * 4] * 2


def test_hosts_and_bindings_are_recorded(run):
    record = run(2, "--size", 8, 8, 8, "--grid", "1x2", "--reps", 1)
    [host] = record["hosts"]
    assert host["tasks"] == 2 and host["processors"] == os.cpu_count() and host["memory_bytes"] > 0
    assert all(rank["cores"] and rank["numa_nodes"] for rank in record["placement"]["ranks"])


def test_more_tasks_than_processors_are_warned_of_once(mpirun, records, tmp_path):
    ranks = os.cpu_count() + 1
    done = mpirun(ranks, "--size", ranks, ranks, 8, "--grid", f"1x{ranks}", "--reps", 1, "--json", tmp_path / "r.jsonl")
    assert done.returncode == 0, done.stderr
    [warning] = records(tmp_path / "r.jsonl")[0]["warnings"]
    assert f"runs {ranks} tasks on {os.cpu_count()} processors" in warning
    assert done.stderr.count("warning:") == 1 and warning in done.stderr


# ---- the byte matrix -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", ["alltoallv", "node"])
def test_byte_matrices_follow_from_the_layout_also_by_nodes_of_one_rank(mpirun, tmp_path, exchange):
    start = replace(mpirun, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=1", *mpirun.mpirun))
    files = {"both": ["row", "column"], "row": ["row"], "column": ["column"]}
    wanted = [f"--byte-matrix={'' if name == 'both' else f'{name}='}{tmp_path / name}" for name in files]
    done = start(4, *UNEVEN, "--exchange", exchange, *wanted)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == sorted(files)
    for name, which in files.items():
        assert [[int(word) for word in line.split(" ")] for line in (tmp_path / name).read_text().splitlines()] == \
            expected_matrix(9, 8, 7, 2, 2, which)


def test_the_byte_matrix_of_a_remap_by_nodes_of_one_rank_is_that_of_its_messages(mpirun, tmp_path):
    start = replace(mpirun, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=1", *mpirun.mpirun))
    for exchange in ("alltoallv", "node"):
        done = start(4, "--size", 9, 8, 7, "--grid", "2x2", "--decomposition", "brick:1x2x2", "--reps", 1, "--exchange",
                     exchange, "--byte-matrix", f"remap_in={tmp_path / exchange}")
        assert done.returncode == 0, done.stderr
    matrix = (tmp_path / "alltoallv").read_text()
    assert (tmp_path / "node").read_text() == matrix and len(set(matrix.split())) > 2


def test_byte_matrix_as_scotch_graph(mpirun, tmp_path):
    path = tmp_path / "m.grf"
    done = mpirun(4, *UNEVEN, "--byte-matrix", path)
    assert done.returncode == 0, done.stderr
    version, counts, flags, *vertices = path.read_text().splitlines()
    matrix = expected_matrix(9, 8, 7, 2, 2, ["row", "column"])
    assert (version, counts, flags) == ("0", "4 8", "0 010")
    for i, line in enumerate(vertices):
        degree, *arcs = map(int, line.split())
        assert dict(zip(arcs[1::2], arcs[::2], strict=True)) == \
            {j: matrix[i][j] + matrix[j][i] for j in range(4) if j != i and matrix[i][j]}
        assert degree == 2


@pytest.mark.parametrize("path", ["/nowhere/matrix", "/"])
def test_byte_matrix_that_cannot_be_written_is_no_success(mpirun, one_message, path):
    assert f"--byte-matrix: {path}" in one_message(mpirun(4, *UNEVEN, "--byte-matrix", path))


# ---- transpose_bench ---------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(mpirun, tmp_path):
    schema = json.loads((ROOT / "fft_runner" / "transpose_bench.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    def run(ranks, *arguments):
        path = tmp_path / "bench.jsonl"
        done = mpirun(ranks, "--reps", 2, *arguments, "--json", path, program="transpose_bench")
        assert done.returncode == 0, done.stdout + done.stderr
        cases = [json.loads(line) for line in path.read_text().splitlines()]
        for case in cases:
            jsonschema.validate(case, schema)
        return cases, done.stdout, path

    return run


def test_bench_runs_every_exchange_size_and_group(bench):
    cases, table, path = bench(4, "--bytes", "0,3,20,16,1600", "--ranks", "2,3,4")
    names = list(dict.fromkeys(case["exchange"] for case in cases))
    assert {"alltoallv", "alltoall", "node", "persistent"} <= set(names) and "auto" not in names
    assert len(cases) == 3 * 5 * len(names) and {"mpi_alltoall", "mpi_alltoallv"} < set(names)
    library = [case for case in cases if not case["exchange"].startswith("mpi_")]
    refused = {case["message_bytes"] for case in library if case["refused"] and "no array has" in case["refused"]}
    assert refused == {0, 3} and not any(case["refused"] for case in cases if case not in library)
    for case in cases:
        assert case["groups"] == 4 // case["group"] and case["ranks"] == 4
        if case["exchange"] in ("alltoallv", "alltoall", "p2p", "padded", "mpi_alltoall") and not case["refused"]:
            assert case["bytes_sent"] == case["message_bytes"] * (case["group"] - 1)
            assert case["messages_sent"] == case["group"] - 1
        if case["refused"] is None:
            assert len(case["total_times"]["max_s"]) == 2
            low, mean, high, away = (case["total_times"][f"{name}_s"] for name in ("min", "mean", "max", "deviation"))
            assert all(0 <= d <= (c - a) / 2 + 1e-12 and a - 1e-12 <= b <= c + 1e-12
                       for a, b, c, d in zip(low, mean, high, away, strict=True))
            assert all(t >= e for t, e in zip(case["total_times"]["max_s"], case["exchange_times"]["max_s"], strict=True))
    assert "t_min[us]" in table and table.count("# ") == 3
    read = read_transposes(path)
    assert len(read) == sum(case["refused"] is None for case in cases) and {c.message_bytes for c in read} >= {0, 3}
    assert ratios(read, read)[0][2] == 1.0


@pytest.mark.parametrize("arguments, part", [
    (["--ranks", "3"], "need more processes than the 2"), (["--bytes", "-1"], "is not an integer of 0.."),
    (["--exchange", "teleport"], "unknown exchange 'teleport'; known: alltoallv"),
    (["--bytes", "many"], "is not an integer"), (["--exchange", "auto"], "chooses among the others"),
    (["--json", "/nowhere/b"], "cannot be written"), (["stray"], "does not belong to any option"),
    (["--fast"], "unknown option")])
def test_bench_refuses_with_one_message(mpirun, arguments, part):
    done = mpirun(2, *arguments, program="transpose_bench")
    lines = [line for line in done.stderr.splitlines() if line.startswith("transpose_bench:")]
    assert done.returncode != 0 and len(lines) == 1 and part in lines[0]


def test_bench_is_drawn_alike_each_time(bench, tmp_path):
    _, _, samples = bench(2, "--bytes", "64,1024", "--exchange", "alltoallv,p2p")
    pictures = [tmp_path / name for name in ("a.svg", "b.svg")]
    for picture in pictures:
        pencilmap.main(["study", "transposes", str(samples), "--plot", str(picture)], standalone_mode=False)
    assert pictures[0].read_bytes() == pictures[1].read_bytes() and b"<svg" in pictures[0].read_bytes()
