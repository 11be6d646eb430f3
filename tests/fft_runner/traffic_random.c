/* Random messages: traffic_random SEED STEPS. Every rank draws the same steps: a division of the ranks into communicators in
 * a random order, and then messages, an alltoallv or puts with random sizes. Each rank keeps its own account, from the world
 * ranks that it drew, and prints it: ACCOUNT from to bytes messages. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, LARGEST = 1000 };

static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static int P, me, color[MOST], order[MOST], members[MOST], size, own;
static char out[MOST * LARGEST], in[MOST * LARGEST];
static long bytes[MOST], messages[MOST];

static void account(int to, int n)
{
    if (to != me) {
        bytes[to] += n;
        messages[to]++;
    }
}

static MPI_Comm divide(int parts)
{
    MPI_Comm comm;
    for (int i = 0; i < P; i++) {
        color[i] = draw(parts);
        order[i] = draw(1000);
    }
    MPI_Comm_split(MPI_COMM_WORLD, color[me], order[me], &comm);
    size = 0;
    for (int i = 0; i < P; i++) { /* sort by order, then by rank */
        int at = size;
        if (color[i] != color[me])
            continue;
        for (; at > 0 && order[members[at - 1]] > order[i]; at--)
            members[at] = members[at - 1];
        members[at] = i;
        size++;
    }
    MPI_Comm_rank(comm, &own);
    return comm;
}

static void exchange(MPI_Comm comm, int sizes[MOST][MOST], int way)
{
    int n[MOST], at[MOST], back[MOST];
    MPI_Request request[2 * MOST];
    MPI_Win window;
    char *memory;
    for (int i = 0; i < size; i++) {
        n[i] = sizes[me][members[i]];
        back[i] = sizes[members[i]][me];
        at[i] = i * LARGEST;
        if (n[i] || way == 0)
            account(members[i], n[i]);
    }
    if (way == 0) {
        for (int i = 0; i < size; i++) {
            MPI_Irecv(in + at[i], back[i], MPI_CHAR, i, 3, comm, request + i);
            MPI_Isend(out, n[i], MPI_CHAR, i, 3, comm, request + size + i);
        }
        MPI_Waitall(2 * size, request, MPI_STATUSES_IGNORE);
    } else if (way == 1) {
        MPI_Alltoallv(out, n, at, MPI_CHAR, in, back, at, MPI_CHAR, comm);
    } else {
        MPI_Win_allocate(MOST * LARGEST, 1, MPI_INFO_NULL, comm, &memory, &window);
        MPI_Win_fence(0, window);
        for (int i = 0; i < size; i++)
            if (n[i])
                MPI_Put(out, n[i], MPI_CHAR, i, own * LARGEST, n[i], MPI_CHAR, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &P);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    state = strtoull(argv[1], NULL, 10);
    for (int step = atoi(argv[2]); step > 0; step--) {
        static int sizes[MOST][MOST];
        int way = draw(3), most = 1 + draw(LARGEST);
        MPI_Comm comm = divide(way == 2 ? 1 : 1 + draw(3)); /* Open MPI 4.1 fails with windows of several groups of a node */
        for (int i = 0; i < P; i++)
            for (int k = 0; k < P; k++)
                sizes[i][k] = draw(3) ? draw(most) : 0;
        exchange(comm, sizes, way);
        MPI_Comm_free(&comm);
    }
    for (int to = 0; to < P; to++)
        if (messages[to])
            printf("ACCOUNT %d %d %ld %ld\n", me, to, bytes[to], messages[to]);
    MPI_Finalize();
    return 0;
}
