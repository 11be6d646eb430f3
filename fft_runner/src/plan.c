/* Making and ending a plan.
 * Idea:  a table of steps; after each one all ranks agree whether to go on (failure.c), so that no rank waits in a
 *        collective for one that has given up, and everything is undone in one place.
 * Cost:  two communicator splits, one small all-reduce a step, O(R + C) memory besides the work buffer.
 *        FFTW plans on two more buffers of the size of work, which are gone when the plan is made. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "failure.h"

const struct pf_route pf_routes[PF_WAYS] = {
    {{PENCILFFT_Z_PENCIL, PENCILFFT_Y_PENCIL, PENCILFFT_X_PENCIL}, {PENCILFFT_ROW, PENCILFFT_COLUMN}},
    {{PENCILFFT_X_PENCIL, PENCILFFT_Y_PENCIL, PENCILFFT_Z_PENCIL}, {PENCILFFT_COLUMN, PENCILFFT_ROW}},
};
const int pf_line_axis[PF_STAGES] = {[PENCILFFT_Z_PENCIL] = 2, [PENCILFFT_Y_PENCIL] = 1, [PENCILFFT_X_PENCIL] = 0};

static const pencilfft_direction directions[PF_WAYS] = {PENCILFFT_FORWARD, PENCILFFT_BACKWARD};

/* Bytes between starts of buffers that FFTW and the caches both like. */
enum { ALIGNMENT = 64 };

void pencilfft_desc_init(pencilfft_desc *desc)
{
    *desc = (pencilfft_desc){
        .directions = PENCILFFT_FORWARD | PENCILFFT_BACKWARD,
        .exchange = "alltoallv",
        .rigor = "measure",
        .sync = "none",
        .auto_budget_s = 1,
        .fields = 1,
    };
}

/* ---- the steps ---------------------------------------------------------------------------------------------- */

static int set_names(pencilfft_plan plan, const pencilfft_desc *desc)
{
    plan->directions = desc->directions;
    if (!plan->directions || plan->directions & ~(PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "directions must be PENCILFFT_FORWARD, PENCILFFT_BACKWARD or both");
    if (!(plan->exchange = pf_table_find(&pf_exchanges, desc->exchange)) ||
        !(plan->rigor = pf_table_find(&pf_rigors, desc->rigor)) ||
        !(plan->sync = pf_table_find(&pf_syncs, desc->sync)))
        return PENCILFFT_UNKNOWN_NAME;
    return PENCILFFT_OK;
}

static int set_geometry(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_geometry *g = &plan->geometry;
    *g = (struct pf_geometry){{desc->nx, desc->ny, desc->nz}, desc->R, desc->C};
    int status = pf_geometry_check(g, plan->ranks);
    if (status)
        return status;
    if (desc->fields < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "fields is %d; a plan has at least 1", desc->fields);
    plan->element_bytes = sizeof(fftw_complex);
    plan->fields = desc->fields;
    for (int pencil = 0; pencil < PF_STAGES; pencil++) {
        plan->mine[pencil] = pf_pencil_box(g, pencil, plan->rank);
        int64_t elements = pf_box_elements(&plan->mine[pencil]) * plan->fields;
        plan->alloc_elements = elements > plan->alloc_elements ? elements : plan->alloc_elements;
    }
    return PENCILFFT_OK;
}

static int64_t row_number(const struct pf_table *table, const void *row)
{
    return ((const char *)row - (const char *)table->rows) / (ptrdiff_t)table->row_bytes;
}

/* The largest of v and of -v tell whether v is the same everywhere. */
static int same_everywhere(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = PENCILFFT_OK;
    int64_t v[] = {desc->nx,         desc->ny,     desc->nz, desc->R, desc->C,
                   desc->directions, desc->fields, row_number(&pf_exchanges, plan->exchange), row_number(&pf_syncs, plan->sync)};
    enum { N = sizeof v / sizeof v[0] };
    int64_t both[2 * N], largest[2 * N];
    for (int i = 0; i < N; i++) {
        both[i] = v[i];
        both[N + i] = -v[i];
    }
    PF_MPI(MPI_Allreduce(both, largest, 2 * N, MPI_INT64_T, MPI_MAX, plan->all));
    for (int i = 0; i < N; i++)
        if (largest[i] != -largest[N + i])
            status = pf_fail(PENCILFFT_MISMATCH, "the ranks gave different descriptors; all members must be equal");
done:
    return status;
}

static int split_groups(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = PENCILFFT_OK;
    int q = plan->rank / desc->R, p = plan->rank % desc->R;
    int colour[PF_EXCHANGES] = {q, p}, key[PF_EXCHANGES] = {p, q};
    for (int e = 0; e < PF_EXCHANGES; e++) {
        PF_MPI(MPI_Comm_split(plan->all, colour[e], key[e], &plan->group[e]));
        PF_MPI(MPI_Comm_set_errhandler(plan->group[e], MPI_ERRORS_RETURN));
        PF_MPI(MPI_Comm_size(plan->group[e], &plan->p[e]));
        PF_MPI(MPI_Comm_rank(plan->group[e], &plan->me[e]));
    }
done:
    return status;
}

/* Grid rank of member j of my row or column. */
int pf_member(const struct pencilfft_plan_s *plan, pencilfft_exchange e, int j)
{
    int R = plan->geometry.R;
    return e == PENCILFFT_ROW ? plan->rank / R * R + j : j * R + plan->rank % R;
}

static int make_boxes(pencilfft_plan plan, const pencilfft_desc *desc)
{
    (void)desc;
    const struct pf_route *forward = &pf_routes[0];
    for (int e = 0; e < PF_EXCHANGES; e++)
        for (int after = 0; after < 2; after++) {
            pencilfft_box *boxes = calloc((size_t)plan->p[e], sizeof *boxes);
            if (!boxes)
                return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->p[e]);
            for (int j = 0; j < plan->p[e]; j++)
                boxes[j] = pf_pencil_box(&plan->geometry, forward->pencil[e + after], pf_member(plan, e, j));
            plan->boxes[e][after] = boxes;
        }
    return PENCILFFT_OK;
}

