/* Transpose with the messages of a node gathered in its shared memory.
 * Idea:  the ranks of a node write their messages into one shared block, sorted by the node they go to; one rank of each
 *        node, the leader, sends each other node one message with all that any rank here has for any rank there; the
 *        ranks pick theirs out of the shared block that arrives. What stays inside the node never becomes a message.
 *        With t ranks a node the network sees t^2 times fewer and larger messages.
 * Source: A. Jocksch, M. Kraushaar, D. Daverio, Optimized all-to-all communication on multicore architectures applied
 *         to FFTs with pencil decomposition, 2018; MPI-3 shared memory (MPI_Win_allocate_shared).
 * Cost:  nodes - 1 messages a leader; two copies of all data and three barriers inside the node.
 * Needs: MPI-3 shared memory; what a node sends and receives must have starts that an MPI int counts. The environment
 *        variable PENCILFFT_RANKS_PER_NODE makes smaller nodes than the memory is shared by (NUMA domains, tests). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "failure.h"
#include "pencils.h"

struct node_state {
    struct pf_transpose t;
    int64_t *sent_start, *sent_n, *received_start, *received_n; /* by member, in the buffers of a run */
    int64_t *out, *in;           /* by member: where a message goes in the block, where one is found; in elements */
    MPI_Comm node, leaders;      /* leaders only on leaders */
    MPI_Win window;
    int64_t arrivals;            /* where in the block what comes from others begins; in elements */
    char *block;                 /* first all that leaves ranks of this node, then all that comes from others */
    int local, locals, nodes, my_node;
    int *node_of, *leader_of;    /* node of a member; member that leads a node */
    int *send_count, *send_start, *receive_count, *receive_start; /* by node, in elements; of what leaders exchange */
};

/* ---- planning ----------------------------------------------------------------------------------------------- */

static int allocate(struct node_state *a)
{
    size_t p = (size_t)a->t.p;
    int64_t **wide[] = {&a->sent_start, &a->sent_n, &a->received_start, &a->received_n, &a->out, &a->in};
    int **narrow[] = {&a->node_of,    &a->leader_of,     &a->send_count,
                      &a->send_start, &a->receive_count, &a->receive_start};
    int status = PENCILFFT_OK;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (!(*wide[i] = calloc(p, sizeof **wide[i])))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %zu ranks", p);
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
        if (!(*narrow[i] = calloc(p, sizeof **narrow[i])))
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %zu ranks", p);
    return status;
}

int pf_node_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    struct node_state *a = calloc(1, sizeof *a);
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->t = *t;
    a->node = a->leaders = MPI_COMM_NULL;
    a->window = MPI_WIN_NULL;
    int status = allocate(a);
    if (status) {
        pf_node_destroy(a);
        return status;
    }
    for (int j = 0; j < t->p; j++) {
        a->sent_start[j] = sent->start[j];
        a->sent_n[j] = sent->elements[j];
        a->received_start[j] = received->start[j];
        a->received_n[j] = received->elements[j];
    }
    *state = a;
    return status;
}

/* ---- connecting: who shares memory with whom ------------------------------------------------------------------ */

/* 0 when not asked for. All of the group take what its first rank was told. */
static int wished_size(MPI_Comm group, int *size)
{
    int status = PENCILFFT_OK;
    const char *text = getenv("PENCILFFT_RANKS_PER_NODE");
    *size = text ? atoi(text) : 0;
    PF_MPI(MPI_Bcast(size, 1, MPI_INT, 0, group));
done:
    return status;
}

static int make_smaller(MPI_Comm *node, int size)
{
    int status = PENCILFFT_OK, rank;
    MPI_Comm smaller;
    PF_MPI(MPI_Comm_rank(*node, &rank));
    PF_MPI(MPI_Comm_split(*node, rank / size, rank, &smaller));
    PF_MPI(MPI_Comm_free(node));
    *node = smaller;
done:
    return status;
}

