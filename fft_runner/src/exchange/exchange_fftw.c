/* Transpose by FFTW's own planner of distributed transposes.
 * Idea:  the gathered axis and the split axis form a matrix whose elements are tuples of everything along the third axis, in
 *        all fields. The matrix is copied into FFTW's order, moved by fftw_mpi_plan_many_transpose() with the fastest
 *        measured algorithm, and copied into the new box. FFTW supports only equal blocks (the last may be shorter), so the
 *        matrix is padded if blocks are uneven. FFTW keeps counts and starts of messages in ints of doubles, without a check
 *        (mpi/transpose-*.c), so larger tuples are cut along the third axis and moved by slices.
 * Source: M. Schulz, "3D-FFT on different networks", section 5: FFTW's transpose planner inside pencils; FFTW's manual, 6.7
 *         FFTW MPI Transposes.
 * Cost:  FFTW's transpose, and two passes over memory here; padding as in exchange_padded.c; two additional buffers.
 * Needs: FFTW's MPI library, built for this MPI. */
#include "exchange/message_counts.h"

#ifdef PENCILFFT_HAVE_FFTW_MPI

#include <fftw3-mpi.h>
#include <stdlib.h>

#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

struct transposer {
    struct pf_transpose t;
    int gathered, split, third; /* axes: split before and whole after, whole before and split after, the other */
    int64_t block0, block1;     /* padded blocks of the gathered and of the split axis */
    int64_t slice;              /* indices of the third axis that are moved at once */
    int64_t tuple;              /* elements of a tuple of a slice, rounded up to whole doubles */
    double *before, *after;
    fftw_plan plan;
};

static int64_t whole(const pencilfft_box *boxes, int p, int axis)
{
    int64_t end = 0;
    for (int j = 0; j < p; j++)
        if (boxes[j].offset[axis] + boxes[j].extent[axis] > end)
            end = boxes[j].offset[axis] + boxes[j].extent[axis];
    return end;
}

/* The two axes along which boxes are cut only before or only after; in a group of one, any two. */
static void find_axes(struct transposer *a)
{
    const struct pf_transpose *t = &a->t;
    a->gathered = a->split = -1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t n = whole(t->from, t->p, axis);
        if (t->p > 1 && a->gathered < 0 && t->to[0].extent[axis] == n &&
            t->from[t->p - 1].offset[axis] > t->from[0].offset[axis])
            a->gathered = axis;
        else if (t->p > 1 && a->split < 0 && t->from[0].extent[axis] == n &&
                 t->to[t->p - 1].offset[axis] > t->to[0].offset[axis])
            a->split = axis;
    }
    if (a->gathered < 0)
        a->gathered = a->split == 0 ? 1 : 0;
    if (a->split < 0)
        a->split = a->gathered == 2 ? 1 : 2;
    a->third = 3 - a->gathered - a->split;
}

static int64_t tuple_of(const struct pf_transpose *t, int64_t indices)
{
    int64_t tuple = indices * t->fields;
    return t->element_bytes < sizeof(double) ? tuple + tuple % 2 : tuple;
}

static int64_t doubles_of(const struct transposer *a, int64_t indices)
{
    return a->block0 * a->block1 * a->t.p * tuple_of(&a->t, indices) * (int64_t)a->t.element_bytes / (int64_t)sizeof(double);
}

/* Of the third axis. */
static int64_t indices(const struct transposer *a)
{
    return a->t.from[a->t.me].extent[a->third];
}

static int find_sizes(struct transposer *a)
{
    const struct pf_transpose *t = &a->t;
    a->block0 = pf_widest(t->from, t->p, a->gathered);
    a->block1 = pf_widest(t->to, t->p, a->split);
    a->slice = indices(a);
    while (a->slice > 1 && doubles_of(a, a->slice) > pf_fftw_count_limit)
        a->slice = (a->slice + 1) / 2;
    a->tuple = tuple_of(t, a->slice);
    if (doubles_of(a, a->slice) > pf_fftw_count_limit)
        return pf_fail(PENCILFFT_TOO_LARGE,
                       "exchange fftw moves planes of %lld numbers a task, more than the %lld that FFTW's transpose counts; "
                       "use another exchange, or more tasks",
                       (long long)doubles_of(a, a->slice), (long long)pf_fftw_count_limit);
    return PENCILFFT_OK;
}

static void release(void *state)
{
    struct transposer *a = state;
    if (a->plan)
        fftw_destroy_plan(a->plan);
    fftw_free(a->before);
    fftw_free(a->after);
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    struct transposer *a = state;
    (void)sent, (void)received;
    a->t = *t;
    find_axes(a);
    int status = find_sizes(a);
    if (status)
        return status;
    size_t elements = (size_t)(a->block0 * a->block1 * a->tuple) * (size_t)t->p;
    a->before = fftw_malloc(elements * t->element_bytes + sizeof(double));
    a->after = fftw_malloc(elements * t->element_bytes + sizeof(double));
    if (!a->before || !a->after)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for two matrices of %zu elements", elements);
    return PENCILFFT_OK;
}

