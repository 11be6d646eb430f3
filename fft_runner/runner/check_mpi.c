#include "runner.h"

#include <stdio.h>
#include <stdlib.h>

void abort_with_message(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    watch_end(WATCH_SAID);
    fprintf(stderr, "%s: process %d: %s\n", RUNNER_NAME, rank, pf_message());
    await_launcher();
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void or_abort(int status)
{
    if (status)
        abort_with_message();
}

void check_mpi(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return;
    pf_fail_mpi(code, call);
    abort_with_message();
}
