/* The algorithm of each exchange: successive halving.
 * Idea:  each exchange of a transform is tried alone, because some exchanges stay inside nodes and others do not: the
 *        candidates for the first exchange run beside the first algorithm of the table, the candidates for the next exchange
 *        beside the algorithm just chosen. All candidates run a few times, in turn. The better half, by the median of a
 *        candidate's time over the usual time at that moment, runs again, longer, until a single candidate is left. So
 *        disturbances of the machine hit all candidates alike, and close candidates get the most runs: the last two several
 *        times, each time with new plans, because two plans of the same exchange may differ more than two exchanges do. A
 *        candidate that takes twice as long as another is not repeated, and a round takes no more than its share of the
 *        remaining time. If the runs cannot separate two candidates, prefer a candidate whose messages are written directly
 *        to the reader. A choice is kept as wisdom.
 * Source: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits" (2013), for the halving. */
#include "choose/auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/wisdom.h"
#include "common/failure.h"

/* Of each round; each turn has new plans. For the share of fastest choices see docs/passes-and-trials.md. */
enum { TURNS = 2, MOST_TURNS = 6, LAST_TURNS = 12, REPS = 4 };
static const double hopeless = 2; /* times as long as the fastest */

/* An open choice. */
struct choice {
    struct pf_trial *trial;
    pencilfft_plan plan;
    bool open[PF_MAX_EXCHANGES]; /* not chosen yet */
    bool one_node; /* all ranks share a node */
    char key[PF_MAX_EXCHANGES][PF_AUTO_KEY_SIZE];
    struct pf_times times[PF_MOST_EXCHANGES]; /* by number of the exchange: for the exchange at hand */
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

/* ---- a single exchange -------------------------------------------------------------------------------------- */

/* The candidates of a round. */
struct round {
    struct choice *choice;
    int e, n, alive[PF_MOST_EXCHANGES]; /* numbers of exchanges */
    struct pf_times *times[PF_MOST_EXCHANGES]; /* of those candidates */
};

static void list_times(struct round *r)
{
    for (int k = 0; k < r->n; k++)
        r->times[k] = &r->choice->times[r->alive[k]];
}

static void take(void *of, int k)
{
    struct round *r = of;
    r->choice->plan->chosen[r->e] = row_at(r->alive[k]);
}

/* Time of an exchange over the usual time. An exchange whose messages are written directly to the reader gets the benefit of
 * the doubt. */
static double judged(const struct round *r, int k)
{
    bool moves_nothing = row_at(r->alive[k])->memory && r->choice->one_node;
    return pf_times_beside(r->times[k], r->times, r->n) * (1 - (moves_nothing ? pf_times_doubt(r->times[k]) : 0));
}

/* The faster half of the candidates, the fastest first, without refusals and hopeless candidates. At least one candidate. */
static void keep_half(struct round *r)
{
    int kept = 0, half = (r->n + 1) / 2;
    double over[PF_MOST_EXCHANGES];
    list_times(r);
    for (int k = 0; k < r->n; k++)
        over[k] = judged(r, k);
    for (; kept < half; kept++) {
        int next = kept;
        for (int k = kept + 1; k < r->n; k++)
            if (over[k] < over[next])
                next = k;
        double its = over[next];
        int number = r->alive[next];
        if (kept && !(its <= hopeless * over[0]))
            break;
        memmove(over + kept + 1, over + kept, (size_t)(next - kept) * sizeof *over);
        memmove(r->alive + kept + 1, r->alive + kept, (size_t)(next - kept) * sizeof *r->alive);
        over[kept] = its;
        r->alive[kept] = number;
    }
    r->n = kept;
    list_times(r);
}

static int halvings(int n)
{
    int rounds = 0;
    for (; n > 1; n = (n + 1) / 2)
        rounds++;
    return rounds;
}

/* One turn; at least `parts` such turns are to come, this turn included. */
static int run_turn(struct round *r, int parts)
{
    struct pf_trial *trial = r->choice->trial;
    struct pf_candidates candidates = {.n = r->n, .take = take, .of = r, .times = r->times};
    struct pf_patience patience = {REPS, (trial->limit - trial->spent) / parts, hopeless};
    return pf_trial_run(trial, &candidates, patience, NULL);
}

/* One round of the candidates: two turns, or more if time allows as many in each later round. The last two have all the
 * time. */
static int run_round(struct round *r)
{
    const struct pf_trial *trial = r->choice->trial;
    bool last = r->n == 2;
    int turns = last ? LAST_TURNS : TURNS, rounds = halvings(r->n), status = PENCILFFT_OK;
    double began = trial->spent;
    list_times(r);
    for (int turn = 0; turn < turns && !status && trial->spent <= trial->limit; turn++) {
        status = run_turn(r, last ? 1 : rounds - 1 + turns - turn);
        double times = (trial->limit - trial->spent) / (rounds * (trial->spent - began));
        if (turn == 0 && !last && times >= TURNS)
            turns = times < MOST_TURNS ? (int)times : MOST_TURNS;
    }
    return status;
}

/* The base already has times, but not beside the other candidates. */
static int choose_one(struct choice *c, int e, int base)
{
    struct round r = {.choice = c, .e = e, .n = 1, .alive = {base}};
    const struct pf_trial *trial = c->trial;
    int status = PENCILFFT_OK;
    if (trial->spent <= trial->limit)
        c->times[base].n = 0;
    for (int i = 0; i < pf_exchanges.count && trial->spent <= trial->limit; i++)
        if (i != base && row_at(i)->plan && c->plan->p[e] >= row_at(i)->least_group && !c->times[i].refused)
            r.alive[r.n++] = i;
    while (r.n > 1 && !status && trial->spent <= trial->limit) {
        status = run_round(&r);
        keep_half(&r);
    }
    c->plan->chosen[e] = row_at(r.alive[0]);
    return status;
}

/* ---- all exchanges ------------------------------------------------------------------------------------------ */

/* An algorithm for all open exchanges. */
struct everywhere {
    struct choice *choice;
    int number;
};

static void take_everywhere(void *of, int k)
{
    struct everywhere *all = of;
    (void)k;
    for (int e = 0; e < all->choice->plan->exchanges; e++)
        if (all->choice->open[e])
            all->choice->plan->chosen[e] = row_at(all->number);
}

/* The first algorithm of the table that works for all exchanges; the first candidates run beside this base. */
static int find_base(struct choice *c, int *base)
{
    int status, why = PENCILFFT_NOT_POSSIBLE;
    struct pf_patience once = {1, INFINITY, INFINITY};
    for (int i = 0; i < pf_exchanges.count && why; i++) {
        struct everywhere all = {c, i};
        struct pf_times *times = &c->times[i];
        struct pf_candidates one = {.n = 1, .take = take_everywhere, .of = &all, .times = &times};
        if (!row_at(i)->plan)
            continue;
        why = PENCILFFT_OK;
        if ((status = pf_trial_run(c->trial, &one, once, &why)))
            return status;
        *base = i;
    }
    if (!why)
        take_everywhere(&(struct everywhere){c, *base}, 0);
    return why; /* with the message of the last candidate */
}

/* Infinity for a refused algorithm, 0 for an untried algorithm. */
static void tell_seconds(const struct choice *c, int e)
{
    for (int i = 0; i < pf_exchanges.count; i++)
        c->plan->auto_seconds[e][i] = c->times[i].n || c->times[i].refused ? pf_times_median(&c->times[i]) : 0;
}

/* Choose one exchange after the other. The candidates for the next exchange run beside the algorithm just chosen, so that
 * its times also serve as times of the next base. */
static int choose_open(struct choice *c, double budget)
{
    int base = 0, open = 0, begun = 0, status = PENCILFFT_OK;
    for (int e = 0; e < c->plan->exchanges; e++)
        open += c->open[e];
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
    const char *nonblocking = plan->nonblocking ? "/nonblocking" : "";
    snprintf(key, PF_AUTO_KEY_SIZE,
             "%lldx%lldx%lld/%s/%s/%d-nodes/%d.%d,%d.%d,%d.%d-lines/%zu-bytes/%d-fields/%d-directions/"
             "%lld,%lld,%lld-%lld,%lld,%lld%s%.40s%s%s%s",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], pf_grid_text(g, grid),
             g->decomposition->exchange[e].name, nodes, line[0].kind, line[0].r2r[0], line[1].kind, line[1].r2r[0],
             line[2].kind, line[2].r2r[0], plan->element_bytes, plan->fields, plan->directions, (long long)before->stride[0],
             (long long)before->stride[1], (long long)before->stride[2], (long long)after->stride[0],
             (long long)after->stride[1], (long long)after->stride[2], in_sequence ? "" : "/",
             in_sequence ? "" : plan->schedule, threads, destroyed, nonblocking);
}

/* The algorithm that rank 0 knows from wisdom, on all ranks; -1 if there is none. */
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

/* A single rank has no choice: take the first algorithm of the table. */
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
    struct choice c = {.trial = trial, .plan = trial->plan, .one_node = nodes == 1};
    pencilfft_plan plan = trial->plan;
    int status = make_lists(plan);
    for (int e = 0; e < plan->exchanges && !status; e++)
        status = take_known(&c, e, nodes);
    if (!status)
        status = choose_open(&c, budget_s);
    for (int e = 0; e < plan->exchanges && !status; e++)
        if (c.open[e] && !pf_wisdom_keep(c.key[e], plan->chosen[e]->name))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return pf_agree(status, plan->all); /* all ranks, or none, go on to the schedules */
}
