/* Which algorithm for each exchange: successive halving.
 * Idea:  the exchanges of a transform are tried apart, for one may stay inside nodes and another not: the first one's
 *        candidates beside the first algorithm of the table, the next one's beside what the one before took. All candidates run
 *        a few times; the better half by the median of all its times runs again, longer; and so on until one is left. What
 *        disturbs the machine for a moment meets several candidates then, and those that are close to each other are timed
 *        most: the last two by turns, each time with a new plan, for two plans of one exchange may differ by more than two
 *        exchanges do. A candidate that takes twice as long as another is not repeated, and none takes more than its share
 *        of the remaining time. A choice is kept as wisdom.
 * Source: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits" (2013), for the halving. */
#include "plan/auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/wisdom.h"

enum { FIRST_REPS = 3, LAST_TURNS = 6, LAST_REPS = 6 /* in each turn */ };
static const double hopeless = 2; /* times as long as the best one */

/* What is to be chosen. */
struct choice {
    struct pf_trial *trial;
    pencilfft_plan plan;
    bool open[PF_MAX_EXCHANGES]; /* still to be chosen */
    char key[PF_MAX_EXCHANGES][PF_AUTO_KEY_SIZE];
    struct pf_times times[PF_MOST_EXCHANGES]; /* by number of the exchange: of the one that is being chosen */
};

static const struct pf_exchange *row_at(int i)
{
    return pf_table_row(&pf_exchanges, i);
}

static int number_of(const struct pf_exchange *exchange)
{
    int i = 0;
    while (row_at(i) != exchange)
        i++;
    return i;
}

/* ---- one exchange ------------------------------------------------------------------------------------------- */

/* The number of the best of them so far. */
static int fastest_of(const struct choice *c, const int *alive, int n)
{
    int best = alive[0];
    for (int k = 1; k < n; k++)
        if (pf_times_median(&c->times[alive[k]]) < pf_times_median(&c->times[best]))
            best = alive[k];
    return best;
}

/* The faster half of them, the fastest first; those that refuse or are hopeless never. Returns how many, at least one. */
static int keep_half(const struct choice *c, int *alive, int n)
{
    int kept = 0, half = (n + 1) / 2;
    double best = pf_times_median(&c->times[fastest_of(c, alive, n)]);
    while (kept < half) {
        int next = fastest_of(c, alive + kept, n - kept), at = kept;
        if (kept && !(pf_times_median(&c->times[next]) <= hopeless * best))
            break;
        while (alive[at] != next)
            at++;
        memmove(alive + kept + 1, alive + kept, (size_t)(at - kept) * sizeof *alive);
        alive[kept++] = next;
    }
    return kept;
}

/* How often n can be halved. */
static int halvings(int n)
{
    int rounds = 0;
    for (; n > 1; n = (n + 1) / 2)
        rounds++;
    return rounds;
}

/* One round: each of them in turn, until it has been timed that often. Of the last two there are several to come. */
static int run_round(struct choice *c, int e, const int *alive, int n, int reps, int rounds)
{
    int status = PENCILFFT_OK, why;
    for (int k = 0; k < n && c->trial->spent <= c->trial->limit && !status; k++) {
        struct pf_times *times = &c->times[alive[k]];
        struct pf_patience patience = {
            .reps = reps - times->n,
            .share = (c->trial->limit - c->trial->spent) / (halvings(n) * (n - k) * rounds),
            .give_up = hopeless * pf_times_median(&c->times[fastest_of(c, alive, n)]),
        };
        c->plan->chosen[e] = row_at(alive[k]);
        if (patience.reps > 0)
            status = pf_trial_run(c->trial, patience, times, &why);
    }
    return status;
}

