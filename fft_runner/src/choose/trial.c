/* Time candidates of "auto".
 * Idea:  a machine that others use, or whose clock rate varies, is faster for some tenths of a second than for the next
 *        ones, by more than candidates differ. So all plans are made first, each runs once to warm up, and then the plans
 *        run in turn, one transform each. A time is compared with the times of the other candidates at the same moment. All
 *        candidates use the same arrays of the trial, because at large sizes touching fresh memory takes longer than a
 *        transform. Before each run the input is written again, like in a program that computes its input: data that the
 *        last run left in the caches would help some exchanges more than others. For the same reason a small output is
 *        another array in each run, as a program has several arrays. Larger arrays leave the caches anyway: they are not
 *        rewritten and not warmed up, so that all candidates run before the time is up. The clock starts after the first
 *        plan, because the transform needs FFTW's planning anyway, and later plans cost little. The steps of a plan point
 *        into the plan. So only the running plan is in the caller's place; the others are parked.
 * Cost:  memory of an input, of outputs of pf_tuning.trial_outs_bytes or one larger output, and of the work buffers of one
 *        plan, shared by all candidates; own memory of as many exchanges as pf_tuning.trial_bytes allow, at least of one. */
#include "choose/auto.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "run/run.h"
#include "speed/tuning.h"

static const double luck = 0.13; /* of a single run relative to simultaneous runs: docs/passes-and-trials.md */

double pf_times_median(const struct pf_times *times)
{
    double sorted[PF_MOST_TIMES];
    int n = 0;
    for (int i = 0; i < times->n; i++)
        if (isfinite(times->seconds[i]))
            sorted[n++] = times->seconds[i];
    if (!n)
        return INFINITY;
    pf_seconds_sort(sorted, n);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* The usual time at time number k. */
static double usual(struct pf_times *const *all, int n, int k)
{
    struct pf_times at = {.n = 0};
    for (int i = 0; i < n; i++)
        if (k < all[i]->n)
            at.seconds[at.n++] = all[i]->seconds[k];
    return pf_times_median(&at);
}

double pf_times_beside(const struct pf_times *times, struct pf_times *const *all, int n)
{
    struct pf_times over = {.n = times->n};
    for (int k = 0; k < times->n; k++)
        over.seconds[k] = times->seconds[k] / usual(all, n, k);
    return pf_times_median(&over);
}

double pf_times_doubt(const struct pf_times *times)
{
    int n = 0;
    for (int k = 0; k < times->n; k++)
        n += isfinite(times->seconds[k]);
    return n ? luck / sqrt(n) : 0;
}

static void release(struct pf_buffer *buffer)
{
    free(buffer->raw);
    *buffer = (struct pf_buffer){.raw = NULL};
}

static void release_work(struct pf_trial *t)
{
    for (int i = 0; i < PF_WORKS; i++)
        release(&t->work[i]);
    t->work_elements = 0;
}

void pf_trial_release(struct pf_trial *t)
{
    release(&t->in);
    release(&t->outs.buffer);
    release_work(t);
    t->elements = 0;
}

/* Zeros, because a candidate must not meet numbers that compute slowly. */
static int give_arrays(struct pf_trial *t)
{
    int64_t needed = t->plan->memory.alloc_elements;
    int status = PENCILFFT_OK;
    if (!t->in.raw || needed > t->elements) {
        release(&t->in);
        release(&t->outs.buffer);
        t->elements = 0;
        status = pf_buffer_make(t->plan, needed, &t->in);
        if (!status)
            status = pf_outs_make(t->plan, needed, INT_MAX, pf_tuning.trial_outs_bytes, &t->outs);
        if (!status) {
            memset(t->in.data, 0, (size_t)needed * t->plan->layout.element_bytes);
            t->elements = needed;
        }
    }
    return pf_agree(status, t->plan->all);
}

/* Lend work buffers unless a plan has work buffers already. If memory is short, each plan makes its own. So does each plan
 * if all buffers stay in the caches: shared buffers would stay there longer than the own memory of an exchange. */
static void give_work(struct pf_trial *t)
{
    if (t->elements * (int64_t)t->plan->layout.element_bytes <= pf_tuning.trial_outs_bytes / 4)
        return;
    if (t->work_elements < t->elements)
        release_work(t);
    t->work_elements = t->elements;
    for (int i = 0; i < PF_WORKS; i++)
        if (t->works[i] && !t->work[i].raw) {
            if (pf_buffer_make(t->plan, t->elements, &t->work[i]))
                release(&t->work[i]);
            else
                memset(t->work[i].data, 0, (size_t)t->elements * t->plan->layout.element_bytes);
        }
}

/* Bytes of an array, the mean over the ranks. The same on all ranks, because it decides their collective steps. */
static double mean_bytes(const struct pencilfft_plan_s *plan)
{
    double elements = plan->request.fields;
    for (int axis = 0; axis < 3; axis++)
        elements *= (double)pf_array_extent(&plan->layout.geometry, 0, axis);
    return elements * (double)plan->layout.element_bytes / plan->ranks;
}

/* A larger array leaves the caches before its next use. */
static bool stays_in_caches(const struct pf_trial *t)
{
    return mean_bytes(t->plan) <= (double)pf_tuning.trial_outs_bytes;
}

static int run_once(struct pf_trial *t, double *seconds)
{
    int status = PENCILFFT_OK;
    void *out = pf_outs_next(&t->outs);
    *seconds = 0;
    if (stays_in_caches(t))
        memset(t->plan->request.directions & PENCILFFT_FORWARD ? t->in.data : out, 0,
               (size_t)t->plan->memory.alloc_elements * t->plan->layout.element_bytes);
    PF_MPI(MPI_Barrier(t->plan->all));
    if (t->plan->request.directions & PENCILFFT_FORWARD) {
        status = pencilfft_forward(t->plan, t->in.data, out);
        *seconds += t->plan->program.clock.total;
    }
    if (!status && t->plan->request.directions & PENCILFFT_BACKWARD) {
        status = pencilfft_backward(t->plan, out, t->in.data);
        *seconds += t->plan->program.clock.total;
    }
    return status;
}

/* The slowest rank's value on all ranks; likewise the time spent so far. */
static int time_once(struct pf_trial *t, double *seconds)
{
    double both[2];
    int status = run_once(t, &both[0]);
    if (status)
        return status;
    both[1] = pf_now() - t->started;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, t->plan->all));
    *seconds = both[0];
    t->spent = both[1];
    return status;
}

