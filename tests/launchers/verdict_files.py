"""Files for launchers, random valid files and broken files: the launcher and `check` must agree on each.

A file of `BROKEN` stops the launcher. A file of `PASSED_OVER` runs, but the launcher ignores a part of it, so `check`
refuses it, too.
"""

import random

from tests.launchers.placed import N_RANKS, TASKS

HERE = ("# of ours", "// of ours", "/* of ours */", "/* of\n * ours\n **/")
USER = "me@"


def places(rng):
    """Return (node, slot) of each rank, at random."""
    return [divmod(place, TASKS) for place in rng.sample(range(N_RANKS), rng.randint(1, N_RANKS))]


def rankfile(version):
    """Return random rankfiles for that version of Open MPI."""
    def text(rng, names, placed):
        nodes = [node for node, _ in placed]
        users = [rng.choice(["", "", USER]) for _ in names]
        lines = [_rank(rng, rank, users[node] + names[node] + rng.choice(["", "", ".site.org"]),
                       _processors(rng, version, slot, nodes.count(node) == 1)) for rank, (node, slot) in enumerate(placed)]
        lines = lines[:1] + rng.sample(lines[1:], len(lines) - 1)
        for _ in range(rng.randint(0, 3)):
            lines.insert(rng.randint(0, len(lines)), rng.choice(["", " \t", *HERE]))
        whole = lines[0]
        for line in lines[1:]:
            joined = version == 5 and not {"#", "/"} & set(whole.rpartition("\n")[2])
            whole += rng.choice([" ", "\n"] if joined else ["\n"]) + line
        return whole + ("" if rng.random() < 0.2 and not {"#", "/"} & set(whole.rpartition("\n")[2]) else "\n")

    return text


def _rank(rng, rank, host, cpus):
    tab = rng.choice([" ", "\t", "  "])
    slot = f"{tab}{rng.choice(['slot=', 'slots=', 'slot = '])}{cpus}" if cpus else ""
    after = rng.choice(["", "", "  ", " # here", "//here", " /* here */"])
    return f"rank{tab}{rng.choice(['', '0'])}{rank}{rng.choice(['=', ' = ', '= '])}{host}{slot}{after}"


def _processors(rng, version, slot, alone):
    """Return processors of a slot, and of a whole node if a task is alone on the node."""
    ways = [f"{slot}", f"0{slot}", f"{slot}-{slot}", f"0:{slot}", f"0:{slot}-{slot}", f"{slot},{slot}", f"{slot};{slot}"]
    if alone or version == 4:
        last = TASKS - 1
        ways += [f"0-{last}", f"0,{last}", f"0:0-{last}", f"0:0;0:{last}", "0:*", "*", f"0;{last}"]
        ways += [f"0:0,0:{last}", "0:*;0"] if version == 4 else [f"0:0,{last}", ""]
    return rng.choice(ways)


def hosts(counts, after, between=("",)):
    """Return random lists of a host for each rank. counts: sign before the number of ranks in a row, None for no number."""
    def text(rng, names, placed):
        lines, nodes, before = [], [node for node, _ in placed], None
        while nodes:
            k = 1
            while counts and k < len(nodes) and nodes[k] == nodes[0] and rng.random() < 0.7:
                k += 1
            number = f"{counts}{rng.choice(['', '0'])}{k}" if counts and (k > 1 or rng.random() < 0.3) else ""
            ends = [end for end in after if "=" not in end or nodes[0] != before]  # lines of a host have a single option
            lines.append(names[nodes[0]] + number + rng.choice(ends))
            before, nodes = nodes[0], nodes[k:]
        for _ in range(rng.randint(0, 2)):
            lines.insert(rng.randint(0, len(lines)), rng.choice(between))
        return "\n".join(lines) + "\n"

    return text


