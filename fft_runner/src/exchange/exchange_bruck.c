/* Transpose by few large messages that carry the blocks of many ranks, of radix R.
 * Idea:  a block from rank i to rank i + d (mod p) travels as the digits of d in base R, the lowest first: in round k by
 *        digit times R^k ranks, together with all blocks here that have the same digit there. So a rank sends up to R - 1
 *        messages in each of ceil(log_R p) rounds. Every rank knows all boxes, and so the size of each block that passes by.
 *        A block leaves from the send buffer and ends in the receive buffer; in between the block lies in a slot of its
 *        distance. A message of a single block needs no copy. Beside other work a round begins when a call of progress sees
 *        the end of the round before.
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in
 *         multiport message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), 1143-1156;
 *         FFTW's recursive transposes are of the same kind.
 * Cost:  (R - 1) log_R p messages a rank instead of p - 1; a block travels (1 - 1/R) log_R p times on average, and is copied
 *        twice each time.
 * Needs: no condition on p or on the extents; memory for up to three times the sent data, more if blocks are uneven. */
#include <stdlib.h>
#include <string.h>

#include "exchange/message_counts.h"
#include "geometry/geometry.h"

enum { OUTSIDE = -1 };

/* A block of a message: in a slot, or at `start` of the buffer that belongs to the plan. */
struct piece {
    int64_t elements, start;
    int slot;
};

struct bundle {
    int peer, first, end; /* pieces */
    int64_t elements, start; /* counted over all sent, or received, in the round */
    struct pf_amount amount;
};

/* The sent data, or the received data. */
struct way {
    struct bundle *bundle;
    struct piece *piece;
    int bundles, pieces;
    int64_t most; /* elements in a round */
    char *buffer;
};

struct bruck {
    struct pf_transpose t;
    int radix, rounds;
    int *first; /* bundle of each round, and behind the last */
    struct way sent, received;
    int64_t *room; /* of a slot, then its start */
    char *slots;
    MPI_Request *requests;
    MPI_Status *statuses; /* not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
    /* Of a run. */
    const char *from;
    char *to;
    int round, n_requests;
};

static void release_way(struct way *way)
{
    for (int i = 0; i < way->bundles; i++)
        pf_amount_release(&way->bundle[i].amount);
    free(way->bundle);
    free(way->piece);
    free(way->buffer);
}

static void release(void *state)
{
    struct bruck *a = state;
    release_way(&a->sent);
    release_way(&a->received);
    free(a->first);
    free(a->room);
    free(a->slots);
    free(a->requests);
    free(a->statuses);
}

/* ---- planning ------------------------------------------------------------------------------------------------------- */

static int count_rounds(int p, int radix)
{
    int rounds = 0;
    for (int64_t reach = 1; reach < p; reach *= radix)
        rounds++;
    return rounds;
}

static int below(int p, int member)
{
    return (member % p + p) % p;
}

/* Elements that pass from a member to the member at that distance above. */
static int64_t block(const struct pf_transpose *t, int source, int64_t distance)
{
    pencilfft_box part = pf_box_common(&t->from[source], &t->to[(source + distance) % t->p]);
    return pf_box_elements(&part) * t->fields;
}

static void add_piece(struct way *way, struct piece piece)
{
    struct bundle *bundle = &way->bundle[way->bundles];
    way->piece[way->pieces++] = piece;
    bundle->elements += piece.elements;
}

static int end_bundle(struct way *way, int peer, int first, int64_t start, size_t bytes)
{
    struct bundle *bundle = &way->bundle[way->bundles++];
    bundle->peer = peer;
    bundle->first = first;
    bundle->end = way->pieces;
    bundle->start = start;
    way->most = pf_larger(way->most, start + bundle->elements);
    return pf_amount_make(bundle->elements, bytes, &bundle->amount);
}

static int64_t end_of(const struct way *way, int first)
{
    const struct bundle *last = &way->bundle[way->bundles - 1];
    return way->bundles > first ? last->start + last->elements : 0;
}

