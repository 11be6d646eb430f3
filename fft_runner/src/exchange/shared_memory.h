/* Memory that the ranks of a node share, and which members of a group are on which node. For exchange_node.c. */
#pragma once

#include <mpi.h>
#include <stddef.h>

struct pf_shared {
    int users;            /* number of exchanges that use it; freed with the last */
    MPI_Comm comm;        /* the members on this node */
    MPI_Request all_read; /* the barrier behind what was read last */
    char *block;          /* begins a page; NULL before it is made */
    size_t bytes;
    int file;             /* its descriptor while the memory is being reserved; else -1 */
    int local, n, mine;   /* rank in comm; nodes there are; number of this one */
    int *of;              /* node of a member */
    int *members, *first; /* those of node n: members[first[n]] to members[first[n + 1] - 1], ascending */
};

/* For a group of p, with one user; NULL without memory. Still empty. */
struct pf_shared *pf_shared_make(size_t p);
struct pf_shared *pf_shared_join(struct pf_shared *shared); /* add a user */
void pf_shared_leave(struct pf_shared *shared);
/* Find out which ranks are on which node. Collective over the group. */
int pf_shared_find(struct pf_shared *shared, MPI_Comm group);
/* A block that all ranks of the node see, of memory that is not there yet. Collective over the node, fails on each rank
 * alone: then the members agree. */
int pf_shared_open(struct pf_shared *shared, size_t bytes);
/* Get memory for these bytes of the block, near this rank. PENCILFFT_NOT_POSSIBLE where there is none. Local. */
int pf_shared_reserve(const struct pf_shared *shared, size_t start, size_t bytes);
/* When all ranks have reserved theirs: whether all of the block is there, and enough is left for MPI. Local. */
int pf_shared_close(struct pf_shared *shared);
/* When all ranks have closed it: let this rank know where its pages are, at once rather than page by page in the first exchange.
 * Local. */
void pf_shared_map(const struct pf_shared *shared);

/* Collective over the node, like all below. */
/* What the ranks of the node wrote before this call, all of them see after it. */
int pf_shared_meet(struct pf_shared *shared);
/* This rank has read everything; after the second call, all ranks have. */
int pf_shared_let_write(struct pf_shared *shared);
int pf_shared_wait_to_write(struct pf_shared *shared);
