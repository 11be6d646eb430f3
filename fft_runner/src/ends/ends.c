/* The ends of a transform: its input and output, if these are not divided like its arrays.
 * Idea:  boxes of the descriptors, or bricks, are remapped to the first array in the caller's output. The transform then
 *        runs in place, and its last array is remapped to the boxes of the output.
 * Cost:  a gather of the boxes of all ranks, if boxes are given; the cost of exchange/remap.c. */
#include <stdlib.h>
#include <string.h>

#include "ends/ends.h"

static const char *const what[PF_ENDS] = {"input", "output"};

/* ---- boxes ---------------------------------------------------------------------------------------------------------- */

size_t pf_end_bytes(const struct pencilfft_plan_s *plan, int end)
{
    return end ? plan->layout.element_bytes : plan->layout.input_bytes;
}

/* Of an element in a message of the remap, which a single rank does not send. */
static size_t sent_bytes(const struct pencilfft_plan_s *plan, int end)
{
    size_t bytes = pf_end_bytes(plan, end);
    return plan->ranks > 1 ? bytes * plan->layout.sent_bytes / plan->layout.element_bytes : bytes;
}

pencilfft_box pf_end_inside(const struct pencilfft_plan_s *plan, int end, int rank)
{
    return end ? pf_array_box(&plan->layout.geometry, plan->layout.exchanges, rank) : pf_input_box(plan, rank);
}

pencilfft_box pf_end_box(const struct pencilfft_plan_s *plan, int end, int rank)
{
    const struct pf_end *e = &plan->layout.end[end];
    pencilfft_box outside = e->given ? e->given[rank] : pf_brick_of(e->n, plan->request.bricks, rank);
    pencilfft_box box = pf_box_inside(plan->layout.geometry.axes, &outside);
    pf_box_lay(&plan->layout.geometry, end ? plan->layout.exchanges : 0, &box);
    return box;
}

int64_t pf_end_array_bytes(const struct pencilfft_plan_s *plan, int end, int rank)
{
    pencilfft_box box = pf_end_box(plan, end, rank);
    return pf_box_elements(&box) * plan->request.fields * (int64_t)pf_end_bytes(plan, end);
}

int64_t pf_ends_sent(const struct pencilfft_plan_s *plan, int rank)
{
    int64_t sent = 0;
    for (int end = 0; end < PF_ENDS; end++) {
        if (!plan->layout.end[end].remapped)
            continue;
        pencilfft_box outside = pf_end_box(plan, end, rank), inside = pf_end_inside(plan, end, rank);
        pencilfft_box kept = pf_box_common(&outside, &inside);
        sent += (pf_box_elements(end ? &inside : &outside) - pf_box_elements(&kept)) * (int64_t)sent_bytes(plan, end);
    }
    return sent;
}

/* ---- the boxes of descriptors --------------------------------------------------------------------------------------- */

static int check_bricks(pencilfft_plan plan)
{
    const int *b = plan->request.bricks;
    if (b[0] && (int64_t)b[0] * b[1] > plan->ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "%dx%dx%d bricks are more than %d ranks; choose P*Q*S = %d", b[0], b[1], b[2],
                       plan->ranks, plan->ranks);
    if (b[0] && (int64_t)b[0] * b[1] * b[2] != plan->ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "%dx%dx%d bricks need %lld processes, %d were started; choose P*Q*S = %d", b[0],
                       b[1], b[2], (long long)b[0] * b[1] * b[2], plan->ranks, plan->ranks);
    return PENCILFFT_OK;
}

/* All ranks give a box or none does. */
static int gather(pencilfft_plan plan, int end, const pencilfft_box *mine)
{
    struct pf_end *e = &plan->layout.end[end];
    int have = mine != NULL, all = 0, status = PENCILFFT_OK;
    PF_MPI(MPI_Allreduce(&have, &all, 1, MPI_INT, MPI_SUM, plan->all));
    if (!all)
        return PENCILFFT_OK;
    if (all < plan->ranks)
        return pf_fail(PENCILFFT_MISMATCH, "%s_box is given on %d of %d ranks; give each rank its own, an empty one too",
                       what[end], all, plan->ranks);
    e->given = calloc((size_t)plan->ranks, sizeof *e->given);
    if (!e->given)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->ranks);
    if ((status = pf_agree(status, plan->all)))
        return status;
    PF_MPI(MPI_Allgather(mine, sizeof *mine, MPI_BYTE, e->given, sizeof *mine, MPI_BYTE, plan->all));
    e->remapped = true;
    return pf_agree(pf_boxes_check(e->n, e->given, plan->ranks, plan->rank, what[end]), plan->all);
}

