/* Running a plan: the steps of a transform, or of an exchange alone, one after the other.
 * Idea:  a walk through lists of steps, its legs. Nonblocking, it stops before the first step that would wait for messages,
 *        and goes on from there.
 * Cost:  an exchange alone is a pass for packing, a pass for unpacking, and the cost in its algorithm file. */
#include <math.h>
#include <string.h>

#include "common/failure.h"
#include "ends/ends.h"
#include "geometry/strided_copy.h"
#include "handle/same_call.h"
#include "layout/layout.h"
#include "passes/passes.h"
#include "run/run.h"
#include "speed/threads.h"

/* The alignment that FFTW's vector instructions need. */
enum { ALIGNMENT = 16 };

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

static int let_work(void *plan);

static double factor_of(const struct pencilfft_plan_s *plan, int backward)
{
    double n = plan->transform.scale;
    pencilfft_norm norm = plan->norm[backward];
    return norm == PENCILFFT_NORM_N ? 1 / n : norm == PENCILFFT_NORM_SQRT_N ? 1 / sqrt(n) : 1;
}

/* The last pass of any route. */
static bool is_last(const struct pencilfft_plan_s *plan, const struct pf_step *step)
{
    const struct pf_sequence *sequence = &plan->sequence[step->backward];
    bool last = false;
    for (int r = 0; r < PF_MAX_ROUTES; r++)
        last |= step->pass == &sequence->pass[r][sequence->n - 1];
    return last;
}

static int run_pass(pencilfft_plan plan, const struct pf_step *step)
{
    struct pf_pass_run *run = &plan->walk.run[step->backward];
    run->factor = is_last(plan, step) ? factor_of(plan, step->backward) : 1;
    run->progress = plan->walk.flying ? let_work : NULL;
    return pf_pass_run(step->pass, run, &step->range);
}

static char *place(pencilfft_plan plan, const struct pf_step *step, int buffer)
{
    char *start = plan->walk.run[step->backward].buffer[buffer];
    return start ? start + step->slot * (int64_t)plan->sent_bytes : NULL;
}

/* Between an array of the caller and the messages of a lane. */
static void copy_pieces(pencilfft_plan plan, const struct pf_step *step, bool out)
{
    const struct pf_transfer *t = step->transfer;
    const struct pf_lane *lane = &plan->lane[step->lane];
    const struct pf_joint joint = {.from = step->from, .to = step->to, .kept = step->kept};
    int array_buffer = out ? PF_IN : PF_OUT, after = step->backward == out; /* of the exchange, forward */
    pencilfft_part array = {.box = plan->route[lane->route].mine[!after][t->number + after], .fields = plan->fields};
    const pencilfft_box *whole = &array.box;
    char *const *buffer = plan->walk.run[step->backward].buffer;
    pf_part_lay(plan, &array);
    for (int i = 0; i < pf_transfer_pieces(t, out); i++) {
        struct pf_piece piece = pf_transfer_piece(lane, t, &joint, out, i);
        struct pf_copy copy = out ? pf_copy_between(&piece.box, whole, &piece.box)
                                  : pf_copy_between(&piece.box, &piece.box, whole);
        copy.fields = piece.fields;
        copy.threads = plan->threads;
        *(out ? &copy.from_start : &copy.to_start) += piece.first * array.field_stride;
        *(out ? &copy.from_field : &copy.to_field) = array.field_stride;
        *(out ? &copy.to_start : &copy.from_start) += piece.start;
        *(out ? &copy.to_field : &copy.from_field) = piece.field;
        pf_copy_changed(&copy, out ? plan->element_bytes : plan->sent_bytes, out ? plan->sent_bytes : plan->element_bytes,
                        buffer[out ? array_buffer : piece.buffer], buffer[out ? piece.buffer : array_buffer]);
    }
}

static int pack(pencilfft_plan plan, const struct pf_step *step)
{
    copy_pieces(plan, step, true);
    pf_clock_lap(&plan->clock, plan->phases.of[step->transfer->number].pack);
    return PENCILFFT_OK;
}

static int unpack(pencilfft_plan plan, const struct pf_step *step)
{
    copy_pieces(plan, step, false);
    pf_clock_lap(&plan->clock, plan->phases.of[step->transfer->number].unpack);
    return PENCILFFT_OK;
}

static int wait_for_all(pencilfft_plan plan, const struct pf_step *step)
{
    int status = plan->sync->wait(plan->all);
    pf_clock_wait(&plan->clock, plan->phases.of[step->transfer->number].wait);
    return status;
}

