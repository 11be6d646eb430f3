/* Exchange "auto": try the others when the plan is made, and take the fastest.
 * Idea:  row and column are tried apart, for one may stay inside nodes and the other not. Each candidate is planned, run
 *        once to warm up and then some times more; its time is the best over the repetitions of the slowest rank, so
 *        that all ranks see the same number and choose alike. Packing belongs to it, FFTs do not, so that what
 *        exchange pipelined hides behind them does not count for it. No candidate is started when the budget is used up.
 *        What was chosen once is kept as wisdom.
 * Source: the planner of FFTW; dtFFT and cuDecomp try their backends likewise.
 * Cost:  the budget, and the last candidate's first runs beyond it; six buffers while it lasts.
 * Needs: nothing; a candidate that refuses these extents or this MPI is left out. */
#include "auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "wisdom.h"

enum { MOST_REPS = 5, KEY_SIZE = 256, N_BUFFERS = 6 };

static const pencilfft_direction way_direction[PF_WAYS] = {PENCILFFT_FORWARD, PENCILFFT_BACKWARD};

static const struct pf_exchange *row_at(int i)
{
    return (const struct pf_exchange *)pf_exchanges.rows + i;
}

static int largest(double *values, int n, MPI_Comm comm)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_MAX, comm));
done:
    return status;
}

/* ---- one candidate ------------------------------------------------------------------------------------------ */

struct trial {
    pencilfft_plan plan;
    int e;
    double started, budget;
    char *buffer[N_BUFFERS];
};

static int plan_ways(struct trial *t, const struct pf_exchange *exchange)
{
    int status = PENCILFFT_OK;
    for (int way = 0; way < PF_WAYS && !status; way++)
        if (t->plan->directions & way_direction[way])
            status = pf_move_plan(t->plan, way, t->e, exchange);
    return pf_agree(status, t->plan->all);
}

static int64_t elements_needed(const struct trial *t)
{
    int64_t most = t->plan->alloc_elements;
    for (int way = 0; way < PF_WAYS; way++) {
        const struct pf_move *m = &t->plan->moves[way][t->e];
        most = m->sent.list.total > most ? m->sent.list.total : most;
        most = m->received.list.total > most ? m->received.list.total : most;
    }
    return most;
}

static int allocate(struct trial *t)
{
    int status = PENCILFFT_OK;
    size_t bytes = (size_t)elements_needed(t) * t->plan->element_bytes;
    bytes = (bytes / 64 + 1) * 64;
    for (int i = 0; i < N_BUFFERS; i++) {
        if (!(t->buffer[i] = aligned_alloc(64, bytes)))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for %d buffers of %zu bytes to try exchanges", N_BUFFERS,
                             bytes);
        else
            memset(t->buffer[i], 0, bytes);
    }
    for (int i = 0; i < PF_WORKS; i++)
        t->plan->work[i] = t->buffer[N_BUFFERS - PF_WORKS + i];
    return pf_agree(status, t->plan->all);
}

static int connect_ways(struct trial *t)
{
    int status = PENCILFFT_OK;
    for (int way = 0; way < PF_WAYS && !status; way++)
        status = pf_agree(pf_move_connect(t->plan, way, t->e), t->plan->all);
    return status;
}

static void release(struct trial *t)
{
    for (int way = 0; way < PF_WAYS; way++)
        pf_move_release(&t->plan->moves[way][t->e]);
    for (int i = 0; i < N_BUFFERS; i++)
        free(t->buffer[i]);
    memset(t->buffer, 0, sizeof t->buffer);
    memset(t->plan->work, 0, sizeof t->plan->work);
}

static int run_once(struct trial *t, double *seconds)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Barrier(t->plan->all));
    double start = MPI_Wtime();
    for (int way = 0; way < PF_WAYS && !status; way++)
        if (t->plan->directions & way_direction[way])
            status = pf_exchange_run(t->plan, way, t->e, t->buffer[0], t->buffer[1]);
    *seconds = MPI_Wtime() - start;
done:
    return status;
}

static int used_up(const struct trial *t, int *over)
{
    double spent = MPI_Wtime() - t->started;
    int status = largest(&spent, 1, t->plan->all);
    *over = spent > t->budget;
    return status;
}

static int time_runs(struct trial *t, double *best)
{
    double seconds;
    int over = 0, status = run_once(t, &seconds);
    *best = INFINITY;
    for (int rep = 0; rep < MOST_REPS && !status && !over; rep++) {
        if ((status = run_once(t, &seconds)) || (status = largest(&seconds, 1, t->plan->all)))
            break;
        *best = seconds < *best ? seconds : *best;
        status = used_up(t, &over);
    }
    return status;
}

/* A candidate that cannot do it takes for ever; only a failure of MPI is a failure. */
static int try_one(struct trial *t, const struct pf_exchange *exchange, double *seconds)
{
    *seconds = INFINITY;
    int status = plan_ways(t, exchange);
    if (!status)
        status = allocate(t);
    if (!status)
        status = connect_ways(t);
    if (!status)
        status = time_runs(t, seconds);
    if (status != PENCILFFT_MPI_ERROR)
        release(t);
    return status == PENCILFFT_MPI_ERROR ? status : PENCILFFT_OK;
}

