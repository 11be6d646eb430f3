/* The calls that run a plan: checks on this rank, the legs of the run, agreement of ranks that compare calls, the run. */
#include <string.h>

#include "run/inside.h"

/* The alignment that FFTW's vector instructions need. */
enum { ALIGNMENT = 16 };

static bool is_misaligned(const void *buffer)
{
    return (uintptr_t)buffer % ALIGNMENT != 0;
}

static int check_call(pencilfft_plan plan, const char *function, pencilfft_direction direction, const void *in,
                      const void *out)
{
    if (!plan || !in || !out)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or buffer", function);
    int status = pf_usable(plan->all, function);
    if (status)
        return status;
    if (plan->in_flight)
        return pf_fail(PENCILFFT_BAD_CALL, "the plan is in flight; call pencilfft_wait() first");
    if ((direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || !(plan->request.directions & (int)direction))
        return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made for this direction");
    if (is_misaligned(in) || is_misaligned(out))
        return pf_fail(PENCILFFT_BAD_CALL, "a buffer is not aligned to %d bytes; use pencilfft_alloc()", ALIGNMENT);
    return PENCILFFT_OK;
}

/* Starts the clock. Without a plan there is no communicator for the comparison. */
static int begin(pencilfft_plan plan, int status, const char *function, int direction, int exchange, bool in_place)
{
    int usable = plan ? pf_usable(plan->all, function) : PENCILFFT_OK;
    if (plan && !usable)
        status = pf_same_directed_call(plan->all, plan->rank, plan->checks_calls, status, function, direction, exchange,
                                       in_place);
    status = status ? status : usable;
    if (!status)
        pf_clock_start(&plan->program.clock);
    return status;
}

static struct pf_call transform_of(pencilfft_plan plan, int backward, const void *in, void *out)
{
    return pf_call_of(plan, backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, in, backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT,
                      out);
}

/* Lists a transform after the checks of the call. */
static int prepare(pencilfft_plan plan, int status, const char *function, pencilfft_direction direction, const void *in,
                   void *out)
{
    int backward = direction == PENCILFFT_BACKWARD;
    struct pf_call call = {.plan = plan};
    if (!status)
        status = check_call(plan, function, direction, in, out);
    if (!status) {
        call = transform_of(plan, backward, in, out);
        status = pf_call_check(function, &call);
    }
    if (!status) /* with a remap the transform runs in place */
        status = pf_work_get(plan, in == out || plan->layout.end[backward].remapped);
    if (!status) {
        pf_legs_begin(plan);
        pf_call_find_room(&call, NULL);
        status = pf_legs_transform(&call, backward);
    }
    return begin(plan, status, function, (int)direction, 0, in == out);
}

int pf_execute(pencilfft_plan plan, int given, pencilfft_direction direction, const void *in, void *out)
{
    int status = prepare(plan, given, "pencilfft_execute", direction, in, out);
    return status ? status : pf_legs_run(plan);
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
    plan->request.norm[direction == PENCILFFT_BACKWARD] = norm;
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

/* The arrays that an exchange or remap joins, the first of a forward transform first. */
static void arrays_around(int exchange, int array[2])
{
    const int in[2] = {PENCILFFT_INPUT, PENCILFFT_INNER_INPUT}, out[2] = {PENCILFFT_INNER_OUTPUT, PENCILFFT_OUTPUT};
    const int any[2] = {exchange, PENCILFFT_BEFORE + exchange + 1};
    memcpy(array, exchange == PENCILFFT_REMAP_IN ? in : exchange == PENCILFFT_REMAP_OUT ? out : any, sizeof any);
}

static int check_exchange(const struct pencilfft_plan_s *plan, int exchange)
{
    if (pf_is_remap(plan, exchange))
        return PENCILFFT_OK;
    if (!pf_is_exchange(plan, exchange))
        return pf_fail(PENCILFFT_BAD_CALL, "exchange is %d; the plan has 0..%d", exchange, plan->layout.exchanges - 1);
    if (plan->layout.parts > 1)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_transpose: under schedule %.200s no exchange stands alone, because it leads to other "
                       "arrays for each part; make a plan with another schedule for it",
                       plan->chosen.schedule);
    return PENCILFFT_OK;
}

int pencilfft_transpose(pencilfft_plan plan, int exchange, pencilfft_direction direction, void *in, void *out)
{
    const char *const function = "pencilfft_transpose";
    int status = check_call(plan, function, direction, in, out), backward = direction == PENCILFFT_BACKWARD;
    struct pf_call call = {.plan = plan};
    if (!status && in == out)
        status = pf_fail(PENCILFFT_BAD_CALL, "in and out overlap; give two buffers of pencilfft_alloc()");
    if (!status)
        status = check_exchange(plan, exchange);
    if (!status) {
        int array[2];
        arrays_around(exchange, array);
        call = pf_call_of(plan, array[backward], in, array[!backward], out);
        status = pf_call_check(function, &call);
    }
    if (!status)
        status = pf_work_get(plan, false);
    if (!status) {
        pf_legs_begin(plan);
        pf_call_find_room(&call, NULL);
        status = pf_legs_exchange(&call, exchange, backward);
    }
    status = begin(plan, status, function, (int)direction, exchange, false);
    return status ? status : pf_legs_run(plan);
}

/* ---- a pair of transforms --------------------------------------------------------------------------------------------- */

static int check_pair(pencilfft_plan plan, const char *function, const struct pf_call call[PF_DIRECTIONS])
{
    bool in_place = false;
    int status = PENCILFFT_OK;
    for (int i = 0; i < PF_DIRECTIONS && !status; i++) {
        status = pf_call_check(function, &call[i]);
        in_place |= call[i].in == call[i].out || plan->layout.end[i].remapped;
    }
    if (!status && pf_calls_meet(&call[0], &call[1]))
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "buffers of the forward transform overlap those of the backward one; give others");
    return status ? status : pf_work_get(plan, !pf_runs_pairs(plan) && in_place);
}

