/* A clock that goes on by 100 s while somebody sleeps, however shortly: loaded before the programs of the runner. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int slept;

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    slept++;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, rest);
}

double MPI_Wtime(void)
{
    return PMPI_Wtime() + 100. * slept;
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "slept %d times\n", slept);
}
