/* The way of the data through a transform.
 * Idea:  an axis is transformed in one pass, and the exchanges of the decomposition lie between passes. An exchange over
 *        groups of one moves nothing, so it is omitted. z is transformed together with the next axis that is whole in the
 *        same array, plane by plane. A backward route is the forward one from its end. So for pencils there is
 *            RxC   z | row | y | column | x        1xC   z y | column | x        Rx1   z x | row | y        1x1   z y | x
 *        A pass writes straight into the messages that leave and reads straight from those that arrived; what a rank
 *        keeps it writes to where it will be read, and no message to itself is sent. A buffer is free again when the
 *        pass after has read it, so two work buffers do for one exchange, and with two the output serves as third.
 *        An exchange that is tied to its buffers, or still sends while the pass after it runs, keeps the buffers it sends
 *        from to itself; one that has memory of its own is written to and read from there.
 *        in and out may be the same: in is read before out is written, also where passes overlap, for an exchange makes
 *        all slices before it uses the first.
 * Cost:  one read and one write of the array a pass, and the exchanges. */
#include "plan/route.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/plan.h"

enum { X, Y, Z };
enum { NO_AXIS = -1, NO_EXCHANGE = -1 };

/* ---- which passes --------------------------------------------------------------------------------------------------- */

/* Is an axis undivided in an array? */
static bool is_whole(const struct pencilfft_plan_s *plan, int array, int axis)
{
    int over = plan->geometry.decomposition->array[array].over[axis];
    return over == PF_WHOLE || plan->geometry.grid[over] == 1;
}

static void add(struct pf_form *form, int array, bool z, int u, bool *done)
{
    form->pass[form->n++] = (struct pf_pass_form){.array = array, .z = z, .u = u, .exchange = NO_EXCHANGE};
    if (z)
        done[Z] = true;
    if (u != NO_AXIS)
        done[u] = true;
}

/* The next axis to come that may be transformed together with z. */
static int beside_z(const struct pencilfft_plan_s *plan, int array, const bool *done)
{
    for (int i = array; i <= plan->exchanges; i++)
        for (const char *at = plan->geometry.decomposition->array[i].axes; *at; at++)
            if (*at != 'z' && !done[*at - 'x'] && is_whole(plan, array, *at - 'x'))
                return *at - 'x';
    return NO_AXIS;
}

/* From array `first` to array `last` nothing moves. */
static void add_passes(const struct pencilfft_plan_s *plan, int first, int last, struct pf_form *form, bool *done)
{
    int before = form->n;
    for (int i = first; i <= last; i++)
        for (const char *at = plan->geometry.decomposition->array[i].axes; *at; at++)
            if (*at == 'z')
                add(form, first, true, beside_z(plan, first, done), done);
            else if (!done[*at - 'x'])
                add(form, first, false, *at - 'x', done);
    if (form->n == before)
        add(form, first, false, NO_AXIS, done);
}

static void make_form(const struct pencilfft_plan_s *plan, struct pf_form *form)
{
    bool done[3] = {false};
    form->n = 0;
    for (int first = 0, last; first <= plan->exchanges; first = last + 1) {
        last = first;
        while (last < plan->exchanges && plan->p[last] == 1)
            last++;
        add_passes(plan, first, last, form, done);
        if (last < plan->exchanges)
            form->pass[form->n - 1].exchange = last;
    }
}

/* ---- joints ----------------------------------------------------------------------------------------------------------- */

/* Runs on the buffers it was connected with, and on no others. */
static bool tied_to_buffers(const struct pf_exchange *exchange)
{
    return exchange->connect != NULL && exchange->takes == PF_MESSAGES;
}

/* Still sends from the plan's buffers while the pass after it runs. */
static bool sends_on(const struct pf_exchange *exchange)
{
    return exchange->overlaps && !exchange->memory;
}

/* The first work buffer that is none of these. */
static int other_work(int a, int b, int c)
{
    int work = PF_WORK;
    while (work == a || work == b || work == c)
        work++;
    return work;
}

