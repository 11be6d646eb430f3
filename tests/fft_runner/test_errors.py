"""Bad input: one message with the given value and the allowed values, non-zero status, no hang."""

from dataclasses import replace

import pytest

from tests.fft_runner.tables import LINE_KINDS, TYPES

CUBE = ["--size", 8, 8, 8]
GRID = ["--grid", "2x2"]
PLAIN = [*CUBE, *GRID]

ARGUMENTS = [  # ranks, arguments, pattern of the message
    (4, [*PLAIN, "--teleport"], "unknown option 'teleport'; known: size, grid"),
    (4, [*PLAIN, "-x"], "unknown option 'x'"),
    (4, [*PLAIN, "--" + 5000 * "x"], "xxx'; known: size, grid"),
    (4, [*PLAIN, "stray"], "'stray' does not belong to any option"),
    (4, [*PLAIN, "--verify=yes"], "--verify takes no value"),
    (4, [*PLAIN, "--json"], "--json needs a value"),
    (4, GRID, "--size NX NY NZ is required"),
    (4, ["--size", 8, 8, *GRID], "--size needs 3 words"),
    (4, ["--size", 8, 8, "eight", *GRID], "'eight' is not an integer"),
    (4, ["--size", 8, 8, 0, *GRID], "'0' is not an integer of 1.."),
    (4, ["--size", 8, 8, 99999999999, *GRID], "is not an integer of 1..2147483647"),
    (4, [*CUBE, "--grid", "2*2"], "'2*2' is not a grid"),
    (4, [*CUBE, "--grid", "0x4"], "'0x4' is not a grid"),
    (4, [*CUBE, "--grid", "4"], "decomposition pencil has a grid of two numbers, RxC; 1 was given"),
    (4, [*PLAIN, "--decomposition", "slab"], "decomposition slab has a grid of one number, P; 2 were given"),
    (4, [*PLAIN, "--decomposition", "brock"], "unknown decomposition 'brock'; known: pencil, slab, brick"),
    (4, [*CUBE, "--decomposition", "brick:2x2"], "decomposition 'brick:2x2' is not understood; write brick:PxQxS"),
    (4, [*CUBE, "--decomposition", "brick:2x2x2"], "2x2x2 bricks need 8 processes, 4 were started; choose P*Q*S = 4"),
    (4, [*CUBE, "--decomposition", "brick", "--schedule", "two-way"], "decomposition brick cannot go two ways"),
    (4, ["--size", "8", "8", "1", "--grid", "2x2", "--schedule", "two-way"], "there is one plane along z, which cannot be"),
    (4, [*PLAIN, "--input-boxes", "/nowhere"], "--input-boxes: /nowhere cannot be opened"),
    (4, [*CUBE, "--grid", "2x3"], "grid 2x3 needs 6 processes, 4 were started; choose RxC with R*C = 4"),
    (2, ["--size", 16384, 16384, 16384, "--grid", "1x2"], "no memory for a buffer of 35184372088832 bytes"),
    (2, ["--size", 2000000000, 2000000000, 2, "--grid", "1x2"], "more than 2^53 elements"),
    (4, [*PLAIN, "--exchange", "teleport"], "unknown exchange 'teleport'; known: alltoallv"),
    (4, [*PLAIN, "--rigor", "hope"], "unknown rigor 'hope'; known: estimate, measure, patient"),
    (4, [*PLAIN, "--sync", "hope"], "unknown sync 'hope'; known: none, barrier, clock"),
    (4, [*PLAIN, "--direction", "up"], "unknown direction 'up'; known: forward, backward"),
    (4, [*PLAIN, "--reps", 0], "'0' is not an integer of 1.."),
    (4, [*PLAIN, "--warmup", -1], "'-1' is not an integer of 0.."),
    (4, [*PLAIN, "--label", "colour"], "'colour' is not key=value"),
    (4, [*PLAIN, "--json", "/nowhere/out.jsonl"], "--json: /nowhere/out.jsonl cannot be written: No such file"),
    (4, [*PLAIN, "--machine-torus", "2xbig"], "torus '2xbig' is not understood"),
    (4, [*PLAIN, "--machine-torus", "2x1", "--tasks-per-node", 1], "4 processes do not fit on torus 2x1 with 1 per node"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--launch-order", "xy"], "launch order 'xy' must have each letter of xyt once"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--coordinates", "dice"],
     "unknown coordinate source 'dice'; known: auto, environment, blue-gene, hostname"),
    (4, [*PLAIN, "--machine-torus", "2x2x2", "--coordinates", "blue-gene"], "is not a Blue Gene name with 3 coordinates"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--coordinates", "table:/dev/zero"], "it is a pipe or a device"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--mapfile", "/dev/zero"], "MapfileError: /dev/zero cannot be opened"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--coordinates", "table:/nowhere"], "/nowhere cannot be opened: No such file"),
    (4, [*PLAIN, "--machine-torus", "2x2", "--coordinates", "environment"], "PENCILMAP_HOST is not set on process 0"),
    (4, [*PLAIN, "--machine-torus", "2x2:axes=xx"], "torus '2x2:axes=xx' is not understood"),
    (4, [*PLAIN, "--mapfile", "some.map"], "--mapfile needs --machine-torus"),
    *((1, [*CUBE, "--grid", "1x1", *words.split()], part) for words, part in [
        ("--type fft", f"unknown type 'fft'; known: {', '.join(TYPES)}, and a kind for each of x, y and z"),
        ("--precision half", "unknown precision 'half'; known: double, single"),
        ("--layout tiled", "unknown layout 'tiled'; known: natural, stride1"),
        ("--type c2r --direction forward", "c2r is backward; use r2c for forward"),
        ("--type c2r --direction pair", "use r2c for forward and for pairs"),
        ("--type dct --kinds 1,2", "kinds '1,2' are not understood"),
        ("--type dct --kinds 0,1,2", "kinds '0,1,2' are not understood"),
        ("--type chebyshev --kinds 2,2,2", "type chebyshev has no kinds"),
        ("--type dct1,r2c,c2c", "r2c along y, but a forward transform of order zyx begins along z"),
        ("--type r2c,c2c,r2c", "has r2c along z and x, but r2c takes real numbers"),
        ("--type dct1,c2c", "give a kind for each of x, y and z"), ("--type none,none,none,none", "is not understood"),
        ("--type dct5,c2c,r2c", f"along an axis 'dct5'; known: {', '.join(LINE_KINDS)}"),
        ("--type none,dct1,c2c --skip x", "a kind for each axis, such as dct1 or none; omit skip"),
        ("--type none,dct1,c2c --kinds 1,1,1", "a kind for each axis, such as dct1 or none; omit kinds"),
        ("--type dst --kinds 1,2,5", "kinds '1,2,5' are not understood"),
        ("--skip w", "skip 'w' is not understood"), ("--type r2c --skip z", "so z cannot be skipped"),
        ("--type dct --kinds 1,1,1 --size 8 1 8", "ny is 1; a cosine transform of kind I needs"),
        ("--fields 0", "'0' is not an integer of 1.."), ("--halo 0", "--halo: '0' is not an integer of 1.."),
        ("--threads all", "--threads: 'all' is not an integer of 1..2147483647"),
        ("--padded 12 12", "--padded needs 3 words: MX MY MZ"), ("--padded 4 12 12", "give 0 or at least nx, which is 8"),
        ("--auto-budget soon", "is not a number of seconds"), ("--exchange pipelined", "it is a schedule now"),
        *((f"--time-limit {limit}", f"--time-limit: '{limit}' is not a number of seconds from 1")
          for limit in ("0", "-1", "nan", "soon"))]),
    *((4, [*PLAIN, *words.split()], part) for words, part in [
        ("--schedule overlap:9", "too short for 9 chunks; the most are x: 4"),
        ("--schedule overlap:2:q", "after overlap comes a number of chunks"),
        ("--schedule sideways", "known: sequence"),
        ("--schedule two-way --exchange node", "exchange node cannot run beside other work"),
        ("--schedule two-way --exchange put", "exchange put cannot run beside other work"),
        ("--size 8 9 8 --exchange alltoall", "have 80 and 64 elements here; use exchange padded or alltoallv"),
        ("--size 16 16 4 --halo 5", "a halo of 5 planes below along z, where the array has 4")]),
    *((ranks, ["--decomposition", *words.split()], part) for ranks, words, part in [
        (3, "line --size 100 --algorithm binary2", "100 points are not a multiple of 3 ranks; take 102 points"),
        (1, "line --size 64 64 64", "--size: a line has one extent, N; give --size 64"),
        (3, "line --size 64 --grid 1x3", "--grid: decomposition line has a grid of one number"),
        (3, "line --size 64 --grid 4", "--grid 4: a line has all 3 ranks"),
        (1, "line --size 64 --exchange p2p", "--exchange is not for decomposition line"),
        (1, "line --size 64 --halo 1", "--halo is not for decomposition line"),
        (3, "line --size 64 --algorithm fast", "unknown algorithm 'fast'; known: transpose, binary2, binary4, dft"),
        (1, "line --size 64 --order any", "unknown order 'any'; known: natural, transposed, transposed-both"),
        (1, "line --size 64 --direction pair", "--direction pair is not for decomposition line"),
        (3, "brick:1x3x1 --size 8 7 6 --algorithm binary2", "along y: a binary exchange needs points"),
        (3, "brick:2x2x1 --size 8 7 6 --algorithm dft", "bricks 2x2x1 on 3 ranks"),
        (3, "brick --size 8 7 6 --algorithm dft", "write brick:PxQxS"),
        (3, "brick:1x3x1 --size 8 7 6 --algorithm dft --grid 1x2", "--grid: bricks with --algorithm"),
        (3, "pencil --size 8 7 6 --grid 3x1 --algorithm dft", "--algorithm is for --decomposition line or brick:PxQxS"),
        (3, "pencil --size 8 --grid 3x1", "--size needs 3 words: NX NY NZ")]),
]


