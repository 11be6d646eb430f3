/* Halo exchange.
 * Idea:  each rank sends every other rank one message with all elements that its halo needs, edges and corners included, for
 *        any number of periodic images; a rank copies the parts of its own box. Adding is the reverse: the messages received
 *        in filling are sent, and arrive in the places where filling reads. The alternative, one axis after the other, has 6
 *        messages a rank instead of up to 26. But its three rounds wait for each other, edges and corners travel two or
 *        three times, and if boxes are not the blocks of a grid, or a halo is wider than a neighbour, no partner in a round
 *        holds the needed elements. So all boxes use one algorithm, of one round, in which each element travels once.
 *        Received elements are added in the order of the ranks, so that sums are the same in every run.
 * Cost:  making a halo: 54 comparisons of boxes for each rank. Running: one message to each rank that has a part in the
 *        halo, packing, and two buffers as large as the sent and the received data. Needs: boxes that hold each element
 *        once. */
#include "exchange/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/messages.h"
#include "geometry/strided_copy.h"

enum { TAG = 0 };

struct piece {
    pencilfft_box box; /* with the strides inside its message */
    int64_t start;     /* element of the buffer */
};

struct partner {
    int rank, first, end;  /* its pieces */
    int64_t start;
    struct pf_amount amount;
};

/* All messages to or from other ranks, in ascending order of the ranks. */
struct side {
    int partners, pieces;
    struct partner *partner;
    struct piece *piece;
    int64_t elements;
    void *raw, *buffer;
};

struct pf_neighbours {
    struct pf_communicators *communicators;
    int ranks, fields, threads, reals, own_images;
    size_t element_bytes, real_bytes;
    pencilfft_box box, padded;
    struct pf_image own[PF_MAX_IMAGES];
    struct side held, halo; /* parts of this rank's box in other halos; parts of its halo in other boxes */
    MPI_Request *request;
};

/* ---- making --------------------------------------------------------------------------------------------------------- */

/* The images that rank `of` holds in the halo of rank `in`. */
static int images(const struct pf_neighbours_request *r, int in, int of, struct pf_image image[PF_MAX_IMAGES])
{
    pencilfft_box with_halo = pf_halo_box(&r->boxes[in], r->low, r->high);
    return pf_halo_images(r->n, &with_halo, &r->boxes[of], in == of, image);
}

static void count_side(const struct pf_neighbours_request *r, bool held, struct side *side)
{
    struct pf_image image[PF_MAX_IMAGES];
    for (int j = 0; j < r->ranks; j++) {
        int n = j == r->me ? 0 : images(r, held ? j : r->me, held ? r->me : j, image);
        side->partners += n > 0;
        side->pieces += n;
    }
}

static void take_pieces(const struct pf_neighbours_request *r, bool held, int rank, struct side *side)
{
    struct pf_image image[PF_MAX_IMAGES];
    int n = rank == r->me ? 0 : images(r, held ? rank : r->me, held ? r->me : rank, image);
    if (n == 0)
        return;
    struct partner *partner = &side->partner[side->partners++];
    *partner = (struct partner){.rank = rank, .first = side->pieces, .end = side->pieces + n, .start = side->elements};
    for (int i = 0; i < n; i++) {
        struct piece *piece = &side->piece[side->pieces++];
        *piece = (struct piece){held ? image[i].there : image[i].here, side->elements};
        pf_box_lay(r->geometry, r->array, &piece->box);
        side->elements += pf_box_elements(&piece->box) * r->fields;
    }
}

static int64_t elements_of(const struct side *side, int i)
{
    return (i + 1 < side->partners ? side->partner[i + 1].start : side->elements) - side->partner[i].start;
}

