/* A rank that has the whole array: FFTW's plans for several axes at once.
 * Idea:  if nothing is exchanged and the array stays in the caches, FFTW knows better orders than axis by axis.
 *        run/whole_trial.c measures whether FFTW is faster. Threads need two stages, as FFTW's own threads do: planes of y
 *        and z, each thread some planes, then lines along x, each thread the lines of some y; backward, the lines first. A
 *        thread runs serial plans of its own, so that FFTW's library of threads and its global settings are left alone.
 * Cost:  FFTW's time for such plans. Arrays beyond pf_tuning.whole_bytes have none: passes are always faster there. A
 *        transform of complex into real numbers in one stage costs a copy, unless FFTW may overwrite its input; of two
 *        stages, the first writes to the place of the copy.
 * Needs: one kind of transform along all axes, or real input along z; arrays of one part; a work buffer. */
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "passes/passes.h"
#include "speed/threads.h"
#include "speed/tuning.h"

enum { X, Y, Z };
enum { ALIGNMENT = 16 }; /* that FFTW's plans depend on */

/* The common kind along all transformed axes; PF_SKIP if there are several kinds, or none. */
static enum pf_line_kind common_kind(const struct pencilfft_plan_s *plan)
{
    enum pf_line_kind kind = PF_SKIP;
    for (int axis = 2; axis >= 0; axis--) {
        enum pf_line_kind mine = plan->layout.transform.line[axis].kind;
        if (mine == PF_SKIP || mine == kind || (kind == PF_R2C && mine == PF_DFT))
            continue;
        if (kind != PF_SKIP)
            return PF_SKIP;
        kind = mine;
    }
    return kind;
}

/* Whether FFTW would overwrite an input that must be kept. A run in place has another array for this case, too. */
static bool is_copied(const struct pencilfft_plan_s *plan, int backward, bool same)
{
    return backward && common_kind(plan) == PF_R2C && (same || !plan->request.destroys_input);
}

static bool may_be_whole(const struct pencilfft_plan_s *plan, int backward)
{
    enum pf_line_kind kind = common_kind(plan);
    int64_t bytes = pf_box_elements(&plan->layout.route[0].mine[1][0]) * (int64_t)plan->layout.element_bytes;
    return plan->ranks == 1 && !pf_is_padded(plan) && plan->layout.parts == 1 && plan->request.fields == 1 &&
           kind != PF_SKIP && (plan->memory.work[0] || !is_copied(plan, backward, false)) &&
           !(plan->request.rigor->flag & FFTW_ESTIMATE) && bytes <= pf_tuning.whole_bytes;
}

