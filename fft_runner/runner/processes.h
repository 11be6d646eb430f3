/* The processes of the run: where they sit, what they may run on, and the communicator in which each has its grid rank. */
#pragma once

#include "common/seating.h"
#include "topology.h"

/* One process. Plain data: it travels as bytes. */
struct process {
    struct seat seat;
    struct topology topology;
};

struct processes {
    struct seating seating;
    struct process *table; /* in order of grid rank; on grid rank 0 only */
};

/* Seat them, on a mapfile's places unless that is NULL, and gather the table. Collective; fails on all or none. */
int processes_seat(const struct seats_request *request, const char *mapfile, struct processes *processes);
void processes_release(struct processes *processes);
