/* Exchanges in single precision: the same transform by messages of doubles and of floats, in turn, with the bytes that all
 * ranks send, the median time of the slowest rank, and the error beside the error that the plan tells.
 *     mpirun -n 4 rounded_c [N] */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 21, WARM_UP = 2 };
static int rank, ranks;

static void need(int status)
{
    if (status && fprintf(stderr, "rounded: %s\n", pencilfft_error_message()))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Bytes of all ranks in the exchanges of a forward transform. */
static double bytes_sent(pencilfft_plan plan)
{
    int64_t *bytes = malloc((size_t)ranks * sizeof *bytes);
    double sum = 0, all = 0;
    for (int e = 0; bytes && pencilfft_exchange_stage(plan, e); e++) {
        need(pencilfft_traffic(plan, e, PENCILFFT_FORWARD, bytes, NULL));
        for (int j = 0; j < ranks; j++)
            sum += (double)bytes[j];
    }
    free(bytes);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double seconds(pencilfft_plan plan, const void *in, void *out)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = -MPI_Wtime(), slowest = 0;
    need(pencilfft_forward(plan, in, out));
    mine += MPI_Wtime();
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int ascending(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* L2 norm of the difference of two spectra, relative to the first. */
static double difference(pencilfft_plan plan, const double complex *right, const double complex *near)
{
    double mine[2] = {0, 0}, all[2];
    pencilfft_walk at;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &at)); pencilfft_walk_next(&at);) {
        mine[0] += pow(cabs(right[at.at]), 2);
        mine[1] += pow(cabs(near[at.at] - right[at.at]), 2);
    }
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all[1] / all[0]);
}

int main(int argc, char **argv)
{
    static const char *const precision[2] = {"double", "single"};
    pencilfft_desc desc;
    pencilfft_plan plan[2];
    pencilfft_walk at;
    void *f, *f_hat[2];
    double most[2], bytes[2], times[2][RUNS + WARM_UP];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = argc > 1 ? atoi(argv[1]) : 64;
    for (int i = 0; i < 2; i++) {
        desc.exchange_precision = precision[i];
        need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan[i]) || pencilfft_grid(plan[i], &desc.R, &desc.C));
        need(pencilfft_exchange_error(plan[i], &most[i]) || pencilfft_alloc(plan[i], &f_hat[i]));
        bytes[i] = bytes_sent(plan[i]);
    }
    need(pencilfft_alloc(plan[0], &f));
    for (need(pencilfft_walk_begin(plan[0], PENCILFFT_INPUT, &at)); pencilfft_walk_next(&at);)
        ((double complex *)f)[at.at] = sin(7.0 * (double)at.index[0]) + I * cos(5.0 * (double)(at.index[1] + at.index[2]));

    for (int run = 0; run < RUNS + WARM_UP; run++)
        for (int i = 0; i < 2; i++)
            times[i][run] = seconds(plan[i], f, f_hat[i]);
    double error = difference(plan[0], f_hat[0], f_hat[1]), errors[2] = {0, error};
    if (rank == 0)
        printf("rounded_c: %lld^3 on %dx%d, %d runs each, in turn\nsent as       bytes  median ms  largest error  at most\n",
               (long long)desc.nx, desc.R, desc.C, RUNS);
    for (int i = 0; i < 2; i++) {
        qsort(times[i] + WARM_UP, RUNS, sizeof times[i][0], ascending);
        if (rank == 0)
            printf("%s  %11.0f  %9.3f  %13.1e  %7.1e\n", precision[i], bytes[i], 1e3 * times[i][WARM_UP + RUNS / 2],
                   errors[i], most[i]);
        need(pencilfft_plan_destroy(plan[i]));
    }
    return MPI_Finalize() || error > most[1] || 2 * bytes[1] != bytes[0];
}
