/* Verification of a distributed line.
 * Idea:  values of the input follow from their index, so rank 0 transforms each line alone and compares the ranks' points as
 *        they arrive; some values of the last line are compared with the plain sum, to which each rank adds its part.
 * Cost:  on rank 0 two arrays of N and a serial transform. */
#include "line_run.h"

#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner.h"
#include "values.h"

enum { N_POINTS = 8, N_FIXED = 4, TAG = 2 };

static const int64_t serial_limit = (int64_t)1 << 27; /* points of all lines */

static int input_of(const struct line_problem *p)
{
    return p->direction == PENCILFFT_FORWARD ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
}

static int output_of(const struct line_problem *p)
{
    return p->direction == PENCILFFT_FORWARD ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
}

void line_fill(const struct line_problem *p)
{
    int64_t points = line_points(p, input_of(p), p->rank);
    for (int64_t i = 0; i < points; i++) {
        int64_t index = line_index(p, input_of(p), p->rank, i);
        for (int64_t line = 0; line < p->desc.lines; line++)
            element_store(&p->format, p->in, line * points + i, value_random(&p->format, line * p->desc.n + index));
    }
}

static double result_scale(const struct line_problem *p)
{
    int64_t elements = line_points(p, output_of(p), p->rank) * p->desc.lines;
    double both[2] = {0, (double)elements}, all[2];
    for (int64_t i = 0; i < elements; i++) {
        double complex v = element_load(&p->format, p->out, i);
        both[0] += creal(v) * creal(v) + cimag(v) * cimag(v);
    }
    CHECK_MPI(MPI_Allreduce(both, all, 2, MPI_DOUBLE, MPI_SUM, p->comm));
    return sqrt(all[0] / all[1]);
}

/* ---- a serial FFTW ---------------------------------------------------------------------------------------------------- */

static bool transform_serially(const struct line_problem *p, int64_t line, double complex *data)
{
    const fftw_iodim64 dim[3] = {{p->n[0], p->n[1] * p->n[2], p->n[1] * p->n[2]},
                                 {p->n[1], p->n[2], p->n[2]},
                                 {p->n[2], 1, 1}};
    fftw_plan plan = fftw_plan_guru64_dft(3, dim, 0, NULL, data, data,
                                          p->direction == PENCILFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    if (!plan)
        return false;
    for (int64_t i = 0; i < p->desc.n; i++)
        data[i] = value_random(&p->format, line * p->desc.n + i);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return true;
}

static double compare_points(const struct line_problem *p, int rank, const void *points, const double complex *reference)
{
    double worst = 0;
    int64_t n = line_points(p, output_of(p), rank);
    for (int64_t i = 0; i < n; i++)
        worst = worse_error(worst,
                            cabs(element_load(&p->format, points, i) - reference[line_index(p, output_of(p), rank, i)]));
    return worst;
}

static double compare_line(const struct line_problem *p, int64_t line, const double complex *reference, void *piece)
{
    int64_t bytes = (int64_t)p->format.element_bytes, mine = line_points(p, output_of(p), p->rank);
    const char *own = (const char *)p->out + line * mine * bytes;
    double worst = 0;
    if (p->rank > 0)
        CHECK_MPI(MPI_Send(own, (int)(mine * bytes), MPI_BYTE, 0, TAG, p->comm));
    for (int rank = 0; rank < p->ranks && p->rank == 0; rank++) {
        if (rank > 0)
            CHECK_MPI(MPI_Recv(piece, (int)(line_points(p, output_of(p), rank) * bytes), MPI_BYTE, rank, TAG, p->comm,
                               MPI_STATUS_IGNORE));
        worst = worse_error(worst, compare_points(p, rank, rank > 0 ? piece : own, reference));
    }
    return worst;
}

static void compare_lines(const struct line_problem *p, double scale, struct verification *v)
{
    int ready = 1;
    double worst = 0;
    double complex *reference = p->rank == 0 ? fftw_malloc((size_t)p->desc.n * sizeof *reference) : NULL;
    void *piece = p->rank == 0 ? malloc((size_t)p->desc.n * sizeof *reference) : NULL;
    for (int64_t line = 0; line < p->desc.lines && ready; line++) {
        if (p->rank == 0)
            ready = reference && piece && transform_serially(p, line, reference);
        CHECK_MPI(MPI_Bcast(&ready, 1, MPI_INT, 0, p->comm));
        if (ready)
            worst = worse_error(worst, compare_line(p, line, reference, piece));
    }
    if (!ready)
        snprintf(v->note, sizeof v->note, "serial FFTW not done: no memory for the whole line on rank 0");
    fftw_free(reference);
    free(piece);
    CHECK_MPI(MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, p->comm));
    v->fftw_done = ready;
    v->error_fftw = worst / scale;
}

