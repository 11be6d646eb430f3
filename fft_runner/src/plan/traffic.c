/* How much each rank sends to each other rank, from the plan alone.
 * Idea:  an algorithm that sends anything other than its messages (padding, other ranks in between) says so itself. For the
 *        others, the common part of two boxes is sent, one message for each non-empty part (or one per slice). */
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/plan.h"

static void count_messages(const struct pf_transfer *t, int64_t *bytes, int64_t *messages)
{
    const struct pf_messages *list = &t->sent.list;
    for (int i = 0; i < list->p * list->slices; i++) {
        int j = i % list->p;
        if (j == t->transpose.me || list->elements[i] == 0)
            continue;
        bytes[j] += list->elements[i] * (int64_t)t->transpose.element_bytes;
        messages[j]++;
    }
}

static void count_boxes(const struct pf_transfer *transfer, int64_t *bytes, int64_t *messages)
{
    const struct pf_transpose *t = &transfer->transpose;
    for (int j = 0; j < t->p; j++) {
        pencilfft_box part = pf_box_common(&t->from[t->me], &t->to[j]);
        int64_t n = pf_box_elements(&part) * t->fields * (int64_t)t->element_bytes;
        if (j == t->me || n == 0)
            continue;
        bytes[j] = n;
        messages[j] = 1;
    }
}

static void count(const struct pf_transfer *t, int64_t *bytes, int64_t *messages)
{
    if (t->exchange->traffic)
        t->exchange->traffic(t->state, bytes, messages);
    else if (t->exchange->takes == PF_BOXES)
        count_boxes(t, bytes, messages);
    else
        count_messages(t, bytes, messages);
}

int pencilfft_traffic(pencilfft_plan plan, int e, pencilfft_direction direction, int64_t *bytes, int64_t *messages)
{
    if (!pf_is_exchange(plan, e))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_traffic: null plan, or no such exchange");
    const struct pf_transfer *t = &plan->transfer[direction == PENCILFFT_BACKWARD][e];
    if (!t->exchange || (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_traffic: the plan has no such exchange in this direction");
    int64_t *both = calloc(2 * (size_t)t->transpose.p, sizeof *both);
    if (!both)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the traffic of %d ranks", t->transpose.p);
    int64_t *per_message = both + t->transpose.p;
    count(t, both, per_message);
    if (bytes)
        memset(bytes, 0, (size_t)plan->ranks * sizeof *bytes);
    if (messages)
        memset(messages, 0, (size_t)plan->ranks * sizeof *messages);
    for (int j = 0; j < t->transpose.p; j++) {
        if (bytes)
            bytes[pf_member(plan, e, j)] = both[j];
        if (messages)
            messages[pf_member(plan, e, j)] = per_message[j];
    }
    free(both);
    return PENCILFFT_OK;
}

static const struct pf_exchange *chosen(pencilfft_plan plan, int e)
{
    return pf_is_exchange(plan, e) ? plan->chosen[e] : NULL;
}

const char *pencilfft_exchange_chosen(pencilfft_plan plan, int e)
{
    const struct pf_exchange *exchange = chosen(plan, e);
    return exchange ? exchange->name : NULL;
}

const char *pencilfft_exchange_means(pencilfft_plan plan, int e)
{
    const struct pf_exchange *exchange = chosen(plan, e);
    return exchange ? exchange->means : NULL;
}
