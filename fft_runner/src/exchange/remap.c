/* Redistribution of an array from one set of boxes to another.
 * Idea:  the intersection of a rank's box before and another rank's box after is a message, as in a transpose. Ranks that
 *        are joined by a chain of such messages are a group, with a communicator of its own, and an exchange algorithm moves
 *        its messages: so bricks that fill a few pencils are remapped among these ranks alone. An exchange only for
 *        transposes is replaced by alltoallv. A rank's own data are copied and not sent.
 * Source: groups are found by hooking and pointer jumping: Y. Shiloach, U. Vishkin, An O(log n) parallel connectivity
 *         algorithm, J. Algorithms 3 (1982).
 * Cost:  making a remap: a look at the boxes of all ranks, O(P), and an all-reduce of P numbers in each of some log P
 *        rounds. Running: packing, an exchange, unpacking, and two buffers as large as the sent and the received data. */
#include "exchange/remap.h"

#include <stdlib.h>
#include <string.h>

#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

enum { Z = 2, WAYS = 2, ALIGNMENT = 64 };

struct way {
    struct pf_transpose transpose;
    struct pf_parts sent, received;
    void *state;
};

struct pf_remap {
    const struct pf_exchange *exchange;
    struct pf_communicators *communicators;
    MPI_Comm group; /* of these */
    int p, me, *member;
    pencilfft_box *boxes[WAYS]; /* of the members: before and after */
    struct way way[WAYS];       /* by backward */
    void *raw[2], *buffer[2];   /* send buffer and receive buffer */
    int64_t bytes[2];           /* of these */
};

/* ---- groups --------------------------------------------------------------------------------------------------------- */

static bool have_common(const pencilfft_box *a, const pencilfft_box *b)
{
    pencilfft_box common = pf_box_common(a, b);
    return pf_box_elements(&common) > 0;
}

static bool are_partners(const struct pf_remap_request *r, int one, int other)
{
    return have_common(&r->from[one], &r->to[other]) || have_common(&r->to[one], &r->from[other]);
}

static void lower(int *number, int to)
{
    *number = to < *number ? to : *number;
}

/* Each rank and the roots of its partners get the least of their labels. */
static void hook(const struct pf_remap_request *r, const int *partner, int partners, const int *label, int *next)
{
    int least = label[r->me];
    for (int i = 0; i < partners; i++)
        lower(&least, label[partner[i]]);
    lower(&next[label[r->me]], least);
    lower(&next[r->me], least);
    for (int i = 0; i < partners; i++) {
        lower(&next[label[partner[i]]], least);
        lower(&next[partner[i]], least);
    }
}

/* A label is never above the number of its rank, so that a single sweep upwards finds all roots. */
static void jump(int *label, int ranks)
{
    for (int i = 0; i < ranks; i++)
        label[i] = label[label[i]];
}

/* label[rank] is the least rank of its group. `room` has space for twice as many numbers. */
static int find_groups(const struct pf_remap_request *r, int *label, int *room)
{
    int *next = room, *partner = room + r->ranks, partners = 0;
    bool again = true;
    for (int j = 0; j < r->ranks; j++) {
        label[j] = j;
        if (j != r->me && are_partners(r, r->me, j))
            partner[partners++] = j;
    }
    while (again) {
        memcpy(next, label, (size_t)r->ranks * sizeof *next);
        hook(r, partner, partners, label, next);
        PF_MPI(MPI_Allreduce(MPI_IN_PLACE, next, r->ranks, MPI_INT, MPI_MIN, r->communicators->all));
        jump(next, r->ranks);
        again = memcmp(label, next, (size_t)r->ranks * sizeof *next) != 0;
        memcpy(label, next, (size_t)r->ranks * sizeof *next);
    }
    return PENCILFFT_OK;
}

static int take_members(const struct pf_remap_request *r, const int *label, struct pf_remap *remap)
{
    for (int j = 0; j < r->ranks; j++)
        remap->p += label[j] == label[r->me];
    size_t p = (size_t)remap->p;
    remap->member = calloc(p, sizeof *remap->member);
    remap->boxes[0] = calloc(p, sizeof *remap->boxes[0]);
    remap->boxes[1] = calloc(p, sizeof *remap->boxes[1]);
    if (!remap->member || !remap->boxes[0] || !remap->boxes[1])
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %zu ranks", p);
    for (int j = 0, i = 0; j < r->ranks; j++)
        if (label[j] == label[r->me]) {
            if (j == r->me)
                remap->me = i;
            remap->member[i] = j;
            remap->boxes[0][i] = r->from[j];
            remap->boxes[1][i++] = r->to[j];
        }
    return PENCILFFT_OK;
}

