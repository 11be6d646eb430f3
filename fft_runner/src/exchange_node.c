/* Transpose through the shared memory of nodes.
 * Idea:  all messages of the ranks of a node lie in one block of memory that they share. A transform packs straight into
 *        it. Those for ranks of the same node are unpacked from where they lie, by whoever they are for: they are
 *        written once and read once, and nothing copies them. Those that leave are sorted by the node they go to, and
 *        leave as one message for each other node, which arrives in the shared block there and is unpacked from it.
 *        With t ranks a node the network sees t^2 times fewer and larger messages; the ranks of a node share the work,
 *        each carries those of some nodes.
 *        A block may be written again when all on the node have read it: they say so in a barrier that is begun behind
 *        each run and waited for at the start of the next, between which much time passes.
 * Source: A. Jocksch, M. Kraushaar, D. Daverio, Optimized all-to-all communication on multicore architectures applied
 *         to FFTs with pencil decomposition, 2018; MPI-3 shared memory (MPI_Win_allocate_shared).
 * Cost:  one barrier inside the node, a second one where there are other nodes; (nodes - 1) / t messages a rank. The
 *        block takes the place of the plan's buffers.
 * Needs: MPI-3 shared memory, with room for the block where the system keeps it; messages between two nodes that an MPI
 *        int counts. The environment variable PENCILFFT_RANKS_PER_NODE makes smaller nodes than the memory is shared
 *        by (NUMA domains, tests). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "exchanges.h"
#include "failure.h"
#include "pencils.h"

enum { TAG = 1, ALIGNMENT = 64 };

/* What leaves for a node, or comes from one. */
struct parcel {
    int64_t start;
    int elements;
    int peer; /* member who takes or sends it */
    bool mine; /* this rank carries it */
};

struct node_state {
    struct pf_transpose t;
    struct pf_messages *sent, *received; /* of the plan; they begin at `block` */
    MPI_Comm node;
    MPI_Win window;
    MPI_Request all_read; /* the barrier behind the last run */
    char *block;
    int local, locals, nodes, my_node;
    int *node_of;                   /* by member */
    int *members, *first;           /* those of node n: members[first[n]] to members[first[n + 1] - 1], ascending */
    struct parcel *leaving, *coming; /* by node */
    MPI_Request *requests;
    MPI_Status *statuses; /* not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
};

/* ---- planning ----------------------------------------------------------------------------------------------- */

static int allocate(struct node_state *a)
{
    size_t p = (size_t)a->t.p; /* there are at most as many nodes */
    a->node_of = calloc(p, sizeof *a->node_of);
    a->members = calloc(p, sizeof *a->members);
    a->first = calloc(p + 1, sizeof *a->first);
    a->leaving = calloc(p, sizeof *a->leaving);
    a->coming = calloc(p, sizeof *a->coming);
    a->requests = calloc(2 * p, sizeof *a->requests);
    a->statuses = calloc(2 * p, sizeof *a->statuses);
    if (!a->node_of || !a->members || !a->first || !a->leaving || !a->coming || !a->requests || !a->statuses)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %zu ranks", p);
    return PENCILFFT_OK;
}

int pf_node_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    struct node_state *a = calloc(1, sizeof *a);
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->t = *t;
    a->sent = sent;
    a->received = received;
    a->node = MPI_COMM_NULL;
    a->window = MPI_WIN_NULL;
    a->all_read = MPI_REQUEST_NULL;
    int status = allocate(a);
    if (status)
        pf_node_destroy(a);
    else
        *state = a;
    return status;
}

/* ---- connecting: who shares memory with whom ------------------------------------------------------------------ */

static int take_size(const char *text, int *size)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > INT_MAX)
        return pf_fail(PENCILFFT_BAD_CALL, "the environment variable PENCILFFT_RANKS_PER_NODE is '%.60s'; it must be a "
                       "number of ranks, at least 1, or not be set", text);
    *size = (int)value;
    return PENCILFFT_OK;
}

