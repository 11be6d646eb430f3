/* Memory that the ranks of a node share, and the node of each member of a group. For exchange_node.c. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct pf_shared {
    int users;            /* number of exchanges; freed with the last user */
    MPI_Comm comm;        /* the members on this node; of the group */
    bool smaller;         /* comm is part of a node, and is freed with this */
    MPI_Request all_read; /* the barrier behind the last read */
    char *block;          /* begins a page; NULL before allocation */
    size_t bytes;
    _Atomic int *call; /* behind the messages: what each rank of the node runs */
    int file;             /* its descriptor during reservation; else -1 */
    int local, n, mine;   /* rank in comm; number of nodes; own node */
    int *of;              /* node of a member */
    int *members, *first; /* members of node n: members[first[n]] to members[first[n + 1] - 1], ascending */
};

/* For a group of p, with one user; NULL without memory. Still empty. */
struct pf_shared *pf_shared_make(size_t p);
struct pf_shared *pf_shared_join(struct pf_shared *shared); /* add a user */
void pf_shared_leave(struct pf_shared *shared);
/* The ranks of a group on this node. The group frees *node at its end. Collective over the group. */
int pf_shared_node(MPI_Comm group, MPI_Comm *node);
/* Find the node of each rank. Collective over the group. */
int pf_shared_find(struct pf_shared *shared, MPI_Comm group);
/* A block that all ranks of the node see, without memory yet. Collective over the node, fails on each rank alone: then the
 * members agree. */
int pf_shared_open(struct pf_shared *shared, size_t bytes);
/* Get memory for these bytes of the block, near this rank. PENCILFFT_NOT_POSSIBLE if there is none. Local. */
int pf_shared_reserve(const struct pf_shared *shared, size_t start, size_t bytes);
/* After the reservations of all ranks: whether all memory of the block exists, and enough is left for MPI. Local. */
int pf_shared_close(struct pf_shared *shared);
/* After all ranks have closed the block: map its pages for this rank at once rather than page by page in the first exchange.
 * Local. */
void pf_shared_map(const struct pf_shared *shared);

/* Before MPI allocates so many bytes of this rank for the window of a group: PENCILFFT_NOT_POSSIBLE if the windows of
 * all ranks on the node have no room, because an MPI without room ends the job, or waits for ever. Then, and when
 * the window is there, the bytes are not promised any more. Local. */
int pf_window_plan(size_t bytes, size_t members);
void pf_window_opened(size_t bytes);

/* Collective over the node, like all below. */
/* All ranks of the node see the others' writes before this call. */
int pf_shared_meet(struct pf_shared *shared);
/* The same, if all make the same call, a number above 0; else PENCILFFT_MISMATCH on all. */
int pf_shared_meet_in(struct pf_shared *shared, int call);
/* This rank has read everything; after the second call, all ranks have. */
int pf_shared_let_write(struct pf_shared *shared);
int pf_shared_wait_to_write(struct pf_shared *shared);