static int find_node(struct node_state *a)
{
    int status = PENCILFFT_OK, size;
    if ((status = wished_size(a->t.group, &size)))
        return status;
    PF_MPI(MPI_Comm_split_type(a->t.group, MPI_COMM_TYPE_SHARED, a->t.me, MPI_INFO_NULL, &a->node));
    if (size > 0 && (status = make_smaller(&a->node, size)))
        return status;
    PF_MPI(MPI_Comm_set_errhandler(a->node, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Comm_rank(a->node, &a->local));
    PF_MPI(MPI_Comm_size(a->node, &a->locals));
done:
    return status;
}

static int find_others(struct node_state *a)
{
    int status = PENCILFFT_OK, about[2] = {0, 0};
    PF_MPI(MPI_Comm_split(a->t.group, a->local ? MPI_UNDEFINED : 0, a->t.me, &a->leaders));
    if (a->leaders != MPI_COMM_NULL) {
        PF_MPI(MPI_Comm_set_errhandler(a->leaders, MPI_ERRORS_RETURN));
        PF_MPI(MPI_Comm_rank(a->leaders, &about[0]));
        PF_MPI(MPI_Comm_size(a->leaders, &about[1]));
    }
    PF_MPI(MPI_Bcast(about, 2, MPI_INT, 0, a->node));
    a->my_node = about[0];
    a->nodes = about[1];
    PF_MPI(MPI_Allgather(&a->my_node, 1, MPI_INT, a->node_of, 1, MPI_INT, a->t.group));
    for (int j = a->t.p - 1; j >= 0; j--)
        a->leader_of[a->node_of[j]] = j; /* the first of its members, as both are in order of group rank */
done:
    return status;
}

/* ---- connecting: where everything lies ----------------------------------------------------------------------- */

static int64_t message(const struct pf_transpose *t, int from, int to)
{
    pencilfft_box part = pf_box_common(&t->from[from], &t->to[to]);
    return pf_box_elements(&part) * t->fields;
}

/* All messages from members of one node to members of another: source by source, in each target by target. Where one
 * begins that is of `me`, this is noted. Both ends of the exchange between leaders go through them in this order. */
static void lay_out(struct node_state *a, int source_node, int target_node, int64_t *at)
{
    for (int i = 0; i < a->t.p; i++)
        for (int j = 0; j < a->t.p && a->node_of[i] == source_node; j++) {
            if (a->node_of[j] != target_node)
                continue;
            if (i == a->t.me)
                a->out[j] = *at;
            if (j == a->t.me)
                a->in[i] = *at;
            *at += message(&a->t, i, j);
        }
}

static int to_int(int64_t value, int *narrow)
{
    *narrow = (int)value;
    return value <= INT_MAX ? PENCILFFT_OK
                            : pf_fail(PENCILFFT_TOO_LARGE, "the ranks of a node exchange %lld elements, more than the "
                                      "%d an MPI count can name; use more nodes", (long long)value, INT_MAX);
}

static int lay_out_all(struct node_state *a, int64_t *elements)
{
    int64_t at = 0;
    int status = PENCILFFT_OK;
    for (int node = 0; node < a->nodes; node++) {
        int64_t start = at;
        lay_out(a, a->my_node, node, &at);
        if (node != a->my_node && ((status = to_int(at, &a->send_count[node])) ||
                                   (status = to_int(start, &a->send_start[node]))))
            return status;
        if (node != a->my_node)
            a->send_count[node] = (int)(at - start);
    }
    a->arrivals = at;
    for (int node = 0; node < a->nodes; node++) {
        int64_t start = at;
        if (node == a->my_node)
            continue;
        lay_out(a, node, a->my_node, &at);
        if ((status = to_int(at, &a->receive_count[node])) ||
            (status = to_int(start - a->arrivals, &a->receive_start[node])))
            return status;
        a->receive_count[node] = (int)(at - start);
    }
    *elements = at;
    return status;
}

static int share_memory(struct node_state *a, int64_t elements)
{
    int status = PENCILFFT_OK, unit;
    MPI_Aint bytes = a->local ? 0 : (MPI_Aint)((size_t)elements * a->t.element_bytes), size;
    PF_MPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, a->node, &a->block, &a->window));
    PF_MPI(MPI_Win_set_errhandler(a->window, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Win_shared_query(a->window, 0, &size, &unit, &a->block));
    PF_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, a->window));