@pytest.mark.parametrize("ranks, arguments, part", ARGUMENTS, ids=[part for _, _, part in ARGUMENTS])
def test_arguments_are_refused(mpirun, one_message, ranks, arguments, part):
    assert part in one_message(mpirun(ranks, *arguments))


@pytest.mark.parametrize("more", ["--help", "--reps 3", "--verify --per-rank", "--mapfile /nowhere"])
def test_options_of_one_rank_alone_are_refused(mpirun, one_message, programs, tmp_path, more):
    script = tmp_path / "start.sh"
    script.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ] && set -- "$@" {more}\n'
                      f'exec {programs}/fft_runner "$@"\n')
    script.chmod(0o755)
    done = replace(mpirun, programs=tmp_path)(2, *CUBE, "--grid", "2x1", program="start.sh")
    message = one_message(done)
    assert f"the options differ between ranks: word 7 is '{more.split()[0]}' on rank 1" in message


ALL = ["0 0 0", "1 0 0", "0 1 0", "1 1 0"]  # the four nodes of 2x2

MAPFILES = [  # lines, pattern of the message
    ([*ALL, "0 0 0"], "demo.map line 5: places one rank too many; there are 4 processes"),
    (ALL[:3], "demo.map places 3 ranks; there are 4 processes"),
    ([], "demo.map places 0 ranks"),
    ([*ALL[:2], "4 0 0", ALL[3]], "demo.map line 3: node (4, 0) is outside torus 2x2; x must be 0..1"),
    ([*ALL[:2], "0 -1 0", ALL[3]], "demo.map line 3: node (0, -1) is outside torus 2x2; y must be 0..1"),
    ([*ALL[:2], "1 0 0", ALL[3]], "demo.map line 2 and line 3 both give node (1, 0) slot 0"),
    (["# a comment", "", *ALL[:3], "0 0 0"], "demo.map line 3 and line 6 both give node (0, 0) slot 0"),
    ([*ALL[:3], "1 1 1"], "demo.map line 4: slot 1 of node (1, 1); with 1 task per node t must be 0..0"),
    ([*ALL[:3], "1 1 -1"], "demo.map line 4: slot -1 of node (1, 1); with 1 task per node t must be 0..0"),
    ([*ALL[:3], "1 1"], "demo.map line 4: has 2 integers; a torus of 2 dimensions needs 3"),
    ([*ALL[:3], "1 1 0 0"], "demo.map line 4: has 4 integers"),
    ([*ALL[:3], "1 one 0"], "demo.map line 4: '1 one 0' contains something that is not an integer"),
    ([*ALL[:3], "1 1.0 0"], "is not an integer"),
    ([*ALL[:3], "1 99999999999 0"], "is not an integer"),
    (["1" * 100000], "demo.map line 1: is longer than 511 characters"),
    (["0 0 0\0"], "demo.map line 1: a byte of value 0 is not text"),
]


