/* Messages of any length, whatever this MPI counts with: MPI-4's calls with large counts where it has them; else ints, and
 * beyond what an int names a data type that is as long as the message. */
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

/* Returns the status when the call fails. */
#define PF_MPI_LARGE(call, ...)                                \
    do {                                                       \
        int pf_code_ = PF_LARGE(call)(__VA_ARGS__);            \
        if (pf_code_ != MPI_SUCCESS)                           \
            return pf_fail_mpi(pf_code_, PF_LARGE_NAME(call)); \
    } while (0)

/* The largest count and displacement that its calls are given, and those that FFTW makes, which counts doubles in ints. In
 * count_limit.c, which tests replace by one with small limits. */
extern const int64_t pf_count_limit, pf_fftw_count_limit;

/* What a call is told of a message: so many elements, or one of a type that holds them all. */
struct pf_amount {
    pf_count count;
    MPI_Datatype type;
    bool made; /* the type, for this message */
};

int pf_amount_make(int64_t elements, size_t element_bytes, struct pf_amount *amount);
void pf_amount_release(struct pf_amount *amount);

/* Replaces *type by n of it, stride bytes apart; not committed. The old type is freed, so it is not one of MPI's own.
 * MPI_DATATYPE_NULL when it fails. */
int pf_type_repeat(int64_t n, int64_t stride, MPI_Datatype *type);