/* Neither side of an exchange transforms or splits this axis differently. */
static const int slice_axis[PF_EXCHANGES] = {[PENCILFFT_ROW] = 0, [PENCILFFT_COLUMN] = 2};

int pf_move_plan(pencilfft_plan plan, int way, int e, const struct pf_exchange *exchange)
{
    struct pf_move *move = &plan->moves[way][e];
    int slices = exchange->slices > 1 ? exchange->slices : 1, status = PENCILFFT_OK;
    move->exchange = exchange;
    move->transpose = (struct pf_transpose){
        .group = plan->group[e],
        .p = plan->p[e],
        .me = plan->me[e],
        .from = plan->boxes[e][way],
        .to = plan->boxes[e][!way],
        .element_bytes = plan->element_bytes,
        .fields = plan->fields,
        .slice_axis = slice_axis[e],
    };
    if (exchange->takes == PF_BOXES)
        return exchange->plan(&move->transpose, NULL, NULL, &move->state);
    if (!(status = pf_parts_sent(&move->transpose, slices, &move->sent)))
        status = pf_parts_received(&move->transpose, slices, &move->received);
    return status ? status : exchange->plan(&move->transpose, &move->sent.list, &move->received.list, &move->state);
}

static void grow(int64_t *largest, int64_t elements)
{
    *largest = elements > *largest ? elements : *largest;
}

static int choose_exchanges(pencilfft_plan plan, const pencilfft_desc *desc)
{
    for (int e = 0; e < PF_EXCHANGES; e++)
        plan->chosen[e] = plan->exchange;
    return plan->exchange->plan ? PENCILFFT_OK : pf_auto_choose(plan, desc);
}

static int make_exchanges(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = PENCILFFT_OK;
    for (int way = 0; way < PF_WAYS; way++)
        for (int e = 0; e < PF_EXCHANGES && !status; e++) {
            if (!(desc->directions & directions[way]))
                continue;
            status = pf_move_plan(plan, way, e, plan->chosen[e]);
            grow(&plan->alloc_elements, plan->moves[way][e].sent.list.total);
            grow(&plan->alloc_elements, plan->moves[way][e].received.list.total);
        }
    return status;
}

