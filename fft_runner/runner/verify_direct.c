/* Chosen values of the result against the plain sum over the whole input.
 * Idea:  each rank sums its part of the input, recomputed from its index; the owner adds its value of the transform. Sums
 *        are kept per line, plane and block, so rounding grows with the square root of an extent and not of N. With several
 *        fields the points are spread over the fields in turn.
 * Cost:  N/P multiplications per point. */
#include <math.h>
#include <stdlib.h>

#include "runner.h"
#include "values.h"
#include "verify.h"

enum { N_POINTS = 8, N_RANDOM = 3 };

/* The unit vectors detect a swapped axis, the uneven points a reversed or shifted axis; the rest are arbitrary. */
static void choose_points(const int64_t n[3], int64_t points[N_POINTS][3])
{
    const int64_t fixed[N_POINTS - N_RANDOM][3] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {n[0] / 3, n[1] / 5, n[2] / 7}, {n[0] - 1, n[1] / 2 + 1, n[2] / 3 + 2},
    };
    for (int i = 0; i < N_POINTS; i++)
        for (int axis = 0; axis < 3; axis++) {
            int64_t wish = i < N_POINTS - N_RANDOM ? fixed[i][axis]
                                                   : (int64_t)(value_hash(3u * (unsigned)i + (unsigned)axis) >> 1);
            points[i][axis] = wish % n[axis];
        }
}

/* A part of the input, and the weights of its indices. */
struct summand {
    const struct problem *p;
    const pencilfft_part *in;
    const pencilfft_format *format;
    int field;
    double complex *weight[3];
};

static double complex line_sum(const struct summand *s, int64_t x, int64_t y)
{
    const pencilfft_box *b = &s->in->box;
    const pencilfft_format *f = s->format;
    int64_t index = ((s->field * f->n[0] + b->offset[0] + x) * f->n[1] + b->offset[1] + y) * f->n[2] + b->offset[2];
    double complex sum = 0;
    for (int64_t z = 0; z < b->extent[2]; z++)
        sum += value_random(f, index + z) * s->weight[2][z];
    return sum;
}

static double complex block_sum(const struct summand *s)
{
    double complex block = 0;
    for (int64_t x = 0; x < s->in->box.extent[0]; x++) {
        double complex plane = 0;
        for (int64_t y = 0; y < s->in->box.extent[1]; y++)
            plane += line_sum(s, x, y) * s->weight[1][y];
        block += plane * s->weight[0][x];
    }
    return block;
}

static bool holds(const pencilfft_part *part, int field, const int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < part->box.offset[axis] || at[axis] >= part->box.offset[axis] + part->box.extent[axis])
            return false;
    return has_field(part, field);
}

static double complex value_at(const pencilfft_part *part, const pencilfft_format *f, int field, const int64_t at[3],
                               const void *a)
{
    int64_t local = part->start + (field - part->first_field) * part->field_stride;
    for (int axis = 0; axis < 3; axis++)
        local += (at[axis] - part->box.offset[axis]) * part->box.stride[axis];
    return element_load(f, a, local);
}

static double complex my_sum(struct summand *s, const int64_t point[3])
{
    const struct problem *p = s->p;
    for (int axis = 0; axis < 3; axis++)
        basis_line(&p->line[axis], p->direction == PENCILFFT_BACKWARD, point[axis], s->in->box.offset[axis],
                   s->in->box.extent[axis], s->weight[axis]);
    return block_sum(s);
}

/* Minus the transform's value on its owner, plus this rank's part of the sum: the total over ranks is the error. */
static double complex my_difference(struct summand *s, const struct side *in, const struct side *out, const int64_t point[3])
{
    double complex difference = 0;
    for (int i = 0; i < in->parts; i++)
        if (has_field(s->in = &in->part[i], s->field))
            difference += my_sum(s, point);
    if (!out->format.is_complex)
        difference = creal(difference);
    for (int i = 0; i < out->parts; i++)
        if (holds(&out->part[i], s->field, point))
            difference -= value_at(&out->part[i], &out->format, s->field, point, s->p->out);
    return difference;
}

/* Room for the longest of the parts. */
static int allocate_weights(struct summand *s, const struct side *in, MPI_Comm comm)
{
    int status = 0;
    for (int axis = 0; axis < 3; axis++) {
        int64_t longest = 0;
        for (int i = 0; i < in->parts; i++)
            longest = in->part[i].box.extent[axis] > longest ? in->part[i].box.extent[axis] : longest;
        if (!(s->weight[axis] = malloc((size_t)(longest + 1) * sizeof *s->weight[axis])))
            status = pf_fail(PF_REFUSED, "no memory for the weights of a direct sum");
    }
    return pf_agree(status, comm);
}

