/* The elements that a rank holds of an array, one after the other, with their indices.
 * Idea:  parts, fields and axes are counted like the digits of a clock, the nearest in memory fastest.
 * Cost:  a few additions an element. Needs: no MPI. */
#include "handle/plan.h"

/* The period of the basis function in grid steps, and the offset of a mode's index, in modes: FFTW's manual, "1d Real-even
 * DFTs" and "1d Real-odd DFTs". */
static double waves_of(pencilfft_plan plan, int axis, int64_t index)
{
    pencilfft_line line;
    pencilfft_line_of(plan, axis, &line);
    int64_t n = line.n;
    double mode = (double)index, length = (double)n;
    switch (line.kind) {
    case PENCILFFT_LINE_NONE: return 0;
    case PENCILFFT_LINE_DFT:
    case PENCILFFT_LINE_R2C: return index <= n / 2 ? mode : mode - length;
    case PENCILFFT_LINE_COSINE:
        mode += line.number > 2 ? 0.5 : 0;
        return line.number == 1 ? mode * length / (2 * (length - 1)) : mode / 2;
    case PENCILFFT_LINE_SINE:
        mode += line.number > 2 ? 0.5 : 1;
        return line.number == 1 ? mode * length / (2 * (length + 1)) : mode / 2;
    }
    return 0;
}

int pencilfft_waves(pencilfft_plan plan, int axis, int64_t index, double *waves)
{
    if (!plan || !waves || axis < 0 || axis > 2)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_waves: null plan or result, or an axis that is not 0, 1 or 2");
    int64_t n = plan->layout.transform.modes[pf_axis_inside(plan->layout.geometry.axes, axis)];
    if (index < 0 || index >= n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_waves: index %lld; along axis %d the spectrum has 0..%lld",
                       (long long)index, axis, (long long)n - 1);
    *waves = waves_of(plan, axis, index);
    return PENCILFFT_OK;
}

static void stand_at(pencilfft_walk *walk, int axis, int64_t local)
{
    walk->index[axis] = walk->part.box.offset[axis] + local;
    walk->waves[axis] = walk->array == PENCILFFT_INPUT || walk->array == PENCILFFT_INNER_INPUT
                            ? 0
                            : waves_of(walk->plan, axis, walk->index[axis]);
}

/* The next part that has elements; false after the last. */
static bool enter_part(pencilfft_walk *walk)
{
    for (; walk->next_part < walk->parts; walk->next_part++) {
        if (pencilfft_part_mine(walk->plan, walk->array, walk->next_part, &walk->part))
            return false;
        const pencilfft_box *box = &walk->part.box;
        if (walk->part.fields < 1 || !box->extent[0] || !box->extent[1] || !box->extent[2])
            continue;
        for (int i = 0; i < 3; i++)
            walk->order[i] = i;
        for (int i = 0; i < 2; i++) /* by the stride, the least first */
            for (int j = i + 1; j < 3; j++)
                if (box->stride[walk->order[j]] < box->stride[walk->order[i]]) {
                    int axis = walk->order[i];
                    walk->order[i] = walk->order[j];
                    walk->order[j] = axis;
                }
        walk->field = walk->part.first_field;
        walk->at = walk->part.start;
        for (int axis = 0; axis < 3; axis++)
            stand_at(walk, axis, 0);
        walk->next_part++;
        return true;
    }
    return false;
}

int pencilfft_walk_begin(pencilfft_plan plan, int array, pencilfft_walk *walk)
{
    if (walk) /* without elements after a failure */
        *walk = (pencilfft_walk){.plan = plan, .array = array};
    if (!plan || !walk)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_walk_begin: null plan or walk");
    return pencilfft_parts(plan, array, &walk->parts);
}

/* Whether the fields are interleaved. */
static bool are_near(const pencilfft_part *part, int nearest_axis)
{
    return part->fields > 1 && part->field_stride < part->box.stride[nearest_axis];
}

int pencilfft_walk_next(pencilfft_walk *walk)
{
    if (!walk)
        return 0;
    const pencilfft_box *box = &walk->part.box;
    if (!walk->inside)
        return walk->inside = enter_part(walk);
    if (are_near(&walk->part, walk->order[0])) {
        walk->at += walk->part.field_stride;
        if (++walk->field < walk->part.first_field + walk->part.fields)
            return 1;
        walk->at -= walk->part.fields * walk->part.field_stride;
        walk->field = walk->part.first_field;
    }
    for (int i = 0; i < 3; i++) {
        int axis = walk->order[i];
        int64_t local = walk->index[axis] - box->offset[axis];
        if (local + 1 < box->extent[axis]) {
            walk->at += box->stride[axis];
            stand_at(walk, axis, local + 1);
            return 1;
        }
        walk->at -= local * box->stride[axis];
        stand_at(walk, axis, 0);
    }
    if (!are_near(&walk->part, walk->order[0]) && walk->field + 1 < walk->part.first_field + walk->part.fields) {
        walk->field++;
        walk->at += walk->part.field_stride;
        return 1;
    }
    return walk->inside = enter_part(walk);
}
