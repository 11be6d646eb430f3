/* What a decomposition is: one file decomposition_<name>.c and one line in decomposition_table.c.
 *
 * A transform is a sequence of arrays with an exchange between each two. The description says over which dimension of the
 * grid of ranks each axis of each array is divided, and which axes are transformed in each array. Boxes, groups, passes,
 * phases and names follow from it. */
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
        const char *letter, *tasks; /* "R", and whose tasks these are: "of a row" */
    } dimension[PF_MAX_DIMENSIONS];
    const char *shape;      /* and what equals the number of ranks, for messages: "RxC with R*C" */
    int exchanges;
    struct {
        const char *name;
        int over; /* a dimension of the grid: ranks that differ in this one alone are a group */
    } exchange[PF_MAX_EXCHANGES];
    struct {
        int over[3];      /* the dimension that x, y and z are divided over, or PF_WHOLE */
        const char *axes; /* transformed here, in forward order: "z" */
    } array[PF_MAX_ARRAYS]; /* one more than exchanges, in forward order */
    /* Sizes of the grid's dimensions from R and C of a descriptor; refuses what the decomposition does not have. The first
     * dimension is the one that neighbouring ranks differ in. */
    int (*take_grid)(int R, int C, int grid[PF_MAX_DIMENSIONS]);
    /* The same first array, and the exchanges in another order; their names are the same. NULL: there is no other order. */
    const struct pf_decomposition *other_route;
    bool bricks; /* what is transformed comes from bricks and goes to bricks */
};

extern const struct pf_table pf_decompositions; /* of pointers */
