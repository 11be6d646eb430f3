/* Running a plan: the steps of a transform, or of an exchange alone, one after the other.
 * Idea:  a walk through lists of steps, its legs. Nonblocking, it stops before the first step that would wait for messages,
 *        and goes on from there.
 * Cost:  an exchange alone is a pass for packing, a pass for unpacking, and the cost in its algorithm file. */
#include <math.h>
#include <string.h>

#include "ends/ends.h"
#include "geometry/strided_copy.h"
#include "layout/layout.h"
#include "passes/passes.h"
#include "run/inside.h"
#include "speed/threads.h"

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

static int let_work(void *plan);

static double factor_of(const struct pencilfft_plan_s *plan, int backward)
{
    double n = plan->layout.transform.scale;
    pencilfft_norm norm = plan->request.norm[backward];
    return norm == PENCILFFT_NORM_N ? 1 / n : norm == PENCILFFT_NORM_SQRT_N ? 1 / sqrt(n) : 1;
}

/* The last pass of any route. */
static bool is_last(const struct pencilfft_plan_s *plan, const struct pf_step *step)
{
    const struct pf_sequence *sequence = &plan->program.sequence[step->backward];
    bool last = false;
    for (int r = 0; r < PF_MAX_ROUTES; r++)
        last |= step->pass == &sequence->pass[r][sequence->n - 1];
    return last;
}

static int run_pass(pencilfft_plan plan, const struct pf_step *step)
{
    struct pf_pass_run *run = &plan->program.walk.run[step->backward];
    run->factor = is_last(plan, step) ? factor_of(plan, step->backward) : 1;
    run->progress = plan->program.walk.flying ? let_work : NULL;
    return pf_pass_run(step->pass, run, &step->range);
}

static char *place(pencilfft_plan plan, const struct pf_step *step, int buffer)
{
    char *start = plan->program.walk.run[step->backward].buffer[buffer];
    return start ? start + step->slot * (int64_t)plan->layout.sent_bytes : NULL;
}

/* Between an array of the caller and the messages of a lane. */
static void copy_pieces(pencilfft_plan plan, const struct pf_step *step, bool out)
{
    const struct pf_transfer *t = step->transfer;
    const struct pf_lane *lane = &plan->layout.lane[step->lane];
    const struct pf_joint joint = {.from = step->from, .to = step->to, .kept = step->kept};
    int array_buffer = out ? PF_IN : PF_OUT, after = step->backward == out; /* of the exchange, forward */
    pencilfft_part array = {.box = plan->layout.route[lane->route].mine[!after][t->number + after],
                            .fields = plan->request.fields};
    const pencilfft_box *whole = &array.box;
    char *const *buffer = plan->program.walk.run[step->backward].buffer;
    pf_part_lay(plan, &array);
    for (int i = 0; i < pf_transfer_pieces(t, out); i++) {
        struct pf_piece piece = pf_transfer_piece(lane, t, &joint, out, i);
        struct pf_copy copy = out ? pf_copy_between(&piece.box, whole, &piece.box)
                                  : pf_copy_between(&piece.box, &piece.box, whole);
        copy.fields = piece.fields;
        copy.threads = plan->request.threads;
        *(out ? &copy.from_start : &copy.to_start) += piece.first * array.field_stride;
        *(out ? &copy.from_field : &copy.to_field) = array.field_stride;
        *(out ? &copy.to_start : &copy.from_start) += piece.start;
        *(out ? &copy.to_field : &copy.from_field) = piece.field;
        pf_copy_changed(&copy, out ? plan->layout.element_bytes : plan->layout.sent_bytes,
                        out ? plan->layout.sent_bytes : plan->layout.element_bytes,
                        buffer[out ? array_buffer : piece.buffer], buffer[out ? piece.buffer : array_buffer]);
    }
}

static int pack(pencilfft_plan plan, const struct pf_step *step)
{
    copy_pieces(plan, step, true);
    pf_clock_lap(&plan->program.clock, plan->program.phases.of[step->transfer->number].pack);
    return PENCILFFT_OK;
}

