/* Which way round a ring does a message of a given distance go? One rank on each node, in the order of the ring.
 * A message goes from each source in turn, and with it one from the source to its upper neighbour. If both take the + link
 * out of the source, the neighbour waits until the link has carried two halves; else one. Usage: tie DISTANCE BYTES_PER_S */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20 };
static char sent[BYTES], received[BYTES];

static double arrival_s(int me, int source, int target, int neighbour)
{
    MPI_Request requests[4];
    int n = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (me == target)
        MPI_Irecv(received, BYTES, MPI_BYTE, source, 1, MPI_COMM_WORLD, &requests[n++]);
    if (me == neighbour)
        MPI_Irecv(received, BYTES / 2, MPI_BYTE, source, 2, MPI_COMM_WORLD, &requests[n++]);
    if (me == source) {
        MPI_Isend(sent, BYTES, MPI_BYTE, target, 1, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(sent, BYTES / 2, MPI_BYTE, neighbour, 2, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    int me, nodes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nodes);
    int distance = atoi(argv[1]);
    double alone_s = BYTES / 2 / atof(argv[2]);
    for (int source = 0; source < nodes; source++) {
        int neighbour = (source + 1) % nodes;
        double waited_s = arrival_s(me, source, (source + distance) % nodes, neighbour);
        if (me == neighbour)
            printf("%d%c\n", source, waited_s > 1.5 * alone_s ? '+' : '-');
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
