/* Gradient, divergence, Laplacian and its inverse by spectra, on the periodic cube [0, 2 pi)^3. Each result is checked.
 *     mpirun -n 4 operators_c */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

static const int n[3] = {48, 40, 36};
static pencilfft_plan plan;
static double scale;

static void need(int status)
{
    if (status)
        fprintf(stderr, "operators: %s\n", pencilfft_error_message());
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The wavenumber of an odd derivative: 0 for the wave with two points a period. */
static double odd(const pencilfft_walk *w, int axis)
{
    return 2 * fabs(w->waves[axis]) == n[axis] ? 0 : w->waves[axis];
}

static double square(const pencilfft_walk *w)
{
    return w->waves[0] * w->waves[0] + w->waves[1] * w->waves[1] + w->waves[2] * w->waves[2];
}

static void gradient(const double complex *f, double complex *const slopes[3])
{
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);)
        for (int axis = 0; axis < 3; axis++)
            slopes[axis][w.at] = I * odd(&w, axis) * f[w.at];
}

static void divergence(double complex *const v[3], double complex *sum)
{
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);)
        sum[w.at] = I * (odd(&w, 0) * v[0][w.at] + odd(&w, 1) * v[1][w.at] + odd(&w, 2) * v[2][w.at]);
}

static void laplacian(const double complex *f, double complex *result)
{
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);)
        result[w.at] = -square(&w) * f[w.at];
}

/* The result has mean 0. */
static void inverse_laplacian(const double complex *f, double complex *result)
{
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);)
        result[w.at] = square(&w) > 0 ? -f[w.at] / square(&w) : 0;
}

/* f = sin(x) cos(2y) sin(3z), its derivative along an axis 0 to 2, or f itself. */
static double wave(const pencilfft_walk *w, int derivative)
{
    double step = 2 * acos(-1.0), at[3], f = 1;
    static const double k[3] = {1, 2, 3}, phase[3] = {0, 1, 0}; /* a cosine is a sine a quarter of a period ahead */
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = k[axis] * step * (double)w->index[axis] / n[axis] + (phase[axis] + (axis == derivative)) * step / 4;
        f *= sin(at[axis]) * (axis == derivative ? k[axis] : 1);
    }
    return f;
}

/* The largest difference of a spectrum's array to `factor` times f or its derivative. Loses the spectrum. */
static double difference(double complex *spectrum, int derivative, double factor)
{
    pencilfft_walk w;
    double *f = (double *)spectrum, most = 0;
    need(pencilfft_backward(plan, spectrum, f));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        most = fmax(most, fabs(f[w.at] / scale - factor * wave(&w, derivative)));
    return most;
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_walk w;
    double *f, error = 0;
    double complex *f_hat, *result, *slopes[3];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    desc.nx = n[0], desc.ny = n[1], desc.nz = n[2], desc.type = "r2c";
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    void **buffers[] = {(void **)&f,         (void **)&f_hat,     (void **)&result,
                        (void **)&slopes[0], (void **)&slopes[1], (void **)&slopes[2]};
    for (int i = 0; i < 6; i++)
        need(pencilfft_alloc(plan, buffers[i]));
    need(pencilfft_scale(plan, &scale));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        f[w.at] = wave(&w, -1);
    need(pencilfft_forward(plan, f, f_hat));
    gradient(f_hat, slopes);
    divergence(slopes, result);
    error = fmax(error, difference(result, -1, -14));
    for (int axis = 0; axis < 3; axis++)
        error = fmax(error, difference(slopes[axis], axis, 1));
    laplacian(f_hat, result);
    error = fmax(error, difference(result, -1, -14));
    inverse_laplacian(f_hat, result);
    error = fmax(error, difference(result, -1, -1.0 / 14));

    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("operators_c: 48x40x36, largest error %.1e\n", error);
    MPI_Finalize();
    return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
