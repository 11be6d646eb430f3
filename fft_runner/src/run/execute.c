/* Running a plan: the steps of a transform, or of an exchange alone, one after the other.
 * Cost:  an exchange alone is a pass for packing, a pass for unpacking, and the cost in its algorithm file. */
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

/* Transfers under way, so that MPI can make progress on them. */
struct walk {
    pencilfft_plan plan;
    struct pf_pass_run run[PF_DIRECTIONS];
    int flying; /* of plan->flying */
};

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

static int let_work(void *of);

static int run_pass(struct walk *w, const struct pf_step *step)
{
    struct pf_pass_run *run = &w->run[step->backward];
    run->progress = w->flying ? let_work : NULL;
    return pf_pass_run(step->pass, run, &step->range);
}

static char *place(const struct walk *w, const struct pf_step *step, int buffer)
{
    char *start = w->run[step->backward].buffer[buffer];
    return start ? start + step->slot * (int64_t)w->plan->element_bytes : NULL;
}

/* Between an array of the caller and the messages of a lane. */
static void copy_pieces(const struct walk *w, const struct pf_step *step, bool out)
{
    const struct pf_transfer *t = step->transfer;
    const struct pf_lane *lane = &w->plan->lane[step->lane];
    const struct pf_joint joint = {.from = step->from, .to = step->to, .kept = step->kept};
    int array_buffer = out ? PF_IN : PF_OUT, after = step->backward == out; /* of the exchange, forward */
    const pencilfft_box *whole = &w->plan->route[lane->route].mine[!after][t->number + after];
    char *const *buffer = w->run[step->backward].buffer;
    for (int i = 0; i < pf_transfer_pieces(t, out); i++) {
        struct pf_piece piece = pf_transfer_piece(lane, t, &joint, out, i);
        struct pf_copy copy = out ? pf_copy_between(&piece.box, whole, &piece.box)
                                  : pf_copy_between(&piece.box, &piece.box, whole);
        copy.fields = piece.fields;
        copy.threads = w->plan->threads;
        *(out ? &copy.from_start : &copy.to_start) += piece.first * pf_box_elements(whole);
        *(out ? &copy.to_start : &copy.from_start) += piece.start;
        *(out ? &copy.to_field : &copy.from_field) = piece.field;
        pf_copy_run(&copy, w->plan->element_bytes, buffer[out ? array_buffer : piece.buffer],
                    buffer[out ? piece.buffer : array_buffer]);
    }
}

static int pack(struct walk *w, const struct pf_step *step)
{
    copy_pieces(w, step, true);
    pf_clock_lap(&w->plan->clock, w->plan->phases.of[step->transfer->number].pack);
    return PENCILFFT_OK;
}

static int unpack(struct walk *w, const struct pf_step *step)
{
    copy_pieces(w, step, false);
    pf_clock_lap(&w->plan->clock, w->plan->phases.of[step->transfer->number].unpack);
    return PENCILFFT_OK;
}

static int wait_for_all(struct walk *w, const struct pf_step *step)
{
    int status = w->plan->sync->wait(w->plan->all);
    pf_clock_wait(&w->plan->clock, w->plan->phases.of[step->transfer->number].wait);
    return status;
}

/* A rank's own data lie among the sent data, in the order of receipt. */
static int keep_own(struct walk *w, const struct pf_step *step)
{
    const struct pf_transfer *t = step->transfer;
    int me = t->transpose.me;
    int64_t bytes = (int64_t)t->transpose.element_bytes;
    char *const *buffer = w->run[step->backward].buffer;
    if (step->kept == PF_KEPT_BY_ARRAYS && buffer[step->to] != buffer[PF_IN])
        return PENCILFFT_OK;
    pf_threads_copy(w->plan->threads, place(w, step, step->to) + t->received.list.start[me] * bytes,
                    place(w, step, step->from) + t->sent.list.start[me] * bytes, t->sent.list.elements[me] * bytes);
    pf_clock_lap(&w->plan->clock, w->plan->phases.of[t->number].pack);
    return PENCILFFT_OK;
}

static void take_off(struct walk *w, struct pf_transfer *t)
{
    t->started = w->plan->clock.last;
    if (t->exchange->progress)
        w->plan->flying[w->flying++] = t;
}

static void land(struct walk *w, const struct pf_transfer *t)
{
    int left = 0;
    for (int i = 0; i < w->flying; i++)
        if (w->plan->flying[i] != t)
            w->plan->flying[left++] = w->plan->flying[i];
    w->flying = left;
    pf_clock_beside(&w->plan->clock, w->plan->phases.of[t->number].hidden, t->started);
}

static int run_exchange(struct walk *w, const struct pf_step *step)
{
    struct pf_transfer *t = step->transfer;
    void *from = place(w, step, step->from), *to = place(w, step, step->to);
    if (step->kind == PF_FINISH && w->plan->beside)
        land(w, t);
    int status = step->kind == PF_BEGIN    ? t->exchange->begin(t->state, to)
                 : step->kind == PF_START  ? t->exchange->start(t->state, from, to)
                 : step->kind == PF_FINISH ? t->exchange->finish(t->state)
                                           : t->exchange->end(t->state);
    pf_clock_lap(&w->plan->clock, w->plan->phases.of[t->number].exchange);
    if (step->kind == PF_START && w->plan->beside)
        take_off(w, t);
    return status;
}

