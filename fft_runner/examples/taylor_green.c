/* Taylor-Green vortex by Navier-Stokes in rotational form and RK4, without aliases by the 2/3 rule or, for argument 3/2, by
 * products on 3/2 as many points; the energy at t = 0.1 is checked.     mpirun -n 4 taylor_green_c [3/2] */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>

enum { N = 32, STEPS = 10, FIELDS = 3 };
static const double nu = 0.000625, step = 0.01;
static pencilfft_plan plan, product; /* the second with the points of the products */
static double scale, product_scale, *u, *w;
static int64_t field, points; /* elements of a field of the spectrum, and points of a product on this rank */
static double complex *u_hat, *w_hat, *start, *sum, *work;

static void need(int status)
{
    if (status && fprintf(stderr, "taylor_green: %s\n", pencilfft_error_message()))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Write du/dt for `v` over it: v x curl(v), without its gradient part, and the viscous term. */
static void change(double complex *v, double cut)
{
    pencilfft_walk at;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &at)); pencilfft_walk_next(&at);) {
        int j = (at.field + 1) % 3, k = (at.field + 2) % 3;
        int64_t e = at.at - at.field * field;
        w_hat[at.at] = I * (at.waves[j] * v[e + k * field] - at.waves[k] * v[e + j * field]) / scale;
        work[at.at] = v[at.at] / scale;
    }
    need(pencilfft_backward(product, work, u) || pencilfft_backward(product, w_hat, w));
    for (int64_t e = 0; e < points; e++) {
        double a[3] = {u[e], u[e + points], u[e + 2 * points]}, b[3] = {w[e], w[e + points], w[e + 2 * points]};
        for (int i = 0; i < 3; i++)
            u[e + i * points] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
    need(pencilfft_forward(product, u, work));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &at)); pencilfft_walk_next(&at);) {
        const double *k = at.waves, square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        int64_t e = at.at - at.field * field;
        double complex along = k[0] * work[e] + k[1] * work[e + field] + k[2] * work[e + 2 * field];
        double kept = fabs(k[0]) < cut && fabs(k[1]) < cut && fabs(k[2]) < cut ? scale / product_scale : 0;
        v[at.at] = kept * (work[at.at] - (square > 0 ? k[at.field] * along / square : 0)) - nu * square * v[at.at];
    }
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_walk at;
    pencilfft_format spectrum, grid;
    int rank, padded = argc > 1;
    double energy = 0, total, h = 2 * acos(-1.0) / N;
    MPI_Init(&argc, &argv);
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = N, desc.type = "r2c", desc.fields = FIELDS;
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan) || pencilfft_grid(plan, &desc.R, &desc.C)); /* divided alike */
    desc.padded_nx = desc.padded_ny = desc.padded_nz = padded ? 3 * N / 2 : N;
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &product));
    need(pencilfft_scale(plan, &scale) || pencilfft_scale(product, &product_scale));
    need(pencilfft_format_of(plan, PENCILFFT_OUTPUT, &spectrum) || pencilfft_format_of(product, PENCILFFT_INPUT, &grid));
    field = spectrum.field_stride, points = grid.field_stride;
    void *arrays[] = {&u_hat, &w_hat, &start, &sum, &work, &u, &w};
    for (int i = 0; i < 7; i++)
        need(pencilfft_alloc(product, arrays[i]));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &at)); pencilfft_walk_next(&at);) {
        double x = h * (double)at.index[0], y = h * (double)at.index[1], z = h * (double)at.index[2];
        u[at.at] = at.field == 0 ? sin(x) * cos(y) * cos(z) : at.field == 1 ? -cos(x) * sin(y) * cos(z) : 0;
    }
    need(pencilfft_forward(plan, u, sum));
    for (int i = 0; i < 4 * STEPS; i++) {
        static const double weight[4] = {1, 2, 2, 1}, reach[4] = {0, 0.5, 0.5, 1};
        for (int64_t e = 0; e < FIELDS * field; e++) {
            start[e] = i % 4 ? start[e] : sum[e];
            u_hat[e] = start[e] + (i % 4 ? reach[i % 4] * step * u_hat[e] : 0);
        }
        change(u_hat, padded ? N / 2.0 : N / 3.0);
        for (int64_t e = 0; e < FIELDS * field; e++)
            sum[e] += weight[i % 4] * step / 6 * u_hat[e];
    }
    need(pencilfft_backward(plan, sum, u));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &at)); pencilfft_walk_next(&at);)
        energy += u[at.at] * u[at.at] / scale / scale / 2 / N / N / N;
    MPI_Allreduce(&energy, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("taylor_green.c: %d^3, energy %.12f\n", N, total);
    need(pencilfft_plan_destroy(plan) || pencilfft_plan_destroy(product));
    return MPI_Finalize() || fabs(total - 0.124953117517) > 1e-12;
}
