/* Memory that the ranks of a node share, and which members of a group are on which node. For exchange_node.c. */
#pragma once

#include <mpi.h>
#include <stddef.h>

struct pf_shared {
    int users;            /* number of exchanges that use it; freed with the last */
    MPI_Comm comm;        /* the members on this node */
    MPI_Win window;
    MPI_Request all_read; /* the barrier behind what was read last */
    char *block;          /* aligned to 64 bytes; NULL before it is allocated */
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
/* PENCILFFT_NOT_POSSIBLE where so much memory is not available. Local. */
int pf_shared_room(const struct pf_shared *shared, size_t bytes);
/* Collective over the node, like all below. */
int pf_shared_allocate(struct pf_shared *shared, size_t bytes);

/* What the ranks of the node wrote before this call, all of them see after it. */
int pf_shared_meet(struct pf_shared *shared);
/* This rank has read everything; after the second call, all ranks have. */
int pf_shared_let_write(struct pf_shared *shared);
int pf_shared_wait_to_write(struct pf_shared *shared);
