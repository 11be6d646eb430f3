/* What the caller of pm_comm_reorder() asked for. Knows no MPI. */
#ifndef PM_REQUEST_H
#define PM_REQUEST_H

#include "torus.h"

enum { PM_VALUE_SIZE = 1024 };

struct pm_request {
    struct torus torus;
    int row, column; /* tasks in a row, in a column */
    int ranks;       /* row * column */
    int tasks;       /* per node */
    char placement[PM_VALUE_SIZE];
    char where[PM_VALUE_SIZE];
};

/* Read both texts for that many processes. A status. */
int pm_request_parse(const char *machine, const char *grid, int processes, struct pm_request *request);

/* The text after the colon of "name:argument", or NULL when `text` does not begin with that name. "" without a colon. */
const char *pm_argument(const char *text, const char *name);

/* Axes in the order of the letters, fastest first; axis `dims` is the slot. NULL or "" stands for xyzt. A status. */
int pm_axis_order(const struct torus *torus, const char *order, int axes[MAX_DIMS + 1]);

/* Number of the place that comes i-th in that order: node * tasks + slot. */
int64_t pm_place_in_order(const struct pm_request *request, const int axes[MAX_DIMS + 1], int64_t i);

#endif
