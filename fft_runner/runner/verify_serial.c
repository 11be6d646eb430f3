/* The whole result against a serial three-dimensional FFTW on rank 0.
 * Idea:  rank 0 recomputes the input, transforms the input in place, and compares the ranks' blocks piece by piece as they
 *        arrive, so that it never holds more than one array and one piece.
 * Cost:  on rank 0 one array of N elements and a serial transform; every rank sends its block once. */
#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "values.h"
#include "verify.h"

enum { PIECE = 1 << 16, TAG = 1 };

/* Above this number of elements a serial transform takes too long, and 2 GiB. */
static const int64_t serial_limit = (int64_t)1 << 27;

/* The whole array in complex numbers, one axis after the other: the halved axis changes the shape, else all is in place. */
struct whole {
    const struct problem *p;
    int backward;
    int64_t n[3]; /* at this moment */
    double complex *data;
};

/* Forward and backward, of cosine and sine transforms I to IV. */
static const fftw_r2r_kind fftw_kinds[2][4][2] = {
    {{FFTW_REDFT00, FFTW_REDFT00}, {FFTW_REDFT10, FFTW_REDFT01}, {FFTW_REDFT01, FFTW_REDFT10}, {FFTW_REDFT11, FFTW_REDFT11}},
    {{FFTW_RODFT00, FFTW_RODFT00}, {FFTW_RODFT10, FFTW_RODFT01}, {FFTW_RODFT01, FFTW_RODFT10}, {FFTW_RODFT11, FFTW_RODFT11}},
};

/* Indices of the axes that are faster and slower than an axis. */
static void count_around(const struct whole *w, int axis, int64_t *below, int64_t *above)
{
    *below = *above = 1;
    for (int i = 0; i < 3; i++)
        *(i > axis ? below : above) *= i == axis ? 1 : w->n[i];
}