static int let_work(void *of)
{
    const struct walk *w = of;
    int status = PENCILFFT_OK;
    for (int i = 0; i < w->flying && !status; i++) {
        const struct pf_transfer *t = w->plan->flying[i];
        status = t->exchange->progress(t->state);
        pf_clock_lap(&w->plan->clock, w->plan->phases.of[t->number].exchange);
    }
    return status;
}

static int (*const run_step[])(struct walk *w, const struct pf_step *step) = {
    [PF_PASS] = run_pass,      [PF_PACK] = pack,           [PF_UNPACK] = unpack,
    [PF_SYNC] = wait_for_all,  [PF_BEGIN] = run_exchange,  [PF_OWN] = keep_own,
    [PF_START] = run_exchange, [PF_FINISH] = run_exchange, [PF_END] = run_exchange,
};

static void give_buffers(struct walk *w, int backward, const void *in, void *out)
{
    w->run[backward] = (struct pf_pass_run){.clock = &w->plan->clock, .of = w};
    pf_buffers_list(w->plan, backward, in, out, w->run[backward].buffer);
}

/* The clock runs. */
static int run_steps(struct walk *w, const struct pf_steps *steps)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < steps->n && !status; i++)
        status = run_step[steps->step[i].kind](w, &steps->step[i]);
    return status;
}

static int run_one(pencilfft_plan plan, int backward, const struct pf_steps *steps, const void *in, void *out)
{
    struct walk w = {.plan = plan};
    give_buffers(&w, backward, in, out);
    return run_steps(&w, steps);
}

int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out)
{
    pf_clock_start(&plan->clock);
    return run_one(plan, backward, &plan->sequence[backward].transform, in, out);
}

/* With the remaps at its ends, which do not exist yet in trials of "auto": into the output, and on in place. */
static int run_transform(pencilfft_plan plan, int backward, const void *in, void *out)
{
    const int first = backward, last = !backward; /* ends */
    int status = PENCILFFT_OK;
    if (plan->end[first].remap) {
        status = pf_end_run(plan, first, backward, in, out);
        in = out;
    }
    if (!status && !pf_whole_run(plan, backward, in, out))
        status = run_one(plan, backward, &plan->sequence[backward].transform, in, out);
    if (!status && plan->end[last].remap)
        status = pf_end_run(plan, last, backward, out, out);
    return status;
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

int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = check_call(plan, direction, in, out), backward = direction == PENCILFFT_BACKWARD;
    if (!status && in != out && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    if (!status && (in == out || plan->end[backward].remapped)) /* then the transform runs in place */
        status = pf_works_make(plan, true);
    status = same_call(plan, status, "pencilfft_execute", (int)direction, 0, in == out);
    if (status)
        return status;
    pf_clock_start(&plan->clock);
    status = run_transform(plan, backward, in, out);
    pf_clock_stop(&plan->clock);
    return status;
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
    status = same_call(plan, status, "pencilfft_transpose", (int)direction, exchange, false);
    if (status)
        return status;
    pf_clock_start(&plan->clock);
    status = remap ? pf_end_run(plan, exchange - PENCILFFT_REMAP_IN, backward, in, out)
                   : run_one(plan, backward, &plan->sequence[backward].alone[exchange], in, out);
    pf_clock_stop(&plan->clock);
    return status;
}

/* ---- a pair of transforms --------------------------------------------------------------------------------------------- */

static int check_pair(pencilfft_plan plan, const void *one_in, const void *one_out, const void *in, const void *out)
{
    const void *first[2] = {one_in, one_out}, *second[2] = {in, out};
    int status = check_call(plan, PENCILFFT_FORWARD, one_in, one_out);
    if (!status)
        status = check_call(plan, PENCILFFT_BACKWARD, in, out);
    if (!status && ((one_in != one_out && overlap(plan, one_in, one_out)) || (in != out && overlap(plan, in, out))))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    for (int i = 0; i < 4 && !status; i++)
        if (overlap(plan, first[i / 2], second[i % 2]))
            status = pf_fail(PENCILFFT_BAD_CALL,
                             "buffers of the forward transform overlap those of the backward one; give others");
    return status;
}

int pencilfft_execute_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                           void *backward_out)
{
    struct walk w = {.plan = plan};
    int status = check_pair(plan, forward_in, forward_out, backward_in, backward_out);
    status = same_call(plan, status, "pencilfft_execute_pair", 0, 0, forward_in == forward_out);
    if (status)
        return status;
    if (!pf_runs_pairs(plan)) {
        struct pf_clock first;
        if ((status = pencilfft_forward(plan, forward_in, forward_out)))
            return status;
        first = plan->clock;
        status = pencilfft_backward(plan, backward_in, backward_out);
        pf_clock_add(&plan->clock, &first);
        return status;
    }
    give_buffers(&w, 0, forward_in, forward_out);
    give_buffers(&w, 1, backward_in, backward_out);
    pf_clock_start(&plan->clock);
    status = run_steps(&w, &plan->pair);
    pf_clock_stop(&plan->clock);
    return status;
}
