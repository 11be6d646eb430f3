"""Blue Gene/L and /P mapfile: line i holds ``x y z t`` of rank i; on d dimensions d coordinates and the slot.

Source: UCAR wiki "BGLMapping"; used by ``mpirun -mapfile FILE`` or ``BGLMPI_MAPPING=FILE``. No comments are written, since
none are documented; they are read.
"""

from pencilmap.mapper.formats.lines import columns, integers
from pencilmap.model.errors import MapfileError


def write(mapping):
    rows = zip(mapping.coordinates().tolist(), mapping.slot_of_rank.tolist())
    return "".join(f"{' '.join(map(str, coordinate))} {slot}\n" for coordinate, slot in rows)


def read(lines, label, torus):
    d = torus.n_dimensions
    meaning = " ".join([*torus.axes, "t"])
    rows = [integers(line, number, label, d + 1, meaning) for number, line in lines]
    numbers = [number for number, _ in lines]
    table = columns(rows, d + 1)
    for number, row in zip(numbers, rows):
        problem = torus.outside(row[:d])
        if problem:
            raise MapfileError(f"{label} line {number}: {problem}")
    return torus.node(table[:, :d]), table[:, d].copy(), numbers


def looks_like(line):
    return all(word.lstrip("+-").isdecimal() for word in line.split())


def launch(path):
    return f"mpirun -mapfile {path} ..."
