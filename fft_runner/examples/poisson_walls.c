/* Solve laplace(u) = f between walls at x = 0 and x = 1, where u = 0, periodic in y and z with period 2 pi. Along y and z by
 * transforms, along x by second differences: a tridiagonal system for each mode. u is a cubic in x, so that they are exact.
 *     mpirun -n 4 poisson_walls_c */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 47, NY = 40, NZ = 36 }; /* inner points along x */
static const double step = 1.0 / (NX + 1);

static void need(int status)
{
    if (status)
        fprintf(stderr, "poisson_walls: %s\n", pencilfft_error_message());
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* u, or f, at an element. */
static double wave(const pencilfft_walk *w, int is_f)
{
    double x = (double)(w->index[0] + 1) * step, turn = 2 * acos(-1.0);
    double u = (x - x * x * x), plane = sin(2 * turn * (double)w->index[1] / NY) * cos(3 * turn * (double)w->index[2] / NZ);
    return plane * (is_f ? -6 * x - 13 * u : u);
}

/* Solve v[i - 1] + diagonal * v[i] + v[i + 1] = v[i] of before, in place (Thomas's algorithm). */
static void solve_tridiagonal(double diagonal, double complex v[NX])
{
    double pivot[NX] = {diagonal};
    for (int i = 1; i < NX; i++) {
        pivot[i] = diagonal - 1 / pivot[i - 1];
        v[i] -= v[i - 1] / pivot[i - 1];
    }
    v[NX - 1] /= pivot[NX - 1];
    for (int i = NX - 2; i >= 0; i--)
        v[i] = (v[i] - v[i + 1]) / pivot[i];
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_box box;
    pencilfft_walk w;
    double *f, scale, ky, kz, error = 0;
    double complex *f_hat;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    desc.nx = NX, desc.ny = NY, desc.nz = NZ;
    desc.type = "r2c", desc.skip = "x";
    desc.layout = "stride1"; /* each rank has whole lines along x, and their points are neighbours in memory */
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    need(pencilfft_alloc(plan, (void **)&f));
    need(pencilfft_alloc(plan, (void **)&f_hat));
    need(pencilfft_scale(plan, &scale));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        f[w.at] = wave(&w, 1) * step * step / scale;

    need(pencilfft_forward(plan, f, f_hat));
    need(pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &box));
    for (int64_t y = 0; y < box.extent[1]; y++)
        for (int64_t z = 0; z < box.extent[2]; z++) {
            need(pencilfft_waves(plan, 1, box.offset[1] + y, &ky));
            need(pencilfft_waves(plan, 2, box.offset[2] + z, &kz));
            solve_tridiagonal(-2 - step * step * (ky * ky + kz * kz), f_hat + y * box.stride[1] + z * box.stride[2]);
        }
    need(pencilfft_backward(plan, f_hat, f));

    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        error = fmax(error, fabs(f[w.at] - wave(&w, 0)));
    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("poisson_walls_c: 47x40x36, largest error %.1e\n", error);
    MPI_Finalize();
    return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