static int make_side(const struct pf_neighbours_request *r, bool held, struct side *side)
{
    int status = PENCILFFT_OK;
    count_side(r, held, side);
    side->partner = calloc((size_t)side->partners + 1, sizeof *side->partner);
    side->piece = calloc((size_t)side->pieces + 1, sizeof *side->piece);
    if (!side->partner || !side->piece) {
        side->partners = 0;
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the neighbours of %d ranks", r->ranks);
    }
    side->partners = side->pieces = 0;
    for (int j = 0; j < r->ranks; j++)
        take_pieces(r, held, j, side);
    status = pf_aligned_make((size_t)side->elements * r->element_bytes, &side->raw, &side->buffer);
    for (int i = 0; i < side->partners && !status; i++)
        status = pf_amount_make(elements_of(side, i), r->element_bytes, &side->partner[i].amount);
    return status;
}

static int make(const struct pf_neighbours_request *r, struct pf_neighbours *nb)
{
    nb->box = r->boxes[r->me];
    nb->padded = pf_halo_box(&nb->box, r->low, r->high);
    pf_box_lay(r->geometry, r->array, &nb->padded);
    nb->own_images = images(r, r->me, r->me, nb->own);
    int status = make_side(r, true, &nb->held);
    if (!status)
        status = make_side(r, false, &nb->halo);
    nb->request = calloc((size_t)nb->held.partners + (size_t)nb->halo.partners + 1, sizeof(MPI_Request));
    if (!status && !nb->request)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the messages of %d ranks", r->ranks);
    return status;
}

int pf_neighbours_make(const struct pf_neighbours_request *r, struct pf_neighbours **neighbours)
{
    struct pf_neighbours *nb = calloc(1, sizeof *nb);
    int status = nb ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for a halo");
    *neighbours = NULL;
    if (nb) {
        nb->ranks = r->ranks, nb->fields = r->fields, nb->threads = r->threads;
        nb->element_bytes = r->element_bytes, nb->real_bytes = r->real_bytes;
        nb->reals = (int)(r->element_bytes / r->real_bytes);
        status = make(r, nb);
    }
    if (!(status = pf_agree(status, r->communicators->all)))
        status = pf_communicators_share(r->communicators, &nb->communicators);
    if (!status)
        *neighbours = nb;
    else if (status != PENCILFFT_MPI_ERROR)
        pf_neighbours_release(nb);
    return status;
}

static void release_side(struct side *side)
{
    for (int i = 0; i < side->partners; i++)
        pf_amount_release(&side->partner[i].amount);
    free(side->partner);
    free(side->piece);
    free(side->raw);
}

int pf_neighbours_release(struct pf_neighbours *nb)
{
    int status = PENCILFFT_OK;
    if (!nb)
        return status;
    release_side(&nb->held);
    release_side(&nb->halo);
    free(nb->request);
    status = pf_communicators_leave(nb->communicators);
    free(nb);
    return status;
}

/* ---- running -------------------------------------------------------------------------------------------------------- */

static struct pf_copy all_fields(const struct pf_neighbours *nb, struct pf_copy copy)
{
    copy.fields = nb->fields;
    copy.threads = nb->threads;
    return copy;
}

/* Copy from a box to the messages of a side, or back. */
static void pack(const struct pf_neighbours *nb, const struct side *side, const pencilfft_box *box, const void *from)
{
    for (const struct piece *piece = side->piece; piece < side->piece + side->pieces; piece++) {
        struct pf_copy copy = all_fields(nb, pf_copy_between(&piece->box, box, &piece->box));
        copy.to_start = piece->start;
        pf_copy_run(&copy, nb->element_bytes, from, side->buffer);
    }
}

static void unpack(const struct pf_neighbours *nb, const struct side *side, bool adding, const pencilfft_box *box, void *to)
{
    for (const struct piece *piece = side->piece; piece < side->piece + side->pieces; piece++) {
        struct pf_copy copy = all_fields(nb, pf_copy_between(&piece->box, &piece->box, box));
        copy.from_start = piece->start;
        if (adding)
            pf_sum_run(&copy, nb->real_bytes, nb->reals, side->buffer, to);
        else
            pf_copy_run(&copy, nb->element_bytes, side->buffer, to);
    }
}

static struct pf_copy own_copy(const struct pf_neighbours *nb, const pencilfft_box *part, const pencilfft_box *from,
                               const pencilfft_box *part_there, const pencilfft_box *to)
{
    struct pf_copy copy = all_fields(nb, pf_copy_between(part, from, to));
    copy.to_start = pf_box_start(to, part_there);
    return copy;
}