/* A rank's own data lie among the sent data, in the order of receipt. */
static int keep_own(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_transfer *t = step->transfer;
    int me = t->transpose.me;
    int64_t bytes = (int64_t)t->transpose.element_bytes;
    char *const *buffer = plan->walk.run[step->backward].buffer;
    if (step->kept == PF_KEPT_BY_ARRAYS && buffer[step->to] != buffer[PF_IN])
        return PENCILFFT_OK;
    pf_threads_copy(plan->threads, place(plan, step, step->to) + t->received.list.start[me] * bytes,
                    place(plan, step, step->from) + t->sent.list.start[me] * bytes, t->sent.list.elements[me] * bytes);
    pf_clock_lap(&plan->clock, plan->phases.of[t->number].pack);
    return PENCILFFT_OK;
}

static void take_off(pencilfft_plan plan, struct pf_transfer *t)
{
    t->started = plan->clock.last;
    if (t->exchange->progress)
        plan->flying[plan->walk.flying++] = t;
}

static void land(pencilfft_plan plan, const struct pf_transfer *t)
{
    int left = 0;
    for (int i = 0; i < plan->walk.flying; i++)
        if (plan->flying[i] != t)
            plan->flying[left++] = plan->flying[i];
    plan->walk.flying = left;
    pf_clock_beside(&plan->clock, plan->phases.of[t->number].hidden, t->started);
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
    pf_clock_lap(&plan->clock, plan->phases.of[t->number].exchange);
    if (step->kind == PF_START && t->transpose.beside)
        take_off(plan, t);
    return status;
}

static int let_work(void *of)
{
    pencilfft_plan plan = of;
    int status = PENCILFFT_OK, done;
    for (int i = 0; i < plan->walk.flying && !status; i++) {
        const struct pf_transfer *t = plan->flying[i];
        status = t->exchange->progress(t->state, &done);
        pf_clock_lap(&plan->clock, plan->phases.of[t->number].exchange);
    }
    return status;
}

/* The arrays of the direction, in the leg at hand. */
static const struct pf_leg *leg_of(const struct pencilfft_plan_s *plan)
{
    return &plan->walk.of[plan->walk.leg];
}

static int run_whole(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_leg *leg = leg_of(plan);
    double factor = factor_of(plan, step->backward);
    pf_whole_run(plan, step->backward, leg->in[step->backward], leg->out[step->backward]);
    if (factor != 1) {
        pencilfft_part part = pf_part_of(plan, step->backward ? PENCILFFT_INPUT : plan->exchanges, plan->rank, 0);
        pf_multiply(part.box.extent, part.box.stride, leg->out[step->backward],
                    step->backward ? plan->input_bytes : plan->element_bytes, plan->precision->fftw->real_bytes, factor);
        pf_clock_lap(&plan->clock, plan->phases.fft[2]);
    }
    return PENCILFFT_OK;
}

static int run_remap(pencilfft_plan plan, const struct pf_step *step)
{
    const struct pf_leg *leg = leg_of(plan);
    return pf_end_step(plan, step, leg->in[step->backward], leg->out[step->backward]);
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
    struct pf_leg *leg = &plan->walk.of[plan->walk.legs++];
    *leg = (struct pf_leg){.step = step, .n = n};
    return leg;
}

static void add_one(pencilfft_plan plan, const struct pf_step *step, int n, int backward, const void *in, void *out)
{
    struct pf_leg *leg = add_leg(plan, step, n);
    leg->in[backward] = in;
    leg->out[backward] = out;
}

static void add_remap(pencilfft_plan plan, int end, int backward, const void *in, void *out)
{
    add_one(plan, remap_steps[end][backward], REMAP_STEPS, backward, in, out);
}

/* With the remaps at its ends, which do not exist yet in trials of "auto": into the output, and on in place. */
static void add_transform(pencilfft_plan plan, int backward, const void *in, void *out)
{
    const int first = backward, last = !backward; /* ends */
    if (plan->end[first].remap) {
        add_remap(plan, first, backward, in, out);
        in = out;
    }
    const struct pf_sequence *sequence = &plan->sequence[backward];
    if (sequence->whole.part[in == out])
        add_one(plan, &whole_step[backward], 1, backward, in, out);
    else
        add_one(plan, sequence->transform.step, sequence->transform.n, backward, in, out);
    if (plan->end[last].remap)
        add_remap(plan, last, backward, out, out);
}

static void add_pair(pencilfft_plan plan, const void *const in[PF_DIRECTIONS], void *const out[PF_DIRECTIONS])
{
    if (pf_runs_pairs(plan)) {
        struct pf_leg *leg = add_leg(plan, plan->pair.step, plan->pair.n);
        memcpy(leg->in, in, sizeof leg->in);
        memcpy(leg->out, out, sizeof leg->out);
        return;
    }
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        add_transform(plan, backward, in[backward], out[backward]);
}

/* No legs, and a running clock. */
static void begin(pencilfft_plan plan)
{
    plan->walk = (struct pf_walk){.legs = 0};
    pf_clock_start(&plan->clock);
}

