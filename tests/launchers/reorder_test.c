/* pm_comm_reorder() as a program: pairs of MACHINE GRID; prints for each pair a line "= STATUS", then "new old" of each
 * process, or the message. All processes must agree on every outcome; otherwise the program is aborted.
 * With REORDER_FAULT=split or =greeting in the environment MPI itself misbehaves, as some reorder=1 do. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_reorder.h"

enum { MOST = 4096 };

static int fault(const char *name)
{
    const char *wanted = getenv("REORDER_FAULT");
    return wanted && !strcmp(wanted, name);
}

/* An MPI that takes no notice of the key. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    return PMPI_Comm_split(comm, color, fault("split") ? 0 : key, newcomm);
}

/* An MPI that delivers somebody else's message. */
int MPI_Sendrecv(const void *sent, int n, MPI_Datatype type, int to, int tag, void *heard, int m, MPI_Datatype heard_type,
                 int from, int heard_tag, MPI_Comm comm, MPI_Status *status)
{
    int code = PMPI_Sendrecv(sent, n, type, to, tag, heard, m, heard_type, from, heard_tag, comm, status);
    if (fault("greeting"))
        ((int64_t *)heard)[1] ^= 1;
    return code;
}

static int all_agree(int status)
{
    int mine[2] = {status, -status}, both[2];
    MPI_Allreduce(mine, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return both[0] == -both[1];
}

static void report(MPI_Comm placed)
{
    static int all[2 * MOST];
    int old, n, size, pair[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &old);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(placed, &pair[0]);
    MPI_Comm_size(placed, &size);
    pair[1] = old;
    if (size != n || n > MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Gather(pair, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; old == 0 && i < n; i++)
        printf("%d %d\n", all[2 * i], all[2 * i + 1]);
}

static void one(const char *machine, const char *grid)
{
    int rank, status;
    MPI_Comm placed;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    status = pm_comm_reorder(MPI_COMM_WORLD, machine, grid, &placed);
    if (!all_agree(status) || (status != PM_SUCCESS) != (placed == MPI_COMM_NULL))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0)
        printf("= %d\n", status);
    if (status && rank == 0)
        printf("%s\n", pm_reorder_message());
    if (!status) {
        report(placed);
        MPI_Comm_free(&placed);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 1; i + 1 < argc; i += 2)
        one(argv[i], argv[i + 1]);
    MPI_Finalize();
    return argc % 2 ? 0 : 2;
}
