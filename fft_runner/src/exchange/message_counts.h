/* Messages of a transpose as arguments of MPI. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/exchange.h"

/* Messages of any length under any MPI: MPI-4's calls with large counts if available; else ints, and for messages beyond an
 * int a data type that is as long as the message. */
#ifdef PENCILFFT_HAVE_LARGE_COUNTS
typedef MPI_Count pf_count;
typedef MPI_Aint pf_displacement;
#define PF_LARGE(call) call##_c
#define PF_LARGE_NAME(call) #call "_c"
#else
typedef int pf_count;
typedef int pf_displacement;
#define PF_LARGE(call) call
#define PF_LARGE_NAME(call) #call
#endif

/* Returns the status if the call fails. */
#define PF_MPI_LARGE(call, ...)                                \
    do {                                                       \
        int pf_code_ = PF_LARGE(call)(__VA_ARGS__);            \
        if (pf_code_ != MPI_SUCCESS)                           \
            return pf_fail_mpi(pf_code_, PF_LARGE_NAME(call)); \
    } while (0)

/* The largest count and displacement of its calls, and of FFTW's calls, which count doubles in ints. In count_limit.c; tests
 * replace that file by a file with small limits. */
extern const int64_t pf_count_limit, pf_fftw_count_limit;

/* Count and type of a message in a call: so many elements, or a single element of a type with all elements. */
struct pf_amount {
    pf_count count;
    MPI_Datatype type;
    bool made; /* the type, for this message */
};

int pf_amount_make(int64_t elements, size_t element_bytes, struct pf_amount *amount);
void pf_amount_release(struct pf_amount *amount);

/* Replaces *type by n copies, stride bytes apart; not committed. The old type is freed, so MPI's own types are not allowed.
 * MPI_DATATYPE_NULL after a failure. */
int pf_type_repeat(int64_t n, int64_t stride, MPI_Datatype *type);

/* Message lists in the form of MPI's calls: an entry for each member. A rank's own entry has count 0. */
struct pf_counts {
    struct pf_amount *amount;
    int64_t *start; /* in elements */
    /* The same for a collective; NULL if the messages are wide. */
    pf_count *count;
    pf_displacement *displacement;
};

/* The arguments of MPI's calls that move the messages of a transpose between the members of its group. */
struct pf_calls {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes; /* of an element */
    int p, me, lane;
    bool beside;
    bool wide; /* on all ranks of the group: counts or displacements exceed a collective's limit */
    struct pf_counts sent, received;
    MPI_Request *requests; /* two a message, MPI_REQUEST_NULL at first */
    MPI_Status *statuses; /* the same number, not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
    int n_requests; /* in flight, or set up once */
    const void *from, *to; /* of exchange persistent: the buffers of the set-up */
};

/* `plan` and `release` of exchanges whose state is, or begins with, a struct pf_calls, made from the current lists. */
int pf_calls_plan(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received, void *calls);
void pf_calls_release(void *calls);
/* `progress` and `finish`: of the pending requests. There are none without `beside`. */
int pf_calls_progress(void *calls, int *done);
int pf_calls_finish(void *calls);

/* Post one message of an exchange; nothing if the message is empty. */
int pf_calls_receive(struct pf_calls *calls, int source, void *to);
int pf_calls_send(struct pf_calls *calls, int target, const void *from);
/* Post all messages at once, the nearest member above first: the collective's work if no collective is wide enough. */
int pf_calls_post(struct pf_calls *calls, const void *from, void *to);

/* The start of message i in a buffer. */
static inline char *pf_message_in(const struct pf_calls *calls, const struct pf_counts *counts, int i, const void *buffer)
{
    return (char *)buffer + (size_t)counts->start[i] * calls->bytes;
}

/* The beginning of the state of an exchange by a single nonblocking call, if it runs beside other work. */
struct pf_single_call {
    bool beside;
    MPI_Request request;
};
int pf_single_progress(void *state, int *done);
int pf_single_finish(void *state);

/* Messages of equal length, for MPI_Alltoall; a rank's own message is included. */
struct pf_equal_calls {
    struct pf_single_call call;
    MPI_Comm group;
    struct pf_amount amount;
    int64_t elements;
    size_t bytes;
    int p, me;
};

/* With that many elements a message. */
int pf_equal_plan(const struct pf_transpose *transpose, int64_t elements, void *calls);
int pf_equal_start(void *calls, void *from, void *to);
void pf_equal_release(void *calls);