int pf_move_connect(pencilfft_plan plan, int way, int e)
{
    struct pf_move *move = &plan->moves[way][e];
    if (!move->state || !move->exchange->connect)
        return PENCILFFT_OK;
    bool boxes = move->exchange->takes == PF_BOXES;
    return move->exchange->connect(move->state, boxes ? NULL : plan->work[0], boxes ? NULL : plan->work[1]);
}

static int connect_exchanges(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = PENCILFFT_OK;
    (void)desc;
    for (int way = 0; way < PF_WAYS; way++)
        for (int e = 0; e < PF_EXCHANGES && !status; e++)
            status = pf_agree(pf_move_connect(plan, way, e), plan->all);
    return status;
}

static int buffer_allocate(int64_t elements, struct pf_buffer *buffer)
{
    size_t bytes = (size_t)elements * sizeof(fftw_complex);
    buffer->raw = malloc(bytes + ALIGNMENT);
    if (!buffer->raw)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    buffer->data = (char *)buffer->raw + (ALIGNMENT - (uintptr_t)buffer->raw % ALIGNMENT);
    return PENCILFFT_OK;
}

static int make_work(pencilfft_plan plan, const pencilfft_desc *desc)
{
    (void)desc;
    int status = pencilfft_alloc(plan, &plan->work[0]);
    return status ? status : pencilfft_alloc(plan, &plan->work[1]);
}

/* Stage by stage as execute.c runs them: first in -> out, then within out. */
static int plan_way(pencilfft_plan plan, int way, void *in, void *out)
{
    int status = PENCILFFT_OK;
    void *from[PF_STAGES] = {in, out, out};
    for (int stage = 0; stage < PF_STAGES && !status; stage++) {
        pencilfft_pencil pencil = pf_routes[way].pencil[stage];
        struct pf_lines lines = {
            .box = &plan->mine[pencil],
            .axis = pf_line_axis[pencil],
            .direction = directions[way],
            .rigor = plan->rigor,
            .in = from[stage],
            .fields = plan->fields,
            .out = out,
        };
        status = pf_lines_plan(&lines, &plan->lines[way][pencil]);
    }
    return status;
}

static int make_lines(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_buffer in = {0}, out = {0};
    int status = buffer_allocate(plan->alloc_elements, &in);
    if (!status)
        status = buffer_allocate(plan->alloc_elements, &out);
    for (int way = 0; way < PF_WAYS && !status; way++)
        if (desc->directions & directions[way])
            status = plan_way(plan, way, in.data, out.data);
    free(in.raw);
    free(out.raw);
    return status;
}

static int (*const steps[])(pencilfft_plan plan, const pencilfft_desc *desc) = {
    set_names,        same_everywhere, set_geometry, split_groups,      make_boxes,
    choose_exchanges, make_exchanges,  make_work,    connect_exchanges, make_lines,
};

/* ---- plan and destroy --------------------------------------------------------------------------------------- */

static int start_plan(const pencilfft_desc *desc, MPI_Comm comm, pencilfft_plan *plan)
{
    int status = PENCILFFT_OK;
    MPI_Comm all = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_dup(comm, &all));
    PF_MPI(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    struct pencilfft_plan_s *p = plan && desc ? calloc(1, sizeof *p) : NULL;
    if (!plan || !desc)
        status = pf_fail(PENCILFFT_BAD_CALL, "pencilfft_plan_create: null descriptor or plan");
    else if (!p)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a plan");
    if ((status = pf_agree(status, all))) {
        free(p);
        MPI_Comm_free(&all);
        goto done;
    }
    p->all = all;
    p->group[0] = p->group[1] = MPI_COMM_NULL;
    *plan = p;
    PF_MPI(MPI_Comm_rank(all, &p->rank));
    PF_MPI(MPI_Comm_size(all, &p->ranks));
done:
    return status;
}

