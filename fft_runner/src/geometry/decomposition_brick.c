/* Bricks: a grid PxQxS of ranks before and after, pencils in between.
 * Idea:  many codes hold bricks, divided along x, y and z. Bricks are remapped to pencils of a grid RxC, transformed like
 *        pencils, and remapped to bricks again; exchange/remap.c moves the elements that change rank. Rank (c * Q + b) * P +
 *        a holds block a of x, b of y and c of z. Boxes of any other shape are given to any decomposition in the same way.
 * Source: M. Schulz, "3D-FFT on different networks", 2008, figure 5; A. Ayala, S. Tomov, A. Haidar, J. Dongarra, heFFTe:
 *         Highly efficient FFT for exascale, ICCS 2020.
 * Cost:  the two exchanges of pencils and two remaps, of some S and P messages a rank. Needs: as pencils. */
#include "geometry/decomposition.h"

enum { ROW, COLUMN };

const struct pf_decomposition pf_decomposition_brick = {
    .name = "brick",
    .dimensions = 2,
    .dimension = {{"R", "of a row"}, {"C", "of a column"}},
    .shape = "RxC with R*C",
    .exchanges = 2,
    .exchange = {{"row", ROW}, {"column", COLUMN}},
    .array =
        {
            {{COLUMN, ROW, PF_WHOLE}, "z"},
            {{COLUMN, PF_WHOLE, ROW}, "y"},
            {{PF_WHOLE, COLUMN, ROW}, "x"},
        },
    .take_grid = pf_take_both,
    .bricks = true,
};
