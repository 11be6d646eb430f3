/* The processes of the run: their seats, their bindings, and the communicator in which each has its grid rank. */
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

/* Seat the processes, at the places of a mapfile or (NULL) as launched, and gather the table. Collective; fails on all or
 * none. */
int processes_seat(const struct seats_request *request, const char *mapfile, struct processes *processes);
void processes_release(struct processes *processes);
