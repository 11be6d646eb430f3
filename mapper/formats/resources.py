"""Lines of files that list a job's resources. Such lines do not say where each rank runs, so they are no placements."""

import re

_OPEN_MPI = re.compile(r"\s*\S+((\s+|:)(slots|max[-_]slots|cpu|count|cpu_max|slots_max|count_max)\s*=\s*[0-9]+)+\s*")


def why_not_a_placement(line: str) -> str:
    """Return the sentences that explain why a line of resources is no placement, or "" for any other line.

    >>> why_not_a_placement("n1 slots=2 max_slots=4").partition(",")[0]
    "'n1 slots=2 max_slots=4' is of a hostfile of Open MPI"
    >>> why_not_a_placement("n1:2")
    ''
    """
    if not _OPEN_MPI.fullmatch(line):
        return ""
    return (f"{line.strip()[:40]!r} is of a hostfile of Open MPI, a list of resources and not a placement: options of "
            "mpirun decide where each rank runs. Write a HOST for each rank (format hostfile), or give the names of the "
            "nodes with `nodes` and make a placement")


def names_hosts(lines: list[tuple[int, str]]) -> bool:
    """Return whether one of the first lines of a file has a word that is a name and no number.

    >>> names_hosts([(1, "0"), (2, "0a")]), names_hosts([(1, "0-3,7"), (2, "4")])
    (True, False)
    """
    return any(re.search("[A-Za-z_.]", line) for _, line in lines)