def slurm(rng, names, placed):
    """Return random host files of srun, some with several hosts in a line."""
    lines = hosts("*", ["", "", " ", "\t", " # here"], ["", "# of ours"])(rng, names, placed).splitlines()
    whole = lines[0]
    for line in lines[1:]:
        joined = "#" not in whole.rpartition("\n")[2] and whole.rpartition("\n")[2] and line and line[0] != "#"
        whole += (rng.choice(["\n", ",", ", ", ",,"]) if joined else "\n") + line
    return whole + rng.choice(["", "\n", "\n\n"])


SEQUENCE = hosts(None, ["", "", " # here", "  # here"], ["", "# of ours"])
VALID = {  # launcher -> function of a generator of random numbers, names of the nodes, and places
    "Open MPI 4.1": rankfile(4), "Open MPI 5.0": rankfile(5),
    "Open MPI 4.1 --map-by seq": SEQUENCE, "Open MPI 5.0 --map-by seq": SEQUENCE,
    "SimGrid 3.32": hosts(":", [""]),
    "MPICH 4.0": hosts(":", ["", "", " ", "\t# here", " # here", " binding=none", " binding=core", " binding=user:0", "\r"],
                       ["", "# of ours", " \t"]),
    "Slurm 22.05": slurm}


def random_file(launcher, seed, names):
    """Return a random text and the nodes of the ranks."""
    rng = random.Random(seed)
    placed = places(rng)
    return VALID[launcher](rng, names, placed), [node for node, _ in placed]


# In the texts below, A and B are two hosts, and every file is meant for two ranks.
RANKS = "rank 0=A slot=0\nrank 1=B slot=0\n"
RANKFILES = {
    "rank 0 last": "rank 1=A slot=0\nrank 0=B slot=0\n", "rank 0 twice": RANKS + "rank 0=A slot=0\n",
    "a rank missing": "rank 0=A slot=0\nrank 2=B slot=0\n", "ranks from one": "rank 1=A slot=0\nrank 2=B slot=0\n",
    "too few": "rank 0=A slot=0\n", "empty": "", "unknown host": RANKS.replace("B", "nix"),
    "carriage returns": RANKS.replace("\n", "\r\n"), "byte order mark": "\ufeff" + RANKS,
    "Rank": RANKS.replace("rank", "Rank"),
    "no equals": RANKS.replace("0=", "0 "), "negative rank": RANKS.replace("1=", "-1="), "rank x": RANKS.replace("1=", "x="),
    "rank=": RANKS.replace("rank 0=", "rank=0 "), "no processors": RANKS.replace("slot=0", "slot="),
    "signed processor": RANKS.replace("slot=0", "slot=+0"), "range of three": RANKS.replace("slot=0", "slot=0-0-0"),
    "two slots": RANKS.replace("slot=0", "slot=0 slot=0"), "quoted host": RANKS.replace("A", '"A"'),
    "username": RANKS.replace("A", "A username=me"), "two users": RANKS.replace("A", "a@b@A"),
    "user with a dot": RANKS.replace("A", "a.b@A"), "two hosts": RANKS.replace("A", "A,B"),
    "host with a semicolon": RANKS.replace("A", "A;"),
    "digit and dot": RANKS.replace("A", "0A.site.org"), "capital +N": RANKS.replace("A", "+N0"),
    "+n beyond the hosts": RANKS.replace("A", "+n9"), "bracket in host": RANKS.replace("A", "[A]"),
    "comment without end of line": RANKS + "# the end", "comment of C without end of line": RANKS + "// the end",
    "comment inside": RANKS.replace("0=", "0=/* a host */"), "line in two": RANKS.replace(" slot", "\nslot"),
    "slot first": "slot=0 rank 0=A\nslot=0 rank 1=B\n",
    "two names of a node": RANKS.replace("B", "nA"), "other letters": RANKS.replace("B", "nB"),
    "equals twice": RANKS.replace("0=", "0=="), "percent": RANKS.replace("slot=0", "slot=0%")}
