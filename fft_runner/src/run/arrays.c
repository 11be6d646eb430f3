/* The arrays of a call: their lengths, buffers for the caller, and buffers of the plan in place of short arrays.
 * Idea:  an array of the caller ends with its last element, unless it is a buffer of pencilfft_alloc() of this plan. A run
 *        that would write more there has the messages in a buffer of the plan, which is made at the first such run.
 *        pass.h's PF_ROOM is this place, so nothing is copied. Remaps at both ends have the array between them there.
 * Cost:  a search for each array (handle/given.c); up to three more buffers for plans that need them. */
#include <stdint.h>
#include <stdlib.h>

#include "ends/ends.h"
#include "layout/layout.h"
#include "run/inside.h"

/* ---- lengths --------------------------------------------------------------------------------------------------------- */

int64_t pf_array_length(const struct pencilfft_plan_s *plan, int array, int rank)
{
    int end = array == PENCILFFT_INPUT ? 0 : array == PENCILFFT_OUTPUT ? 1 : PF_ENDS;
    if (end < PF_ENDS && plan->layout.end[end].remapped)
        return pf_end_array_bytes(plan, end, rank);
    bool input = array == PENCILFFT_INPUT || array == PENCILFFT_INNER_INPUT;
    bool output = array == PENCILFFT_OUTPUT || array == PENCILFFT_INNER_OUTPUT;
    return pf_array_bytes(plan, input ? PENCILFFT_INPUT : output ? plan->layout.exchanges : array, rank);
}

int64_t pf_largest_elements(const struct pencilfft_plan_s *plan, int rank)
{
    int64_t bytes = pf_array_bytes(plan, PENCILFFT_INPUT, rank), unit = (int64_t)plan->layout.element_bytes;
    for (int array = 0; array <= plan->layout.exchanges; array++)
        for (int before = 0; before <= (array > 0 ? 1 : 0); before++)
            bytes = pf_larger(bytes, pf_array_bytes(plan, array + (before ? PF_BEFORE : 0), rank));
    for (int end = 0; end < PF_ENDS; end++)
        bytes = pf_larger(bytes, pf_array_length(plan, end ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, rank));
    return (bytes + unit - 1) / unit;
}

static int64_t alloc_bytes(const struct pencilfft_plan_s *plan)
{
    return plan->memory.alloc_elements * (int64_t)plan->layout.element_bytes;
}

/* Of a buffer of pencilfft_alloc(). */
static int64_t alloc_bytes_on(const void *of, int rank)
{
    const struct pencilfft_plan_s *plan = of;
    return plan->memory.alloc_of ? plan->memory.alloc_of[rank]
                                 : pf_largest_elements(plan, rank) * (int64_t)plan->layout.element_bytes;
}

int pf_allocs_share(pencilfft_plan plan)
{
    int longer = plan->memory.alloc_elements > pf_largest_elements(plan, plan->rank), status = PENCILFFT_OK;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, &longer, 1, MPI_INT, MPI_MAX, plan->all));
    if (!longer)
        return status;
    if (!(plan->memory.alloc_of = calloc((size_t)plan->ranks, sizeof *plan->memory.alloc_of)))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the lengths of buffers on %d ranks", plan->ranks);
    if ((status = pf_agree(status, plan->all)))
        return status;
    int64_t mine = alloc_bytes(plan);
    PF_MPI(MPI_Allgather(&mine, 1, MPI_INT64_T, plan->memory.alloc_of, 1, MPI_INT64_T, plan->all));
    return status;
}

int pencilfft_alloc(pencilfft_plan plan, void **data)
{
    void *made = NULL;
    if (!plan || !data)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_alloc: null plan or buffer");
    int status = pf_buffer_add(plan, plan->memory.alloc_elements, &made);
    if (!status)
        status = pf_given_add(&(struct pf_given){&plan->handle, alloc_bytes_on, made, alloc_bytes(plan), 0});
    *data = status ? NULL : made;
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------------------------------- */

static bool meet(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)b_bytes && (uintptr_t)b < (uintptr_t)a + (uintptr_t)a_bytes;
}