static bool transform_axis(struct whole *w, int axis)
{
    const pencilfft_line *line = &w->p->line[axis];
    bool real = line->kind == PENCILFFT_LINE_COSINE || line->kind == PENCILFFT_LINE_SINE;
    int64_t n = w->n[axis], below, above;
    count_around(w, axis, &below, &above);
    fftw_iodim64 dim = {n, below, below}, many[2] = {{above, n * below, n * below}, {below, 1, 1}};
    fftw_iodim64 real_dim = {n, 2 * below, 2 * below};
    fftw_iodim64 real_many[3] = {{above, 2 * n * below, 2 * n * below}, {below, 2, 2}, {2, 1, 1}};
    fftw_r2r_kind kind = real ? fftw_kinds[line->kind == PENCILFFT_LINE_SINE][line->number - 1][w->backward] : FFTW_DHT;
    fftw_plan plan = real ? fftw_plan_guru64_r2r(1, &real_dim, 3, real_many, (double *)w->data, (double *)w->data, &kind,
                                                 FFTW_ESTIMATE)
                          : fftw_plan_guru64_dft(1, &dim, 2, many, w->data, w->data,
                                                 w->backward ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    if (!plan)
        return false;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return true;
}

/* Expand lines of n/2 + 1 to full lines, the last first, because there is room behind. Elements that c2r does not read are
 * set to the values that a real line has there. */
static void expand_lines(struct whole *w, int axis)
{
    int64_t half = w->n[axis], n = w->p->line[axis].n, below, above;
    count_around(w, axis, &below, &above);
    for (int64_t a = above - 1; a >= 0; a--)
        for (int64_t k = half - 1; k >= 0; k--)
            for (int64_t b = below - 1; b >= 0; b--) {
                double complex value = w->data[(a * half + k) * below + b];
                w->data[(a * n + k) * below + b] = k == 0 || 2 * k == n ? creal(value) : value;
            }
    for (int64_t a = 0; a < above; a++)
        for (int64_t k = half; k < n; k++)
            for (int64_t b = 0; b < below; b++)
                w->data[(a * n + k) * below + b] = conj(w->data[(a * n + n - k) * below + b]);
    w->n[axis] = n;
}

static void shorten_lines(struct whole *w, int axis)
{
    int64_t n = w->n[axis], half = n / 2 + 1, below, above;
    count_around(w, axis, &below, &above);
    for (int64_t a = 0; a < above; a++)
        for (int64_t k = 0; k < half; k++)
            for (int64_t b = 0; b < below; b++)
                w->data[(a * half + k) * below + b] = w->data[(a * n + k) * below + b];
    w->n[axis] = half;
}

/* Keep the modes of n points of lines of more points, in place: low modes, then high modes, and the mode n/2 of an even n
 * from both sides. */
static void keep_modes(struct whole *w, int axis)
{
    int64_t n = w->p->line[axis].n, points = w->n[axis], below, above;
    count_around(w, axis, &below, &above);
    for (int64_t a = 0; a < above; a++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t b = 0; b < below; b++) {
                const double complex *from = w->data + a * points * below + b;
                double complex value = from[(2 * k > n ? k + points - n : k) * below];
                w->data[(a * n + k) * below + b] = 2 * k == n ? value + from[(points - k) * below] : value;
            }
    w->n[axis] = n;
}

/* The reverse, from the end. */
static void pad_modes(struct whole *w, int axis)
{
    int64_t n = w->n[axis], points = w->p->line[axis].points, below, above;
    count_around(w, axis, &below, &above);
    for (int64_t a = above - 1; a >= 0; a--)
        for (int64_t k = points - 1; k >= 0; k--)
            for (int64_t b = below - 1; b >= 0; b--) {
                const double complex *from = w->data + a * n * below + b;
                int64_t mode = 2 * k <= n ? k : 2 * (points - k) < n ? k - points + n : 2 * (points - k) == n ? n / 2 : -1;
                double complex value = mode < 0 ? 0 : from[mode * below];
                w->data[(a * points + k) * below + b] = 2 * mode == n ? value / 2 : value;
            }
    w->n[axis] = points;
}

/* The halved axis, or z; the first of a forward transform. */
static int first_axis(const struct whole *w)
{
    int axis = 0;
    while (axis < 2 && w->p->line[axis].kind != PENCILFFT_LINE_R2C)
        axis++;
    return axis;
}

static bool transform_whole(struct whole *w)
{
    for (int i = 0; i < 3; i++) {
        int axis = (first_axis(w) + (w->backward ? i + 1 : 3 - i)) % 3;
        bool halved = w->p->line[axis].kind == PENCILFFT_LINE_R2C;
        if (halved && w->backward)
            expand_lines(w, axis);
        bool padded = w->p->line[axis].points > w->p->line[axis].n;
        if (padded && w->backward)
            pad_modes(w, axis);
        if (w->p->line[axis].kind != PENCILFFT_LINE_NONE && !transform_axis(w, axis))
            return false;
        if (padded && !w->backward)
            keep_modes(w, axis);
        if (halved && !w->backward)
            shorten_lines(w, axis);
    }
    return true;
}

static bool make_reference(const struct problem *p, const pencilfft_format *in, int field, double complex *data)
{
    struct whole w = {.p = p,
                      .backward = p->direction == PENCILFFT_BACKWARD,
                      .n = {in->n[0], in->n[1], in->n[2]},
                      .data = data};
    int64_t elements = in->n[0] * in->n[1] * in->n[2];
    for (int64_t i = 0; i < elements; i++)
        data[i] = value_random(in, field * elements + i);
    return transform_whole(&w);
}

/* Elements between neighbours of a field: as many as fields if these are interleaved. */
static int64_t step_of(const pencilfft_part *part)
{
    int64_t least = part->box.stride[0];
    for (int axis = 1; axis < 3; axis++)
        least = part->box.stride[axis] < least ? part->box.stride[axis] : least;
    return least;
}

static int64_t elements_of(const pencilfft_part *part)
{
    return part->box.extent[0] * part->box.extent[1] * part->box.extent[2];
}

/* Index in the whole array of an element, numbered in its box as if it were dense. */
static int64_t global_index(const pencilfft_part *part, const int64_t n[3], int64_t local)
{
    const pencilfft_box *b = &part->box;
    int64_t index = 0, step = step_of(part);
    for (int axis = 0; axis < 3; axis++)
        index = index * n[axis] + b->offset[axis] + local / (b->stride[axis] / step) % b->extent[axis];
    return index;
}

struct comparison {
    const struct problem *p;
    struct side out;
    int field;
    const double complex *reference;
    double worst; /* largest |difference|; NaN after any NaN */
};

static void compare_piece(struct comparison *c, const pencilfft_part *part, int64_t start, int n, const void *a)
{
    for (int i = 0; i < n; i++) {
        double complex value = element_load(&c->out.format, a, i);
        double difference = cabs(value - c->reference[global_index(part, c->out.format.n, start + i)]);
        c->worst = worse_error(c->worst, difference);
    }
}

static int piece_length(int64_t elements, int64_t start)
{
    return (int)(elements - start < PIECE ? elements - start : PIECE);
}

/* Elements of a field of this rank, one after the other. */
static void take_piece(const struct comparison *c, const pencilfft_part *part, int64_t at, int n, char *piece)
{
    int64_t bytes = (int64_t)c->out.format.element_bytes, step = step_of(part);
    const char *from = (const char *)c->p->out + (part->start + (c->field - part->first_field) * part->field_stride) * bytes;
    for (int i = 0; i < n; i++)
        memcpy(piece + i * bytes, from + (at + i) * step * bytes, (size_t)bytes);
}

static void send_part(const struct comparison *c, const pencilfft_part *part, char *piece)
{
    int bytes = (int)c->out.format.element_bytes;
    for (int64_t at = 0, all = elements_of(part); at < all; at += PIECE) {
        int n = piece_length(all, at);
        take_piece(c, part, at, n, piece);
        CHECK_MPI(MPI_Send(piece, n * bytes, MPI_BYTE, 0, TAG, c->p->grid));
    }
}

static void compare_part(struct comparison *c, int rank, const pencilfft_part *part, char *piece)
{
    int bytes = (int)c->out.format.element_bytes;
    for (int64_t at = 0, all = elements_of(part); at < all; at += PIECE) {
        int n = piece_length(all, at);
        if (rank > 0)
            CHECK_MPI(MPI_Recv(piece, n * bytes, MPI_BYTE, rank, TAG, c->p->grid, MPI_STATUS_IGNORE));
        else
            take_piece(c, part, at, n, piece);
        compare_piece(c, part, at, n, piece);
    }
}

static void send_all(const struct comparison *c, char *piece)
{
    for (int i = 0; i < c->out.parts; i++)
        if (has_field(&c->out.part[i], c->field))
            send_part(c, &c->out.part[i], piece);
}

static int compare_all(struct comparison *c, int ranks, char *piece)
{
    int status = 0;
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < c->out.parts && !status; i++) {
            pencilfft_part part;
            status = pencilfft_part_of(c->p->plan, output_of(c->p->direction), rank, i, &part);
            if (!status && has_field(&part, c->field))
                compare_part(c, rank, &part, piece);
        }
    return status;
}

