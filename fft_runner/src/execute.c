/* Running a plan.
 * Idea:  data goes  in -> out (FFT), out -> work (exchange), work (FFT), work -> out (exchange), out (FFT).
 *        The buffer an exchange leaves is also where its messages arrive, so one work buffer is enough.
 *        Backward is the same route through the table pf_routes, from the other end.
 * Cost:  three passes for the FFTs, and for each exchange what its algorithm file says. */
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
    return fftw_alignment_of((double *)buffer) != fftw_alignment_of(plan->work);
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

static int run_exchange(pencilfft_plan plan, int way, pencilfft_exchange e, void *from, void *to)
{
    struct pf_run run = {
        .clock = &plan->clock,
        .pack = exchange_phases[e].pack,
        .exchange = exchange_phases[e].exchange,
        .unpack = exchange_phases[e].unpack,
        .sync = plan->sync,
        .all = plan->all,
    };
    return plan->exchange->run(plan->exchange_state[way][e], &run, from, to);
}

static void run_lines(pencilfft_plan plan, int way, int stage, const void *in, void *out)
{
    pencilfft_pencil pencil = pf_routes[way].pencil[stage];
    fftw_execute_dft(plan->lines[way][pencil], (fftw_complex *)in, out);
    pf_clock_lap(&plan->clock, line_phase[pencil]);
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
    if ((status = run_exchange(plan, way, route->exchange[0], out, plan->work)))
        return status;
    run_lines(plan, way, 1, plan->work, plan->work);
    if ((status = run_exchange(plan, way, route->exchange[1], plan->work, out)))
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
    status = run_exchange(plan, pf_way(direction), exchange, in, out);
    pf_clock_stop(&plan->clock);
    return status;
}
