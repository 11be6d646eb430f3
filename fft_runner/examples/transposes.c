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

/* Array of the calling rank in a pencil. */
struct array {
    pencilfft_box box;
    double *data;
};

static struct array make_array(pencilfft_plan plan, int pencil)
{
    struct array a;
    void *data;
    need(pencilfft_box_mine(plan, pencil, &a.box));
    need(pencilfft_alloc(plan, &data));
    a.data = data;
    return a;
}

/* The next element of a box, axis by axis; 0 after the last. */
static int next(const pencilfft_box *box, int64_t i[3])
{
    for (int axis = 2; axis >= 0; axis--) {
        if (++i[axis] < box->extent[axis])
            return 1;
        i[axis] = 0;
    }
    return 0;
}

static double *element(const struct array *a, const int64_t i[3])
{
    return a->data + i[0] * a->box.stride[0] + i[1] * a->box.stride[1] + i[2] * a->box.stride[2];
}

static void fill(struct array *u, struct array *right)
{
    int64_t i[3] = {0, 0, 0};
    double p[3];
    do {
        for (int axis = 0; axis < 3; axis++)
            p[axis] = two_pi * (double)(u->box.offset[axis] + i[axis]) / (double)n[axis];
        *element(u, i) = sin(p[0]) * cos(2 * p[1]) * sin(3 * p[2]);
        *element(right, i) = -14 * *element(u, i);
    } while (next(&u->box, i));
}

static double largest_error(const struct array *a, const struct array *right)
{
    int64_t i[3] = {0, 0, 0};
    double worst = 0;
    do
        worst = fmax(worst, fabs(*element(a, i) - *element(right, i)));
    while (next(&a->box, i));
    return worst;
}

/* Element (j, k) of the matrix depends on k - j alone. */
static double weight(int64_t m, int64_t distance)
{
    double s = sin((double)distance * two_pi / (double)m / 2), sign = distance % 2 ? -1 : 1;
    return distance == 0 ? -(double)(m * m + 2) / 12 : -sign / (2 * s * s);
}

/* sum += second derivative of u along the undivided axis. */
static void add_second_derivative(const struct array *u, int axis, struct array *sum)
{
    int64_t i[3] = {0, 0, 0}, step = u->box.stride[axis];
    do {
        const double *line = element(u, i) - i[axis] * step;
        for (int64_t k = 0; k < n[axis]; k++)
            *element(sum, i) += weight(n[axis], k - i[axis]) * line[k * step];
    } while (next(&u->box, i));
}

static double laplacian(pencilfft_plan plan)
{
    struct array u = make_array(plan, PENCILFFT_Z_PENCIL), sum = make_array(plan, PENCILFFT_Z_PENCIL);
    struct array u_y = make_array(plan, PENCILFFT_Y_PENCIL), sum_y = make_array(plan, PENCILFFT_Y_PENCIL);
    struct array u_x = make_array(plan, PENCILFFT_X_PENCIL), sum_x = make_array(plan, PENCILFFT_X_PENCIL);
    struct array right = make_array(plan, PENCILFFT_Z_PENCIL);
    int64_t i[3] = {0, 0, 0};

    fill(&u, &right);
    do
        *element(&sum, i) = 0;
    while (next(&sum.box, i));
    add_second_derivative(&u, 2, &sum);
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, u.data, u_y.data));
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, sum.data, sum_y.data));
    add_second_derivative(&u_y, 1, &sum_y);
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, u_y.data, u_x.data));
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, sum_y.data, sum_x.data));
    add_second_derivative(&u_x, 0, &sum_x);
    need(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_BACKWARD, sum_x.data, sum_y.data));
    need(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_BACKWARD, sum_y.data, sum.data));
    return largest_error(&sum, &right);
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