/* The blocks with this digit of their distance in the round of unit `step`. */
static int list_bundles(struct bruck *a, int digit, int64_t step, int round_first, const struct pf_messages *sent,
                        const struct pf_messages *received)
{
    const struct pf_transpose *t = &a->t;
    int first[] = {a->sent.pieces, a->received.pieces}, far = (int)(digit * step);
    for (int64_t base = far; base < t->p; base += step * a->radix)
        for (int64_t d = base; d < pf_smaller(base + step, t->p); d++) {
            int gone = (int)(d - base), origin = below(t->p, t->me - gone), next = below(t->p, origin - far);
            bool at_home = gone == 0, arrives = base == far;
            add_piece(&a->sent, (struct piece){block(t, origin, d), at_home ? sent->start[(t->me + d) % t->p] : 0,
                                               at_home ? OUTSIDE : (int)d});
            add_piece(&a->received,
                      (struct piece){block(t, next, d), arrives ? received->start[next] : 0, arrives ? OUTSIDE : (int)d});
            if (!arrives)
                a->room[d] = pf_larger(a->room[d], block(t, next, d));
        }
    int status = end_bundle(&a->sent, (t->me + far) % t->p, first[0], end_of(&a->sent, round_first), t->element_bytes);
    return status ? status
                  : end_bundle(&a->received, below(t->p, t->me - far), first[1], end_of(&a->received, round_first),
                               t->element_bytes);
}

static int list_rounds(struct bruck *a, const struct pf_messages *sent, const struct pf_messages *received)
{
    int status = PENCILFFT_OK;
    int64_t step = 1;
    for (int k = 0; k < a->rounds; k++, step *= a->radix) {
        a->first[k] = a->sent.bundles;
        for (int digit = 1; digit < a->radix && digit * step < a->t.p && !status; digit++)
            status = list_bundles(a, digit, step, a->first[k], sent, received);
    }
    a->first[a->rounds] = a->sent.bundles;
    return status;
}

static int no_memory(const struct bruck *a)
{
    return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the messages of %d ranks that carry the blocks of others", a->t.p);
}

static bool make_lists(struct way *way, size_t bundles, size_t pieces)
{
    way->bundle = calloc(bundles, sizeof *way->bundle);
    way->piece = calloc(pieces, sizeof *way->piece);
    return way->bundle && way->piece;
}

static int allocate_lists(struct bruck *a)
{
    size_t p = (size_t)a->t.p, rounds = (size_t)a->rounds, most = (size_t)a->radix - 1;
    a->first = calloc(rounds + 1, sizeof *a->first);
    a->room = calloc(p, sizeof *a->room);
    a->requests = calloc(2 * most, sizeof(MPI_Request));
    a->statuses = calloc(2 * most, sizeof *a->statuses);
    bool lists = make_lists(&a->sent, rounds * most + 1, rounds * p + 1) &&
                 make_lists(&a->received, rounds * most + 1, rounds * p + 1);
    return lists && a->first && a->room && a->requests && a->statuses ? PENCILFFT_OK : no_memory(a);
}

static int allocate_buffers(struct bruck *a)
{
    int64_t slots = 0;
    for (int d = 0; d < a->t.p; d++) {
        int64_t room = a->room[d];
        a->room[d] = slots;
        slots += room;
    }
    size_t bytes = a->t.element_bytes;
    a->slots = malloc((size_t)slots * bytes + 1);
    a->sent.buffer = malloc((size_t)a->sent.most * bytes + 1);
    a->received.buffer = malloc((size_t)a->received.most * bytes + 1);
    return a->slots && a->sent.buffer && a->received.buffer ? PENCILFFT_OK : no_memory(a);
}

static int plan(const struct pf_transpose *t, int radix, const struct pf_messages *sent, const struct pf_messages *received,
                struct bruck *a)
{
    a->t = *t;
    a->radix = radix;
    a->round = a->rounds = count_rounds(t->p, radix);
    int status = allocate_lists(a);
    if (!status)
        status = list_rounds(a, sent, received);
    return status ? status : allocate_buffers(a);
}

/* ---- running -------------------------------------------------------------------------------------------------------- */

static bool is_single(const struct bundle *bundle)
{
    return bundle->end - bundle->first == 1;
}

/* The place of a piece; `outside` is the buffer of the plan. */
static char *place(const struct bruck *a, const struct piece *piece, const char *outside)
{
    size_t bytes = a->t.element_bytes;
    return piece->slot == OUTSIDE ? (char *)outside + (size_t)piece->start * bytes
                                  : a->slots + (size_t)a->room[piece->slot] * bytes;
}

