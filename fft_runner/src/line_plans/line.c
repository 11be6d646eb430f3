/* Making and ending a plan for distributed lines.
 * Idea:  the algorithm lists the steps (lines/distributed.h); each step gets its lists, tables and FFTW plans here.
 * Cost:  a few numbers for each point on the rank; no communication but agreements and the filter of a chirp. */
#include "line_plans/line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    const char *name;
};
static const struct order order_rows[] = {{"natural"}, {"transposed"}, {"transposed-both"}}; /* as in enum pf_line_wish */
static const struct pf_table orders = PF_TABLE("order", order_rows);

const char *pencilfft_line_algorithm_name(int i)
{
    return pf_table_name(&pf_line_algorithms, i);
}

const char *pencilfft_line_order_name(int i)
{
    return pf_table_name(&orders, i);
}

static const pencilfft_line_desc defaults = {
    .struct_bytes = sizeof(pencilfft_line_desc),
    .lines = 1,
    .algorithm = "transpose",
    .order = "natural",
    .precision = "double",
    .rigor = "measure",
    .sync = "none",
};

void pencilfft_line_desc_init_bytes(pencilfft_line_desc *desc, size_t bytes)
{
    pf_desc_give(&defaults, sizeof defaults, desc, bytes);
}

void(pencilfft_line_desc_init)(pencilfft_line_desc *desc)
{
    pencilfft_line_desc_init(desc);
}

/* ---- the request ------------------------------------------------------------------------------------------------------ */

static int same_everywhere(const pencilfft_line_desc *desc, MPI_Comm comm)
{
    const struct pf_argument arguments[] = {
        PF_ARGUMENT_NUMBER("n", desc->n),
        PF_ARGUMENT_NUMBER("lines", desc->lines),
        PF_ARGUMENT_TEXT("algorithm", desc->algorithm),
        PF_ARGUMENT_TEXT("order", desc->order),
        PF_ARGUMENT_TEXT("precision", desc->precision),
        PF_ARGUMENT_TEXT("rigor", desc->rigor),
        PF_ARGUMENT_TEXT("sync", desc->sync),
    };
    return pf_same_arguments("the descriptors of a line", (int)(sizeof arguments / sizeof arguments[0]), arguments, comm);
}

static int take_numbers(pencilfft_line_plan plan, const pencilfft_line_desc *desc)
{
    if (desc->n < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "a line of %lld points; n is 1 or more", (long long)desc->n);
    if (desc->lines < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "%lld lines; a plan transforms 1 or more", (long long)desc->lines);
    if (desc->n > PF_MAX_ELEMENTS / desc->lines)
        return pf_fail(PENCILFFT_BAD_SIZE, "%lld lines of %lld points: more than 2^53", (long long)desc->lines,
                       (long long)desc->n);
    plan->lines = desc->lines;
    return PENCILFFT_OK;
}

int pf_line_plan_steps(const pencilfft_line_desc *desc, int ranks, struct pf_line_steps *steps)
{
    const struct pf_line_algorithm *algorithm = pf_table_find(&pf_line_algorithms, desc->algorithm);
    const struct order *order = algorithm ? pf_table_find(&orders, desc->order) : NULL;
    if (!order)
        return PENCILFFT_UNKNOWN_NAME;
    *steps = (struct pf_line_steps){.n = desc->n, .ranks = ranks, .order = (int)(order - order_rows)};
    steps->from = steps->to = pf_line_blocks(steps);
    return algorithm->plan(steps);
}

static int take(pencilfft_line_plan plan, const pencilfft_line_desc *desc)
{
    int status = same_everywhere(desc, plan->all);
    if (!status)
        status = take_numbers(plan, desc);
    if (status)
        return status;
    if (!(plan->precision = pf_table_find(&pf_precisions, desc->precision)) ||
        !(plan->rigor = pf_table_find(&pf_rigors, desc->rigor)) || !(plan->sync = pf_table_find(&pf_syncs, desc->sync)))
        return PENCILFFT_UNKNOWN_NAME;
    plan->numbers = plan->precision->fftw->real_bytes == sizeof(float) ? &pf_complex_single : &pf_complex_double;
    return pf_line_plan_steps(desc, plan->ranks, &plan->steps);
}

