/* Communicators of the library, shared by the plans on a communicator of the caller. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

struct pf_group;

struct pf_communicators {
    MPI_Comm all; /* duplicate of the caller's communicator; errors are returned */
    int users;    /* plans and halos, and the attribute of the caller's communicator */
    bool shared;  /* by several users; else each user has its own, because several threads may call MPI at once */
    struct pf_group *groups;
};

/* The ranks of a group: ranks that differ in a single digit of the rank, which counts to `size` in steps of `step`, or, if
 * there are labels of all ranks, ranks with the same label. The same on all ranks. */
struct pf_group_key {
    int size, step;
    const int *label;
};

/* Collective: adds a user to the communicators of the plans on `comm`, or makes the communicators for the first user. Fails
 * on all ranks or on none. */
int pf_communicators_join(MPI_Comm comm, struct pf_communicators **made);
/* The same for a halo beside its plan. */
int pf_communicators_share(struct pf_communicators *of, struct pf_communicators **made);
/* Communicators of one user alone, beside those of `of`: its messages need no order among those of other users. */
int pf_communicators_own(const struct pf_communicators *of, struct pf_communicators **made);
/* Remove a user; the last user frees the communicators. NULL is allowed. Collective. */
int pf_communicators_leave(struct pf_communicators *communicators);

/* Collective: the group of this rank, with the ranks in their order; shared like `all`. Fails on all ranks or on none. */
int pf_group_join(struct pf_communicators *communicators, const struct pf_group_key *key, MPI_Comm *group);
/* Collective. Sets *group to MPI_COMM_NULL, which is also allowed. */
int pf_group_leave(struct pf_communicators *communicators, MPI_Comm *group);