/* Copy between a message and its pieces. A single piece is sent and received in place: its distance equals the distance of
 * the message, so that it never lies in a slot. */
static char *message(const struct bruck *a, const struct way *way, const struct bundle *bundle, const char *outside)
{
    if (is_single(bundle))
        return place(a, &way->piece[bundle->first], outside);
    return way->buffer + (size_t)bundle->start * a->t.element_bytes;
}

static void copy_pieces(const struct bruck *a, const struct way *way, const struct bundle *bundle, const char *outside,
                        bool pack)
{
    char *at = message(a, way, bundle, outside);
    for (int i = bundle->first; i < bundle->end && !is_single(bundle); i++) {
        size_t bytes = (size_t)way->piece[i].elements * a->t.element_bytes;
        char *other = place(a, &way->piece[i], outside);
        memcpy(pack ? at : other, pack ? other : at, bytes);
        at += bytes;
    }
}

static int post(struct bruck *a)
{
    a->n_requests = 0;
    for (int i = a->first[a->round]; i < a->first[a->round + 1]; i++) {
        const struct bundle *b = &a->received.bundle[i];
        if (b->elements)
            PF_MPI_LARGE(MPI_Irecv, message(a, &a->received, b, a->to), b->amount.count, b->amount.type, b->peer, a->t.lane,
                         a->t.group, &a->requests[a->n_requests++]);
    }
    for (int i = a->first[a->round]; i < a->first[a->round + 1]; i++) {
        const struct bundle *b = &a->sent.bundle[i];
        copy_pieces(a, &a->sent, b, a->from, true);
        if (b->elements)
            PF_MPI_LARGE(MPI_Isend, message(a, &a->sent, b, a->from), b->amount.count, b->amount.type, b->peer, a->t.lane,
                         a->t.group, &a->requests[a->n_requests++]);
    }
    return PENCILFFT_OK;
}

/* Unpack a round; then start the next. */
static int go_on(struct bruck *a)
{
    for (int i = a->first[a->round]; i < a->first[a->round + 1]; i++)
        copy_pieces(a, &a->received, &a->received.bundle[i], a->to, false);
    a->round++;
    return a->round < a->rounds ? post(a) : PENCILFFT_OK;
}

static int finish(void *state)
{
    struct bruck *a = state;
    int status = PENCILFFT_OK;
    while (a->round < a->rounds && !status) {
        PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
        status = go_on(a);
    }
    return status;
}

static int start(void *state, void *from, void *to)
{
    struct bruck *a = state;
    a->from = from;
    a->to = to;
    a->round = 0;
    int status = a->rounds ? post(a) : PENCILFFT_OK;
    return status || a->t.beside ? status : finish(a);
}

static int progress(void *state, int *done)
{
    struct bruck *a = state;
    int there = 0;
    if (a->round < a->rounds)
        PF_MPI(MPI_Testall(a->n_requests, a->requests, &there, a->statuses));
    int status = there ? go_on(a) : PENCILFFT_OK;
    *done = a->round >= a->rounds;
    return status;
}

static void traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct bruck *a = state;
    for (int i = 0; i < a->sent.bundles; i++) {
        const struct bundle *b = &a->sent.bundle[i];
        bytes[b->peer] = b->elements * (int64_t)a->t.element_bytes;
        messages[b->peer] = b->elements > 0;
    }
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

/* Up to R / 2 ranks, half the radix also lets all ranks send to all. */
#define ROW(R)                                                                                                            \
    static int plan##R(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state) \
    {                                                                                                                     \
        return plan(t, R, sent, received, state);                                                                         \
    }                                                                                                                     \
    const struct pf_exchange pf_exchange_bruck##R = {.name = "bruck" #R,                                                  \
                                                     .bytes = sizeof(struct bruck),                                       \
                                                     .plan = plan##R,                                                     \
                                                     .start = start,                                                      \
                                                     .progress = progress,                                                \
                                                     .finish = finish,                                                    \
                                                     .release = release,                                                  \
                                                     .least_group = R / 2 + 1,                                            \
                                                     .transposes_alone = true,                                            \
                                                     .beside = true,                                                      \
                                                     .traffic = traffic}
ROW(2);
ROW(4);
ROW(8);
