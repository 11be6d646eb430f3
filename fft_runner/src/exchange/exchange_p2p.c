/* Transpose by scheduled messages between pairs.
 * Idea:  in each phase a rank talks to one or a few others, in the order of partner_order.c. If the network is unknown, a
 *        rank sends one message and receives one message at a time. If the coordinates in a torus are known, the messages of
 *        a phase load the links of all dimensions and directions alike. Beside other work all messages are posted at once,
 *        in the same order.
 * Source: partner_order.c.
 * Cost:  p - 1 messages a rank, in p - 1 steps or, on a torus, about a quarter as many; an empty part is not sent.
 * Needs: no condition on p or on the extents. */
#include "exchange/message_counts.h"
#include "exchange/partner_order.h"

struct p2p {
    struct pf_calls calls;
    struct pf_partners partners;
};

static void release(void *state)
{
    struct p2p *a = state;
    pf_calls_release(&a->calls);
    pf_partners_release(&a->partners);
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    struct p2p *a = state;
    int status = pf_calls_plan(t, sent, received, &a->calls);
    return status ? status : pf_partners_make(t->p, t->me, t->places, &a->partners);
}

static int send_and_receive(const struct pf_calls *c, int target, int source, const void *from, void *to)
{
    struct pf_amount sent = c->sent.amount[target], received = c->received.amount[source];
    PF_MPI_LARGE(MPI_Sendrecv, pf_message_in(c, &c->sent, target, from), sent.count, sent.type,
                 sent.count ? target : MPI_PROC_NULL, c->lane, pf_message_in(c, &c->received, source, to), received.count,
                 received.type, received.count ? source : MPI_PROC_NULL, c->lane, c->group, MPI_STATUS_IGNORE);
    return PENCILFFT_OK;
}

/* Messages k to end - 1 of the order. */
static int post(struct p2p *a, int k, int end, const void *from, void *to)
{
    int status = PENCILFFT_OK;
    a->calls.n_requests = 0;
    for (int i = k; i < end && !status; i++)
        status = pf_calls_receive(&a->calls, a->partners.source[i], to);
    for (int i = k; i < end && !status; i++)
        status = pf_calls_send(&a->calls, a->partners.target[i], from);
    return status;
}

static int run_phase(struct p2p *a, int k, int end, const void *from, void *to)
{
    if (end - k == 1)
        return send_and_receive(&a->calls, a->partners.target[k], a->partners.source[k], from, to);
    int status = post(a, k, end, from, to);
    if (!status)
        PF_MPI(MPI_Waitall(a->calls.n_requests, a->calls.requests, a->calls.statuses));
    return status;
}

static int start(void *state, void *from, void *to)
{
    struct p2p *a = state;
    int status = PENCILFFT_OK;
    if (a->calls.beside)
        return post(a, 0, a->calls.p - 1, from, to);
    for (int i = 0, k = 0; i < a->partners.phases && !status; k = a->partners.end[i++])
        status = run_phase(a, k, a->partners.end[i], from, to);
    return status;
}

const struct pf_exchange pf_exchange_p2p = {
    .name = "p2p",
    .bytes = sizeof(struct p2p),
    .plan = plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .release = release,
    .beside = true,
};
