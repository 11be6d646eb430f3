/* Making and ending a plan for bricks on which distributed lines run directly.
 * Idea:  the ranks that share the lines of an axis differ only in their position along the axis. These ranks have a
 *        communicator, and all their lines are one plan for lines (line.c), which knows nothing of the other axes.
 * Source: A. Jocksch, N. Tselepidis, V. Karakasis, Cray User Group 2021; without transposes between the axes.
 * Cost:  the lines of every axis; two local transposes of the brick for y and for x. */
#include "line_plans/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pencilfft_brick_lines_desc defaults = {
    .struct_bytes = sizeof(pencilfft_brick_lines_desc),
    .fields = 1,
    .algorithm = "transpose",
    .order = "natural",
    .precision = "double",
    .rigor = "measure",
    .sync = "none",
};

void pencilfft_brick_lines_desc_init_bytes(pencilfft_brick_lines_desc *desc, size_t bytes)
{
    pf_desc_give(&defaults, sizeof defaults, desc, bytes);
}

void(pencilfft_brick_lines_desc_init)(pencilfft_brick_lines_desc *desc)
{
    pencilfft_brick_lines_desc_init(desc);
}

static pencilfft_line_desc lines_of(const pencilfft_brick_lines_desc *desc, const struct pf_brick_axis *a)
{
    return (pencilfft_line_desc){.struct_bytes = sizeof(pencilfft_line_desc),
                                 .n = a->n,
                                 .lines = pf_larger(a->count, 1),
                                 .algorithm = desc->algorithm,
                                 .order = desc->order,
                                 .precision = desc->precision,
                                 .rigor = desc->rigor,
                                 .sync = desc->sync};
}

/* ---- the request ----------------------------------------------------------------------------------------------------- */

static int same_everywhere(const pencilfft_brick_lines_desc *desc, MPI_Comm comm)
{
    const struct pf_argument arguments[] = {
        PF_ARGUMENT_NUMBER("nx", desc->nx),
        PF_ARGUMENT_NUMBER("ny", desc->ny),
        PF_ARGUMENT_NUMBER("nz", desc->nz),
        PF_ARGUMENT_NUMBER("bricks[0]", desc->bricks[0]),
        PF_ARGUMENT_NUMBER("bricks[1]", desc->bricks[1]),
        PF_ARGUMENT_NUMBER("bricks[2]", desc->bricks[2]),
        PF_ARGUMENT_NUMBER("fields", desc->fields),
        PF_ARGUMENT_TEXT("algorithm", desc->algorithm),
        PF_ARGUMENT_TEXT("order", desc->order),
        PF_ARGUMENT_TEXT("precision", desc->precision),
        PF_ARGUMENT_TEXT("rigor", desc->rigor),
        PF_ARGUMENT_TEXT("sync", desc->sync),
    };
    return pf_same_arguments("the descriptors of bricks of lines", (int)(sizeof arguments / sizeof arguments[0]), arguments,
                             comm);
}

static int take_numbers(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *desc)
{
    const int64_t n[3] = {desc->nx, desc->ny, desc->nz};
    const int64_t bricks[3] = {desc->bricks[0], desc->bricks[1], desc->bricks[2]};
    for (int axis = 0; axis < 3; axis++)
        if (n[axis] < 1)
            return pf_fail(PENCILFFT_BAD_SIZE, "extents %lld %lld %lld; each is 1 or more", (long long)n[0], (long long)n[1],
                           (long long)n[2]);
    if (desc->fields < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "%d fields; a plan transforms 1 or more", desc->fields);
    if (pf_bounded_product(n, PF_MAX_ELEMENTS / desc->fields) < 0)
        return pf_fail(PENCILFFT_BAD_SIZE, "%d fields of %lld x %lld x %lld points: more than 2^53", desc->fields,
                       (long long)n[0], (long long)n[1], (long long)n[2]);
    bool any = bricks[0] < 1 || bricks[1] < 1 || bricks[2] < 1;
    if (any || pf_bounded_product(bricks, plan->ranks) != plan->ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "bricks %dx%dx%d on %d ranks; there must be one for each rank", desc->bricks[0],
                       desc->bricks[1], desc->bricks[2], plan->ranks);
    plan->fields = desc->fields;
    for (int axis = 0, apart = 1; axis < 3; apart *= desc->bricks[axis++])
        plan->axis[axis] = (struct pf_brick_axis){.n = n[axis],
                                                  .ranks = desc->bricks[axis],
                                                  .position = plan->rank / apart % desc->bricks[axis],
                                                  .apart = apart,
                                                  .group = MPI_COMM_NULL,
                                                  .turn_phase = PF_UNKNOWN_PHASE,
                                                  .fft_phase = PF_UNKNOWN_PHASE};
    return PENCILFFT_OK;
}

