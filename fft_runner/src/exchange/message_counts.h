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
    MPI_Request *requests; /* MPI_REQUEST_NULL at first */
    MPI_Status *statuses; /* the same number, not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
};

/* From the lists as they are now, with that many requests. NULL with a status and message when it fails. */
int pf_calls_make(const struct pf_transpose *transpose, const struct pf_messages *sent, const struct pf_messages *received,
                  int requests, struct pf_calls **calls);
void pf_calls_destroy(struct pf_calls *calls);

/* Where message i begins in a buffer. */
static inline char *pf_message_in(const struct pf_calls *calls, const struct pf_counts *counts, int i, const void *buffer)
{
    return (char *)buffer + (size_t)counts->displacement[i] * calls->bytes;
}
