/* An exchange of a lane in one direction, from creation to release; steps.c and execute.c run the exchange. */
#include <stdio.h>
#include <stdlib.h>

#include "layout/inside.h"

/* Names of the exchanges that run beside other work. */
static const char *those_beside(char text[128])
{
    const struct pf_exchange *exchange;
    int used = 0;
    for (int i = 0; (exchange = pf_exchange_at(i)); i++)
        if (exchange->beside && used < 100)
            used += snprintf(text + used, 128 - (size_t)used, "%s%s", used ? ", " : "", exchange->name);
    return text;
}

int pf_transfer_check(const struct pencilfft_plan_s *plan, int e)
{
    char names[128] = "";
    const struct pf_exchange *exchange = plan->chosen.exchange[e];
    if (plan->request.caller_work && exchange->tied && !exchange->memory)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "exchange %s is tied to the buffers with which the plan is made, and caller_work gives others; use "
                       "another exchange, or a plan without caller_work",
                       exchange->name);
    if (!(plan->chosen.asked->beside || plan->request.nonblocking) || plan->chosen.exchange[e]->beside)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_NOT_POSSIBLE,
                   "exchange %s cannot run beside other work, as %s%s needs it; use %s, or one of the exchanges %s",
                   plan->chosen.exchange[e]->name, plan->request.nonblocking ? "a nonblocking plan" : "schedule ",
                   plan->request.nonblocking ? "" : plan->chosen.asked->name,
                   plan->request.nonblocking ? "a plan without nonblocking" : "schedule sequence", those_beside(names));
}

int pf_transfer_plan(pencilfft_plan plan, int backward, int lane, int at)
{
    struct pf_lane *of = &plan->layout.lane[lane];
    struct pf_transfer *t = &of->transfer[backward][at];
    const struct pf_route *route = &plan->layout.route[of->route];
    int status = PENCILFFT_OK, e = route->exchange[at];
    const struct pf_exchange *exchange = plan->chosen.exchange[e];
    t->exchange = exchange;
    t->number = e;
    t->in_slots = plan->chosen.beside;
    t->transpose = (struct pf_transpose){
        .group = plan->layout.group[e],
        .p = plan->layout.p[e],
        .me = plan->layout.me[e],
        .from = of->boxes[at][backward],
        .to = of->boxes[at][!backward],
        .element_bytes = plan->layout.sent_bytes,
        .fields = of->field_end - of->field,
        .threads = plan->request.threads,
        .places = plan->layout.places[e].at ? &plan->layout.places[e] : NULL,
        .beside = plan->chosen.beside || plan->request.nonblocking,
        .lane = lane + backward * plan->layout.lanes,
        .backward = backward,
        .other_direction = of->transfer[!backward][at].state,
    };
    for (int sent = 1; sent >= 0 && !status; sent--) {
        struct pf_parts *parts = sent ? &t->sent : &t->received;
        int array = pf_exchanged_array(at, sent ? backward : !backward), pieces = pf_lane_pieces(plan, of, array);
        status = pf_exchange_parts(exchange, &t->transpose, sent, route->nearest[at], pieces, parts);
        for (int i = 0; i < pieces && parts->whole && !status; i++)
            parts->part[i] = pf_lane_piece(plan, of, array, i, &parts->list.start[i]);
    }
    return status ? status : pf_exchange_plan(exchange, &t->transpose, &t->sent, &t->received, &t->state);
}

int pf_transfer_connect(pencilfft_plan plan, int backward, int lane, int at)
{
    struct pf_lane *of = &plan->layout.lane[lane];
    struct pf_transfer *t = &of->transfer[backward][at];
    struct pf_joint joint = pf_joint_alone(plan, backward, of->route, at);
    int64_t slot = of->slot * (int64_t)plan->layout.sent_bytes;
    char *buffer[PF_BUFFERS];
    if (!t->state || !t->exchange->connect)
        return PENCILFFT_OK;
    const struct pf_arrays none = pf_arrays_full(NULL, NULL);
    pf_buffers_list(plan, backward, &none, buffer);
    return t->exchange->connect(t->state, buffer[joint.from] ? buffer[joint.from] + slot : NULL,
                                buffer[joint.to] ? buffer[joint.to] + slot : NULL);
}

/* ---- its messages as pieces of buffers -------------------------------------------------------------------------------- */

int pf_transfer_pieces(const struct pf_transfer *t, bool sent)
{
    return sent ? t->sent.list.p : t->received.list.p;
}

struct pf_piece pf_transfer_piece(const struct pf_lane *lane, const struct pf_transfer *t, const struct pf_joint *joint,
                                  bool sent, int i)
{
    bool own = sent && i == t->transpose.me && !t->exchange->moves_self && !t->in_slots && joint->kept != PF_KEPT_AMONG_SENT;
    int there = own && joint->kept == PF_KEPT_BY_ARRAYS ? PF_KEPT : joint->to;
    const struct pf_parts *parts = sent && !own ? &t->sent : &t->received;
    const pencilfft_box *box = &parts->part[i];
    int fields = t->transpose.fields; /* none in a chunk without fields */
    return (struct pf_piece){.buffer = sent && !own ? joint->from : there,
                             .box = *box,
                             .first = lane->field,
                             .fields = fields,
                             .start = lane->slot + parts->list.start[i],
                             .field = parts->whole ? (fields ? parts->list.total / fields : 0) : pf_box_elements(box)};
}

static void release(struct pf_transfer *t)
{
    pf_exchange_destroy(t->exchange, t->state);
    pf_parts_release(&t->sent);
    pf_parts_release(&t->received);
    *t = (struct pf_transfer){.state = NULL};
}

void pf_transfers_release(pencilfft_plan plan)
{
    for (int l = 0; l < plan->layout.lanes; l++)
        for (int backward = 0; backward < PF_DIRECTIONS; backward++)
            for (int at = 0; at < plan->layout.exchanges; at++)
                release(&plan->layout.lane[l].transfer[backward][at]);
}