done:
    return status;
}

int pf_node_connect(void *state, void *from, void *to)
{
    struct node_state *a = state;
    int64_t elements = 0;
    int status = PENCILFFT_OK;
    (void)from, (void)to;
    if (a->t.p == 1)
        return status;
    if ((status = find_node(a)) || (status = find_others(a)) ||
        (status = pf_agree(lay_out_all(a, &elements), a->t.group)))
        return status;
    return share_memory(a, elements);
}

/* ---- running ------------------------------------------------------------------------------------------------- */

/* All that the ranks of the node wrote before is seen by all of them behind it. */
static int meet(struct node_state *a)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Win_sync(a->window));
    PF_MPI(MPI_Barrier(a->node));
    PF_MPI(MPI_Win_sync(a->window));
done:
    return status;
}

static void put(const struct node_state *a, const char *from)
{
    size_t size = a->t.element_bytes;
    for (int j = 0; j < a->t.p; j++)
        if (j != a->t.me)
            memcpy(a->block + (size_t)a->out[j] * size, from + (size_t)a->sent_start[j] * size,
                   (size_t)a->sent_n[j] * size);
}

static void get(const struct node_state *a, char *to)
{
    size_t size = a->t.element_bytes;
    for (int i = 0; i < a->t.p; i++)
        if (i != a->t.me)
            memcpy(to + (size_t)a->received_start[i] * size, a->block + (size_t)a->in[i] * size,
                   (size_t)a->received_n[i] * size);
}

static int between_nodes(struct node_state *a)
{
    int status = PENCILFFT_OK;
    MPI_Datatype element = pf_element_type(a->t.element_bytes);
    char *arrivals = a->block + (size_t)a->arrivals * a->t.element_bytes;
    if (a->leaders != MPI_COMM_NULL && a->nodes > 1)
        PF_MPI(MPI_Alltoallv(a->block, a->send_count, a->send_start, element, arrivals, a->receive_count,
                             a->receive_start, element, a->leaders));
done:
    return status;
}

int pf_node_run(void *state, const struct pf_run *run, void *from, void *to)
{
    struct node_state *a = state;
    int status = PENCILFFT_OK;
    (void)run;
    if (a->t.p == 1)
        return status;
    put(a, from);
    if ((status = meet(a)) || (status = between_nodes(a)) || (status = meet(a)))
        return status;
    get(a, to);
    return meet(a); /* nobody writes his next messages over what others still read */
}

void pf_node_traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct node_state *a = state;
    if (a->leaders == MPI_COMM_NULL)
        return;
    for (int node = 0; node < a->nodes; node++)
        if (node != a->my_node && a->send_count[node]) {
            bytes[a->leader_of[node]] = a->send_count[node] * (int64_t)a->t.element_bytes;
            messages[a->leader_of[node]] = 1;
        }
}

void pf_node_destroy(void *state)
{
    struct node_state *a = state;
    if (a->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(a->window);
        MPI_Win_free(&a->window);
    }
    if (a->leaders != MPI_COMM_NULL)
        MPI_Comm_free(&a->leaders);
    if (a->node != MPI_COMM_NULL)
        MPI_Comm_free(&a->node);
    void *lists[] = {a->sent_start, a->sent_n,     a->received_start, a->received_n, a->out,           a->in,
                     a->node_of,    a->leader_of,  a->send_count,     a->send_start, a->receive_count, a->receive_start};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        free(lists[i]);
    free(a);
}