/* ---- data of the steps ------------------------------------------------------------------------------------------------ */

/* Elements of a buffer for all lines, and for the messages. */
static void sizes(const struct pencilfft_line_plan_s *plan, int64_t *most, int64_t *messages)
{
    *most = *messages = 0;
    for (int i = 0; i < plan->steps.count; i++) {
        const struct pf_line_step *s = &plan->steps.step[i];
        int64_t points = pf_larger(pf_line_held(plan, i, 0), pf_line_held(plan, i, 1));
        int64_t whole = s->kind == PF_LINE_WHOLE ? pf_larger(plan->steps.n, s->scatter ? points * plan->ranks : 0) : 0;
        int64_t moved = s->kind == PF_LINE_MOVE ? points : s->kind == PF_LINE_MEET ? points * (s->radix - 1) : whole;
        *most = pf_larger(*most, pf_larger(points, whole));
        *messages = pf_larger(*messages, moved);
    }
    *most *= plan->lines;
    *messages *= plan->lines;
}

static int make_buffers(pencilfft_line_plan plan)
{
    int64_t most, messages;
    sizes(plan, &most, &messages);
    void **place[4] = {&plan->buffer[0], &plan->buffer[1], &plan->sent, &plan->received};
    int status = PENCILFFT_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = pf_aligned_make((size_t)(i < 2 ? most : messages) * plan->numbers->bytes, &plan->raw[i], place[i]);
    return status;
}

static int make_meeting(pencilfft_line_plan plan, const struct pf_line_step *s, struct pf_line_work *w)
{
    int members = s->kind == PF_LINE_WHOLE ? plan->ranks : s->radix, apart = s->kind == PF_LINE_WHOLE ? 1 : s->apart;
    int own = plan->rank / apart % members, status = PENCILFFT_OK;
    int *of = malloc((size_t)members * sizeof *of);
    int64_t *elements = malloc((size_t)members * sizeof *elements);
    w->root = malloc((size_t)members * sizeof *w->root);
    if (!of || !elements || !w->root)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the group of a line");
    for (int i = 0; i < members && !status; i++) {
        of[i] = plan->rank + (i - own) * apart;
        elements[i] = pf_line_points(&s->from, of[i]) * plan->lines;
    }
    if (!status)
        status = pf_line_meet_make(members, of, own, elements, &w->meet);
    free(of);
    free(elements);
    return status;
}

/* Between buffers of the plan; the arrays of a user have the alignment that FFTW needs. */
static int make_fft(pencilfft_line_plan plan, int step, int64_t points, struct pf_line_work *w)
{
    int64_t length = plan->steps.step[step].length, runs = points * plan->lines / length;
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < 2 && runs > 0 && !status; backward++) {
        w->fft[backward] = (struct pf_lines){.fftw = plan->precision->fftw,
                                             .line = {.kind = PF_DFT},
                                             .backward = backward,
                                             .flags = plan->rigor->flag,
                                             .n = length};
        status = pf_lines_plan(&w->fft[backward], &(struct pf_lines_block){.in = plan->buffer[0],
                                                                           .out = plan->buffer[1],
                                                                           .in_stride = 1,
                                                                           .out_stride = 1,
                                                                           .count = {runs, 1},
                                                                           .in_step = {length, 0},
                                                                           .out_step = {length, 0}});
    }
    return status;
}

