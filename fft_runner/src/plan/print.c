/* A plan as text, as FFTW prints its plans: passes, and the joints between them, in both directions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ends/ends.h"
#include "passes/passes.h"

static char letter_of(const struct pencilfft_plan_s *plan, int axis)
{
    return pf_axis_letter(plan->layout.geometry.axes, axis);
}

static const char *buffer_name(const struct pencilfft_plan_s *plan, int buffer, char text[32])
{
    if (buffer >= PF_MEMORY)
        snprintf(text, 32, "memory of %s", plan->layout.geometry.decomposition->exchange[buffer - PF_MEMORY].name);
    else if (buffer == PF_WORK && (plan->program.sequence[0].input_is_work || plan->program.sequence[1].input_is_work))
        snprintf(text, 32, "in or work 0");
    else if (buffer >= PF_WORK)
        snprintf(text, 32, "work %d", buffer - PF_WORK);
    else
        snprintf(text, 32, "%s", buffer == PF_IN ? "in" : buffer == PF_SPARE ? "out or work 1" : "out");
    return text;
}

/* Kinds II and III of cosine and sine transforms are each other's inverse. */
static int inverse_kind(int kind)
{
    return kind == 2 ? 3 : kind == 3 ? 2 : kind;
}

static void print_lines(const struct pf_lines *lines, char axis, FILE *out)
{
    const struct pf_line *line = &lines->line;
    int kind = line->cosine_kind + line->sine_kind;
    fprintf(out, "%c ", axis);
    switch (line->kind) {
    case PF_DFT: fprintf(out, "DFT"); break;
    case PF_R2C: fprintf(out, lines->backward ? "c2r" : "r2c"); break;
    case PF_R2R:
        fprintf(out, "%s-%d", line->cosine_kind ? "DCT" : "DST", lines->backward ? inverse_kind(kind) : kind);
        break;
    default: fprintf(out, "alone");
    }
    fprintf(out, " of %lld", (long long)lines->n);
    if (lines->kept.skipped)
        fprintf(out, ", %lld kept", (long long)lines->kept.n);
}

static void print_side(const struct pencilfft_plan_s *plan, const struct pf_side *side, bool direct, FILE *out)
{
    char text[32];
    fprintf(out, "%s", buffer_name(plan, side->piece[side->n - 1].buffer, text));
    if (side->n > 1)
        fprintf(out, ", %d parts", side->n);
    if (direct)
        fprintf(out, ", where it lies");
}

static void print_pass(const struct pencilfft_plan_s *plan, const struct pf_pass *pass, const struct pf_pass_form *form,
                       FILE *out)
{
    bool backward = pass->backward, u = form->u != PF_NO_AXIS, both = u && form->z;
    int64_t n[3];
    pf_numbers_outside(plan->layout.geometry.axes, pass->box.extent, n);
    fprintf(out, "  pass ");
    if (u && backward)
        print_lines(&pass->u_lines, letter_of(plan, form->u), out);
    fputs(both && backward ? ", " : "", out);
    if (form->z)
        print_lines(&pass->z_lines, letter_of(plan, 2), out);
    fputs(both && !backward ? ", " : "", out);
    if (u && !backward)
        print_lines(&pass->u_lines, letter_of(plan, form->u), out);
    fprintf(out, "; array %d, %lldx%lldx%lld\n    reads ", form->array, (long long)n[0], (long long)n[1], (long long)n[2]);
    print_side(plan, &pass->in, pass->block.read_direct, out);
    fprintf(out, "\n    writes ");
    print_side(plan, &pass->out, pass->block.write_direct, out);
    char along = letter_of(plan, pass->along);
    fprintf(out, "\n    in blocks of %lld planes, %lld lines along %c, %lld of each\n", (long long)pass->block.group,
            (long long)pass->block.u_chunk, along, (long long)pass->block.along_chunk);
}

/* This rank's traffic in an exchange. */
static int print_traffic(pencilfft_plan plan, int backward, int e, FILE *out)
{
    int64_t bytes = 0, messages = 0, *both = calloc(2 * (size_t)plan->ranks, sizeof *both);
    pencilfft_direction direction = backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD;
    int status = both ? pencilfft_traffic(plan, e, direction, both, both + plan->ranks)
                      : pf_fail(PENCILFFT_NO_MEMORY, "no memory for the traffic of %d ranks", plan->ranks);
    for (int j = 0; j < plan->ranks && !status; j++) {
        bytes += both[j];
        messages += both[plan->ranks + j];
    }
    free(both);
    fprintf(out, "    sends %lld bytes as %lld message%s", (long long)bytes, (long long)messages, messages == 1 ? "" : "s");
    return status;
}

/* The first lane of a route. */
static const struct pf_lane *lane_of(const struct pencilfft_plan_s *plan, int r)
{
    return &plan->layout.lane[plan->layout.routes > 1 ? r : 0];
}