/* ---- plans at the same place -------------------------------------------------------------------------------- */

/* Parked plans; `empty` is the plan without the parts made by pf_plan_build(). */
struct parked {
    struct pencilfft_plan_s empty, *plan;
    bool *goes;
    int n;
};

static int parked_make(struct parked *parked, const struct pf_trial *t, int n)
{
    parked->empty = *t->plan;
    parked->n = n;
    parked->plan = calloc((size_t)n, sizeof *parked->plan);
    parked->goes = calloc((size_t)n, sizeof *parked->goes);
    return pf_agree(parked->plan && parked->goes ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory to try plans"),
                    t->plan->all);
}

static void parked_release(struct parked *parked, struct pf_trial *t)
{
    for (int i = 0; i < parked->n && parked->goes; i++)
        if (parked->goes[i]) {
            *t->plan = parked->plan[i];
            pf_plan_clear(t->plan);
        }
    *t->plan = parked->empty;
    free(parked->plan);
    free(parked->goes);
}

/* Make the plan on the trial's arrays, if the arrays exist already. */
static int build(struct pf_trial *t)
{
    t->plan->memory.lent[0] = t->in.data;
    t->plan->memory.lent[1] = t->outs.buffer.data;
    t->plan->memory.lent_elements = t->elements;
    t->plan->memory.lent_work_elements = t->work_elements;
    for (int i = 0; i < PF_WORKS; i++)
        t->plan->memory.lent_work[i] = t->work[i].data;
    int status = pf_plan_build(t->plan);
    t->plan->memory.lent_elements = t->plan->memory.lent_work_elements = 0;
    for (int i = 0; i < PF_WORKS && !status; i++)
        t->works[i] |= t->plan->memory.work[i] != NULL;
    if (!status)
        status = give_arrays(t);
    if (status)
        pf_plan_clear(t->plan);
    return status;
}

