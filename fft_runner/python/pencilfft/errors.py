"""The error of the binding, and checks of arguments that need no library."""

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from math import inf
from numbers import Real
from operator import index
from typing import Any, NoReturn, TypeVar

import numpy as np

from pencilfft.header import numbers

Key = TypeVar("Key")
Value = TypeVar("Value")
#: Directions of a transform or of an exchange alone; the bits of `directions`.
FORWARD, BACKWARD = numbers("forward", "backward").values()
MOST_SHOWN = 80
AXES = {2: "two for x and y", 3: "three for x, y and z"}


class PencilfftError(Exception):
    """An error of the library, with its message; also raised if an array does not fit the plan, or the library is missing
    or was built for another MPI.
    """


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # e.g. an integer of more digits than Python prints
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN - 4]} ..."


def _integer(value: Any, name: str, bits: int = 64) -> int:
    """Return an integer. Refuse truth values, numbers with a fraction, and numbers that ctypes would cut."""
    try:
        number = None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise PencilfftError(f"{name} is {_shown(value)}; give an integer")
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise PencilfftError(f"{name} is {_shown(number)}; it must be an integer of {bits} bits")
    return number


def _integers(values: Any, counts: tuple[int, ...], name: str, allowed: str, bits: int = 64) -> tuple[int, ...]:
    """Return integers, as many as one of `counts` allows; a single integer needs no sequence."""
    alone = np.ndim(values) == 0 if isinstance(values, np.ndarray) else not isinstance(values, Iterable)
    given = (values,) if alone else tuple(islice(values, max(counts) + 1))
    if len(given) not in counts or any(isinstance(one, str | float | np.floating) for one in given):
        raise PencilfftError(f"{name} is {_shown(values)}; give {allowed}")
    return tuple(_integer(one, name, bits) for one in given)


def _text(value: Any, name: str) -> bytes:
    try:
        encoded = value.encode() if isinstance(value, str) else None
    except UnicodeEncodeError:  # half of a character
        encoded = None
    if encoded is None or b"\0" in encoded:
        raise PencilfftError(f"{name} is {_shown(value)}; give a text without NUL")
    return encoded


def _path(value: Any) -> bytes:
    try:
        encoded = os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        encoded = b"\0"
    if b"\0" in encoded:
        raise PencilfftError(f"path is {_shown(value)}; give the path of a file")
    return encoded


def _real(value: Any, name: str) -> float:
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
    except OverflowError:
        number = None
    if number is None:
        raise PencilfftError(f"{name} is {_shown(value)}; give a number")
    return number


def _factors(value: Any, name: str, axes: int = 3) -> tuple[float, ...]:
    factors = tuple(islice(value, 4)) if isinstance(value, Iterable) else (value,) * axes
    numbers = tuple(_real(factor, name) for factor in factors)
    if len(factors) != axes or not all(1 <= number < inf for number in numbers):
        raise PencilfftError(f"{name} is {_shown(value)}; give a factor of 1 or more, or {AXES[axes]}")
    return numbers


def _truth(value: Any, name: str) -> int:
    if not isinstance(value, bool | np.bool_) and _integer(value, name) not in (0, 1):
        raise PencilfftError(f"{name} is {_shown(value)}; give True or False")
    return int(value)


def _known(table: Mapping[Key, Value], name: Any) -> Value:
    if isinstance(name, bool | float) or not isinstance(name, str | int | np.integer) or name not in table:
        raise PencilfftError(f"unknown {_shown(name)}; known: {', '.join(map(str, table))}")
    return table[name]  # type: ignore[index]


def _refuse(error: Exception) -> NoReturn:
    raise error


def _direction(given: Any) -> int:
    return _known({FORWARD: FORWARD, BACKWARD: BACKWARD}, given)
