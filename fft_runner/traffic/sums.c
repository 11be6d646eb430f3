/* A binomial tree, up and down again, piece by piece. */
#include "sums.h"

enum { PIECE = 1 << 12 };

static bool receive_sum(uint64_t *numbers, int n, int from, MPI_Comm comm)
{
    uint64_t other[PIECE];
    if (PMPI_Recv(other, n, MPI_UINT64_T, from, SUMS_TAG, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < n; i++)
        numbers[i] += other[i];
    return true;
}

static bool sum_piece(uint64_t *numbers, int n, int rank, int size, MPI_Comm comm)
{
    int bit = 1;
    for (; bit < size && !(rank & bit); bit *= 2)
        if (rank + bit < size && !receive_sum(numbers, n, rank + bit, comm))
            return false;
    if (rank > 0 && (PMPI_Send(numbers, n, MPI_UINT64_T, rank - bit, SUMS_TAG, comm) != MPI_SUCCESS ||
                     PMPI_Recv(numbers, n, MPI_UINT64_T, rank - bit, SUMS_TAG, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS))
        return false;
    for (bit /= 2; bit > 0; bit /= 2)
        if (rank + bit < size && PMPI_Send(numbers, n, MPI_UINT64_T, rank + bit, SUMS_TAG, comm) != MPI_SUCCESS)
            return false;
    return true;
}

bool sums_of_all(uint64_t *numbers, size_t count, MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (size_t i = 0; i < count; i += PIECE)
        if (!sum_piece(numbers + i, (int)(count - i < PIECE ? count - i : PIECE), rank, size, comm))
            return false;
    return true;
}
