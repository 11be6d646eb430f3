/* Making and ending a plan.
 * Idea:  a table of steps; after each one all ranks agree whether to go on (failure.c), so that no rank waits in a
 *        collective for one that has given up, and everything is undone in one place.
 * Cost:  two communicator splits, one small all-reduce a step, O(R + C) memory besides the work buffer.
 *        FFTW plans on two more buffers of the size of work, which are gone when the plan is made. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "geometry/blocks.h"
#include "plan/auto.h"
#include "plan/desc.h"

static const pencilfft_direction directions[PF_WAYS] = {PENCILFFT_FORWARD, PENCILFFT_BACKWARD};

/* Bytes between starts of buffers that FFTW and the caches both like. */
enum { ALIGNMENT = 64 };

/* ---- the steps ---------------------------------------------------------------------------------------------- */

static int set_names(pencilfft_plan plan, const pencilfft_desc *desc)
{
    plan->directions = desc->directions;
    if (!plan->directions || plan->directions & ~(PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "directions must be PENCILFFT_FORWARD, PENCILFFT_BACKWARD or both");
    if (!(plan->exchange = pf_table_find(&pf_exchanges, desc->exchange)) ||
        !(plan->geometry.decomposition = pf_table_find(&pf_decompositions, desc->decomposition)) ||
        !(plan->precision = pf_table_find(&pf_precisions, desc->precision)) ||
        !(plan->geometry.layout = pf_table_find(&pf_layouts, desc->layout)) ||
        !(plan->rigor = pf_table_find(&pf_rigors, desc->rigor)) || !(plan->sync = pf_table_find(&pf_syncs, desc->sync)))
        return PENCILFFT_UNKNOWN_NAME;
    plan->exchanges = plan->geometry.decomposition->exchanges;
    pf_phases_make(plan->geometry.decomposition, &plan->phases);
    return PENCILFFT_OK;
}

/* What a forward transform takes: the first array, of real numbers where it makes complex ones of them. */
static pencilfft_box input_box(const struct pencilfft_plan_s *plan, int rank)
{
    struct pf_geometry g = plan->geometry;
    g.n[2] = plan->transform.input_nz;
    return pf_array_box(&g, 0, rank);
}

static void set_boxes(pencilfft_plan plan)
{
    plan->input = input_box(plan, plan->rank);
    for (int array = 0; array <= plan->exchanges; array++)
        plan->mine[array] = pf_array_box(&plan->geometry, array, plan->rank);
    plan->output = plan->mine[plan->exchanges];
}

static int set_geometry(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_geometry *g = &plan->geometry;
    memcpy(g->n, (int64_t[]){desc->nx, desc->ny, desc->nz}, sizeof g->n);
    int status = g->decomposition->take_grid(desc->R, desc->C, g->grid);
    if (!status)
        status = pf_geometry_check(g, plan->ranks);
    if (!status)
        status = pf_transform_make(desc, &plan->transform);
    if (!status) {
        g->n[2] = plan->transform.output_nz;
        g->halved = g->n[2] < desc->nz;
        status = pf_geometry_check(g, plan->ranks);
    }
    if (status)
        return status;
    if (desc->fields < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "fields is %d; a plan has at least 1", desc->fields);
    if (pf_bounded_product((int64_t[]){desc->nx, desc->ny, desc->nz}, PF_MAX_ELEMENTS / desc->fields) < 0)
        return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld with %d fields: more than 2^53 elements",
                       (long long)desc->nx, (long long)desc->ny, (long long)desc->nz, desc->fields);
    plan->input_bytes = plan->precision->fftw->real_bytes * (plan->transform.real_input ? 1 : 2);
    plan->element_bytes = plan->precision->fftw->real_bytes * (plan->transform.real_output ? 1 : 2);
    plan->fields = desc->fields;
    set_boxes(plan);
    return PENCILFFT_OK;
}

static int same_everywhere(pencilfft_plan plan, const pencilfft_desc *desc)
{
    return pf_desc_same(desc, plan->all);
}

int pf_member(const struct pencilfft_plan_s *plan, int e, int j)
{
    return pf_grid_member(&plan->geometry, plan->geometry.decomposition->exchange[e].over, plan->rank, j);
}

static int split_groups(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = PENCILFFT_OK;
    (void)desc;
    for (int e = 0; e < plan->exchanges; e++) {
        PF_MPI(MPI_Comm_split(plan->all, pf_member(plan, e, 0), plan->rank, &plan->group[e]));
        PF_MPI(MPI_Comm_set_errhandler(plan->group[e], MPI_ERRORS_RETURN));
        PF_MPI(MPI_Comm_size(plan->group[e], &plan->p[e]));
        PF_MPI(MPI_Comm_rank(plan->group[e], &plan->me[e]));
    }
done:
    return status;
}

