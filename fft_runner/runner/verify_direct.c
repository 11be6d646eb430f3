/* Chosen values of the result against the plain sum over the whole input.
 * Idea:   each rank sums its part of the input, recomputed from its index; the owner adds its value of the transform. Sums
 *         are kept per line, plane and block, so rounding grows with the square root of an extent and not of N. With several
 *         fields the points are spread over them in turn.
 * Cost:   N/P multiplications per point. */
#include <stdlib.h>

#include "basis.h"
#include "check_mpi.h"
#include "runner.h"
#include "values.h"
#include "verify.h"

enum { N_POINTS = 8, N_RANDOM = 3 };

/* The unit vectors detect a swapped axis, the uneven ones a reversed or shifted axis; the rest are arbitrary. */
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

struct part {
    const struct problem *p;
    struct side in;
    int field;
    double complex *weight[3];
};

static double complex line_sum(const struct part *part, int64_t x, int64_t y)
{
    const pencilfft_box *b = &part->in.box;
    const pencilfft_format *f = &part->in.format;
    int64_t index = ((part->field * f->n[0] + b->offset[0] + x) * f->n[1] + b->offset[1] + y) * f->n[2] + b->offset[2];
    double complex sum = 0;
    for (int64_t z = 0; z < b->extent[2]; z++)
        sum += value_random(f, index + z) * part->weight[2][z];
    return sum;
}

static double complex block_sum(const struct part *part)
{
    double complex block = 0;
    for (int64_t x = 0; x < part->in.box.extent[0]; x++) {
        double complex plane = 0;
        for (int64_t y = 0; y < part->in.box.extent[1]; y++)
            plane += line_sum(part, x, y) * part->weight[1][y];
        block += plane * part->weight[0][x];
    }
    return block;
}

static bool holds(const pencilfft_box *b, const int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < b->offset[axis] || at[axis] >= b->offset[axis] + b->extent[axis])
            return false;
    return true;
}

static double complex value_at(const struct side *side, int field, const int64_t at[3], const void *a)
{
    int64_t local = field * side->format.field_stride;
    for (int axis = 0; axis < 3; axis++)
        local += (at[axis] - side->box.offset[axis]) * side->box.stride[axis];
    return element_load(&side->format, a, local);
}

/* Minus the transform's value on its owner, plus this rank's part of the sum: the total over ranks is the error. */
static double complex my_difference(const struct part *part, const struct side *out, const int64_t point[3])
{
    const struct problem *p = part->p;
    for (int axis = 0; axis < 3; axis++)
        basis_line(&p->line[axis], p->direction == PENCILFFT_BACKWARD, p->points[axis], point[axis],
                   part->in.box.offset[axis], part->in.box.extent[axis], part->weight[axis]);
    double complex difference = block_sum(part);
    if (!out->format.is_complex)
        difference = creal(difference);
    if (holds(&out->box, point))
        difference -= value_at(out, part->field, point, p->out);
    return difference;
}

static int allocate_weights(struct part *part, MPI_Comm comm)
{
    int status = 0;
    for (int axis = 0; axis < 3; axis++)
        if (!(part->weight[axis] = malloc((size_t)part->in.box.extent[axis] * sizeof *part->weight[axis])))
            status = pf_fail(PF_REFUSED, "no memory for the weights of a direct sum");
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
    struct side out;
    struct part part = {.p = p};
    int status = side_of(p, input_array(p), &part.in);
    if (!status)
        status = side_of(p, output_array(p), &out);
    if (status || (status = allocate_weights(&part, p->grid)))
        goto done;
    choose_points(out.format.n, points);
    for (int i = 0; i < N_POINTS; i++) {
        part.field = i % out.format.fields;
        mine[i] = my_difference(&part, &out, points[i]);
    }
    CHECK_MPI(MPI_Allreduce(mine, all, N_POINTS, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->grid));
    v->error_direct = worst_of(all) / scale;
    v->points = N_POINTS;
done:
    for (int axis = 0; axis < 3; axis++)
        free(part.weight[axis]);
    return status;
}