static bool same_order(const pencilfft_box *a, const pencilfft_box *b)
{
    return memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* ---- stages ---------------------------------------------------------------------------------------------------------- */

/* The transformed axes of a set, as bits. */
static int transformed(const struct pencilfft_plan_s *plan, int axes)
{
    int found = 0;
    for (int axis = X; axis <= Z; axis++)
        if (axes >> axis & 1 && plan->layout.transform.line[axis].kind != PF_SKIP)
            found |= 1 << axis;
    return found;
}

static void set_stages(const struct pencilfft_plan_s *plan, int backward, struct pf_whole *whole)
{
    const int planes = transformed(plan, 1 << Y | 1 << Z), lines = transformed(plan, 1 << X);
    int64_t bytes = pf_box_elements(&plan->layout.route[0].mine[1][0]) * (int64_t)plan->layout.element_bytes;
    whole->shares = pf_threads_worth(plan->request.threads, bytes);
    if (whole->shares == 1 || !planes || !lines) {
        whole->stages = 1;
        whole->stage[0].axes = planes | lines;
    } else {
        whole->stages = 2;
        whole->stage[backward].axes = planes;
        whole->stage[!backward].axes = lines;
    }
}

/* Whether the stage changes real and complex numbers into each other. */
static bool has_reals(const struct pencilfft_plan_s *plan, const struct pf_whole_stage *stage)
{
    return stage->axes >> Z & 1 && plan->layout.transform.line[Z].kind == PF_R2C;
}

/* The arrays before the first stage, and after each stage. Between a stage along x and the stage that makes real numbers the
 * numbers are complex, and do not fit into the output. */
struct arrays {
    char *data[PF_WHOLE_STAGES + 1];
    pencilfft_box box[PF_WHOLE_STAGES + 1];
};

static struct arrays arrays_of(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out)
{
    const struct pf_whole *whole = &plan->program.sequence[backward].whole;
    const pencilfft_box box[2] = {pf_part_of(plan, PENCILFFT_INPUT, plan->rank, 0).box,
                                  pf_part_of(plan, plan->layout.exchanges, plan->rank, 0).box};
    struct arrays a = {.data = {(char *)in, out, out}, .box = {box[backward], box[!backward], box[!backward]}};
    bool complex_first = backward && common_kind(plan) == PF_R2C, apart = is_copied(plan, backward, in == out);
    if (complex_first && whole->stages > 1) {
        a.box[1] = a.box[0];
        a.data[1] = apart ? plan->memory.work[0] : a.data[0];
    } else if (apart)
        a.data[0] = plan->memory.work[0];
    return a;
}

/* The shape of a stage, with so many indices along the axis that threads share. */
static void set_shape(const struct pencilfft_plan_s *plan, int backward, const struct arrays *a, int i, int64_t shared,
                      struct pf_whole_stage *stage)
{
    const pencilfft_box *in = &a->box[i], *out = &a->box[i + 1];
    enum pf_line_kind kind = common_kind(plan);
    struct pf_line_shape *shape = &stage->shape;
    int many = 0;
    *shape = (struct pf_line_shape){.kind = kind == PF_R2C && !has_reals(plan, stage) ? PF_DFT : kind,
                                    .backward = backward,
                                    .flags = plan->request.rigor->flag};
    if (plan->request.destroys_input || i > 0)
        shape->flags |= FFTW_DESTROY_INPUT;
    for (int axis = X; axis <= Z; axis++) {
        const struct pf_line *line = &plan->layout.transform.line[axis];
        fftw_iodim64 dim = {axis == stage->shared ? shared : in->extent[axis], in->stride[axis], out->stride[axis]};
        if (axis == Z && has_reals(plan, stage))
            dim.n = plan->layout.transform.points[Z];
        if (stage->axes >> axis & 1) {
            shape->r2r[shape->rank] = line->r2r[backward];
            shape->line[shape->rank++] = dim;
        } else
            shape->many[many++] = dim;
    }
    for (; many < PF_MANY; many++)
        shape->many[many] = (fftw_iodim64){1, 1, 1};
}

/* The plan of an earlier share of the same size and alignment. */
static void *plan_before(const struct pf_whole_part *part, int share)
{
    for (int i = 0; i < share; i++)
        if (part[i].n == part[share].n && (part[i].in - part[share].in) % ALIGNMENT == 0 &&
            (part[i].out - part[share].out) % ALIGNMENT == 0)
            return part[i].plan;
    return NULL;
}

/* The plans of a stage, one for each share. False if FFTW has none. */
static bool plan_stage(const struct pencilfft_plan_s *plan, int backward, struct pf_whole *whole, const struct arrays *a,
                       int i, struct pf_whole_part *part)
{
    struct pf_whole_stage *stage = &whole->stage[i];
    const pencilfft_box *in = &a->box[i], *out = &a->box[i + 1];
    bool reals = has_reals(plan, stage);
    size_t in_bytes = reals && !backward ? plan->layout.input_bytes : plan->layout.element_bytes;
    size_t out_bytes = reals && backward ? plan->layout.input_bytes : plan->layout.element_bytes;
    stage->shared = whole->shares == 1 ? PF_NO_AXIS : stage->axes >> X & 1 ? Y : X;
    int64_t n = whole->shares == 1 ? 1 : in->extent[stage->shared];
    for (int share = 0; share < whole->shares; share++) {
        int64_t start = pf_share_start(n, share, whole->shares);
        part[share].n = pf_share_start(n, share + 1, whole->shares) - start;
        part[share].in = whole->shares == 1 ? 0 : start * in->stride[stage->shared] * (int64_t)in_bytes;
        part[share].out = whole->shares == 1 ? 0 : start * out->stride[stage->shared] * (int64_t)out_bytes;
        if (!part[share].n || (part[share].plan = plan_before(part, share)))
            continue;
        set_shape(plan, backward, a, i, part[share].n, stage);
        part[share].plan = plan->request.precision->fftw->plan(&stage->shape, a->data[i] + part[share].in,
                                                               a->data[i + 1] + part[share].out);
        if (!part[share].plan)
            return false;
    }
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------- */

struct job {
    const struct pencilfft_plan_s *plan;
    const struct pf_line_shape *shape;
    const struct pf_whole_part *part;
    char *in, *out;
};

static void run_share(int share, void *of)
{
    const struct job *job = of;
    const struct pf_whole_part *part = &job->part[share];
    if (part->plan)
        job->plan->request.precision->fftw->execute(job->shape, part->plan, job->in + part->in, job->out + part->out);
}

static void run(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out)
{
    const struct pf_whole *whole = &plan->program.sequence[backward].whole;
    struct arrays a = arrays_of(plan, backward, in, out);
    if (a.data[0] != in) /* else FFTW would overwrite the input */
        pf_threads_copy(plan->request.threads, a.data[0], in,
                        pf_box_elements(&a.box[0]) * (int64_t)plan->layout.element_bytes);
    for (int i = 0; i < whole->stages; i++) {
        struct job job = {plan, &whole->stage[i].shape, whole->part[in == out] + (ptrdiff_t)i * whole->shares, a.data[i],
                          a.data[i + 1]};
        pf_threads_run(whole->shares, run_share, &job);
    }
}

/* The parts of all stages. */
void pf_whole_drop(const struct pencilfft_plan_s *plan, struct pf_whole *whole, bool same)
{
    struct pf_whole_part *part = whole->part[same];
    for (int i = 0; i < whole->stages && part; i++)
        for (int share = whole->shares - 1; share >= 0; share--) {
            struct pf_whole_part *mine = &part[i * whole->shares + share];
            if (mine->plan && !plan_before(&part[(ptrdiff_t)i * whole->shares], share))
                plan->request.precision->fftw->destroy(mine->plan);
        }
    free(part);
    whole->part[same] = NULL;
}

int pf_whole_plan(pencilfft_plan plan, int backward, const void *in, void *out)
{
    struct pf_whole *whole = &plan->program.sequence[backward].whole;
    struct arrays a = arrays_of(plan, backward, in, out);
    struct pf_whole_part *part = calloc((size_t)whole->stages * (size_t)whole->shares, sizeof *part);
    bool there = true;
    if (!part)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the plans of %d threads", whole->shares);
    whole->part[in == out] = part;
    for (int i = 0; i < whole->stages && there; i++)
        there = plan_stage(plan, backward, whole, &a, i, part + (ptrdiff_t)i * whole->shares);
    if (!there)
        pf_whole_drop(plan, whole, in == out);
    return PENCILFFT_OK;
}

int pf_whole_cases(pencilfft_plan plan, int backward, const void *in, void *out)
{
    struct pf_whole *whole = &plan->program.sequence[backward].whole;
    if (!may_be_whole(plan, backward))
        return 0;
    set_stages(plan, backward, whole);
    struct arrays a = arrays_of(plan, backward, in, out);
    bool apart = is_copied(plan, backward, true) && plan->memory.work[0]; /* also a run in place has two arrays */
    return apart || (same_order(&a.box[0], &a.box[whole->stages]) && common_kind(plan) != PF_R2C) ? 2 : 1;
}

bool pf_whole_run(pencilfft_plan plan, int backward, const void *in, void *out)
{
    if (!plan->program.sequence[backward].whole.part[in == out])
        return false;
    run(plan, backward, in, out);
    pf_clock_lap(&plan->program.clock, plan->program.phases.fft[2]);
    return true;
}

void pf_whole_release(const struct pencilfft_plan_s *plan, struct pf_whole *whole)
{
    for (int same = 0; same < 2; same++)
        pf_whole_drop(plan, whole, same);
    *whole = (struct pf_whole){.part = {NULL}};
}
