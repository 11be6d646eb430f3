/* Idea:  rank 0 counts the ranks of each host and joins the processors on which they may run, since a launcher may have
 *        bound each rank to one of them.
 * Cost:  a gather of 136 bytes a rank at the start. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for sched_getaffinity */
#endif
#include "state.h"

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seat {
    uint64_t host;
    cpu_set_t cores;
};

static int by_host(const void *one, const void *other)
{
    uint64_t a = ((const struct seat *)one)->host, b = ((const struct seat *)other)->host;
    return (a > b) - (a < b);
}

static double most_shared(struct seat *seats, int ranks)
{
    double most = 0;
    qsort(seats, (size_t)ranks, sizeof *seats, by_host);
    for (int i = 0, next; i < ranks; i = next) {
        cpu_set_t cores = seats[i].cores;
        for (next = i + 1; next < ranks && seats[next].host == seats[i].host; next++)
            CPU_OR(&cores, &cores, &seats[next].cores);
        double shared = CPU_COUNT(&cores) ? (double)(next - i) / CPU_COUNT(&cores) : 0;
        most = shared > most ? shared : most;
    }
    return most;
}

double cores_shared_by(int rank, int ranks)
{
    char name[256] = "";
    double most = 0;
    struct seat me, *seats = rank == 0 ? malloc((size_t)ranks * sizeof *seats) : NULL;
    memset(&me, 0, sizeof me);
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c; c++)
        me.host = mixed(me.host + (unsigned char)*c + 1);
    if (sched_getaffinity(0, sizeof me.cores, &me.cores))
        CPU_ZERO(&me.cores);
    int there = rank || seats;
    PMPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (there)
        PMPI_Gather(&me, sizeof me, MPI_BYTE, seats, sizeof me, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (seats)
        most = most_shared(seats, ranks);
    PMPI_Bcast(&most, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(seats);
    return most;
}
