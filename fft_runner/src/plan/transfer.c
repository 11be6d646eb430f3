/* An exchange of a plan in one direction, made and ended; steps.c and execute.c run it. */
#include "plan/make.h"

/* The axis that both sides of an exchange divide alike. */
static int slice_axis(const struct pf_decomposition *d, int e)
{
    int axis = 0;
    while (axis < 2 && d->array[e].over[axis] != d->array[e + 1].over[axis])
        axis++;
    return axis;
}

int pf_transfer_plan(pencilfft_plan plan, int backward, int e)
{
    const struct pf_exchange *exchange = plan->chosen[e];
    struct pf_transfer *t = &plan->transfer[backward][e];
    int status = PENCILFFT_OK;
    t->exchange = exchange;
    t->transpose = (struct pf_transpose){
        .group = plan->group[e],
        .p = plan->p[e],
        .me = plan->me[e],
        .from = plan->boxes[e][backward],
        .to = plan->boxes[e][!backward],
        .element_bytes = plan->element_bytes,
        .fields = plan->fields,
        .slice_axis = slice_axis(plan->geometry.decomposition, e),
        .other_direction = plan->transfer[!backward][e].state,
    };
    if (exchange->takes == PF_BOXES)
        return exchange->plan(&t->transpose, NULL, NULL, &t->state);
    int slices = exchange->slices ? exchange->slices(&t->transpose) : 1;
    if (!(status = pf_parts_make(&t->transpose, true, slices, &t->sent)))
        status = pf_parts_make(&t->transpose, false, slices, &t->received);
    return status ? status : exchange->plan(&t->transpose, &t->sent.list, &t->received.list, &t->state);
}

int pf_transfer_connect(pencilfft_plan plan, int backward, int e)
{
    struct pf_transfer *t = &plan->transfer[backward][e];
    struct pf_joint joint = pf_joint_alone(plan, backward, e);
    char *buffer[PF_BUFFERS];
    if (!t->state || !t->exchange->connect)
        return PENCILFFT_OK;
    pf_buffers_list(plan, backward, NULL, NULL, buffer);
    bool boxes = t->exchange->takes == PF_BOXES;
    return t->exchange->connect(t->state, boxes ? NULL : buffer[joint.from], boxes ? NULL : buffer[joint.to]);
}

void pf_transfer_release(struct pf_transfer *t)
{
    if (t->state)
        t->exchange->destroy(t->state);
    pf_parts_release(&t->sent);
    pf_parts_release(&t->received);
    *t = (struct pf_transfer){.state = NULL};
}
