"""The exchanges of a transform, remaps and halos as messages between ranks, and messages between nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints, factorisations
from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions import AXES, Decomposition, ExchangeStage
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, block_lengths

# Traffic between places of a network as pairs of places, with numpy alone, because scipy is slow to import.
#
# Idea: only the places that a group uses have traffic. So list these cells (group, place) with the sums of the weights
# there, then all pairs of cells of a group, and add up equal pairs. If they use many places, a product of matrices is
# faster.
# Cost: the sum over the groups of the square of their places.

_AT_ONCE = 1 << 22  # pairs of cells
_DENSE = 1 << 16    # entries of a matrix that costs less than sorting
_MULTIPLIED = 256   # products of two numbers, by matrices, in the time of a pair of cells


@dataclass(frozen=True, eq=False)
class Traffic:
    """Bytes from place to place, each pair of different places with traffic once, ordered by row and column.

    Parameters
    ----------
    n : int
        Number of places.
    row, col : int array, shape (nnz,)
    data : array, shape (nnz,)
    """

    n: int
    row: Ints
    col: Ints
    data: np.ndarray

    @property
    def nnz(self) -> int:
        return len(self.data)

    def toarray(self) -> np.ndarray:
        """Return a matrix, shape (n, n)."""
        found = np.zeros((self.n, self.n), dtype=self.data.dtype)
        found[self.row, self.col] = self.data
        return found

    def tocsr(self) -> Any:
        """Return a sparse array of scipy, shape (n, n)."""
        from scipy.sparse import coo_array  # slow to import

        return coo_array((self.data, (self.row, self.col)), shape=(self.n, self.n)).tocsr()


def together(parts: Iterable[tuple[Traffic, float]]) -> Traffic:
    """Return the sum of some traffic between the same places, each with a factor.

    >>> one = Traffic(2, np.array([0]), np.array([1]), np.array([3]))
    >>> together([(one, 1), (one, 0.5)]).toarray().tolist()
    [[0.0, 4.5], [0.0, 0.0]]
    """
    some = list(parts)
    if len(some) == 1 and some[0][1] == 1:
        return some[0][0]
    key = np.concatenate([each.row * each.n + each.col for each, _ in some])
    return _added(some[0][0].n, key, np.concatenate([each.data * factor for each, factor in some]))


def traffic_within(part: Ints, place: Ints, send: Ints, receive: Ints, n: int) -> Traffic:
    """Return the bytes between places if every task sends ``send * receive`` bytes to each other task of its part.

    Parameters
    ----------
    part, place : int array, shape (P,)
        Part and place of each task.
    send, receive : int array, shape (P,)
        Factors of the tasks as sender and as receiver.
    n : int
        Number of places.

    Examples
    --------
    >>> part, place, one = np.zeros(4, dtype=int), np.array([0, 0, 2, 1]), np.ones(4, dtype=int)
    >>> traffic_within(part, place, one, one, 3).toarray().tolist()
    [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    """
    cells, cell = np.unique(part * n + place, return_inverse=True)
    group, where = cells // n, cells % n
    sent, received = summed(cell, send, len(cells)), summed(cell, receive, len(cells))
    number = np.bincount(group)
    is_exact = float(sent.sum()) * float(received.max(initial=0)) < 1 << 53
    used, column = np.unique(where, return_inverse=True)
    if is_exact and 0 < len(number) * len(used) ** 2 <= _MULTIPLIED * int((number**2).sum()):
        cell = group * len(used) + column
        found = _of_matrix(*(np.bincount(cell, held, len(number) * len(used)).reshape(len(number), len(used))
                             for held in (sent, received)))
        return Traffic(n, used[found.row], used[found.col], found.data)
    begin, number = (np.cumsum(number) - number)[group], number[group]
    keys, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for some in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(np.cumsum(number) // _AT_ONCE)) + 1):
        count = number[some]
        first = np.repeat(some, count)
        second = np.arange(len(first)) + np.repeat(begin[some] - (np.cumsum(count) - count), count)
        data = sent[first] * received[second]
        kept = (where[first] != where[second]) & (data != 0)
        keys.append((where[first] * n + where[second])[kept])
        values.append(data[kept])
    return _added(n, np.concatenate(keys), np.concatenate(values))


def _of_matrix(sent: NDArray[Any], received: NDArray[Any]) -> Traffic:
    """Return the traffic if each group sends and receives so much at each place: float arrays of whole numbers, (G, n)."""
    whole = (sent.T @ received).astype(np.int64)
    np.fill_diagonal(whole, 0)
    n, place = len(whole), np.flatnonzero(whole)
    row = np.repeat(np.arange(n), np.count_nonzero(whole, axis=1))
    return Traffic(n, row, place - row * n, whole.ravel()[place])


def _added(n: int, key: Ints, data: NDArray[Any]) -> Traffic:
    """Return traffic from the keys ``row * n + col`` of its parts; pairs that add up to nothing are left out."""
    if n * n <= max(_DENSE, 2 * len(key)):
        whole = summed(key, data, n * n) if data.dtype.kind == "i" else np.bincount(key, data, n * n)
        found = np.flatnonzero(whole)
        return Traffic(n, found // n, found % n, whole[found])
    order = np.argsort(key, kind="stable")
    key, data = key[order], data[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    data = np.add.reduceat(data, begin) if len(begin) else data
    found = key[begin][data != 0]
    return Traffic(n, found // n, found % n, data[data != 0])


def summed(place: Ints, weight: Ints, n: int) -> Ints:
    """Return the sums of weights by place, exact: int array, shape (n,). `weight` is broadcast to the shape of `place`.

    >>> summed(np.array([[0, 1], [1, 2]]), np.array([5, 7]), 4).tolist()
    [5, 12, 7, 0]
    """
    found = np.zeros(n, dtype=np.int64)
    weight = np.broadcast_to(weight, place.shape)
    if int(np.abs(weight).max(initial=0)) * place.size < 1 << 53:  # floats are exact, and much faster
        return np.bincount(place.ravel(), weight.ravel(), n).astype(np.int64)
    np.add.at(found, place.ravel(), weight.ravel())
    return found


# The exchanges of a transform as traffic: senders, receivers and sizes of all messages.
#
# A task sends its block of the gathered axis, cut to the receiver's block of the divided axis. The size of every message is
# a product of three block lengths, so an exchange is three short vectors.

@dataclass(frozen=True)
class Exchange:
    """All-to-alls of equal size that run at the same time, one per group.

    Member a of group g sends ``group_weight[g] * send_weight[a] * receive_weight[b] * unit_bytes`` bytes to member b.
    """

    name: str  #: name of the stage
    letters: str  #: the grid dimensions along which the members of a group lie
    members: np.ndarray  #: int array, shape (groups, size); ranks of each group
    #: group_weight, send_weight, receive_weight: int arrays, shapes (groups,), (size,), (size,)
    group_weight: np.ndarray
    send_weight: np.ndarray
    receive_weight: np.ndarray
    unit_bytes: int  #: bytes of a unit of weight; 1 without a transform (then `total_bytes` only sets the scale)
    total_bytes: int  #: D_T, the bytes of the whole array, in the same units

    @property
    def size(self) -> int:
        return self.members.shape[1]

    @property
    def is_even(self) -> bool:
        """Whether every message has the same size."""
        return all((w == w[:1]).all() for w in (self.group_weight, self.send_weight, self.receive_weight))

    @property
    def message_unit(self) -> int:
        """Bytes of a message of an even exchange."""
        return int(self.group_weight[0] * self.send_weight[0] * self.receive_weight[0]) * self.unit_bytes


def of_messages(name: str, pairs: Ints, sizes: Ints, unit_bytes: int, total_bytes: int) -> Exchange:
    """Return single messages as groups of two ranks.

    Parameters
    ----------
    name : str
    pairs : int array, shape (n, 2)
        Sender and receiver of each message.
    sizes : int array, shape (n,)
        In `unit_bytes`.
    unit_bytes, total_bytes : int
        As for `Exchange`.

    Examples
    --------
    >>> of_messages("halo", np.array([[3, 1]]), np.array([5]), 16, 160).members.tolist()
    [[3, 1]]
    """
    return Exchange(name, letters="", members=pairs, group_weight=sizes, send_weight=np.array([1, 0]),
                    receive_weight=np.array([0, 1]), unit_bytes=unit_bytes, total_bytes=total_bytes)


def message_roots(send: Ints, receive: Ints, factor: float) -> Floats:
    """Return for every member the sum over its messages to other members of the square root of their size in KiB.

    Parameters
    ----------
    send, receive : int array, shape (size,)
        Block lengths: the message of a to b has ``send[a] * receive[b] * factor`` bytes.
    factor : float

    Examples
    --------
    >>> message_roots(np.array([4, 1]), np.array([1, 1]), 1024.0).tolist()
    [2.0, 1.0]
    """
    from_each, to_each = np.sqrt(send), np.sqrt(receive)
    return np.asarray(from_each * (to_each.sum() - to_each) * (factor / 1024) ** 0.5, dtype=float)


def messages_sent(send: Ints, receive: Ints) -> Ints:
    """Return for every member the number of its messages to other members; blocks without elements are not sent.

    >>> messages_sent(np.array([4, 1, 0]), np.array([1, 1, 0])).tolist()
    [1, 1, 0]
    """
    sends, receives = send > 0, receive > 0
    return np.asarray(sends * (receives.sum() - receives))


def exchanges(grid: ProcessGrid, transform: Transform | None = None) -> tuple[Exchange, ...]:
    """Return the exchanges of a grid, in the order of a forward transform.

    In a backward transform member b sends to a what a sends to b in a forward transform.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform, optional
        Without a transform every task sends one unit to every member of its group: the even exchange of the paper.

    Examples
    --------
    >>> row, column = exchanges(ProcessGrid(2, 3))
    >>> row.members.tolist(), column.members.tolist()
    ([[0, 1], [2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]])
    """
    if transform is None:
        return tuple(_even(stage, grid) for stage in grid.decomposition.exchanges)
    return tuple(_of_transform(stage, division, grid, transform) for stage, division in grid.decomposition.layouts
                 if isinstance(stage, ExchangeStage))


def sides(stage: ExchangeStage, transform: Transform) -> tuple[str, str]:
    """Return the axes whose blocks the members send, and receive: a backward transform gathers the divided axis."""
    return (stage.divided, stage.gathered) if transform.backward else (stage.gathered, stage.divided)


def side_blocks(stage: ExchangeStage, division: dict[str, str], grid: ProcessGrid,
                transform: Transform) -> tuple[np.ndarray, np.ndarray]:
    """Return the block lengths of `sides` among the members of a group: two int arrays, shape (size,).

    Parameters
    ----------
    division : dict of str to str
        The letters that divide each axis before the exchange.
    """
    extents, before = transform.extents(stage, grid), division | {stage.gathered: ""}
    send, receive = (block_lengths(extents[axis] // grid.extent(before[axis]), grid.extent(stage.letters))
                     for axis in sides(stage, transform))
    return send, receive


def _even(stage: ExchangeStage, grid: ProcessGrid) -> Exchange:
    members = grid.groups(stage.letters)
    groups, size = members.shape
    one = np.ones(max(groups, size), dtype=np.int64)
    return Exchange(stage.name, letters=stage.letters, members=members, group_weight=one[:groups], send_weight=one[:size],
                    receive_weight=one[:size], unit_bytes=1, total_bytes=grid.n_tasks * size)


def _of_transform(stage: ExchangeStage, division: dict[str, str], grid: ProcessGrid, transform: Transform) -> Exchange:
    members, extents = grid.groups(stage.letters), transform.extents(stage, grid)
    weight = np.ones(len(members), dtype=np.int64)
    for axis in set(AXES) - {stage.gathered, stage.divided}:
        letter = division[axis]  # none if the axis is whole
        weight *= block_lengths(extents[axis], grid.extent(letter))[grid.coordinate(letter)[members[:, 0]]] if letter \
            else extents[axis]
    send, receive = side_blocks(stage, division, grid, transform)
    return Exchange(stage.name, letters=stage.letters, members=members, group_weight=weight, send_weight=send,
                    receive_weight=receive, unit_bytes=transform.point_bytes, total_bytes=transform.total_bytes)


def node_traffic(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> Any:
    """Return the bytes that the tasks of one node send to the tasks of another.

    Parameters
    ----------
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    n_nodes : int

    Returns
    -------
    sparse array, shape (n_nodes, n_nodes)
        From row to column, with zeros on the diagonal.

    Examples
    --------
    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> node_traffic(column, np.array([0, 0, 1, 1]), 2).toarray().tolist()    # two tasks on each node
    [[0, 2], [2, 0]]
    """
    return messages_between(exchange, node_of_rank, n_nodes).tocsr()


def messages_between(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> Traffic:
    """Return the same as `node_traffic`, as a list of pairs of nodes."""
    part, node, sent, received = _by_member(exchange, node_of_rank)
    return traffic_within(part, node, sent, received, n_nodes)


def messages_within(exchange: Exchange, node_of_rank: np.ndarray) -> Traffic:
    """Return the bytes between the ranks of a node: pairs of ranks.

    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> [int(messages_within(each, np.array([0, 0, 1, 1])).toarray().sum()) for each in (row, column)]
    [4, 0]
    """
    P = len(node_of_rank)
    part, rank, sent, received = _by_member(exchange, np.arange(P))
    part = np.unique(part * P + node_of_rank[rank], return_inverse=True)[1]
    return traffic_within(np.ravel(part), rank, sent, received, P)


def node_totals(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> tuple[Ints, Ints]:
    """Return the bytes that each node sends to other nodes, and receives from other nodes: int arrays, shape (N,).

    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> [bytes_.tolist() for bytes_ in node_totals(column, np.array([0, 0, 1, 1]), 2)]
    [[2, 2], [2, 2]]
    """
    part, node, sent, received = _by_member(exchange, node_of_rank)
    cells, cell = np.unique(part * n_nodes + node, return_inverse=True)
    group, place = cells // n_nodes, cells % n_nodes
    of_cell = [summed(cell, held, len(cells)) for held in (sent, received)]
    of_group = [summed(part, held, len(exchange.members)) for held in (sent, received)]
    others = [of_cell[k] * (of_group[1 - k][group] - of_cell[1 - k]) for k in (0, 1)]
    return summed(place, others[0], n_nodes), summed(place, others[1], n_nodes)


def _by_member(exchange: Exchange, node_of_rank: Ints) -> tuple[Ints, ...]:
    """Return group, node, and the factors of the bytes that each member of a group sends and receives: four flat arrays."""
    node = np.asarray(node_of_rank)[exchange.members]
    group = np.broadcast_to(np.arange(len(node))[:, None], node.shape)
    sent = exchange.send_weight * exchange.group_weight[:, None] * exchange.unit_bytes
    return group.ravel(), node.ravel(), sent.ravel(), np.broadcast_to(exchange.receive_weight, node.shape).ravel()


# The messages of remaps of bricks: from each task to each other the elements that change hands, and no others.
#
# Bricks and pencils are both products of blocks of the three axes. So the overlap of two boxes is the product of the
# overlaps of their blocks of each axis, and the messages are a product of three short lists. Elements that stay on a task
# are not sent.

REMAPS = ("remap_in", "remap_out")


def bricks_of(decomposition: Decomposition, n_tasks: int, transform: Transform) -> tuple[int, int, int]:
    """Return the bricks along x, y and z of the decomposition, by default the division of the tasks with the least surface.

    Raises
    ------
    GridError
        If the number of bricks is not the number of tasks.

    Examples
    --------
    >>> from pencilmap.model.decompositions import BRICK
    >>> bricks_of(BRICK, 8, Transform(16, 16, 16)), bricks_of(BRICK, 8, Transform(16, 4, 64))
    ((2, 2, 2), (1, 1, 8))
    """
    if decomposition.bricks is None:
        n = transform.nx, transform.ny, transform.nz
        return min(((int(p), int(q), int(s)) for p, q, s in factorisations(n_tasks, 3)),
                   key=lambda b: (sum(parts / extent for parts, extent in zip(b, n)), b))
    check_bricks(decomposition.bricks, n_tasks)
    return decomposition.bricks


def check_bricks(bricks: Sequence[int], n_tasks: int) -> None:
    """Raise GridError unless each task has a brick."""
    if prod(bricks) != n_tasks:
        raise GridError(f"{'x'.join(map(str, bricks))} bricks are {prod(bricks)}, but there are {n_tasks} tasks; take "
                        f"brick:PxQxS with P*Q*S = {n_tasks}")


def remaps(grid: ProcessGrid, transform: Transform) -> tuple[Exchange, ...]:
    """Return the remaps at the input and at the output of a forward transform, as single messages; none without bricks.

    In a backward transform their messages travel the other way.

    >>> from pencilmap.model.decompositions import decomposition_named
    >>> before, after = remaps(ProcessGrid(2, 1, decomposition=decomposition_named("brick:1x1x2")), Transform(4, 4, 4))
    >>> before.members.tolist(), before.group_weight.tolist(), len(after.members)
    ([[1, 0], [0, 1]], [16, 16], 0)
    """
    if not grid.decomposition.has_bricks:
        return ()
    divisions = [division for _, division in grid.decomposition.layouts]
    bricks, halved = bricks_of(grid.decomposition, grid.n_tasks, transform), transform.kinds.half
    real_bytes = transform.point_bytes // (2 if halved else 1)
    before = _remap(REMAPS[0], bricks=bricks, division=divisions[0], grid=grid,
                    extents=(transform.nx, transform.ny, transform.nz), unit_bytes=real_bytes, transform=transform)
    after = _remap(REMAPS[1], bricks=bricks, division=divisions[-1], grid=grid, extents=transform.exchanged,
                   unit_bytes=transform.point_bytes, transform=transform, inwards=False)
    return before, after


def _remap(name: str, bricks: Sequence[int], division: dict[str, str], grid: ProcessGrid, extents: tuple[int, ...],
           unit_bytes: int, transform: Transform, inwards: bool = True) -> Exchange:
    strides = dict(zip(grid.decomposition.letters, np.cumprod([1, *grid.shape])))
    brick, pencil, volume = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)
    for axis, extent, parts, step in zip(AXES, extents, bricks, np.cumprod([1, *bricks])):
        letter = division[axis]
        a, b, length = _overlaps(block_lengths(extent, parts), block_lengths(extent, grid.extent(letter) if letter else 1))
        brick = np.add.outer(brick, step * a).ravel()
        pencil = np.add.outer(pencil, strides.get(letter, 0) * b).ravel()
        volume = np.multiply.outer(volume, length).ravel()
    sent = brick != pencil
    pairs = np.stack([brick, pencil] if inwards != transform.backward else [pencil, brick], axis=1)[sent]
    return of_messages(name, pairs, volume[sent], unit_bytes, transform.total_bytes)


def _overlaps(one: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the overlapping blocks of two divisions of an axis, and the lengths of the overlaps: int arrays of one shape.

    >>> [found.tolist() for found in _overlaps(np.array([3, 3, 2]), np.array([4, 4]))]
    [[0, 1, 1, 2], [0, 0, 1, 1], [3, 1, 2, 2]]
    """
    ends = np.unique(np.concatenate([[0], np.cumsum(one), np.cumsum(other)]))
    starts = ends[:-1]
    return (np.searchsorted(np.cumsum(one), starts, side="right"), np.searchsorted(np.cumsum(other), starts, side="right"),
            np.diff(ends))


# The messages of a halo exchange: the part of a task's block that lies in the halo of another task.
#
# Every task sends at most one message to each other. Blocks are products of blocks of the three axes, and a block with its
# halo is a product of enlarged blocks. So the overlap of two tasks, all periodic images together, is also a product. The
# messages follow from three small tables, a table for each axis: the number of indices of each block in each enlarged
# block. Edges and corners come from their owners, so each element travels once.

HALO = "halo"  # the name of this exchange


@dataclass(frozen=True)
class Halo:
    """Halos of the input of a transform.

    Parameters
    ----------
    width : int
        Planes on every side of each block.
    weight : float
        Number of these halos for each transform.

    Raises
    ------
    GridError
        If the width is less than 1, or the weight is not above 0.
    """

    width: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.width < 1:
            raise GridError(f"a halo of {self.width} planes; give 1 or more with `halo`")
        if not (isfinite(self.weight) and self.weight > 0):
            raise GridError(f"{self.weight:g} halos for each transform; give a number above 0 with `weight`")

    def messages(self, grid: ProcessGrid, transform: Transform) -> Exchange:
        """Return the messages of one halo, see `halo`.

        Raises
        ------
        GridError
            If the halo is wider than the array.
        """
        return halo(grid, transform, "input", (self.width,) * 3)


def halo(grid: ProcessGrid, transform: Transform, array: str | int, low: Sequence[int],
         high: Sequence[int] | None = None, walls: str = "") -> Exchange:
    """Return the messages of a halo, as single messages of a forward exchange. The adjoint sends them the other way.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform
    array : str or int
        "input", "output", "inner input", "inner output", or the number of exchanges before the array.
    low, high : sequence of int
        Planes below and above each block along x, y and z, each from 0 to the extent; by default `high` is `low`.
    walls : str
        Axes along which the array is not periodic, such as "x" or "yz".

    Raises
    ------
    GridError
        For widths that are negative or beyond the extent, and along z without walls of an array whose z is halved.

    Examples
    --------
    Two slabs of four planes each of 16 elements of 16 bytes; with a halo of one plane each gets two planes of the other:

    >>> found = halo(ProcessGrid(1, 2), Transform(8, 4, 4), "input", (1, 0, 0))
    >>> found.members.tolist(), (found.group_weight * found.unit_bytes).tolist()
    ([[0, 1], [1, 0]], [512, 512])

    The overlap of a rank with itself, alone along an axis, is no message:

    >>> len(halo(ProcessGrid(1, 2), Transform(8, 4, 4), "input", (0, 2, 4)).members)
    0
    """
    high = low if high is None else high
    division, extents, unit_bytes = _array(grid, transform, array)
    for axis, n, width in [(axis, n, width) for widths in (low, high) for axis, n, width in zip(AXES, extents, widths)]:
        most = n if axis != "z" or n == transform.nz or axis in walls else 0
        if not 0 <= width <= most:
            raise GridError(f"a halo of {width} planes along {axis}, where the array has {n}; give 0 to {most}")
    source, target, volume = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)
    for axis, n, (parts, step), below, above in zip(AXES, extents, division, low, high):
        a, b, length = _taken(block_lengths(n, parts), below, above, axis in walls)
        source = np.add.outer(source, step * a).ravel()
        target = np.add.outer(target, step * b).ravel()
        volume = np.multiply.outer(volume, length).ravel()
    sent = source != target
    order = np.lexsort((target[sent], source[sent]))
    pairs = np.stack([source, target], axis=1)[sent][order]
    return of_messages(HALO, pairs, volume[sent][order], unit_bytes, transform.total_bytes)


