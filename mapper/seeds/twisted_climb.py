"""Hill climbing over the generators of a digit basis: the inner loop of `pencilmap.mapper.seeds.twisted_torus`.

Idea: the place of a rank is the sum of its digits times their generators, so the row of rank (p, q) is a set A, moved by
q's part, and its column is a set B, moved by p's part. The load of all rows is the load of the messages inside A, folded
along the digits of B: for each digit of radix k, the load of every link becomes the sum over k moved loads. A change of a
digit of A leaves the messages inside B as they are. All sums of digits must be different places.
Cost: R^2 x path for the messages inside A or C^2 x path inside B, and O(d N) for each digit; 20 to 2,000 microseconds.
Needs: routes that look the same from every node, even blocks. Deterministic: the same seed gives the same basis.
"""

from collections import namedtuple
from functools import lru_cache
from typing import Any

import numpy as np

from pencilmap.mapper.base.compiling import compiled, copy_into, random_below
from pencilmap.model.base.arrays import prime_factors
from pencilmap.model.kinds.twisted_torus import routes_of
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, steps_up_and_down
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.loads import Objective

Network = namedtuple("Network", "sums differences start first node share worth steps slots")
Network.__doc__ = """A network whose routes look the same from every node.

Parameters
----------
sums, differences : int32 array, shape (N, N)
    Node of the sum of two nodes; node of the second minus the first.
start, first, node, share : arrays of `pencilmap.model.kinds.twisted_torus.Routes`
    Of the links upwards; `first` is the dimension times N.
worth : float array, shape (d,)
    Factor of a load on the weighted m scale.
steps : int array, shape (channels,)
    Node at the end of each link of node 0.
slots : int
    Tasks of a node.
"""

Wanted = namedtuple("Wanted", "count rows columns")
Wanted.__doc__ = "The terms of an objective: count, share of the row exchange, share of the column exchange; float arrays."

HEAT = 0.01  # share of the best cost by which a worse basis may be accepted in the beginning
FRESH, ADDED, SWAPPED = 0.3, 0.6, 0.8  # of the moves; the rest is a step along a link


