"""The closed form for one exchange of a product placement."""

from dataclasses import dataclass
from fractions import Fraction

from pencilmap.model.network.network import TorusLink


@dataclass(frozen=True)
class ProductLoad:
    """Loads on the m scale (4 load N / D_T), per cable.

    Parameters
    ----------
    load : tuple of Fraction or float
        The largest in each dimension.
    hop_length : Fraction
        Hops of a byte, times 4.
    busiest : TorusLink or None
        None if the closed form does not give the link, or all links are idle.
    """

    load: tuple
    hop_length: Fraction
    busiest: TorusLink | None = None
