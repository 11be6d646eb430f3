/* Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 as in poisson.c, in sequence and by schedule two-way: some planes
 * exchange rows before columns, the others columns before rows. Check u, and compare the two speeds.
 *     mpirun -n 4 poisson_two_ways_c */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, REPETITIONS = 15 };
static const double two_pi = 6.283185307179586;

struct solver {
    pencilfft_plan plan;
    double *f, *u;
    double complex *f_hat;
    double seconds[REPETITIONS];
};

static void need(int status)
{
    if (status && fprintf(stderr, "poisson_two_ways: %s\n", pencilfft_error_message()))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* u, or its Laplacian f, at an element. */
static double value(const pencilfft_walk *w, int is_f)
{
    double x = two_pi * (double)w->index[0] / N, y = two_pi * (double)w->index[1] / N, z = two_pi * (double)w->index[2] / N;
    return (is_f ? -14 : 1) * sin(x) * cos(2 * y) * sin(3 * z) + (is_f ? -17 : 1) * cos(4 * x) * sin(y);
}

/* As in sequence: the walk goes through both parts of the spectrum. */
static void solve(struct solver *s, int repetition)
{
    pencilfft_walk w;
    double scale;
    MPI_Barrier(MPI_COMM_WORLD);
    s->seconds[repetition] = -MPI_Wtime();
    need(pencilfft_scale(s->plan, &scale));
    need(pencilfft_forward(s->plan, s->f, s->f_hat));
    for (need(pencilfft_walk_begin(s->plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);) {
        double k2 = w.waves[0] * w.waves[0] + w.waves[1] * w.waves[1] + w.waves[2] * w.waves[2];
        s->f_hat[w.at] *= k2 > 0 ? -1 / (k2 * scale) : 0;
    }
    need(pencilfft_backward(s->plan, s->f_hat, s->u));
    s->seconds[repetition] += MPI_Wtime();
}

static void prepare(struct solver *s, pencilfft_desc *desc, const char *schedule)
{
    pencilfft_walk w;
    desc->schedule = schedule;
    need(pencilfft_plan_create(desc, MPI_COMM_WORLD, &s->plan));
    need(pencilfft_alloc(s->plan, (void **)&s->f));
    need(pencilfft_alloc(s->plan, (void **)&s->f_hat));
    need(pencilfft_alloc(s->plan, (void **)&s->u));
    for (need(pencilfft_walk_begin(s->plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        s->f[w.at] = value(&w, 1);
}

static double largest_error(const struct solver *s)
{
    double worst = 0;
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(s->plan, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        worst = fmax(worst, fabs(s->u[w.at] - value(&w, 0)));
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
