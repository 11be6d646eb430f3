/* Running a plan.
 * Idea:  data goes  in -> out (FFT), out -> work (packing), work -> work (exchange), work -> out (unpacking), and so on.
 *        Backward is the same route through the table pf_routes, from the other end.
 * Cost:  three passes for the FFTs, and for each exchange what its algorithm file says. */
#include <string.h>

#include "failure.h"
#include "plan.h"

static const struct {
    pencilfft_phase pack, exchange, unpack;
} exchange_phases[PF_EXCHANGES] = {
    [PENCILFFT_ROW] = {PENCILFFT_PACK_ROW, PENCILFFT_EXCHANGE_ROW, PENCILFFT_UNPACK_ROW},
    [PENCILFFT_COLUMN] = {PENCILFFT_PACK_COLUMN, PENCILFFT_EXCHANGE_COLUMN, PENCILFFT_UNPACK_COLUMN},
};

static const pencilfft_phase line_phase[PF_STAGES] = {
    [PENCILFFT_Z_PENCIL] = PENCILFFT_FFT_Z,
    [PENCILFFT_Y_PENCIL] = PENCILFFT_FFT_Y,
    [PENCILFFT_X_PENCIL] = PENCILFFT_FFT_X,
};

static int overlap(const struct pencilfft_plan_s *plan, const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    uintptr_t bytes = (uintptr_t)plan->alloc_elements * sizeof(fftw_complex);
    return first < second ? second - first < bytes : first - second < bytes;
}

static int misaligned(const struct pencilfft_plan_s *plan, const void *buffer)
{
    return fftw_alignment_of((double *)buffer) != fftw_alignment_of(plan->work[0]);
}

static int check_call(pencilfft_plan plan, pencilfft_direction direction, const void *in, const void *out)
{
    if (!plan || !in || !out)
        return pf_fail(PENCILFFT_BAD_CALL, "null plan or buffer");
    if ((direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || !(plan->directions & direction))
        return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made for this direction");
    if (overlap(plan, in, out))
        return pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give two buffers of pencilfft_alloc()");
    if (misaligned(plan, in) || misaligned(plan, out))
        return pf_fail(PENCILFFT_BAD_CALL, "a buffer is not aligned for FFTW; use pencilfft_alloc()");
    return PENCILFFT_OK;
}

static void nothing(void *local, int slice)
{
    (void)local, (void)slice;
}

/* The waiting asked for is in no phase. */
static int wait_before(pencilfft_plan plan)
{
    int status = plan->sync->wait(plan->all);
    pf_clock_skip(&plan->clock);
    return status;
}

static int move(pencilfft_plan plan, struct pf_move *m, void *from, void *to)
{
    struct pf_run run = {.all = plan->all, .produce = nothing, .consume = nothing};
    return m->exchange->run(m->state, &run, from, to);
}

static void pack(pencilfft_plan plan, const struct pf_move *m, const void *from)
{
    int own = m->exchange->moves_self ? -1 : m->transpose.me;
    for (int slice = 0; slice < m->sent.list.slices; slice++)
        pf_pack(&m->transpose, &m->sent, slice, own, from, plan->work[0]);
    if (own >= 0)
        pf_pack_own(&m->transpose, &m->received, from, plan->work[1]);
}

static void unpack(pencilfft_plan plan, const struct pf_move *m, void *to)
{
    for (int slice = 0; slice < m->received.list.slices; slice++)
        pf_unpack(&m->transpose, &m->received, slice, -1, plan->work[1], to);
}

static int exchange_messages(pencilfft_plan plan, struct pf_move *m, int e, void *from, void *to)
{
    int status;
    pack(plan, m, from);
    pf_clock_lap(&plan->clock, exchange_phases[e].pack);
    if ((status = wait_before(plan)) || (status = move(plan, m, plan->work[0], plan->work[1])))
        return status;
    if (m->transpose.p > 1)
        pf_clock_lap(&plan->clock, exchange_phases[e].exchange);
    unpack(plan, m, to);
    pf_clock_lap(&plan->clock, exchange_phases[e].unpack);
    return status;
}

static int exchange_boxes(pencilfft_plan plan, struct pf_move *m, int e, void *from, void *to)
{
    int status;
    if ((status = wait_before(plan)) || (status = move(plan, m, from, to)))
        return status;
    pf_clock_lap(&plan->clock, exchange_phases[e].exchange);
    return status;
}

int pf_exchange_run(pencilfft_plan plan, int way, pencilfft_exchange e, void *from, void *to)
{
    struct pf_move *m = &plan->moves[way][e];
    return m->exchange->takes == PF_BOXES ? exchange_boxes(plan, m, e, from, to)
                                             : exchange_messages(plan, m, e, from, to);
}

static void run_lines(pencilfft_plan plan, int way, int stage, const void *in, void *out)
{
    pencilfft_pencil pencil = pf_routes[way].pencil[stage];
    fftw_execute_dft(plan->lines[way][pencil], (fftw_complex *)in, out);
    pf_clock_lap(&plan->clock, line_phase[pencil]);
}

/* From out to out; boxes need another place to arrive in. */
static int exchange_within(pencilfft_plan plan, int way, pencilfft_exchange e, void *out)
{
    int status, boxes = plan->moves[way][e].exchange->takes == PF_BOXES;
    if ((status = pf_exchange_run(plan, way, e, out, boxes ? plan->work[0] : out)) || !boxes)
        return status;
    memcpy(out, plan->work[0], (size_t)plan->alloc_elements * plan->element_bytes);
    pf_clock_lap(&plan->clock, exchange_phases[e].unpack);
    return status;
}

int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = check_call(plan, direction, in, out);
    if (status)
        return status;
    int way = pf_way(direction);
    const struct pf_route *route = &pf_routes[way];
    pf_clock_start(&plan->clock);
    run_lines(plan, way, 0, in, out);
    if ((status = exchange_within(plan, way, route->exchange[0], out)))
        return status;
    run_lines(plan, way, 1, out, out);
    if ((status = exchange_within(plan, way, route->exchange[1], out)))
        return status;
    run_lines(plan, way, 2, out, out);
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

int pencilfft_transpose(pencilfft_plan plan, pencilfft_exchange exchange, pencilfft_direction direction, void *in,
                        void *out)
{
    int status = check_call(plan, direction, in, out);
    if (status)
        return status;
    if (exchange != PENCILFFT_ROW && exchange != PENCILFFT_COLUMN)
        return pf_fail(PENCILFFT_BAD_CALL, "exchange must be PENCILFFT_ROW or PENCILFFT_COLUMN");
    pf_clock_start(&plan->clock);
    status = pf_exchange_run(plan, pf_way(direction), exchange, in, out);
    pf_clock_stop(&plan->clock);
    return status;
}