@pytest.mark.parametrize("lines, part", MAPFILES, ids=[part for _, part in MAPFILES])
def test_mapfiles_are_refused(mpirun, one_message, tmp_path, lines, part):
    (tmp_path / "demo.map").write_text("".join(f"{line}\n" for line in lines))
    message = one_message(mpirun(4, *PLAIN, "--machine-torus", "2x2", "--mapfile", "demo.map", cwd=tmp_path))
    assert "MapfileError: " in message and part in message


@pytest.mark.parametrize("path, part", [("missing.map", "No such file"), (".", "Is a directory"),
                                        ("/bin/true", "is not text")])
def test_what_is_no_mapfile_is_refused(mpirun, one_message, tmp_path, path, part):
    message = one_message(mpirun(4, *PLAIN, "--machine-torus", "2x2", "--mapfile", path, cwd=tmp_path))
    assert "MapfileError" in message and part in message


def test_a_place_without_a_process_is_refused(mpirun, one_message, tmp_path):
    (tmp_path / "demo.map").write_text("0 0 0\n1 0 0\n0 1 0\n2 1 0\n")
    message = one_message(mpirun(4, *PLAIN, "--machine-torus", "3x2", "--mapfile", tmp_path / "demo.map"))
    assert "line 3: no process runs at node (0, 1) slot 0" in message or "line 4: no process" in message


def test_a_full_disk_is_no_success(mpirun, one_message):
    assert "not written completely" in one_message(mpirun(1, *CUBE, "--grid", "1x1", "--reps", 1, "--json", "/dev/full"))


def test_a_record_for_which_there_is_no_room_leaves_no_part(mpirun, one_message, tmp_path):
    """A limit on the size of files simulates a disk that is full in the middle of a line."""
    path, size = tmp_path / "r.jsonl", 200 * 2**20 - 100
    with open(path, "wb") as file:
        file.truncate(size)
    start = replace(mpirun, mpirun=("bash", "-c", f'trap "" XFSZ; ulimit -f {200 * 2**10}; shift 2; exec "$@"', "bash"))
    message = one_message(start(1, *CUBE, "--grid", "1x1", "--reps", 1, "--json", path))
    assert "--json: the record was not written: no space" in message
    assert path.stat().st_size == size
