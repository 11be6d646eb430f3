/* A distributed line by transposes.
 * Idea:  six-step: N = N1 N2, the line as a matrix of N1 rows. Every rank has some columns: FFTs of N1 points, twiddle
 *        factors; then some rows: FFTs of N2 points. N1 and N2 give the fewest points to the rank with most points. If these
 *        points are more than twice N/P and a convolution has less, as for primes, the line is multiplied by a chirp,
 *        convolved by transforms of M >= 2N - 1 points (Bluestein), M of factors 2, 3, 5, and multiplied again.
 * Source: Bailey 1990; Bluestein 1970.
 * Cost:  three all-to-alls of N/P points a rank, fewer if the order may change; the chirp: four, of about 2N/P and more.
 * Needs: the chirp needs N < 2^31. */
#include <stdio.h>

#include "common/failure.h"
#include "geometry/blocks.h"
#include "lines/distributed.h"
#include "pencilfft.h"

struct matrix {
    int64_t n1, n2, most; /* points of the rank with most points, in columns or in rows */
};

static int64_t most_of(int64_t n1, int64_t n2, int ranks)
{
    return pf_larger((n2 + ranks - 1) / ranks * n1, (n1 + ranks - 1) / ranks * n2);
}

static struct matrix best_matrix(int64_t n, int ranks)
{
    struct matrix best = {1, n, most_of(1, n, ranks)};
    for (int64_t n1 = 2; n1 <= n / n1; n1++)
        if (n % n1 == 0 && most_of(n1, n / n1, ranks) <= best.most)
            best = (struct matrix){n1, n / n1, most_of(n1, n / n1, ranks)};
    return best;
}

/* The M from least to twice that, of factors 2, 3 and 5, with the fewest points on a rank; the smallest of these. */
static struct matrix best_convolution(int64_t least, int ranks)
{
    struct matrix best = {0, 0, INT64_MAX};
    for (int64_t fives = 1; fives < 2 * least; fives *= 5)
        for (int64_t threes = fives; threes < 2 * least; threes *= 3) {
            int64_t m = threes;
            while (m < least)
                m *= 2;
            if (m >= 2 * least)
                continue;
            struct matrix found = best_matrix(m, ranks);
            if (found.most < best.most || (found.most == best.most && m < best.n1 * best.n2))
                best = found;
        }
    return best;
}

/* ---- six steps -------------------------------------------------------------------------------------------------------- */

static double complex matrix_twiddle(const struct pf_line_step *step, int rank, int64_t label)
{
    (void)rank;
    return pf_root(label / step->to.n2 * (label % step->to.n2), step->to.n);
}

static struct pf_line_layout layout_of(enum pf_line_order order, const struct matrix *m, int ranks)
{
    return (struct pf_line_layout){.order = order, .ranks = ranks, .n = m->n1 * m->n2, .n1 = m->n1, .n2 = m->n2};
}

/* From columns to rows, transformed. */
static void add_matrix(struct pf_line_steps *s, const struct matrix *m)
{
    struct pf_line_layout rows = layout_of(PF_LINE_ROWS, m, s->ranks), spectrum = rows;
    spectrum.order = PF_LINE_SPECTRUM;
    pf_line_add_fft(s, m->n1);
    pf_line_add(s, PF_LINE_SCALE, NULL)->weight = matrix_twiddle;
    pf_line_add_move(s, "to_rows", &rows);
    pf_line_add_fft(s, m->n2);
    pf_line_rename(s, &spectrum);
}

static void add_six(struct pf_line_steps *s, const struct matrix *m)
{
    struct pf_line_layout columns = layout_of(PF_LINE_COLUMNS, m, s->ranks), blocks = pf_line_blocks(s);
    if (s->order == PF_WISH_TRANSPOSED_BOTH)
        s->from = s->to = columns;
    else
        pf_line_add_move(s, "to_columns", &columns);
    add_matrix(s, m);
    if (s->order == PF_WISH_NATURAL)
        pf_line_add_move(s, "to_blocks", &blocks);
}

/* ---- the chirp -------------------------------------------------------------------------------------------------------- */

/* exp(-pi i j^2 / n), for j < n < 2^31. */
static double complex chirp(int64_t j, int64_t n)
{
    return pf_root((int64_t)((uint64_t)j * (uint64_t)j % (uint64_t)(2 * n)), 2 * n);
}

static double complex chirp_weight(const struct pf_line_step *step, int rank, int64_t label)
{
    (void)rank;
    return chirp(label, step->to.n);
}

/* The filter of the convolution: the conjugate chirp from -N to N, around M points, over M for unnormalised transforms. */
static double complex filter_weight(const struct pf_line_step *step, int rank, int64_t label)
{
    (void)rank;
    int64_t n = step->length, m = step->to.n, j = label < n ? label : m - label;
    return j < n ? conj(chirp(j, n)) / (double)m : 0;
}

static void add_inverse_matrix(struct pf_line_steps *s, int first, int last)
{
    for (int i = last - 1; i >= first; i--) {
        struct pf_line_step step = s->step[i];
        step.from = s->step[i].to;
        step.to = s->step[i].from;
        step.backward = !step.backward;
        if (step.kind == PF_LINE_MOVE)
            snprintf(step.name, sizeof step.name, "from_rows");
        s->step[s->count++] = step;
    }
    s->to = s->step[s->count - 1].to;
}

static void add_chirp(struct pf_line_steps *s, const struct matrix *m)
{
    struct pf_line_layout columns = layout_of(PF_LINE_COLUMNS, m, s->ranks), blocks = pf_line_blocks(s);
    pf_line_add(s, PF_LINE_SCALE, NULL)->weight = chirp_weight;
    pf_line_add_move(s, "to_columns", &columns);
    int first = s->count;
    add_matrix(s, m);
    int last = s->count;
    struct pf_line_step *filter = pf_line_add(s, PF_LINE_SCALE, NULL);
    filter->weight = filter_weight;
    filter->filter_steps = last - first;
    filter->length = s->n;
    add_inverse_matrix(s, first, last);
    pf_line_add_move(s, "to_blocks", &blocks);
    pf_line_add(s, PF_LINE_SCALE, NULL)->weight = chirp_weight;
}

static int plan(struct pf_line_steps *s)
{
    if (s->ranks == 1) {
        pf_line_add_fft(s, s->n);
        return PENCILFFT_OK;
    }
    struct matrix six = best_matrix(s->n, s->ranks), other = {.most = INT64_MAX};
    if (six.most > 2 * ((s->n + s->ranks - 1) / s->ranks) && s->n < INT32_MAX)
        other = best_convolution(2 * s->n - 1, s->ranks);
    if (other.most < six.most)
        add_chirp(s, &other);
    else
        add_six(s, &six);
    return PENCILFFT_OK;
}

const struct pf_line_algorithm pf_line_transpose = {"transpose", plan};
