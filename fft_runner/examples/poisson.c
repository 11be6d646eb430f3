/* Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 with real-complex transforms, and check u.
 *     mpirun -n 4 poisson_c */
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 48, NY = 40, NZ = 36 };
static const double two_pi = 6.283185307179586;

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "poisson: %s\n", pencilfft_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t wave(int64_t index, int64_t n)
{
    return index <= n / 2 ? index : index - n;
}

struct problem {
    double *u; /* the solution, as f lies in memory */
    double scale, error;
};

/* Applied to one element: a[at] of global (x, y, z). */
typedef void visit(double *a, int64_t at, const int64_t where[3], struct problem *problem);

static void each(const pencilfft_box *box, double *a, visit *what, struct problem *problem)
{
    int64_t i[3], where[3];

    for (i[0] = 0; i[0] < box->extent[0]; i[0]++)
        for (i[1] = 0; i[1] < box->extent[1]; i[1]++)
            for (i[2] = 0; i[2] < box->extent[2]; i[2]++) {
                int64_t at = 0;
                for (int axis = 0; axis < 3; axis++) {
                    where[axis] = box->offset[axis] + i[axis];
                    at += i[axis] * box->stride[axis];
                }
                what(a, at, where, problem);
            }
}

static void fill(double *f, int64_t at, const int64_t w[3], struct problem *problem)
{
    double x = two_pi * (double)w[0] / NX, y = two_pi * (double)w[1] / NY, z = two_pi * (double)w[2] / NZ;

    problem->u[at] = sin(x) * cos(2 * y) * sin(3 * z) + cos(4 * x) * sin(y);
    f[at] = -14 * sin(x) * cos(2 * y) * sin(3 * z) - 17 * cos(4 * x) * sin(y);
}

static void divide(double *a, int64_t at, const int64_t w[3], struct problem *problem)
{
    double kx = (double)wave(w[0], NX), ky = (double)wave(w[1], NY), kz = (double)w[2];
    double k2 = kx * kx + ky * ky + kz * kz, factor = k2 > 0 ? -1 / (k2 * problem->scale) : 0;

    a[2 * at] *= factor;
    a[2 * at + 1] *= factor;
}

static void compare(double *a, int64_t at, const int64_t w[3], struct problem *problem)
{
    (void)w;
    problem->error = fmax(problem->error, fabs(a[at] - problem->u[at]));
}

static double solve(pencilfft_plan plan)
{
    pencilfft_box real, spectral;
    void *u, *f, *f_hat;

    need(pencilfft_box_mine(plan, PENCILFFT_INPUT, &real));
    need(pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &spectral));
    need(pencilfft_alloc(plan, &u));
    need(pencilfft_alloc(plan, &f));
    need(pencilfft_alloc(plan, &f_hat));
    struct problem problem = {.u = u};
    need(pencilfft_scale(plan, &problem.scale));
    each(&real, f, fill, &problem);
    need(pencilfft_forward(plan, f, f_hat));
    each(&spectral, f_hat, divide, &problem);
    need(pencilfft_backward(plan, f_hat, f));
    each(&real, f, compare, &problem);
    return problem.error;
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan;
    int dims[2] = {0, 0}, ranks, rank;
    double mine, error;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(ranks, 2, dims);
    pencilfft_desc_init(&desc);
    desc.nx = NX, desc.ny = NY, desc.nz = NZ;
    desc.R = dims[1], desc.C = dims[0];
    desc.type = "r2c";
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    mine = solve(plan);
    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("poisson_c: %dx%dx%d on %dx%d, largest error %.1e\n", NX, NY, NZ, dims[1], dims[0], error);
    MPI_Finalize();
    return error < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
