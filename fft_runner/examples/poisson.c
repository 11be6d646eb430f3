/* Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 with real-complex transforms, and check u.
 *     mpirun -n 4 poisson_c */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

static const int n[3] = {48, 40, 36};

static void need(int status)
{
    if (status)
        fprintf(stderr, "poisson: %s\n", pencilfft_error_message());
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static double wave_at(const pencilfft_walk *w, double amplitude, double second)
{
    double step = 2 * acos(-1.0), x = step * (double)w->index[0] / n[0], y = step * (double)w->index[1] / n[1];
    double z = step * (double)w->index[2] / n[2];
    return amplitude * sin(x) * cos(2 * y) * sin(3 * z) + second * cos(4 * x) * sin(y);
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_walk w;
    double *f, scale, error = 0;
    double complex *f_hat;
    int R, C, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc); /* R and C stay 0: the library chooses R and C */
    desc.nx = n[0], desc.ny = n[1], desc.nz = n[2], desc.type = "r2c";
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    need(pencilfft_alloc(plan, (void **)&f));
    need(pencilfft_alloc(plan, (void **)&f_hat));
    need(pencilfft_grid(plan, &R, &C));
    need(pencilfft_scale(plan, &scale));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        f[w.at] = wave_at(&w, -14, -17);
    need(pencilfft_forward(plan, f, f_hat));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);) {
        double k2 = w.waves[0] * w.waves[0] + w.waves[1] * w.waves[1] + w.waves[2] * w.waves[2];
        f_hat[w.at] *= k2 > 0 ? -1 / (k2 * scale) : 0;
    }
    need(pencilfft_backward(plan, f_hat, f));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        error = fmax(error, fabs(f[w.at] - wave_at(&w, 1, 1)));

    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("poisson_c: 48x40x36 on %dx%d, largest error %.1e\n", R, C, error);
    MPI_Finalize();
    return error < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
