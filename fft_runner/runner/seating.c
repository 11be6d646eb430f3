/* From the processes as launched to grid ranks.
 * Idea:  world rank 0 learns every host name, decides coordinates, slots and grid ranks (placement.c), and hands each
 *        process its row. One MPI_Comm_split with the grid rank as key makes the communicator; nothing else moves
 *        ranks. Then each process compares where it is with what the mapfile says of its rank in the new one.
 * Cost:  two gathers and a scatter of one row a process, on rank 0 only; the mapfile's places go to all. */
#include "seating.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "check_mpi.h"
#include "runner.h"

static void describe_myself(struct process *me, MPI_Comm world)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    memset(me, 0, sizeof *me);
    CHECK_MPI(MPI_Comm_rank(world, &me->world_rank));
    CHECK_MPI(MPI_Get_processor_name(host, &length));
    host[sizeof host - 1] = '\0';
    snprintf(me->host, sizeof me->host, "%.*s", HOST_SIZE - 1, host);
    binding_text(me->binding, sizeof me->binding);
    topology_describe(&me->topology);
}

/* Not malloc: a simulator that folds large mallocs of all ranks into one block must leave this table alone. */
static struct process *table_allocate(int n)
{
    return aligned_alloc(_Alignof(struct process), (size_t)n * sizeof(struct process));
}

/* Rows of all processes on rank 0 of comm, in rank order; a failure on all. */
static int gather_rows(const struct process *me, MPI_Comm comm, struct process **rows)
{
    int rank, n, status = 0;
    CHECK_MPI(MPI_Comm_rank(comm, &rank));
    CHECK_MPI(MPI_Comm_size(comm, &n));
    *rows = rank ? NULL : table_allocate(n);
    if (!rank && !*rows)
        status = pf_fail(RUNNER_ERROR, "no memory for a table of %d processes", n);
    if ((status = pf_agree(status, comm)))
        return status;
    CHECK_MPI(MPI_Gather(me, sizeof *me, MPI_BYTE, *rows, sizeof *me, MPI_BYTE, 0, comm));
    return status;
}

struct decision {
    const char *source;
    int tasks_per_node;
    struct mapfile mapfile;
};

/* Rank 0 decides; the row of each process comes back to it. */
static int decide(const struct placement_request *request, MPI_Comm world, struct process *me, struct decision *d)
{
    struct process *rows = NULL;
    int n, status = gather_rows(me, world, &rows);
    if (status)
        return status;
    CHECK_MPI(MPI_Comm_size(world, &n));
    if (rows)
        status = placement_resolve(request, rows, n, &d->source, &d->tasks_per_node, &d->mapfile);
    if (!(status = pf_agree(status, world)))
        CHECK_MPI(MPI_Scatter(rows, sizeof *me, MPI_BYTE, me, sizeof *me, MPI_BYTE, 0, world));
    free(rows);
    return status;
}

/* The mapfile's places, known on world rank 0, on every process; NULL without a mapfile. */
static int share_places(const struct decision *d, bool mapped, MPI_Comm world, int64_t **places)
{
    int n, rank, status = 0;
    *places = NULL;
    if (!mapped)
        return 0;
    CHECK_MPI(MPI_Comm_size(world, &n));
    CHECK_MPI(MPI_Comm_rank(world, &rank));
    if (!(*places = calloc((size_t)n, sizeof **places)))
        status = pf_fail(RUNNER_ERROR, "no memory for the places of %d ranks", n);
    if ((status = pf_agree(status, world)))
        return status;
    if (rank == 0)
        memcpy(*places, d->mapfile.place, sizeof **places * (size_t)n);
    CHECK_MPI(MPI_Bcast(*places, n, MPI_INT64_T, 0, world));
    return 0;
}

/* Grid rank r sits where line r says, and without a mapfile is the rank the launcher gave. */
static int check_myself(const struct process *me, const struct seating *s, const int64_t *places)
{
    if (places && places[s->rank] != me->place)
        return pf_fail(RUNNER_ERROR, "self-check failed: grid rank %d is at place %lld, the mapfile says %lld", s->rank,
                       (long long)me->place, (long long)places[s->rank]);
    if (s->rank != me->grid_rank)
        return pf_fail(RUNNER_ERROR, "self-check failed: process %d should be grid rank %d and is %d", me->world_rank,
                       me->grid_rank, s->rank);
    return 0;
}

static int split(struct process *me, MPI_Comm world, struct seating *s, const int64_t *places)
{
    CHECK_MPI(MPI_Comm_split(world, 0, me->grid_rank, &s->grid));
    CHECK_MPI(MPI_Comm_set_errhandler(s->grid, MPI_ERRORS_RETURN));
    CHECK_MPI(MPI_Comm_rank(s->grid, &s->rank));
    CHECK_MPI(MPI_Comm_size(s->grid, &s->ranks));
    return pf_agree(check_myself(me, s, places), s->grid);
}

/* Every process needs to know what rank 0 decided for all. */
static void share_decision(const struct decision *d, MPI_Comm world, struct seating *s)
{
    int shared[2] = {0, d->tasks_per_node};
    for (int i = 0; d->source && i < coordinate_sources.count; i++)
        if (!strcmp(d->source, pf_table_name(&coordinate_sources, i)))
            shared[0] = i + 1;
    CHECK_MPI(MPI_Bcast(shared, 2, MPI_INT, 0, world));
    s->coordinates = shared[0] ? pf_table_name(&coordinate_sources, shared[0] - 1) : "none";
    s->tasks_per_node = shared[1];
}

int seating_make(const struct placement_request *request, MPI_Comm world, struct seating *s)
{
    struct decision decision = {.source = NULL};
    struct process me;
    int64_t *places = NULL;
    *s = (struct seating){.grid = MPI_COMM_NULL, .source = request->mapfile ? "mapfile" : "launcher"};
    describe_myself(&me, world);
    int status = decide(request, world, &me, &decision);
    if (!status)
        status = share_places(&decision, request->mapfile, world, &places);
    if (!status) {
        share_decision(&decision, world, s);
        status = split(&me, world, s, places);
    }
    s->self_check = me.located ? "passed" : "not-possible";
    if (!status)
        status = gather_rows(&me, s->grid, &s->processes);
    free(places);
    mapfile_release(&decision.mapfile);
    return status;
}

void seating_release(struct seating *s)
{
    free(s->processes);
    if (s->grid != MPI_COMM_NULL)
        CHECK_MPI(MPI_Comm_free(&s->grid));
}