static int make_group(const struct pf_remap_request *r, struct pf_remap *remap)
{
    int *label = calloc(3 * (size_t)r->ranks, sizeof *label);
    int status = label ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for the groups of %d ranks", r->ranks);
    if (!(status = pf_agree(status, r->communicators->all)))
        status = find_groups(r, label, label + r->ranks);
    if (!status)
        status = pf_agree(take_members(r, label, remap), r->communicators->all);
    if (!status)
        status = pf_group_join(r->communicators, &(struct pf_group_key){.label = label}, &remap->group);
    free(label);
    return status;
}

/* ---- messages ------------------------------------------------------------------------------------------------------- */

static int plan_way(const struct pf_remap_request *r, struct pf_remap *remap, int backward)
{
    struct way *way = &remap->way[backward];
    int status = PENCILFFT_OK;
    way->transpose = (struct pf_transpose){
        .group = remap->group,
        .p = remap->p,
        .me = remap->me,
        .from = remap->boxes[backward],
        .to = remap->boxes[!backward],
        .element_bytes = r->sent_bytes,
        .array_bytes = r->element_bytes,
        .fields = r->fields,
        .threads = r->threads,
        .sparse = true,
        .beside = r->beside,
        .lane = backward,
        .other_direction = remap->way[!backward].state,
    };
    if (!(status = pf_exchange_parts(remap->exchange, &way->transpose, true, Z, 1, &way->sent)))
        status = pf_exchange_parts(remap->exchange, &way->transpose, false, Z, 1, &way->received);
    return status ? status : pf_exchange_plan(remap->exchange, &way->transpose, &way->sent, &way->received, &way->state);
}

static bool has_way(const struct pf_remap_request *r, int backward)
{
    return r->directions & (backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD);
}

static int plan_ways(const struct pf_remap_request *r, struct pf_remap *remap)
{
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < WAYS && !status; backward++)
        if (has_way(r, backward))
            status = plan_way(r, remap, backward);
    return status;
}

static int make_buffers(const struct pf_remap_request *r, struct pf_remap *remap)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < 2 && !status; i++) {
        int64_t elements = 0;
        for (int backward = 0; backward < WAYS; backward++) {
            const struct way *way = &remap->way[backward];
            elements = pf_larger(elements, i ? way->received.list.total : way->sent.list.total);
        }
        remap->bytes[i] = elements * (int64_t)r->sent_bytes;
        status = pf_aligned_make((size_t)remap->bytes[i], &remap->raw[i], &remap->buffer[i]);
    }
    return status;
}

/* On all ranks in the same order; a failure of a group ends all. */
static int connect(const struct pf_remap_request *r, struct pf_remap *remap)
{
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < WAYS && !status; backward++) {
        if (has_way(r, backward) && remap->exchange->connect)
            status = remap->exchange->connect(remap->way[backward].state, remap->buffer[0], remap->buffer[1]);
        status = pf_agree(status, r->communicators->all);
    }
    return status;
}

static const struct pf_exchange *suitable(const struct pf_remap_request *r)
{
    return r->exchange->plan && !r->exchange->transposes_alone ? r->exchange : pf_table_find(&pf_exchanges, "alltoallv");
}

static int make(const struct pf_remap_request *r, struct pf_remap *remap)
{
    int status = make_group(r, remap);
    if (!status)
        status = pf_agree(plan_ways(r, remap), r->communicators->all);
    if (!status)
        status = pf_agree(make_buffers(r, remap), r->communicators->all);
    return status ? status : connect(r, remap);
}

int pf_remap_make(const struct pf_remap_request *r, struct pf_remap **remap)
{
    struct pf_remap *made = calloc(1, sizeof *made);
    *remap = NULL;
    int status = made ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for a remap");
    if ((status = pf_agree(status, r->communicators->all))) {
        free(made);
        return status;
    }
    made->communicators = r->communicators;
    made->group = MPI_COMM_NULL;
    made->exchange = suitable(r);
    if (!(status = make(r, made)))
        *remap = made;
    else if (status != PENCILFFT_MPI_ERROR)
        pf_remap_release(made);
    return status;
}

