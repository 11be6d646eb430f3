/* Collective calls are compared between ranks where the environment asks for it. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* Whether the collective calls of a plan are compared: by the environment of rank 0. 0: no; above 1: for how many seconds a
 * rank waits for others. Collective. */
int pf_calls_check(MPI_Comm comm, int rank, int *checks);
/* The status of a call of fewer than 96 letters, and where calls are compared the same status on all ranks: whether all call
 * this, and can. */
int pf_same_call_in(MPI_Comm comm, int rank, int checks, int status, const char *call);
/* The same of a call with these arguments. */
int pf_same_directed_call(MPI_Comm comm, int rank, int checks, int status, const char *function, int direction, int exchange,
                          bool in_place);
