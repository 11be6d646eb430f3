/* Collective calls are compared between ranks if the environment asks for the check. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* Whether the collective calls of a plan are compared, by the environment of rank 0. 0: no; above 1: seconds that a rank
 * waits for others. Collective. */
int pf_calls_check(MPI_Comm comm, int rank, int *checks);
/* The status of a call of fewer than 96 letters. If calls are compared, all ranks get the same status: whether all make this
 * call, and can. */
int pf_same_call_in(MPI_Comm comm, int rank, int checks, int status, const char *call);
/* Likewise for a call with these arguments. */
int pf_same_directed_call(MPI_Comm comm, int rank, int checks, int status, const char *function, int direction, int exchange,
                          bool in_place);