static int make_boxes(pencilfft_plan plan, const pencilfft_desc *desc)
{
    (void)desc;
    for (int e = 0; e < plan->exchanges; e++)
        for (int after = 0; after < 2; after++) {
            pencilfft_box *boxes = calloc((size_t)plan->p[e], sizeof *boxes);
            if (!boxes)
                return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->p[e]);
            for (int j = 0; j < plan->p[e]; j++)
                boxes[j] = pf_array_box(&plan->geometry, e + after, pf_member(plan, e, j));
            plan->boxes[e][after] = boxes;
        }
    return PENCILFFT_OK;
}

static int choose_exchanges(pencilfft_plan plan, const pencilfft_desc *desc)
{
    for (int e = 0; e < plan->exchanges; e++)
        plan->chosen[e] = plan->exchange;
    return plan->exchange->plan ? PENCILFFT_OK : pf_auto_choose(plan, desc->auto_budget_s);
}

static int (*const steps[])(pencilfft_plan plan, const pencilfft_desc *desc) = {
    set_names, same_everywhere, set_geometry, split_groups, make_boxes, choose_exchanges,
};

/* ---- the steps that follow from the exchanges that were chosen ------------------------------------------------ */

static void grow(int64_t *largest, int64_t elements)
{
    *largest = elements > *largest ? elements : *largest;
}

static int64_t largest_array(const struct pencilfft_plan_s *plan)
{
    int64_t per_element = (int64_t)(plan->element_bytes / plan->input_bytes);
    int64_t largest = (pf_box_elements(&plan->input) * plan->fields + per_element - 1) / per_element;
    for (int array = 0; array <= plan->exchanges; array++)
        grow(&largest, pf_box_elements(&plan->mine[array]) * plan->fields);
    return largest;
}

/* The axis that both sides of an exchange divide alike. */
static int slice_axis(const struct pf_decomposition *d, int e)
{
    int axis = 0;
    while (axis < 2 && d->array[e].over[axis] != d->array[e + 1].over[axis])
        axis++;
    return axis;
}

static int plan_move(pencilfft_plan plan, int way, int e)
{
    const struct pf_exchange *exchange = plan->chosen[e];
    struct pf_move *move = &plan->moves[way][e];
    int status = PENCILFFT_OK;
    move->exchange = exchange;
    move->transpose = (struct pf_transpose){
        .group = plan->group[e],
        .p = plan->p[e],
        .me = plan->me[e],
        .from = plan->boxes[e][way],
        .to = plan->boxes[e][!way],
        .element_bytes = plan->element_bytes,
        .fields = plan->fields,
        .slice_axis = slice_axis(plan->geometry.decomposition, e),
        .other_way = plan->moves[!way][e].state,
    };
    if (exchange->takes == PF_BOXES)
        return exchange->plan(&move->transpose, NULL, NULL, &move->state);
    int slices = exchange->slices ? exchange->slices(&move->transpose) : 1;
    if (!(status = pf_parts_sent(&move->transpose, slices, &move->sent)))
        status = pf_parts_received(&move->transpose, slices, &move->received);
    return status ? status : exchange->plan(&move->transpose, &move->sent.list, &move->received.list, &move->state);
}

static int make_exchanges(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    plan->alloc_elements = largest_array(plan);
    for (int way = 0; way < PF_WAYS; way++) {
        if (!(plan->directions & directions[way]))
            continue;
        pf_route_links(plan, way);
        for (int e = 0; e < plan->exchanges && !status; e++) {
            status = plan_move(plan, way, e);
            grow(&plan->alloc_elements, plan->moves[way][e].sent.list.total);
            grow(&plan->alloc_elements, plan->moves[way][e].received.list.total);
        }
    }
    return status;
}

void *pf_plan_buffer(const struct pencilfft_plan_s *plan, int way, int id)
{
    if (id < PF_MEMORY)
        return plan->work[id - PF_WORK];
    const struct pf_move *move = &plan->moves[way][id - PF_MEMORY];
    return move->state && move->exchange->memory ? move->exchange->memory(move->state) : NULL;
}

/* Where an exchange alone works: as in the route, but that the caller's array has to be left alone. */
static struct pf_link link_alone(const struct pencilfft_plan_s *plan, int way, int e)
{
    struct pf_link link = {.exchange = e, .from = PF_WORK, .to = PF_WORK + 1};
    for (int i = 0; i < plan->route[way].n - 1; i++)
        if (plan->route[way].link[i].exchange == e)
            link = plan->route[way].link[i];
    if (link.from == PF_OUT)
        link.from = link.to == PF_WORK + 1 ? PF_WORK : PF_WORK + 1;
    return link;
}

