/* A race of candidates: successive halving.
 * Idea:  all candidates run a few times, in turn. The better half, by the median of a candidate's time over the usual time
 *        at that moment, runs again, longer, until a single candidate is left. So disturbances of the machine hit all
 *        candidates alike, and close candidates get the most runs: the last two several times, each time with new plans,
 *        because two plans of the same candidate may differ more than two candidates do. A candidate that takes twice as
 *        long as another is not repeated, and a round takes no more than its share of the remaining time.
 * Source: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits" (2013), for the halving. */
#include <string.h>

#include "choose/auto.h"

/* Of each round; each turn has new plans. */
enum { TURNS = 2, MOST_TURNS = 6, LAST_TURNS = 12, REPS = 4 };
static const double hopeless = 2; /* times as long as the fastest */

/* The times of those left. */
static void list_times(const struct pf_race *r, struct pf_times *times[PF_MOST_RACERS])
{
    for (int k = 0; k < r->n; k++)
        times[k] = &r->times[r->alive[k]];
}

static void take(void *of, int k)
{
    const struct pf_race *r = of;
    r->take(r->of, r->alive[k]);
}

/* Time over the usual time. A favoured candidate gets the benefit of the doubt. */
static double judged(const struct pf_race *r, struct pf_times *const *times, int k)
{
    bool favoured = r->is_favoured && r->is_favoured(r->of, r->alive[k]);
    return pf_times_beside(times[k], times, r->n) * (1 - (favoured ? pf_times_doubt(times[k]) : 0));
}

/* The faster half of the candidates, the fastest first, without refusals and hopeless candidates. At least one candidate. */
static void keep_half(struct pf_race *r)
{
    int kept = 0, half = (r->n + 1) / 2;
    double over[PF_MOST_RACERS];
    struct pf_times *times[PF_MOST_RACERS];
    list_times(r, times);
    for (int k = 0; k < r->n; k++)
        over[k] = judged(r, times, k);
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
}

static int halvings(int n)
{
    int rounds = 0;
    for (; n > 1; n = (n + 1) / 2)
        rounds++;
    return rounds;
}

/* One turn; at least `parts` such turns are to come, this turn included. */
static int run_turn(struct pf_race *r, int parts)
{
    struct pf_times *times[PF_MOST_RACERS];
    list_times(r, times);
    struct pf_candidates candidates = {.n = r->n, .take = take, .of = r, .times = times};
    struct pf_patience patience = {REPS, (r->trial->limit - r->trial->spent) / parts, hopeless};
    return pf_trial_run(r->trial, &candidates, patience, NULL);
}

/* One round of the candidates: two turns, or more if time allows as many in each later round. The last two have all the
 * time. */
static int run_round(struct pf_race *r)
{
    const struct pf_trial *trial = r->trial;
    bool last = r->n == 2;
    int turns = last ? LAST_TURNS : TURNS, rounds = halvings(r->n), status = PENCILFFT_OK;
    double began = trial->spent;
    for (int turn = 0; turn < turns && !status && trial->spent <= trial->limit; turn++) {
        status = run_turn(r, last ? 1 : rounds - 1 + turns - turn);
        double times = (trial->limit - trial->spent) / (rounds * (trial->spent - began));
        if (turn == 0 && !last && times >= TURNS)
            turns = times < MOST_TURNS ? (int)times : MOST_TURNS;
    }
    return status;
}

int pf_race_run(struct pf_race *r)
{
    int status = PENCILFFT_OK;
    while (r->n > 1 && !status && r->trial->spent <= r->trial->limit) {
        status = run_round(r);
        keep_half(r);
    }
    return status;
}
