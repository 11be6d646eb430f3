"""The two exchanges of a pencil FFT as traffic: who sends how much to whom.

In the row exchange of row q, task p sends its y-block of the z-block of p' ; in the column exchange task q sends its
x-block of the y-block of q'. Every message is a product of three block lengths, so an exchange is three short vectors.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.transform import block_lengths


@dataclass(frozen=True)
class Exchange:
    """All-to-alls of equal size that run at the same time, one in each group.

    Member a of group g sends ``group_weight[g] * send_weight[a] * receive_weight[b] * unit_bytes`` bytes to member b.

    Parameters
    ----------
    name : {"row", "column"}
    members : int array, shape (groups, size)
        Ranks of each group.
    group_weight, send_weight, receive_weight : int arrays, shapes (groups,), (size,), (size,)
    unit_bytes : int
        Bytes of one unit of weight; 1 when no transform is named (then `total_bytes` only sets the scale).
    total_bytes : int
        D_T, bytes of the whole array on the same scale.
    """

    name: str
    members: np.ndarray
    group_weight: np.ndarray
    send_weight: np.ndarray
    receive_weight: np.ndarray
    unit_bytes: int
    total_bytes: int

    @property
    def size(self):
        return self.members.shape[1]

    @property
    def is_even(self):
        """Whether every message has the same size."""
        return all((w == w[0]).all() for w in (self.group_weight, self.send_weight, self.receive_weight))

    @property
    def message_unit(self):
        """Bytes of one message of an even exchange."""
        return int(self.group_weight[0] * self.send_weight[0] * self.receive_weight[0]) * self.unit_bytes


def exchanges(grid, transform=None):
    """The row and the column exchange of a grid.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform, optional
        Without it every task sends one unit to every member of its group: the even exchange of the paper.

    Returns
    -------
    (Exchange, Exchange)
        Row first.

    Examples
    --------
    >>> from pencilmap.model.grid import ProcessGrid
    >>> row, column = exchanges(ProcessGrid(2, 3))
    >>> row.members.tolist(), column.members.tolist()
    ([[0, 1], [2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]])
    """
    if transform is None:
        return tuple(_even(name, members, grid.n_tasks)
                     for name, members in (("row", grid.rows()), ("column", grid.columns())))
    transform.check_grid(grid)
    nx, ny, nz = transform.exchanged
    x_of_q, y_of_q = block_lengths(nx, grid.C), block_lengths(ny, grid.C)
    y_of_p, z_of_p = block_lengths(ny, grid.R), block_lengths(nz, grid.R)
    rest = dict(unit_bytes=transform.point_bytes, total_bytes=transform.total_bytes)
    return (Exchange("row", grid.rows(), x_of_q, y_of_p, z_of_p, **rest),
            Exchange("column", grid.columns(), z_of_p, x_of_q, y_of_q, **rest))


def _even(name, members, n_tasks):
    groups, size = members.shape
    one = np.ones(max(groups, size), dtype=np.int64)
    return Exchange(name, members, one[:groups], one[:size], one[:size], 1, n_tasks * size)


def node_traffic(exchange, node_of_rank, n_nodes):
    """Bytes that the tasks of one node send to those of another.

    Parameters
    ----------
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    n_nodes : int

    Returns
    -------
    scipy.sparse.csr_array of int64, shape (n_nodes, n_nodes)
        From row to column; nothing on the diagonal.

    Examples
    --------
    >>> from pencilmap.model.grid import ProcessGrid
    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> node_traffic(column, np.array([0, 0, 1, 1]), 2).toarray().tolist()    # two tasks on each node
    [[0, 2], [2, 0]]
    """
    from scipy.sparse import coo_array  # slow to import, and closed forms do without

    node = np.asarray(node_of_rank)[exchange.members]
    group = np.broadcast_to(np.arange(len(node))[:, None], node.shape)
    sent = np.broadcast_to(exchange.send_weight * exchange.group_weight[:, None] * exchange.unit_bytes, node.shape)
    received = np.broadcast_to(exchange.receive_weight, node.shape)
    sides = [coo_array((held.ravel(), (node.ravel(), group.ravel())), shape=(n_nodes, len(node))).tocsr()
             for held in (sent, received)]
    traffic = (sides[0] @ sides[1].T).tocoo()
    between = (traffic.row != traffic.col) & (traffic.data != 0)
    return coo_array((traffic.data[between], (traffic.row[between], traffic.col[between])), shape=(n_nodes, n_nodes)).tocsr()