def _array(grid: ProcessGrid, transform: Transform, array: str | int) -> tuple[list[tuple[int, int]], tuple[int, ...], int]:
    """Return the blocks of each axis with their step in ranks, the extents, and the bytes of an element."""
    stages = list(grid.decomposition.layouts)
    divisions = [division for stage, division in stages if isinstance(stage, ExchangeStage)] + [stages[-1][1]]
    numbers = {"input": 0, "inner input": 0, "output": -1, "inner output": -1} | dict(enumerate(range(len(divisions))))
    if array not in numbers:
        raise GridError(f"array {array!r} is unknown; known are {', '.join(map(str, numbers))}")
    halved, is_input = transform.kinds.half, array in ("input", "inner input")
    unit = transform.array_bytes // (2 if halved and is_input else 1)
    extents = (transform.nx, transform.ny, transform.nz) if is_input else transform.exchanged
    if grid.decomposition.has_bricks and array in ("input", "output"):
        bricks = bricks_of(grid.decomposition, grid.n_tasks, transform)
        return list(zip(bricks, np.cumprod([1, *bricks]))), extents, unit
    steps = dict(zip(grid.decomposition.letters, np.cumprod([1, *grid.shape])))
    letters = [divisions[numbers[array]][axis] for axis in AXES]
    return [(grid.extent(letter), steps[letter]) if letter else (1, 0) for letter in letters], extents, unit


def _taken(lengths: Ints, below: int, above: int, walls: bool = False) -> tuple[Ints, Ints, Ints]:
    """Return the indices that each block has in each block with its halo, in a periodic array or between
    walls. An empty block has no halo.

    >>> [found.tolist() for found in _taken(np.array([3, 3, 2]), 1, 0)]
    [[0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [3, 1, 3, 1, 1, 2]]
    """
    n, ends = int(lengths.sum()), np.cumsum(lengths)
    owner = np.searchsorted(ends, np.arange(n), side="right")
    found: dict[tuple[int, int], int] = {}
    for b, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist())):
        if not length:
            continue
        around = np.arange(end - length - below, end + above)
        held, counts = np.unique(owner[around[(around >= 0) & (around < n)] if walls else around % n], return_counts=True)
        found |= {(int(a), b): int(count) for a, count in zip(held, counts)}
    sources, targets = (np.array([pair[i] for pair in sorted(found)], np.int64) for i in (0, 1))
    return sources, targets, np.array([found[pair] for pair in sorted(found)], np.int64)
