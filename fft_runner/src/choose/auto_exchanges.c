/* The algorithm of each exchange, by races (race.c).
 * Idea:  each exchange of a transform is tried alone, because some exchanges stay inside nodes and others do not: the
 *        candidates for the first exchange run beside the first algorithm of the table, the candidates for the next exchange
 *        beside the algorithm just chosen. If the runs cannot separate two candidates, prefer a candidate whose messages are
 *        written directly to the reader. A choice is kept as wisdom. */
#include "choose/auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An open choice. */
struct choice {
    struct pf_trial *trial;
    pencilfft_plan plan;
    bool open[PF_MAX_EXCHANGES]; /* not chosen yet */
    bool one_node; /* all ranks share a node */
    char key[PF_MAX_EXCHANGES][PF_AUTO_KEY_SIZE];
    struct pf_times times[PF_MOST_EXCHANGES]; /* by number of the exchange: for the exchange at hand */
};

static int number_of(const struct pf_exchange *exchange)
{
    int i = 0;
    while (pf_exchange_at(i) != exchange)
        i++;
    return i;
}

/* ---- a single exchange -------------------------------------------------------------------------------------- */

/* The candidates for exchange e. */
struct candidates {
    struct choice *choice;
    int e;
};

static void take(void *of, int number)
{
    const struct candidates *c = of;
    c->choice->plan->chosen.exchange[c->e] = pf_exchange_at(number);
}

/* An exchange whose messages are written directly to the reader gets the benefit of the doubt. */
static bool is_favoured(void *of, int number)
{
    const struct candidates *c = of;
    return pf_exchange_at(number)->direct && c->choice->one_node;
}

/* The base already has times, but not beside the other candidates. */
static int choose_one(struct choice *c, int e, int base)
{
    struct candidates of = {c, e};
    struct pf_race r =
        {.trial = c->trial, .n = 1, .alive = {base}, .times = c->times, .take = take, .is_favoured = is_favoured, .of = &of};
    const struct pf_trial *trial = c->trial;
    if (trial->spent <= trial->limit)
        c->times[base].n = 0;
    for (int i = 0; i < pf_exchanges.count && trial->spent <= trial->limit; i++)
        if (i != base && pf_exchange_at(i)->plan && c->plan->layout.p[e] >= pf_exchange_at(i)->least_group &&
            !c->times[i].refused)
            r.alive[r.n++] = i;
    int status = pf_race_run(&r);
    c->plan->chosen.exchange[e] = pf_exchange_at(r.alive[0]);
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
    for (int e = 0; e < all->choice->plan->layout.exchanges; e++)
        if (all->choice->open[e])
            all->choice->plan->chosen.exchange[e] = pf_exchange_at(all->number);
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
        if (!pf_exchange_at(i)->plan)
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
        c->plan->chosen.auto_seconds[e][i] = c->times[i].n || c->times[i].refused ? pf_times_median(&c->times[i]) : 0;
}

/* Choose one exchange after the other. The candidates for the next exchange run beside the algorithm just chosen, so that
 * its times also serve as times of the next base. */
static int choose_open(struct choice *c, double budget)
{
    int base = 0, open = 0, begun = 0, status = PENCILFFT_OK;
    double from = c->trial->spent;
    for (int e = 0; e < c->plan->layout.exchanges; e++)
        open += c->open[e];
    if (open)
        status = find_base(c, &base);
    for (int e = 0; e < c->plan->layout.exchanges && !status; e++) {
        if (!c->open[e])
            continue;
        c->trial->limit = from + (budget - from) * ++begun / open;
        if ((status = choose_one(c, e, base)))
            break;
        tell_seconds(c, e);
        struct pf_times taken = c->times[number_of(c->plan->chosen.exchange[e])];
        memset(c->times, 0, PF_MOST_EXCHANGES * sizeof *c->times);
        c->times[base] = taken;
    }
    return status;
}

/* ---- wisdom ------------------------------------------------------------------------------------------------- */

