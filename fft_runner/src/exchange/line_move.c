/* Messages of distributed lines.
 * Idea:  both sides put the points of a message in the order of their labels, each from its own layout alone, so that lists
 *        of places are made without communication. A whole block goes to each rank of its group as a single message.
 * Cost:  a list of 8 bytes for each point of a line; one MPI_Alltoallv, or one message to each rank of the group.
 * Needs: less than 2^31 elements on a rank. */
#include "exchange/line_move.h"

#include <complex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/exchange.h"

enum { TAG = 7 };

/* ---- all points to another layout ------------------------------------------------------------------------------------- */

struct point {
    int rank;
    int64_t label, at;
};

static int by_rank_and_label(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static int fail_memory(void)
{
    return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the messages of a line");
}

static int count_messages(struct pf_line_side *s, int ranks, int64_t lines)
{
    int64_t start = 0;
    for (int r = 0; r < ranks; r++) {
        if (start + s->each[r] * lines > INT_MAX)
            return pf_fail(PENCILFFT_TOO_LARGE,
                           "more than 2^31 - 1 points of lines on a rank; take more ranks, or fewer lines at a time");
        s->count[r] = (int)(s->each[r] * lines);
        s->start[r] = (int)start;
        start += s->count[r];
    }
    return PENCILFFT_OK;
}

/* The points of a rank in `mine`, by their rank in `other`. */
static int make_side(const struct pf_line_layout *mine, const struct pf_line_layout *other, const struct pf_line_move *m,
                     struct pf_line_side *s)
{
    size_t ranks = (size_t)m->ranks;
    s->points = pf_line_points(mine, m->rank);
    struct point *point = malloc(((size_t)s->points + 1) * sizeof *point);
    s->at = malloc(((size_t)s->points + 1) * sizeof *s->at);
    s->each = calloc(ranks, sizeof *s->each);
    s->count = calloc(ranks, sizeof *s->count);
    s->start = calloc(ranks, sizeof *s->start);
    if (!point || !s->at || !s->each || !s->count || !s->start) {
        free(point);
        return fail_memory();
    }
    for (int64_t i = 0; i < s->points; i++) {
        int64_t label = pf_line_label(mine, m->rank, i);
        if (label < other->n)
            point[s->listed++] = (struct point){pf_line_owner(other, label), label, i};
    }
    qsort(point, (size_t)s->listed, sizeof *point, by_rank_and_label);
    for (int64_t i = 0; i < s->listed; i++) {
        s->at[i] = point[i].at;
        s->each[point[i].rank]++;
    }
    free(point);
    return count_messages(s, m->ranks, m->lines);
}

int pf_line_move_make(const struct pf_line_layout *from, const struct pf_line_layout *to, int rank, int64_t lines,
                      size_t bytes, struct pf_line_move *m)
{
    *m = (struct pf_line_move){.ranks = from->ranks, .rank = rank, .lines = lines, .bytes = bytes};
    int status = make_side(from, to, m, &m->side[0]);
    return status ? status : make_side(to, from, m, &m->side[1]);
}

void pf_line_move_release(struct pf_line_move *m)
{
    for (int i = 0; i < 2; i++) {
        free(m->side[i].at);
        free(m->side[i].each);
        free(m->side[i].count);
        free(m->side[i].start);
    }
    *m = (struct pf_line_move){0};
}

#define COPY(type, target, source)  \
    for (int64_t i = 0; i < n; i++) \
    ((type *)to)[target] = ((const type *)from)[source]

static void pick(size_t bytes, const void *from, const int64_t *at, int64_t n, void *to)
{
    if (bytes == sizeof(float complex))
        COPY(float complex, i, at[i]);
    else
        COPY(double complex, i, at[i]);
}

static void place(size_t bytes, const void *from, const int64_t *at, int64_t n, void *to)
{
    if (bytes == sizeof(float complex))
        COPY(float complex, at[i], i);
    else
        COPY(double complex, at[i], i);
}

void pf_line_move_pack(const struct pf_line_move *m, int backward, const void *from, void *messages)
{
    const struct pf_line_side *s = &m->side[backward];
    const int64_t *at = s->at;
    char *to = messages;
    for (int r = 0; r < m->ranks; at += s->each[r++])
        for (int64_t line = 0; line < m->lines; line++, to += (size_t)s->each[r] * m->bytes)
            pick(m->bytes, (const char *)from + (size_t)(line * s->points) * m->bytes, at, s->each[r], to);
}

void pf_line_move_unpack(const struct pf_line_move *m, int backward, const void *messages, void *to)
{
    const struct pf_line_side *s = &m->side[!backward];
    const int64_t *at = s->at;
    const char *from = messages;
    if (s->listed < s->points)
        memset(to, 0, (size_t)(s->points * m->lines) * m->bytes);
    for (int r = 0; r < m->ranks; at += s->each[r++])
        for (int64_t line = 0; line < m->lines; line++, from += (size_t)s->each[r] * m->bytes)
            place(m->bytes, from, at, s->each[r], (char *)to + (size_t)(line * s->points) * m->bytes);
}

int pf_line_move_exchange(const struct pf_line_move *m, int backward, MPI_Comm comm, const void *sent, void *received)
{
    const struct pf_line_side *from = &m->side[backward], *to = &m->side[!backward];
    MPI_Datatype element = pf_element_type(m->bytes);
    PF_MPI(MPI_Alltoallv(sent, from->count, from->start, element, received, to->count, to->start, element, comm));
    return PENCILFFT_OK;
}

/* ---- whole blocks between ranks --------------------------------------------------------------------------------------- */

int pf_line_meet_make(int members, const int *of, int own, const int64_t *elements, struct pf_line_meet *m)
{
    size_t others = (size_t)(members > 1 ? members - 1 : 1);
    *m = (struct pf_line_meet){.own = own, .mine = elements[own]};
    m->peer = malloc(others * sizeof *m->peer);
    m->elements = malloc(others * sizeof *m->elements);
    m->start = malloc(others * sizeof *m->start);
    m->requests = malloc(2 * others * sizeof *m->requests);
    if (!m->peer || !m->elements || !m->start || !m->requests)
        return fail_memory();
    int64_t start = 0;
    for (int i = 0; i < members; i++) {
        if (elements[i] > INT_MAX)
            return pf_fail(PENCILFFT_TOO_LARGE,
                           "more than 2^31 - 1 points of lines on a rank; take more ranks, or fewer lines at a time");
        if (i == own)
            continue;
        m->peer[m->peers] = of[i];
        m->elements[m->peers] = elements[i];
        m->start[m->peers++] = start;
        start += elements[i];
    }
    return PENCILFFT_OK;
}

void pf_line_meet_release(struct pf_line_meet *m)
{
    free(m->peer);
    free(m->elements);
    free(m->start);
    free(m->requests);
    *m = (struct pf_line_meet){0};
}

/* The partners in turn, each rank beginning with the next member. */
int pf_line_meet_exchange(const struct pf_line_meet *m, MPI_Comm comm, size_t bytes, const void *sent, void *received)
{
    MPI_Datatype element = pf_element_type(bytes);
    int n = 0;
    for (int i = 0; i < m->peers; i++) {
        int j = (m->own + m->peers - 1 - i) % m->peers;
        if (m->elements[j] > 0)
            PF_MPI(MPI_Irecv((char *)received + (size_t)m->start[j] * bytes, (int)m->elements[j], element, m->peer[j], TAG,
                             comm, &m->requests[n++]));
    }
    for (int i = 0; i < m->peers && m->mine > 0; i++)
        PF_MPI(MPI_Isend(sent, (int)m->mine, element, m->peer[(m->own + i) % m->peers], TAG, comm, &m->requests[n++]));
    PF_MPI(MPI_Waitall(n, m->requests, MPI_STATUSES_IGNORE));
    return PENCILFFT_OK;
}

int pf_line_meet_scatter(const struct pf_line_meet *m, MPI_Comm comm, size_t bytes, const void *sent, void *received)
{
    MPI_Datatype element = pf_element_type(bytes);
    int n = 0;
    for (int i = 0; i < m->peers && m->mine > 0; i++) {
        int j = (m->own + m->peers - 1 - i) % m->peers;
        PF_MPI(MPI_Irecv((char *)received + (size_t)(j * m->mine) * bytes, (int)m->mine, element, m->peer[j], TAG, comm,
                         &m->requests[n++]));
    }
    for (int i = 0; i < m->peers; i++) {
        int j = (m->own + i) % m->peers;
        if (m->elements[j] > 0)
            PF_MPI(MPI_Isend((const char *)sent + (size_t)m->start[j] * bytes, (int)m->elements[j], element, m->peer[j], TAG,
                             comm, &m->requests[n++]));
    }
    PF_MPI(MPI_Waitall(n, m->requests, MPI_STATUSES_IGNORE));
    return PENCILFFT_OK;
}
