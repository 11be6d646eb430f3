/* The common part of every kind of plan, and how to create and destroy a plan. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/failure.h"
#include "exchange/communicators.h"

enum { PF_DIRECTIONS = 2 }; /* 0 is forward, 1 backward */

/* The first members of every plan. */
#define PF_HANDLE_MEMBERS                                                       \
    struct pf_communicators *communicators;                                     \
    MPI_Comm all; /* of these ranks */                                          \
    int rank, ranks;                                                            \
    int checks_calls; /* whether ranks compare collective calls: same_call.h */ \
    bool in_flight /* between start and wait */

struct pf_handle {
    PF_HANDLE_MEMBERS;
};

/* As members of the plan, and together as `handle`. */
#define PF_HANDLE                \
    union {                      \
        struct pf_handle handle; \
        struct {                 \
            PF_HANDLE_MEMBERS;   \
        };                       \
    }

/* A kind of plan. `make` gets zeroed memory with the handle set, and the descriptor. `release` gets a complete or partial
 * plan, and frees everything except the memory of the plan. Both are collective. */
struct pf_kind {
    const char *create, *destroy, *init; /* the calls */
    const void *defaults; /* of a descriptor, whose first member is the size of its structure */
    size_t desc_bytes, bytes; /* of a descriptor, of a plan */
    int (*make)(void *plan, const void *desc);
    int (*release)(void *plan);
};

/* Collective. `given` tells whether the caller gave a descriptor and a place for the plan. *made is NULL after a failure
 * that MPI did not cause. */
int pf_handle_create(const struct pf_kind *kind, bool given, const void *desc, MPI_Comm comm, void **made);
/* Gives a program's structure of so many bytes the defaults. */
void pf_desc_give(const void *own, size_t own_bytes, void *desc, size_t bytes);
/* Collective; a null plan is allowed. */
int pf_handle_destroy(const struct pf_kind *kind, void *plan);

/* Defines a function that tells a number of a plan. */
#define PF_TELLS(function, plan_type, type, value)                                    \
    int function(plan_type plan, type *result)                                        \
    {                                                                                 \
        if (!plan || !result)                                                         \
            return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result", #function); \
        *result = value;                                                              \
        return PENCILFFT_OK;                                                          \
    }

/* The buffers of pencilfft_alloc(), whose lengths are known in every call, also of another plan. */

/* The rest of a buffer from an address on. */
struct pf_given {
    const struct pf_handle *owner; /* the plan, of any kind */
    int64_t (*bytes_on)(const void *owner, int rank); /* of such a buffer on a rank of the plan */
    const char *start; /* of the buffer */
    int64_t bytes;
    int64_t number; /* of the buffer; none has the number of another */
};

int pf_given_add(const struct pf_given *given);
/* Forgets the buffers of a plan. */
void pf_given_forget(const void *owner);
/* The buffer around an address, with the bytes from there on; false if the address is elsewhere. Any thread may ask. */
bool pf_given_find(const void *address, struct pf_given *given);

/* An array of a call: the bytes that the caller must give, on every rank. */
struct pf_wanted {
    const char *function, *name;
    const void *start;
    int64_t (*bytes_on)(const void *of, int array, int rank);
    const void *of; /* the plan or halo */
    int array, also; /* a second array at the same place, if it differs */
    struct pf_fitting *fitting; /* what the last check found; may be NULL */
};
struct pf_fitting {
    int64_t number; /* of a buffer that is long enough on all ranks; 0 before the first */
    int array, also;
};

/* Refuses a buffer of pencilfft_alloc() that is too short on this rank; on all ranks, if all give a buffer of the same
 * plan. */
int pf_given_check(const struct pf_wanted *wanted, MPI_Comm comm, int rank, int ranks);

/* Collective calls are compared between ranks if the environment asks for the check. */

/* Whether the collective calls of a plan are compared, by the environment of rank 0. 0: no; above 1: seconds that a rank
 * waits for others. Collective. */
int pf_calls_check(MPI_Comm comm, int rank, int *checks);
/* The status of a call of fewer than 96 letters. If calls are compared, all ranks get the same status: whether all make this
 * call, and can. */
int pf_same_call_in(MPI_Comm comm, int rank, int checks, int status, const char *call);
/* Likewise for a call with these arguments. */
int pf_same_directed_call(MPI_Comm comm, int rank, int checks, int status, const char *function, int direction, int exchange,
                          bool in_place);
