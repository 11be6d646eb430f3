/* Packing, unpacking and local transposes by a single routine.
 * Idea:  let `a` be the axis with the smallest stride in the source and `b` the axis with the smallest stride in the target.
 *        If a = b, whole runs are copied. If not, the (a, b) plane is a matrix transpose, done in square tiles so that the
 *        lines touched on both sides stay in the first-level cache. The routine is compiled once for each element size, a
 *        constant in its inner loops. If source and target have two sizes of elements, numbers in double precision become
 *        single, or back, on the way. Threads share the axis that is slowest in the target. If the target is far larger than
 *        the caches, its whole cache lines are written by non-temporal stores: they need no read before the write and leave
 *        the caches alone. Rows outside the near caches, on either side, are prefetched by the routine, because a processor
 *        prefetches within a page, not from row to row.
 * Cost:  one read and one write of the part, and one more read of the target's lines without non-temporal stores.
 * Needs: no condition on the extents; an empty part copies nothing. */
#include "geometry/strided_copy.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "geometry/geometry.h"
#include "speed/threads.h"
#include "speed/tuning.h"

enum { TILE = 16, LINE = PF_CACHE_LINE };

/* Bytes to prefetch ahead; the processor prefetches the rest of a longer row. */
enum { AHEAD = 2048 };

/* The element sizes must stay constants at the calls of these functions. */
#define FOR_ONE_SIZE static inline __attribute__((always_inline))

/* Bytes of an element in the source and in the target. */
struct sizes {
    size_t from, to;
};

FOR_ONE_SIZE void narrow(char *to, const char *from, int64_t reals)
{
    for (int64_t i = 0; i < reals; i++) {
        double wide;
        memcpy(&wide, from + i * (int64_t)sizeof wide, sizeof wide);
        float rounded = (float)wide;
        memcpy(to + i * (int64_t)sizeof rounded, &rounded, sizeof rounded);
    }
}

FOR_ONE_SIZE void widen(char *to, const char *from, int64_t reals)
{
    for (int64_t i = 0; i < reals; i++) {
        float rounded;
        memcpy(&rounded, from + i * (int64_t)sizeof rounded, sizeof rounded);
        double wide = rounded;
        memcpy(to + i * (int64_t)sizeof wide, &wide, sizeof wide);
    }
}

/* A dense row of n elements. */
FOR_ONE_SIZE void move_row(char *restrict to, const char *restrict from, int64_t n, struct sizes s)
{
    if (s.from == s.to)
        memcpy(to, from, (size_t)n * s.from);
    else if (s.from > s.to)
        narrow(to, from, n * (int64_t)(s.from / sizeof(double)));
    else
        widen(to, from, n * (int64_t)(s.from / sizeof(float)));
}

struct matrix {
    int64_t na, nb;          /* a: fastest in the source, b: fastest in the target */
    int64_t from_a, from_b, to_a, to_b;
};

static int nearest(const int64_t extent[3], const int64_t stride[3])
{
    int best = -1;
    for (int i = 0; i < 3; i++)
        if (extent[i] > 1 && (best < 0 || stride[i] < stride[best]))
            best = i;
    return best < 0 ? 2 : best;
}

FOR_ONE_SIZE void copy_tile(const struct matrix *m, int64_t a0, int64_t b0, struct sizes s, const char *from, char *to)
{
    int64_t a1 = a0 + TILE < m->na ? a0 + TILE : m->na, b1 = b0 + TILE < m->nb ? b0 + TILE : m->nb;
    for (int64_t a = a0; a < a1; a++)
        for (int64_t b = b0; b < b1; b++)
            move_row(to + (a * m->to_a + b * m->to_b) * (int64_t)s.to,
                     from + (a * m->from_a + b * m->from_b) * (int64_t)s.from, 1, s);
}

FOR_ONE_SIZE void copy_matrix(const struct matrix *m, struct sizes s, const char *from, char *to)
{
    for (int64_t a = 0; a < m->na; a += TILE)
        for (int64_t b = 0; b < m->nb; b += TILE)
            copy_tile(m, a, b, s, from, to);
}

