/* Counting messages: at once, or into a list that a persistent request replays at each start. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

/* Communicators and windows as lists of world ranks, kept as attributes, and the table of all that were used. */
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

struct counted {
    uint64_t key, bytes, messages;
};

struct list {
    struct counted *at;
    size_t used, places;
};

/* Messages of this rank to a member of a communicator. No message: to itself, or to no rank (MPI_PROC_NULL). */
void count(const struct members *m, enum kind kind, int member, uint64_t bytes, uint64_t messages);

/* What this thread counts until `record_end` goes into the list. */
void record_begin(struct list *list);
void record_end(void);

void request_keep(MPI_Request request, struct list list);
void request_start(MPI_Request request);
void request_forget(MPI_Request request);

uint64_t size_of(MPI_Datatype type);

/* Which messages a collective is taken to send, whatever the MPI library really does:
 *
 *   kind STATED, the pairs that the call states
 *     alltoall, alltoallv, alltoallw, neighbor_*   one message to each member or neighbour
 *     gather, gatherv                              one message to the root
 *     scatter, scatterv                            one message from the root to each member
 *   kind MODELLED, pairs of a common algorithm
 *     barrier                        dissemination: messages without bytes to the ranks 1, 2, 4, ... further on
 *     bcast, reduce                  binomial tree of the root
 *     allgather, allgatherv          ring: P - 1 messages to the next rank
 *     reduce_scatter, ..._block      ring: P - 1 messages to the next rank
 *     allreduce                      recursive doubling up to SMALL bytes, else two rings (reduce-scatter, allgather)
 *     scan, exscan                   one message to the next rank
 *   On an intercommunicator the modelled collectives send directly to the other group: bcast and reduce between the root and
 *   each member, allgather to each member, the others to the member with the same rank modulo the size of the group.
 *
 * Messages without bytes count in barriers only. */
enum { SMALL = 8192 };

void count_alltoall(const struct members *m, uint64_t bytes);
void count_to(const struct members *m, int member, uint64_t bytes); /* one stated message */
void count_scatter(const struct members *m, int root, uint64_t bytes);
void count_barrier(const struct members *m);
void count_bcast(const struct members *m, int root, uint64_t bytes);
void count_reduce(const struct members *m, int root, uint64_t bytes);
void count_allreduce(const struct members *m, uint64_t bytes);
void count_scan(const struct members *m, uint64_t bytes);

/* A ring in which this rank sends `bytes` in all; on an intercommunicator it sends `direct` bytes to the other group. */
void count_ring(const struct members *m, uint64_t bytes, uint64_t direct);
void count_allgather(const struct members *m, uint64_t bytes, uint64_t direct);

/* The destinations of neighbourhood collectives in their order; the caller frees them. NULL, 0: none. */
int *neighbours(MPI_Comm comm, int *count);

static inline bool is_root(const struct members *m, int root)
{
    return m->inter ? root == MPI_ROOT : root == m->me;
}
