"""The hosts that a file names, and their nodes."""

import re

from pencilmap.mapper.base.hosts import check_name
from pencilmap.mapper.formats.format import Job
from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import MapfileError


class HostNames:
    """Nodes of the hosts of one document.

    If only the coordinates in their names identify hosts, all names must be alike except for their numbers, and a node
    has a single name. The launcher would not find a misspelt host.
    """

    def __init__(self, document: Document, job: Job) -> None:
        self._document, self._hosts = document, job.hosts
        self._first: dict[int | str, tuple[str, tuple[str, int]]] = {}  # of the letters, and of each node

    def node(self, name: str, number: int, column: int) -> int:
        """Return the node of a host in a line. Raises MapfileError if the job has no such host."""
        try:
            node = self._hosts.node(check_name(name))
        except MapfileError as error:
            raise self._document.refuse(str(error), number, column) from error
        if node is None:
            raise self._document.refuse(self._hosts.why_not(name), number, column)
        if self._hosts.is_default:
            self._check_alike(name.partition(".")[0], node, number, column)
        self._document.named.setdefault(node, name)
        return node

    def _check_alike(self, name, node, number, column):
        letters = re.sub("[0-9]+", "0", name)
        for key, what, problem in (("", letters, "has other letters than"), (node, name, "ends in the coordinates of")):
            known, (first, line) = self._first.setdefault(key, (what, (name, number)))
            if known != what:
                raise self._document.refuse(f"host {name[:40]} {problem} host {first[:40]} in line {line}; correct the "
                                            "name, or name the nodes with `hosts`", number, column)
