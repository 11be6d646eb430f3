/* Communicators and windows as lists of world ranks, kept as attributes, and the table of all that were used. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { OUTSIDE = -1 }; /* instead of a rank: a process that is not in MPI_COMM_WORLD */

struct members {
    int size;   /* of the remote group of an intercommunicator */
    int me;     /* rank in the own group */
    int number; /* row of the table of communicators */
    bool inter;
    int world[]; /* world rank of each member, or OUTSIDE */
};

enum { MOST_DIMENSIONS = 16 };

struct communicator {
    uint64_t hash; /* of members and topology: the same on all its ranks */
    int size, first, stride;
    int *list; /* the members, if they are not first, first + stride, first + 2 stride, ... */
    bool inter;
    int dimensions, extent[MOST_DIMENSIONS], periodic[MOST_DIMENSIONS]; /* of a Cartesian topology */
};

void members_begin(void);

/* The members, or NULL if the handle is null or memory is short. They hold until the handle is freed. */
const struct members *members_of(MPI_Comm comm);
const struct members *members_of_window(MPI_Win window);

int communicators_count(void);
const struct communicator *communicator_at(int number);
