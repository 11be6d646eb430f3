/* Chosen values of the result against the plain sum over the whole input.
 * Idea:   each rank sums its part of the input, made again from its index; the owner adds its value of the transform.
 *         The roots of unity come from k*i mod n, so that large indices lose nothing; sums are kept per line, plane
 *         and block, so that rounding grows with the square root of an extent and not of N.
 * Cost:   N/P multiplications a point. */
#include <math.h>
#include <stdlib.h>

#include "check_mpi.h"
#include "runner.h"
#include "values.h"
#include "verify.h"

enum { N_POINTS = 8, N_RANDOM = 3 };

/* The unit vectors tell a turned axis, the uneven ones a reversed or shifted one, the rest are anywhere. */
static void choose_points(const int64_t n[3], int64_t points[N_POINTS][3])
{
    const int64_t fixed[N_POINTS - N_RANDOM][3] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {n[0] / 3, n[1] / 5, n[2] / 7}, {n[0] - 1, n[1] / 2 + 1, n[2] / 3 + 2},
    };
    for (int i = 0; i < N_POINTS; i++)
        for (int axis = 0; axis < 3; axis++) {
            int64_t wish = i < N_POINTS - N_RANDOM ? fixed[i][axis] : (int64_t)(value_hash(3u * (unsigned)i + (unsigned)axis) >> 1);
            points[i][axis] = wish % n[axis];
        }
}

/* exp(sign 2 pi i k x / n) for the x of the box along one axis. */
static void roots(int64_t n, int64_t k, int sign, int64_t offset, int64_t extent, double complex *root)
{
    for (int64_t i = 0; i < extent; i++) {
        double angle = sign * 2 * M_PI * ((double)(k * (offset + i) % n) / (double)n);
        root[i] = CMPLX(cos(angle), sin(angle));
    }
}

struct part {
    const pencilfft_box *box;
    const int64_t *n;
    double complex *root[3];
};

static double complex line_sum(const struct part *part, int64_t x, int64_t y)
{
    const pencilfft_box *b = part->box;
    int64_t index = ((b->offset[0] + x) * part->n[1] + b->offset[1] + y) * part->n[2] + b->offset[2];
    double complex sum = 0;
    for (int64_t z = 0; z < b->extent[2]; z++)
        sum += value_random(index + z) * part->root[2][z];
    return sum;
}

static double complex block_sum(const struct part *part)
{
    double complex block = 0;
    for (int64_t x = 0; x < part->box->extent[0]; x++) {
        double complex plane = 0;
        for (int64_t y = 0; y < part->box->extent[1]; y++)
            plane += line_sum(part, x, y) * part->root[1][y];
        block += plane * part->root[0][x];
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

static double complex value_at(const pencilfft_box *b, const int64_t at[3], const double complex *a)
{
    int64_t local = 0;
    for (int axis = 0; axis < 3; axis++)
        local += (at[axis] - b->offset[axis]) * b->stride[axis];
    return a[local];
}

/* Minus the transform's value where it is held, plus this rank's part of the sum: all ranks together give the error. */
static double complex my_difference(const struct problem *p, const struct part *part, const pencilfft_box *result,
                                    const int64_t point[3])
{
    int sign = p->direction == PENCILFFT_FORWARD ? -1 : 1;
    for (int axis = 0; axis < 3; axis++)
        roots(p->n[axis], point[axis], sign, part->box->offset[axis], part->box->extent[axis], part->root[axis]);
    double complex difference = block_sum(part);
    if (holds(result, point))
        difference -= value_at(result, point, p->out);
    return difference;
}

static int allocate_roots(struct part *part, MPI_Comm comm)
{
    int status = 0;
    for (int axis = 0; axis < 3; axis++)
        if (!(part->root[axis] = malloc((size_t)part->box->extent[axis] * sizeof *part->root[axis])))
            status = pf_fail(RUNNER_ERROR, "no memory for the roots of unity of a direct sum");
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
    pencilfft_box box, result;
    struct part part = {.box = &box, .n = p->n};
    int status = pencilfft_box_mine(p->plan, input_pencil(p), &box);
    if (!status)
        status = pencilfft_box_mine(p->plan, output_pencil(p), &result);
    if (status || (status = allocate_roots(&part, p->grid)))
        goto done;
    choose_points(p->n, points);
    for (int i = 0; i < N_POINTS; i++)
        mine[i] = my_difference(p, &part, &result, points[i]);
    CHECK_MPI(MPI_Allreduce(mine, all, N_POINTS, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->grid));
    v->error_direct = worst_of(all) / scale;
    v->points = N_POINTS;
done:
    for (int axis = 0; axis < 3; axis++)
        free(part.root[axis]);
    return status;
}