void pf_move_buffers(const struct pencilfft_plan_s *plan, int way, int e, void **from, void **to)
{
    struct pf_link link = link_alone(plan, way, e);
    *from = pf_plan_buffer(plan, way, link.from);
    *to = pf_plan_buffer(plan, way, link.to);
}

static int connect_move(pencilfft_plan plan, int way, int e)
{
    struct pf_move *move = &plan->moves[way][e];
    if (!move->state || !move->exchange->connect)
        return PENCILFFT_OK;
    void *from, *to;
    pf_move_buffers(plan, way, e, &from, &to);
    bool boxes = move->exchange->takes == PF_BOXES;
    return move->exchange->connect(move->state, boxes ? NULL : from, boxes ? NULL : to);
}

static int connect_exchanges(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int way = 0; way < PF_WAYS; way++)
        for (int e = 0; e < plan->exchanges && !status; e++)
            status = pf_agree(connect_move(plan, way, e), plan->all);
    return status;
}

static int buffer_allocate(const struct pencilfft_plan_s *plan, struct pf_buffer *buffer)
{
    size_t bytes = (size_t)plan->alloc_elements * plan->element_bytes;
    buffer->raw = malloc(bytes + ALIGNMENT);
    if (!buffer->raw)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    buffer->data = (char *)buffer->raw + (ALIGNMENT - (uintptr_t)buffer->raw % ALIGNMENT);
    return PENCILFFT_OK;
}

static bool link_uses(struct pf_link link, int buffer)
{
    return link.from == buffer || link.to == buffer;
}

static bool uses(const struct pencilfft_plan_s *plan, int buffer)
{
    bool used = false;
    for (int way = 0; way < PF_WAYS; way++) {
        for (int i = 0; i < plan->route[way].n - 1; i++)
            used |= link_uses(plan->route[way].link[i], buffer);
        for (int e = 0; e < plan->exchanges; e++)
            used |= plan->moves[way][e].exchange && link_uses(link_alone(plan, way, e), buffer);
    }
    return used;
}

static int make_work(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < PF_WORKS && !status; i++)
        if (uses(plan, PF_WORK + i))
            status = pencilfft_alloc(plan, &plan->work[i]);
    return status;
}

static int make_passes(pencilfft_plan plan)
{
    struct pf_buffer in = {0}, out = {0};
    int status = buffer_allocate(plan, &in);
    if (!status)
        status = buffer_allocate(plan, &out);
    for (int way = 0; way < PF_WAYS && !status; way++)
        if (plan->directions & directions[way])
            status = pf_route_passes(plan, way, in.data, out.data);
    free(in.raw);
    free(out.raw);
    return status;
}

static int (*const steps_of_choice[])(pencilfft_plan plan) = {
    make_exchanges,
    make_work,
    connect_exchanges,
    make_passes,
};

int pf_plan_build(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (size_t i = 0; i < sizeof steps_of_choice / sizeof steps_of_choice[0] && !status; i++)
        status = pf_agree(steps_of_choice[i](plan), plan->all);
    return status;
}

static void release_move(struct pf_move *move)
{
    if (move->state)
        move->exchange->destroy(move->state);
    pf_parts_release(&move->sent);
    pf_parts_release(&move->received);
    *move = (struct pf_move){.state = NULL};
}

static void release_buffers(pencilfft_plan plan)
{
    while (plan->buffers) {
        struct pf_buffer *next = plan->buffers->next;
        free(plan->buffers->raw);
        free(plan->buffers);
        plan->buffers = next;
    }
    memset(plan->work, 0, sizeof plan->work);
}

void pf_plan_clear(pencilfft_plan plan)
{
    for (int way = 0; way < PF_WAYS; way++) {
        for (int e = 0; e < plan->exchanges; e++)
            release_move(&plan->moves[way][e]);
        pf_route_release(&plan->route[way]);
    }
    release_buffers(plan);
}

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
    for (int e = 0; e < PF_MAX_EXCHANGES; e++)
        p->group[e] = MPI_COMM_NULL;
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
    int status = pf_usable(comm, "pencilfft_plan_create");
    if (!status)
        status = start_plan(desc, comm, plan);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !status; i++)
        status = pf_agree(steps[i](*plan, desc), (*plan)->all);
    if (!status)
        status = pf_plan_build(*plan);
    if (status && status != PENCILFFT_MPI_ERROR && plan) {
        pencilfft_plan_destroy(*plan);
        *plan = NULL;
    }
    return status;
}