static int unpack(pencilfft_plan plan, const struct pf_step *step)
{
    copy_pieces(plan, step, false);
    pf_clock_lap(&plan->program.clock, plan->program.phases.of[step->transfer->number].unpack);
    return PENCILFFT_OK;
}

static int wait_for_all(pencilfft_plan plan, const struct pf_step *step)
{
    int status = plan->request.sync->wait(plan->all);
    pf_clock_wait(&plan->program.clock, plan->program.phases.of[step->transfer->number].wait);
    return status;
}

/* A rank's own data lie among the sent data, in the order of receipt. */
static int keep_own(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_transfer *t = step->transfer;
    int me = t->transpose.me;
    int64_t bytes = (int64_t)t->transpose.element_bytes;
    char *const *buffer = plan->program.walk.run[step->backward].buffer;
    if (step->kept == PF_KEPT_BY_ARRAYS && buffer[step->to] != buffer[PF_IN])
        return PENCILFFT_OK;
    pf_threads_copy(plan->request.threads, place(plan, step, step->to) + t->received.list.start[me] * bytes,
                    place(plan, step, step->from) + t->sent.list.start[me] * bytes, t->sent.list.elements[me] * bytes);
    pf_clock_lap(&plan->program.clock, plan->program.phases.of[t->number].pack);
    return PENCILFFT_OK;
}

static void take_off(pencilfft_plan plan, struct pf_transfer *t)
{
    t->started = plan->program.clock.last;
    if (t->exchange->progress)
        plan->program.flying[plan->program.walk.flying++] = t;
}

static void land(pencilfft_plan plan, const struct pf_transfer *t)
{
    int left = 0;
    for (int i = 0; i < plan->program.walk.flying; i++)
        if (plan->program.flying[i] != t)
            plan->program.flying[left++] = plan->program.flying[i];
    plan->program.walk.flying = left;
    pf_clock_beside(&plan->program.clock, plan->program.phases.of[t->number].hidden, t->started);
}

static int run_exchange(pencilfft_plan plan, const struct pf_step *step)
{
    struct pf_transfer *t = step->transfer;
    void *from = place(plan, step, step->from), *to = place(plan, step, step->to);
    if (step->kind == PF_FINISH && t->transpose.beside)
        land(plan, t);
    int status = step->kind == PF_BEGIN    ? t->exchange->begin(t->state, to)
                 : step->kind == PF_START  ? t->exchange->start(t->state, from, to)
                 : step->kind == PF_FINISH ? t->exchange->finish(t->state)
                                           : t->exchange->end(t->state);
    pf_clock_lap(&plan->program.clock, plan->program.phases.of[t->number].exchange);
    if (step->kind == PF_START && t->transpose.beside)
        take_off(plan, t);
    return status;
}

static int let_work(void *of)
{
    pencilfft_plan plan = of;
    int status = PENCILFFT_OK, done;
    for (int i = 0; i < plan->program.walk.flying && !status; i++) {
        const struct pf_transfer *t = plan->program.flying[i];
        status = t->exchange->progress(t->state, &done);
        pf_clock_lap(&plan->program.clock, plan->program.phases.of[t->number].exchange);
    }
    return status;
}

/* The arrays of the direction, in the leg at hand. */
static const struct pf_leg *leg_of(const struct pencilfft_plan_s *plan)
{
    return &plan->program.walk.of[plan->program.walk.leg];
}

static int run_whole(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_leg *leg = leg_of(plan);
    double factor = factor_of(plan, step->backward);
    pf_whole_run(plan, step->backward, leg->of[step->backward].in, leg->of[step->backward].out);
    if (factor != 1) {
        pencilfft_part part = pf_part_of(plan, step->backward ? PENCILFFT_INPUT : plan->layout.exchanges, plan->rank, 0);
        pf_multiply(part.box.extent, part.box.stride, leg->of[step->backward].out,
                    step->backward ? plan->layout.input_bytes : plan->layout.element_bytes,
                    plan->request.precision->fftw->real_bytes, factor);
        pf_clock_lap(&plan->program.clock, plan->program.phases.fft[2]);
    }
    return PENCILFFT_OK;
}

static int run_remap(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_leg *leg = leg_of(plan);
    return pf_end_step(plan, step, leg->of[step->backward].in, leg->of[step->backward].out);
}

