/* Laplacian of a periodic function, computed on whole lines with the library's transposes alone, without its FFTs.
 *     mpirun -n 4 transposes_c
 * Z pencils hold whole lines along z, Y pencils along y, X pencils along x; the work along each axis runs on these lines.
 * Here the work is the second derivative by a matrix: L. N. Trefethen, Spectral Methods in MATLAB, 2000, (3.12). */
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t n[3] = {32, 24, 28}; /* even, for that matrix */
static const double two_pi = 6.283185307179586;

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "transposes: %s\n", pencilfft_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *make_array(pencilfft_plan plan)
{
    void *data;
    need(pencilfft_alloc(plan, &data));
    return data;
}

/* u = sin(x) cos(2y) sin(3z) at an element; its Laplacian is -14 u. */
static double wave(const pencilfft_walk *w)
{
    double x = two_pi * (double)w->index[0] / (double)n[0], y = two_pi * (double)w->index[1] / (double)n[1];
    return sin(x) * cos(2 * y) * sin(3 * two_pi * (double)w->index[2] / (double)n[2]);
}

/* Element (j, k) of the matrix depends on k - j alone. */
static double weight(int64_t m, int64_t distance)
{
    double s = sin((double)distance * two_pi / (double)m / 2), sign = distance % 2 ? -1 : 1;
    return distance == 0 ? -(double)(m * m + 2) / 12 : -sign / (2 * s * s);
}

/* sum += second derivative of u along the undivided axis of a pencil. */
static void add_second_derivative(pencilfft_plan plan, int pencil, int axis, const double *u, double *sum)
{
    pencilfft_box box;
    pencilfft_walk w;
    need(pencilfft_box_mine(plan, pencil, &box));
    for (need(pencilfft_walk_begin(plan, pencil, &w)); pencilfft_walk_next(&w);) {
        const double *line = u + w.at - w.index[axis] * box.stride[axis];
        for (int64_t k = 0; k < n[axis]; k++)
            sum[w.at] += weight(n[axis], k - w.index[axis]) * line[k * box.stride[axis]];
    }
}

static double laplacian(pencilfft_plan plan)
{
    double *u = make_array(plan), *sum = make_array(plan), *u_y = make_array(plan), *sum_y = make_array(plan);
    double *u_x = make_array(plan), *sum_x = make_array(plan), worst = 0;
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(plan, PENCILFFT_Z_PENCIL, &w)); pencilfft_walk_next(&w);) {
        u[w.at] = wave(&w);
        sum[w.at] = 0;
    }
    add_second_derivative(plan, PENCILFFT_Z_PENCIL, 2, u, sum);
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, u, u_y));
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, sum, sum_y));
    add_second_derivative(plan, PENCILFFT_Y_PENCIL, 1, u_y, sum_y);
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, u_y, u_x));
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, sum_y, sum_x));
    add_second_derivative(plan, PENCILFFT_X_PENCIL, 0, u_x, sum_x);
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_BACKWARD, sum_x, sum_y));
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_BACKWARD, sum_y, sum));
    for (need(pencilfft_walk_begin(plan, PENCILFFT_Z_PENCIL, &w)); pencilfft_walk_next(&w);)
        worst = fmax(worst, fabs(sum[w.at] + 14 * wave(&w)));
    return worst;
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
    desc.nx = n[0], desc.ny = n[1], desc.nz = n[2];
    desc.R = dims[1], desc.C = dims[0];
    desc.type = "dct"; /* real numbers in all pencils; c2c moves complex numbers */
    desc.skip = "xyz"; /* all axes: only the transposes are planned */
    desc.layout = "stride1"; /* the undivided axis is contiguous in each pencil */
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    mine = laplacian(plan);
    need(pencilfft_plan_destroy(plan));
    MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("transposes_c: %dx%dx%d on %dx%d, largest error %.1e\n", (int)n[0], (int)n[1], (int)n[2], dims[1], dims[0],
               error);
    MPI_Finalize();
    return error < 1e-11 ? EXIT_SUCCESS : EXIT_FAILURE;
}