static void release_local(pencilfft_plan plan)
{
    pf_plan_clear(plan);
    for (int e = 0; e < plan->exchanges; e++) {
        for (int after = 0; after < 2; after++)
            free(plan->boxes[e][after]);
        free(plan->auto_seconds[e]);
    }
}

int pencilfft_plan_destroy(pencilfft_plan plan)
{
    int status = plan ? pf_usable(plan->all, "pencilfft_plan_destroy") : PENCILFFT_OK;
    if (!plan || status)
        return status;
    release_local(plan);
    for (int e = 0; e < plan->exchanges; e++)
        if (plan->group[e] != MPI_COMM_NULL)
            PF_MPI(MPI_Comm_free(&plan->group[e]));
    PF_MPI(MPI_Comm_free(&plan->all));
done:
    free(plan);
    return status;
}

/* ---- queries ------------------------------------------------------------------------------------------------ */

/* Number of an array; -1 when there is none such. */
static int array_of(const struct pencilfft_plan_s *plan, int array)
{
    if (array == PENCILFFT_INPUT || array == PENCILFFT_OUTPUT)
        return array == PENCILFFT_INPUT ? 0 : plan->exchanges;
    return array >= 0 && array <= plan->exchanges ? array : -1;
}

int pencilfft_box_of(pencilfft_plan plan, int array, int rank, pencilfft_box *box)
{
    if (!plan || !box || array_of(plan, array) < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_box_of: null plan or box, or no such array");
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_box_of: rank %d; ranks are 0..%d", rank, plan->ranks - 1);
    *box = array == PENCILFFT_INPUT ? input_box(plan, rank) : pf_array_box(&plan->geometry, array_of(plan, array), rank);
    return PENCILFFT_OK;
}

int pencilfft_box_mine(pencilfft_plan plan, int array, pencilfft_box *box)
{
    return pencilfft_box_of(plan, array, plan ? plan->rank : 0, box);
}

int pencilfft_format_of(pencilfft_plan plan, int array, pencilfft_format *format)
{
    if (!plan || !format || array_of(plan, array) < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_format_of: null plan or format, or no such array");
    bool input = array == PENCILFFT_INPUT;
    pencilfft_box box = input ? plan->input : plan->mine[array_of(plan, array)];
    *format = (pencilfft_format){
        .element_bytes = input ? plan->input_bytes : plan->element_bytes,
        .real_bytes = plan->precision->fftw->real_bytes,
        .is_complex = !(input ? plan->transform.real_input : plan->transform.real_output),
        .fields = plan->fields,
        .field_stride = pf_box_elements(&box),
        .n = {plan->geometry.n[0], plan->geometry.n[1], input ? plan->transform.input_nz : plan->transform.output_nz},
    };
    return PENCILFFT_OK;
}

int pencilfft_exchanges(pencilfft_plan plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_exchanges: null plan or result");
    *n = plan->exchanges;
    return PENCILFFT_OK;
}

bool pf_is_exchange(const struct pencilfft_plan_s *plan, int e)
{
    return plan && e >= 0 && e < plan->exchanges;
}

const char *pencilfft_exchange_stage(pencilfft_plan plan, int e)
{
    return pf_is_exchange(plan, e) ? plan->geometry.decomposition->exchange[e].name : NULL;
}

int pencilfft_scale(pencilfft_plan plan, double *scale)
{
    if (!plan || !scale)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_scale: null plan or result");
    *scale = plan->transform.scale;
    return PENCILFFT_OK;
}

int pencilfft_alloc_bytes(pencilfft_plan plan, int64_t *bytes)
{
    if (!plan || !bytes)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_alloc_bytes: null plan or result");
    *bytes = plan->alloc_elements * (int64_t)plan->element_bytes;
    return PENCILFFT_OK;
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
    int status = buffer_allocate(plan, buffer);
    if (status) {
        free(buffer);
        return status;
    }
    buffer->next = plan->buffers;
    plan->buffers = buffer;
    *data = buffer->data;
    return PENCILFFT_OK;
}

const char *pencilfft_decomposition_name(int i)
{
    return pf_table_name(&pf_decompositions, i);
}

int pencilfft_grid_numbers(const char *name)
{
    const struct pf_decomposition *decomposition = pf_table_find(&pf_decompositions, name);
    return decomposition ? decomposition->dimensions : 0;
}

const char *pencilfft_exchange_name(int i)
{
    return pf_table_name(&pf_exchanges, i);
}

const char *pencilfft_type_name(int i)
{
    return pf_table_name(&pf_types, i);
}

const char *pencilfft_precision_name(int i)
{
    return pf_table_name(&pf_precisions, i);
}

const char *pencilfft_layout_name(int i)
{
    return pf_table_name(&pf_layouts, i);
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