static int (*const run_step[])(pencilfft_plan plan, const struct pf_step *step) = {
    [PF_PASS] = run_pass,          [PF_PACK] = pack,
    [PF_UNPACK] = unpack,          [PF_SYNC] = wait_for_all,
    [PF_BEGIN] = run_exchange,     [PF_OWN] = keep_own,
    [PF_START] = run_exchange,     [PF_FINISH] = run_exchange,
    [PF_END] = run_exchange,       [PF_ALL_PASSES] = run_whole,
    [PF_REMAP_PACK] = run_remap,   [PF_REMAP_SYNC] = run_remap,
    [PF_REMAP_START] = run_remap,  [PF_REMAP_FINISH] = run_remap,
    [PF_REMAP_UNPACK] = run_remap,
};

/* ---- legs ----------------------------------------------------------------------------------------------------------- */

#define ONE_REMAP(e, b)                                                                                         \
    {                                                                                                           \
        {.kind = PF_REMAP_PACK, .end = e, .backward = b},   {.kind = PF_REMAP_SYNC, .end = e, .backward = b},   \
        {.kind = PF_REMAP_START, .end = e, .backward = b},  {.kind = PF_REMAP_FINISH, .end = e, .backward = b}, \
        {.kind = PF_REMAP_UNPACK, .end = e, .backward = b},                                                     \
    }
enum { REMAP_STEPS = 5 };
static const struct pf_step remap_steps[PF_ENDS][PF_DIRECTIONS][REMAP_STEPS] = {{ONE_REMAP(0, 0), ONE_REMAP(0, 1)},
                                                                                {ONE_REMAP(1, 0), ONE_REMAP(1, 1)}};
static const struct pf_step whole_step[PF_DIRECTIONS] = {{.kind = PF_ALL_PASSES}, {.kind = PF_ALL_PASSES, .backward = 1}};

static struct pf_leg *add_leg(pencilfft_plan plan, const struct pf_step *step, int n)
{
    struct pf_leg *leg = &plan->program.walk.of[plan->program.walk.legs++];
    *leg = (struct pf_leg){.step = step, .n = n};
    return leg;
}

static void add_one(pencilfft_plan plan, const struct pf_step *step, int n, int backward, const struct pf_arrays *arrays)
{
    add_leg(plan, step, n)->of[backward] = *arrays;
}

static void add_remap(pencilfft_plan plan, int end, int backward, const void *in, void *out)
{
    const struct pf_arrays arrays = pf_arrays_full(in, out);
    add_one(plan, remap_steps[end][backward], REMAP_STEPS, backward, &arrays);
}

/* Bytes of the arrays at the ends of the transform, without remaps. */
static int64_t inner_bytes(const struct pencilfft_plan_s *plan)
{
    return pf_larger(pf_array_length(plan, PENCILFFT_INNER_INPUT, plan->rank),
                     pf_array_length(plan, PENCILFFT_INNER_OUTPUT, plan->rank));
}

/* Without remaps at the ends, which are other legs, and do not exist yet in trials of "auto". */
static int add_inner(const struct pf_call *call, int backward)
{
    const struct pf_sequence *sequence = &call->plan->program.sequence[backward];
    struct pf_arrays arrays = pf_arrays_full(call->in, call->out);
    int status = PENCILFFT_OK;
    if (sequence->whole.part[call->in == call->out])
        add_one(call->plan, &whole_step[backward], 1, backward, &arrays);
    else if (!(status = pf_room_get(call, sequence->room_bytes, sequence->work_bytes, &arrays)))
        add_one(call->plan, sequence->transform.step, sequence->transform.n, backward, &arrays);
    return status;
}

/* Into the inner array, and on in place. */
int pf_legs_transform(const struct pf_call *call, int backward)
{
    pencilfft_plan plan = call->plan;
    const int first = backward, last = !backward; /* ends */
    struct pf_call on = *call;
    void *inner = call->out;
    bool before = plan->layout.end[first].remap, after = plan->layout.end[last].remap;
    int status = before || after ? pf_inner_get(call, inner_bytes(plan), &inner) : PENCILFFT_OK;
    if (status)
        return status;
    bool is_full = inner != call->out || call->is_full[1];
    if (before) {
        add_remap(plan, first, backward, call->in, inner);
        on.in = inner;
        on.is_full[0] = is_full;
    }
    if (after) {
        on.out = inner;
        on.is_full[1] = is_full;
    }
    if (!(status = add_inner(&on, backward)) && after)
        add_remap(plan, last, backward, inner, call->out);
    return status;
}

