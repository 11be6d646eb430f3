/* The passes of a transform.
 * Idea:  an axis is transformed in one pass, and the exchanges of the decomposition lie between passes. An exchange over
 *        groups of one moves nothing, so it is omitted. z is transformed together with the next axis that is whole in the
 *        same array, plane by plane. A backward transform is the forward one from its end. So for pencils there is
 *            RxC   z | row | y | column | x        1xC   z y | column | x        Rx1   z x | row | y        1x1   z y | x
 *        and for slabs what pencils have on 1xC. What a pass reads or writes beside an exchange are its messages.
 * Cost:  one read and one write of the array a pass. */
#include "plan/make.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"

enum { X, Y, Z };

/* ---- which passes --------------------------------------------------------------------------------------------------- */

/* Is an axis undivided in an array? */
static bool is_whole(const struct pencilfft_plan_s *plan, int array, int axis)
{
    int over = plan->geometry.decomposition->array[array].over[axis];
    return over == PF_WHOLE || plan->geometry.grid[over] == 1;
}

static void add(pencilfft_plan plan, int array, bool z, int u, bool *done)
{
    plan->form[plan->passes++] = (struct pf_pass_form){.array = array, .z = z, .u = u, .exchange = PF_NO_EXCHANGE};
    if (z)
        done[Z] = true;
    if (u != PF_NO_AXIS)
        done[u] = true;
}

/* The next axis to come that may be transformed together with z. */
static int beside_z(const struct pencilfft_plan_s *plan, int array, const bool *done)
{
    for (int i = array; i <= plan->exchanges; i++)
        for (const char *at = plan->geometry.decomposition->array[i].axes; *at; at++)
            if (*at != 'z' && !done[*at - 'x'] && is_whole(plan, array, *at - 'x'))
                return *at - 'x';
    return PF_NO_AXIS;
}

/* From array `first` to array `last` nothing moves. */
static void add_passes(pencilfft_plan plan, int first, int last, bool *done)
{
    int before = plan->passes;
    for (int i = first; i <= last; i++)
        for (const char *at = plan->geometry.decomposition->array[i].axes; *at; at++)
            if (*at == 'z')
                add(plan, first, true, beside_z(plan, first, done), done);
            else if (!done[*at - 'x'])
                add(plan, first, false, *at - 'x', done);
    if (plan->passes == before)
        add(plan, first, false, PF_NO_AXIS, done);
}

void pf_passes_choose(pencilfft_plan plan)
{
    bool done[3] = {false};
    plan->passes = 0;
    for (int first = 0, last; first <= plan->exchanges; first = last + 1) {
        last = first;
        while (last < plan->exchanges && plan->p[last] == 1)
            last++;
        add_passes(plan, first, last, done);
        if (last < plan->exchanges)
            plan->form[plan->passes - 1].exchange = last;
    }
}

/* ---- what they read and write --------------------------------------------------------------------------------------- */