/* What arrived before is read while this is written, and may still be sent. */
static struct pf_link link_behind(const struct pencilfft_plan_s *plan, int e, const struct pf_link *before)
{
    const struct pf_exchange *exchange = plan->chosen[e];
    int read = before ? before->to : PF_IN;
    int sent = before && before->exchange >= 0 && sends_on(plan->chosen[before->exchange]) ? before->from : PF_IN;
    if (exchange->memory)
        return (struct pf_link){e, PF_MEMORY + e, PF_MEMORY + e};
    bool own = !before || tied_to_buffers(exchange) || sends_on(exchange);
    int from = own ? other_work(read, sent, PF_IN) : PF_OUT;
    return (struct pf_link){e, from, other_work(read, sent, from)};
}

void pf_route_links(pencilfft_plan plan, int way)
{
    struct pf_route *route = &plan->route[way];
    struct pf_form *form = &route->form;
    make_form(plan, form);
    route->n = form->n;
    for (int i = 0; i < route->n - 1; i++) {
        int e = form->pass[way ? route->n - 2 - i : i].exchange;
        const struct pf_link *before = i > 0 ? &route->link[i - 1] : NULL;
        route->link[i] = e >= 0 ? link_behind(plan, e, before) : (struct pf_link){NO_EXCHANGE, 0, 0};
        if (e < 0)
            route->link[i].from = route->link[i].to = other_work(before ? before->to : PF_IN, PF_IN, PF_IN);
    }
}

/* ---- sides ------------------------------------------------------------------------------------------------------ */

