/* The grid, if "auto" is to choose it, by a race (race.c).
 * Idea:  every grid that gives all ranks data is a candidate; those of one exchange, 1xP and Px1, are slabs. Each has its
 *        own groups, which are made before the race, because candidates cannot fail to be taken. All run with the first
 *        algorithm of the table, which works for all extents; the algorithm is chosen for the winner afterwards. The winner
 *        is kept as wisdom, under the key of the grid that the rule of grid.c takes.
 * Cost:  two groups a candidate during the race. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose/auto.h"
#include "choose/choose.h"
#include "layout/layout.h"

/* `using` is the plan with everything that follows from a grid, and nothing built. */
struct grids {
    pencilfft_plan plan;
    int n;
    struct grid {
        int R;
        struct pencilfft_plan_s using;
    } *grid;
    struct pf_times *times;
};

static void take(void *of, int number)
{
    const struct grids *g = of;
    *g->plan = g->grid[number].using;
}

/* Switches the plan to a grid; its former groups and places must be kept or left by the caller. */
static int use(pencilfft_plan plan, const pencilfft_desc *desc, int R)
{
    for (int e = 0; e < plan->layout.exchanges; e++) {
        plan->layout.group[e] = MPI_COMM_NULL;
        plan->layout.places[e] = (struct pf_places){.at = NULL};
    }
    int status = plan->layout.geometry.decomposition->take_grid(R, plan->ranks / R, plan->layout.geometry.grid);
    return status ? status : pf_grid_use(plan, desc);
}

/* A grid that refuses the schedule is no candidate. */
static int make_grids(struct grids *g, const pencilfft_desc *desc)
{
    int R[PF_MOST_RACERS], candidates = pf_grid_candidates(g->plan, PF_MOST_RACERS, R);
    g->grid = calloc((size_t)candidates, sizeof *g->grid);
    g->times = calloc((size_t)candidates, sizeof *g->times);
    int status = g->grid && g->times ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory to try grids");
    if ((status = pf_agree(status, g->plan->all)))
        return status;
    for (int i = 0; i < candidates && status != PENCILFFT_MPI_ERROR; i++) {
        status = i ? use(g->plan, desc, R[i]) : PENCILFFT_OK;
        if (!status) {
            g->grid[g->n].R = R[i];
            g->grid[g->n++].using = *g->plan;
        } else if (status != PENCILFFT_MPI_ERROR)
            pf_grid_leave(g->plan);
        *g->plan = g->grid[0].using;
    }
    return status == PENCILFFT_MPI_ERROR ? status : PENCILFFT_OK;
}

/* Without runs that were given up. */
static pencilfft_grid_trial told(const struct pf_times *times, int R, int C)
{
    double sorted[PF_MOST_TIMES];
    pencilfft_grid_trial trial = {.R = R, .C = C};
    for (int i = 0; i < times->n; i++)
        if (isfinite(times->seconds[i]))
            sorted[trial.runs++] = times->seconds[i];
    if (trial.runs) {
        pf_seconds_sort(sorted, trial.runs);
        trial.least = sorted[0];
        trial.median = pf_times_median(times);
        trial.spread = sorted[3 * (trial.runs - 1) / 4] - sorted[(trial.runs - 1) / 4];
    }
    return trial;
}

static int tell(const struct grids *g)
{
    pencilfft_plan plan = g->plan;
    free(plan->chosen.grid_trial);
    plan->chosen.grid_trials = 0;
    plan->chosen.grid_trial = calloc((size_t)g->n, sizeof *plan->chosen.grid_trial);
    if (!plan->chosen.grid_trial)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the table of grids");
    for (int i = 0; i < g->n; i++)
        plan->chosen.grid_trial[plan->chosen.grid_trials++] = told(&g->times[i], g->grid[i].R, plan->ranks / g->grid[i].R);
    return PENCILFFT_OK;
}

/* Sets the plan to the winner, and leaves the groups of the others. */
static int race(struct grids *g, struct pf_trial *trial)
{
    struct pf_race r = {.trial = trial, .n = g->n, .times = g->times, .take = take, .of = g};
    for (int i = 0; i < g->n; i++)
        r.alive[i] = i;
    int status = pf_race_run(&r);
    for (int i = 0; i < g->n && status != PENCILFFT_MPI_ERROR; i++)
        if (i != r.alive[0]) {
            take(g, i);
            int left = pf_grid_leave(g->plan);
            status = left ? left : status;
        }
    take(g, r.alive[0]);
    return status;
}

static const struct pf_exchange *first_algorithm(const struct pencilfft_plan_s *plan)
{
    const struct pf_exchange *row;
    int i = 0;
    while ((row = pf_exchange_at(i)) && (!row->plan || (plan->request.nonblocking && !row->beside)))
        i++;
    return row ? row : plan->request.exchange;
}

static int choose(struct pf_trial *trial, const pencilfft_desc *desc)
{
    struct grids g = {.plan = trial->plan};
    for (int e = 0; e < trial->plan->layout.exchanges; e++)
        trial->plan->chosen.exchange[e] = first_algorithm(trial->plan);
    int status = make_grids(&g, desc);
    if (!status)
        status = race(&g, trial);
    if (!status)
        status = pf_agree(tell(&g), trial->plan->all);
    for (int e = 0; e < trial->plan->layout.exchanges; e++)
        trial->plan->chosen.exchange[e] = trial->plan->request.exchange;
    free(g.grid);
    free(g.times);
    return status;
}

int pf_auto_grid(struct pf_trial *trial, const pencilfft_desc *desc, double budget_s, int nodes)
{
    pencilfft_plan plan = trial->plan;
    char key[PF_AUTO_KEY_SIZE], text[PF_AUTO_TEXT];
    pf_auto_key(plan, 0, nodes, key);
    size_t used = strlen(key);
    snprintf(key + used, PF_AUTO_KEY_SIZE - used, "/grid");
    int status = pf_auto_recall(trial, key, text);
    if (status)
        return status;
    int R = atoi(text); /* tasks in a row; 0 without wisdom */
    if (R > 0 && plan->ranks % R == 0) {
        plan->chosen.recalled = true;
        if (!(status = pf_grid_leave(plan)))
            return use(plan, desc, R);
    }
    trial->limit = budget_s;
    if (status || (status = choose(trial, desc)))
        return status;
    snprintf(text, sizeof text, "%dx%d", plan->layout.geometry.grid[0], plan->layout.geometry.grid[1]);
    return pf_agree(pf_wisdom_keep(key, text) ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory to keep the grid"),
                    plan->all);
}

PF_TELLS(pencilfft_grid_trials, pencilfft_plan, int, plan->chosen.grid_trials)

int pencilfft_grid_trial_of(pencilfft_plan plan, int i, pencilfft_grid_trial *trial)
{
    if (!plan || !trial || i < 0 || i >= plan->chosen.grid_trials)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_grid_trial_of: null plan or result, or no such trial");
    *trial = plan->chosen.grid_trial[i];
    return PENCILFFT_OK;
}
