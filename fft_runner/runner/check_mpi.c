#include "check_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runner.h"

/* An abort may overtake what was just printed: MPICH's mpiexec then drops it. */
static const struct timespec time_to_print = {.tv_nsec = 200000000};

void abort_with_message(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s: process %d: %s\n", RUNNER_NAME, rank, pf_message());
    fflush(stderr);
    nanosleep(&time_to_print, NULL);
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