int pf_ends_take(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_transform transform;
    const pencilfft_box *given[PF_ENDS] = {desc->input_box, desc->output_box};
    const struct pf_decomposition *d = plan->layout.geometry.decomposition;
    const struct pf_axes *axes = plan->layout.geometry.axes;
    int status = PENCILFFT_OK;
    bool usable = pf_transform_make(desc, &transform) == PENCILFFT_OK && transform.n[0] > 0 && transform.n[1] > 0 &&
                  transform.n[2] > 0 && pf_bounded_product(transform.n, PF_MAX_ELEMENTS) > 0;
    for (int end = 0; end < PF_ENDS && usable && !status; end++) { /* else set_geometry() reports the error */
        pf_numbers_outside(axes, end ? transform.modes : transform.points, plan->layout.end[end].n);
        plan->layout.end[end].remapped = d->bricks;
        status = gather(plan, end, given[end]);
    }
    if (usable && !status && d->bricks) {
        int64_t n[3];
        pf_numbers_outside(axes, transform.n, n);
        if (!plan->request.bricks[0])
            pf_bricks_choose(n, axes->dimensions, plan->ranks, plan->request.bricks);
        status = check_bricks(plan);
    }
    pf_phases_make(d, axes, (bool[]){plan->layout.end[0].remapped, plan->layout.end[1].remapped}, &plan->program.phases);
    return status;
}

/* ---- remaps --------------------------------------------------------------------------------------------------------- */

static int check_parts(const struct pencilfft_plan_s *plan)
{
    if (plan->layout.end[1].remapped && plan->layout.parts > 1)
        return pf_fail(
            PENCILFFT_NOT_POSSIBLE,
            "under schedule %s the output has two parts, which are not remapped to boxes; choose sequence, overlap "
            "or pipelined",
            plan->chosen.schedule);
    return PENCILFFT_OK;
}

static int make_one(pencilfft_plan plan, int end, pencilfft_box *boxes)
{
    pencilfft_box *outside = boxes, *inside = boxes + plan->ranks;
    for (int rank = 0; rank < plan->ranks; rank++) {
        outside[rank] = pf_box_widened(plan, end ? plan->layout.exchanges : 0, pf_end_box(plan, end, rank));
        inside[rank] = pf_box_widened(plan, end ? plan->layout.exchanges : 0, pf_end_inside(plan, end, rank));
    }
    struct pf_remap_request request = {
        .communicators = plan->communicators,
        .ranks = plan->ranks,
        .me = plan->rank,
        .from = end ? inside : outside,
        .to = end ? outside : inside,
        .element_bytes = pf_end_bytes(plan, end),
        .sent_bytes = sent_bytes(plan, end),
        .fields = plan->request.interleaved ? 1 : plan->request.fields,
        .threads = plan->request.threads,
        .exchange = plan->request.exchange,
        .beside = plan->request.nonblocking,
        .directions = plan->request.directions,
    };
    return pf_remap_make(&request, &plan->layout.end[end].remap);
}

int pf_ends_make(pencilfft_plan plan)
{
    int status = pf_agree(check_parts(plan), plan->all);
    if (status || (!plan->layout.end[0].remapped && !plan->layout.end[1].remapped))
        return status;
    pencilfft_box *boxes = calloc(2 * (size_t)plan->ranks, sizeof *boxes);
    if (!boxes)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->ranks);
    status = pf_agree(status, plan->all);
    for (int end = 0; end < PF_ENDS && !status; end++)
        if (plan->layout.end[end].remapped)
            status = make_one(plan, end, boxes);
    free(boxes);
    return status;
}

void pf_ends_release(pencilfft_plan plan)
{
    for (int end = 0; end < PF_ENDS; end++) {
        pf_remap_release(plan->layout.end[end].remap);
        free(plan->layout.end[end].given);
        plan->layout.end[end] = (struct pf_end){.remap = NULL};
    }
}

int pf_end_step(pencilfft_plan plan, const struct pf_step *step, const void *from, void *to)
{
    struct pf_remap *remap = plan->layout.end[step->end].remap;
    const struct pf_exchange_phases *phases = &plan->program.phases.remap[step->end];
    int status = PENCILFFT_OK, backward = step->backward;
    switch (step->kind) {
    case PF_REMAP_PACK:
        status = pf_remap_pack(remap, backward, from);
        pf_clock_lap(&plan->program.clock, phases->pack);
        break;
    case PF_REMAP_SYNC:
        if (plan->request.sync->wait) {
            status = plan->request.sync->wait(plan->all);
            pf_clock_wait(&plan->program.clock, phases->wait);
        }
        break;
    case PF_REMAP_START:
    case PF_REMAP_FINISH:
        status = step->kind == PF_REMAP_START ? pf_remap_start(remap, backward, to) : pf_remap_finish(remap, backward);
        pf_clock_lap(&plan->program.clock, phases->exchange);
        break;
    default: status = pf_remap_unpack(remap, backward, to); pf_clock_lap(&plan->program.clock, phases->unpack);
    }
    return status;
}

int pf_end_progress(pencilfft_plan plan, const struct pf_step *step, int *done)
{
    int status = pf_remap_progress(plan->layout.end[step->end].remap, step->backward, done);
    pf_clock_lap(&plan->program.clock, plan->program.phases.remap[step->end].exchange);
    return status;
}