static void prepare(void)
{
    fftw_mpi_init();
}

/* FFTW ignores MPI's return codes: FFTW would give wrong data or wait forever. So a failure of MPI in FFTW's communicators,
 * which are copies of the group's, ends the program. */
static int plan_transpose(struct transposer *a)
{
    int status = PENCILFFT_OK;
    ptrdiff_t howmany = (ptrdiff_t)((size_t)a->tuple * a->t.element_bytes / sizeof(double));
    PF_MPI(MPI_Comm_set_errhandler(a->t.group, MPI_ERRORS_ARE_FATAL));
    a->plan = fftw_mpi_plan_many_transpose(a->t.p * a->block0, a->t.p * a->block1, howmany, a->block0, a->block1, a->before,
                                           a->after, a->t.group, FFTW_MEASURE);
    PF_MPI(MPI_Comm_set_errhandler(a->t.group, MPI_ERRORS_RETURN));
    if (!a->plan)
        status = pf_fail(PENCILFFT_FFTW_ERROR, "FFTW made no plan for a transpose; if the program calls "
                                               "fftw_init_threads(), it must do so before its first plan here");
    return status;
}

static int connect(void *state, void *from, void *to)
{
    struct transposer *a = state;
    (void)from, (void)to;
    prepare();
    if (!a->block0 || !a->block1 || !a->tuple) /* the other members have no data either */
        return PENCILFFT_OK;
    return pf_agree(plan_transpose(a), a->t.group);
}

/* Between a slice of this rank's box and the matrix, whose rows are tuples, part by part: into the matrix or back. */
static void copy_parts(const struct transposer *a, bool in, int64_t slice, const void *from, void *to)
{
    const struct pf_transpose *t = &a->t;
    const pencilfft_box *mine = in ? &t->from[t->me] : &t->to[t->me], *theirs = in ? t->to : t->from;
    int64_t block = in ? a->block1 : a->block0;
    for (int j = 0; j < t->p; j++) {
        pencilfft_box part = pf_box_common(mine, &theirs[j]), matrix;
        part = pf_box_cut(&part, a->third, slice, pf_smaller(a->slice, part.extent[a->third] - slice));
        matrix = part;
        matrix.stride[in ? a->gathered : a->split] = t->p * block * a->tuple;
        matrix.stride[in ? a->split : a->gathered] = a->tuple;
        matrix.stride[a->third] = 1;
        struct pf_copy copy = in ? pf_copy_between(&part, mine, &matrix) : pf_copy_between(&part, &matrix, mine);
        *(in ? &copy.to_start : &copy.from_start) = j * block * a->tuple;
        *(in ? &copy.to_field : &copy.from_field) = part.extent[a->third];
        copy.fields = t->fields;
        copy.threads = t->threads;
        pf_copy_run(&copy, t->element_bytes, from, to);
    }
}

static int start(void *state, void *from, void *to)
{
    const struct transposer *a = state;
    if (!a->plan)
        return PENCILFFT_OK;
    for (int64_t slice = 0; slice < indices(a); slice += a->slice) {
        copy_parts(a, true, slice, from, a->before);
        fftw_execute(a->plan);
        copy_parts(a, false, slice, a->after, to);
    }
    return PENCILFFT_OK;
}

/* FFTW chooses its own messages, but these bytes must arrive. */
static void traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct transposer *a = state;
    int64_t slices = a->slice ? (indices(a) + a->slice - 1) / a->slice : 0;
    for (int j = 0; j < a->t.p; j++)
        if (j != a->t.me) {
            bytes[j] = slices * a->block0 * a->block1 * a->tuple * (int64_t)a->t.element_bytes;
            messages[j] = bytes[j] > 0 ? slices : 0;
        }
}

const struct pf_exchange pf_exchange_fftw = {
    .name = "fftw",
    .bytes = sizeof(struct transposer),
    .plan = plan,
    .start = start,
    .release = release,
    .takes_boxes = true,
    .moves_self = true,
    .transposes_alone = true,
    .connect = connect,
    .traffic = traffic,
    .prepare = prepare,
};

#else

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    (void)t, (void)sent, (void)received, (void)state;
    return pf_fail(PENCILFFT_NOT_POSSIBLE, "exchange fftw needs FFTW's MPI library built for this MPI, which was not "
                                           "found when pencilfft was configured (Debian, for Open MPI: libfftw3-mpi-dev)");
}

const struct pf_exchange pf_exchange_fftw = {.name = "fftw", .plan = plan, .takes_boxes = true, .transposes_alone = true};

#endif
