#include "check_mpi.h"

#include <stdio.h>
#include <stdlib.h>

#include "runner.h"

void abort_with_message(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s: process %d: %s\n", RUNNER_NAME, rank, pf_message());
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void check_mpi(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return;
    pf_fail_mpi(code, call);
    abort_with_message();
}
