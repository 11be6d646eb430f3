"""Free hosts of a cluster, as its scheduler lists them: Slurm, PBS, Torque, LSF.

Hosts with jobs, also with free cores, are not free, nor hosts that are drained, down, reserved, planned for another job,
about to reboot, or in a partition that is not up. Hosts that save power are free: the scheduler starts them.
Sources: sinfo(1) and scontrol(1) of Slurm, NODE STATE CODES; pbsnodes(8B) of OpenPBS and Torque; bhosts(1) of LSF.
"""

import re
from collections.abc import Callable, Iterator

from pencilmap.mapper.formats.hostlist import expand_hosts
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.reading import MOST_HOSTS

PBS_KEY = re.compile(r"[ \t]+([A-Za-z_.]+) = (.*)")
HEADS = {"NODELIST", "HOSTNAMES", "HOST_NAME"}
HEADS_OF_SINFO = ("PARTITION AVAIL TIMELIMIT NODES STATE NODELIST", "NODELIST NODES PARTITION STATE", "NODELIST STATE",
                  "STATE NODELIST")
STATE = re.compile(r"(alloc(ated)?|blocked|comp(leting)?|down|drain(ed|ing)?|drng|fail(ing)?|future?|idle|inval|maint|"
                   r"mix(ed)?|no_respond|npc|perfctrs|plnd|planned|pow_(dn|up)|power(ed|ing)_(down|up)|reboot\S*|"
                   r"res(v|erved)|unk(nown)?)([*~#!%$@^-]|\+\S*)*", re.IGNORECASE)
LIST_THEM = "list the hosts that the job may have, one in each line"
IDLE = re.compile(r"idle[~#]?(\+(cloud|dynamic_norm|dynamic_future|powered_down|powering_up|power_up))*", re.IGNORECASE)


def free_hosts(document: Document) -> list[str] | None:
    """Return the free hosts in the output of sinfo, scontrol show node, pbsnodes or bhosts; None for another file.

    Raises
    ------
    MapfileError
        If no host is free, a row is shorter than its head, or other columns than the usual ones have no head.

    Examples
    --------
    >>> free_hosts(Document(b"PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\\nall* up inf 3 idle n[1-3]\\n", "demo"))
    ['n1', 'n2', 'n3']
    >>> free_hosts(Document(b"HOST_NAME STATUS JL/U MAX NJOBS\\na ok - 8 0\\nb closed - 8 8\\n", "demo"))
    ['a']
    """
    if not document.text.strip():
        raise document.refuse(f"is empty; {LIST_THEM}")
    if head := _missing_head(document):
        return free_hosts(Document(f"{head}\n{document.text}".encode(), document.label))
    for looks_like, read in LISTS:
        if re.search(looks_like, document.text, re.MULTILINE):
            hosts = list(dict.fromkeys(read(document)))
            if not hosts:
                raise document.refuse(f"has no free host; wait, or {LIST_THEM}")
            return hosts
    for number, line in enumerate(document.text.splitlines(), 1):
        if len(words := line.split()) > 1 and any(map(STATE.fullmatch, words)):
            raise document.refuse("has states of hosts, but no heading says which words they are; give the output of sinfo "
                                  "with its heading, without --noheader", number)
    return None


def _missing_head(document: Document) -> str:
    """Return the words above the rows of `sinfo --noheader`, also with -N, or with a format of hosts and state; "" else."""
    rows = [words for line in document.text.splitlines() if (words := line.split())]
    return next((head for head in HEADS_OF_SINFO if all(
        len(words) == len(head.split()) and STATE.fullmatch(words[head.split().index("STATE")]) for words in rows)), "")


def _rows(document: Document) -> Iterator[dict[str, str]]:
    """Yield the rows of a table, by the words of its head."""
    head = list[str]()
    for number, line in enumerate(document.text.splitlines(), 1):
        words = line.split()
        if HEADS & {*words}:
            head = ["NODELIST" if word == "HOSTNAMES" else word for word in words]
        elif 0 < len(words) < len(head):
            raise document.refuse(f"has {len(words)} words under the {len(head)} of its head; give the output as it was "
                                  "printed", number)
        elif words and head:
            yield dict(zip(head, words))


def _sinfo(document: Document) -> Iterator[str]:
    left = MOST_HOSTS
    for row in _rows(document):
        if IDLE.fullmatch(row.get("STATE", "")) and row.get("AVAIL", "up") == "up":
            names = expand_hosts(row["NODELIST"], left)
            left -= len(names)
            yield from names


def _scontrol(document: Document) -> Iterator[str]:
    name = ""
    for key, value in re.findall(r"(?:^|(?<=\s))(NodeName|State)=(\S+)", document.text):
        name = value if key == "NodeName" else name
        if key == "State" and IDLE.fullmatch(value):
            yield name


def _pbsnodes(document: Document) -> Iterator[str]:
    states, name = dict[str, dict[str, str]](), ""
    for line in document.text.splitlines():
        if line.strip() and not line[0].isspace():
            name = line.strip()
            states[name] = {}
        elif name and (match := PBS_KEY.fullmatch(line)):
            states[name][match[1]] = match[2].strip()
    yield from (host for host, keys in states.items() if keys.get("state") == "free" and not keys.get("jobs"))


def _bhosts(document: Document) -> Iterator[str]:
    for row in _rows(document):
        if row.get("STATUS") == "ok" and row.get("NJOBS") == "0" and row.get("RSV", "0") == "0":
            yield row["HOST_NAME"]


LISTS: tuple[tuple[str, Callable[[Document], Iterator[str]]], ...] = (
    (r"^NodeName=\S+[^\n]*\n(?:[ \t][^\n]*\n)*?[ \t][^\n]*State=", _scontrol),
    (r"^(?=.*\bSTATE\b).*\b(NODELIST|HOSTNAMES)(?!\()\b", _sinfo),
    (r"^HOST_NAME\s+STATUS\b", _bhosts),
    (r"^\S+[ \t]*\n(?:[ \t]+[A-Za-z_.]+ = [^\n]*\n)*?[ \t]+state = ", _pbsnodes))
