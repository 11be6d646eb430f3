"""`reorder` on ranks that are threads: the place of each rank, on any nodes of a job, and refusals on all ranks."""

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.reorder import ReorderError, reorder
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.patience import patience


class Meeting:
    """Collects the words of all ranks of a communicator; each rank waits until all have spoken."""

    def __init__(self, size):
        self.size, self.said, self.barrier = size, [None] * size, threading.Barrier(size, timeout=patience(20))

    def all_of(self, rank, value):
        self.said[rank] = value
        self.barrier.wait()
        found = list(self.said)
        self.barrier.wait()
        return found


class Comm:
    """The mpi4py calls of `reorder`. `wrong` changes the data that a rank receives from its neighbour, `turn` its rank."""

    def __init__(self, meeting, rank, freed, wrong=None, turn=0):
        self.meeting, self.rank, self.freed, self.wrong, self.turn = meeting, rank, freed, wrong, turn

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.meeting.size

    def allgather(self, value):
        return self.meeting.all_of(self.rank, value)

    def bcast(self, value, root):
        return self.meeting.all_of(self.rank, value)[root]

    def Split(self, color, key):
        said = self.meeting.all_of(self.rank, (color, key, self.rank))
        mine = sorted(one[1:] for one in said if one[0] == color)
        found = self.meeting.all_of(self.rank, Meeting(len(mine)))[mine[0][1]]
        return Comm(found, (mine.index((key, self.rank)) + self.turn) % len(mine), self.freed, self.wrong)

    def sendrecv(self, value, dest, sendtag, source, recvtag):
        assert sendtag == recvtag
        sent = self.meeting.all_of(self.rank, (dest, value))
        assert sent[source][0] == self.rank, "what is received was sent here"
        return self.wrong(sent[source][1]) if self.wrong else sent[source][1]

    def Free(self):
        self.freed.append(self.rank)


def reordered(size, *arguments, wrong=None, turn=0, freed=None, last=None, **named):
    """Return the new rank of each old rank, or each rank's error. `last` are other keywords of the last rank."""
    meeting, freed = Meeting(size), [] if freed is None else freed

    def of(rank):
        mine = {name: value(rank) if callable(value) else value for name, value in named.items()}
        if last and rank == size - 1:
            mine |= last
        try:
            return reorder(Comm(meeting, rank, freed, wrong, turn), *arguments, **mine).Get_rank()
        except ReorderError as error:
            return str(error)

    with ThreadPoolExecutor(size) as ranks:
        return list(ranks.map(of, range(size)))


def seats(torus, nodes):
    """Return for `where` the coordinates of each rank's node."""
    return lambda rank: torus.coordinates(np.array([nodes[rank]]))[0].tolist


@pytest.mark.parametrize("seed", range(12))
def test_ranks_sit_where_the_placement_puts_them(seed):
    """On some of the nodes, in any order, full and half-empty; the k-th rank of a node has slot k."""
    rng = random.Random(seed)
    torus, tasks = Torus((3, 2, 2)), rng.choice([1, 2, 3])
    some = rng.sample(range(12), rng.choice([4, 6]))
    grid = ProcessGrid(2, len(some) * tasks // 2)
    nodes = [node for node in some for _ in range(tasks)]
    rng.shuffle(nodes)
    site = Site(torus, tasks, Allocation(torus, np.array(list(dict.fromkeys(nodes)))))
    wanted = as_mapping(place("default", site, grid), "default")
    new = reordered(grid.n_tasks, torus, grid, "default", where=seats(torus, nodes))
    slot = [nodes[:rank].count(node) for rank, node in enumerate(nodes)]
    assert sorted(new) == list(range(grid.n_tasks))
    for old, rank in enumerate(new):
        assert (wanted.node_of_rank[rank], wanted.slot_of_rank[rank]) == (nodes[old], slot[old])


def test_a_node_may_have_fewer_ranks_than_the_others():
    torus, nodes = Torus((2, 2)), [0, 1, 1, 2, 2, 3]
    mapping = Mapping(torus, ProcessGrid(2, 3), 2, np.array([2, 1, 0, 3, 2, 1]), np.array([1, 0, 0, 0, 0, 1]))
    new = reordered(6, torus, mapping.grid, mapping, where=seats(torus, nodes))
    assert new == [2, 1, 5, 4, 0, 3]
    assert reordered(5, torus, "1x5", "default:nt", where=seats(torus, [2, 2, 0, 0, 1])) == [0, 3, 1, 4, 2]
    told = reordered(5, torus, "1x5", "default", where=seats(torus, [2, 0, 0, 1, 1]))
    assert len(set(told)) == 1 and told[0].startswith("rank 4: a process runs at node (1, 0) slot 1, where the placement")


def test_names_of_hosts_tell_the_nodes(monkeypatch):
    """Each thread has its own name, because socket and environment are shared."""
    torus, names = Torus((2, 2)), ["n3", "n1", "n0", "n2"]
    hosts = Hosts(torus, table={node: f"n{node}" for node in range(4)})
    me = threading.local()

    def named(rank):
        me.name = names[rank]
        return "hostname"

    monkeypatch.setattr("pencilmap.mapper.reorder.socket.gethostname", lambda: me.name)
    assert reordered(4, torus, "2x2", "default", where=named, hosts=hosts) == [3, 1, 0, 2]
    names[2] = "login"
    told = reordered(4, torus, "2x2", "default", where=named, hosts=hosts)
    assert len(set(told)) == 1 and told[0].startswith("rank 2: ") and "login" in told[0]


def test_a_blue_gene_tells_coordinates_and_slot_in_the_name_of_its_processor(monkeypatch):
    me, names = threading.local(), ["<1,0,1>", "<0,0,0>", "< 1, 0, 0>", "<0,0,1>"]

    def named(rank):
        me.name = f"Processor {names[rank]} in a 2x1x1 mesh"
        return "blue-gene"

    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(Get_processor_name=lambda: me.name)))
    assert reordered(4, Torus((2, 1)), "2x2", "default:txy", where=named) == [3, 0, 2, 1]
    for wrong in ("<1,0>", "<1,0,0,0>", "1,0,1"):
        names[0] = wrong
        told = reordered(4, Torus((2, 1)), "2x2", "default:txy", where=named)
        assert len(set(told)) == 1 and told[0] == (
            f"rank 0: the processor name 'Processor {wrong} in a 2x1x1 mesh' is not a Blue Gene name with 2 coordinates")


