/* Transpose through the shared memory of nodes.
 * Idea:  all messages of the ranks of a node lie in one shared block of memory. A transform packs directly into the block.
 *        Messages for ranks of the same node are unpacked in place by their receiver: they are written once and read once,
 *        without another copy. Messages for other nodes are sorted by node and sent as one message per node, which arrives
 *        in the shared block there and is unpacked from the block. With t ranks per node the network carries t^2 times fewer
 *        and larger messages; the ranks of a node share the work, each sending to some of the nodes. A block may be written
 *        again once all ranks of the node have read it. A barrier, started after each run and completed before the next
 *        write, ensures this; much time passes in between.
 * Source: A. Jocksch, M. Kraushaar, D. Daverio, Optimized all-to-all communication on multicore architectures applied to
 *         FFTs with pencil decomposition, 2018; shared_memory.c.
 * Cost:  one barrier inside the node, with several nodes a second; (nodes - 1) / t messages a rank. The block takes the
 *        place of the plan's buffers, and both directions of an exchange share the block.
 * Needs: room for the block in the system's shared memory, and 8 MB a rank left there for MPI. */
#include <stdlib.h>
#include <string.h>

#include "exchange/message_counts.h"
#include "exchange/shared_memory.h"
#include "geometry/geometry.h"

enum { TAG = 1 };

/* The message to a node, or from a node. */
struct parcel {
    int64_t start, elements;
    struct pf_amount amount;
    int peer; /* member who receives or sends the parcel */
    bool mine; /* this rank sends or receives the parcel */
};

