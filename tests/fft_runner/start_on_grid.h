/* The start of a C test on a process grid: under mpirun, R C as its first arguments, without them ranks x 1. */
#pragma once

#include <mpi.h>
#include <stdlib.h>

static inline void start_on_grid(int argc, char **argv, int *rank, int *ranks, int *R, int *C)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    *R = argc > 2 ? atoi(argv[1]) : *ranks;
    *C = argc > 2 ? atoi(argv[2]) : 1;
}
