"""Names of the array types in annotations; divisors and ordered factorisations of small numbers."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


def divisors(n: int) -> list[int]:
    """Return the divisors of n in rising order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    low = [k for k in range(1, int(n**0.5) + 1) if n % k == 0]
    return sorted({*low, *(n // k for k in low)})


def factorisations(n: int, parts: int, least: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write n as an ordered product, small factors first.

    Parameters
    ----------
    n, parts : int
        Product, and number of factors.
    least : int, optional
        No factor is below `least` or the factor before.

    Examples
    --------
    >>> list(factorisations(6, 2)), list(factorisations(12, 2, 1))
    ([(1, 6), (2, 3), (3, 2), (6, 1)], [(1, 12), (2, 6), (3, 4)])
    """
    if parts == 1:
        if least is None or n >= least:
            yield (n,)
        return
    for first in divisors(n):
        if least is None or (first >= least and first**parts <= n):
            for rest in factorisations(n // first, parts - 1, None if least is None else first):
                yield (first, *rest)


def prime_factors(n: int) -> list[int]:
    """Return the prime factors of a number, the smallest first.

    >>> prime_factors(24)
    [2, 2, 2, 3]
    """
    factors, k = [], 2
    while n > 1:
        while n % k == 0:
            factors.append(k)
            n //= k
        k += 1
    return factors
