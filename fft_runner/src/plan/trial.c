/* Time one candidate of "auto".
 * Idea:  a candidate is planned, run once to warm up, and timed until the patience is over. The arrays are the trial's own,
 *        the same for all candidates, for at large sizes touching fresh memory takes longer than a transform. The input is
 *        laid anew before each run, as a program computes it before it is transformed: what the last run left in the caches
 *        would help some exchanges more than others. The clock starts after the first plan, because the transform needs what
 *        FFTW learns in it anyway, and later plans then cost little.
 * Cost:  memory of a plan with that candidate and two arrays more. */
#include "plan/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/make.h"
#include "speed/clock.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double pf_times_median(const struct pf_times *times)
{
    double sorted[PF_MOST_TIMES];
    if (!times->n)
        return INFINITY;
    memcpy(sorted, times->seconds, (size_t)times->n * sizeof *sorted);
    qsort(sorted, (size_t)times->n, sizeof *sorted, ascending);
    return (sorted[(times->n - 1) / 2] + sorted[times->n / 2]) / 2;
}

void pf_trial_release(struct pf_trial *t)
{
    free(t->in.raw);
    free(t->out.raw);
    t->in = t->out = (struct pf_buffer){0};
    t->elements = 0;
}

/* Zeros: no candidate meets numbers that are slower to compute with. */
static int give_arrays(struct pf_trial *t)
{
    int64_t needed = t->plan->alloc_elements;
    int status = PENCILFFT_OK;
    if (!t->in.raw || needed > t->elements) {
        pf_trial_release(t);
        status = pf_buffer_make(t->plan, needed, &t->in);
        if (!status)
            status = pf_buffer_make(t->plan, needed, &t->out);
        if (!status) {
            memset(t->in.data, 0, (size_t)needed * t->plan->element_bytes);
            memset(t->out.data, 0, (size_t)needed * t->plan->element_bytes);
            t->elements = needed;
        }
    }
    return pf_agree(status, t->plan->all);
}

static int run_once(const struct pf_trial *t, double *seconds)
{
    int status = PENCILFFT_OK;
    *seconds = 0;
    memset(t->plan->directions & PENCILFFT_FORWARD ? t->in.data : t->out.data, 0,
           (size_t)t->plan->alloc_elements * t->plan->element_bytes);
    PF_MPI(MPI_Barrier(t->plan->all));
    if (t->plan->directions & PENCILFFT_FORWARD) {
        status = pencilfft_forward(t->plan, t->in.data, t->out.data);
        *seconds += t->plan->clock.total;
    }
    if (!status && t->plan->directions & PENCILFFT_BACKWARD) {
        status = pencilfft_backward(t->plan, t->out.data, t->in.data);
        *seconds += t->plan->clock.total;
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

static int time_runs(struct pf_trial *t, struct pf_patience patience, struct pf_times *times)
{
    double seconds, before = t->spent;
    int status = run_once(t, &seconds); /* warms up */
    for (int rep = 0; rep < patience.reps && times->n < PF_MOST_TIMES && !status; rep++) {
        if ((status = time_once(t, &seconds)))
            break;
        times->seconds[times->n++] = seconds;
        if (t->spent - before > patience.share || pf_times_median(times) > patience.give_up)
            break;
    }
    return status;
}

/* The plan is made on the trial's arrays, once they are there. */
static int build(struct pf_trial *t)
{
    t->plan->lent[0] = t->in.data;
    t->plan->lent[1] = t->out.data;
    t->plan->lent_elements = t->elements;
    int status = pf_plan_build(t->plan);
    t->plan->lent_elements = 0;
    return status;
}

int pf_trial_run(struct pf_trial *t, struct pf_patience patience, struct pf_times *times, int *why)
{
    int status = build(t);
    if (t->started == 0)
        t->started = pf_now();
    if (!status)
        status = give_arrays(t);
    if (!status)
        status = time_runs(t, patience, times);
    if (status == PENCILFFT_MPI_ERROR)
        return status;
    pf_plan_clear(t->plan);
    times->refused = status != PENCILFFT_OK;
    *why = status;
    return PENCILFFT_OK;
}