/* The base has its times already. */
static int choose_one(struct choice *c, int e, int base)
{
    int alive[PF_MOST_EXCHANGES] = {base}, n = 1, status = PENCILFFT_OK;
    for (int i = 0; i < pf_exchanges.count; i++)
        if (i != base && row_at(i)->plan && !c->times[i].refused)
            alive[n++] = i;
    for (int reps = FIRST_REPS; n > 2 && !status && c->trial->spent <= c->trial->limit; reps *= 2) {
        status = run_round(c, e, alive, n, reps, 1);
        n = keep_half(c, alive, n);
    }
    for (int turn = LAST_TURNS; n == 2 && turn > 0 && !status && c->trial->spent <= c->trial->limit; turn--)
        status = run_round(c, e, alive, n, c->times[alive[0]].n + LAST_REPS, turn);
    keep_half(c, alive, n);
    c->plan->chosen[e] = row_at(alive[0]);
    return status;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

/* The first of the table that goes wherever an exchange is open: what the first candidates are tried beside. */
static int find_base(struct choice *c, int *base)
{
    int status, why = PENCILFFT_NOT_POSSIBLE;
    struct pf_patience patience = {FIRST_REPS, c->trial->limit / (2 * pf_exchanges.count), INFINITY};
    for (int i = 0; i < pf_exchanges.count && why; i++) {
        if (!row_at(i)->plan)
            continue;
        for (int e = 0; e < c->plan->exchanges; e++)
            if (c->open[e])
                c->plan->chosen[e] = row_at(i);
        if ((status = pf_trial_run(c->trial, patience, &c->times[i], &why)))
            return status;
        *base = i;
    }
    return why; /* with the message of the last one */
}

/* Infinity for one that refuses, 0 for one that was not tried. */
static void tell_seconds(const struct choice *c, int e)
{
    for (int i = 0; i < pf_exchanges.count; i++)
        c->plan->auto_seconds[e][i] = c->times[i].n || c->times[i].refused ? pf_times_median(&c->times[i]) : 0;
}

/* One exchange after the other. What is taken for one is what the candidates of the next run beside, and so its times are
 * those of the next one's base, too. */
static int choose_open(struct choice *c, double budget)
{
    int base = 0, open = 0, begun = 0, status = PENCILFFT_OK;
    for (int e = 0; e < c->plan->exchanges; e++)
        open += c->open[e];
    c->trial->limit = budget / (open ? open : 1);
    if (open)
        status = find_base(c, &base);
    for (int e = 0; e < c->plan->exchanges && !status; e++) {
        if (!c->open[e])
            continue;
        c->trial->limit = budget * ++begun / open;
        if ((status = choose_one(c, e, base)))
            break;
        tell_seconds(c, e);
        struct pf_times taken = c->times[number_of(c->plan->chosen[e])];
        memset(c->times, 0, PF_MOST_EXCHANGES * sizeof *c->times);
        c->times[base] = taken;
    }
    return status;
}

/* ---- wisdom ------------------------------------------------------------------------------------------------- */

/* The first rank's boxes give sizes and layout. */
void pf_auto_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[PF_AUTO_KEY_SIZE])
{
    const struct pf_geometry *g = &plan->geometry;
    char grid[PF_GRID_TEXT];
    bool in_sequence = plan->choice.schedule == &pf_schedule_sequence;
    int first = pf_member(plan, e, 0);
    pencilfft_box boxes[2] = {pf_array_box(g, e, first), pf_array_box(g, e + 1, first)};
    const pencilfft_box *before = &boxes[0], *after = &boxes[1];
    const struct pf_line *line = plan->transform.line;
    char threads[32] = "";
    if (plan->threads > 1)
        snprintf(threads, sizeof threads, "/%d-threads", plan->threads);
    const char *destroyed = plan->destroys_input ? "/destroyed-input" : "";
    snprintf(key, PF_AUTO_KEY_SIZE,
             "%lldx%lldx%lld/%s/%s/%d-nodes/%d.%d,%d.%d,%d.%d-lines/%zu-bytes/%d-fields/%d-directions/"
             "%lld,%lld,%lld-%lld,%lld,%lld%s%.40s%s%s",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], pf_grid_text(g, grid),
             g->decomposition->exchange[e].name, nodes, line[0].kind, line[0].r2r[0], line[1].kind, line[1].r2r[0],
             line[2].kind, line[2].r2r[0], plan->element_bytes, plan->fields, plan->directions, (long long)before->stride[0],
             (long long)before->stride[1], (long long)before->stride[2], (long long)after->stride[0],
             (long long)after->stride[1], (long long)after->stride[2], in_sequence ? "" : "/",
             in_sequence ? "" : plan->schedule, threads, destroyed);
}

/* The algorithm that rank 0 knows from wisdom, on all ranks; -1: none. */
static int recall(const struct pf_trial *trial, const char *key, int *known)
{
    pencilfft_plan plan = trial->plan;
    const char *name = plan->rank || trial->anew ? NULL : pf_wisdom_find(key);
    *known = -1;
    for (int i = 0; name && i < pf_exchanges.count; i++)
        if (row_at(i)->plan && !strcmp(name, row_at(i)->name))
            *known = i;
    PF_MPI(MPI_Bcast(known, 1, MPI_INT, 0, plan->all));
    plan->recalled |= *known >= 0;
    return PENCILFFT_OK;
}

/* A single rank has no choice: the first of the table. */
static int take_known(struct choice *c, int e, int nodes)
{
    int known = 0, status = PENCILFFT_OK;
    pf_auto_key(c->plan, e, nodes, c->key[e]);
    if (c->plan->p[e] > 1)
        status = recall(c->trial, c->key[e], &known);
    c->open[e] = known < 0;
    if (known >= 0)
        c->plan->chosen[e] = row_at(known);
    return status;
}

static int make_lists(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->exchanges; e++)
        if (!plan->auto_seconds[e] &&
            !(plan->auto_seconds[e] = calloc((size_t)pf_exchanges.count, sizeof *plan->auto_seconds[e])))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the times of exchanges");
    return pf_agree(status, plan->all);
}

int pf_auto_exchanges(struct pf_trial *trial, double budget_s, int nodes)
{
    struct choice c = {.trial = trial, .plan = trial->plan};
    pencilfft_plan plan = trial->plan;
    int status = make_lists(plan);
    for (int e = 0; e < plan->exchanges && !status; e++)
        status = take_known(&c, e, nodes);
    if (!status)
        status = choose_open(&c, budget_s);
    for (int e = 0; e < plan->exchanges && !status; e++)
        if (c.open[e] && !pf_wisdom_keep(c.key[e], plan->chosen[e]->name))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return pf_agree(status, plan->all); /* for schedules are tried next, by all ranks or by none */
}
