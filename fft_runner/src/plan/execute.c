/* Running a plan: the steps of a transform, or of an exchange alone, one after the other.
 * Cost:  an exchange alone is a pass for packing, one for unpacking, and what its algorithm file says. */
#include "common/failure.h"
#include "plan/make.h"

/* The alignment that FFTW's vector instructions need. */
enum { ALIGNMENT = 16 };

struct walk {
    pencilfft_plan plan;
    struct pf_sequence *sequence;
    struct pf_transfer *transfer; /* by exchange */
    struct pf_pass_run run;
};

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

static int run_pass(struct walk *w, const struct pf_step *step)
{
    return pf_pass_run(&w->sequence->pass[step->pass], &w->run, &step->range);
}

static int pack(struct walk *w, const struct pf_step *step)
{
    const struct pf_transfer *t = &w->transfer[step->exchange];
    int own = t->exchange->moves_self ? -1 : t->transpose.me;
    pf_pack(&t->transpose, &t->sent, step->slice, own, w->run.buffer[PF_IN], w->run.buffer[step->from]);
    if (own >= 0)
        pf_pack_own(&t->transpose, &t->received, step->slice, w->run.buffer[PF_IN], w->run.buffer[step->to]);
    pf_clock_lap(w->run.clock, w->plan->phases.of[step->exchange].pack);
    return PENCILFFT_OK;
}

static int unpack(struct walk *w, const struct pf_step *step)
{
    const struct pf_transfer *t = &w->transfer[step->exchange];
    pf_unpack(&t->transpose, &t->received, step->slice, -1, w->run.buffer[step->to], w->run.buffer[PF_OUT]);
    pf_clock_lap(w->run.clock, w->plan->phases.of[step->exchange].unpack);
    return PENCILFFT_OK;
}

static int wait_for_all(struct walk *w, const struct pf_step *step)
{
    int status = w->plan->sync->wait(w->plan->all);
    pf_clock_wait(w->run.clock, w->plan->phases.of[step->exchange].wait);
    return status;
}

static int run_exchange(struct walk *w, const struct pf_step *step)
{
    const struct pf_transfer *t = &w->transfer[step->exchange];
    void *from = w->run.buffer[step->from], *to = w->run.buffer[step->to];
    int status = step->kind == PF_BEGIN    ? t->exchange->begin(t->state, to)
                 : step->kind == PF_START  ? t->exchange->start(t->state, step->slice, from, to)
                 : step->kind == PF_FINISH ? t->exchange->finish(t->state, step->slice)
                                           : t->exchange->end(t->state);
    pf_clock_lap(w->run.clock, w->plan->phases.of[step->exchange].exchange);
    return status;
}

static int (*const run_step[])(struct walk *w, const struct pf_step *step) = {
    [PF_PASS] = run_pass,      [PF_PACK] = pack,          [PF_UNPACK] = unpack,       [PF_SYNC] = wait_for_all,
    [PF_BEGIN] = run_exchange, [PF_START] = run_exchange, [PF_FINISH] = run_exchange, [PF_END] = run_exchange,
};

static int run_steps(pencilfft_plan plan, int backward, const struct pf_steps *steps, const void *in, void *out)
{
    int status = PENCILFFT_OK;
    struct walk w = {plan, &plan->sequence[backward], plan->transfer[backward], {.clock = &plan->clock}};
    pf_buffers_list(plan, backward, in, out, w.run.buffer);
    pf_clock_start(&plan->clock);
    for (int i = 0; i < steps->n && !status; i++)
        status = run_step[steps->step[i].kind](&w, &steps->step[i]);
    pf_clock_stop(&plan->clock);
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

int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = check_call(plan, direction, in, out), backward = direction == PENCILFFT_BACKWARD;
    if (!status && in != out && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    return status ? status : run_steps(plan, backward, &plan->sequence[backward].transform, in, out);
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
    if (!status && !pf_is_exchange(plan, exchange))
        status = pf_fail(PENCILFFT_BAD_CALL, "exchange is %d; the plan has 0..%d", exchange, plan->exchanges - 1);
    return status ? status : run_steps(plan, backward, &plan->sequence[backward].alone[exchange], in, out);
}
