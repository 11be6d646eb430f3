#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collective: replace each number by its sum over all ranks. */
static inline bool sums_of_all(uint64_t *numbers, size_t count, MPI_Comm comm)
{
    return PMPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_UINT64_T, MPI_SUM, comm) == MPI_SUCCESS;
}