int pencilfft_plan_create(const pencilfft_desc *desc, MPI_Comm comm, pencilfft_plan *plan)
{
    if (plan)
        *plan = NULL;
    int status = start_plan(desc, comm, plan);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !status; i++)
        status = pf_agree(steps[i](*plan, desc), (*plan)->all);
    if (status && status != PENCILFFT_MPI_ERROR && plan) {
        pencilfft_plan_destroy(*plan);
        *plan = NULL;
    }
    return status;
}

void pf_move_release(struct pf_move *move)
{
    if (move->state)
        move->exchange->destroy(move->state);
    pf_parts_release(&move->sent);
    pf_parts_release(&move->received);
    *move = (struct pf_move){.state = NULL};
}

static void release_local(pencilfft_plan plan)
{
    for (int way = 0; way < PF_WAYS; way++) {
        for (int e = 0; e < PF_EXCHANGES; e++)
            pf_move_release(&plan->moves[way][e]);
        for (int stage = 0; stage < PF_STAGES; stage++)
            if (plan->lines[way][stage])
                fftw_destroy_plan(plan->lines[way][stage]);
    }
    for (int e = 0; e < PF_EXCHANGES; e++)
        for (int after = 0; after < 2; after++)
            free(plan->boxes[e][after]);
    for (int e = 0; e < PF_EXCHANGES; e++)
        free(plan->auto_seconds[e]);
    while (plan->buffers) {
        struct pf_buffer *next = plan->buffers->next;
        free(plan->buffers->raw);
        free(plan->buffers);
        plan->buffers = next;
    }
}

int pencilfft_plan_destroy(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    if (!plan)
        return status;
    release_local(plan);
    for (int e = 0; e < PF_EXCHANGES; e++)
        if (plan->group[e] != MPI_COMM_NULL)
            PF_MPI(MPI_Comm_free(&plan->group[e]));
    PF_MPI(MPI_Comm_free(&plan->all));
done:
    free(plan);
    return status;
}

/* ---- queries ------------------------------------------------------------------------------------------------ */

int pencilfft_box_of(pencilfft_plan plan, pencilfft_pencil pencil, int rank, pencilfft_box *box)
{
    if (!plan || !box || pencil < PENCILFFT_Z_PENCIL || pencil > PENCILFFT_X_PENCIL)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_box_of: null plan or box, or no such pencil");
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_box_of: rank %d; ranks are 0..%d", rank, plan->ranks - 1);
    *box = pf_pencil_box(&plan->geometry, pencil, rank);
    return PENCILFFT_OK;
}

int pencilfft_box_mine(pencilfft_plan plan, pencilfft_pencil pencil, pencilfft_box *box)
{
    return pencilfft_box_of(plan, pencil, plan ? plan->rank : 0, box);
}

int pencilfft_alloc_elements(pencilfft_plan plan, int64_t *elements)
{
    if (!plan || !elements)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_alloc_elements: null plan or result");
    *elements = plan->alloc_elements;
    return PENCILFFT_OK;
}

int pencilfft_alloc(pencilfft_plan plan, void **data)
{
    if (!plan || !data)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_alloc: null plan or buffer");
    struct pf_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer");
    int status = buffer_allocate(plan->alloc_elements, buffer);
    if (status) {
        free(buffer);
        return status;
    }
    buffer->next = plan->buffers;
    plan->buffers = buffer;
    *data = buffer->data;
    return PENCILFFT_OK;
}

int pencilfft_phase_seconds(pencilfft_plan plan, double seconds[PENCILFFT_N_PHASES])
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_phase_seconds: null plan or result");
    memcpy(seconds, plan->clock.seconds, sizeof plan->clock.seconds);
    return PENCILFFT_OK;
}

const char *pencilfft_exchange_name(int i)
{
    return pf_table_name(&pf_exchanges, i);
}

const char *pencilfft_rigor_name(int i)
{
    return pf_table_name(&pf_rigors, i);
}

const char *pencilfft_sync_name(int i)
{
    return pf_table_name(&pf_syncs, i);
}

const char *pencilfft_error_message(void)
{
    return pf_message();
}
