/* The 1D transforms of a block of lines, by FFTW plans.
 * Idea:  a pass (pass.c) runs the same few shapes of block repeatedly: one plan for each, in a short list, found by the
 *        numbers of lines. A real transform of complex numbers treats real and imaginary parts as further lines.
 * Source: FFTW's manual, guru interface in its 64-bit form.
 * Needs: arrays aligned as when planned (pass.c keeps to multiples of 16 bytes), and one array on both sides if planned
 *        so. */
#include "lines/line_fft.h"

#include <stdlib.h>

static const struct pf_rigor rows[] = {
    {"estimate", FFTW_ESTIMATE},
    {"measure", FFTW_MEASURE},
    {"patient", FFTW_PATIENT},
};
const struct pf_table pf_rigors = PF_TABLE("rigor", rows);

struct pf_lines_plan {
    int64_t count[2];
    struct pf_line_shape shape;
    void *plan;
    struct pf_lines_plan *next;
};

static const struct pf_lines_plan *find(const struct pf_lines *lines, const struct pf_lines_block *b)
{
    const struct pf_lines_plan *at = lines->plans;
    while (at && (at->count[0] != b->count[0] || at->count[1] != b->count[1]))
        at = at->next;
    return at;
}

static struct pf_line_shape shape_of(const struct pf_lines *lines, const struct pf_lines_block *b)
{
    ptrdiff_t parts = lines->complex_elements ? 2 : 1;
    struct pf_line_shape shape = {
        .kind = lines->line.kind,
        .backward = lines->backward,
        .rank = 1,
        .r2r = {lines->line.r2r[lines->backward]},
        .line = {{lines->n, b->in_stride * parts, b->out_stride * parts}},
        .flags = lines->flags,
    };
    for (int i = 0; i < 2; i++)
        shape.many[i] = (fftw_iodim64){b->count[i], b->in_step[i] * parts, b->out_step[i] * parts};
    shape.many[2] = (fftw_iodim64){parts, 1, 1};
    return shape;
}

int pf_lines_plan(struct pf_lines *lines, const struct pf_lines_block *b)
{
    if (find(lines, b))
        return PENCILFFT_OK;
    struct pf_lines_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a plan");
    plan->count[0] = b->count[0];
    plan->count[1] = b->count[1];
    plan->shape = shape_of(lines, b);
    if (!(plan->plan = lines->fftw->plan(&plan->shape, b->in, b->out))) {
        free(plan);
        return pf_fail(PENCILFFT_FFTW_ERROR, "FFTW made no plan for %lld lines of %lld",
                       (long long)b->count[0] * b->count[1], (long long)lines->n);
    }
    plan->next = lines->plans;
    lines->plans = plan;
    return PENCILFFT_OK;
}

void pf_lines_run(const struct pf_lines *lines, const struct pf_lines_block *b)
{
    const struct pf_lines_plan *plan = find(lines, b);
    lines->fftw->execute(&plan->shape, plan->plan, b->in, b->out);
}

void pf_lines_release(struct pf_lines *lines)
{
    while (lines->plans) {
        struct pf_lines_plan *next = lines->plans->next;
        lines->fftw->destroy(lines->plans->plan);
        free(lines->plans);
        lines->plans = next;
    }
}