struct node_state {
    struct pf_transpose t;
    struct pf_messages *sent, *received; /* of the plan; starts count from the block */
    struct pf_shared *shared;            /* of both directions */
    struct parcel *leaving, *coming; /* by node */
    MPI_Request *requests;
    int n_requests; /* of this run */
    MPI_Status *statuses; /* not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
};

static void release(void *state)
{
    struct node_state *a = state;
    pf_shared_leave(a->shared);
    for (int other = 0; other < a->t.p && a->leaving && a->coming; other++) {
        pf_amount_release(&a->leaving[other].amount);
        pf_amount_release(&a->coming[other].amount);
    }
    free(a->leaving);
    free(a->coming);
    free(a->requests);
    free(a->statuses);
}

static int allocate(struct node_state *a)
{
    size_t p = (size_t)a->t.p;
    const struct node_state *other = a->t.other_direction;
    a->shared = other ? pf_shared_join(other->shared) : pf_shared_make(p);
    a->leaving = calloc(p, sizeof *a->leaving);
    a->coming = calloc(p, sizeof *a->coming);
    a->requests = calloc(2 * p, sizeof *a->requests);
    a->statuses = calloc(2 * p, sizeof *a->statuses);
    if (!a->shared || !a->leaving || !a->coming || !a->requests || !a->statuses)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %zu ranks", p);
    return PENCILFFT_OK;
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    struct node_state *a = state;
    a->t = *t;
    a->sent = sent;
    a->received = received;
    return allocate(a);
}

/* ---- connecting --------------------------------------------------------------------------------------------- */

static int64_t message(const struct pf_transpose *t, int from, int to)
{
    pencilfft_box part = pf_box_common(&t->from[from], &t->to[to]);
    return pf_box_elements(&part) * t->fields;
}

/* All messages from members of a node to members of another. Forward, the lines are whole at the receivers: by target,
 * then by source, so that a rank receives one array. Backward, they are whole at the senders: by source, then by target.
 * Both ends of a parcel use this order. Returns the end of the parcel. */
static int64_t lay_out(struct node_state *a, int source_node, int target_node, int64_t start)
{
    const struct pf_shared *of = a->shared;
    const bool by_source = a->t.backward;
    const int *whole = &of->first[by_source ? source_node : target_node];
    const int *cut = &of->first[by_source ? target_node : source_node];
    for (int w = whole[0]; w < whole[1]; w++)
        for (int c = cut[0]; c < cut[1]; c++) {
            int i = of->members[by_source ? w : c], j = of->members[by_source ? c : w];
            if (i == a->t.me)
                a->sent->start[j] = start;
            if (j == a->t.me)
                a->received->start[i] = start;
            start += message(&a->t, i, j);
        }
    return start;
}

/* The rank that handles the parcels between a node and another: the ranks in turn, starting with the nearest other node. */
static int carrier(const struct pf_shared *shared, int node, int other)
{
    int distance = (other - node + shared->n) % shared->n, ranks = shared->first[node + 1] - shared->first[node];
    return shared->members[shared->first[node] + (distance - 1) % ranks];
}

static int make_parcel(const struct node_state *a, int other, int64_t start, int64_t end, struct parcel *parcel)
{
    *parcel = (struct parcel){
        .start = start,
        .elements = end - start,
        .peer = carrier(a->shared, other, a->shared->mine),
        .mine = carrier(a->shared, a->shared->mine, other) == a->t.me && end > start,
    };
    return parcel->mine ? pf_amount_make(end - start, a->t.element_bytes, &parcel->amount) : PENCILFFT_OK;
}

/* Sets *elements to the size of the block, which is the same in both directions. */
static int lay_out_all(struct node_state *a, int64_t *elements)
{
    int mine = a->shared->mine, status = PENCILFFT_OK;
    int64_t at = lay_out(a, mine, mine, 0);
    for (int other = 0; other < a->shared->n && !status; other++) {
        if (other == mine)
            continue;
        int64_t start = at, middle = lay_out(a, mine, other, start);
        at = lay_out(a, other, mine, middle);
        if (!(status = make_parcel(a, other, start, middle, &a->leaving[other])))
            status = make_parcel(a, other, middle, at, &a->coming[other]);
    }
    a->sent->total = a->received->total = *elements = at;
    return status;
}

/* Each rank reserves the memory that it will write; then the ranks agree. */
static int reserve(const struct node_state *a)
{
    size_t size = a->t.element_bytes;
    int status = PENCILFFT_OK;
    for (int j = 0; j < a->t.p && !status; j++)
        status = pf_shared_reserve(a->shared, (size_t)a->sent->start[j] * size, (size_t)a->sent->elements[j] * size);
    for (int other = 0; other < a->shared->n && !status; other++)
        if (a->coming[other].mine)
            status = pf_shared_reserve(a->shared, (size_t)a->coming[other].start * size,
                                       (size_t)a->coming[other].elements * size);
    return pf_agree(status, a->t.group);
}

static int make_block(struct node_state *a, size_t bytes)
{
    int status = pf_agree(pf_shared_open(a->shared, bytes), a->t.group);
    if (!status)
        status = reserve(a);
    if (!status)
        status = pf_agree(pf_shared_close(a->shared), a->t.group);
    if (!status)
        pf_shared_map(a->shared);
    return status;
}

/* The second direction shares the memory of the first. */
static int connect(void *state, void *from, void *to)
{
    struct node_state *a = state;
    int64_t elements = 0;
    bool first = !a->shared->block;
    int status = PENCILFFT_OK;
    (void)from, (void)to;
    if (a->t.p == 1 || (first && (status = pf_shared_find(a->shared, a->t.group))))
        return status;
    status = lay_out_all(a, &elements);
    if ((status = pf_agree(status, a->t.group)) || !first)
        return status;
    return make_block(a, (size_t)elements * a->t.element_bytes);
}

static void *memory(const void *state)
{
    const struct node_state *a = state;
    return a->shared->block;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static int receive_parcels(struct node_state *a)
{
    for (int other = 0; other < a->shared->n; other++) {
        const struct parcel *c = &a->coming[other];
        if (c->mine)
            PF_MPI_LARGE(MPI_Irecv, a->shared->block + (size_t)c->start * a->t.element_bytes, c->amount.count,
                         c->amount.type, c->peer, TAG, a->t.group, &a->requests[a->n_requests++]);
    }
    return PENCILFFT_OK;
}

/* To the nearest node above first, so that the ranks do not all send to the same node. */
static int send_parcels(struct node_state *a)
{
    for (int distance = 1; distance < a->shared->n; distance++) {
        const struct parcel *l = &a->leaving[(a->shared->mine + distance) % a->shared->n];
        if (l->mine)
            PF_MPI_LARGE(MPI_Isend, a->shared->block + (size_t)l->start * a->t.element_bytes, l->amount.count,
                         l->amount.type, l->peer, TAG, a->t.group, &a->requests[a->n_requests++]);
    }
    return PENCILFFT_OK;
}

static int begin(void *state, void *to)
{
    struct node_state *a = state;
    (void)to;
    a->n_requests = 0;
    int status = a->t.p > 1 ? pf_shared_wait_to_write(a->shared) : PENCILFFT_OK;
    return status ? status : receive_parcels(a);
}

static int move_parcels(struct node_state *a)
{
    int status = send_parcels(a);
    if (status)
        return status;
    PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
    return pf_shared_meet(a->shared);
}

static int start(void *state, void *from, void *to)
{
    struct node_state *a = state;
    (void)from, (void)to;
    int status = a->t.p > 1 ? pf_shared_meet_in(a->shared, 1 + a->t.backward) : PENCILFFT_OK;
    return status || a->shared->n <= 1 ? status : move_parcels(a);
}

static int end(void *state)
{
    const struct node_state *a = state;
    return a->t.p > 1 ? pf_shared_let_write(a->shared) : PENCILFFT_OK;
}

static void traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct node_state *a = state;
    for (int other = 0; other < a->shared->n; other++)
        if (a->leaving[other].mine) {
            bytes[a->leaving[other].peer] = a->leaving[other].elements * (int64_t)a->t.element_bytes;
            messages[a->leaving[other].peer] = 1;
        }
}

const struct pf_exchange pf_exchange_node = {
    .name = "node",
    .bytes = sizeof(struct node_state),
    .plan = plan,
    .start = start,
    .release = release,
    .direct = true,
    .begin = begin,
    .end = end,
    .connect = connect,
    .tied = true,
    .memory = memory,
    .traffic = traffic,
};
