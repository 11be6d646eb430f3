/* The passes of a transform.
 * Idea:  layout/forms.c lists the passes. A pass beside an exchange reads or writes its messages, the first and the last
 *        pass the caller's arrays, and any other pass a work buffer.
 * Cost:  one read and one write of the array a pass. */
#include "passes/passes.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };
enum { ALIGNMENT = 16 }; /* that FFTW's plans depend on */

/* ---- input and output ----------------------------------------------------------------------------------------------- */

/* A pass of a route, or of all routes, in one direction; i counts in the order of the run. */
struct place {
    pencilfft_plan plan;
    int backward, route, i;
    bool shared;
};

static bool is_of(const struct place *at, int route)
{
    return at->shared || route == at->route;
}

static int side_make(struct pf_side *side, int n, size_t element_bytes, int copied)
{
    *side = (struct pf_side){.element_bytes = element_bytes, .stored_bytes = element_bytes, .copied = copied};
    if (!(side->piece = calloc((size_t)n, sizeof *side->piece)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the parts of %d messages", n);
    return PENCILFFT_OK;
}

/* An array of the caller: the input or output of a forward transform. */
static int array_side(const struct place *at, bool input, int buffer, struct pf_side *side)
{
    const struct pencilfft_plan_s *plan = at->plan;
    int array = input ? PENCILFFT_INPUT : plan->layout.exchanges, parts = pf_parts_of(plan, array);
    int status = side_make(side, parts, input ? plan->layout.input_bytes : plan->layout.element_bytes, -1);
    for (int i = 0; i < parts && !status; i++) {
        pencilfft_part part = pf_part_of(plan, array, plan->rank, i);
        if (parts == 1 || plan->layout.routes == 1 || is_of(at, i))
            side->piece[side->n++] = (struct pf_piece){.buffer = buffer,
                                                       .box = part.box,
                                                       .first = part.first_field,
                                                       .fields = part.fields,
                                                       .start = part.start,
                                                       .field = part.field_stride};
    }
    return status;
}

/* The part of a pass before or after its lines; stored in x y z order, for any layout of the caller's arrays. */
static pencilfft_box pass_box(const struct pencilfft_plan_s *plan, const struct pf_route *route,
                              const struct pf_pass_form *form, bool after)
{
    unsigned lines = (form->z ? 1U << Z : 0) | (form->u != PF_NO_AXIS ? 1U << form->u : 0);
    struct pf_geometry g = plan->layout.geometry;
    g.decomposition = route->decomposition;
    pencilfft_box box = pf_planes_box(&g, route->share.z, route->share.z_end, form->array,
                                      after ? form->done | lines : form->done, plan->rank);
    box.stride[Z] = 1;
    box.stride[Y] = box.extent[Z];
    box.stride[X] = box.extent[Z] * box.extent[Y];
    return box;
}

/* The array in a work buffer between two passes without an exchange. */
static int dense_side(const struct place *at, pencilfft_box box, int buffer, struct pf_side *side)
{
    int status = side_make(side, 1, at->plan->layout.element_bytes, -1);
    if (!status)
        side->piece[side->n++] = (struct pf_piece){.buffer = buffer,
                                                   .box = box,
                                                   .fields = at->plan->request.fields,
                                                   .field = pf_box_elements(&box)};
    return status;
}

/* Messages of all lanes of the pass, lane by lane. */
static int message_side(const struct place *at, bool sent, int j, struct pf_side *side)
{
    const struct pencilfft_plan_s *plan = at->plan;
    int n = 0;
    for (int l = 0; l < plan->layout.lanes; l++) {
        const struct pf_lane *lane = &plan->layout.lane[l];
        int e = plan->program.sequence[at->backward].joint[lane->route][j].exchange;
        n += is_of(at, lane->route) ? pf_transfer_pieces(&lane->transfer[at->backward][e], sent) : 0;
    }
    int number = plan->layout.route[at->route].exchange[plan->program.sequence[at->backward].joint[at->route][j].exchange];
    const struct pf_exchange_phases *phases = &plan->program.phases.of[number];
    int status = side_make(side, n, plan->layout.element_bytes, sent ? phases->pack : phases->unpack);
    side->stored_bytes = plan->layout.sent_bytes;
    for (int l = 0; l < plan->layout.lanes && !status; l++) {
        const struct pf_lane *lane = &plan->layout.lane[l];
        const struct pf_joint *joint = &plan->program.sequence[at->backward].joint[lane->route][j];
        const struct pf_transfer *t = &lane->transfer[at->backward][joint->exchange];
        for (int i = 0; is_of(at, lane->route) && i < pf_transfer_pieces(t, sent); i++)
            side->piece[side->n++] = pf_transfer_piece(lane, t, joint, sent, i);
    }
    return status;
}

/* Data that a pass writes into the joint j behind the pass, or reads from the joint before the pass. */
static int joint_side(const struct place *at, int j, bool writes, struct pf_side *side)
{
    const struct pf_joint *joint = &at->plan->program.sequence[at->backward].joint[at->route][j];
    const struct pf_route *route = &at->plan->layout.route[at->route];
    const struct pf_pass_form *form = &route->form[at->backward ? route->passes - 1 - at->i : at->i];
    return joint->exchange < 0 ? dense_side(at, pass_box(at->plan, route, form, writes != at->backward), joint->from, side)
                               : message_side(at, writes, j, side);
}

static int make_sides(const struct place *at, struct pf_pass *pass)
{
    int last = at->plan->program.sequence[at->backward].n - 1;
    int status = at->i == 0 ? array_side(at, !at->backward, PF_IN, &pass->in) : joint_side(at, at->i - 1, false, &pass->in);
    if (status)
        return status;
    return at->i == last ? array_side(at, at->backward, PF_OUT, &pass->out) : joint_side(at, at->i, true, &pass->out);
}

/* ---- the passes ----------------------------------------------------------------------------------------------------- */

static struct pf_modes kept_along(const struct pf_transform *t, int axis)
{
    int64_t n = t->n[axis], points = t->points[axis], modes = t->line[axis].kind == PF_R2C ? points / 2 + 1 : points;
    if (points == n)
        return (struct pf_modes){.n = t->modes[axis]};
    return (struct pf_modes){t->modes[axis], n / 2 + 1, modes - t->modes[axis], n % 2 == 0};
}

static struct pf_lines lines_along(const struct pencilfft_plan_s *plan, int backward, int axis)
{
    return (struct pf_lines){
        .fftw = plan->request.precision->fftw,
        .line = plan->layout.transform.line[axis],
        .backward = backward,
        .flags = plan->request.rigor->flag,
        .n = plan->layout.transform.points[axis],
        .kept = kept_along(&plan->layout.transform, axis),
        .complex_elements = plan->layout.transform.line[axis].kind == PF_R2R && !plan->layout.transform.real_output,
        .phase = plan->program.phases.fft[axis],
    };
}

/* The axis of the rows of the last forward pass: the axis of its messages, unless they are boxes. */
static int along_of(const struct pencilfft_plan_s *plan, const struct pf_route *route, const struct pf_pass_form *form)
{
    int i = (int)(form - route->form), at = i > 0 && i == route->passes - 1 ? form[-1].exchange : PF_NO_EXCHANGE;
    return at >= 0 && !plan->chosen.exchange[route->exchange[at]]->takes_boxes ? route->nearest[at] : Z;
}

static void set_pass(const struct place *at, struct pf_pass *pass)
{
    pencilfft_plan plan = at->plan;
    const struct pf_route *route = &plan->layout.route[at->route];
    const struct pf_pass_form *form = &route->form[at->backward ? route->passes - 1 - at->i : at->i];
    int u = form->u == X ? X : Y, along = along_of(plan, route, form);
    *pass = (struct pf_pass){
        .box = pass_box(plan, route, form, true),
        .outer = X + Y + Z - u - along,
        .inner = u,
        .along = along,
        .backward = at->backward,
        .z = form->z && plan->layout.transform.line[Z].kind != PF_SKIP,
        .u = form->u != PF_NO_AXIS && plan->layout.transform.line[u].kind != PF_SKIP,
        .fields = plan->request.fields,
        .near_fields = plan->request.interleaved && (at->i == 0 || at->i == route->passes - 1),
        .threads = plan->request.threads,
    };
    pencilfft_box before = pass_box(plan, route, form, false);
    memcpy(pass->points, before.extent, sizeof pass->points);
    pass->z_lines = lines_along(plan, at->backward, Z);
    pass->u_lines = lines_along(plan, at->backward, u);
    if (plan->layout.element_bytes % ALIGNMENT && pass->z && pass->z_lines.kept.skipped &&
        pass->z_lines.kept.n > pass->z_lines.kept.low)
        pass->u_lines.flags |= FFTW_UNALIGNED; /* the high modes in a plane */
}

bool pf_pass_is_shared(const struct pencilfft_plan_s *plan, int backward, int i)
{
    return plan->layout.routes > 1 && i == (backward ? plan->program.sequence[backward].n - 1 : 0);
}

bool pf_pass_runs_by_lanes(const struct pencilfft_plan_s *plan, int backward, int i)
{
    const struct pf_route *route = &plan->layout.route[0];
    int array = route->form[backward ? route->passes - 1 - i : i].array;
    return !pf_pass_is_shared(plan, backward, i) && pf_lane_runs(plan, &plan->program.sequence[backward].pass[0][i], array);
}

/* Ranges of the lanes of a pass, or the whole pass. */
static int plan_pass(const struct place *at, struct pf_pass *pass, char *const buffer[PF_BUFFERS])
{
    const struct pencilfft_plan_s *plan = at->plan;
    struct pf_range range[PF_MAX_CHUNKS] = {pf_pass_all(pass)};
    int ranges = 0;
    if (!pf_pass_runs_by_lanes(plan, at->backward, at->i))
        return pf_pass_plan(pass, buffer, range, 1);
    for (int l = 0; l < plan->layout.lanes; l++)
        if (plan->layout.lane[l].route == at->route)
            range[ranges++] = pf_lane_range(plan, &plan->layout.lane[l], pass);
    return pf_pass_plan(pass, buffer, range, ranges);
}

int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out)
{
    int status = PENCILFFT_OK;
    char *buffer[PF_BUFFERS];
    const struct pf_arrays arrays = pf_arrays_full(in, out);
    pf_buffers_list(plan, backward, &arrays, buffer);
    for (int r = 0; r < plan->layout.routes; r++)
        for (int i = 0; i < plan->layout.route[r].passes && !status; i++) {
            struct pf_pass *pass = &plan->program.sequence[backward].pass[r][i];
            struct place at = {plan, backward, r, i, pf_pass_is_shared(plan, backward, i)};
            if (at.shared && r > 0)
                continue;
            set_pass(&at, pass);
            if (!(status = make_sides(&at, pass)))
                status = plan_pass(&at, pass, buffer);
        }
    return status;
}
