/* order_read() for pairs of arguments: the host of each process, "a,b,a,b" or "-" for the real one, and a text of
 * PENCILMAP_PLACEMENT. For each pair, rank 0 prints the new ranks of the processes, or "refused: " and the message, which
 * must be the same on all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "reorder/order.h"

static void name_host(const char *hosts, int rank)
{
    char name[64];
    if (!strcmp(hosts, "-")) {
        unsetenv("PENCILMAP_HOST");
        return;
    }
    for (int i = 0; i < rank; i++)
        hosts = strchr(hosts, ',') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(hosts, ","), hosts);
    setenv("PENCILMAP_HOST", name, 1);
}

static void tell(int status, int ranks, int rank, const int *rank_of)
{
    char line[2048] = "refused: ", first[2048];
    if (status)
        snprintf(line, sizeof line, "refused: %s", pf_message());
    else
        for (int i = line[0] = 0; i < ranks; i++)
            snprintf(line + strlen(line), sizeof line - strlen(line), "%d ", rank_of[i]);
    memcpy(first, line, sizeof line);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(first, line))
        printf("another answer on rank %d: %s\n", rank, line);
    else if (rank == 0)
        printf("%s\n", line);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *rank_of = calloc((size_t)ranks, sizeof *rank_of);
    for (int i = 1; i + 1 < argc; i += 2) {
        name_host(argv[i], rank);
        int status = order_read(MPI_COMM_WORLD, rank ? NULL : argv[i + 1], ranks, rank_of);
        tell(status, ranks, rank, rank_of);
    }
    free(rank_of);
    MPI_Finalize();
    return 0;
}
