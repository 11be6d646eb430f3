/* Where am I: rank and host, by MPI's own word. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, length;
    char host[MPI_MAX_PROCESSOR_NAME + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
    printf("%d %.*s -\n", rank, length, host);
    MPI_Finalize();
    return 0;
}