#if defined(__SSE2__)
/* Non-temporal stores for whole lines of the target, usual stores for both ends. */
static void stream(char *to, const char *from, size_t bytes)
{
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    head = head < bytes ? head : bytes;
    memcpy(to, from, head);
    size_t at = head;
    for (; at + LINE <= bytes; at += LINE)
        for (size_t i = at; i < at + LINE; i += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
    memcpy(to + at, from + at, bytes - at);
}

/* One element, at a multiple of its size. */
FOR_ONE_SIZE void stream_element(char *to, const char *from, size_t size)
{
    if (size == sizeof(__m128i))
        _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
    else
        for (size_t i = 0; i < size; i += sizeof(int)) {
            int part;
            memcpy(&part, from + i, sizeof part);
            _mm_stream_si32((int *)(to + i), part);
        }
}

/* Non-temporal stores become visible to other cores before any later store. */
static void end_stream(void)
{
    _mm_sfence();
}
#else
static void stream(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

FOR_ONE_SIZE void stream_element(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
}

static void end_stream(void)
{
}
#endif

/* Like stream(), a dense row of n elements `step` bytes apart. */
FOR_ONE_SIZE void stream_gathered(char *to, const char *from, int64_t step, int64_t n, size_t size)
{
    int64_t bytes = (int64_t)size, i = 0, whole = 0;
    if ((uintptr_t)to % size == 0) {
        int64_t head = (LINE - (int64_t)((uintptr_t)to % LINE)) % LINE / bytes;
        for (; i < n && i < head; i++)
            memcpy(to + i * bytes, from + i * step, size);
        whole = i + (n - i) / (LINE / bytes) * (LINE / bytes);
    }
    for (; i < whole; i++)
        stream_element(to + i * bytes, from + i * step, size);
    for (; i < n; i++)
        memcpy(to + i * bytes, from + i * step, size);
}

/* Like stream(), a dense row whose n elements, `step` elements apart in the source, change their precision. */
FOR_ONE_SIZE void stream_changed(char *to, const char *from, int64_t step, int64_t n, struct sizes s)
{
    enum { PIECE = 128, MOST_BYTES = 16 };
    char piece[PIECE * MOST_BYTES];
    for (int64_t i = 0, some; i < n; i += some) {
        some = n - i < PIECE ? n - i : PIECE;
        if (step == 1)
            move_row(piece, from + i * (int64_t)s.from, some, s);
        else
            for (int64_t k = 0; k < some; k++)
                move_row(piece + k * (int64_t)s.to, from + (i + k) * step * (int64_t)s.from, 1, s);
        stream(to + i * (int64_t)s.to, piece, (size_t)some * s.to);
    }
}

FOR_ONE_SIZE void copy_run(int64_t n, int64_t from_stride, int64_t to_stride, struct sizes s, const char *from, char *to)
{
    if (from_stride == 1 && to_stride == 1)
        move_row(to, from, n, s);
    else
        for (int64_t i = 0; i < n; i++)
            move_row(to + i * to_stride * (int64_t)s.to, from + i * from_stride * (int64_t)s.from, 1, s);
}

FOR_ONE_SIZE void copy_runs(const struct pf_copy *c, int a, struct sizes s, const char *from, char *to)
{
    int i = a == 0 ? 1 : 0, j = a == 2 ? 1 : 2;
    for (int64_t u = 0; u < c->extent[i]; u++)
        for (int64_t v = 0; v < c->extent[j]; v++)
            copy_run(c->extent[a], c->from_stride[a], c->to_stride[a], s,
                     from + (u * c->from_stride[i] + v * c->from_stride[j]) * (int64_t)s.from,
                     to + (u * c->to_stride[i] + v * c->to_stride[j]) * (int64_t)s.to);
}

/* Rows between the prefetched row and the copied row. */
static int64_t rows_ahead(int64_t row)
{
    return row ? (AHEAD + row - 1) / row : 0;
}

/* Dense rows. Prefetch each row some rows before its copy, on either side or both. */
FOR_ONE_SIZE void copy_rows(const struct pf_copy *c, int a, struct sizes s, const char *from, char *to)
{
    int i = a == 0 ? 1 : 0, j = a == 2 ? 1 : 2;
    int outer = c->extent[i] < c->extent[j] ? i : j, inner = i + j - outer;
    int64_t from_row = c->extent[a] * (int64_t)s.from, to_row = c->extent[a] * (int64_t)s.to, n = c->extent[inner];
    int64_t from_ahead = rows_ahead(from_row), to_ahead = rows_ahead(to_row);
    int64_t from_step = c->from_stride[inner] * (int64_t)s.from, to_step = c->to_stride[inner] * (int64_t)s.to;
    bool asks_from = c->from_memory && from_row < AHEAD, asks_to = c->to_memory && to_row < AHEAD;
    for (int64_t u = 0; u < c->extent[outer]; u++) {
        for (int64_t v = 0; v < n; v++) {
            const char *source = from + u * c->from_stride[outer] * (int64_t)s.from + v * from_step;
            char *target = to + u * c->to_stride[outer] * (int64_t)s.to + v * to_step;
            if (asks_from && v + from_ahead < n)
                pf_ask_for(source + from_ahead * from_step, from_row);
            if (c->past_caches && v + to_ahead < n)
                pf_ask_for_ends(target + to_ahead * to_step, to_row);
            else if (asks_to && v + to_ahead < n)
                pf_ask_for(target + to_ahead * to_step, to_row);
            if (c->past_caches && s.from == s.to)
                stream(target, source, (size_t)to_row);
            else if (c->past_caches)
                stream_changed(target, source, 1, c->extent[a], s);
            else
                move_row(target, source, c->extent[a], s);
        }
    }
    if (c->past_caches)
        end_stream();
}

FOR_ONE_SIZE void copy_matrices(const struct pf_copy *c, int a, int b, struct sizes s, const char *from, char *to)
{
    int other = 3 - a - b;
    struct matrix m = {c->extent[a], c->extent[b], c->from_stride[a], c->from_stride[b], c->to_stride[a], c->to_stride[b]};
    for (int64_t i = 0; i < c->extent[other]; i++)
        copy_matrix(&m, s, from + i * c->from_stride[other] * (int64_t)s.from, to + i * c->to_stride[other] * (int64_t)s.to);
}

/* Row after row of the target by non-temporal stores; a is dense in the source, b in the target. */
FOR_ONE_SIZE void stream_matrices(const struct pf_copy *c, int a, int b, struct sizes s, const char *from, char *to)
{
    int other = 3 - a - b;
    int64_t row = c->extent[b] * (int64_t)s.to, ahead = rows_ahead(row), step = c->to_stride[a] * (int64_t)s.to;
    for (int64_t i = 0; i < c->extent[other]; i++)
        for (int64_t k = 0; k < c->extent[a]; k++) {
            const char *source = from + (i * c->from_stride[other] + k) * (int64_t)s.from;
            char *target = to + i * c->to_stride[other] * (int64_t)s.to + k * step;
            if (k + ahead < c->extent[a])
                pf_ask_for_ends(target + ahead * step, row);
            if (s.from == s.to)
                stream_gathered(target, source, c->from_stride[b] * (int64_t)s.from, c->extent[b], s.from);
            else
                stream_changed(target, source, c->from_stride[b], c->extent[b], s);
        }
    end_stream();
}

FOR_ONE_SIZE void copy_elements(const struct pf_copy *c, struct sizes s, const void *from, void *to)
{
    int a = nearest(c->extent, c->from_stride), b = nearest(c->extent, c->to_stride);
    for (int field = 0; field < c->fields; field++) {
        const char *source = (const char *)from + (c->from_start + field * c->from_field) * (int64_t)s.from;
        char *target = (char *)to + (c->to_start + field * c->to_field) * (int64_t)s.to;
        bool dense = c->from_stride[a] == 1 && c->to_stride[b] == 1;
        if (a == b && dense && (c->from_memory || c->to_memory || c->past_caches))
            copy_rows(c, a, s, source, target);
        else if (a == b)
            copy_runs(c, a, s, source, target);
        else if (dense && c->past_caches)
            stream_matrices(c, a, b, s, source, target);
        else
            copy_matrices(c, a, b, s, source, target);
    }
}

struct pf_copy pf_copy_between(const pencilfft_box *part, const pencilfft_box *from, const pencilfft_box *to)
{
    struct pf_copy copy = {
        .from_start = pf_box_start(from, part),
        .to_start = pf_box_start(to, part),
        .fields = 1,
        .from_field = pf_box_elements(from),
        .to_field = pf_box_elements(to),
    };
    for (int axis = 0; axis < 3; axis++) {
        copy.extent[axis] = part->extent[axis];
        copy.from_stride[axis] = from->stride[axis];
        copy.to_stride[axis] = to->stride[axis];
    }
    return copy;
}

/* Real and complex numbers, of single and double precision. */
static void copy_alone(const struct pf_copy *c, struct sizes s, const void *from, void *to)
{
    if (s.from == 4 && s.to == 4)
        copy_elements(c, (struct sizes){4, 4}, from, to);
    else if (s.from == 4)
        copy_elements(c, (struct sizes){4, 8}, from, to);
    else if (s.from == 8 && s.to == 4)
        copy_elements(c, (struct sizes){8, 4}, from, to);
    else if (s.from == 8 && s.to == 8)
        copy_elements(c, (struct sizes){8, 8}, from, to);
    else if (s.from == 8)
        copy_elements(c, (struct sizes){8, 16}, from, to);
    else if (s.to == 8)
        copy_elements(c, (struct sizes){16, 8}, from, to);
    else
        copy_elements(c, (struct sizes){16, 16}, from, to);
}

/* ---- by threads ------------------------------------------------------------------------------------------------- */

struct shared {
    const struct pf_copy *copy;
    struct sizes sizes;
    const void *from;
    void *to;
    int axis, shares;
};

/* The slowest axis of the target with an index for each thread; else the longest axis. */
static int axis_to_share(const struct pf_copy *c, int shares)
{
    int slowest = -1, longest = 0;
    for (int i = 0; i < 3; i++) {
        if (c->extent[i] >= shares && (slowest < 0 || c->to_stride[i] > c->to_stride[slowest]))
            slowest = i;
        longest = c->extent[i] > c->extent[longest] ? i : longest;
    }
    return slowest < 0 ? longest : slowest;
}

static void copy_share(int share, void *of)
{
    const struct shared *s = of;
    struct pf_copy mine = *s->copy;
    int64_t n = mine.extent[s->axis], start = pf_share_start(n, share, s->shares);
    mine.extent[s->axis] = pf_share_start(n, share + 1, s->shares) - start;
    mine.from_start += start * mine.from_stride[s->axis];
    mine.to_start += start * mine.to_stride[s->axis];
    if (mine.extent[s->axis])
        copy_alone(&mine, s->sizes, s->from, s->to);
}

void pf_copy_changed(const struct pf_copy *c, size_t from_bytes, size_t to_bytes, const void *from, void *to)
{
    const struct sizes s = {from_bytes, to_bytes};
    int64_t bytes = c->extent[0] * c->extent[1] * c->extent[2] * c->fields * (int64_t)to_bytes;
    int shares = c->threads > 1 ? pf_threads_worth(c->threads, bytes) : 1;
    if (shares > 1)
        pf_threads_run(shares, copy_share, &(struct shared){c, s, from, to, axis_to_share(c, shares), shares});
    else
        copy_alone(c, s, from, to);
}

void pf_copy_run(const struct pf_copy *c, size_t element_bytes, const void *from, void *to)
{
    pf_copy_changed(c, element_bytes, element_bytes, from, to);
}
