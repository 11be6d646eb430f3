/* A rank that has the whole array: one plan of FFTW for all axes.
 * Idea:  where nothing is exchanged and the array stays in the caches, FFTW knows better orders than axis by axis. So its plan
 *        for all axes and the passes are timed in turn, as they would be used, and the one with the shorter median is taken;
 *        for runs in place apart from those with two arrays.
 * Cost:  FFTW's time for such a plan, and TRIALS transforms with each. Arrays beyond pf_tuning.whole_bytes are not tried:
 *        there the passes were always faster.
 *        A transform of complex into real numbers costs a copy, for FFTW overwrites its input then, unless it may.
 * Needs: one kind of transform along all axes, or real input along z; arrays of one part; a work buffer. */
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/make.h"
#include "speed/tuning.h"

enum { TRIALS = 7 };

/* The kind along all axes that are transformed; PF_SKIP where there are several, or none. */
static enum pf_line_kind common_kind(const struct pencilfft_plan_s *plan)
{
    enum pf_line_kind kind = PF_SKIP;
    for (int axis = 2; axis >= 0; axis--) {
        enum pf_line_kind mine = plan->transform.line[axis].kind;
        if (mine == PF_SKIP || mine == kind || (kind == PF_R2C && mine == PF_DFT))
            continue;
        if (kind != PF_SKIP)
            return PF_SKIP;
        kind = mine;
    }
    return kind;
}

/* Does FFTW overwrite what is transformed, and must not? In place it has another array for it, too. */
static bool is_copied(const struct pencilfft_plan_s *plan, int backward, bool same)
{
    return backward && common_kind(plan) == PF_R2C && (same || !plan->destroys_input);
}

static bool may_be_whole(const struct pencilfft_plan_s *plan, int backward)
{
    enum pf_line_kind kind = common_kind(plan);
    int64_t bytes = pf_box_elements(&plan->route[0].mine[0]) * (int64_t)plan->element_bytes;
    return plan->ranks == 1 && plan->parts == 1 && plan->fields == 1 && plan->threads <= 1 && kind != PF_SKIP &&
           (plan->work[0] || !is_copied(plan, backward, true)) && !(plan->rigor->flag & FFTW_ESTIMATE) &&
           bytes <= pf_tuning.whole_bytes;
}

static bool same_order(const pencilfft_box *a, const pencilfft_box *b)
{
    return memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

static void set_shape(const struct pencilfft_plan_s *plan, int backward, const pencilfft_box *in, const pencilfft_box *out,
                      struct pf_line_shape *shape)
{
    enum pf_line_kind kind = common_kind(plan);
    ptrdiff_t parts = kind == PF_R2R && !plan->transform.real_output ? 2 : 1;
    int many = 0;
    *shape = (struct pf_line_shape){.kind = kind, .backward = backward, .flags = plan->rigor->flag, .rank = 0};
    if (plan->destroys_input)
        shape->flags |= FFTW_DESTROY_INPUT;
    for (int axis = 0; axis < 3; axis++) {
        const struct pf_line *line = &plan->transform.line[axis];
        fftw_iodim64 dim = {axis == 2 ? plan->transform.input_nz : in->extent[axis], in->stride[axis] * parts,
                            out->stride[axis] * parts};
        if (line->kind == PF_SKIP)
            shape->many[many++] = dim;
        else {
            shape->r2r[shape->rank] = line->r2r[backward];
            shape->line[shape->rank++] = dim;
        }
    }
    shape->many[many++] = (fftw_iodim64){parts, 1, 1};
    for (; many < PF_MANY; many++)
        shape->many[many] = (fftw_iodim64){1, 1, 1};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out)
{
    const struct pf_whole *whole = &plan->sequence[backward].whole;
    void *from = (void *)in; /* which FFTW keeps, or may overwrite */
    if (is_copied(plan, backward, in == out)) {
        from = plan->work[0];
        memcpy(from, in, (size_t)pf_box_elements(&plan->route[0].mine[plan->exchanges]) * plan->element_bytes);
    }
    plan->precision->fftw->execute(&whole->shape, whole->plan[in == out], from, out);
}

/* Is FFTW's plan faster than the passes? The first times are for the caches. */
static int try_both(pencilfft_plan plan, int backward, void *in, void *out, bool *faster)
{
    double seconds[2][TRIALS + 1];
    int status = PENCILFFT_OK;
    for (int i = 0; i <= TRIALS && !status; i++) {
        double start = pf_now();
        status = pf_transform_by_steps(plan, backward, in, out);
        double middle = pf_now();
        run(plan, backward, in, out);
        seconds[0][i] = middle - start;
        seconds[1][i] = pf_now() - middle;
    }
    for (int i = 0; i < 2 && !status; i++)
        qsort(seconds[i] + 1, TRIALS, sizeof seconds[i][0], ascending);
    *faster = !status && seconds[1][1 + TRIALS / 2] < seconds[0][1 + TRIALS / 2];
    return status;
}

int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out)
{
    struct pf_whole *whole = &plan->sequence[backward].whole;
    int status = PENCILFFT_OK;
    if (!may_be_whole(plan, backward))
        return status;
    pencilfft_box box[2] = {pf_part_of(plan, PENCILFFT_INPUT, plan->rank, 0).box,
                            pf_part_of(plan, plan->exchanges, plan->rank, 0).box};
    bool apart = is_copied(plan, backward, true); /* also a run in place has two arrays */
    int arrays = apart || (same_order(&box[0], &box[1]) && common_kind(plan) != PF_R2C) ? 2 : 1;
    size_t bytes = (size_t)plan->alloc_elements * plan->element_bytes;
    set_shape(plan, backward, &box[backward], &box[!backward], &whole->shape);
    for (int same = 0; same < arrays && !status; same++) {
        bool faster = pf_tuning.direct == PF_ALWAYS;
        void *from = same ? out : in;
        void *read = is_copied(plan, backward, same) ? plan->work[0] : from;
        whole->plan[same] = plan->precision->fftw->plan(&whole->shape, read, out);
        memset(in, 0, bytes); /* numbers that grow without bound would be slower to compute with */
        memset(out, 0, bytes);
        if (whole->plan[same] && !faster)
            status = try_both(plan, backward, from, out, &faster);
        if (whole->plan[same] && !faster) {
            plan->precision->fftw->destroy(whole->plan[same]);
            whole->plan[same] = NULL;
        }
    }
    return status;
}

bool pf_whole_run(pencilfft_plan plan, int backward, const void *in, void *out)
{
    const struct pf_whole *whole = &plan->sequence[backward].whole;
    if (!whole->plan[in == out])
        return false;
    run(plan, backward, in, out);
    pf_clock_lap(&plan->clock, plan->phases.fft[2]);
    return true;
}

void pf_whole_release(const struct pencilfft_plan_s *plan, struct pf_whole *whole)
{
    for (int same = 0; same < 2; same++)
        if (whole->plan[same])
            plan->precision->fftw->destroy(whole->plan[same]);
    *whole = (struct pf_whole){.plan = {NULL}};
}
