/* Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 as in poisson.c, in sequence and by schedule two-way: some planes
 * exchange rows before columns, the others columns before rows. Check u, and compare the two speeds.
 *     mpirun -n 4 poisson_two_ways_c */
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, REPETITIONS = 15 };
static const double two_pi = 6.283185307179586;

struct solver {
    pencilfft_plan plan;
    void *f, *f_hat, *u;
    double seconds[REPETITIONS];
};

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "poisson_two_ways: %s\n", pencilfft_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The exact solution at a point of the grid, and its Laplacian. */
static double solution(const int64_t w[3], double *laplacian)
{
    double x = two_pi * (double)w[0] / N, y = two_pi * (double)w[1] / N, z = two_pi * (double)w[2] / N;
    double a = sin(x) * cos(2 * y) * sin(3 * z), b = cos(4 * x) * sin(y);

    *laplacian = -14 * a - 17 * b;
    return a + b;
}

/* The next element of a box, x, y, z from its first element on, and its place; 0 after the last. */
static int next(const pencilfft_box *box, int64_t w[3], int64_t *at)
{
    for (int axis = 2; axis >= 0; axis--) {
        *at += box->stride[axis];
        if (++w[axis] < box->offset[axis] + box->extent[axis])
            return 1;
        *at -= box->stride[axis] * box->extent[axis];
        w[axis] = box->offset[axis];
    }
    return 0;
}

static void divide(const pencilfft_part *part, double *a, double scale)
{
    int64_t w[3] = {part->box.offset[0], part->box.offset[1], part->box.offset[2]}, at = part->start;

    if (part->box.extent[0] * part->box.extent[1] * part->box.extent[2] == 0)
        return;
    do {
        double k2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            double k = (double)(w[axis] <= N / 2 ? w[axis] : w[axis] - N);
            k2 += k * k;
        }
        a[2 * at] *= k2 > 0 ? -1 / (k2 * scale) : 0;
        a[2 * at + 1] *= k2 > 0 ? -1 / (k2 * scale) : 0;
    } while (next(&part->box, w, &at));
}

/* As in sequence, except that the spectrum may have two parts. */
static void solve(struct solver *s, int repetition)
{
    pencilfft_part part;
    double scale;
    int parts;

    MPI_Barrier(MPI_COMM_WORLD);
    s->seconds[repetition] = -MPI_Wtime();
    need(pencilfft_scale(s->plan, &scale));
    need(pencilfft_forward(s->plan, s->f, s->f_hat));
    need(pencilfft_parts(s->plan, PENCILFFT_OUTPUT, &parts));
    for (int i = 0; i < parts; i++) {
        need(pencilfft_part_mine(s->plan, PENCILFFT_OUTPUT, i, &part));
        divide(&part, s->f_hat, scale);
    }
    need(pencilfft_backward(s->plan, s->f_hat, s->u));
    s->seconds[repetition] += MPI_Wtime();
}

static void prepare(struct solver *s, pencilfft_desc *desc, const char *schedule)
{
    pencilfft_box box;

    desc->schedule = schedule;
    need(pencilfft_plan_create(desc, MPI_COMM_WORLD, &s->plan));
    need(pencilfft_alloc(s->plan, &s->f));
    need(pencilfft_alloc(s->plan, &s->f_hat));
    need(pencilfft_alloc(s->plan, &s->u));
    need(pencilfft_box_mine(s->plan, PENCILFFT_INPUT, &box));
    int64_t w[3] = {box.offset[0], box.offset[1], box.offset[2]}, at = 0;
    do
        solution(w, (double *)s->f + at);
    while (next(&box, w, &at));
}

static double largest_error(const struct solver *s)
{
    double worst = 0, unused;
    pencilfft_box box;

    need(pencilfft_box_mine(s->plan, PENCILFFT_INPUT, &box));
    int64_t w[3] = {box.offset[0], box.offset[1], box.offset[2]}, at = 0;
    do
        worst = fmax(worst, fabs(((double *)s->u)[at] - solution(w, &unused)));
    while (next(&box, w, &at));
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of the slowest rank's seconds. */
static double median(struct solver *s)
{
    MPI_Allreduce(MPI_IN_PLACE, s->seconds, REPETITIONS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(s->seconds, REPETITIONS, sizeof *s->seconds, ascending);
    return s->seconds[REPETITIONS / 2];
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    struct solver plain, two_ways;
    int dims[2] = {0, 0}, ranks, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(ranks, 2, dims);
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = N;
    desc.R = dims[1], desc.C = dims[0];
    desc.type = "r2c";
    prepare(&plain, &desc, "sequence");
    prepare(&two_ways, &desc, "two-way");
    for (int i = 0; i < REPETITIONS; i++) { /* in turn, so that both meet the same disturbances */
        solve(&plain, i);
        solve(&two_ways, i);
    }
    double error = fmax(largest_error(&plain), largest_error(&two_ways)), one = median(&plain), two = median(&two_ways);
    if (rank == 0)
        printf("poisson_two_ways_c: %dx%dx%d on %dx%d, largest error %.1e; "
               "in sequence %.2f ms, %s %.2f ms, %.2f times as fast\n",
               N, N, N, dims[1], dims[0], error, 1e3 * one, pencilfft_schedule_chosen(two_ways.plan), 1e3 * two, one / two);
    need(pencilfft_plan_destroy(plain.plan));
    need(pencilfft_plan_destroy(two_ways.plan));
    MPI_Finalize();
    return error < 1e-13 ? EXIT_SUCCESS : EXIT_FAILURE;
}
