"""The split of a potential by Ewald: Fig. 9 of Cramer and Board, and the counter charges of Schulz's Fig. 2."""

from math import erf, erfc

from pencilmap.scripts.reproduce.figure import SAME, Compared, Found


def ewald_split() -> Found:
    """Return the potential of a charge in the direct and the reciprocal space; both add up to 1/r."""
    rows = [[r, 1 / r, erfc(r) / r, erf(r) / r, erfc(r) / r + erf(r) / r] for r in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)]
    return Found([">r alpha", ">original", ">direct", ">reciprocal", ">sum"], rows,
                 ["potential of a unit charge over alpha: 1/r is erfc(alpha r)/r + erf(alpha r)/r; from r alpha = 3 on, the "
                  "direct part is below 1e-5, which is why it has a cutoff"],
                 [Compared("potential at r alpha = 1, the sum of both parts", 1.0, rows[2][4], "exact", SAME)])
