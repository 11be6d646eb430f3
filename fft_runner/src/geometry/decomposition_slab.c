/* Slabs: P ranks in a line, one axis divided at any time.
 * Idea:  a rank holds whole planes of y and z, then whole planes of x and z; all ranks exchange once between.
 * Source: the MPI transforms of FFTW: M. Frigo, S. G. Johnson, FFTW's manual, 6.4 MPI Data Distribution.
 * Cost:  one exchange of P ranks, so 1/P^2 of the array in each message. Needs: nothing; some ranks are empty if nx or
 *        ny < P. */
#include "common/failure.h"
#include "geometry/decomposition.h"

enum { ALL };

static int take_grid(int R, int C, int grid[PF_MAX_DIMENSIONS])
{
    if (R != 1)
        return pf_fail(PENCILFFT_BAD_GRID,
                       "decomposition slab has a grid of one number P, in R = 1 and C = P; %dx%d was given; "
                       "choose 1xP or decomposition pencil",
                       R, C);
    grid[ALL] = C;
    return PENCILFFT_OK;
}

const struct pf_decomposition pf_decomposition_slab = {
    .name = "slab",
    .dimensions = 1,
    .dimension = {{"P", "of the grid"}},
    .shape = "P",
    .exchanges = 1,
    .exchange = {{"slab", ALL}},
    .array =
        {
            {{ALL, PF_WHOLE, PF_WHOLE}, "zy"},
            {{PF_WHOLE, ALL, PF_WHOLE}, "x"},
        },
    .take_grid = take_grid,
};
