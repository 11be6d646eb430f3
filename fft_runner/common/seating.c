/* Idea:  rank 0 learns the names of all processes, decides coordinates, slots and ranks (sources.c), and hands each process
 *        its seat. An MPI_Comm_split with the rank as key makes the communicator; nothing else moves ranks. Then each
 *        process compares its own location with the place of its rank.
 * Cost:  a gather and a scatter of a seat for each process; the places, 8 bytes a rank, go to all. */
#include "common/seating.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"

int seating_myself(MPI_Comm world, struct seat *me)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    const char *named = getenv("PENCILMAP_HOST");
    int length = 0;
    memset(me, 0, sizeof *me);
    PF_MPI(MPI_Comm_rank(world, &me->launched));
    PF_MPI(MPI_Get_processor_name(host, &length));
    snprintf(me->host, sizeof me->host, "%.*s", HOST_SIZE - 1, host);
    snprintf(me->named, sizeof me->named, "%.*s", HOST_SIZE - 1, named ? named : "");
    return 0;
}

/* ---- decisions of rank 0 ---------------------------------------------------------------------------------------- */

struct decision {
    struct seat *seats; /* of all processes, in order of launch; on rank 0 only */
    struct placing placing;
};

static int decide(const struct seating_request *q, int n, struct decision *d, struct seating *s)
{
    const struct torus *torus = &q->seats.torus;
    int status = seats_locate(&q->seats, d->seats, n, &s->source, &s->tasks_per_node);
    if (!status && q->place)
        status = q->place(q->what, torus, s->tasks_per_node, n, &d->placing);
    return status ? status : seats_rank(torus, s->tasks_per_node, q->place ? &d->placing : NULL, d->seats, n);
}

void *seating_table(int n, size_t bytes)
{
    void *table = aligned_alloc(_Alignof(int64_t), (size_t)n * bytes);
    if (!table)
        pf_fail(PF_REFUSED, "no memory for a table of %d processes", n);
    return table;
}

static int decide_for_all(const struct seating_request *q, MPI_Comm world, struct decision *d, struct seating *s)
{
    const int bytes = sizeof s->mine;
    int status = seating_myself(world, &s->mine);
    if (!status && s->mine.launched == 0 && !(d->seats = seating_table(s->ranks, sizeof *d->seats)))
        status = PF_REFUSED;
    if ((status = pf_agree(status, world)))
        return status;
    PF_MPI(MPI_Gather(&s->mine, bytes, MPI_BYTE, d->seats, bytes, MPI_BYTE, 0, world));
    if (d->seats)
        status = decide(q, s->ranks, d, s);
    if ((status = pf_agree(status, world)))
        return status;
    PF_MPI(MPI_Scatter(d->seats, bytes, MPI_BYTE, &s->mine, bytes, MPI_BYTE, 0, world));
    int shared[2] = {s->source, s->tasks_per_node};
    PF_MPI(MPI_Bcast(shared, 2, MPI_INT, 0, world));
    s->source = shared[0];
    s->tasks_per_node = shared[1];
    return status;
}

static int share_places(const struct decision *d, MPI_Comm world, struct seating *s)
{
    int status = 0;
    if (!(s->places = calloc((size_t)s->ranks, sizeof *s->places)))
        status = pf_fail(PF_REFUSED, "no memory for the places of %d ranks", s->ranks);
    if ((status = pf_agree(status, world)))
        return status;
    if (d->placing.place)
        memcpy(s->places, d->placing.place, (size_t)s->ranks * sizeof *s->places);
    PF_MPI(MPI_Bcast(s->places, s->ranks, MPI_INT64_T, 0, world));
    return status;
}

/* ---- the communicator ------------------------------------------------------------------------------------------- */

static int check_myself(const struct seating *s)
{
    if (s->rank != s->mine.rank)
        return pf_fail(PF_REFUSED, "self-check failed: rank %d of %d was asked for, rank %d was got", s->mine.rank, s->ranks,
                       s->rank);
    if (s->places && s->places[s->rank] != s->mine.place)
        return pf_fail(PF_REFUSED, "self-check failed: rank %d is at place %lld and should be at %lld", s->rank,
                       (long long)s->mine.place, (long long)s->places[s->rank]);
    return 0;
}

static int split(MPI_Comm world, struct seating *s)
{
    int status = 0;
    PF_MPI(MPI_Comm_split(world, 0, s->mine.rank, &s->comm));
    PF_MPI(MPI_Comm_rank(s->comm, &s->rank));
    status = pf_agree(check_myself(s), world);
    return status;
}

int seating_make(const struct seating_request *q, MPI_Comm world, struct seating *s)
{
    struct decision decision = {.seats = NULL};
    int status = 0;
    *s = (struct seating){.comm = MPI_COMM_NULL};
    PF_MPI_OR_DONE(MPI_Comm_size(world, &s->ranks));
    status = decide_for_all(q, world, &decision, s);
    if (!status && q->place)
        status = share_places(&decision, world, s);
    if (!status)
        status = split(world, s);
done:
    free(decision.seats);
    placing_release(&decision.placing);
    return status;
}

void seating_release(struct seating *s)
{
    free(s->places);
    s->places = NULL;
    if (s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
}