static void give_buffers(pencilfft_plan plan)
{
    const struct pf_leg *leg = leg_of(plan);
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        if (leg->out[backward]) {
            plan->walk.run[backward] = (struct pf_pass_run){.clock = &plan->clock, .of = plan};
            pf_buffers_list(plan, backward, leg->in[backward], leg->out[backward], plan->walk.run[backward].buffer);
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
    pf_clock_lap(&plan->clock, plan->phases.of[t->number].exchange);
    return status;
}

/* The steps that are left, or those before the first wait. */
static int go_on(pencilfft_plan plan, bool waits)
{
    struct pf_walk *walk = &plan->walk;
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

/* All of it. */
static int run(pencilfft_plan plan)
{
    int status = go_on(plan, true);
    pf_clock_stop(&plan->clock);
    return status;
}

int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out)
{
    const struct pf_steps *steps = &plan->sequence[backward].transform;
    begin(plan);
    add_one(plan, steps->step, steps->n, backward, in, out);
    return go_on(plan, true);
}

/* ---- calls ---------------------------------------------------------------------------------------------------------- */

static bool overlap(const struct pencilfft_plan_s *plan, const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    uintptr_t bytes = (uintptr_t)plan->alloc_elements * plan->element_bytes;
    return first < second ? second - first < bytes : first - second < bytes;
}

static bool is_misaligned(const void *buffer)
{
    return (uintptr_t)buffer % ALIGNMENT != 0;
}

static int check_call(pencilfft_plan plan, pencilfft_direction direction, const void *in, const void *out)
{
    if (!plan || !in || !out)
        return pf_fail(PENCILFFT_BAD_CALL, "null plan or buffer");
    if (plan->in_flight)
        return pf_fail(PENCILFFT_BAD_CALL, "the plan is in flight; call pencilfft_wait() first");
    if ((direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || !(plan->directions & (int)direction))
        return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made for this direction");
    if (is_misaligned(in) || is_misaligned(out))
        return pf_fail(PENCILFFT_BAD_CALL, "a buffer is not aligned to %d bytes; use pencilfft_alloc()", ALIGNMENT);
    return PENCILFFT_OK;
}

/* Without a plan there is no communicator for the comparison. */
static int same_call(const struct pencilfft_plan_s *plan, int status, const char *function, int direction, int exchange,
                     bool in_place)
{
    return plan ? pf_same_directed_call(plan->all, plan->rank, plan->checks_calls, status, function, direction, exchange,
                                        in_place)
                : status;
}

/* Lists a transform after the checks of the call. */
static int prepare(pencilfft_plan plan, int status, const char *function, pencilfft_direction direction, const void *in,
                   void *out)
{
    int backward = direction == PENCILFFT_BACKWARD;
    if (!status)
        status = check_call(plan, direction, in, out);
    if (!status && in != out && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    if (!status) /* with a remap the transform runs in place */
        status = pf_work_get(plan, in == out || plan->end[backward].remapped);
    status = same_call(plan, status, function, (int)direction, 0, in == out);
    if (status)
        return status;
    begin(plan);
    add_transform(plan, backward, in, out);
    return status;
}

int pf_execute(pencilfft_plan plan, int given, pencilfft_direction direction, const void *in, void *out)
{
    int status = prepare(plan, given, "pencilfft_execute", direction, in, out);
    return status ? status : run(plan);
}

int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    return pf_execute(plan, PENCILFFT_OK, direction, in, out);
}

int pencilfft_set_norm(pencilfft_plan plan, pencilfft_direction direction, pencilfft_norm norm)
{
    if (!plan || (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || plan->in_flight)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_set_norm: null plan, no direction, or the plan is in flight");
    if (norm != PENCILFFT_NORM_NONE && norm != PENCILFFT_NORM_N && norm != PENCILFFT_NORM_SQRT_N)
        return pf_fail(PENCILFFT_BAD_CALL, "norm is %d; give PENCILFFT_NORM_NONE, PENCILFFT_NORM_N or PENCILFFT_NORM_SQRT_N",
                       (int)norm);
    plan->norm[direction == PENCILFFT_BACKWARD] = norm;
    return PENCILFFT_OK;
}

int pencilfft_forward(pencilfft_plan plan, const void *in, void *out)
{
    return pencilfft_execute(plan, PENCILFFT_FORWARD, in, out);
}

int pencilfft_backward(pencilfft_plan plan, const void *in, void *out)
{
    return pencilfft_execute(plan, PENCILFFT_BACKWARD, in, out);
}

int pencilfft_transpose(pencilfft_plan plan, int exchange, pencilfft_direction direction, void *in, void *out)
{
    int status = check_call(plan, direction, in, out), backward = direction == PENCILFFT_BACKWARD;
    if (!status && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give two buffers of pencilfft_alloc()");
    bool remap = !status && pf_is_remap(plan, exchange);
    if (!status && !remap && !pf_is_exchange(plan, exchange))
        status = pf_fail(PENCILFFT_BAD_CALL, "exchange is %d; the plan has 0..%d", exchange, plan->exchanges - 1);
    if (!status && !remap && plan->parts > 1)
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "pencilfft_transpose: under schedule %.200s no exchange stands alone, because it leads to other "
                         "arrays for each part; make a plan with another schedule for it",
                         plan->schedule);
    if (!status)
        status = pf_work_get(plan, false);
    status = same_call(plan, status, "pencilfft_transpose", (int)direction, exchange, false);
    if (status)
        return status;
    begin(plan);
    if (remap)
        add_remap(plan, exchange - PENCILFFT_REMAP_IN, backward, in, out);
    else
        add_one(plan, plan->sequence[backward].alone[exchange].step, plan->sequence[backward].alone[exchange].n, backward,
                in, out);
    return run(plan);
}

/* ---- a pair of transforms --------------------------------------------------------------------------------------------- */

static int check_pair(pencilfft_plan plan, const void *const in[PF_DIRECTIONS], void *const out[PF_DIRECTIONS])
{
    const void *first[2] = {in[0], out[0]}, *second[2] = {in[1], out[1]};
    int status = check_call(plan, PENCILFFT_FORWARD, in[0], out[0]);
    if (!status)
        status = check_call(plan, PENCILFFT_BACKWARD, in[1], out[1]);
    for (int i = 0; i < PF_DIRECTIONS && !status; i++)
        if (in[i] != out[i] && overlap(plan, in[i], out[i]))
            status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    for (int i = 0; i < 4 && !status; i++)
        if (overlap(plan, first[i / 2], second[i % 2]))
            status = pf_fail(PENCILFFT_BAD_CALL,
                             "buffers of the forward transform overlap those of the backward one; give others");
    bool in_place = in[0] == out[0] || in[1] == out[1];
    if (!status)
        status = pf_work_get(plan, !pf_runs_pairs(plan) && (in_place || plan->end[0].remapped || plan->end[1].remapped));
    return status;
}

static int prepare_pair(pencilfft_plan plan, int status, const char *function, const void *const in[PF_DIRECTIONS],
                        void *const out[PF_DIRECTIONS])
{
    if (!status)
        status = check_pair(plan, in, out);
    status = same_call(plan, status, function, 0, 0, in[0] == out[0]);
    if (status)
        return status;
    begin(plan);
    add_pair(plan, in, out);
    return status;
}

int pencilfft_execute_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                           void *backward_out)
{
    const void *in[PF_DIRECTIONS] = {forward_in, backward_in};
    void *out[PF_DIRECTIONS] = {forward_out, backward_out};
    int status = prepare_pair(plan, PENCILFFT_OK, "pencilfft_execute_pair", in, out);
    return status ? status : run(plan);
}

/* ---- start and wait --------------------------------------------------------------------------------------------------- */

static int check_start(const struct pencilfft_plan_s *plan)
{
    if (!plan || plan->nonblocking)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made to be started; set nonblocking in its descriptor");
}

static int start(pencilfft_plan plan)
{
    plan->in_flight = true;
    return go_on(plan, false);
}

int pencilfft_start(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = prepare(plan, check_start(plan), "pencilfft_start", direction, in, out);
    return status ? status : start(plan);
}

int pencilfft_start_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                         void *backward_out)
{
    const void *in[PF_DIRECTIONS] = {forward_in, backward_in};
    void *out[PF_DIRECTIONS] = {forward_out, backward_out};
    int status = prepare_pair(plan, check_start(plan), "pencilfft_start_pair", in, out);
    return status ? status : start(plan);
}

static int check_flight(const struct pencilfft_plan_s *plan, const char *function)
{
    if (!plan)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan", function);
    return plan->in_flight
               ? PENCILFFT_OK
               : pf_fail(PENCILFFT_BAD_CALL, "%s: the plan is not in flight; call pencilfft_start() first", function);
}

int pencilfft_progress(pencilfft_plan plan, int *done)
{
    int status = done ? check_flight(plan, "pencilfft_progress")
                      : pf_fail(PENCILFFT_BAD_CALL, "pencilfft_progress: no place for the answer");
    if (status)
        return status;
    pf_clock_resume(&plan->clock);
    status = go_on(plan, false);
    *done = plan->walk.leg == plan->walk.legs;
    return status;
}

int pencilfft_wait(pencilfft_plan plan)
{
    int status = check_flight(plan, "pencilfft_wait");
    if (plan)
        status = pf_same_call_in(plan->all, plan->rank, plan->checks_calls, status, "pencilfft_wait");
    if (status)
        return status;
    pf_clock_resume(&plan->clock);
    status = run(plan);
    plan->in_flight = false;
    return status;
}