int64_t pf_remap_lay(struct pf_remap *remap, char *memory)
{
    int64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        if (memory)
            remap->buffer[i] = memory + bytes;
        bytes += (remap->bytes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return bytes;
}

void pf_remap_leave_buffers(struct pf_remap *remap)
{
    for (int i = 0; i < 2; i++) {
        free(remap->raw[i]);
        remap->raw[i] = remap->buffer[i] = NULL;
    }
}

int pf_remap_release(struct pf_remap *remap)
{
    int status = PENCILFFT_OK;
    if (!remap)
        return status;
    for (int backward = 0; backward < WAYS; backward++) {
        struct way *way = &remap->way[backward];
        pf_exchange_destroy(remap->exchange, way->state);
        pf_parts_release(&way->sent);
        pf_parts_release(&way->received);
        free(remap->boxes[backward]);
        free(remap->raw[backward]);
    }
    free(remap->member);
    status = pf_group_leave(remap->communicators, &remap->group);
    free(remap);
    return status;
}

/* ---- running -------------------------------------------------------------------------------------------------------- */

/* Address of sent or received messages: in memory of the exchange, or in the buffers. */
static void *messages_of(const struct pf_remap *remap, int backward, bool sent)
{
    void *memory = remap->exchange->memory ? remap->exchange->memory(remap->way[backward].state) : NULL;
    return memory ? memory : remap->buffer[!sent];
}

/* Whether the exchange writes straight to the array: it takes boxes, and numbers arrive in the precision of the array. */
static bool writes_array(const struct way *way)
{
    return way->received.whole && way->transpose.array_bytes == way->transpose.element_bytes;
}

int pf_remap_pack(struct pf_remap *remap, int backward, const void *from)
{
    struct way *way = &remap->way[backward];
    const struct pf_transpose *t = &way->transpose;
    int status = PENCILFFT_OK;
    if (remap->exchange->begin && (status = remap->exchange->begin(way->state, messages_of(remap, backward, false))))
        return status;
    pf_pack(t, &way->sent, remap->exchange->moves_self ? -1 : t->me, from, messages_of(remap, backward, true));
    if (!remap->exchange->moves_self)
        pf_pack_own(t, &way->received, from, messages_of(remap, backward, false));
    return status;
}

int pf_remap_start(struct pf_remap *remap, int backward, void *to)
{
    struct way *way = &remap->way[backward];
    return remap->exchange->start(way->state, messages_of(remap, backward, true),
                                  writes_array(way) ? to : messages_of(remap, backward, false));
}

int pf_remap_progress(struct pf_remap *remap, int backward, int *done)
{
    *done = 1;
    return remap->exchange->progress ? remap->exchange->progress(remap->way[backward].state, done) : PENCILFFT_OK;
}

int pf_remap_finish(struct pf_remap *remap, int backward)
{
    return remap->exchange->finish ? remap->exchange->finish(remap->way[backward].state) : PENCILFFT_OK;
}

int pf_remap_unpack(struct pf_remap *remap, int backward, void *to)
{
    struct way *way = &remap->way[backward];
    if (!writes_array(way))
        pf_unpack(&way->transpose, &way->received, -1, messages_of(remap, backward, false), to);
    return remap->exchange->end ? remap->exchange->end(way->state) : PENCILFFT_OK;
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

int pf_remap_traffic(const struct pf_remap *remap, int backward, int64_t *bytes, int64_t *messages)
{
    const struct way *way = &remap->way[backward];
    int64_t *both = calloc(2 * (size_t)remap->p, sizeof *both);
    if (!both)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the traffic of %d ranks", remap->p);
    pf_exchange_traffic(remap->exchange, way->state, &way->transpose, both, both + remap->p);
    for (int j = 0; j < remap->p; j++) {
        if (bytes)
            bytes[remap->member[j]] = both[j];
        if (messages)
            messages[remap->member[j]] = both[remap->p + j];
    }
    free(both);
    return PENCILFFT_OK;
}

const struct pf_exchange *pf_remap_algorithm(const struct pf_remap *remap)
{
    return remap->exchange;
}

int pf_remap_members(const struct pf_remap *remap)
{
    return remap->p;
}
