/* Choose a schedule among the schedules that keep the boxes.
 * Idea:  try schedules with the exchanges chosen for the sequence; if an exchange cannot run beside other work, take the
 *        fastest exchange that can. A schedule is chosen only if clearly faster than the sequence in each of several rounds
 *        that try both, because a gain inside a node may be noise. Wisdom keeps the schedule with its exchanges. */
#include "choose/auto.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layout/layout.h"

/* The schedules that keep the boxes. If a transform is too small for a schedule, the schedule is left out. */
static const char *const tried_schedules[] = {"overlap:2", "overlap", "pipelined"};
enum { N_TRIED = sizeof tried_schedules / sizeof tried_schedules[0], ROUNDS = 3, REPS = 5 };

/* Required ratio to the time of the sequence, in every round: trials on a shared machine differ by some per cent. */
static const double clearly = 0.93;

/* A schedule with its exchanges; as a text in wisdom "overlap:4:x/alltoallv/p2p". */
struct way {
    struct pf_choice choice;
    const struct pf_exchange *exchange[PF_MAX_EXCHANGES];
};

static void take_way(pencilfft_plan plan, const struct way *way)
{
    for (int e = 0; e < plan->layout.exchanges; e++)
        plan->chosen.exchange[e] = way->exchange[e];
    pf_schedule_take(plan, &way->choice); /* chosen before, hence possible */
}

/* The chosen algorithm of an exchange, or the fastest algorithm that runs beside other work; NULL if none can. */
static const struct pf_exchange *exchange_beside(const struct pencilfft_plan_s *plan, int e)
{
    const struct pf_exchange *best = NULL;
    double least = INFINITY;
    if (plan->chosen.exchange[e]->beside)
        return plan->chosen.exchange[e];
    for (int i = 0; i < pf_exchanges.count && plan->chosen.auto_seconds[e]; i++) {
        double seconds = plan->chosen.auto_seconds[e][i];
        if (pf_exchange_at(i)->beside && seconds > 0 && seconds < least) {
            best = pf_exchange_at(i);
            least = seconds;
        }
    }
    return best;
}

static bool make_way(pencilfft_plan plan, const char *text, struct way *way)
{
    bool possible = !pf_choice_read(text, plan->chosen.choice.letter, &way->choice) && !pf_schedule_take(plan, &way->choice);
    for (int e = 0; e < plan->layout.exchanges && possible; e++)
        possible = (way->exchange[e] = exchange_beside(plan, e)) != NULL;
    return possible && plan->chosen.beside;
}

static void write_way(const struct pencilfft_plan_s *plan, char text[PF_AUTO_TEXT])
{
    int used = snprintf(text, PF_AUTO_TEXT, "%.40s", plan->chosen.schedule);
    for (int e = 0; e < plan->layout.exchanges && used < PF_AUTO_TEXT; e++)
        used += snprintf(text + used, PF_AUTO_TEXT - (size_t)used, "/%s", plan->chosen.exchange[e]->name);
}

/* False if the text does not describe a way of this plan. */
static bool read_way(pencilfft_plan plan, const char *text, struct way *way)
{
    char schedule[PF_AUTO_TEXT];
    size_t length = strcspn(text, "/");
    snprintf(schedule, sizeof schedule, "%.*s", (int)length, text);
    if (pf_choice_read(schedule, plan->chosen.choice.letter, &way->choice) || pf_schedule_take(plan, &way->choice))
        return false;
    for (int e = 0; e < plan->layout.exchanges; e++) {
        text += length + (text[length] == '/');
        length = strcspn(text, "/");
        int row = pf_auto_row(text, length);
        if (row < 0 || (plan->chosen.beside && !pf_exchange_at(row)->beside))
            return false;
        way->exchange[e] = pf_exchange_at(row);
    }
    return true;
}

/* The two candidates: the sequence and a way. */
struct two_ways {
    pencilfft_plan plan;
    const struct way *way[2];
};

static void take_one(void *of, int i)
{
    const struct two_ways *both = of;
    take_way(both->plan, both->way[i]);
}

/* Run sequence and way in turn; refuse the way if not clearly faster in a round, or if time is over. */
static int is_clearly_faster(struct pf_trial *t, const struct way *usual, const struct way *way, struct pf_patience patience,
                             double *seconds, bool *faster)
{
    struct two_ways both = {t->plan, {usual, way}};
    int status = PENCILFFT_OK;
    *faster = t->spent <= t->limit;
    *seconds = INFINITY;
    for (int round = 0; round < ROUNDS && *faster && !status; round++) {
        struct pf_times others = {0}, mine = {0}, *times[2] = {&others, &mine};
        struct pf_candidates candidates = {.n = 2, .take = take_one, .of = &both, .times = times};
        status = pf_trial_run(t, &candidates, patience, NULL);
        *faster = pf_times_beside(&mine, times, 2) < clearly * pf_times_beside(&others, times, 2);
        *seconds = fmin(*seconds, pf_times_median(&mine));
    }
    return status;
}

static int try_schedules(struct pf_trial *t, double budget)
{
    struct way usual = {.choice = t->plan->chosen.choice}, best, way;
    double least = INFINITY, seconds;
    int status = PENCILFFT_OK;
    memcpy(usual.exchange, t->plan->chosen.exchange, sizeof usual.exchange);
    best = usual;
    t->limit = budget;
    for (int i = 0; i < N_TRIED && !status; i++) {
        bool faster = false;
        take_way(t->plan, &usual);
        if (!make_way(t->plan, tried_schedules[i], &way))
            continue;
        struct pf_patience patience = {REPS, (t->limit - t->spent) / (ROUNDS * (N_TRIED - i)), INFINITY};
        status = is_clearly_faster(t, &usual, &way, patience, &seconds, &faster);
        if (!status && faster && seconds < least) {
            least = seconds;
            best = way;
        }
    }
    take_way(t->plan, &best);
    return status;
}

int pf_auto_schedule(struct pf_trial *t, double budget_s, int nodes)
{
    pencilfft_plan plan = t->plan;
    char key[PF_AUTO_KEY_SIZE], text[PF_AUTO_TEXT];
    struct way known = {.choice = plan->chosen.choice}, usual = known;
    int status = PENCILFFT_OK;
    memcpy(usual.exchange, plan->chosen.exchange, sizeof usual.exchange);
    pf_auto_key(plan, 0, nodes, key);
    size_t used = strlen(key);
    snprintf(key + used, PF_AUTO_KEY_SIZE - used, "/schedule%s%s", plan->request.exchange->plan ? "/" : "",
             plan->request.exchange->plan ? plan->request.exchange->name : "");
    if ((status = pf_auto_recall(t, key, text)))
        return status;
    if (text[0] && read_way(plan, text, &known)) {
        take_way(plan, &known);
        plan->chosen.recalled = true;
        return PENCILFFT_OK;
    }
    take_way(plan, &usual);
    if ((status = try_schedules(t, budget_s)))
        return status;
    write_way(plan, text);
    return pf_wisdom_keep(key, text) ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep what was chosen");
}
