/* From the processes as launched to a communicator in which each process has its rank from a placing. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#include "common/sources.h"

/* Fill the placing of so many ranks; called on a single process. A status; on failure there is nothing to release. */
typedef int (*place_ranks)(const void *what, const struct torus *torus, int tasks_per_node, int ranks,
                           struct placing *placing);

struct seating_request {
    struct seats_request seats;
    place_ranks place; /* NULL: ranks as launched */
    const void *what;  /* for place() */
};

struct seating {
    MPI_Comm comm;
    int rank, ranks;     /* in the new communicator */
    struct seat mine;
    int source;          /* of the coordinates: number in the table, or -1 */
    int tasks_per_node;  /* 0: unknown */
    int64_t *places;     /* of every rank; NULL: ranks as launched */
};

/* The clues to the location of this process. A status. */
int seating_myself(MPI_Comm world, struct seat *me);
/* Collective over world; fails on all or none, with the same message. Release the seating in any case. */
int seating_make(const struct seating_request *request, MPI_Comm world, struct seating *seating);
/* Collective, like MPI_Comm_free. */
void seating_release(struct seating *seating);
/* A table of so many processes, to be released by free(); NULL with a message. Not of malloc: a simulator that shares large
 * mallocs of all ranks must not share this table. */
void *seating_table(int n, size_t bytes);
