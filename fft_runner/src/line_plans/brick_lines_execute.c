/* Running a plan for bricks of lines: one axis after the other. */
#include <string.h>

#include "geometry/strided_copy.h"
#include "line_plans/line.h"
#include "speed/clock.h"

static void lap(pencilfft_brick_lines plan, int phase)
{
    double now = pf_now();
    plan->seconds[phase] += now - plan->last;
    plan->last = now;
}

/* Copies the bricks of all fields between their own order and the order with an axis fastest, the other axes as before. */
static void turn(const struct pencilfft_brick_lines_s *plan, int axis, const int64_t extent[3], bool back, const void *from,
                 void *to)
{
    const int64_t brick[3] = {extent[1] * extent[2], extent[2], 1};
    const int64_t lines[3] = {axis == 0 ? 1 : extent[1] * extent[2], axis == 1 ? 1 : extent[2] * extent[0],
                              axis == 0 ? extent[0] : extent[1]};
    struct pf_copy copy = {.fields = plan->fields};
    for (int i = 0; i < 3; i++) {
        copy.extent[i] = extent[i];
        copy.from_stride[i] = back ? lines[i] : brick[i];
        copy.to_stride[i] = back ? brick[i] : lines[i];
    }
    copy.from_field = copy.to_field = extent[0] * extent[1] * extent[2];
    pf_copy_run(&copy, plan->element_bytes, from, to);
}

static int run_lines(pencilfft_brick_lines plan, int axis, pencilfft_direction direction, const void *in, void *out)
{
    const struct pf_brick_axis *a = &plan->axis[axis];
    int status = pencilfft_line_execute(a->lines, direction, in, out);
    for (int phase = 0; phase < 1 + 3 * a->exchanges; phase++)
        plan->seconds[a->fft_phase + phase] += a->lines->seconds[phase];
    plan->last = pf_now();
    return status;
}

static int run_turned(pencilfft_brick_lines plan, int axis, pencilfft_direction direction, const void *in, void *out)
{
    const struct pf_brick_axis *a = &plan->axis[axis];
    int64_t extent[2][3];
    bool backward = direction == PENCILFFT_BACKWARD;
    pf_brick_extent(plan, axis, 0, extent[0]);
    pf_brick_extent(plan, axis, 1, extent[1]);
    turn(plan, axis, extent[backward], false, in, plan->turned);
    lap(plan, a->turn_phase);
    int status = run_lines(plan, axis, direction, plan->turned, plan->turned);
    if (!status)
        turn(plan, axis, extent[!backward], true, plan->turned, out);
    lap(plan, a->turn_phase + 1);
    return status;
}

static int run(pencilfft_brick_lines plan, pencilfft_direction direction, const void *in, void *out)
{
    const void *from = in;
    int status = PENCILFFT_OK, left = 0;
    bool backward = direction == PENCILFFT_BACKWARD;
    for (int axis = 0; axis < 3; axis++)
        left += plan->axis[axis].count != 0;
    for (int i = 0; i < 3 && !status; i++) {
        int axis = backward ? i : 2 - i;
        if (!plan->axis[axis].count)
            continue;
        void *to = --left && plan->between ? plan->between : out;
        status = (axis == 2 ? run_lines : run_turned)(plan, axis, direction, from, to);
        from = to;
    }
    if (from != out && !status)
        memcpy(out, in, (size_t)pf_smaller(pf_brick_bytes(plan, 0, plan->rank), pf_brick_bytes(plan, 1, plan->rank)));
    return status;
}

static int64_t length_on(const void *plan, int after, int rank)
{
    return pf_brick_bytes(plan, after, rank);
}

int pencilfft_brick_lines_execute(pencilfft_brick_lines plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = pf_line_check_call("pencilfft_brick_lines_execute", plan ? &plan->handle : NULL, direction, in, out,
                                    length_on);
    if (status)
        return status;
    memset(plan->seconds, 0, sizeof plan->seconds);
    plan->last = pf_now();
    status = run(plan, direction, in, out);
    for (int phase = 0; phase < plan->phases - 1; phase++)
        plan->seconds[plan->phases - 1] += plan->seconds[phase];
    return status;
}
