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
#pragma once

#include "count.h"

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