static double worst_of(const double complex *differences)
{
    double worst = 0;
    for (int i = 0; i < N_POINTS; i++)
        worst = worse_error(worst, cabs(differences[i]));
    return worst;
}

int verify_direct(const struct problem *p, double scale, struct verification *v)
{
    int64_t points[N_POINTS][3];
    double complex mine[N_POINTS], all[N_POINTS];
    struct side in, out;
    struct summand s = {.p = p, .format = &in.format};
    int status = side_of(p, input_of(p->direction), &in);
    if (!status)
        status = side_of(p, output_of(p->direction), &out);
    if (status || (status = allocate_weights(&s, &in, p->grid)))
        goto done;
    choose_points(out.format.n, points);
    for (int i = 0; i < N_POINTS; i++) {
        s.field = i % out.format.fields;
        mine[i] = my_difference(&s, &in, &out, points[i]);
    }
    CHECK_MPI(MPI_Allreduce(mine, all, N_POINTS, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->grid));
    v->error_direct = worst_of(all) / scale;
    v->points = N_POINTS;
done:
    for (int axis = 0; axis < 3; axis++)
        free(s.weight[axis]);
    return status;
}

/* ---- the sums that define the line transforms ------------------------------------------------------------------------- */

/* The sums that define the line transforms, for the direct check.
 * Source: FFTW's manual, "What FFTW Really Computes". Angles are reduced as integers first, so that large indices lose no
 *         accuracy. */

static double angle(int64_t numerator, int64_t denominator)
{
    return M_PI * ((double)(numerator % (2 * denominator)) / (double)denominator);
}

static double complex root(int64_t j, int64_t k, int64_t n, int backward)
{
    double a = angle(2 * (j * k % n), n);
    return CMPLX(cos(a), backward ? sin(a) : -sin(a));
}

static double cosine(int kind, int64_t j, int64_t k, int64_t n)
{
    double sign = k % 2 ? -1 : 1;
    switch (kind) {
    case 1: return j == 0 ? 1 : j == n - 1 ? sign : 2 * cos(angle(j * k, n - 1));
    case 2: return 2 * cos(angle((2 * j + 1) * k, 2 * n));
    case 3: return j == 0 ? 1 : 2 * cos(angle(j * (2 * k + 1), 2 * n));
    default: return 2 * cos(angle((2 * j + 1) * (2 * k + 1), 4 * n));
    }
}

static double sine(int kind, int64_t j, int64_t k, int64_t n)
{
    double sign = k % 2 ? -1 : 1;
    switch (kind) {
    case 1: return 2 * sin(angle((j + 1) * (k + 1), n + 1));
    case 2: return 2 * sin(angle((2 * j + 1) * (k + 1), 2 * n));
    case 3: return j == n - 1 ? sign : 2 * sin(angle((j + 1) * (2 * k + 1), 2 * n));
    default: return 2 * sin(angle((2 * j + 1) * (2 * k + 1), 4 * n));
    }
}

/* II and III are inverses of each other. */
static int number_of(const pencilfft_line *line, int backward)
{
    return backward && (line->number == 2 || line->number == 3) ? 5 - line->number : line->number;
}

/* A mode j of n kept modes at point k of `points`, or the reverse: the mode n/2 of an even n stands for -n/2 too. */
static double complex padded_root(const pencilfft_line *line, int64_t mode, int64_t point, int backward)
{
    int64_t n = line->n, points = line->points;
    if (points > n && 2 * mode == n)
        return (backward ? 1 : 2) * creal(root(mode, point, points, backward));
    return root(2 * mode > n ? mode + points - n : mode, point, points, backward);
}

static double complex weight_of(const pencilfft_line *line, int backward, int64_t k, int64_t j)
{
    int64_t n = line->n;
    switch (line->kind) {
    case PENCILFFT_LINE_NONE: return j == k;
    case PENCILFFT_LINE_COSINE: return cosine(number_of(line, backward), j, k, n);
    case PENCILFFT_LINE_SINE: return sine(number_of(line, backward), j, k, n);
    case PENCILFFT_LINE_R2C:
        if (backward) /* the half that is not stored contributes by its conjugate */
            return (j == 0 || 2 * j == n ? 1 : 2) * padded_root(line, j, k, 1);
        break;
    default: break;
    }
    return backward ? padded_root(line, j, k, 1) : padded_root(line, k, j, 0);
}

void basis_line(const pencilfft_line *line, int backward, int64_t k, int64_t offset, int64_t extent, double complex *weight)
{
    for (int64_t j = 0; j < extent; j++)
        weight[j] = weight_of(line, backward, k, offset + j);
}