static double least_median(const struct pf_candidates *c)
{
    double least = INFINITY;
    for (int i = 0; i < c->n; i++)
        least = fmin(least, pf_times_median(c->times[i]));
    return least;
}

static bool is_hopeless(const struct pf_times *times, double most)
{
    return times->n && pf_times_median(times) > most;
}

/* Park candidates from `first` on. Leave out candidates that refuse or are hopeless. */
static int park(struct pf_trial *t, const struct pf_candidates *c, int first, struct parked *parked, double give_up,
                int *why)
{
    double most = give_up * least_median(c);
    for (int i = 0; i < parked->n; i++) {
        struct pf_times *times = c->times[first + i];
        if (is_hopeless(times, most))
            continue;
        *t->plan = parked->empty;
        c->take(c->of, first + i);
        int status = build(t);
        if (t->started == 0)
            t->started = pf_now();
        if (status == PENCILFFT_MPI_ERROR)
            return status;
        if (status && why)
            *why = status;
        times->refused = status != PENCILFFT_OK;
        parked->goes[i] = !status;
        parked->plan[i] = *t->plan;
    }
    return PENCILFFT_OK;
}

/* ---- times -------------------------------------------------------------------------------------------------- */

/* Run each of the parked plans once, except hopeless plans. */
static int time_each(struct pf_trial *t, const struct pf_candidates *c, int first, struct parked *parked, double give_up)
{
    double most = give_up * least_median(c);
    int status = PENCILFFT_OK;
    for (int i = 0; i < parked->n && !status; i++) {
        struct pf_times *times = c->times[first + i];
        if (times->refused || times->n == PF_MOST_TIMES)
            continue;
        double seconds = INFINITY;
        if (parked->goes[i] && !is_hopeless(times, most)) {
            *t->plan = parked->plan[i];
            status = time_once(t, &seconds);
            parked->plan[i] = *t->plan;
        }
        times->seconds[times->n++] = seconds;
    }
    return status;
}

static int warm_up(struct pf_trial *t, struct parked *parked)
{
    double seconds;
    int status = PENCILFFT_OK;
    for (int i = 0; i < parked->n && !status; i++)
        if (parked->goes[i]) {
            *t->plan = parked->plan[i];
            status = time_once(t, &seconds);
            parked->plan[i] = *t->plan;
        }
    return status;
}

static bool any_goes(const struct parked *parked)
{
    bool any = false;
    for (int i = 0; i < parked->n; i++)
        any |= parked->goes[i];
    return any;
}

static int run_parked(struct pf_trial *t, const struct pf_candidates *c, int first, struct parked *parked,
                      struct pf_patience patience)
{
    double before = t->spent;
    int status = any_goes(parked) && stays_in_caches(t) ? warm_up(t, parked) : PENCILFFT_OK;
    for (int rep = 0; rep < patience.reps && any_goes(parked) && !status; rep++) {
        status = time_each(t, c, first, parked, patience.give_up);
        if (t->spent - before > patience.share)
            break;
    }
    return status;
}

/* The number of plans that fit into memory at once, the same on all ranks. */
static int together(const struct pencilfft_plan_s *plan, int n)
{
    double room = (double)pf_tuning.trial_bytes / mean_bytes(plan);
    return room < 1 ? 1 : room < n ? (int)room : n;
}

int pf_trial_run(struct pf_trial *t, const struct pf_candidates *c, struct pf_patience patience, int *why)
{
    int status = PENCILFFT_OK, most = together(t->plan, c->n);
    double share = patience.share;
    for (int first = 0; first < c->n && !status && (first == 0 || t->spent <= t->limit); first += most) {
        struct parked parked;
        int n = most < c->n - first ? most : c->n - first;
        patience.share = share * n / c->n;
        give_work(t);
        status = parked_make(&parked, t, n);
        if (!status)
            status = park(t, c, first, &parked, patience.give_up, why);
        if (!status)
            status = run_parked(t, c, first, &parked, patience);
        parked_release(&parked, t);
    }
    return status;
}