static int side_make(struct pf_side *side, int n, size_t element_bytes, int moved)
{
    *side = (struct pf_side){.n = n, .element_bytes = element_bytes, .moved = moved};
    if (!(side->piece = calloc((size_t)n, sizeof *side->piece)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the parts of %d messages", n);
    return PENCILFFT_OK;
}

static int array_side(struct pf_side *side, const pencilfft_box *box, int buffer, size_t bytes, int moved)
{
    int status = side_make(side, 1, bytes, moved);
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

static int sent_side(struct pf_side *side, const struct pf_move *m, const struct pf_link *link, int moved)
{
    const struct pf_transpose *t = &m->transpose;
    int n = t->p * m->sent.list.slices, status = side_make(side, n, t->element_bytes, moved);
    for (int i = 0; i < n && !status; i++)
        side->piece[i] = i % t->p == t->me && !m->exchange->moves_self ? message_piece(&m->received, i, link->to)
                                                                       : message_piece(&m->sent, i, link->from);
    return status;
}

static int received_side(struct pf_side *side, const struct pf_move *m, const struct pf_link *link, int moved)
{
    const struct pf_transpose *t = &m->transpose;
    int n = t->p * m->received.list.slices, status = side_make(side, n, t->element_bytes, moved);
    for (int i = 0; i < n && !status; i++)
        side->piece[i] = message_piece(&m->received, i, link->to);
    return status;
}

/* What a pass writes into the link behind it, or reads from the one before it. */
static int link_side(pencilfft_plan plan, int way, const struct pf_link *link, const pencilfft_box *box, bool writes,
                     struct pf_side *side)
{
    size_t bytes = plan->element_bytes;
    if (link->exchange < 0)
        return array_side(side, box, link->from, bytes, -1);
    const struct pf_move *m = &plan->moves[way][link->exchange];
    const struct pf_exchange_phases *phases = &plan->phases.of[link->exchange];
    int moved = writes ? phases->pack : phases->unpack, me = m->transpose.me;
    if (m->exchange->takes == PF_BOXES)
        return writes ? array_side(side, &m->transpose.from[me], link->from, bytes, moved)
                      : array_side(side, &m->transpose.to[me], link->to, bytes, moved);
    return writes ? sent_side(side, m, link, moved) : received_side(side, m, link, moved);
}

static int make_sides(pencilfft_plan plan, int way, int i)
{
    struct pf_route *route = &plan->route[way];
    struct pf_pass *pass = &route->pass[i];
    const pencilfft_box *first = way ? &plan->output : &plan->input, *last = way ? &plan->input : &plan->output;
    size_t first_bytes = way ? plan->element_bytes : plan->input_bytes;
    size_t last_bytes = way ? plan->input_bytes : plan->element_bytes;
    int status = i == 0 ? array_side(&pass->in, first, PF_IN, first_bytes, -1)
                        : link_side(plan, way, &route->link[i - 1], &pass->box, false, &pass->in);
    if (status)
        return status;
    return i == route->n - 1 ? array_side(&pass->out, last, PF_OUT, last_bytes, -1)
                             : link_side(plan, way, &route->link[i], &pass->box, true, &pass->out);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static struct pf_lines lines_along(const struct pencilfft_plan_s *plan, int way, int axis, int64_t n)
{
    return (struct pf_lines){
        .fftw = plan->precision->fftw,
        .line = plan->transform.line[axis],
        .backward = way,
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

static void set_pass(pencilfft_plan plan, int way, int i)
{
    struct pf_pass *pass = &plan->route[way].pass[i];
    const struct pf_form *form = &plan->route[way].form;
    const struct pf_pass_form *f = &form->pass[way ? form->n - 1 - i : i];
    const pencilfft_box *box = &plan->mine[f->array];
    int u = f->u == X ? X : Y;
    *pass = (struct pf_pass){
        .box = dense_box(*box),
        .outer = u == X ? Y : X,
        .inner = u,
        .backward = way,
        .z = f->z && plan->transform.line[Z].kind != PF_SKIP,
        .u = f->u != NO_AXIS && plan->transform.line[u].kind != PF_SKIP,
        .input_nz = f->z ? plan->transform.input_nz : box->extent[Z],
        .fields = plan->fields,
    };
    pass->z_lines = lines_along(plan, way, Z, pass->input_nz);
    pass->u_lines = lines_along(plan, way, u, pass->box.extent[u]);
}

/* Slices of the link that a pass is run by, and along which axis; see pf_route_run(). */
static const struct pf_move *sliced_by(const struct pencilfft_plan_s *plan, int way, int pass, bool *consumes)
{
    const struct pf_route *route = &plan->route[way];
    const struct pf_move *before = pass > 0 && route->link[pass - 1].exchange >= 0
                                       ? &plan->moves[way][route->link[pass - 1].exchange]
                                       : NULL;
    const struct pf_move *after = pass == 0 && route->n > 1 && route->link[0].exchange >= 0
                                      ? &plan->moves[way][route->link[0].exchange]
                                      : NULL;
    *consumes = before != NULL;
    return before && before->exchange->overlaps ? before : after && after->exchange->overlaps ? after : NULL;
}

static int plan_pass(pencilfft_plan plan, int way, int i, char *const buffer[PF_BUFFERS])
{
    bool consumes;
    const struct pf_move *m = sliced_by(plan, way, i, &consumes);
    struct pf_pass *pass = &plan->route[way].pass[i];
    return m ? pf_pass_plan(pass, buffer, m->sent.list.slices, m->transpose.slice_axis) : pf_pass_plan(pass, buffer, 1, Z);
}

static void buffers_of(const struct pencilfft_plan_s *plan, int way, const void *in, void *out, char *buffer[PF_BUFFERS])
{
    buffer[PF_IN] = (char *)in;
    buffer[PF_OUT] = out;
    for (int i = PF_WORK; i < PF_BUFFERS; i++)
        buffer[i] = pf_plan_buffer(plan, way, i);
}

int pf_route_passes(pencilfft_plan plan, int way, void *in, void *out)
{
    int status = PENCILFFT_OK;
    char *buffer[PF_BUFFERS];
    buffers_of(plan, way, in, out, buffer);
    for (int i = 0; i < plan->route[way].n && !status; i++) {
        set_pass(plan, way, i);
        if (!(status = make_sides(plan, way, i)))
            status = plan_pass(plan, way, i, buffer);
    }
    return status;
}

void pf_route_release(struct pf_route *route)
{
    for (int i = 0; i < PF_MAX_PASSES; i++)
        pf_pass_release(&route->pass[i]);
    *route = (struct pf_route){.n = 0};
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

struct transit {
    pencilfft_plan plan;
    int way;
    int link;
    struct pf_pass_run run;
    int status;
};

/* Before the pass in front of a link writes what that sends: into buffers of the plan it may, for it has read them. */
static int wait_to_write(const struct transit *t, int link)
{
    const struct pf_route *route = &t->plan->route[t->way];
    if (link == route->n - 1 || route->link[link].exchange < 0)
        return PENCILFFT_OK;
    const struct pf_move *m = &t->plan->moves[t->way][route->link[link].exchange];
    if (!m->exchange->wait_to_write)
        return PENCILFFT_OK;
    int status = m->exchange->wait_to_write(m->state);
    pf_clock_lap(&t->plan->clock, t->plan->phases.of[route->link[link].exchange].exchange);
    return status;
}

static void lap_exchange(const struct transit *t)
{
    const struct pf_link *link = &t->plan->route[t->way].link[t->link];
    pf_clock_lap(&t->plan->clock, t->plan->phases.of[link->exchange].exchange);
}

static void run_slice(struct transit *t, int pass, int slice, bool last_does_all)
{
    const struct pf_link *link = &t->plan->route[t->way].link[t->link];
    const struct pf_move *m = &t->plan->moves[t->way][link->exchange];
    struct pf_pass *p = &t->plan->route[t->way].pass[pass];
    struct pf_range range = pf_pass_range(p, m->transpose.slice_axis, m->sent.list.slices, slice, last_does_all);
    lap_exchange(t);
    if (!t->status)
        t->status = pf_pass_run(p, &t->run, &range);
}

/* The pass before the first link makes its slices; the passes after the links use theirs. A pass between two links
 * has made all there is when the second begins. */
static void produce(void *local, int slice)
{
    struct transit *t = local;
    if (t->link == 0)
        run_slice(t, 0, slice, false);
}

static void consume(void *local, int slice)
{
    struct transit *t = local;
    lap_exchange(t);
    if (slice == 0 && !t->status)
        t->status = wait_to_write(t, t->link + 1);
    run_slice(t, t->link + 1, slice, true);
}

static int run_whole(struct transit *t, int pass)
{
    struct pf_pass *p = &t->plan->route[t->way].pass[pass];
    struct pf_range range = pf_pass_range(p, Z, 1, 0, true);
    return pf_pass_run(p, &t->run, &range);
}

static int run_link(struct transit *t)
{
    const struct pf_link *link = &t->plan->route[t->way].link[t->link];
    struct pf_run run = {.all = t->plan->all, .produce = produce, .consume = consume, .local = t};
    if (link->exchange < 0)
        return PENCILFFT_OK;
    int status = pf_move_run(t->plan, t->way, link->exchange, &run, t->run.buffer[link->from], t->run.buffer[link->to]);
    return status ? status : t->status;
}

static bool overlaps(const struct pencilfft_plan_s *plan, int way, int link)
{
    const struct pf_route *route = &plan->route[way];
    if (link < 0 || link >= route->n - 1 || route->link[link].exchange < 0)
        return false;
    return plan->moves[way][route->link[link].exchange].exchange->overlaps;
}

int pf_route_run(pencilfft_plan plan, int way, const void *in, void *out)
{
    int status = PENCILFFT_OK;
    struct transit t = {.plan = plan, .way = way, .run = {.clock = &plan->clock}};
    buffers_of(plan, way, in, out, t.run.buffer);
    for (int i = 0; i < plan->route[way].n && !status; i++) {
        if (!overlaps(plan, way, i - 1) && !(i == 0 && overlaps(plan, way, 0)) && !(status = wait_to_write(&t, i)))
            status = run_whole(&t, i);
        t.link = i;
        if (!status && i < plan->route[way].n - 1)
            status = run_link(&t);
    }
    return status;
}
