"""Programs and libraries whose process grid can be chosen: the words of the grid, and the order of its ranks."""

import re
from dataclasses import dataclass

from pencilmap.model.placement.grid import LIBRARIES, ProcessGrid
from pencilmap.model.traffic.patterns import FFT, HALO


@dataclass(frozen=True)
class Code:
    """A line of the table.

    title : name for readers
    words : the grid as the program takes it; `{0}` is its first number
    source : documentation or source that says so
    axes : number of extents
    kind : `HALO` or `FFT`
    library : of an FFT, its name in `LIBRARIES`, which has its words
    first_fastest : whether successive ranks differ along the first axis
    forwards : if halos go axis after axis, and those that have come are sent on: from how many sides they come
    has_own_ends : whether such halos also come from the other end of an axis with a single rank
    periodic : whether ends are usually neighbours
    """

    title: str
    words: str
    source: str
    axes: int = 3
    kind: str = HALO
    library: str = ""
    first_fastest: bool = False
    forwards: int = 0
    has_own_ends: bool = False
    periodic: bool = False

    def said(self, extents: tuple[int, ...]) -> str:
        """Return a grid in the words of the program; of an FFT, R x C.

        >>> CODES["lammps"].said((2, 2, 4)), CODES["p3dfft"].said((4, 8))
        ('processors 2 2 4', 'iproc=4, jproc=8')
        """
        return LIBRARIES[self.library].said(ProcessGrid(*extents)) if self.library else self.words.format(*extents)

    def numbers(self, text: str) -> tuple[int, ...] | None:
        """Return the extents of a grid in words or plain numbers, None if there are not as many.

        >>> CODES["lammps"].numbers("processors 2 2 4"), CODES["2decomp"].numbers("p_row=8, p_col=4")
        ((2, 2, 4), (4, 8))
        """
        found = tuple(int(word) for word in re.split(r"[\sx=(),{}]+", text) if word.isdecimal())
        if len(found) != self.axes or min(found) < 1:
            return None
        return LIBRARIES[self.library].grid(*found).shape if self.library else found


_MPI = "MPI standard, Process Topologies: row-major numbering is always used"
_P3DFFT = "https://github.com/sdsc/p3dfft, P3DFFT_User_Guide_2.7.5.pdf"
CODES = {
    "lammps": Code("LAMMPS", "processors {0} {1} {2}", "https://docs.lammps.org/processors.html, comm_style.html",
                   forwards=2, has_own_ends=True, periodic=True),
    "gromacs": Code("GROMACS", "-dd {0} {1} {2}", "https://manual.gromacs.org/current/onlinehelp/gmx-mdrun.html",
                    forwards=1, periodic=True),
    "nemo": Code("NEMO", "jpni={0} jpnj={1}", "namelist_ref, nammpp; src/OCE/LBC/mppini.F90", 2, first_fastest=True),
    "wrf": Code("WRF", "nproc_x={0} nproc_y={1}", "https://github.com/wrf-model/WRF, run/README.namelist; "
                "external/RSL_LITE/module_dm.F", 2, first_fastest=True),
    "openfoam": Code("OpenFOAM", "n ({0} {1} {2}), order xyz", "https://github.com/OpenFOAM/OpenFOAM-dev, src/parallel/"
                     "decompose/decompositionMethods/hierarchical/hierarchical.C", first_fastest=True),
    "cp2k": Code("CP2K", "DISTRIBUTION_LAYOUT {0} {1} {2}", "https://manual.cp2k.org/cp2k-2023_1-branch/CP2K_INPUT/"
                 "FORCE_EVAL/DFT/POISSON/EWALD/RS_GRID.html", periodic=True),
    "2decomp": Code("2DECOMP&FFT", "", "https://2decomp-fft.github.io/pages/api_domain.html", 2, FFT, "2decomp",
                    first_fastest=True),
    "p3dfft": Code("P3DFFT", "", _P3DFFT, 2, FFT, "p3dfft", first_fastest=True),
    "fft": Code("FFT", "{0}x{1}", "R x C ranks as in `Pattern`", 2, FFT, first_fastest=True),
    "cart2d": Code("MPI", "dims {{{0}, {1}}}", _MPI, 2),
    "cart3d": Code("MPI", "dims {{{0}, {1}, {2}}}", _MPI),
}
