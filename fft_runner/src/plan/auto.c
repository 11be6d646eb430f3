/* Exchange "auto": try the others when the plan is made, and take the fastest.
 * Idea:  what counts is how fast the transform is, not how fast the exchange is alone: one candidate lets messages travel
 *        beside the FFTs, one has no packing to fuse with them, one gives them its memory to write into. So with each
 *        candidate the plan is made whole, as it would be used, and whole transforms are timed, both directions where
 *        both are planned. The exchanges of a transform are tried apart, for one may stay inside nodes and another not: the
 *        first one's candidates beside the first algorithm of the table, the next one's beside what the one before took.
 *        A time is the best over the repetitions of the slowest rank, one number for all ranks, so that all make the same
 *        choice. A candidate that takes twice as long as another is not repeated, and none takes more than its share of the
 *        remaining time. Overlapping candidates come first, because they have most to gain. No candidate starts after the
 *        budget is used up. The clock starts after the first plan, because the transform needs what FFTW learns in it
 *        anyway, and later plans then cost little. A choice is kept as wisdom.
 * Source: the planner of FFTW; dtFFT and cuDecomp try their backends in the same way.
 * Cost:  the budget, and the last candidate's first runs beyond it. Memory of a plan with that candidate and, as for
 *        every plan that is made, two arrays more; the caller's arrays are not touched.
 * Needs: nothing; a candidate that refuses these extents or this MPI is skipped. */
#include "plan/auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/make.h"
#include "plan/wisdom.h"

enum { MOST_REPS = 5, KEY_SIZE = 256 };
static const double hopeless = 2; /* times as long as the best one */

static const struct pf_exchange *row_at(int i)
{
    return pf_table_row(&pf_exchanges, i);
}

struct trial {
    pencilfft_plan plan;
    bool open[PF_MAX_EXCHANGES]; /* still to be chosen */
    char key[PF_MAX_EXCHANGES][KEY_SIZE];
    double started, spent; /* seconds; started is 0 before the first plan */
    double limit, share;   /* of spent; and what one candidate may add to it */
    void *in, *out;
};

/* ---- one candidate ------------------------------------------------------------------------------------------ */

static int give_arrays(struct trial *t)
{
    int status = pencilfft_alloc(t->plan, &t->in);
    if (!status)
        status = pencilfft_alloc(t->plan, &t->out);
    if (!status)
        memset(t->in, 0, (size_t)t->plan->alloc_elements * t->plan->element_bytes);
    return pf_agree(status, t->plan->all);
}

static int run_once(const struct trial *t, double *seconds)
{
    int status = PENCILFFT_OK;
    *seconds = 0;
    PF_MPI(MPI_Barrier(t->plan->all));
    if (t->plan->directions & PENCILFFT_FORWARD) {
        status = pencilfft_forward(t->plan, t->in, t->out);
        *seconds += t->plan->clock.total;
    }
    if (!status && t->plan->directions & PENCILFFT_BACKWARD) {
        status = pencilfft_backward(t->plan, t->out, t->in);
        *seconds += t->plan->clock.total;
    }
    return status;
}

/* The slowest rank's value on all ranks; likewise the time spent so far. */
static int time_once(struct trial *t, double *seconds)
{
    double both[2];
    int status = run_once(t, &both[0]);
    if (status)
        return status;
    both[1] = MPI_Wtime() - t->started;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, t->plan->all));
    *seconds = both[0];
    t->spent = both[1];
    return status;
}

static int time_runs(struct trial *t, double fastest, double *best)
{
    double seconds, before = t->spent;
    int status = run_once(t, &seconds); /* warms up */
    for (int rep = 0; rep < MOST_REPS && !status; rep++) {
        if ((status = time_once(t, &seconds)))
            break;
        *best = seconds < *best ? seconds : *best;
        if (t->spent - before > t->share || *best > hopeless * fastest)
            break;
    }
    return status;
}

/* With plan->chosen[] as it is. Infinity, with the reason, where a candidate refuses. Only a failure of MPI is a failure. */
static int try_one(struct trial *t, double fastest, double *best, int *why)
{
    int status = pf_plan_build(t->plan);
    *best = INFINITY;
    if (t->started == 0)
        t->started = MPI_Wtime();
    if (!status)
        status = give_arrays(t);
    if (!status)
        status = time_runs(t, fastest, best);
    if (status == PENCILFFT_MPI_ERROR)
        return status;
    pf_plan_clear(t->plan);
    *why = status;
    return PENCILFFT_OK;
}

/* ---- the choice --------------------------------------------------------------------------------------------- */

static int candidates(void)
{
    int n = 0;
    for (int i = 0; i < pf_exchanges.count; i++)
        n += row_at(i)->plan != NULL;
    return n;
}

/* The first of the table that goes wherever an exchange is open: what the first candidates are tried beside. */
static int find_base(struct trial *t, int *base)
{
    int status, why = PENCILFFT_NOT_POSSIBLE;
    double seconds = INFINITY;
    t->share = t->limit / candidates();
    for (int i = 0; i < pf_exchanges.count && seconds == INFINITY; i++) {
        if (!row_at(i)->plan)
            continue;
        for (int e = 0; e < t->plan->exchanges; e++)
            if (t->open[e])
                t->plan->chosen[e] = row_at(i);
        if ((status = try_one(t, INFINITY, &seconds, &why)))
            return status;
        *base = i;
    }
    for (int e = 0; e < t->plan->exchanges && !why; e++)
        if (t->open[e])
            t->plan->auto_seconds[e][*base] = seconds;
    return why; /* with the message of the last one */
}

