/* pm_comm_reorder() with a wrong argument, on all ranks or on one: prints "CASE BAD_RANK STATUS MESSAGE" for each call, with
 * BAD_RANK -1 for all ranks. The program aborts if status or message differ between ranks, or if it got a communicator. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_reorder.h"

enum { SIZE = 2048 };

struct call {
    const char *name, *machine, *grid;
    int no_newcomm;
};

static const struct call right = {"right", "4 where=assumed", "2x2", 0};
static const struct call wrong[] = {
    {"machine null", NULL, "2x2", 0},
    {"machine unreadable", "4q where=assumed", "2x2", 0},
    {"machine other", "4:mesh where=assumed", "2x2", 0},
    {"machine larger", "8 where=assumed", "2x2", 0},
    {"placement other", "4 placement=digits:x=c2r2 where=assumed", "2x2", 0},
    {"grid null", "4 where=assumed", NULL, 0},
    {"grid unreadable", "4 where=assumed", "two", 0},
    {"grid too small", "4 where=assumed", "2x1", 0},
    {"grid other", "4 where=assumed", "4x1", 0},
    {"grid slabs", "4 where=assumed", "4", 0},
    {"newcomm null", "4 where=assumed", "2x2", 1},
};
enum { CASES = sizeof wrong / sizeof wrong[0] };

static int rank, ranks;

static void need(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void report(const char *name, int bad, int status, MPI_Comm made)
{
    char mine[SIZE], first[SIZE];
    snprintf(mine, sizeof mine, "%s %d %d %s", name, bad, status, status ? pm_reorder_message() : "");
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, SIZE, MPI_CHAR, 0, MPI_COMM_WORLD);
    need(!strcmp(mine, first), mine);
    need((status == PM_SUCCESS) == (made != MPI_COMM_NULL), "a communicator in spite of a failure, or none");
    if (rank == 0)
        puts(mine);
}

static void call_with(const struct call *wrong_call, int bad)
{
    const struct call *c = bad < 0 || bad == rank ? wrong_call : &right;
    MPI_Comm made = MPI_COMM_NULL;
    int status = pm_comm_reorder(MPI_COMM_WORLD, c->machine, c->grid, c->no_newcomm ? NULL : &made);
    report(wrong_call->name, bad, status, made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}

/* Communicators of which no agreement is possible; each rank refuses them alone. */
static void call_on_unusable_communicators(void)
{
    MPI_Comm half, pair, made = MPI_COMM_WORLD;
    int status = pm_comm_reorder(MPI_COMM_NULL, right.machine, right.grid, &made);
    report("null communicator", -1, status, made);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, &pair);
    made = MPI_COMM_WORLD;
    status = pm_comm_reorder(pair, right.machine, right.grid, &made);
    report("intercommunicator", -1, status, made);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&half);
}

static void call_without_mpi(const char *name)
{
    MPI_Comm made;
    int status = pm_comm_reorder(MPI_COMM_WORLD, right.machine, right.grid, &made);
    if (rank == 0)
        printf("%s -1 %d %s\n", name, status, pm_reorder_message());
    if (status != PM_ERROR || made != MPI_COMM_NULL)
        exit(3);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        call_without_mpi("before MPI_Init");
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    call_with(&right, -1);
    for (int i = 0; i < CASES; i++)
        for (int bad = 0; bad < ranks; bad++)
            call_with(&wrong[i], bad);
    call_on_unusable_communicators();
    MPI_Finalize();
    call_without_mpi("after MPI_Finalize");
    return 0;
}