/* The first rank's boxes give sizes and layout. */
void pf_auto_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[PF_AUTO_KEY_SIZE])
{
    const struct pf_geometry *g = &plan->layout.geometry;
    char grid[PF_GRID_TEXT];
    bool in_sequence = plan->chosen.choice.schedule == &pf_schedule_sequence;
    int first = pf_member(plan, e, 0);
    pencilfft_box boxes[2] = {pf_array_box(g, e, first), pf_array_box(g, pf_exchanged_array(e, 1), first)};
    const pencilfft_box *before = &boxes[0], *after = &boxes[1];
    const struct pf_line *line = plan->layout.transform.line;
    char threads[32] = "";
    if (plan->request.threads > 1)
        snprintf(threads, sizeof threads, "/%d-threads", plan->request.threads);
    char padded[80] = "";
    if (pf_is_padded(plan))
        snprintf(padded, sizeof padded, "/padded-%lldx%lldx%lld", (long long)g->points[0], (long long)g->points[1],
                 (long long)g->points[2]);
    const char *order = g->axes == pf_table_row(&pf_orders, 0) ? "" : "/order-", *letters = *order ? g->axes->name : "";
    const char *interleaved = plan->request.interleaved ? "/interleaved" : "";
    const char *destroyed = plan->request.destroys_input ? "/destroyed-input" : "";
    const char *nonblocking = plan->request.nonblocking ? "/nonblocking" : "", *sent = pf_rounds(plan) ? "/sent-single" : "";
    snprintf(key, PF_AUTO_KEY_SIZE,
             "%lldx%lldx%lld/%s/%s/%d-nodes/%d.%d,%d.%d,%d.%d-lines/%zu-bytes/%d-fields/%d-directions/"
             "%lld,%lld,%lld-%lld,%lld,%lld%s%.40s%s%s%s%s%s%s%s%s",
             (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], pf_grid_text(g, grid),
             g->decomposition->exchange[e].name, nodes, line[0].kind, line[0].r2r[0], line[1].kind, line[1].r2r[0],
             line[2].kind, line[2].r2r[0], plan->layout.element_bytes, plan->request.fields, plan->request.directions,
             (long long)before->stride[0], (long long)before->stride[1], (long long)before->stride[2],
             (long long)after->stride[0], (long long)after->stride[1], (long long)after->stride[2], in_sequence ? "" : "/",
             in_sequence ? "" : plan->chosen.schedule, threads, order, letters, interleaved, destroyed, nonblocking, sent,
             padded);
}

int pf_auto_recall(const struct pf_trial *trial, const char *key, char text[PF_AUTO_TEXT])
{
    pencilfft_plan plan = trial->plan;
    const char *kept = plan->rank || trial->anew ? NULL : pf_wisdom_find(key);
    snprintf(text, PF_AUTO_TEXT, "%s", kept ? kept : "");
    PF_MPI(MPI_Bcast(text, PF_AUTO_TEXT, MPI_CHAR, 0, plan->all));
    return PENCILFFT_OK;
}

int pf_auto_row(const char *name, size_t length)
{
    for (int i = 0; i < pf_exchanges.count; i++) {
        const struct pf_exchange *row = pf_exchange_at(i);
        if (row->plan && strlen(row->name) == length && !strncmp(name, row->name, length))
            return i;
    }
    return -1;
}

/* A single rank has no choice: take the first algorithm of the table. */
static int take_known(struct choice *c, int e, int nodes)
{
    int known = 0, status = PENCILFFT_OK;
    pf_auto_key(c->plan, e, nodes, c->key[e]);
    if (c->plan->layout.p[e] > 1) {
        char name[PF_AUTO_TEXT];
        status = pf_auto_recall(c->trial, c->key[e], name);
        known = status ? -1 : pf_auto_row(name, strlen(name));
        c->plan->chosen.recalled |= known >= 0;
    }
    c->open[e] = known < 0;
    if (known >= 0)
        c->plan->chosen.exchange[e] = pf_exchange_at(known);
    return status;
}

static int make_lists(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->layout.exchanges; e++)
        if (!plan->chosen.auto_seconds[e] &&
            !(plan->chosen.auto_seconds[e] = calloc((size_t)pf_exchanges.count, sizeof *plan->chosen.auto_seconds[e])))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the times of exchanges");
    return pf_agree(status, plan->all);
}

int pf_auto_exchanges(struct pf_trial *trial, double budget_s, int nodes)
{
    struct choice c = {.trial = trial, .plan = trial->plan, .one_node = nodes == 1};
    pencilfft_plan plan = trial->plan;
    int status = make_lists(plan);
    for (int e = 0; e < plan->layout.exchanges && !status; e++)
        status = take_known(&c, e, nodes);
    if (!status)
        status = choose_open(&c, budget_s);
    for (int e = 0; e < plan->layout.exchanges && !status; e++)
        if (c.open[e] && !pf_wisdom_keep(c.key[e], plan->chosen.exchange[e]->name))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
    return pf_agree(status, plan->all); /* all ranks, or none, go on to the schedules */
}