int pf_legs_exchange(const struct pf_call *call, int exchange, int backward)
{
    pencilfft_plan plan = call->plan;
    struct pf_arrays arrays;
    int64_t room, work;
    if (pf_is_remap(plan, exchange)) {
        add_remap(plan, exchange - PENCILFFT_REMAP_IN, backward, call->in, call->out);
        return PENCILFFT_OK;
    }
    pf_joint_alone_bytes(plan, backward, exchange, &room, &work);
    int status = pf_room_get(call, room, work, &arrays);
    if (!status)
        add_one(plan, plan->program.sequence[backward].alone[exchange].step,
                plan->program.sequence[backward].alone[exchange].n, backward, &arrays);
    return status;
}

int pf_legs_pair(const struct pf_call call[PF_DIRECTIONS])
{
    pencilfft_plan plan = call[0].plan;
    int status = PENCILFFT_OK;
    if (pf_runs_pairs(plan)) {
        struct pf_leg *leg = add_leg(plan, plan->program.pair.step, plan->program.pair.n);
        for (int backward = 0; backward < PF_DIRECTIONS; backward++)
            leg->of[backward] = pf_arrays_full(call[backward].in, call[backward].out);
        return status;
    }
    for (int backward = 0; backward < PF_DIRECTIONS && !status; backward++)
        status = pf_legs_transform(&call[backward], backward);
    return status;
}

void pf_legs_begin(pencilfft_plan plan)
{
    plan->program.walk = (struct pf_walk){.legs = 0};
}

static void give_buffers(pencilfft_plan plan)
{
    const struct pf_leg *leg = leg_of(plan);
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        if (leg->of[backward].out) {
            plan->program.walk.run[backward] = (struct pf_pass_run){.clock = &plan->program.clock, .of = plan};
            pf_buffers_list(plan, backward, &leg->of[backward], plan->program.walk.run[backward].buffer);
        }
}

/* Whether this step would not wait; lets MPI work. */
static int is_ready(pencilfft_plan plan, const struct pf_step *step, int *ready)
{
    const struct pf_transfer *t = step->transfer;
    *ready = 1;
    if (step->kind == PF_REMAP_FINISH)
        return pf_end_progress(plan, step, ready);
    if (step->kind != PF_FINISH || !t->exchange->progress)
        return PENCILFFT_OK;
    int status = t->exchange->progress(t->state, ready);
    pf_clock_lap(&plan->program.clock, plan->program.phases.of[t->number].exchange);
    return status;
}

int pf_legs_go_on(pencilfft_plan plan, bool waits)
{
    struct pf_walk *walk = &plan->program.walk;
    int status = PENCILFFT_OK, ready = 1;
    for (; walk->leg < walk->legs; walk->leg++, walk->step = 0) {
        if (walk->step == 0)
            give_buffers(plan);
        for (; walk->step < leg_of(plan)->n; walk->step++) {
            const struct pf_step *step = &leg_of(plan)->step[walk->step];
            if (!waits)
                status = is_ready(plan, step, &ready);
            if (!status && ready)
                status = run_step[step->kind](plan, step);
            if (status || !ready)
                return status;
        }
    }
    return status;
}

int pf_legs_run(pencilfft_plan plan)
{
    int status = pf_legs_go_on(plan, true);
    pf_clock_stop(&plan->program.clock);
    return status;
}

int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out)
{
    const struct pf_steps *steps = &plan->program.sequence[backward].transform;
    const struct pf_arrays arrays = pf_arrays_full(in, out);
    pf_legs_begin(plan);
    pf_clock_start(&plan->program.clock);
    add_one(plan, steps->step, steps->n, backward, &arrays);
    return pf_legs_go_on(plan, true);
}
