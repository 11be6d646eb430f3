/* Timing.  Every repetition starts from a barrier and transforms the same input, kept or made again; the phases of each
 * are reduced over ranks only after the last, so that nothing but the barrier comes between repetitions. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "runner.h"

static int repeat(const struct problem *p, int repetitions, const struct samples *s, double *mine)
{
    int status = 0;
    for (int rep = 0; rep < repetitions && !status; rep++) {
        if (p->refill && (status = fill_input(p)))
            break;
        CHECK_MPI(MPI_Barrier(p->grid));
        or_abort(pencilfft_execute(p->plan, p->direction, p->in, p->out));
        status = pencilfft_phase_seconds(p->plan, s->sorted);
        for (int phase = 0; mine && phase < s->phases; phase++)
            mine[phase * s->reps + rep] = s->sorted[phase];
    }
    return status;
}

static int allocate(int n, MPI_Comm comm, double **mine, struct samples *s)
{
    *mine = calloc((size_t)n, sizeof **mine);
    s->max = calloc((size_t)n, sizeof *s->max);
    s->mean = calloc((size_t)n, sizeof *s->mean);
    s->min = calloc((size_t)n, sizeof *s->min);
    s->sorted = calloc((size_t)(s->reps > s->phases ? s->reps : s->phases), sizeof *s->sorted);
    int failed = !*mine || !s->max || !s->mean || !s->min || !s->sorted;
    return pf_agree(failed ? pf_fail(PF_REFUSED, "no memory for the times of %d repetitions", s->reps) : 0, comm);
}

static void reduce(const double *mine, int n, MPI_Comm comm, struct samples *s)
{
    int ranks;
    CHECK_MPI(MPI_Comm_size(comm, &ranks));
    CHECK_MPI(MPI_Reduce(mine, s->max, n, MPI_DOUBLE, MPI_MAX, 0, comm));
    CHECK_MPI(MPI_Reduce(mine, s->mean, n, MPI_DOUBLE, MPI_SUM, 0, comm));
    CHECK_MPI(MPI_Reduce(mine, s->min, n, MPI_DOUBLE, MPI_MIN, 0, comm));
    for (int i = 0; i < n; i++)
        s->mean[i] /= ranks;
}

/* Every rank's times, on rank 0. */
static int gather(const double *mine, int n, MPI_Comm comm, struct samples *s)
{
    int rank, status = 0;
    CHECK_MPI(MPI_Comm_rank(comm, &rank));
    if (rank == 0 && !(s->all = calloc((size_t)n * (size_t)s->ranks, sizeof *s->all)))
        status = pf_fail(PF_REFUSED, "no memory for the times of %d ranks; leave --per-rank out", s->ranks);
    if (!(status = pf_agree(status, comm)))
        CHECK_MPI(MPI_Gather(mine, n, MPI_DOUBLE, s->all, n, MPI_DOUBLE, 0, comm));
    return status;
}

int measure(const struct problem *p, const struct measure_request *request, struct samples *s)
{
    double *mine = NULL;
    int reps = request->reps;
    *s = (struct samples){.reps = reps};
    CHECK_MPI(MPI_Comm_size(p->grid, &s->ranks));
    if (reps > 1 << 24)
        return pf_fail(PF_REFUSED, "--reps: more than %d", 1 << 24);
    int status = pencilfft_phases(p->plan, &s->phases), n = s->phases * reps;
    if (!status)
        status = allocate(n, p->grid, &mine, s);
    if (!status)
        status = fill_input(p);
    if (!status)
        status = repeat(p, request->warmup, s, NULL);
    if (!status)
        status = repeat(p, reps, s, mine);
    if (!status)
        reduce(mine, n, p->grid, s);
    if (!status && request->per_rank)
        status = gather(mine, n, p->grid, s);
    free(mine);
    return status;
}

void samples_release(struct samples *s)
{
    free(s->all);
    free(s->max);
    free(s->mean);
    free(s->min);
    free(s->sorted);
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
