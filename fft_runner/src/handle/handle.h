/* The common part of every kind of plan, and how to create and destroy a plan. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

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