/* ---- the choice --------------------------------------------------------------------------------------------- */

static int try_all(struct trial *t)
{
    int over = 0, best = -1, status = PENCILFFT_OK;
    double *seconds = t->plan->auto_seconds[t->e];
    for (int i = 0; i < pf_exchanges.count && !status && !(over && best >= 0); i++) {
        if (!row_at(i)->plan)
            continue;
        if ((status = try_one(t, row_at(i), &seconds[i])) || (status = used_up(t, &over)))
            return status;
        if (seconds[i] < INFINITY && (best < 0 || seconds[i] < seconds[best]))
            best = i;
    }
    if (status || best < 0)
        return status ? status : PENCILFFT_NOT_POSSIBLE; /* with the message of the last candidate */
    t->plan->chosen[t->e] = row_at(best);
    return status;
}

/* Nodes matter for what is fastest; the kind of machine and the MPI are those of the wisdom as a whole. */
static int count_nodes(MPI_Comm comm, int *nodes)
{
    int status = PENCILFFT_OK, rank;
    MPI_Comm node = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PF_MPI(MPI_Comm_rank(node, &rank));
    int first = rank == 0;
    PF_MPI(MPI_Allreduce(&first, nodes, 1, MPI_INT, MPI_SUM, comm));
    PF_MPI(MPI_Comm_free(&node));
done:
    return status;
}

/* Boxes of the first rank tell sizes, kind of transform and layout as far as exchanges see them. */
static void make_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[KEY_SIZE])
{
    const struct pf_geometry *g = &plan->geometry;
    const pencilfft_box *before = &plan->boxes[e][0][0], *after = &plan->boxes[e][1][0];
    snprintf(key, KEY_SIZE,
             "%lldx%lldx%lld/%dx%d/%s/%d-nodes/%zu-bytes/%d-fields/%d-ways/%lld,%lld,%lld-%lld,%lld,%lld",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], g->R, g->C, e ? "column" : "row", nodes,
             plan->element_bytes, plan->fields, plan->directions, (long long)before->stride[0],
             (long long)before->stride[1], (long long)before->stride[2], (long long)after->stride[0],
             (long long)after->stride[1], (long long)after->stride[2]);
}

/* Number of the exchange that rank 0 knows from before, on all ranks; -1: none. */
static int recall(pencilfft_plan plan, const char *key, int *known)
{
    int status = PENCILFFT_OK;
    const char *name = plan->rank ? NULL : pf_wisdom_find(key);
    *known = -1;
    for (int i = 0; name && i < pf_exchanges.count; i++)
        if (row_at(i)->plan && !strcmp(name, row_at(i)->name))
            *known = i;
    PF_MPI(MPI_Bcast(known, 1, MPI_INT, 0, plan->all));
done:
    return status;
}

static int choose(struct trial *t, int nodes)
{
    char key[KEY_SIZE];
    int known, status;
    make_key(t->plan, t->e, nodes, key);
    if ((status = recall(t->plan, key, &known)))
        return status;
    if (known >= 0) {
        t->plan->chosen[t->e] = row_at(known);
        return status;
    }
    t->started = MPI_Wtime();
    if (!(status = try_all(t)) && !pf_wisdom_keep(key, t->plan->chosen[t->e]->name))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return status;
}

/* One rank alone has nothing to choose; members of groups differ in nothing here, as all grids are RxC. */
static void take_first(struct trial *t)
{
    for (int i = 0; i < pf_exchanges.count; i++)
        if (row_at(i)->plan) {
            t->plan->chosen[t->e] = row_at(i);
            return;
        }
}

/* Ranks that were given different budgets must not stop at different candidates. */
static int same_budget(MPI_Comm comm, double *budget)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Bcast(budget, 1, MPI_DOUBLE, 0, comm));
done:
    return status;
}

int pf_auto_choose(pencilfft_plan plan, const pencilfft_desc *desc)
{
    double budget = desc->auto_budget_s;
    int nodes, status = count_nodes(plan->all, &nodes);
    if (!status)
        status = same_budget(plan->all, &budget);
    for (int e = 0; e < PF_EXCHANGES && !status; e++) {
        struct trial t = {.plan = plan, .e = e, .budget = budget / PF_EXCHANGES};
        plan->auto_seconds[e] = calloc((size_t)pf_exchanges.count, sizeof *plan->auto_seconds[e]);
        if (!plan->auto_seconds[e])
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the times of exchanges");
        if ((status = pf_agree(status, plan->all)))
            break;
        if (plan->p[e] == 1)
            take_first(&t);
        else
            status = choose(&t, nodes);
    }
    return status;
}

int pencilfft_auto_seconds(pencilfft_plan plan, pencilfft_exchange e, int i, double *seconds)
{
    if (!plan || !seconds || (e != PENCILFFT_ROW && e != PENCILFFT_COLUMN) || i < 0 || i >= pf_exchanges.count)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_auto_seconds: null plan or result, or no such exchange");
    *seconds = plan->auto_seconds[e] ? plan->auto_seconds[e][i] : 0;
    return PENCILFFT_OK;
}
