/* Two transforms in flight on one communicator, with work and messages of the program meanwhile.
 *     mpirun -n 4 in_flight_c
 * u and v are transformed; while their messages travel, the program adds up the energy. Parseval's theorem checks both. */
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 32, FIELDS = 2, SLICE = 1024 };

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "in_flight: %s\n", pencilfft_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The sum of squares of an array of complex numbers. Between slices both plans make progress. */
static double energy(const pencilfft_plan *plan, int array, const double *a, int in_flight)
{
    pencilfft_box box;
    double sum = 0;
    int done;
    need(pencilfft_box_mine(plan[0], array, &box));
    int64_t numbers = 2 * box.extent[0] * box.extent[1] * box.extent[2];
    for (int64_t i = 0; i < numbers; i++) {
        sum += a[i] * a[i];
        for (int f = 0; f < FIELDS && in_flight && i % SLICE == 0; f++)
            need(pencilfft_progress(plan[f], &done));
    }
    return sum;
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan[FIELDS];
    void *f[FIELDS], *f_hat[FIELDS];
    double before[FIELDS], after[FIELDS], all[FIELDS], worst = 0;
    int rank;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = N;
    desc.nonblocking = 1;
    for (int i = 0; i < FIELDS; i++) { /* a plan for each transform in flight */
        pencilfft_walk w;
        need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan[i]));
        need(pencilfft_alloc(plan[i], &f[i]));
        need(pencilfft_alloc(plan[i], &f_hat[i]));
        for (need(pencilfft_walk_begin(plan[i], PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);) {
            ((double *)f[i])[2 * w.at] = sin((double)(w.index[0] + i) * 0.7) * (double)(w.index[1] + 1);
            ((double *)f[i])[2 * w.at + 1] = cos((double)(w.index[2] - i) * 0.3);
        }
    }
    for (int i = 0; i < FIELDS; i++)
        need(pencilfft_start(plan[i], PENCILFFT_FORWARD, f[i], f_hat[i]));
    for (int i = 0; i < FIELDS; i++) /* the input may be read meanwhile */
        before[i] = energy(plan, PENCILFFT_INPUT, f[i], 1);
    MPI_Iallreduce(before, all, FIELDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < FIELDS; i++)
        need(pencilfft_wait(plan[i]));
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    for (int i = 0; i < FIELDS; i++)
        after[i] = energy(plan, PENCILFFT_OUTPUT, f_hat[i], 0);
    MPI_Allreduce(MPI_IN_PLACE, after, FIELDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < FIELDS; i++) {
        worst = fmax(worst, fabs(after[i] / (N * N * N) / all[i] - 1));
        need(pencilfft_plan_destroy(plan[i]));
    }
    if (rank == 0)
        printf("in_flight_c: two transforms of %d^3 at once, largest error of the energy %.1e\n", N, worst);
    MPI_Finalize();
    return worst < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