static int make_weights(pencilfft_line_plan plan, int step, struct pf_line_work *w)
{
    const struct pf_line_step *s = &plan->steps.step[step], *first = s - s->filter_steps;
    int64_t points = pf_line_points(&first->from, plan->rank);
    int64_t room = pf_larger(points, pf_line_points(&s->to, plan->rank));
    if (!(w->weights = malloc((size_t)(room + 1) * plan->numbers->bytes)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the weights of %lld points", (long long)points);
    for (int64_t i = 0; i < points; i++)
        plan->numbers->store(w->weights, i, s->weight(s, plan->rank, pf_line_label(&first->from, plan->rank, i)));
    return PENCILFFT_OK;
}

static int make_step(pencilfft_line_plan plan, int step)
{
    const struct pf_line_step *s = &plan->steps.step[step];
    struct pf_line_work *w = &plan->work[step];
    switch (s->kind) {
    case PF_LINE_MOVE: return pf_line_move_make(&s->from, &s->to, plan->rank, plan->lines, plan->numbers->bytes, &w->move);
    case PF_LINE_FFT: return make_fft(plan, step, pf_line_held(plan, step, 0), w);
    case PF_LINE_SCALE: return make_weights(plan, step, w);
    case PF_LINE_MEET: return make_meeting(plan, s, w);
    default: break;
    }
    int status = make_meeting(plan, s, w);
    return status ? status : make_fft(plan, step, s->length, w);
}

/* Buffers first, because FFTW measures between them. */
static int make_steps(pencilfft_line_plan plan)
{
    int status = make_buffers(plan);
    for (int i = 0; i < plan->steps.count && !status; i++)
        status = make_step(plan, i);
    return status;
}

/* Transform the weights of convolutions by the same steps: all lines of a batch hold the same weights. */
static int transform_filters(pencilfft_line_plan plan)
{
    size_t bytes = plan->numbers->bytes;
    int status = PENCILFFT_OK;
    for (int i = 0; i < plan->steps.count && !status; i++) {
        int before = plan->steps.step[i].filter_steps;
        if (!before)
            continue;
        size_t given = (size_t)pf_line_held(plan, i - before, 0) * bytes, kept = (size_t)pf_line_held(plan, i, 1) * bytes;
        for (int64_t line = 0; line < plan->lines; line++)
            memcpy((char *)plan->buffer[0] + (size_t)line * given, plan->work[i].weights, given);
        status = pf_line_run(plan, 0, i - before, before, plan->buffer[0], plan->buffer[0]);
        memcpy(plan->work[i].weights, plan->buffer[0], kept);
    }
    return status;
}

static void name_phases(pencilfft_line_plan plan)
{
    static const char *const prefix[3] = {"pack_", "exchange_", "unpack_"};
    int n = 0;
    snprintf(plan->phase[n++], PF_LINE_PHASE_NAME, "fft_line");
    for (int i = 0; i < plan->steps.count; i++) {
        const struct pf_line_step *s = &plan->steps.step[i];
        plan->work[i].exchange = s->name[0] ? plan->exchanges : -1;
        for (int part = 0; part < 3 && s->name[0]; part++)
            snprintf(plan->phase[n++], PF_LINE_PHASE_NAME, "%s%s", prefix[part], s->name);
        if (s->name[0])
            plan->step_of[plan->exchanges++] = i;
    }
    snprintf(plan->phase[n++], PF_LINE_PHASE_NAME, "total");
    plan->phases = n;
}

/* ---- create and destroy ----------------------------------------------------------------------------------------------- */

static int make(void *made, const void *desc)
{
    pencilfft_line_plan plan = made;
    int status = pf_agree(take(plan, desc), plan->all);
    if (status)
        return status;
    name_phases(plan);
    status = pf_agree(make_steps(plan), plan->all);
    return status ? status : transform_filters(plan);
}

static int release(void *made)
{
    pencilfft_line_plan plan = made;
    for (int i = 0; i < plan->steps.count; i++) {
        struct pf_line_work *w = &plan->work[i];
        pf_line_move_release(&w->move);
        pf_line_meet_release(&w->meet);
        pf_lines_release(&w->fft[0]);
        pf_lines_release(&w->fft[1]);
        free(w->root);
        free(w->weights);
    }
    for (int i = 0; i < 4; i++)
        free(plan->raw[i]);
    return PENCILFFT_OK;
}

static const struct pf_kind kind = {
    .create = "pencilfft_line_create",
    .destroy = "pencilfft_line_destroy",
    .init = "pencilfft_line_desc_init",
    .defaults = &defaults,
    .desc_bytes = sizeof defaults,
    .bytes = sizeof(struct pencilfft_line_plan_s),
    .make = make,
    .release = release,
};

int pencilfft_line_create(const pencilfft_line_desc *desc, MPI_Comm comm, pencilfft_line_plan *plan)
{
    void *made;
    int status = pf_handle_create(&kind, plan && desc, desc, comm, &made);
    if (plan)
        *plan = made;
    return status;
}

int pencilfft_line_destroy(pencilfft_line_plan plan)
{
    return pf_handle_destroy(&kind, plan);
}
