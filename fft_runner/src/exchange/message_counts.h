#pragma once

#include "exchange/exchange.h"

/* Message lists in the form MPI's calls take: a number for each member, in elements. What a rank keeps has count 0. */
struct pf_counts {
    int *count, *displacement;
};

/* All that MPI's calls take to move the messages of a transpose between the members of its group. */
struct pf_calls {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes; /* of an element */
    int p, me, lane;
    bool beside;
    struct pf_counts sent, received;
    MPI_Request *requests; /* two a message, MPI_REQUEST_NULL at first */
    MPI_Status *statuses; /* the same number, not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
    int n_requests; /* in flight, or set up once */
    const void *from, *to; /* of exchange persistent: the buffers it was set up for */
};

/* `plan` and `destroy` of exchanges whose state are these calls, made from the lists as they are then. */
int pf_calls_plan(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                  void **calls);
void pf_calls_destroy(void *calls);
/* `progress` and `finish`: of the requests there are. None, where the exchange is not beside anything. */
int pf_calls_progress(void *calls);
int pf_calls_finish(void *calls);

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
    bool beside;
    MPI_Request request;
};

/* With that many elements a message. The state is released by free(). */
int pf_equal_plan(const struct pf_transpose *transpose, int64_t elements, void **calls);
int pf_equal_start(void *calls, void *from, void *to);
int pf_equal_progress(void *calls);
int pf_equal_finish(void *calls);