static int print_joint(pencilfft_plan plan, int backward, int r, const struct pf_joint *joint, FILE *out)
{
    char from[32], to[32];
    if (joint->exchange < 0) {
        fprintf(out, "  joint: nothing, in %s\n", buffer_name(plan, joint->from, from));
        return PENCILFFT_OK;
    }
    const struct pf_transfer *t = &lane_of(plan, r)->transfer[backward][joint->exchange];
    fprintf(out, "  joint: exchange %s by %s", plan->layout.geometry.decomposition->exchange[t->number].name,
            t->exchange->name);
    if (t->exchange->means)
        fprintf(out, " (%s)", t->exchange->means);
    fprintf(out, " among %d tasks, %s", t->transpose.p, pf_rounds(plan) ? "in single precision, " : "");
    if (joint->from == joint->to)
        fprintf(out, "in %s\n", buffer_name(plan, joint->from, from));
    else
        fprintf(out, "from %s to %s\n", buffer_name(plan, joint->from, from), buffer_name(plan, joint->to, to));
    int status = print_traffic(plan, backward, t->number, out);
    fprintf(out, "%s", plan->layout.routes > 1 ? ", with the other route" : "");
    fprintf(out, "\n");
    return status;
}

/* Passes and joints of a route; the first route shows the passes that routes share. */
static int print_route(pencilfft_plan plan, int backward, int r, FILE *out)
{
    const struct pf_sequence *sequence = &plan->program.sequence[backward];
    int status = PENCILFFT_OK;
    for (int i = 0; i < sequence->n && !status; i++) {
        if (r == 0 || !pf_pass_is_shared(plan, backward, i))
            print_pass(plan, &sequence->pass[r][i], &plan->layout.route[r].form[backward ? sequence->n - 1 - i : i], out);
        if (i < sequence->n - 1)
            status = print_joint(plan, backward, r, &sequence->joint[r][i], out);
    }
    return status;
}

static void print_lane(const struct pencilfft_plan_s *plan, int l, FILE *out)
{
    const struct pf_lane *lane = &plan->layout.lane[l];
    const struct pf_share *share = &plan->layout.route[lane->route].share;
    char name[PF_CUT_NAME];
    fprintf(out, "  lane %d: ", l);
    if (plan->chosen.choice.chunks)
        fprintf(out, "chunk %d of %d along %s", l + 1, plan->layout.lanes,
                pf_cut_name(&plan->chosen.choice, plan->chosen.choice.axis, name));
    else
        fprintf(out, "%c %lld to %lld of fields %d to %d", letter_of(plan, 2), (long long)share->z,
                (long long)share->z_end - 1, share->field, share->field_end - 1);
    fprintf(out, ", in work buffers from element %lld on\n", (long long)lane->slot);
}

static void print_step(const struct pencilfft_plan_s *plan, const struct pf_step *step, FILE *out)
{
    const struct pf_sequence *sequence = &plan->program.sequence[step->backward];
    if (step->kind == PF_PASS) {
        int route = step->lane == PF_ALL_LANES ? 0 : plan->layout.lane[step->lane].route;
        fprintf(out, " pass %d", (int)(step->pass - sequence->pass[route]));
    } else
        fprintf(out, " %s %s", step->kind == PF_START ? "start" : "finish",
                plan->layout.geometry.decomposition->exchange[step->transfer->number].name);
    if (step->lane != PF_ALL_LANES)
        fprintf(out, " (%d)", step->lane);
    fprintf(out, ",");
}

/* The order of passes, numbered from 0, and of exchanges, with lanes in brackets. */
static void print_steps(const struct pencilfft_plan_s *plan, int backward, FILE *out)
{
    enum { A_LINE = 6 };
    const struct pf_steps *steps = &plan->program.sequence[backward].transform;
    int shown = 0;
    for (int i = 0; i < steps->n; i++) {
        enum pf_step_kind kind = steps->step[i].kind;
        if (kind != PF_PASS && kind != PF_START && kind != PF_FINISH)
            continue;
        fprintf(out, "%s", shown == 0 ? "  steps:" : shown % A_LINE == 0 ? "\n        " : "");
        print_step(plan, &steps->step[i], out);
        shown++;
    }
    fprintf(out, " done\n");
}

static void print_remap(const struct pencilfft_plan_s *plan, int end, int backward, FILE *out)
{
    if (!plan->layout.end[end].remap)
        return;
    pencilfft_box outside = pf_end_box(plan, end, plan->rank), inside = pf_end_inside(plan, end, plan->rank);
    outside = pf_box_outside(plan->layout.geometry.axes, &outside);
    inside = pf_box_outside(plan->layout.geometry.axes, &inside);
    const pencilfft_box *from = end == backward ? &outside : &inside, *to = end == backward ? &inside : &outside;
    fprintf(out, " %s %s among %d ranks: %lldx%lldx%lld from %lld %lld %lld becomes %lldx%lldx%lld from %lld %lld %lld\n",
            pf_remap_names[end], pf_remap_algorithm(plan->layout.end[end].remap)->name,
            pf_remap_members(plan->layout.end[end].remap), (long long)from->extent[0], (long long)from->extent[1],
            (long long)from->extent[2], (long long)from->offset[0], (long long)from->offset[1], (long long)from->offset[2],
            (long long)to->extent[0], (long long)to->extent[1], (long long)to->extent[2], (long long)to->offset[0],
            (long long)to->offset[1], (long long)to->offset[2]);
}