static int64_t length_on(const void *plan, int array, int rank)
{
    return pf_array_length(plan, array, rank);
}

int pf_call_check(const char *function, const struct pf_call *call)
{
    pencilfft_plan plan = call->plan;
    struct pf_fitting *fitting = plan->memory.fitting[call->array[0] == PENCILFFT_OUTPUT];
    struct pf_wanted in = {function, "in", call->in, length_on, plan, call->array[0], call->array[0], &fitting[0]};
    struct pf_wanted out = {function, "out", call->out, length_on, plan, call->array[1], call->array[1], &fitting[1]};
    if (call->in == call->out)
        in.also = call->array[1];
    int status = pf_given_check(&in, plan->all, plan->rank, plan->ranks);
    if (!status && call->in != call->out)
        status = pf_given_check(&out, plan->all, plan->rank, plan->ranks);
    if (!status && call->in != call->out && meet(call->in, call->bytes[0], call->out, call->bytes[1]))
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "%s: in and out overlap: in has %lld bytes, out has %lld; give the same buffer or two of "
                         "pencilfft_alloc()",
                         function, (long long)call->bytes[0], (long long)call->bytes[1]);
    return status;
}

struct pf_call pf_call_of(pencilfft_plan plan, int in_array, const void *in, int out_array, void *out)
{
    struct pf_call call = {.plan = plan, .array = {in_array, out_array}, .in = in, .out = out};
    for (int i = 0; i < 2; i++)
        call.bytes[i] = pf_array_length(plan, call.array[i], plan->rank);
    if (in == out)
        call.bytes[0] = call.bytes[1] = pf_larger(call.bytes[0], call.bytes[1]);
    return call;
}

bool pf_calls_meet(const struct pf_call *one, const struct pf_call *other)
{
    return meet(one->in, one->bytes[0], other->in, other->bytes[0]) ||
           meet(one->in, one->bytes[0], other->out, other->bytes[1]) ||
           meet(one->out, one->bytes[1], other->in, other->bytes[0]) ||
           meet(one->out, one->bytes[1], other->out, other->bytes[1]);
}

/* ---- room for messages ------------------------------------------------------------------------------------------------ */

void pf_call_find_room(struct pf_call *call, const struct pf_call *other)
{
    const void *array[2] = {call->in, call->out};
    for (int i = 0; i < 2; i++) {
        struct pf_given given;
        int64_t all = alloc_bytes(call->plan);
        bool ours = pf_given_find(array[i], &given) && given.owner == &call->plan->handle && given.start == array[i];
        call->is_full[i] = ours && (call->in == call->out || !meet(array[i], all, array[!i], call->bytes[!i])) &&
                           !(other && (meet(array[i], all, other->in, other->bytes[0]) ||
                                       meet(array[i], all, other->out, other->bytes[1])));
    }
}

static int stand_in(pencilfft_plan plan, int extra, void **place)
{
    int status = pf_extra_make(plan, extra);
    *place = plan->memory.extra[extra];
    return status;
}

int pf_room_get(const struct pf_call *call, int64_t room_bytes, int64_t work_bytes, struct pf_arrays *arrays)
{
    *arrays = pf_arrays_full(call->in, call->out);
    int status = PENCILFFT_OK;
    if (!call->is_full[1] && room_bytes > call->bytes[1])
        status = stand_in(call->plan, PF_EXTRA_ROOM, &arrays->room);
    if (!status && !call->is_full[0] && work_bytes > call->bytes[0])
        status = stand_in(call->plan, PF_EXTRA_WORK, &arrays->work);
    return status;
}

int pf_inner_get(const struct pf_call *call, int64_t bytes, void **inner)
{
    *inner = call->out;
    return call->is_full[1] || bytes <= call->bytes[1] ? PENCILFFT_OK : stand_in(call->plan, PF_EXTRA_INNER, inner);
}
