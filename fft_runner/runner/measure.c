/* Timing. Every repetition starts from a barrier and transforms the same input, kept or made again; phases are reduced over
 * ranks only after the last repetition, so that only the barrier comes between repetitions. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

int samples_make(int phases, int reps, MPI_Comm comm, struct samples *s)
{
    size_t n = (size_t)phases * (size_t)reps;
    int status = 0;
    *s = (struct samples){.reps = reps, .phases = phases};
    if (!(s->mine = calloc(5 * n + (size_t)reps, sizeof *s->mine)))
        return pf_agree(pf_fail(PF_REFUSED, "no memory for the times of %d repetitions", reps), comm);
    s->max = s->mine + n;
    s->mean = s->max + n;
    s->min = s->mean + n;
    s->deviation = s->min + n;
    s->sorted = s->deviation + n;
    PF_MPI(MPI_Comm_size(comm, &s->ranks));
    status = pf_agree(0, comm);
    return status;
}

int samples_take(struct samples *s, int warmup, int (*once)(const void *of, double *seconds), const void *of)
{
    enum { MOST_PHASES = 1024 };
    double seconds[MOST_PHASES];
    int status = 0;
    for (int rep = -warmup; rep < s->reps && !status; rep++) {
        watch_mark(rep < 0 ? "warm-up" : "repetition", rep < 0 ? rep + warmup + 1 : rep + 1);
        status = once(of, seconds);
        for (int phase = 0; rep >= 0 && phase < s->phases; phase++)
            s->mine[phase * s->reps + rep] = seconds[phase];
    }
    return status;
}

/* From the means on rank 0, in two passes, so that close times lose no accuracy. */
static int reduce_deviations(MPI_Comm comm, struct samples *s)
{
    int rank, n = s->phases * s->reps;
    PF_MPI(MPI_Comm_rank(comm, &rank));
    PF_MPI(MPI_Bcast(s->mean, n, MPI_DOUBLE, 0, comm));
    for (int i = 0; i < n; i++) {
        double away = s->mine[i] - s->mean[i];
        s->deviation[i] = away * away;
    }
    PF_MPI(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : s->deviation, s->deviation, n, MPI_DOUBLE, MPI_SUM, 0, comm));
    for (int i = 0; i < n; i++)
        s->deviation[i] = sqrt(s->deviation[i] / s->ranks);
    return 0;
}

int samples_reduce(MPI_Comm comm, struct samples *s)
{
    int n = s->phases * s->reps;
    PF_MPI(MPI_Reduce(s->mine, s->max, n, MPI_DOUBLE, MPI_MAX, 0, comm));
    PF_MPI(MPI_Reduce(s->mine, s->mean, n, MPI_DOUBLE, MPI_SUM, 0, comm));
    PF_MPI(MPI_Reduce(s->mine, s->min, n, MPI_DOUBLE, MPI_MIN, 0, comm));
    for (int i = 0; i < n; i++)
        s->mean[i] /= s->ranks;
    return reduce_deviations(comm, s);
}

/* Every rank's times, on rank 0. */
static int gather(MPI_Comm comm, struct samples *s)
{
    int rank, status = 0, n = s->phases * s->reps;
    CHECK_MPI(MPI_Comm_rank(comm, &rank));
    if (rank == 0 && !(s->all = calloc((size_t)n * (size_t)s->ranks, sizeof *s->all)))
        status = pf_fail(PF_REFUSED, "no memory for the times of %d ranks; omit --per-rank", s->ranks);
    if (!(status = pf_agree(status, comm)))
        CHECK_MPI(MPI_Gather(s->mine, n, MPI_DOUBLE, s->all, n, MPI_DOUBLE, 0, comm));
    return status;
}

static int transform_once(const void *of, double *seconds)
{
    const struct problem *p = of;
    int status = p->refill ? fill_inputs(p) : 0;
    if (status)
        return status;
    CHECK_MPI(MPI_Barrier(p->grid));
    problem_run(p);
    return pencilfft_phase_seconds(p->plan, seconds);
}

int measure(const struct problem *p, const struct measure_request *request, struct samples *s)
{
    int phases, status = pencilfft_phases(p->plan, &phases);
    if (request->reps > 1 << 24)
        return pf_fail(PF_REFUSED, "--reps: more than %d", 1 << 24);
    if (!status)
        status = samples_make(phases, request->reps, p->grid, s);
    if (!status)
        status = fill_inputs(p);
    if (!status)
        status = samples_take(s, request->warmup, transform_once, p);
    if (!status)
        status = samples_reduce(p->grid, s);
    return status || !request->per_rank ? status : gather(p->grid, s);
}

void samples_release(struct samples *s)
{
    free(s->all);
    free(s->mine);
}

int phase_of(pencilfft_plan plan, pencilfft_kind kind)
{
    int phase = 0;
    while (pencilfft_phase_kind(plan, phase) != (int)kind)
        phase++;
    return phase;
}

static int by_value(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

double samples_median(const double *values, const struct samples *s, int phase)
{
    memcpy(s->sorted, values + (size_t)phase * (size_t)s->reps, (size_t)s->reps * sizeof *s->sorted);
    qsort(s->sorted, (size_t)s->reps, sizeof *s->sorted, by_value);
    return (s->sorted[(s->reps - 1) / 2] + s->sorted[s->reps / 2]) / 2;
}
