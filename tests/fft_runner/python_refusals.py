"""Started by test_python_binding.py under mpirun: failing calls of the functions of C, by ctypes.

The binding's own checks do not see them. All must give their status and the same message on all ranks, and the plan works
afterwards.
"""

import ctypes
import os
from ctypes import byref, c_char_p, c_int, c_int64, c_void_p
from functools import partial
from itertools import product

import numpy as np
from mpi4py import MPI

from pencilfft import header, library
from pencilfft.library import _Descriptor

comm = MPI.COMM_WORLD
size, LAST = comm.size, comm.rank == comm.size - 1
FORWARD, BACKWARD, INPUT, OUTPUT = 1, 2, -2, -1
STATUSES = ("OK", "BAD_CALL", "BAD_SIZE", "BAD_GRID", "UNKNOWN_NAME", "MISMATCH", "TOO_LARGE", "NO_MEMORY", "FFTW_ERROR",
            "MPI_ERROR", "NOT_POSSIBLE")
BOTH = (2, size // 2) if size % 2 == 0 and size > 2 else (1, size)
BUFFERS = [np.zeros(1 << 16, complex) for _ in range(4)]
b = [array.ctypes.data + -array.ctypes.data % 64 for array in BUFFERS]
ROOM = (c_int64 * 4096)()
HUGE, LEAST = 2**63 - 1, -2**63


def f(name):
    """Return a function, which takes ROOM for any pointer."""
    function = library._function(name)
    types = [None, *header.FUNCTIONS[name][1][1:]]
    return lambda *given: function(*(ctypes.cast(one, of) if one is ROOM and of else one
                                     for one, of in zip(given, types, strict=False)))


def said():
    return library._text_of(f("error_message")())


def check(status, words, got, *case):
    message = said()
    assert STATUSES[got] == status and words in message, (case, STATUSES[got], message)
    assert status == "OK" or (message and len(set(comm.allgather(message))) == 1), (case, message)


# ---- plans that cannot be made ---------------------------------------------------------------------------------------


def plan(**members):
    """Return the status, and the plan with BOTH numbers of ranks unless others are given."""
    desc, handle = _Descriptor(), c_void_p(1)
    for name, value in {"nx": 12, "ny": 12, "nz": 12, "R": BOTH[0], "C": BOTH[1], "rigor": "estimate", **members}.items():
        kinds = (header.STRUCTURES["box"], "box"), (float, "real"), (int, "integer"), (object, "text")
        kind = next(kind for of, kind in kinds if isinstance(value, of))
        desc.set(name, kind, value.encode() if isinstance(value, str) else value)
    return f("plan_create_fortran")(desc.at, comm.py2f(), byref(handle)), handle


def line(n=24, lines=2, algorithm=b"transpose", order=b"natural", precision=b"double", sync=None):
    handle = c_void_p(1)
    return f("line_create_fortran")(n, lines, algorithm, order, precision, b"estimate", sync, comm.py2f(),
                                    byref(handle)), handle


def brick_lines(n=(8, 8, 8), bricks=(1, 1, size), fields=1, algorithm=b"transpose", order=b"natural", precision=b"double"):
    handle = c_void_p(1)
    return f("brick_lines_create_fortran")((c_int64 * 3)(*n), (c_int * 3)(*bricks), fields, algorithm, order, precision,
                                           b"estimate", None, comm.py2f(), byref(handle)), handle


def box(offset, extent):
    return header.STRUCTURES["box"]((c_int64 * 3)(*offset), (c_int64 * 3)(*extent))


def slab(first, n):
    return box((2 * comm.rank, 0, 0), (n if comm.rank else first, 12, 12))


#: Another value of a member, on the last rank alone.
DIFFERENT = {"nx": 13, "ny": 13, "nz": LEAST, "R": BOTH[0] + 1, "C": BOTH[1] + 1, "directions": 1, "type": "r2c",
             "kinds": "", "skip": "", "precision": "single", "layout": "stride1", "exchange": "p2p", "rigor": "measure",
             "sync": "barrier", "schedule": "", "torus": "", "auto_budget_s": 2.0, "fields": 2, "threads": 2,
             "destroy_input": 1, "nonblocking": 1}
OUTSIDE = box((HUGE, -1, 0), (HUGE, LEAST, 1))
PLANS = [  # status, words, members
    ("BAD_SIZE", "more than 2^53 elements", {"nx": HUGE}),
    ("BAD_SIZE", "more than 2^53 elements", {"nx": HUGE, "padded_nz": HUGE}),
    ("BAD_SIZE", "4096 4096 4096 with 16777216 fields: more than 2^53 elements",  # 2^64 bytes in all fields
     {"nx": 2**12, "ny": 2**12, "nz": 2**12, "fields": 2**24}),
    ("BAD_SIZE", "with 257 fields: more than 2^53 elements", {"nx": 2**15, "ny": 2**15, "nz": 2**15, "fields": 257}),
    ("BAD_GRID", "at least 1", {"R": -BOTH[0]}), ("BAD_GRID", "at least 1", {"C": -1}),
    ("BAD_GRID", "choose RxC with R*C = ", {"R": BOTH[0] + 1}), ("BAD_GRID", "", {"C": 2**31 - 1}),
    ("BAD_GRID", "slab has a grid of one number P", {"decomposition": "slab", "R": 2, "C": size + 1}),
    ("BAD_GRID", f"needs {size + 1} processes, {size} were started; choose P = {size}",
     {"decomposition": "slab", "R": 1, "C": size + 1}),
    ("BAD_GRID", "P must be at least 1", {"decomposition": "slab", "R": 1, "C": -1}),
    *(("BAD_CALL", "directions", {"directions": value}) for value in (0, 7)),
    *(("UNKNOWN_NAME", "", {name: ""}) for name in ("type", "precision", "layout", "sync", "exchange", "rigor")),
    ("BAD_CALL", "", {"kinds": ""}), *(("UNKNOWN_NAME", "", {"skip": text}) for text in ("xx", "xyzx", "X")),
    ("UNKNOWN_NAME", "unknown precision 'half'; known: double, single", {"exchange_precision": "half"}),
    ("UNKNOWN_NAME", "unknown exchange 'wish'; known: alltoallv", {"exchange": "wish"}),
    ("UNKNOWN_NAME", "known: estimate, measure, patient", {"rigor": None}),
    ("UNKNOWN_NAME", "unknown sync 'wish'", {"sync": "wish" if LAST else "none"}),
    ("UNKNOWN_NAME", "", {"schedule": "overlap:-1"}), ("UNKNOWN_NAME", "opposite, auto", {"schedule": "teleport"}),
    *(("BAD_CALL", words, {"torus": torus, "node": node}) for torus, node, words in (
        ("-1", None, ""), ("8x", "1 2", "torus '8x' is not understood"), ("8x8", None, "node is not given"),
        ("8x8", "1 2 3", "write 2 numbers"), ("8x8", "1,2", "write 2 numbers"), ("8x8", "-1 0", "write 2 numbers"),
        ("8x8", "7 8", "its number 2 must be 0..7"))),
    *(("BAD_CALL", "", {"auto_budget_s": value}) for value in (-1.0, float("nan"), float("inf"), -float("inf"))),
    ("BAD_SIZE", "", {"fields": 0}), ("BAD_SIZE", "", {"fields": -2**31}), ("BAD_CALL", "", {"threads": 2**31 - 1}),
    ("BAD_CALL", "threads is -2; give 1 or more, or PENCILFFT_OMP_THREADS (-1)", {"threads": -2}),
    ("BAD_CALL", "destroy_input is 2; give 1 where the input may be overwritten, else 0", {"destroy_input": 2}),
    ("BAD_CALL", "", {"nonblocking": 2}), *(("BAD_SIZE", "", {name: OUTSIDE}) for name in ("input_box", "output_box")),
    ("NOT_POSSIBLE", "exchange_precision double is more than precision single has; give single",
     {"precision": "single", "exchange_precision": "double"}),
    *(("BAD_SIZE", "every extent must be at least 1", {axis: n, "decomposition": decomposition, **boxes})
      for axis, n, decomposition, boxes in product(("nx", "ny", "nz"), (0, -1, LEAST), ("pencil", "brick"), (
          {}, {"input_box": box((0, 0, 0), (1, 1, 1)), "output_box": box((0, 0, 0), (1, 1, 1))})))]
if size > 1:
    PLANS += [("BAD_SIZE", words, {"nx": 2 * size, "output_box": mine}) for words, mine in (
        ("the output boxes of ranks 0 and 1 overlap in element 2 0 0", slab(3, 2)),
        ("elements of the array; together they must hold each element once", slab(1, 2)),
        ("the output box of rank 0 has -2 indices of x from 0 on", slab(-2, 2)))]
    PLANS += [("MISMATCH", "output_box is given on", {"nx": 2 * size, **({"output_box": slab(2, 2)} if LAST else {})}),
              ("MISMATCH", "", {"torus": "8x8" if LAST else "8x4", "node": "0 0"}),
              ("NOT_POSSIBLE", "are not remapped to boxes", {"nx": 2 * size, "output_box": slab(2, 2),
                                                             "schedule": "two-way"})]
    PLANS += [("MISMATCH", f"the descriptors differ between ranks: {name} is ", {name: value} if LAST else {})
              for name, value in DIFFERENT.items()]
HALOS = [  # array, low and high of a spectrum in two parts
    ("BAD_SIZE", "13 planes above along y, where the array has 12; give 0 to 12", INPUT, (0, 0, 0), (0, 13, 0)),
    ("BAD_SIZE", "-1 planes below along z", INPUT, (0, 0, -1), (0, 0, 0)),
    ("BAD_CALL", "no array 7", 7, (1, 1, 1), (1, 1, 1)),
    ("BAD_CALL", "null widths", INPUT, None if LAST else (1, 1, 1), (1, 1, 1)),
    ("NOT_POSSIBLE", "7 of 12 modes", INPUT if LAST and size > 1 else 0, (0, 0, 0), (1, 1, 1)),
    ("NOT_POSSIBLE", "has 2 parts", OUTPUT, (0, 0, 0), (0, 0, 0))]
KNOWN = "known: transpose, binary2, binary4, dft"
LINES = [("BAD_SIZE", "", {"n": 0}), ("BAD_SIZE", "", {"lines": 0}), ("BAD_SIZE", "", {"lines": 1 << 52}),
         ("UNKNOWN_NAME", KNOWN, {"algorithm": b"fastest"}), ("UNKNOWN_NAME", "", {"order": b"any"}),
         *([("MISMATCH", ": n is ", {"n": 24 + comm.rank})] if size > 1 else [])]
BRICKS = [*(("BAD_SIZE", "; each is 1 or more", {"n": tuple(8 * (i != axis) for i in range(3))}) for axis in range(3)),
          ("BAD_SIZE", "", {"n": (8, 1 << 52, 8)}), ("BAD_SIZE", "", {"fields": 0}),
          ("UNKNOWN_NAME", KNOWN, {"algorithm": b"fastest"}), ("UNKNOWN_NAME", "", {"precision": b"half"}),
          *(("BAD_GRID", words, {"bricks": bricks}) for words, bricks in (
              ("", (1, 1, size + 1)), ("bricks 0x0x0 on", (0, 0, 0)), ("", (size, -1, -1)), ("", (-1, -1, size)))),
          *([("MISMATCH", "bricks of lines differ between ranks: ny is 8 on rank 0 and", {"n": (8, 8 + comm.rank, 8)})]
            if size > 1 else [])]


def nothing_is_made():
    for make, rows in ((plan, PLANS), (line, LINES), (brick_lines, BRICKS)):
        for status, words, members in rows:
            got, handle = make(**members)
            assert not handle, members
            check(status, words, got, members)
    _, whole = plan(type="r2c", schedule="two-way")
    for status, words, array, low, high in HALOS:
        handle = c_void_p(1)
        low = low and (c_int64 * 3)(*low)
        check(status, words, f("halo_create")(whole, array, low, (c_int64 * 3)(*high), byref(handle)))
        assert not handle
    check("OK", "", f("plan_destroy")(whole))
    os.environ["PENCILFFT_CHECK_CALLS"] = "abc"
    check("BAD_CALL", "PENCILFFT_CHECK_CALLS is 'abc'; give 0, 1, or the seconds", plan()[0])
    del os.environ["PENCILFFT_CHECK_CALLS"]


# ---- useless arguments -----------------------------------------------------------------------------------------------

#: For each letter of a function's arguments, a right value and useless ones; b are aligned buffers, h any, o may be null.
VALUES = {"a": (INPUT, (-9, 9)), "e": (0, (-9, 99)), "d": (FORWARD, (0, 3)), "r": (0, (-1, size)), "x": (0, (-1, 3)),
          "i": (0, (-1, 10**6)), "n": (0, (-1, 3)), "p": (ROOM, (None,)), "o": (ROOM, ())}
FUNCTIONS = {  # behind the handle
    "plan": {"parts": "ap", "part_mine": "aip", "part_of": "arip", "line_of": "xp", "waves": "xip", "format_of": "ap",
             "box_of": "arp", "box_mine": "ap", "walk_begin": "ap", "traffic": "edoo", "scale": "p", "alloc_bytes": "p",
             "alloc_elements": "p", "phase_seconds": "p", "phases": "p", "exchanges": "p", "exchange_error": "p",
             "set_norm": "dn", "execute": "dbb", "transpose": "edbb", "execute_pair": "bbbb", "threads": "p"},
    "halo": {"halo_part": "p", "halo_traffic": "doo", "halo_exchange": "oh", "halo_accumulate": "ho"},
    "line": {"line_points": "arp", "line_indices": "arp", "line_index": "arip", "line_elements": "p",
             "line_traffic": "edoo", "line_phase_seconds": "p", "line_execute": "dbb"},
    "brick_lines": {"brick_lines_extent": "arp", "brick_lines_indices": "arxp", "brick_lines_index": "arxip",
                    "brick_lines_elements": "p", "brick_lines_traffic": "edoo", "brick_lines_phase_seconds": "p",
                    "brick_lines_execute": "dbb"}}
RANKS_ARE = f"rank {size}; ranks are 0..{size - 1}"
WORDS = [("box_of", (0, size, ROOM), RANKS_ARE), ("part_of", (0, 0, 1, ROOM), "part 1; the array has parts 0..0"),
         ("execute", (FORWARD, b[0] + 8, b[1]), "aligned"), ("execute", (FORWARD, b[0], b[0] + 16), "overlap"),
         ("transpose", (0, FORWARD, b[0], b[0]), "overlap"), ("transpose", (5, FORWARD, b[0], b[1]), "exchange is 5"),
         ("execute", (FORWARD, None, b[1]), "null plan or buffer"), ("start", (FORWARD, b[0], b[1]), "set nonblocking"),
         ("start_pair", tuple(b), "set nonblocking"), ("wait", (), "in flight"), ("progress", (ROOM,), "is not in flight"),
         ("brick_lines_indices", (INPUT, 0, 3, ROOM), "axis 3; axes are 0..2"),
         ("brick_lines_index", (INPUT, 0, -1, 0, ROOM), "; axes are 0..2")]


def made():
    """Return a handle of each kind."""
    handles = {kind: make()[1] for kind, make in (("plan", plan), ("line", line), ("brick_lines", brick_lines))}
    handles["halo"], one = c_void_p(), (c_int64 * 3)(1, 1, 1)
    check("OK", "", f("halo_create")(handles["plan"], INPUT, one, one, byref(handles["halo"])))
    return handles


def useless_arguments_are_refused():
    handles = made()
    for kind, functions in FUNCTIONS.items():
        for name, letters in functions.items():
            if size == 1 and name in ("line_traffic", "brick_lines_traffic"):
                continue  # no exchanges
            values = [(b[i], (None, b[i] + 8)[:1 + (letter == "b")]) if letter in "bh" else VALUES[letter]
                      for i, letter in enumerate(letters)]
            right = [value for value, _ in values]
            check("OK", "", f(name)(handles[kind], *right), name)
            check("BAD_CALL", "", f(name)(None, *right), name, "null handle")
            for i, (_, wrong) in enumerate(values):
                for value in wrong:
                    check("BAD_CALL", "", f(name)(handles[kind], *right[:i], value, *right[i + 1:]), name, i, value)
    for name, arguments, words in WORDS:
        handle = handles["brick_lines" if name.startswith("brick") else "plan"]
        check("BAD_CALL", words, f(name)(handle, *arguments), name, arguments)
    for name, (result, arguments) in header.FUNCTIONS.items():
        if c_void_p in arguments[:1] and not name.startswith(("desc_", "line_desc_", "brick_lines_desc_", "plan_create")):
            got = f(name)(None, *(one() if one is c_int or one is c_int64 else None for one in arguments[1:]))
            silent = any(word in name for word in ("destroy", "is_all", "ranks")) or name == "phase_kind"
            assert (got in (None, 0, -1)) if silent or result is c_char_p else STATUSES[got] == "BAD_CALL", name
    other, backward, desc = plan(nx=13)[1], plan(directions=BACKWARD)[1], f("desc_new")()
    check("BAD_CALL", "not made for this direction", f("execute")(backward, FORWARD, b[0], b[1]))
    check("BAD_CALL", "no such exchange in this direction", f("traffic")(backward, 0, FORWARD, None, None))
    check("OK", "", f("traffic")(backward, 0, BACKWARD, None, None))
    for function, name, value, status, words in (
            ("integer", b"nw", 1, "UNKNOWN_NAME", "unknown member of a descriptor 'nw'; known: nx, ny, nz, R, C"),
            ("integer", b"R", 1 << 40, "BAD_CALL", "R is 1099511627776; it must be in -2147483648..2147483647"),
            ("integer", b"type", 1, "BAD_CALL", "type is a text; an integer was given"),
            ("real", b"nx", 1.5, "BAD_CALL", "nx is an integer; a real number was given"),
            ("text", b"fields", b"two", "BAD_CALL", ""), ("integer", b"auto_budget_s", 3, "OK", "")):
        check(status, words, f(f"desc_set_{function}")(desc, name, value), name)
    f("desc_free")(desc)
    check("BAD_CALL", "null", f("desc_set_text")(None, b"type", b"c2c"))
    check("BAD_CALL", "null descriptor", f("plan_create_fortran")(None, comm.py2f(), byref(c_void_p())))
    for handle in (other, backward, handles["plan"]):  # the halo lives on
        check("OK", "", f("plan_destroy")(handle))
    check("OK", "", f("halo_exchange")(handles["halo"], None, b[1]))
    for kind in ("halo", "line", "brick_lines"):
        check("OK", "", f(f"{kind}_destroy")(handles[kind]))


# ---- calls that differ between ranks ---------------------------------------------------------------------------------

CALLS = {"plan": [("execute", FORWARD, b[0], b[1]), ("execute", BACKWARD, b[0], b[1]), ("execute", FORWARD, b[0], b[0]),
                  ("execute", FORWARD, b[0], None), ("transpose", 0, FORWARD, b[0], b[1]),
                  ("transpose", 0, BACKWARD, b[0], b[1]), ("transpose", 1, FORWARD, b[0], b[1]), ("execute_pair", *b),
                  ("start", FORWARD, b[0], b[1]), ("plan_destroy",)],
         "halo": [("halo_exchange", b[0], b[1]), ("halo_accumulate", b[1], b[0]), ("halo_exchange", b[0], None),
                  ("halo_destroy",)],
         **{kind: [(f"{kind}_execute", FORWARD, b[0], b[1]), (f"{kind}_execute", BACKWARD, b[0], b[1]),
                   (f"{kind}_execute", FORWARD, None, b[1]), (f"{kind}_destroy",)] for kind in ("line", "brick_lines")}}


def calls_that_differ_fail_on_all():
    """Every collective call on the last rank beside every other call on the rest, where rank 0 asks for the comparison."""
    os.environ["PENCILFFT_CHECK_CALLS"] = "0" if comm.rank else "1"
    handles = made()
    nonblocking = handles["flying"] = plan(nonblocking=1)[1]
    for kind, calls in (*CALLS.items(), ("flying", CALLS["plan"])):
        for most, last in product(calls, calls) if size > 1 else ():
            null = None in most or None in last
            if (most is last and not null) or (kind == "plan" and "start" in (most[0], last[0])):
                continue
            name, *arguments = last if LAST else most
            check("BAD_CALL" if null else "MISMATCH", "null " if null else "the calls differ between ranks: pencilfft_",
                  f(name)(handles[kind], *arguments), most, last)
    check("OK", "", f("start")(nonblocking, FORWARD, b[0], b[1]))
    for name, *arguments in CALLS["plan"]:
        if None not in arguments:
            check("BAD_CALL", "in flight; call pencilfft_wait() first", f(name)(nonblocking, *arguments), name)
    while not ROOM[0]:
        check("OK", "", f("progress")(nonblocking, ROOM))
    check("BAD_CALL", "", f("execute")(nonblocking, BACKWARD, b[2], b[3]))  # complete here, but not on all ranks
    check("OK", "", f("wait")(nonblocking))
    check("BAD_CALL", "", f("wait")(nonblocking))
    for kind in ("halo", "line", "brick_lines", "plan", "flying"):
        for name, *arguments in CALLS["plan" if kind == "flying" else kind]:
            if None not in arguments and name != "start":
                check("OK", "", f(name)(handles[kind], *arguments), kind, name)


def buffers_that_overlap_are_refused():
    """Also where the last element of one alone is the first of the other, although a transform uses longer buffers."""
    uneven = partial(brick_lines, (10, 7, 13), (1, *BOTH), order=b"transposed-both")
    for kind, make, ask, fields in (("line", line, "line_points", 2), ("brick_lines", uneven, "brick_lines_extent", 1)):
        handle, held = make()[1], []
        for end in (INPUT, OUTPUT):
            count = (c_int64 * 3)(1, 1, 1)
            check("OK", "", f(ask)(handle, end, comm.rank, count))
            held.append(fields * count[0] * count[1] * count[2])
        for direction, out_first in product((FORWARD, BACKWARD), (False, True)):
            apart = 16 * (held[(direction == BACKWARD) != out_first] - 1)
            check("BAD_CALL", "in and out overlap", f(f"{kind}_execute")(
                handle, direction, b[0] + out_first * apart, b[0] + (not out_first) * apart), kind)
        check("OK", "", f(f"{kind}_destroy")(handle))


nothing_is_made()
useless_arguments_are_refused()
calls_that_differ_fail_on_all()
buffers_that_overlap_are_refused()
if comm.rank == 0:
    print("refusals checked")
