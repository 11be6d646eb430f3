/* Exchange "auto": try the others when the plan is made, and take the fastest.
 * Idea:  what counts is how fast the transform is, not how fast the exchange is alone: one candidate has no packing
 *        to fuse with the FFTs, one gives them its memory to write into. So with each candidate the plan is made whole, as it
 *        would be used, and whole transforms are timed, both directions where both are planned. The exchanges of a transform
 *        are tried apart, for one may stay inside nodes and another not: the first one's candidates beside the first
 *        algorithm of the table, the next one's beside what the one before took.
 *        A time is the best over the repetitions of the slowest rank, one number for all ranks, so that all make the same
 *        choice. A candidate that takes twice as long as another is not repeated, and none takes more than its share of the
 *        remaining time. No candidate starts after the budget is used up. The clock starts after the first plan, because the
 *        transform needs what FFTW learns in it anyway, and later plans then cost little. A choice is kept as wisdom.
 *        Then the schedules that keep the boxes are tried, with the exchanges that were taken, or where one cannot run beside
 *        other work, with the fastest that can. One is taken only if it was clearly faster than the sequence in each of
 *        several rounds in which both were tried, for what is gained inside a node may be noise. It is kept as wisdom with
 *        its exchanges.
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

/* The base's time is known. */
static int try_others(struct trial *t, int e, int base)
{
    int status, why, best = base, left = candidates() - 1;
    double *seconds = t->plan->auto_seconds[e];
    for (int i = 0; i < pf_exchanges.count && t->spent <= t->limit; i++) {
        if (!row_at(i)->plan || i == base)
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
    bool in_sequence = plan->choice.schedule == &pf_schedule_sequence;
    int first = pf_member(plan, e, 0);
    pencilfft_box boxes[2] = {pf_array_box(g, e, first), pf_array_box(g, e + 1, first)};
    const pencilfft_box *before = &boxes[0], *after = &boxes[1];
    const struct pf_line *line = plan->transform.line;
    snprintf(key, KEY_SIZE,
             "%lldx%lldx%lld/%s/%s/%d-nodes/%d.%d,%d.%d,%d.%d-lines/%zu-bytes/%d-fields/%d-directions/"
             "%lld,%lld,%lld-%lld,%lld,%lld%s%.40s",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], pf_grid_text(g, grid),
             g->decomposition->exchange[e].name, nodes, line[0].kind, line[0].r2r[0], line[1].kind, line[1].r2r[0],
             line[2].kind, line[2].r2r[0], plan->element_bytes, plan->fields, plan->directions, (long long)before->stride[0],
             (long long)before->stride[1], (long long)before->stride[2], (long long)after->stride[0],
             (long long)after->stride[1], (long long)after->stride[2], in_sequence ? "" : "/",
             in_sequence ? "" : plan->schedule);
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

/* ---- the schedule ------------------------------------------------------------------------------------------- */

/* Those that keep the boxes; what a transform is too small for is left out. */
static const char *const tried_schedules[] = {"overlap:2", "overlap", "pipelined"};
enum { N_TRIED = sizeof tried_schedules / sizeof tried_schedules[0], ROUNDS = 3, SCHEDULE_SIZE = 64 };

/* How much shorter than in sequence, in every round: trials on a machine that is shared differ by some per cent. */
static const double clearly = 0.93;

/* A schedule with its exchanges; as a text in wisdom "overlap:4:x/alltoallv/p2p". */
struct way {
    struct pf_choice choice;
    const struct pf_exchange *exchange[PF_MAX_EXCHANGES];
};

static void take_way(pencilfft_plan plan, const struct way *way)
{
    for (int e = 0; e < plan->exchanges; e++)
        plan->chosen[e] = way->exchange[e];
    pf_schedule_take(plan, &way->choice); /* was taken before, and so is possible */
}

/* What was chosen for an exchange, or the fastest of those that run beside other work. NULL: there is none. */
static const struct pf_exchange *exchange_beside(const struct pencilfft_plan_s *plan, int e)
{
    const struct pf_exchange *best = NULL;
    double least = INFINITY;
    if (plan->chosen[e]->beside)
        return plan->chosen[e];
    for (int i = 0; i < pf_exchanges.count && plan->auto_seconds[e]; i++) {
        double seconds = plan->auto_seconds[e][i];
        if (row_at(i)->beside && seconds > 0 && seconds < least) {
            best = row_at(i);
            least = seconds;
        }
    }
    return best;
}

static bool make_way(pencilfft_plan plan, const char *text, struct way *way)
{
    bool possible = !pf_choice_read(text, &way->choice) && !pf_schedule_take(plan, &way->choice);
    for (int e = 0; e < plan->exchanges && possible; e++)
        possible = (way->exchange[e] = exchange_beside(plan, e)) != NULL;
    return possible && plan->beside;
}

static void write_way(const struct pencilfft_plan_s *plan, char text[SCHEDULE_SIZE])
{
    int used = snprintf(text, SCHEDULE_SIZE, "%.40s", plan->schedule);
    for (int e = 0; e < plan->exchanges && used < SCHEDULE_SIZE; e++)
        used += snprintf(text + used, SCHEDULE_SIZE - (size_t)used, "/%s", plan->chosen[e]->name);
}

/* The number of the exchange of this name; -1: none can be tried. */
static int find_row(const char *name, size_t length)
{
    for (int i = 0; i < pf_exchanges.count; i++)
        if (row_at(i)->plan && strlen(row_at(i)->name) == length && !strncmp(name, row_at(i)->name, length))
            return i;
    return -1;
}

/* False where the text is not one of this plan. */
static bool read_way(pencilfft_plan plan, const char *text, struct way *way)
{
    char schedule[SCHEDULE_SIZE];
    size_t length = strcspn(text, "/");
    snprintf(schedule, sizeof schedule, "%.*s", (int)length, text);
    if (pf_choice_read(schedule, &way->choice) || pf_schedule_take(plan, &way->choice))
        return false;
    for (int e = 0; e < plan->exchanges; e++) {
        text += length + (text[length] == '/');
        length = strcspn(text, "/");
        int row = find_row(text, length);
        if (row < 0 || (plan->beside && !row_at(row)->beside))
            return false;
        way->exchange[e] = row_at(row);
    }
    return true;
}

/* Sequence and this way in turn; as soon as it is not clearly faster, or time is over, it is not taken. */
static int is_clearly_faster(struct trial *t, const struct way *usual, const struct way *way, double *seconds, bool *faster)
{
    int status = PENCILFFT_OK, why = PENCILFFT_OK;
    *faster = t->spent <= t->limit;
    *seconds = INFINITY;
    for (int round = 0; round < ROUNDS && *faster && !status; round++) {
        double mine = INFINITY, others = INFINITY;
        take_way(t->plan, usual);
        status = try_one(t, INFINITY, &others, &why);
        take_way(t->plan, way);
        if (!status)
            status = try_one(t, others, &mine, &why);
        *faster = mine < clearly * others;
        *seconds = mine < *seconds ? mine : *seconds;
    }
    return status;
}

static int try_schedules(struct trial *t, double budget)
{
    struct way usual = {.choice = t->plan->choice}, best, way;
    double least = INFINITY, seconds;
    int status = PENCILFFT_OK;
    memcpy(usual.exchange, t->plan->chosen, sizeof usual.exchange);
    best = usual;
    t->limit = budget;
    for (int i = 0; i < N_TRIED && !status; i++) {
        bool faster = false;
        take_way(t->plan, &usual);
        if (!make_way(t->plan, tried_schedules[i], &way))
            continue;
        t->share = (t->limit - t->spent) / (2 * ROUNDS * (N_TRIED - i));
        status = is_clearly_faster(t, &usual, &way, &seconds, &faster);
        if (!status && faster && seconds < least) {
            least = seconds;
            best = way;
        }
    }
    take_way(t->plan, &best);
    return status;
}

static int choose_schedule(struct trial *t, double budget, int nodes)
{
    pencilfft_plan plan = t->plan;
    char key[KEY_SIZE], text[SCHEDULE_SIZE] = "";
    struct way known = {.choice = plan->choice}, usual = known;
    int status = PENCILFFT_OK;
    memcpy(usual.exchange, plan->chosen, sizeof usual.exchange);
    make_key(plan, 0, nodes, key);
    size_t used = strlen(key);
    snprintf(key + used, KEY_SIZE - used, "/schedule%s%s", plan->exchange->plan ? "/" : "",
             plan->exchange->plan ? plan->exchange->name : "");
    const char *kept = plan->rank ? NULL : pf_wisdom_find(key);
    if (kept)
        snprintf(text, sizeof text, "%s", kept);
    PF_MPI(MPI_Bcast(text, SCHEDULE_SIZE, MPI_CHAR, 0, plan->all));
    if (text[0] && read_way(plan, text, &known)) {
        take_way(plan, &known);
        return PENCILFFT_OK;
    }
    take_way(plan, &usual);
    if ((status = try_schedules(t, budget)))
        return status;
    write_way(plan, text);
    return pf_wisdom_keep(key, text) ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
}

/* Is there a group that exchanges, and an exchange that runs beside other work? */
static bool may_run_beside(const struct pencilfft_plan_s *plan)
{
    bool moves = false, beside = false;
    for (int e = 0; e < plan->exchanges; e++)
        moves |= plan->p[e] > 1;
    for (int i = 0; i < pf_exchanges.count; i++)
        beside |= row_at(i)->plan && row_at(i)->beside;
    return moves && (plan->exchange->plan ? plan->exchange->beside : beside);
}

/* ---- both --------------------------------------------------------------------------------------------------- */

static int choose_exchanges(struct trial *t, double budget_s, int nodes)
{
    pencilfft_plan plan = t->plan;
    int status = make_lists(plan);
    for (int e = 0; e < plan->exchanges && !status; e++)
        status = take_known(t, e, nodes);
    if (!status)
        status = try_all(t, budget_s);
    for (int e = 0; e < plan->exchanges && !status; e++)
        if (t->open[e] && !pf_wisdom_keep(t->key[e], plan->chosen[e]->name))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return pf_agree(status, plan->all); /* for schedules are tried next, by all ranks or by none */
}

int pf_auto_choose(pencilfft_plan plan, double budget_s)
{
    struct trial t = {.plan = plan};
    bool schedules = plan->any_schedule && may_run_beside(plan);
    double for_schedules = schedules ? 0.25 * budget_s : 0; /* of the budget, and what the exchanges leave */
    int nodes, status = count_nodes(plan->all, &nodes);
    if (!status && !plan->exchange->plan)
        status = choose_exchanges(&t, budget_s - for_schedules, nodes);
    if (!status && schedules)
        status = choose_schedule(&t, budget_s, nodes);
    return status;
}

int pencilfft_auto_seconds(pencilfft_plan plan, int e, int i, double *seconds)
{
    if (!pf_is_exchange(plan, e) || !seconds || i < 0 || i >= pf_exchanges.count)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_auto_seconds: null plan or result, or no such exchange");
    *seconds = plan->auto_seconds[e] ? plan->auto_seconds[e][i] : 0;
    return PENCILFFT_OK;
}
