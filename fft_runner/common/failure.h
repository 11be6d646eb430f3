/* Failures of MPI, and agreement: pf_agree() makes the message of one rank everyone's. */
#pragma once

#include <mpi.h>

#include "common/message.h"

int pf_fail_mpi(int code, const char *call);

/* Refuses what would make MPI itself end the program: a call before MPI_Init or after MPI_Finalize, or a null communicator;
 * also refuses an intercommunicator. The message names the function. Local. */
int pf_usable(MPI_Comm comm, const char *function);

/* Collective: the status and message of the lowest rank that failed, on every rank; 0 when none did.
 * PENCILFFT_MPI_ERROR is returned at once: after it no collective can be trusted. */
int pf_agree(int status, MPI_Comm comm);

/* Return the status when an MPI call fails; or, where something is to be released before, set the local `int status` and jump
 * to the label `done`. */
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
