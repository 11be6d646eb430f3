/* How a process knows its node. */
#ifndef PM_WHERE_H
#define PM_WHERE_H

#include <mpi.h>

#include "request.h"

struct pm_seat {
    int64_t node;
    int64_t slot;
};

/* Collective: the seat of this process. Where names do not tell the slot, the processes of a node are numbered by rank. */
int pm_find_seat(const struct pm_request *request, MPI_Comm comm, struct pm_seat *seat);

#endif
