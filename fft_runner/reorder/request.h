/* The request of a caller of pm_comm_reorder(). No MPI. */
#pragma once

#include "common/grid.h"
#include "common/sources.h"

enum { PM_VALUE_SIZE = 4096 };

struct pm_request {
    struct seats_request seats; /* torus, tasks per node, where */
    struct grid grid;
    const char *list; /* the file of a request for any network, in `placement`; NULL: a torus */
    char placement[PM_VALUE_SIZE];
    char where[PM_VALUE_SIZE];
};

/* Read both texts for that many processes. The request must not be moved. A status. */
int pm_request_parse(const char *machine, const char *grid, int processes, struct pm_request *request);