/* The base's time is known. Goes through the table twice: those that overlap, the others. */
static int try_others(struct trial *t, int e, int base)
{
    int status, why, best = base, left = candidates() - 1, rows = pf_exchanges.count;
    double *seconds = t->plan->auto_seconds[e];
    for (int turn = 0; turn < 2 * rows && t->spent <= t->limit; turn++) {
        int i = turn % rows;
        if (!row_at(i)->plan || i == base || row_at(i)->overlaps != (turn < rows))
            continue;
        t->plan->chosen[e] = row_at(i);
        t->share = (t->limit - t->spent) / left--;
        if ((status = try_one(t, seconds[best], &seconds[i], &why)))
            return status;
        if (seconds[i] < seconds[best])
            best = i;
    }
    t->plan->chosen[e] = row_at(best);
    return PENCILFFT_OK;
}

static int number_of(const struct pf_exchange *exchange)
{
    int i = 0;
    while (row_at(i) != exchange)
        i++;
    return i;
}

/* One exchange after the other. What is taken for one is what the candidates of the next run beside, and so the time of
 * the next one's base. */
static int try_all(struct trial *t, double budget)
{
    double **seconds = t->plan->auto_seconds;
    int base = 0, before = -1, open = 0, tried = 0, status = PENCILFFT_OK;
    for (int e = 0; e < t->plan->exchanges; e++)
        open += t->open[e];
    t->limit = budget / (open ? open : 1);
    if (open)
        status = find_base(t, &base);
    for (int e = 0; e < t->plan->exchanges && !status; e++) {
        if (!t->open[e])
            continue;
        if (before >= 0)
            seconds[e][base] = seconds[before][number_of(t->plan->chosen[before])];
        t->limit = budget * ++tried / open;
        status = try_others(t, e, base);
        before = e;
    }
    return status;
}

/* Nodes matter for what is fastest; the kind of machine and the MPI are those of the wisdom as a whole. */
static int count_nodes(MPI_Comm comm, int *nodes)
{
    int rank;
    MPI_Comm node = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PF_MPI(MPI_Comm_rank(node, &rank));
    int first = rank == 0;
    PF_MPI(MPI_Allreduce(&first, nodes, 1, MPI_INT, MPI_SUM, comm));
    PF_MPI(MPI_Comm_free(&node));
    return PENCILFFT_OK;
}

/* The first rank's boxes give sizes and layout. */
static void make_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[KEY_SIZE])
{
    const struct pf_geometry *g = &plan->geometry;
    char grid[PF_GRID_TEXT];
    const pencilfft_box *before = &plan->boxes[e][0][0], *after = &plan->boxes[e][1][0];
    const struct pf_line *line = plan->transform.line;
    snprintf(key, KEY_SIZE,
             "%lldx%lldx%lld/%s/%s/%d-nodes/%d.%d,%d.%d,%d.%d-lines/%zu-bytes/%d-fields/%d-directions/"
             "%lld,%lld,%lld-%lld,%lld,%lld",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], pf_grid_text(g, grid),
             g->decomposition->exchange[e].name, nodes, line[0].kind, line[0].r2r[0], line[1].kind, line[1].r2r[0],
             line[2].kind, line[2].r2r[0], plan->element_bytes, plan->fields, plan->directions, (long long)before->stride[0],
             (long long)before->stride[1], (long long)before->stride[2], (long long)after->stride[0],
             (long long)after->stride[1], (long long)after->stride[2]);
}

/* The algorithm that rank 0 knows from wisdom, on all ranks; -1: none. */
static int recall(pencilfft_plan plan, const char *key, int *known)
{
    const char *name = plan->rank ? NULL : pf_wisdom_find(key);
    *known = -1;
    for (int i = 0; name && i < pf_exchanges.count; i++)
        if (row_at(i)->plan && !strcmp(name, row_at(i)->name))
            *known = i;
    PF_MPI(MPI_Bcast(known, 1, MPI_INT, 0, plan->all));
    return PENCILFFT_OK;
}

/* A single rank has no choice: the first of the table. */
static int take_known(struct trial *t, int e, int nodes)
{
    int known = 0, status = PENCILFFT_OK;
    make_key(t->plan, e, nodes, t->key[e]);
    if (t->plan->p[e] > 1)
        status = recall(t->plan, t->key[e], &known);
    t->open[e] = known < 0;
    if (known >= 0)
        t->plan->chosen[e] = row_at(known);
    return status;
}

static int make_lists(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->exchanges; e++)
        if (!(plan->auto_seconds[e] = calloc((size_t)pf_exchanges.count, sizeof *plan->auto_seconds[e])))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the times of exchanges");
    return pf_agree(status, plan->all);
}

int pf_auto_choose(pencilfft_plan plan, double budget_s)
{
    struct trial t = {.plan = plan};
    int nodes, status = make_lists(plan);
    if (!status)
        status = count_nodes(plan->all, &nodes);
    for (int e = 0; e < plan->exchanges && !status; e++)
        status = take_known(&t, e, nodes);
    if (!status)
        status = try_all(&t, budget_s);
    for (int e = 0; e < plan->exchanges && !status; e++)
        if (t.open[e] && !pf_wisdom_keep(t.key[e], plan->chosen[e]->name))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return status;
}

int pencilfft_auto_seconds(pencilfft_plan plan, int e, int i, double *seconds)
{
    if (!pf_is_exchange(plan, e) || !seconds || i < 0 || i >= pf_exchanges.count)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_auto_seconds: null plan or result, or no such exchange");
    *seconds = plan->auto_seconds[e] ? plan->auto_seconds[e][i] : 0;
    return PENCILFFT_OK;
}
