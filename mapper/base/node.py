"""The inside of a node: a network whose hosts are the slots, with the cores of each slot."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.network import Network


@dataclass(frozen=True, eq=False)
class Node:
    """The packages, NUMA nodes and caches that a message between two slots crosses.

    Parameters
    ----------
    name : str
        Of its file.
    tree : Network or None
        Host t is slot t; None for a single slot, or if the slots are in another order.
    cores : tuple of tuple of int
        Logical numbers of the cores of each slot.
    processors : tuple of tuple of int
        Processors of each slot as the operating system numbers them; empty if the file has none.
    package, numa : int arrays, shape (T,)
        Of each slot.
    n_cores : int
        Cores that the job may use.
    host : str
        Name of the host, "" if the file has none.
    """

    name: str
    tree: Network | None
    cores: tuple[tuple[int, ...], ...]
    processors: tuple[tuple[int, ...], ...]
    package: Ints
    numa: Ints
    n_cores: int
    host: str = ""

    @property
    def n_slots(self) -> int:
        return len(self.cores)

    def in_order(self, slots: Ints) -> "Node":
        """Return the cores of the first, second and further rank in this order of the slots; unnamed slots follow."""
        order = np.concatenate([slots, np.setdiff1d(np.arange(self.n_slots), slots)])
        return replace(self, tree=None, cores=tuple(self.cores[t] for t in order),
                       processors=tuple(self.processors[t] for t in order), package=self.package[order],
                       numa=self.numa[order])


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as a list of ranges.

    >>> ranges([0, 1, 2, 5]), ranges([7])
    ('0-2,5', '7')
    """
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
