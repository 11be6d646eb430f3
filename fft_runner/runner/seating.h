/* The processes, where they sit, and the communicator in which each has its grid rank. */
#ifndef RUNNER_SEATING_H
#define RUNNER_SEATING_H

#include <mpi.h>

#include "placement.h"

struct seating {
    MPI_Comm grid;             /* rank = grid rank */
    int rank, ranks;           /* in grid */
    const char *source;        /* "launcher" or "mapfile" */
    const char *coordinates;   /* where coordinates come from */
    const char *self_check;    /* "passed" or "not-possible" */
    int tasks_per_node;        /* 0: not known */
    struct process *processes; /* in order of grid rank; on rank 0 of grid only */
};

/* Collective over world; fails on all or none. */
int seating_make(const struct placement_request *request, MPI_Comm world, struct seating *seating);
void seating_release(struct seating *seating);

#endif