/* FFTW's plans in place of the passes, if they were faster. */
static void print_whole(const struct pencilfft_plan_s *plan, int backward, FILE *out)
{
    const struct pf_whole *whole = &plan->program.sequence[backward].whole;
    if (!whole->part[0] && !whole->part[1])
        return;
    fprintf(out, "  %s: FFTW's plans of", !whole->part[1] ? "with two arrays" : whole->part[0] ? "always" : "in place");
    for (int i = 0; i < whole->stages; i++) {
        fprintf(out, "%s", i ? ", then " : " ");
        for (int axis = 2; axis >= 0; axis--)
            if (whole->stage[i].axes >> axis & 1)
                fputc(letter_of(plan, axis), out);
    }
    if (whole->shares > 1)
        fprintf(out, ", each by %d threads", whole->shares);
    fprintf(out, "; %s:\n", whole->part[0] && whole->part[1] ? "instead of" : "else");
}

static int print_sequence(pencilfft_plan plan, int backward, FILE *out)
{
    int status = PENCILFFT_OK;
    fprintf(out, "%s\n", backward ? "backward" : "forward");
    print_remap(plan, backward, backward, out);
    print_whole(plan, backward, out);
    for (int r = 0; r < plan->layout.routes && !status; r++) {
        if (plan->layout.routes > 1)
            fprintf(out, " route %d\n", r);
        status = print_route(plan, backward, r, out);
    }
    if (plan->chosen.beside)
        print_steps(plan, backward, out);
    print_remap(plan, !backward, backward, out);
    return status;
}

static void print_head(const struct pencilfft_plan_s *plan, FILE *out)
{
    const struct pf_geometry *g = &plan->layout.geometry;
    const struct pf_transform *t = &plan->layout.transform;
    char grid[PF_GRID_TEXT];
    int64_t n[3], points[3];
    pf_numbers_outside(g->axes, t->n, n);
    pf_numbers_outside(g->axes, t->points, points);
    fprintf(out, "%s %s, rank %d, size %lld %lld %lld, %s %s to %s, %s, %d %s", g->decomposition->name,
            pf_grid_text(g, grid), plan->rank, (long long)n[0], (long long)n[1], (long long)n[2],
            plan->request.precision->name, plan->layout.transform.real_input ? "real" : "complex",
            plan->layout.transform.real_output ? "real" : "complex", g->layout->name, plan->request.fields,
            plan->request.fields == 1   ? "field"
            : plan->request.interleaved ? "interleaved fields"
                                        : "fields");
    if (pf_is_padded(plan))
        fprintf(out, ", padded to %lld %lld %lld", (long long)points[0], (long long)points[1], (long long)points[2]);
    if (g->axes != pf_table_row(&pf_orders, 0))
        fprintf(out, ", order %s", g->axes->name);
    if (plan->request.threads > 1)
        fprintf(out, ", %d threads", plan->request.threads);
    fprintf(out, "\n");
}

int pencilfft_plan_print(pencilfft_plan plan, FILE *out)
{
    if (!plan || !out)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_plan_print: null plan or file");
    int works = 0, status = PENCILFFT_OK;
    print_head(plan, out);
    if (strcmp(plan->chosen.schedule, pf_schedule_sequence.name))
        fprintf(out, "schedule %s\n", plan->chosen.schedule);
    for (int l = 0; l < plan->layout.lanes && plan->chosen.beside; l++)
        print_lane(plan, l, out);
    for (int backward = 0; backward < PF_DIRECTIONS && !status; backward++)
        if (pf_has_direction(plan, backward))
            status = print_sequence(plan, backward, out);
    int64_t bytes = 0;
    for (int i = 0; i < PF_WORKS; i++)
        works += plan->memory.work[i] != NULL;
    if (plan->request.caller_work && !status && !(status = pencilfft_work_bytes(plan, 0, &bytes)))
        fprintf(out, "work memory of the caller, %lld bytes; ", (long long)bytes);
    fprintf(out, "%d work buffers; a buffer has %lld bytes\n", works,
            (long long)plan->memory.alloc_elements * (long long)plan->layout.element_bytes);
    return status;
}

int pencilfft_plan_text(pencilfft_plan plan, const char **text)
{
    size_t size;
    if (!plan || !text)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_plan_text: null plan or result");
    free(plan->text);
    plan->text = NULL;
    FILE *out = open_memstream(&plan->text, &size);
    int status = out ? pencilfft_plan_print(plan, out) : PENCILFFT_NO_MEMORY;
    if (!out || fclose(out))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the text of a plan");
    *text = status ? NULL : plan->text;
    return status;
}
