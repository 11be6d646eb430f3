/* Halo exchanges between transforms, like those of stencils and of spreading charges.
 * Idea:  the same repetitions as the transform, each from a barrier; under sync clock all ranks start at the same time, so
 *        that in a simulation, whose clock is common to all ranks, a halo carries no skew. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"
#include "values.h"

static const double lead_s = 1e-3, most_s = 0.5; /* distance of the start time; the longest sleep */

static void start_together(MPI_Comm comm, const char *sync)
{
    CHECK_MPI(MPI_Barrier(comm));
    if (strcmp(sync, "clock"))
        return;
    double date = MPI_Wtime() + lead_s, agreed;
    CHECK_MPI(MPI_Allreduce(&date, &agreed, 1, MPI_DOUBLE, MPI_MAX, comm));
    double rest = fmin(agreed - MPI_Wtime(), most_s);
    if (rest > 0)
        nanosleep(&(struct timespec){.tv_nsec = lround(rest * 1e9)}, NULL);
}

/* Every element of the array with its halo, exactly. */
static int verify_halo(const struct problem *p, pencilfft_halo halo, const pencilfft_part *part, void *padded)
{
    struct side in;
    long long all = 0;
    int status = side_of(p, PENCILFFT_INPUT, &in);
    for (int i = 0; i < in.parts && !status; i++)
        values_fill(&in.part[i], &in.format, value_index, p->in);
    if (!(status = pf_agree(status, p->grid)))
        status = pencilfft_halo_exchange(halo, p->in, padded);
    if (!status) {
        long long wrong = values_wrong(part, &in.format, value_index, padded);
        CHECK_MPI(MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, p->grid));
    }
    if (!status && all > 0)
        status = pf_fail(PF_REFUSED, "verification failed: %lld elements of arrays with their halos are wrong", all);
    return status;
}

struct timed {
    const struct problem *p;
    const char *sync;
    pencilfft_halo halo;
    void *padded;
};

static int once(const void *of, double *seconds)
{
    const struct timed *t = of;
    start_together(t->p->grid, t->sync);
    double start = MPI_Wtime();
    int status = pencilfft_halo_exchange(t->halo, t->p->in, t->padded);
    seconds[0] = fmax(MPI_Wtime() - start, 0); /* in some MPIs the time of day, which can be set back */
    return status;
}

static int halo_sends(const void *halo, int exchange, int64_t *bytes, int64_t *messages)
{
    (void)exchange;
    return pencilfft_halo_traffic(*(const pencilfft_halo *)halo, PENCILFFT_FORWARD, bytes, messages);
}

int halo_run(const struct problem *p, const struct options *o, struct halo_run *h)
{
    const int64_t width[3] = {o->halo, o->halo, o->halo};
    pencilfft_format format = {0};
    pencilfft_part part = {0};
    pencilfft_halo halo = NULL;
    void *padded = NULL;
    h->width = o->halo;
    h->verified = o->verify;
    int status = pencilfft_halo_create(p->plan, PENCILFFT_INPUT, width, width, &halo);
    if (!status && !(status = pencilfft_format_of(p->plan, PENCILFFT_INPUT, &format)))
        status = pencilfft_halo_part(halo, &part);
    if (!status && !(padded = malloc((size_t)(part.fields * part.field_stride) * format.element_bytes + 1)))
        status = pf_fail(PF_REFUSED, "no memory for an array with a halo of %d planes", o->halo);
    if (!(status = pf_agree(status, p->grid)))
        status = samples_make(1, o->reps, p->grid, &h->samples);
    if (!status && o->verify)
        status = verify_halo(p, halo, &part, padded);
    if (!status)
        status = samples_take(&h->samples, o->warmup, once, &(struct timed){p, o->fft.sync, halo, padded});
    if (!status)
        status = samples_reduce(p->grid, &h->samples);
    if (!status)
        status = traffic_collect(1, halo_sends, &halo, p->grid, &h->traffic);
    free(padded);
    int released = pencilfft_halo_destroy(halo);
    return status ? status : released;
}

void halo_run_release(struct halo_run *h)
{
    samples_release(&h->samples);
    free(h->traffic.bytes);
}
