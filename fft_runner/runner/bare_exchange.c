/* MPI_Alltoall and MPI_Alltoallv on plain bytes, as the Intel MPI Benchmarks time them.
 * Idea:  the reference for the exchanges of the library. Also compares two MPIs or networks at sizes that no element of an
 *        array has: 0, 1 or 2 bytes.
 * Source: R. Schulz, 3D FFT with 2D decomposition (2008), section 5, whose tables begin at 0 bytes. */
#include "bare_exchange.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static const char *const names[] = {"mpi_alltoall", "mpi_alltoallv", "fftw_linear", "fftw_matrix", NULL};

struct buffers {
    const struct bare_case *b;
    unsigned char *in, *out;
    int *counts, *offsets;
};

const char *bare_name(int i)
{
    return names[i];
}

bool bare_is_known(const char *name)
{
    bool known = false;
    for (int i = 0; names[i]; i++)
        known |= !strcmp(name, names[i]);
    return known;
}

static int make(const struct bare_case *b, struct buffers *of)
{
    size_t p = (size_t)b->ranks;
    if (b->bytes > INT_MAX / b->ranks)
        return pf_fail(PF_REFUSED, "%s cannot count %d messages of %lld bytes", b->name, b->ranks, b->bytes);
    of->in = calloc(p * (size_t)b->bytes + 1, 1);
    of->out = calloc(p * (size_t)b->bytes + 1, 1);
    of->counts = calloc(2 * p, sizeof *of->counts);
    if (!of->in || !of->out || !of->counts)
        return pf_fail(PF_REFUSED, "no memory for %d messages of %lld bytes", b->ranks, b->bytes);
    of->offsets = of->counts + p;
    for (int i = 0; i < b->ranks; i++) {
        of->counts[i] = (int)b->bytes;
        of->offsets[i] = i * (int)b->bytes;
    }
    return 0;
}

static unsigned char mark(int from, int to)
{
    return (unsigned char)(1 + (31 * from + 7 * to) % 255);
}

static int check(const struct bare_case *b, const struct buffers *of, int rank)
{
    for (int i = 0; i < b->ranks; i++)
        for (long long k = 0; k < b->bytes; k++)
            if (of->out[i * b->bytes + k] != mark(i, rank))
                return pf_fail(PF_REFUSED, "%s delivered wrong bytes from rank %d", b->name, i);
    return 0;
}

int bare_once(MPI_Comm group, int (*exchange)(const void *of), const void *of, double *seconds)
{
    PF_MPI(MPI_Barrier(group));
    double start = MPI_Wtime(); /* in some MPIs the time of day, which can be set back */
    int status = exchange(of);
    seconds[0] = seconds[1] = fmax(MPI_Wtime() - start, 0);
    return status;
}

static int exchange(const void *buffers)
{
    const struct buffers *of = buffers;
    const struct bare_case *b = of->b;
    if (!strcmp(b->name, names[0]))
        PF_MPI(MPI_Alltoall(of->in, (int)b->bytes, MPI_BYTE, of->out, (int)b->bytes, MPI_BYTE, b->group));
    else
        PF_MPI(
            MPI_Alltoallv(of->in, of->counts, of->offsets, MPI_BYTE, of->out, of->counts, of->offsets, MPI_BYTE, b->group));
    return 0;
}

static int once(const void *buffers, double *seconds)
{
    return bare_once(((const struct buffers *)buffers)->b->group, exchange, buffers, seconds);
}

int bare_run(const struct bare_case *b, struct samples *s)
{
    struct buffers of = {.b = b};
    int rank = 0, status = 0;
    if (!strcmp(b->name, names[2]) || !strcmp(b->name, names[3]))
        return bare_fftw_run(b, !strcmp(b->name, names[2]), s);
    PF_MPI(MPI_Comm_rank(b->group, &rank));
    if ((status = pf_agree(make(b, &of), b->group)))
        goto done;
    for (int i = 0; i < b->ranks; i++)
        memset(of.in + i * b->bytes, mark(rank, i), (size_t)b->bytes);
    if (!(status = samples_take(s, b->warmup, once, &of)))
        status = check(b, &of, rank);
done:
    free(of.in);
    free(of.out);
    free(of.counts);
    return status == PENCILFFT_MPI_ERROR ? status : pf_agree(status, b->group);
}