@compiled
def places_of(network: Network, radix: np.ndarray, node: np.ndarray, slot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return node and slot of every sum of digits, the first digit fastest."""
    size = 1
    for k in radix:
        size *= k
    nodes, slots = np.zeros(size, np.int64), np.zeros(size, np.int64)
    done = 1
    for i in range(len(radix)):
        for digit in range(1, radix[i]):
            for j in range(done):
                nodes[digit * done + j] = network.sums[nodes[(digit - 1) * done + j], node[i]]
                slots[digit * done + j] = (slots[(digit - 1) * done + j] + slot[i]) % network.slots
        done *= radix[i]
    return nodes, slots


@compiled
def all_different(network: Network, nodes: np.ndarray, slots: np.ndarray, seen: np.ndarray, stamp: int) -> bool:
    """Return whether no place occurs twice."""
    for k in range(len(nodes)):
        place = nodes[k] * network.slots + slots[k]
        if seen[place] == stamp:
            return False
        seen[place] = stamp
    return True


@compiled
def load_inside(network: Network, nodes: np.ndarray, load: np.ndarray) -> None:
    """Set `load`, shape (channels N,), to the load of one message between every two of some tasks."""
    load[:] = 0.0
    for a in nodes:
        moved, differences = network.sums[a], network.differences[a]
        for b in nodes:
            displacement = differences[b]
            for k in range(network.start[displacement], network.start[displacement + 1]):
                load[network.first[k] + moved[network.node[k]]] += network.share[k]


@compiled
def folded(network: Network, load: np.ndarray, radix: np.ndarray, node: np.ndarray, work: np.ndarray,
           result: np.ndarray) -> None:
    """Set `result` to the load of all sets that the digits move a set to."""
    n = len(network.sums)
    copy_into(result, load)
    for i in range(len(radix)):
        copy_into(work, result)
        at = node[i]
        for _ in range(1, radix[i]):
            moved = network.sums[at]
            for first in range(0, len(result), n):
                for v in range(n):
                    result[first + moved[v]] += work[first + v]
            at = moved[node[i]]


@compiled
def cost_of(network: Network, wanted: Wanted, rows: np.ndarray, columns: np.ndarray) -> float:
    """Return the objective of the loads of rows and columns."""
    n, total = len(network.sums), 0.0
    for term in range(len(wanted.count)):
        most = 0.0
        for channel in range(len(network.worth)):
            for v in range(channel * n, channel * n + n):
                load = network.worth[channel] * (wanted.rows[term] * rows[v] + wanted.columns[term] * columns[v])
                most = max(most, load)
        total += wanted.count[term] * most
    return total


@compiled
def climb(network: Network, wanted: Wanted, radix: np.ndarray, n_rows: int, start: tuple[np.ndarray, np.ndarray],
          evaluations: int, aim: float, seed: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Climb from a basis. Return its best generators (node, slot), their cost, and the evaluations used.

    Parameters
    ----------
    network : Network
    wanted : Wanted
        Its shares include the factors of the m scale.
    radix : int array, shape (D,)
        Of every digit; those of the rows first.
    n_rows : int
        Digits of the rows.
    start : (int array, int array), shapes (D,)
        Generators of the first basis, node and slot, whose sums are all different.
    evaluations : int
    aim : float
        A lower bound: stop when a basis costs no more.
    seed : int
    """
    n, size = len(network.sums), len(network.worth) * len(network.sums)
    state = np.array([np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(88172645463325252)])
    node, slot = start[0].copy(), start[1].copy()
    inside, tried = np.zeros((2, size)), np.zeros((2, size))
    work, rows, columns = np.zeros(size), np.zeros(size), np.zeros(size)
    seen, stamp = np.zeros(n * network.slots, np.int64), 0
    members = places_of(network, radix[:n_rows], node[:n_rows], slot[:n_rows])[0]
    load_inside(network, members, inside[0])
    members = places_of(network, radix[n_rows:], node[n_rows:], slot[n_rows:])[0]
    load_inside(network, members, inside[1])
    folded(network, inside[0], radix[n_rows:], node[n_rows:], work, rows)
    folded(network, inside[1], radix[:n_rows], node[:n_rows], work, columns)
    source = cost_of(network, wanted, rows, columns)
    best, best_node, best_slot = source, node.copy(), slot.copy()
    done, proposed = 1, 0
    while done < evaluations and proposed < 64 * evaluations and best > aim:
        proposed += 1
        i, move = random_below(state, n_rows), random_below(state, 1000) / 1000.0
        if n_rows == 0 or (n_rows < len(radix) and random_below(state, 2)):
            i = n_rows + random_below(state, len(radix) - n_rows)
        j = i
        old_node, old_slot = node[i], slot[i]
        if move < FRESH:
            node[i], slot[i] = random_below(state, n), random_below(state, network.slots)
        elif move < ADDED:
            other = random_below(state, len(radix))
            node[i] = network.sums[node[i], node[other]]
            slot[i] = (slot[i] + slot[other]) % network.slots
        elif move < SWAPPED:
            j = random_below(state, len(radix))
            if radix[i] == radix[j]:
                node[i], slot[i], node[j], slot[j] = node[j], slot[j], node[i], slot[i]
            else:
                j = i
        else:
            node[i] = network.sums[node[i], network.steps[random_below(state, len(network.steps))]]
        if node[i] == old_node and slot[i] == old_slot:
            continue
        stamp += 1
        nodes, slots = places_of(network, radix, node, slot)
        accepted = False
        of_rows, of_columns = i < n_rows or j < n_rows, i >= n_rows or j >= n_rows
        if all_different(network, nodes, slots, seen, stamp):
            done += 1
            if of_rows:
                load_inside(network, places_of(network, radix[:n_rows], node[:n_rows], slot[:n_rows])[0], tried[0])
            else:
                copy_into(tried[0], inside[0])
            if of_columns:
                load_inside(network, places_of(network, radix[n_rows:], node[n_rows:], slot[n_rows:])[0], tried[1])
            else:
                copy_into(tried[1], inside[1])
            folded(network, tried[0], radix[n_rows:], node[n_rows:], work, rows)
            folded(network, tried[1], radix[:n_rows], node[:n_rows], work, columns)
            cost = cost_of(network, wanted, rows, columns)
            warmth = HEAT * best * (1.0 - done / evaluations)
            accepted = cost <= source + 1e-12
            if not accepted and warmth > 0:
                accepted = random_below(state, 1 << 30) / (1 << 30) < np.exp((source - cost) / warmth)
            if accepted:
                source = cost
                copy_into(inside[0], tried[0])
                copy_into(inside[1], tried[1])
                if cost < best - 1e-9:
                    best, best_node, best_slot = cost, node.copy(), slot.copy()
        if not accepted:
            if j != i:
                node[i], slot[i], node[j], slot[j] = node[j], slot[j], node[i], slot[i]
            else:
                node[i], slot[i] = old_node, old_slot
    return best_node, best_slot, best, done


def climbed(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int, objective: Objective, start: Any, steps: int,
            aim: float, number: int) -> tuple[float, list[tuple[int, int]]]:
    """Return the cost and the generators of the best basis of a climb."""
    generators = np.array(start, dtype=np.int64).reshape(-1, 2)
    rows, columns = (prime_factors(n) for n in grid.shape)
    node, slot, cost, _ = climb(_network(torus, tasks_per_node), _terms(objective, grid, tasks_per_node),
                                np.array([*rows, *columns], dtype=np.int64), len(rows),
                                (generators[:, 0].copy(), generators[:, 1].copy()), steps, aim + 1e-9, number)
    return cost, list(zip(node.tolist(), slot.tolist()))


@lru_cache(maxsize=4)
def _network(torus: TwistedTorus, tasks_per_node: int) -> Network:
    """Return the network with its links upwards alone: groups load both directions of a cable alike."""
    routes, nodes, n = routes_of(torus), np.arange(torus.n_nodes), torus.n_nodes
    sums = torus.sums(nodes, nodes).astype(np.int32)
    strength = np.array([float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)])
    steps = np.array([torus.neighbours[i, direction, 0] for i, direction in steps_up_and_down(torus)] or [0])
    up = routes.channel % 2 == 0
    start = np.concatenate([[0], np.cumsum(up)])[routes.start]
    return Network(sums, sums[torus.negative], start, (routes.channel[up] // 2 * n).astype(np.int32),
                   routes.node[up].astype(np.int32), routes.share[up], strength, steps, tasks_per_node)


def _terms(objective: Objective, grid: ProcessGrid, tasks_per_node: int) -> Wanted:
    """Return the objective with the factors of the m scale, 4 N / (P R) for rows and 4 N / (P C) for columns."""
    unit = [4 / (tasks_per_node * size) for size in grid.shape]
    return Wanted(np.array([float(term.count) for term in objective.terms]),
                  *(np.array([float(term.shares[k]) * unit[k] for term in objective.terms]) for k in range(2)))