static int side_make(struct pf_side *side, int n, size_t element_bytes, int copied)
{
    *side = (struct pf_side){.n = n, .element_bytes = element_bytes, .copied = copied};
    if (!(side->piece = calloc((size_t)n, sizeof *side->piece)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the parts of %d messages", n);
    return PENCILFFT_OK;
}

static int array_side(struct pf_side *side, const pencilfft_box *box, int buffer, size_t bytes, int copied)
{
    int status = side_make(side, 1, bytes, copied);
    if (!status)
        side->piece[0] = (struct pf_piece){.buffer = buffer, .box = *box, .field = pf_box_elements(box)};
    return status;
}

static struct pf_piece message_piece(const struct pf_parts *parts, int i, int buffer)
{
    return (struct pf_piece){.buffer = buffer,
                             .box = parts->part[i],
                             .start = parts->list.start[i],
                             .field = pf_box_elements(&parts->part[i])};
}

static int sent_side(struct pf_side *side, const struct pf_transfer *t, const struct pf_joint *joint, int copied)
{
    const struct pf_transpose *shape = &t->transpose;
    int n = shape->p * t->sent.list.slices, status = side_make(side, n, shape->element_bytes, copied);
    for (int i = 0; i < n && !status; i++)
        side->piece[i] = i % shape->p == shape->me && !t->exchange->moves_self ? message_piece(&t->received, i, joint->to)
                                                                               : message_piece(&t->sent, i, joint->from);
    return status;
}

static int received_side(struct pf_side *side, const struct pf_transfer *t, const struct pf_joint *joint, int copied)
{
    const struct pf_transpose *shape = &t->transpose;
    int n = shape->p * t->received.list.slices, status = side_make(side, n, shape->element_bytes, copied);
    for (int i = 0; i < n && !status; i++)
        side->piece[i] = message_piece(&t->received, i, joint->to);
    return status;
}

/* What a pass writes into the joint behind it, or reads from the one before it. */
static int joint_side(pencilfft_plan plan, int backward, const struct pf_joint *joint, const pencilfft_box *box, bool writes,
                      struct pf_side *side)
{
    size_t bytes = plan->element_bytes;
    if (joint->exchange < 0)
        return array_side(side, box, joint->from, bytes, -1);
    const struct pf_transfer *t = &plan->transfer[backward][joint->exchange];
    const struct pf_exchange_phases *phases = &plan->phases.of[joint->exchange];
    int copied = writes ? phases->pack : phases->unpack, me = t->transpose.me;
    if (t->exchange->takes == PF_BOXES)
        return writes ? array_side(side, &t->transpose.from[me], joint->from, bytes, copied)
                      : array_side(side, &t->transpose.to[me], joint->to, bytes, copied);
    return writes ? sent_side(side, t, joint, copied) : received_side(side, t, joint, copied);
}

static int make_sides(pencilfft_plan plan, int backward, int i)
{
    struct pf_sequence *sequence = &plan->sequence[backward];
    struct pf_pass *pass = &sequence->pass[i];
    const pencilfft_box *first = backward ? &plan->output : &plan->input, *last = backward ? &plan->input : &plan->output;
    size_t first_bytes = backward ? plan->element_bytes : plan->input_bytes;
    size_t last_bytes = backward ? plan->input_bytes : plan->element_bytes;
    int status = i == 0 ? array_side(&pass->in, first, PF_IN, first_bytes, -1)
                        : joint_side(plan, backward, &sequence->joint[i - 1], &pass->box, false, &pass->in);
    if (status)
        return status;
    return i == sequence->n - 1 ? array_side(&pass->out, last, PF_OUT, last_bytes, -1)
                                : joint_side(plan, backward, &sequence->joint[i], &pass->box, true, &pass->out);
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

static void set_pass(pencilfft_plan plan, int backward, int i)
{
    struct pf_pass *pass = &plan->sequence[backward].pass[i];
    const struct pf_pass_form *form = &plan->form[backward ? plan->passes - 1 - i : i];
    const pencilfft_box *box = &plan->mine[form->array];
    int u = form->u == X ? X : Y;
    *pass = (struct pf_pass){
        .box = dense_box(*box),
        .outer = u == X ? Y : X,
        .inner = u,
        .backward = backward,
        .z = form->z && plan->transform.line[Z].kind != PF_SKIP,
        .u = form->u != PF_NO_AXIS && plan->transform.line[u].kind != PF_SKIP,
        .input_nz = form->z ? plan->transform.input_nz : box->extent[Z],
        .fields = plan->fields,
    };
    pass->z_lines = lines_along(plan, backward, Z, pass->input_nz);
    pass->u_lines = lines_along(plan, backward, u, pass->box.extent[u]);
}

/* The exchange by whose slices a pass is run, see steps.c; NULL: it is run whole. */
static const struct pf_transfer *sliced_by(const struct pencilfft_plan_s *plan, int backward, int pass)
{
    const struct pf_sequence *sequence = &plan->sequence[backward];
    int before = pass > 0 ? sequence->joint[pass - 1].exchange : PF_NO_EXCHANGE;
    int behind = pass == 0 && sequence->n > 1 ? sequence->joint[0].exchange : PF_NO_EXCHANGE;
    int e = before >= 0 && plan->chosen[before]->overlaps ? before : behind;
    return e >= 0 && plan->chosen[e]->overlaps ? &plan->transfer[backward][e] : NULL;
}

int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out)
{
    int status = PENCILFFT_OK;
    char *buffer[PF_BUFFERS];
    pf_buffers_list(plan, backward, in, out, buffer);
    for (int i = 0; i < plan->passes && !status; i++) {
        const struct pf_transfer *t = sliced_by(plan, backward, i);
        struct pf_pass *pass = &plan->sequence[backward].pass[i];
        set_pass(plan, backward, i);
        if (!(status = make_sides(plan, backward, i)))
            status = pf_pass_plan(pass, buffer, t ? t->sent.list.slices : 1, t ? t->transpose.slice_axis : Z);
    }
    return status;
}
