/* Pencils: a grid of RxC ranks, two axes divided at any time.
 * Idea:  a rank holds whole lines along z, then along y, then along x. Between z and y the R ranks of a row exchange,
 *        between y and x the C ranks of a column; rank q * R + p has position p in row q. On the other route x comes before
 *        y, and the column's exchange before the row's.
 * Source: H. Q. Ding, R. D. Ferraro, D. B. Gennery, A portable 3D FFT package for distributed-memory parallel architectures,
 *         SIAM PPSC 1995.
 * Cost:  two exchanges, of R and of C ranks. Needs: nothing; some ranks are empty if nx or ny < C, ny or nz < R. */
#include "geometry/decomposition.h"

enum { ROW, COLUMN };

int pf_take_both(int R, int C, int grid[PF_MAX_DIMENSIONS])
{
    grid[ROW] = R;
    grid[COLUMN] = C;
    return PENCILFFT_OK;
}

static const struct pf_decomposition other_route = {
    .name = "pencil",
    .dimensions = 2,
    .exchanges = 2,
    .exchange = {{"column", COLUMN}, {"row", ROW}},
    .array =
        {
            {{COLUMN, ROW, PF_WHOLE}, "z"},
            {{PF_WHOLE, ROW, COLUMN}, "x"},
            {{ROW, PF_WHOLE, COLUMN}, "y"},
        },
    .take_grid = pf_take_both,
};

const struct pf_decomposition pf_decomposition_pencil = {
    .name = "pencil",
    .dimensions = 2,
    .dimension = {{"R", "of a row"}, {"C", "of a column"}},
    .shape = "RxC with R*C",
    .exchanges = 2,
    .exchange = {[PENCILFFT_ROW] = {"row", ROW}, [PENCILFFT_COLUMN] = {"column", COLUMN}},
    .array =
        {
            [PENCILFFT_Z_PENCIL] = {{COLUMN, ROW, PF_WHOLE}, "z"},
            [PENCILFFT_Y_PENCIL] = {{COLUMN, PF_WHOLE, ROW}, "y"},
            [PENCILFFT_X_PENCIL] = {{PF_WHOLE, COLUMN, ROW}, "x"},
        },
    .take_grid = pf_take_both,
    .other_route = &other_route,
};
