#pragma once

#include "exchange/exchange.h"

/* Message lists in the form MPI's calls take: one row of p numbers per slice, in elements. What a rank keeps has count 0. */
struct pf_counts {
    int *count, *displacement;
};

/* All that MPI's calls take to move the messages of a transpose between the members of its group. */
struct pf_calls {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes; /* of an element */
    int p, me, slices;
    struct pf_counts sent, received;
    MPI_Request *requests; /* two a message, MPI_REQUEST_NULL at first */
    MPI_Status *statuses; /* the same number, not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
    int n_requests; /* of exchange persistent: how many exist, and for which buffers */
    const void *from, *to;
};

/* `plan` and `destroy` of exchanges whose state are these calls, made from the lists as they are then. */
int pf_calls_plan(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                  void **calls);
void pf_calls_destroy(void *calls);

/* Where message i begins in a buffer. */
static inline char *pf_message_in(const struct pf_calls *calls, const struct pf_counts *counts, int i, const void *buffer)
{
    return (char *)buffer + (size_t)counts->displacement[i] * calls->bytes;
}

/* The same for messages of one length, which MPI_Alltoall takes; what a rank keeps is among them. */
struct pf_equal_calls {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes;
    int p, me, count;
};

/* With that many elements a message. The state is released by free(). */
int pf_equal_plan(const struct pf_transpose *transpose, int64_t elements, void **calls);
int pf_equal_start(void *calls, int slice, void *from, void *to);