/* All of the group take what its first rank was told. 0 when not asked for. */
static int wished_size(const struct pf_transpose *t, int *size)
{
    const char *text = t->me ? NULL : getenv("PENCILFFT_RANKS_PER_NODE");
    *size = 0;
    int status = pf_agree(text ? take_size(text, size) : PENCILFFT_OK, t->group);
    if (!status)
        PF_MPI(MPI_Bcast(size, 1, MPI_INT, 0, t->group));
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
    if ((status = wished_size(&a->t, &size)))
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

/* Nodes are numbered in the order of their first members. */
static int number_nodes(struct node_state *a)
{
    int status = PENCILFFT_OK, leader = a->t.me, p = a->t.p;
    PF_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, a->node));
    PF_MPI(MPI_Allgather(&leader, 1, MPI_INT, a->node_of, 1, MPI_INT, a->t.group));
    for (int j = 0; j < p; j++) /* leaders come before those they lead */
        a->node_of[j] = a->node_of[j] == j ? a->nodes++ : a->node_of[a->node_of[j]];
    a->my_node = a->node_of[a->t.me];
    for (int node = 0, n = 0; node < a->nodes; node++) {
        for (int j = 0; j < p; j++)
            if (a->node_of[j] == node)
                a->members[n++] = j;
        a->first[node + 1] = n;
    }
done:
    return status;
}

/* ---- connecting: where everything lies ----------------------------------------------------------------------- */

static int64_t message(const struct pf_transpose *t, int from, int to)
{
    pencilfft_box part = pf_box_common(&t->from[from], &t->to[to]);
    return pf_box_elements(&part) * t->fields;
}

/* All messages from members of one node to members of another: source by source, in each target by target. Both ends of
 * a parcel go through it in this order. Gives where it ends. */
static int64_t lay_out(struct node_state *a, int source_node, int target_node, int64_t start)
{
    for (int s = a->first[source_node]; s < a->first[source_node + 1]; s++)
        for (int r = a->first[target_node]; r < a->first[target_node + 1]; r++) {
            int i = a->members[s], j = a->members[r];
            if (i == a->t.me)
                a->sent->start[j] = start;
            if (j == a->t.me)
                a->received->start[i] = start;
            start += message(&a->t, i, j);
        }
    return start;
}

/* Who carries what passes between a node and another: its ranks in turn, from the nearest other node on. */
static int carrier(const struct node_state *a, int node, int other)
{
    int distance = (other - node + a->nodes) % a->nodes, ranks = a->first[node + 1] - a->first[node];
    return a->members[a->first[node] + (distance - 1) % ranks];
}

static int make_parcel(const struct node_state *a, int node, int64_t start, int64_t end, struct parcel *parcel)
{
    if (end - start > INT_MAX)
        return pf_fail(PENCILFFT_TOO_LARGE, "the ranks of two nodes exchange %lld elements, more than the %d an MPI count "
                       "can name; use more nodes", (long long)(end - start), INT_MAX);
    *parcel = (struct parcel){
        .start = start,
        .elements = (int)(end - start),
        .peer = carrier(a, node, a->my_node),
        .mine = carrier(a, a->my_node, node) == a->t.me && end > start,
    };
    return PENCILFFT_OK;
}

static int lay_out_all(struct node_state *a, int64_t *elements)
{
    int64_t at = lay_out(a, a->my_node, a->my_node, 0);
    int status = PENCILFFT_OK;
    for (int node = 0; node < a->nodes && !status; node++) {
        if (node == a->my_node)
            continue;
        int64_t start = at, middle = lay_out(a, a->my_node, node, start);
        at = lay_out(a, node, a->my_node, middle);
        if (!(status = make_parcel(a, node, start, middle, &a->leaving[node])))
            status = make_parcel(a, node, middle, at, &a->coming[node]);
    }
    a->sent->total = a->received->total = *elements = at;
    return status;
}

/* MPI libraries keep shared memory there, and some hang when it has no room. */
static int check_room(const struct node_state *a, size_t bytes)
{
    static const char place[] = "/dev/shm";
    struct statvfs room;
    if (a->local || statvfs(place, &room) || bytes / room.f_frsize < room.f_bavail)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_NOT_POSSIBLE, "exchange node needs %zu bytes of shared memory on a node and %s has %llu left; "
                   "make it larger or use another exchange", bytes, place,
                   (unsigned long long)room.f_bavail * room.f_frsize);
}

static int share_memory(struct node_state *a, size_t bytes)
{
    int status = PENCILFFT_OK, unit;
    MPI_Aint mine = a->local ? 0 : (MPI_Aint)bytes, size;
    PF_MPI(MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, a->node, &a->block, &a->window));
    PF_MPI(MPI_Win_set_errhandler(a->window, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Win_shared_query(a->window, 0, &size, &unit, &a->block));
    PF_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, a->window));
    a->block += (ALIGNMENT - (uintptr_t)a->block % ALIGNMENT) % ALIGNMENT; /* the same on all: pages are aligned */
done:
    return status;
}

