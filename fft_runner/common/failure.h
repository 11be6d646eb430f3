/* Failures of MPI, and agreement: pf_agree() gives all ranks the message of a failed rank. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#include "common/message.h"

int pf_fail_mpi(int code, const char *call);

/* Refuses calls that would make MPI end the program: a call before MPI_Init or after MPI_Finalize, or a null communicator;
 * also refuses an intercommunicator. The message names the function. Local. */
int pf_usable(MPI_Comm comm, const char *function);

/* Collective: the status and message of the lowest rank that failed, on every rank; 0 if none did. PENCILFFT_MPI_ERROR is
 * returned at once, because no collective can be trusted after that error. */
int pf_agree(int status, MPI_Comm comm);

/* Return the status if an MPI call fails; or, if memory must be released before, set the local `int status` and jump to the
 * label `done`. */
#define PF_MPI(call)                             \
    do {                                         \
        int pf_code_ = (call);                   \
        if (pf_code_ != MPI_SUCCESS)             \
            return pf_fail_mpi(pf_code_, #call); \
    } while (0)
#define PF_MPI_OR_DONE(call)                       \
    do {                                           \
        int pf_code_ = (call);                     \
        if (pf_code_ != MPI_SUCCESS) {             \
            status = pf_fail_mpi(pf_code_, #call); \
            goto done;                             \
        }                                          \
    } while (0)

/* Arguments that all ranks must give alike. */
struct pf_argument {
    const char *name;
    enum pf_argument_kind { PF_NUMBER, PF_REAL, PF_TEXT } kind;
    int64_t number;
    double real;
    const char *text; /* NULL differs from "", because only NULL means the default */
};

#define PF_ARGUMENT_NUMBER(name, value) {name, PF_NUMBER, .number = (value)}
#define PF_ARGUMENT_TEXT(name, value) {name, PF_TEXT, .text = (value)}

/* Collective: PENCILFFT_MISMATCH with the same message on all ranks if an argument differs between ranks. The message begins
 * with `what`: "the descriptors". At most 32 arguments. */
int pf_same_arguments(const char *what, int count, const struct pf_argument *argument, MPI_Comm comm);
