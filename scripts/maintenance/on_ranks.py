"""Shared code of programs that run under mpirun."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pencilfft import PencilfftError
from pencilmap.model.base.errors import PencilmapError


@contextmanager
def one_message(program: str, comm: Any) -> Iterator[None]:
    """End all ranks with status 1 if all refuse; rank 0 prints the reason in a sentence."""
    try:
        yield
    except (PencilfftError, PencilmapError) as error:
        if comm.rank == 0:
            sys.stderr.write(f"{program}: {error}\n")
        sys.exit(1)