static char *message_of(const struct pf_neighbours *nb, const struct side *side, int i)
{
    return (char *)side->buffer + side->partner[i].start * (int64_t)nb->element_bytes;
}

static int post(struct pf_neighbours *nb, const struct side *sent, const struct side *received, int *posted)
{
    for (int i = 0; i < received->partners; i++, ++*posted) {
        const struct partner *p = &received->partner[i];
        PF_MPI_LARGE(MPI_Irecv, message_of(nb, received, i), p->amount.count, p->amount.type, p->rank, TAG,
                     nb->communicators->all, &nb->request[*posted]);
    }
    for (int i = 0; i < sent->partners; i++, ++*posted) {
        const struct partner *p = &sent->partner[i];
        PF_MPI_LARGE(MPI_Isend, message_of(nb, sent, i), p->amount.count, p->amount.type, p->rank, TAG,
                     nb->communicators->all, &nb->request[*posted]);
    }
    return PENCILFFT_OK;
}

static int wait(struct pf_neighbours *nb, int posted)
{
    PF_MPI(MPI_Waitall(posted, nb->request, MPI_STATUSES_IGNORE));
    return PENCILFFT_OK;
}

int pf_neighbours_fill(struct pf_neighbours *nb, const void *array, void *padded)
{
    const pencilfft_box *box = array ? &nb->box : &nb->padded;
    const void *from = array ? array : padded;
    int posted = 0;
    pack(nb, &nb->held, box, from);
    int status = post(nb, &nb->held, &nb->halo, &posted);
    if (status)
        return status;
    if (array) {
        struct pf_copy copy = all_fields(nb, pf_copy_between(&nb->box, &nb->box, &nb->padded));
        pf_copy_run(&copy, nb->element_bytes, array, padded);
    }
    for (int i = 0; i < nb->own_images; i++) {
        struct pf_copy copy = own_copy(nb, &nb->own[i].there, box, &nb->own[i].here, &nb->padded);
        pf_copy_run(&copy, nb->element_bytes, from, padded);
    }
    if (!(status = wait(nb, posted)))
        unpack(nb, &nb->halo, false, &nb->padded, padded);
    return status;
}

int pf_neighbours_add(struct pf_neighbours *nb, void *padded, void *array)
{
    const pencilfft_box *box = array ? &nb->box : &nb->padded;
    void *to = array ? array : padded;
    int posted = 0;
    pack(nb, &nb->halo, &nb->padded, padded);
    int status = post(nb, &nb->halo, &nb->held, &posted);
    if (status)
        return status;
    if (array) {
        struct pf_copy copy = all_fields(nb, pf_copy_between(&nb->box, &nb->padded, &nb->box));
        pf_copy_run(&copy, nb->element_bytes, padded, array);
    }
    for (int i = 0; i < nb->own_images; i++) {
        struct pf_copy copy = own_copy(nb, &nb->own[i].here, &nb->padded, &nb->own[i].there, box);
        pf_sum_run(&copy, nb->real_bytes, nb->reals, padded, to);
    }
    if (!(status = wait(nb, posted)))
        unpack(nb, &nb->held, true, box, to);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

MPI_Comm pf_neighbours_comm(const struct pf_neighbours *nb)
{
    return nb->communicators->all;
}

const pencilfft_box *pf_neighbours_box(const struct pf_neighbours *nb)
{
    return &nb->padded;
}

void pf_neighbours_sent(const struct pf_neighbours *nb, bool adding, int64_t *bytes, int64_t *messages)
{
    const struct side *side = adding ? &nb->halo : &nb->held;
    if (bytes)
        memset(bytes, 0, (size_t)nb->ranks * sizeof *bytes);
    if (messages)
        memset(messages, 0, (size_t)nb->ranks * sizeof *messages);
    for (int i = 0; i < side->partners; i++) {
        if (bytes)
            bytes[side->partner[i].rank] = elements_of(side, i) * (int64_t)nb->element_bytes;
        if (messages)
            messages[side->partner[i].rank] = 1;
    }
}