@pytest.mark.parametrize("nodes, tasks, message", [
    ([0, 0, 1, 2], 1, "rank 0: node (0) runs 2 processes, not 1; give tasks_per_node"),
    ([0, 1, 2, 9], None, "rank 3: "),
])
def test_what_does_not_fit_is_refused_on_all_ranks(nodes, tasks, message):
    told = reordered(4, Torus((4,)), "2x2", "default", tasks_per_node=tasks, where=lambda rank: lambda: [nodes[rank]])
    assert len(set(told)) == 1 and told[0].startswith(message)


def test_a_rank_that_is_elsewhere_is_noticed_by_its_neighbours_and_nothing_is_left():
    freed = []
    torus = Torus((4,))
    told = reordered(4, torus, "2x2", "default", where=seats(torus, [0, 1, 2, 3]), freed=freed,
                     wrong=lambda heard: (heard[0], heard[1] + (heard[0] == 2)))
    assert told == ["rank 0: self-check failed: rank 2 should be at place 2, and says it is rank 2 at place 3"] * 4
    assert sorted(freed) == [0, 1, 2, 3]
    [told] = set(reordered(4, torus, "2x2", "default", where=seats(torus, [0, 1, 2, 3]), turn=1))
    assert "self-check failed: rank 0 was asked for, rank 1 was got" in told


@pytest.mark.parametrize("last, message", [
    ({"network": 5}, "rank 3: network is 5; give a text such as 8x8x8, or a network"),
    ({"network": "2x2"}, "the arguments differ between ranks: network is 4 on rank 0 and 2x2 on rank 3; give the same on "
                         "all"),
    ({"grid": None}, "rank 3: grid is None; give a text such as 8x64, or a ProcessGrid"),
    ({"grid": "1x4"}, "the arguments differ between ranks: grid is 2x2 on rank 0 and 1x4 on rank 3; give the same on all"),
    ({"grid": "2x3"}, "rank 3: grid 2x3 has 6 tasks, but the communicator has 4; R*C must be equal to it"),
    ({"grid": "2x1x3"}, "rank 3: grid 2x1x3 has 6 tasks, but the communicator has 4; P*Q*S must be equal to it"),
    *[({"tasks_per_node": one}, f"rank 3: tasks_per_node is {one!r}; give an integer of 1 or more")
      for one in ("2", 1.5, True, 0, -1)],
    ({"tasks_per_node": 2}, "the arguments differ between ranks: tasks_per_node is None on rank 0 and 2 on rank 3"),
    ({"where": 7}, "rank 3: unknown coordinate source 7; known: auto, environment"),
    ({"where": "auto"}, "the arguments differ between ranks: where is assumed on rank 0 and auto on rank 3"),
    ({"where": len}, "the arguments differ between ranks: where is assumed on rank 0 and a function on rank 3"),
    ({"hosts": "hosts.txt"}, "rank 3: hosts is 'hosts.txt'; give Hosts of pencilmap.mapper.base.hosts"),
    ({"tasks": 2}, "rank 3: reorder() got an unexpected keyword argument 'tasks'"),
])
def test_a_wrong_argument_on_one_rank_is_one_message_on_all(last, message):
    told = reordered(4, network="4", grid="2x2", placement="default", where="assumed", last=last)
    assert len(set(told)) == 1 and told[0].startswith(message), told


def test_what_is_no_communicator_of_ranks_is_refused():
    class Null(Comm):
        def __bool__(self):
            return False

    class Inter(Comm):
        def Is_inter(self):
            return True

    for comm, message in ((None, "None is not a communicator"), (Null(Meeting(1), 0, []), "COMM_NULL"),
                          (Inter(Meeting(1), 0, []), "intercommunicator")):
        with pytest.raises(ReorderError, match=message):
            reorder(comm, "4", "2x2")