RANKFILES_4 = {"hash before the slot": RANKS.replace(" slot", "#slot"), "no slot": RANKS.replace(" slot=0", ""),
               "two in a line": RANKS.replace("\n", " ", 1),
               "host with _": RANKS.replace("A", "A_b"), "+n without a batch job": RANKS.replace("A", "+n0")}
RANKFILES_5 = {name: RANKS.replace("B", "A").replace("slot=0", f"slot={one}", 1).replace("slot=0\n", f"slot={other}\n")
               for name, one, other in (
    ("one processor", "0", "0"), ("ranges", "0-1", "1"), ("list and range", "0,1", "1-1"), ("star", "*", "*"),
    ("package", "0:*", "0:*"), ("package and core", "0:*", "0"), ("core of package", "0:0", "0"),
    ("semicolon", "0;1", "0:1"))}
RESOURCES = {"slots": "A slots=1\nB slots=1\n", "max_slots": "A max_slots=2\nB\n", "a rankfile": RANKS,
             "slot 0": "A slot=0\nB\n"}
SEQUENCES = {
    "a list": "A-[0-1]\nB\n", "two in brackets": "[A]\nB\n", "leading blank": " A\nB\n", "leading tab": "\tA\nB\n",
    "trailing tab": "A\nB\t\n", "no end of line": "A\nB", "carriage returns": "A\r\nB\r\n",
    "byte order mark": "\ufeffA\nB\n",
    "hash in the host": "A#1\nB\n", "blank before a comment": " # of ours\nA\nB\n", "line of blanks": "  \nA\nB\n",
    "comment without end of line": "A\nB\n# the end", "quoted": '"A"\nB\n', "user": "me@A\nB\n",
    "comment of C": "// ours\nA\nB\n",
    "comment of C, too": "/* ours */\nA\nB\n", "caret": "^A\nB\n", "a rankfile": RANKS, "relative": "+n0\n+n1\n",
    "semicolon": "A;B\n", "equals": "A=1\nB\n", "binding": "A binding=core\nB\n", "empty": "",
    "comments alone": "# ours\n",
    "one host": "A\n", "parentheses": "(A)\nB\n", "JSON": '["A","B"]\n', "dollar": "$A\nB\n"}
