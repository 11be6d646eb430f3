/* A step of the flow in a channel, (u - u0) / dt = G + nu laplace(u), between walls at x = -1 and x = 1, where u = 0,
 * periodic in y and z with period 2 pi. G is the pressure gradient. Along y and z by Fourier modes, along x by Chebyshev
 * polynomials on the points cos(pi i / (NX - 1)): a DCT-I beside DFTs. Each mode of y and z is solved by the tau method. u0
 * belongs to a known u, with which the result is compared.
 *     mpirun -n 4 channel_c
 * Source: C. Canuto, M. Y. Hussaini, A. Quarteroni, T. A. Zang, Spectral Methods in Fluid Dynamics, Springer 1988, section
 *         5.1. */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 33, NY = 20, NZ = 18, TOP = NX - 1 }; /* with the points on the walls */
static const double dt = 0.1, nu = 0.05, G = 0.3;

static void need(int status)
{
    if (status)
        fprintf(stderr, "channel: %s\n", pencilfft_error_message());
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* u, or the u0 from which a step leads to u, at an element. */
static double flow(const pencilfft_walk *w, int is_before)
{
    double pi = acos(-1.0), x = cos(pi * (double)w->index[0] / TOP);
    double plane = sin(4 * pi * (double)w->index[1] / NY) * cos(6 * pi * (double)w->index[2] / NZ) * exp(x);
    double u = (1 - x * x) * (1 + plane), laplace = -2 + plane * (-1 - 4 * x - x * x - 13 * (1 - x * x));
    return is_before ? u - dt * (G + nu * laplace) : u;
}

/* Mode k of the second integral of a series v whose last two modes are left out. */
static double complex integral(int k, const double complex v[NX])
{
    double complex sum = v[k - 2] * (k == 2 ? 2 : 1) / (4.0 * k * (k - 1));
    if (k + 2 <= TOP)
        sum -= v[k] / (2.0 * (k * k - 1));
    return k + 4 <= TOP ? sum + v[k + 2] / (4.0 * k * (k + 1)) : sum;
}

/* Solve u'' - lambda u = v with u = 0 on both walls; v, in modes, becomes u. Even and odd modes are apart: from the
 * highest down, mode k is slope[k] times mode k - 2, plus rest[k]. The lowest follows from the walls, where the modes add
 * up to 0. */
static void solve(double lambda, double complex v[NX])
{
    double slope[NX + 2] = {0};
    double complex rest[NX + 2] = {0};
    for (int k = TOP; k >= 2; k--) {
        double above = k + 4 <= TOP ? lambda / (4.0 * k * (k + 1)) : 0,
               own = k + 2 <= TOP ? lambda / (2.0 * (k * k - 1)) : 0;
        double pivot = 1 + own - above * slope[k + 2];
        slope[k] = lambda * (k == 2 ? 2 : 1) / (4.0 * k * (k - 1)) / pivot;
        rest[k] = (integral(k, v) + above * rest[k + 2]) / pivot;
    }
    for (int lowest = 0; lowest < 2; lowest++) {
        double complex rests = 0, without = 0;
        double product = 1, sum = 1;
        for (int k = lowest + 2; k <= TOP; k += 2) {
            sum += product *= slope[k];
            rests += without = slope[k] * without + rest[k];
        }
        v[lowest] = -rests / sum;
        for (int k = lowest + 2; k <= TOP; k += 2)
            v[k] = slope[k] * v[k - 2] + rest[k];
    }
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_box box;
    pencilfft_walk w;
    double *u, scale, ky, kz, error = 0;
    double complex *u_hat;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    desc.nx = NX, desc.ny = NY, desc.nz = NZ;
    desc.type = "dct1,c2c,r2c"; /* along x, y and z */
    desc.layout = "stride1"; /* the modes along x are neighbours in memory */
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    need(pencilfft_alloc(plan, (void **)&u));
    need(pencilfft_alloc(plan, (void **)&u_hat));
    need(pencilfft_scale(plan, &scale));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        u[w.at] = flow(&w, 1) + dt * G;

    need(pencilfft_forward(plan, u, u_hat));
    need(pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &box));
    for (int64_t y = 0; y < box.extent[1]; y++)
        for (int64_t z = 0; z < box.extent[2]; z++) {
            double complex *line = u_hat + y * box.stride[1] + z * box.stride[2], v[NX];
            need(pencilfft_waves(plan, 1, box.offset[1] + y, &ky));
            need(pencilfft_waves(plan, 2, box.offset[2] + z, &kz));
            for (int k = 0; k < NX; k++) /* FFTW's sum counts the modes between the first and the last twice */
                v[k] = -line[k] * (k % TOP ? 2 : 1) / (scale * nu * dt);
            solve(ky * ky + kz * kz + 1 / (nu * dt), v);
            for (int k = 0; k < NX; k++)
                line[k] = v[k] / (k % TOP ? 2 : 1);
        }
    need(pencilfft_backward(plan, u_hat, u));

    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        error = fmax(error, fabs(u[w.at] - flow(&w, 0)));
    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("channel_c: 33x20x18, largest error %.1e\n", error);
    MPI_Finalize();
    return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