/* ---- the plain sum ---------------------------------------------------------------------------------------------------- */

static double complex weight_of(const struct line_problem *p, int64_t k, int64_t index)
{
    double complex product = 1, weight;
    for (int axis = 2; axis >= 0; axis--) {
        int64_t n = p->n[axis];
        const pencilfft_line dft = {.kind = PENCILFFT_LINE_DFT, .n = n, .points = n};
        basis_line(&dft, p->direction == PENCILFFT_BACKWARD, k % n, index % n, 1, &weight);
        product *= weight;
        k /= n;
        index /= n;
    }
    return product;
}

static double complex my_sum(const struct line_problem *p, int64_t line, int64_t k)
{
    int64_t points = line_points(p, input_of(p), p->rank);
    double complex sum = 0;
    for (int64_t i = 0; i < points; i++) {
        int64_t index = line_index(p, input_of(p), p->rank, i);
        sum += value_random(&p->format, line * p->desc.n + index) * weight_of(p, k, index);
    }
    return sum;
}

/* This rank's value of the transform there; 0 if another rank owns the value. */
static double complex my_value(const struct line_problem *p, int64_t line, int64_t k)
{
    int64_t points = line_points(p, output_of(p), p->rank);
    for (int64_t i = 0; i < points; i++)
        if (line_index(p, output_of(p), p->rank, i) == k)
            return element_load(&p->format, p->out, line * points + i);
    return 0;
}

static void compare_sums(const struct line_problem *p, double scale, struct verification *v)
{
    int64_t n = p->desc.n;
    const int64_t fixed[N_FIXED] = {1, n / 3, n / 2 + 1, n - 1};
    double complex mine[N_POINTS], all[N_POINTS];
    for (int i = 0; i < N_POINTS; i++) {
        int64_t line = i % p->desc.lines;
        int64_t k = (i < N_FIXED ? fixed[i] : (int64_t)(value_hash((uint64_t)i) >> 1)) % n;
        mine[i] = my_sum(p, line, k) - my_value(p, line, k);
    }
    CHECK_MPI(MPI_Allreduce(mine, all, N_POINTS, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->comm));
    for (int i = 0; i < N_POINTS; i++)
        v->error_direct = worse_error(v->error_direct, cabs(all[i]) / scale);
    v->points = N_POINTS;
}

int line_verify(const struct line_problem *p, struct verification *v)
{
    *v = (struct verification){.tolerance = tolerance_of(p->format.real_bytes, p->desc.n), .moved_data_exact = true};
    snprintf(v->note, sizeof v->note, "what is moved was checked by the transform alone");
    line_fill(p);
    or_abort(line_execute(p));
    double scale = result_scale(p);
    if (p->desc.n <= serial_limit / p->desc.lines)
        compare_lines(p, scale, v);
    else
        snprintf(v->note, sizeof v->note, "serial FFTW not done: more than %lld points", (long long)serial_limit);
    compare_sums(p, scale, v);
    v->passed = v->error_direct <= v->tolerance && (!v->fftw_done || v->error_fftw <= v->tolerance);
    return 0;
}