/* Memory that is written to for the first time is taken then, near to who does it: each what it will write. */
static void touch(const struct node_state *a)
{
    size_t size = a->t.element_bytes;
    for (int j = 0; j < a->t.p; j++)
        memset(a->block + (size_t)a->sent->start[j] * size, 0, (size_t)a->sent->elements[j] * size);
    for (int node = 0; node < a->nodes; node++)
        if (a->coming[node].mine)
            memset(a->block + (size_t)a->coming[node].start * size, 0, (size_t)a->coming[node].elements * size);
}

int pf_node_connect(void *state, void *from, void *to)
{
    struct node_state *a = state;
    int64_t elements = 0;
    int status = PENCILFFT_OK;
    (void)from, (void)to;
    if (a->t.p == 1)
        return status;
    if ((status = find_node(a)) || (status = number_nodes(a)))
        return status;
    status = lay_out_all(a, &elements);
    size_t bytes = (size_t)elements * a->t.element_bytes + ALIGNMENT;
    if (!status)
        status = check_room(a, bytes);
    if ((status = pf_agree(status, a->t.group)) || (status = share_memory(a, bytes)))
        return status;
    touch(a);
    return status;
}

void *pf_node_memory(const void *state)
{
    const struct node_state *a = state;
    return a->block;
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

static int let_write(struct node_state *a)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Win_sync(a->window));
    PF_MPI(MPI_Ibarrier(a->node, &a->all_read));
done:
    return status;
}

static int wait_to_write(struct node_state *a)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Wait(&a->all_read, MPI_STATUS_IGNORE));
    PF_MPI(MPI_Win_sync(a->window));
done:
    return status;
}

static int receive_parcels(struct node_state *a, int *n)
{
    int status = PENCILFFT_OK;
    MPI_Datatype element = pf_element_type(a->t.element_bytes);
    for (int node = 0; node < a->nodes; node++) {
        const struct parcel *c = &a->coming[node];
        if (c->mine)
            PF_MPI(MPI_Irecv(a->block + (size_t)c->start * a->t.element_bytes, c->elements, element, c->peer, TAG,
                             a->t.group, &a->requests[(*n)++]));
    }
done:
    return status;
}

/* To the nearest node above first, so that not all send to the same one. */
static int send_parcels(struct node_state *a, int *n)
{
    int status = PENCILFFT_OK;
    MPI_Datatype element = pf_element_type(a->t.element_bytes);
    for (int distance = 1; distance < a->nodes; distance++) {
        const struct parcel *l = &a->leaving[(a->my_node + distance) % a->nodes];
        if (l->mine)
            PF_MPI(MPI_Isend(a->block + (size_t)l->start * a->t.element_bytes, l->elements, element, l->peer, TAG,
                             a->t.group, &a->requests[(*n)++]));
    }
done:
    return status;
}

static int move_all(struct node_state *a, const struct pf_run *run)
{
    int n = 0, status = PENCILFFT_OK;
    if ((status = wait_to_write(a)) || (status = receive_parcels(a, &n)))
        return status;
    pf_produce(run, 0);
    if ((status = meet(a)))
        return status;
    if (a->nodes > 1) {
        if ((status = send_parcels(a, &n)))
            return status;
        PF_MPI(MPI_Waitall(n, a->requests, a->statuses));
        if ((status = meet(a)))
            return status;
    }
    pf_consume(run, 0);
    status = let_write(a);
done:
    return status;
}

int pf_node_run(void *state, const struct pf_run *run, void *from, void *to)
{
    struct node_state *a = state;
    (void)from, (void)to;
    if (a->t.p > 1)
        return move_all(a, run);
    pf_produce(run, 0);
    pf_consume(run, 0);
    return PENCILFFT_OK;
}

void pf_node_traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct node_state *a = state;
    for (int node = 0; node < a->nodes; node++)
        if (a->leaving[node].mine) {
            bytes[a->leaving[node].peer] = a->leaving[node].elements * (int64_t)a->t.element_bytes;
            messages[a->leaving[node].peer] = 1;
        }
}

void pf_node_destroy(void *state)
{
    struct node_state *a = state;
    if (a->all_read != MPI_REQUEST_NULL)
        MPI_Wait(&a->all_read, MPI_STATUS_IGNORE);
    if (a->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(a->window);
        MPI_Win_free(&a->window);
    }
    if (a->node != MPI_COMM_NULL)
        MPI_Comm_free(&a->node);
    free(a->node_of);
    free(a->members);
    free(a->first);
    free(a->leaving);
    free(a->coming);
    free(a->requests);
    free(a->statuses);
    free(a);
}