BROKEN = {
    "Open MPI 4.1": RANKFILES | RANKFILES_4, "Open MPI 5.0": RANKFILES | RANKFILES_5,
    "Open MPI 4.1 --map-by seq": SEQUENCES | {"count": "A:1\nB:1\n", "star": "A*1\nB\n", "host with _": "A_b\nB\n",
                                              "comma": "A,B\nB\n", "two in a line": "A B\nB\n"},
    "Open MPI 5.0 --map-by seq": SEQUENCES,
    "SimGrid 3.32": RESOURCES | {
        "trailing blank": "A \nB\n", "leading blank": " A\nB\n", "comment": "# ours\nA\nB\n",
        "comment after": "A # ours\nB\n",
        "carriage returns": "A\r\nB\r\n", "byte order mark": "\ufeffA\nB\n", "unknown host": "A\nnix-9\n",
        "star": "A*1\nB\n",
        "count of letters": "A:x\nB\n", "count twice": "A:1:1\nB\n", "two hosts": "A B\n", "comma": "A,B\n",
        "a list": "node-[0-1]\n",
        "user": "me@A\nB\n", "quoted": '"A"\nB\n', "semicolon": "A;B\n", "parentheses": "(A)\nB\n", "empty": "",
        "tab": "A\tB\n",
        "decimal count": "A:1.5\nB\n", "count and letters": "A:2x\n", "no count": "A:\nB\n", "equals": "A=1\nB\n"},
    "MPICH 4.0": RESOURCES | {
        "two hosts": "A B\n", "blank before the count": "A :1\nB\n", "blanks around the colon": "A : 1\nB\n",
        "no ranks": "A:0\nB\n",
        "count of letters": "A:x\nB\n", "number after": "A 1\nB\n", "comment of C": "// ours\nA\nB\n",
        "comment of C, too": "A /* ours */\nB\n", "binding twice": "A binding=core binding=core\nB\n",
        "binding to nothing": "A binding=\nB\n", "binding to what is not there": "A binding=nix\nB\n",
        "interface": "A ifname=lo\nB\n",
        "max": "A:1 max=3\nB\n", "lone carriage return": "A:1\rB:1\n", "tab": "A\tB\n", "words": "use A\nuse B\n",
        "cpu": "A cpu=1\nB\n", "minus": "A -\nB\n", "count twice": "A:1 1\nB\n", "capitals": "A User=me\nB\n",
        "colon after": "A:1 :\nB\n"},
    "Slurm 22.05": {
        "a list": "node-0-[0-1]\n", "list of widths": "node-0-[00-01]\n", "inner list": "node-[0-1]-0\n",
        "half a list": "node-0-[0-\n",
        "leading blank": " A\nB\n", "leading tab": "\tA\nB\n", "line of blanks": "A\n  \nB\n",
        "blank before a comment": " # x\nA\nB\n",
        "leading comma": ",A,B\n", "quoted": '"A"\nB\n', "unknown host": "A\nnix\n", "count": "A:1\nB:1\n",
        "two hosts": "A B\n",
        "carriage returns": "A\r\nB\r\n", "byte order mark": "\ufeffA\nB\n", "no ranks": "A*0\nB\n", "negative": "A*-1\nB\n",
        "count of letters": "A*x\nB\n", "semicolon": "A;B\n", "user": "me@A\nB\n", "caret": "^A\nB\n", "empty": "",
        "comments alone": "# x\n",
        "one host": "A\n", "two names of a node": "A\nnA\n", "other letters": "A\nnB\n",
        "hash after a backslash": "A\\#\nB\n", "parentheses": "(A)\nB\n", "tab": "A\tB\n"}}
PASSED_OVER_OF_RANKFILES = {
    "a line of something else": "hello\n" + RANKS, "a word after": RANKS.replace("slot=0", "slot=0 hello"),
    "blank in the list": RANKS.replace("slot=0", "slot=0, 1"), "letters": RANKS.replace("slot=0", "slot=a"),
    "backwards": RANKS.replace("slot=0", "slot=1-0"), "rank 1 twice": RANKS + "rank 1=A slot=1\n",
    "a rank too many": RANKS + "rank 2=A slot=1\n", "comment without end": RANKS + "/* ours\n",
    "no core": RANKS.replace("slot=0", "slot=0:"), "empty entry": RANKS.replace("slot=0", "slot=0,")}
PASSED_OVER = {
    "Open MPI 4.1": PASSED_OVER_OF_RANKFILES, "Open MPI 5.0": PASSED_OVER_OF_RANKFILES,
    "Open MPI 4.1 --map-by seq": {"resources": "A slots=2\nB slots=2\n", "too many": "A\nB\nA\n"},
    "Open MPI 5.0 --map-by seq": {"resources": "A slots=2\nB slots=2\n", "a host and more": "A B\nB\n", "count": "A:2\nB\n"},
    "SimGrid 3.32": {"no ranks": "A:0\nB:2\n", "signed count": "A:+1\nB\n", "blank before the count": "A: 1\nB\n"},
    "MPICH 4.0": {"decimal count": "A:1.5\nB\n", "signed count": "A:+1\nB\n", "count twice": "A:1:1\nB\n",
                  "no count": "A:\nB\n",
                  "comma": "A,B\nB\n", "a list": "node-0-[0-1]\nB\n"},
    "Slurm 22.05": {"resources": "A slots=1\nB slots=1\n", "a word after": "A slot=0\nB\n", "count twice": "A*1*1\nB\n",
                    "signed count": "A*+1\nB\n", "list by commas": "node-0-[0,1]\n",
                    "too many": "A\nB\nA\n"}}
