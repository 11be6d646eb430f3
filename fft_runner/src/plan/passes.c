/* The passes of a transform.
 * Idea:  an axis is transformed in one pass, and the exchanges of the decomposition lie between passes. An exchange over
 *        groups of one moves nothing, so it is omitted. z is transformed together with the next axis that is whole in the
 *        same array, plane by plane. A backward transform is the forward one from its end. So for pencils there is
 *            RxC   z | row | y | column | x        1xC   z y | column | x        Rx1   z x | row | y        1x1   z y | x
 *        and for slabs what pencils have on 1xC. What a pass reads or writes beside an exchange are its messages.
 *        Rows lie along z in the messages. Where the last array has the axis fastest that the pass before the last transforms
 *        beside z (stride1 on Rx1), they lie along that one: then the last pass has it fastest on both sides, as it has z in the
 *        natural layout, and the pass before writes whole lines.
 * Cost:  one read and one write of the array a pass. */
#include "plan/make.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"

enum { X, Y, Z };

/* ---- which passes --------------------------------------------------------------------------------------------------- */

/* Is an axis undivided in an array of the route? */
static bool is_whole(const struct pencilfft_plan_s *plan, const struct pf_route *route, int array, int axis)
{
    int over = route->decomposition->array[array].over[axis];
    return over == PF_WHOLE || plan->geometry.grid[over] == 1;
}

static void add(struct pf_route *route, int array, bool z, int u, bool *done)
{
    route->form[route->passes++] = (struct pf_pass_form){.array = array, .z = z, .u = u, .exchange = PF_NO_EXCHANGE};
    if (z)
        done[Z] = true;
    if (u != PF_NO_AXIS)
        done[u] = true;
}

/* The next axis to come that may be transformed together with z. */
static int beside_z(const struct pencilfft_plan_s *plan, const struct pf_route *route, int array, const bool *done)
{
    for (int i = array; i <= plan->exchanges; i++)
        for (const char *at = route->decomposition->array[i].axes; *at; at++)
            if (*at != 'z' && !done[*at - 'x'] && is_whole(plan, route, array, *at - 'x'))
                return *at - 'x';
    return PF_NO_AXIS;
}

/* From array `first` to array `last` nothing moves. */
static void add_passes(const struct pencilfft_plan_s *plan, struct pf_route *route, int first, int last, bool *done)
{
    int before = route->passes;
    for (int i = first; i <= last; i++)
        for (const char *at = route->decomposition->array[i].axes; *at; at++)
            if (*at == 'z')
                add(route, first, true, beside_z(plan, route, first, done), done);
            else if (!done[*at - 'x'])
                add(route, first, false, *at - 'x', done);
    if (route->passes == before)
        add(route, first, false, PF_NO_AXIS, done);
}

/* The axis that is fastest in the messages behind a pass. */
static int nearest_behind(const struct pencilfft_plan_s *plan, const struct pf_route *route, int i)
{
    struct pf_geometry g = plan->geometry;
    g.decomposition = route->decomposition;
    const struct pf_pass_form *form = &route->form[i];
    int nearest = pf_nearest_axis(&g, plan->exchanges);
    return i == route->passes - 2 && form[0].u == nearest && !form[1].z && form[1].u != PF_NO_AXIS ? nearest : Z;
}

void pf_passes_choose(const struct pencilfft_plan_s *plan, struct pf_route *route)
{
    bool done[3] = {false};
    route->passes = 0;
    for (int first = 0, last; first <= plan->exchanges; first = last + 1) {
        last = first;
        while (last < plan->exchanges && plan->p[route->exchange[last]] == 1)
            last++;
        add_passes(plan, route, first, last, done);
        if (last < plan->exchanges)
            route->form[route->passes - 1].exchange = last;
    }
    for (int at = 0; at < plan->exchanges; at++)
        route->nearest[at] = Z;
    for (int i = 0; i < route->passes; i++)
        if (route->form[i].exchange != PF_NO_EXCHANGE)
            route->nearest[route->form[i].exchange] = nearest_behind(plan, route, i);
}

/* ---- what they read and write --------------------------------------------------------------------------------------- */