static int compare_field(struct comparison *c, const pencilfft_format *in, double complex *reference, char *piece,
                         int *ready)
{
    int rank, ranks, status = 0;
    CHECK_MPI(MPI_Comm_rank(c->p->grid, &rank));
    CHECK_MPI(MPI_Comm_size(c->p->grid, &ranks));
    if (rank == 0)
        *ready = reference && make_reference(c->p, in, c->field, reference);
    CHECK_MPI(MPI_Bcast(ready, 1, MPI_INT, 0, c->p->grid));
    c->reference = reference;
    if (*ready && rank > 0)
        send_all(c, piece);
    else if (*ready)
        status = compare_all(c, ranks, piece);
    return status;
}

static int64_t larger_side(const pencilfft_format *in, const pencilfft_format *out)
{
    int64_t a = in->n[0] * in->n[1] * in->n[2], b = out->n[0] * out->n[1] * out->n[2];
    return a > b ? a : b;
}

int verify_serial(const struct problem *p, double scale, struct verification *v)
{
    int rank, ready = 1;
    struct comparison c = {.p = p};
    struct side in;
    int status = side_of(p, output_of(p->direction), &c.out);
    if (status || (status = side_of(p, input_of(p->direction), &in)))
        return status;
    int64_t elements = larger_side(&in.format, &c.out.format);
    double complex *reference = NULL;
    if (elements > serial_limit) {
        snprintf(v->note, sizeof v->note, "serial FFTW not done: more than %lld elements", (long long)serial_limit);
        return 0;
    }
    CHECK_MPI(MPI_Comm_rank(p->grid, &rank));
    if (rank == 0)
        reference = fftw_malloc((size_t)elements * sizeof *reference);
    char *piece = malloc(PIECE * sizeof *reference);
    if ((status = pf_agree(piece ? 0 : pf_fail(PF_REFUSED, "no memory for pieces of the result"), p->grid))) {
        fftw_free(reference);
        free(piece);
        return status;
    }
    for (; c.field < c.out.format.fields && ready && !status; c.field++)
        status = compare_field(&c, &in.format, reference, piece, &ready);
    if (!ready)
        snprintf(v->note, sizeof v->note, "serial FFTW not done: no memory for the whole array on rank 0");
    fftw_free(reference);
    free(piece);
    CHECK_MPI(MPI_Bcast(&c.worst, 1, MPI_DOUBLE, 0, p->grid));
    v->fftw_done = ready;
    v->error_fftw = c.worst / scale;
    return status;
}