static int prepare_pair(pencilfft_plan plan, int status, const char *function, const void *const in[PF_DIRECTIONS],
                        void *const out[PF_DIRECTIONS])
{
    struct pf_call call[PF_DIRECTIONS];
    for (int i = 0; i < PF_DIRECTIONS && !status; i++)
        status = check_call(plan, function, i ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in[i], out[i]);
    for (int i = 0; i < PF_DIRECTIONS && !status; i++)
        call[i] = transform_of(plan, i, in[i], out[i]);
    if (!status)
        status = check_pair(plan, function, call);
    if (!status) {
        pf_legs_begin(plan);
        for (int i = 0; i < PF_DIRECTIONS; i++)
            pf_call_find_room(&call[i], &call[!i]);
        status = pf_legs_pair(call);
    }
    return begin(plan, status, function, 0, 0, in[0] == out[0]);
}

int pencilfft_execute_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                           void *backward_out)
{
    const void *in[PF_DIRECTIONS] = {forward_in, backward_in};
    void *out[PF_DIRECTIONS] = {forward_out, backward_out};
    int status = prepare_pair(plan, PENCILFFT_OK, "pencilfft_execute_pair", in, out);
    return status ? status : pf_legs_run(plan);
}

/* ---- start and wait --------------------------------------------------------------------------------------------------- */

static int check_start(const struct pencilfft_plan_s *plan)
{
    if (!plan || plan->request.nonblocking)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_BAD_CALL, "the plan was not made to be started; set nonblocking in its descriptor");
}

static int start(pencilfft_plan plan)
{
    plan->in_flight = true;
    return pf_legs_go_on(plan, false);
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
    int status = pf_usable(plan->all, function);
    return status || plan->in_flight
               ? status
               : pf_fail(PENCILFFT_BAD_CALL, "%s: the plan is not in flight; call pencilfft_start() first", function);
}

int pencilfft_progress(pencilfft_plan plan, int *done)
{
    int status = done ? check_flight(plan, "pencilfft_progress")
                      : pf_fail(PENCILFFT_BAD_CALL, "pencilfft_progress: no place for the answer");
    if (status)
        return status;
    pf_clock_resume(&plan->program.clock);
    status = pf_legs_go_on(plan, false);
    *done = plan->program.walk.leg == plan->program.walk.legs;
    return status;
}

int pencilfft_wait(pencilfft_plan plan)
{
    int status = check_flight(plan, "pencilfft_wait"), usable = plan ? pf_usable(plan->all, "pencilfft_wait") : PENCILFFT_OK;
    if (plan && !usable)
        status = pf_same_call_in(plan->all, plan->rank, plan->checks_calls, status, "pencilfft_wait");
    status = status ? status : usable;
    if (status)
        return status;
    pf_clock_resume(&plan->program.clock);
    status = pf_legs_run(plan);
    plan->in_flight = false;
    return status;
}
