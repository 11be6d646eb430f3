/* Messages of any length under any MPI: MPI-4's calls with large counts if available; else ints, and for messages beyond an
 * int a data type that is as long as the message. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/failure.h"

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
