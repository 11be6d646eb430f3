/* Running a plan: whole transforms by route.c, and exchanges alone.
 * Cost:  an exchange alone is a pass for packing, one for unpacking, and what its algorithm file says. */
#include "common/failure.h"
#include "plan/plan.h"

/* What FFTW's vector instructions ask of an array. */
enum { ALIGNMENT = 16 };

static int overlap(const struct pencilfft_plan_s *plan, const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    uintptr_t bytes = (uintptr_t)plan->alloc_elements * plan->element_bytes;
    return first < second ? second - first < bytes : first - second < bytes;
}

static int misaligned(const void *buffer)
{
    return (uintptr_t)buffer % ALIGNMENT != 0;
}

static int check_call(pencilfft_plan plan, pencilfft_direction direction, const void *in, const void *out)
{
    if (!plan || !in || !out)
        return pf_fail(PENCILFFT_BAD_CALL, "null plan or buffer");
    if ((direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || !(plan->directions & direction))
        return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made for this direction");
    if (misaligned(in) || misaligned(out))
        return pf_fail(PENCILFFT_BAD_CALL, "a buffer is not aligned to %d bytes; use pencilfft_alloc()", ALIGNMENT);
    return PENCILFFT_OK;
}

static int wait_before(pencilfft_plan plan, int e)
{
    int status = plan->sync->wait(plan->all);
    pf_clock_wait(&plan->clock, plan->phases.of[e].wait);
    return status;
}

int pf_move_run(pencilfft_plan plan, int way, int e, const struct pf_run *run, void *from, void *to)
{
    struct pf_move *m = &plan->moves[way][e];
    int status = wait_before(plan, e);
    if (!status)
        status = m->exchange->run(m->state, run, from, to);
    if (!status && m->transpose.p > 1)
        pf_clock_lap(&plan->clock, plan->phases.of[e].exchange);
    return status;
}

/* An exchange without FFTs: messages are made of the whole box `from`, and the box `to` of messages. */
struct alone {
    pencilfft_plan plan;
    const struct pf_move *move;
    const struct pf_exchange_phases *phases;
    const void *from;
    void *to, *sent, *received;
};

static void pack(const struct alone *a, int slice)
{
    const struct pf_move *m = a->move;
    int own = m->exchange->moves_self ? -1 : m->transpose.me;
    pf_pack(&m->transpose, &m->sent, slice, own, a->from, a->sent);
    if (own >= 0)
        pf_pack_own(&m->transpose, &m->received, slice, a->from, a->received);
    pf_clock_lap(&a->plan->clock, a->phases->pack);
}

static void unpack(const struct alone *a, int slice)
{
    pf_unpack(&a->move->transpose, &a->move->received, slice, -1, a->received, a->to);
    pf_clock_lap(&a->plan->clock, a->phases->unpack);
}

static void produce(void *local, int slice)
{
    const struct alone *a = local;
    pf_clock_lap(&a->plan->clock, a->phases->exchange);
    pack(a, slice);
}

static void consume(void *local, int slice)
{
    const struct alone *a = local;
    pf_clock_lap(&a->plan->clock, a->phases->exchange);
    unpack(a, slice);
}

int pf_exchange_run(pencilfft_plan plan, int way, int e, void *from, void *to)
{
    const struct pf_move *m = &plan->moves[way][e];
    struct alone a = {.plan = plan, .move = m, .phases = &plan->phases.of[e], .from = from, .to = to};
    struct pf_run run = {.all = plan->all, .produce = produce, .consume = consume, .local = &a};
    bool apart = !m->exchange->overlaps;
    if (m->exchange->takes == PF_BOXES)
        return pf_move_run(plan, way, e, &run, from, to);
    pf_move_buffers(plan, way, e, &a.sent, &a.received);
    for (int slice = 0; slice < m->sent.list.slices && apart; slice++)
        pack(&a, slice);
    int status = pf_move_run(plan, way, e, &run, a.sent, a.received);
    for (int slice = 0; slice < m->received.list.slices && apart && !status; slice++)
        unpack(&a, slice);
    return status;
}

int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = check_call(plan, direction, in, out);
    if (!status && in != out && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give the same buffer or two of pencilfft_alloc()");
    if (status)
        return status;
    pf_clock_start(&plan->clock);
    status = pf_route_run(plan, pf_way(direction), in, out);
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
    int status = check_call(plan, direction, in, out);
    if (!status && overlap(plan, in, out))
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give two buffers of pencilfft_alloc()");
    if (status)
        return status;
    if (!pf_is_exchange(plan, exchange))
        return pf_fail(PENCILFFT_BAD_CALL, "exchange is %d; the plan has 0..%d", exchange, plan->exchanges - 1);
    pf_clock_start(&plan->clock);
    status = pf_exchange_run(plan, pf_way(direction), exchange, in, out);
    pf_clock_stop(&plan->clock);
    return status;
}