/* Adds the axis to the message; the plan of a line does not know the axis. */
static int of_axis(int status, int axis)
{
    char message[PF_MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", pf_message());
    return pf_fail(status, "along %c: %s", "xyz"[axis], message);
}

/* The layouts of the points of an axis; an axis of one point stays. */
static int take_axis(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *desc, int axis)
{
    struct pf_brick_axis *a = &plan->axis[axis];
    struct pf_line_steps steps = {.n = a->n, .ranks = a->ranks};
    pencilfft_line_desc line = lines_of(desc, a);
    int status = a->n > 1 ? pf_line_plan_steps(&line, a->ranks, &steps) : PENCILFFT_OK;
    a->ends[0] = a->n > 1 ? steps.from : pf_line_blocks(&steps);
    a->ends[1] = a->n > 1 ? steps.to : pf_line_blocks(&steps);
    return status == PENCILFFT_NOT_POSSIBLE ? of_axis(status, axis) : status;
}

static int take(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *desc)
{
    int status = same_everywhere(desc, plan->all);
    if (!status)
        status = take_numbers(plan, desc);
    if (status)
        return status;
    const struct pf_precision *precision = pf_table_find(&pf_precisions, desc->precision);
    if (!precision)
        return PENCILFFT_UNKNOWN_NAME;
    plan->element_bytes = 2 * precision->fftw->real_bytes;
    for (int axis = 0; axis < 3 && !status; axis++)
        status = take_axis(plan, desc, axis);
    return status;
}

/* ---- the lines of an axis -------------------------------------------------------------------------------------------- */

int64_t pf_brick_points(const struct pencilfft_brick_lines_s *plan, int axis, int after, int position)
{
    return pf_line_points(&plan->axis[axis].ends[after], position);
}

int64_t pf_brick_bytes(const struct pencilfft_brick_lines_s *plan, int after, int rank)
{
    int64_t bytes = plan->fields * (int64_t)plan->element_bytes;
    for (int axis = 0; axis < 3; axis++)
        bytes *= pf_brick_points(plan, axis, after, rank / plan->axis[axis].apart % plan->axis[axis].ranks);
    return bytes;
}

/* A forward transform has done the axes behind this axis. */
void pf_brick_extent(const struct pencilfft_brick_lines_s *plan, int axis, int after, int64_t extent[3])
{
    for (int i = 0; i < 3; i++)
        extent[i] = pf_brick_points(plan, i, i == axis ? after : i > axis, plan->axis[i].position);
}

/* Ranks without lines of the axis plan for one line, like all ranks of their group. */
static int make_lines(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *desc, int axis)
{
    struct pf_brick_axis *a = &plan->axis[axis];
    const struct pf_group_key key = {.size = a->ranks, .step = a->apart};
    int64_t extent[3];
    pf_brick_extent(plan, axis, 0, extent);
    extent[axis] = plan->fields;
    a->count = extent[0] * extent[1] * extent[2];
    pencilfft_line_desc line = lines_of(desc, a);
    int status = pf_group_join(plan->communicators, &key, &a->group);
    if (status)
        return status;
    status = pencilfft_line_create(&line, a->group, &a->lines);
    return status && status != PENCILFFT_MPI_ERROR ? of_axis(status, axis) : status;
}

static int make_axes(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *desc)
{
    int status = PENCILFFT_OK;
    for (int axis = 2; axis >= 0 && !status; axis--)
        if (plan->axis[axis].n > 1)
            status = pf_agree(make_lines(plan, desc, axis), plan->all);
    return status;
}

/* For a brick transposed for its lines, and for bricks between two axes that are longer than input or output. */
static int make_buffers(pencilfft_brick_lines plan)
{
    int64_t most = 0;
    for (int axis = 2; axis >= 0; axis--)
        for (int after = 0; after < 2; after++) {
            int64_t extent[3];
            pf_brick_extent(plan, axis, after, extent);
            most = pf_larger(most, extent[0] * extent[1] * extent[2]);
        }
    plan->elements = most * plan->fields;
    size_t bytes = (size_t)plan->elements * plan->element_bytes;
    int64_t shorter = pf_smaller(pf_brick_bytes(plan, 0, plan->rank), pf_brick_bytes(plan, 1, plan->rank));
    int status = pf_aligned_make(bytes, &plan->raw[0], &plan->turned);
    return status || (int64_t)bytes <= shorter ? status : pf_aligned_make(bytes, &plan->raw[1], &plan->between);
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

static int add_phase(pencilfft_brick_lines plan, const char *part, const char *of)
{
    snprintf(plan->phase[plan->phases], PF_BRICK_NAME, "%s%s", part, of);
    return plan->phases++;
}

static void name_axis(pencilfft_brick_lines plan, int axis)
{
    struct pf_brick_axis *a = &plan->axis[axis];
    const char letter[2] = {"xyz"[axis], '\0'};
    if (axis < 2) {
        a->turn_phase = add_phase(plan, "pack_", letter);
        add_phase(plan, "unpack_", letter);
    }
    a->fft_phase = add_phase(plan, "fft_", letter);
    a->first_exchange = plan->exchanges;
    a->exchanges = a->lines->exchanges;
    for (int i = 0; i < a->exchanges; i++) {
        char name[PF_BRICK_NAME - 10]; /* with "exchange_" in front */
        snprintf(name, sizeof name, "%s_%s", letter, pencilfft_line_exchange_name(a->lines, i));
        memcpy(plan->exchange[plan->exchanges++], name, sizeof name);
        add_phase(plan, "pack_", name);
        add_phase(plan, "exchange_", name);
        add_phase(plan, "unpack_", name);
    }
}

static void name_all(pencilfft_brick_lines plan)
{
    for (int axis = 2; axis >= 0; axis--)
        if (plan->axis[axis].lines)
            name_axis(plan, axis);
    add_phase(plan, "total", "");
}

/* ---- create and destroy ---------------------------------------------------------------------------------------------- */

static int make(void *made, const void *desc)
{
    pencilfft_brick_lines plan = made;
    for (int axis = 0; axis < 3; axis++)
        plan->axis[axis].group = MPI_COMM_NULL;
    int status = pf_agree(take(plan, desc), plan->all);
    if (!status)
        status = make_axes(plan, desc);
    if (!status)
        status = pf_agree(make_buffers(plan), plan->all);
    if (!status)
        name_all(plan);
    return status;
}

static int release(void *made)
{
    pencilfft_brick_lines plan = made;
    int status = PENCILFFT_OK;
    for (int axis = 2; axis >= 0; axis--) {
        int ended = pencilfft_line_destroy(plan->axis[axis].lines);
        if (!ended)
            ended = pf_group_leave(plan->communicators, &plan->axis[axis].group);
        status = status ? status : ended;
    }
    free(plan->raw[0]);
    free(plan->raw[1]);
    return status;
}

static const struct pf_kind kind = {
    .create = "pencilfft_brick_lines_create",
    .destroy = "pencilfft_brick_lines_destroy",
    .init = "pencilfft_brick_lines_desc_init",
    .defaults = &defaults,
    .desc_bytes = sizeof defaults,
    .bytes = sizeof(struct pencilfft_brick_lines_s),
    .make = make,
    .release = release,
};

int pencilfft_brick_lines_create(const pencilfft_brick_lines_desc *desc, MPI_Comm comm, pencilfft_brick_lines *plan)
{
    void *made;
    int status = pf_handle_create(&kind, plan && desc, desc, comm, &made);
    if (plan)
        *plan = made;
    return status;
}

int pencilfft_brick_lines_destroy(pencilfft_brick_lines plan)
{
    return pf_handle_destroy(&kind, plan);
}