/* A pass of a route, or of all of them, in one direction; i counts from the first that is run. */
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
    *side = (struct pf_side){.element_bytes = element_bytes, .copied = copied};
    if (!(side->piece = calloc((size_t)n, sizeof *side->piece)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the parts of %d messages", n);
    return PENCILFFT_OK;
}

/* An array of the caller: what forward takes or gives. */
static int array_side(const struct place *at, bool input, int buffer, struct pf_side *side)
{
    const struct pencilfft_plan_s *plan = at->plan;
    int array = input ? PENCILFFT_INPUT : plan->exchanges, parts = pf_parts_of(plan, array);
    int status = side_make(side, parts, input ? plan->input_bytes : plan->element_bytes, -1);
    for (int i = 0; i < parts && !status; i++) {
        pencilfft_part part = pf_part_of(plan, array, plan->rank, i);
        if (parts == 1 || plan->routes == 1 || is_of(at, i))
            side->piece[side->n++] = (struct pf_piece){.buffer = buffer,
                                                       .box = part.box,
                                                       .first = part.first_field,
                                                       .fields = part.fields,
                                                       .start = part.start,
                                                       .field = part.field_stride};
    }
    return status;
}

/* What lies in a work buffer between two passes without an exchange. */
static int dense_side(const struct place *at, const pencilfft_box *box, int buffer, struct pf_side *side)
{
    int status = side_make(side, 1, at->plan->element_bytes, -1);
    if (!status)
        side->piece[side->n++] =
            (struct pf_piece){.buffer = buffer, .box = *box, .fields = at->plan->fields, .field = pf_box_elements(box)};
    return status;
}

/* Messages of all lanes of the pass, lane by lane. */
static int message_side(const struct place *at, bool sent, int j, struct pf_side *side)
{
    const struct pencilfft_plan_s *plan = at->plan;
    int n = 0;
    for (int l = 0; l < plan->lanes; l++) {
        const struct pf_lane *lane = &plan->lane[l];
        int e = plan->sequence[at->backward].joint[lane->route][j].exchange;
        n += is_of(at, lane->route) ? pf_transfer_pieces(&lane->transfer[at->backward][e], sent) : 0;
    }
    int number = plan->route[at->route].exchange[plan->sequence[at->backward].joint[at->route][j].exchange];
    const struct pf_exchange_phases *phases = &plan->phases.of[number];
    int status = side_make(side, n, plan->element_bytes, sent ? phases->pack : phases->unpack);
    for (int l = 0; l < plan->lanes && !status; l++) {
        const struct pf_lane *lane = &plan->lane[l];
        const struct pf_joint *joint = &plan->sequence[at->backward].joint[lane->route][j];
        const struct pf_transfer *t = &lane->transfer[at->backward][joint->exchange];
        for (int i = 0; is_of(at, lane->route) && i < pf_transfer_pieces(t, sent); i++)
            side->piece[side->n++] = pf_transfer_piece(lane, t, joint, sent, i);
    }
    return status;
}

/* What a pass writes into the joint j behind it, or reads from the one before it. */
static int joint_side(const struct place *at, const pencilfft_box *box, int j, bool writes, struct pf_side *side)
{
    const struct pf_joint *joint = &at->plan->sequence[at->backward].joint[at->route][j];
    return joint->exchange < 0 ? dense_side(at, box, joint->from, side) : message_side(at, writes, j, side);
}

static int make_sides(const struct place *at, struct pf_pass *pass)
{
    int last = at->plan->sequence[at->backward].n - 1;
    int status = at->i == 0 ? array_side(at, !at->backward, PF_IN, &pass->in)
                            : joint_side(at, &pass->box, at->i - 1, false, &pass->in);
    if (status)
        return status;
    return at->i == last ? array_side(at, at->backward, PF_OUT, &pass->out)
                         : joint_side(at, &pass->box, at->i, true, &pass->out);
}

/* ---- the passes ----------------------------------------------------------------------------------------------------- */

static struct pf_lines lines_along(const struct pencilfft_plan_s *plan, int backward, int axis, int64_t n)
{
    return (struct pf_lines){
        .fftw = plan->precision->fftw,
        .line = plan->transform.line[axis],
        .backward = backward,
        .flags = plan->rigor->flag,
        .n = n,
        .complex_elements = plan->transform.line[axis].kind == PF_R2R && !plan->transform.real_output,
        .phase = plan->phases.fft[axis],
    };
}

/* Stored in x y z order, whatever the layout of the caller's arrays. */
static pencilfft_box dense_box(pencilfft_box box)
{
    box.stride[Z] = 1;
    box.stride[Y] = box.extent[Z];
    box.stride[X] = box.extent[Z] * box.extent[Y];
    return box;
}

/* The axis of the rows of the last pass of a forward transform: that of the messages beside it, unless they are boxes. */
static int along_of(const struct pencilfft_plan_s *plan, const struct pf_route *route, const struct pf_pass_form *form)
{
    int i = (int)(form - route->form), at = i > 0 && i == route->passes - 1 ? form[-1].exchange : PF_NO_EXCHANGE;
    return at >= 0 && plan->chosen[route->exchange[at]]->takes == PF_MESSAGES ? route->nearest[at] : Z;
}

static void set_pass(const struct place *at, struct pf_pass *pass)
{
    pencilfft_plan plan = at->plan;
    const struct pf_route *route = &plan->route[at->route];
    const struct pf_pass_form *form = &route->form[at->backward ? route->passes - 1 - at->i : at->i];
    const pencilfft_box *box = &route->mine[form->array];
    int u = form->u == X ? X : Y, along = along_of(plan, route, form);
    *pass = (struct pf_pass){
        .box = dense_box(*box),
        .outer = X + Y + Z - u - along,
        .inner = u,
        .along = along,
        .backward = at->backward,
        .z = form->z && plan->transform.line[Z].kind != PF_SKIP,
        .u = form->u != PF_NO_AXIS && plan->transform.line[u].kind != PF_SKIP,
        .input_nz = form->z ? plan->transform.input_nz : box->extent[along],
        .fields = plan->fields,
        .threads = plan->threads,
    };
    pass->z_lines = lines_along(plan, at->backward, Z, pass->input_nz);
    pass->u_lines = lines_along(plan, at->backward, u, pass->box.extent[u]);
}

bool pf_pass_is_shared(const struct pencilfft_plan_s *plan, int backward, int i)
{
    return plan->routes > 1 && i == (backward ? plan->sequence[backward].n - 1 : 0);
}

bool pf_pass_runs_by_lanes(const struct pencilfft_plan_s *plan, int backward, int i)
{
    const struct pf_route *route = &plan->route[0];
    int array = route->form[backward ? route->passes - 1 - i : i].array;
    return !pf_pass_is_shared(plan, backward, i) && pf_lane_runs(plan, &plan->sequence[backward].pass[0][i], array);
}

/* Ranges of the lanes of a pass, or all of it. */
static int plan_pass(const struct place *at, struct pf_pass *pass, char *const buffer[PF_BUFFERS])
{
    const struct pencilfft_plan_s *plan = at->plan;
    struct pf_range range[PF_MAX_CHUNKS] = {pf_pass_all(pass)};
    int ranges = 0;
    if (!pf_pass_runs_by_lanes(plan, at->backward, at->i))
        return pf_pass_plan(pass, buffer, range, 1);
    for (int l = 0; l < plan->lanes; l++)
        if (plan->lane[l].route == at->route)
            range[ranges++] = pf_lane_range(plan, &plan->lane[l], pass);
    return pf_pass_plan(pass, buffer, range, ranges);
}

int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out)
{
    int status = PENCILFFT_OK;
    char *buffer[PF_BUFFERS];
    pf_buffers_list(plan, backward, in, out, buffer);
    for (int r = 0; r < plan->routes; r++)
        for (int i = 0; i < plan->route[r].passes && !status; i++) {
            struct pf_pass *pass = &plan->sequence[backward].pass[r][i];
            struct place at = {plan, backward, r, i, pf_pass_is_shared(plan, backward, i)};
            if (at.shared && r > 0)
                continue;
            set_pass(&at, pass);
            if (!(status = make_sides(&at, pass)))
                status = plan_pass(&at, pass, buffer);
        }
    return status;
}
