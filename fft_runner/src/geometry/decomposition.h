/* The interface of a decomposition: one file decomposition_<name>.c and one line in decomposition_table.c.
 *
 * A transform is a sequence of arrays with an exchange between each two. For each axis of each array, the description names
 * the dimension of the grid of ranks that divides the axis, and the axes that are transformed in the array. Boxes, groups,
 * passes, phases and names follow from the description. */
#pragma once

#include <stdbool.h>

#include "common/names.h"
#include "pencilfft.h"

enum { PF_MAX_DIMENSIONS = 3, PF_MAX_EXCHANGES = PENCILFFT_MAX_EXCHANGES, PF_MAX_ARRAYS = PF_MAX_EXCHANGES + 1 };
enum { PF_WHOLE = -1 };

struct pf_decomposition {
    const char *name;
    int dimensions;
    struct {
        const char *letter, *tasks; /* "R", and the owner of these tasks: "of a row" */
    } dimension[PF_MAX_DIMENSIONS];
    const char *shape;      /* and the product that equals the number of ranks: "RxC with R*C" */
    int exchanges;
    struct {
        const char *name;
        int over; /* a dimension of the grid: ranks that differ only in this dimension are a group */
    } exchange[PF_MAX_EXCHANGES];
    struct {
        int over[3];      /* the dimension that divides x, y and z, or PF_WHOLE */
        const char *axes; /* transformed here, in forward order: "z" */
    } array[PF_MAX_ARRAYS]; /* one array more than exchanges, in forward order */
    /* Sizes of the grid's dimensions from R and C of a descriptor; refuses numbers that the decomposition does not have.
     * Neighbouring ranks differ in the first dimension. */
    int (*take_grid)(int R, int C, int grid[PF_MAX_DIMENSIONS]);
    /* The same first array, and the exchanges in another order, under the same names. NULL if there is no other order. */
    const struct pf_decomposition *other_route;
    bool bricks; /* bricks before and after the transform */
};

extern const struct pf_table pf_decompositions; /* of pointers */

/* Takes R and C as they are, for rows and columns. */
int pf_take_both(int R, int C, int grid[PF_MAX_DIMENSIONS]);
