/* Making and ending a plan.
 * Idea:  a table of stages, after each of which all ranks agree (handle.c).
 * Cost:  communicators.c; one small all-reduce a stage, as many boxes as the groups have members. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "ends/ends.h"
#include "layout/layout.h"
#include "plan/plan.h"
#include "run/run.h"
#include "speed/threads.h"

/* Without a name, the algorithm between nodes. `pipelined` used to be an exchange. Point users to the schedule. */
static const struct pf_exchange *find_exchange(const char *name)
{
    const struct pf_exchange *exchange = pf_table_find(&pf_exchanges, name ? name : "alltoallv");
    if (!exchange && !strcmp(name, "pipelined"))
        pf_fail(PENCILFFT_UNKNOWN_NAME,
                "unknown exchange 'pipelined': it is a schedule now; ask for schedule pipelined, with "
                "an exchange that can run beside other work, such as alltoallv");
    return exchange;
}

/* NULL: that of the arrays. */
static int set_exchange_precision(pencilfft_plan plan, const char *name)
{
    plan->request.exchange_precision = name ? pf_table_find(&pf_precisions, name) : plan->request.precision;
    if (!plan->request.exchange_precision)
        return PENCILFFT_UNKNOWN_NAME;
    if (plan->request.exchange_precision->fftw->real_bytes > plan->request.precision->fftw->real_bytes)
        return pf_fail(PENCILFFT_NOT_POSSIBLE, "exchange_precision %s is more than precision %s has; give %s, or nothing",
                       name, plan->request.precision->name, plan->request.precision->name);
    return PENCILFFT_OK;
}

static int set_names(pencilfft_plan plan, const pencilfft_desc *desc)
{
    plan->request.directions = desc->directions;
    if (!plan->request.directions || plan->request.directions & ~(PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "directions must be PENCILFFT_FORWARD, PENCILFFT_BACKWARD or both");
    if (desc->destroy_input != 0 && desc->destroy_input != 1)
        return pf_fail(PENCILFFT_BAD_CALL, "destroy_input is %d; give 1 where the input may be overwritten, else 0",
                       desc->destroy_input);
    plan->request.destroys_input = desc->destroy_input;
    if (desc->nonblocking != 0 && desc->nonblocking != 1)
        return pf_fail(PENCILFFT_BAD_CALL, "nonblocking is %d; give 1 for a plan to be started, else 0", desc->nonblocking);
    plan->request.nonblocking = desc->nonblocking;
    if (desc->caller_work != 0 && desc->caller_work != 1)
        return pf_fail(PENCILFFT_BAD_CALL, "caller_work is %d; give 1 for a plan that gets its work memory, else 0",
                       desc->caller_work);
    plan->request.caller_work = desc->caller_work;
    if (!(desc->auto_budget_s >= 0) || isinf(desc->auto_budget_s))
        return pf_fail(PENCILFFT_BAD_CALL, "auto_budget_s is %g; give 0 or more seconds", desc->auto_budget_s);
    if (!(plan->request.exchange = find_exchange(desc->exchange)) ||
        !(plan->layout.geometry.axes = pf_table_find(&pf_orders, desc->order)) ||
        !(plan->layout.geometry.decomposition =
              pf_decomposition_find(desc->decomposition, plan->layout.geometry.axes->dimensions, plan->request.bricks)) ||
        !(plan->request.precision = pf_table_find(&pf_precisions, desc->precision)) ||
        !(plan->layout.geometry.layout = pf_table_find(&pf_layouts, desc->layout)) ||
        !(plan->request.rigor = pf_table_find(&pf_rigors, desc->rigor)) ||
        !(plan->request.sync = pf_table_find(&pf_syncs, desc->sync)))
        return PENCILFFT_UNKNOWN_NAME;
    int status = set_exchange_precision(plan, desc->exchange_precision);
    if (status)
        return status;
    plan->layout.exchanges = plan->layout.geometry.decomposition->exchanges;
    if (plan->layout.geometry.axes->dimensions == 2 && plan->layout.geometry.decomposition->dimensions == 1)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "decomposition %s is for three dimensions, and order %s has two; use pencil, which then has one "
                       "exchange, or brick",
                       plan->layout.geometry.decomposition->name, plan->layout.geometry.axes->name);
    if (plan->request.nonblocking && plan->request.sync->wait)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "sync %s waits for all ranks, which a nonblocking plan does not; use sync none",
                       plan->request.sync->name);
    return PENCILFFT_OK;
}

/* Before anything is computed from the extents. */
static int check_size(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_geometry *g = &plan->layout.geometry;
    bool flat = g->axes->dimensions == 2;
    const int64_t n[3] = {desc->nx, desc->ny, flat ? 1 : desc->nz};
    const int64_t points[3] = {pf_larger(n[0], desc->padded_nx), pf_larger(n[1], desc->padded_ny),
                               pf_larger(n[2], flat ? 1 : desc->padded_nz)};
    pf_numbers_inside(g->axes, n, g->n);
    int status = pf_extents_check(g);
    if (status)
        return status;
    if (desc->fields < 1)
        return pf_fail(PENCILFFT_BAD_SIZE, "fields is %d; a plan has at least 1", desc->fields);
    if (pf_bounded_product(points, PF_MAX_ELEMENTS / desc->fields) < 0)
        return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld with %d fields: more than 2^53 elements",
                       (long long)points[0], (long long)points[1], (long long)points[2], desc->fields);
    return PENCILFFT_OK;
}

static int set_geometry(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_geometry *g = &plan->layout.geometry;
    struct pf_transform transform;
    int status = pf_geometry_check(g, plan->ranks);
    if (!status)
        status = pf_transform_make(desc, &transform);
    if (status)
        return status;
    memcpy(g->n, transform.modes, sizeof g->n);
    memcpy(g->points, transform.points, sizeof g->points);
    pf_transform_bytes(plan, &transform);
    if (desc->interleaved != 0 && desc->interleaved != 1)
        return pf_fail(PENCILFFT_BAD_CALL, "interleaved is %d; give 1 if the fields are the fastest index, else 0",
                       desc->interleaved);
    plan->request.fields = desc->fields;
    plan->request.interleaved = desc->interleaved && plan->request.fields > 1;
    return PENCILFFT_OK;
}

static int same_everywhere(pencilfft_plan plan, const pencilfft_desc *desc)
{
    return pf_desc_same(desc, plan->all);
}

/* Communicators that no other plan uses. */
static int part_communicators(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_communicators *shared = plan->communicators, *own;
    (void)desc;
    if (!plan->request.nonblocking || !shared->shared)
        return PENCILFFT_OK;
    int status = pf_communicators_own(shared, &own);
    if (status)
        return status;
    plan->communicators = own;
    plan->all = own->all;
    return pf_communicators_leave(shared);
}

/* Each rank by its own environment; the same number everywhere, because choices of "auto" depend on the number. */
static int set_threads(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = pf_agree(pf_threads_take(desc->threads, &plan->request.threads), plan->all), range[2];
    if (status)
        return status;
    range[0] = plan->request.threads;
    range[1] = -plan->request.threads;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT, MPI_MAX, plan->all));
    if (range[0] != -range[1])
        return pf_fail(PENCILFFT_MISMATCH,
                       "OMP_NUM_THREADS asks for %d threads on one rank and for %d on another; give all ranks the same, or "
                       "set threads itself",
                       -range[1], range[0]);
    return status;
}

static int (*const stages[])(pencilfft_plan plan, const pencilfft_desc *desc) = {
    set_names,    same_everywhere, check_size,  part_communicators, pf_ends_take,
    pf_grid_take, set_geometry,    set_threads, pf_grid_use,
};

/* `again`: without the choices that failed, those of wisdom and of default_exchange.c. */
static int choose_and_build(pencilfft_plan plan, const pencilfft_desc *desc, bool again)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->layout.exchanges; e++)
        plan->chosen.exchange[e] = plan->request.exchange;
    if (!plan->request.exchange->plan || plan->request.any_schedule)
        status = pf_agree(pf_auto_choose(plan, desc, again), plan->all);
    else if (!desc->exchange && !again)
        status = pf_agree(pf_default_exchange(plan), plan->all);
    return status ? status : pf_plan_build(plan);
}

/* Wisdom may name a choice that no longer works, and shared memory may have no room: then choose again. */
static int make_rest(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int status = choose_and_build(plan, desc, false);
    bool no_room = !desc->exchange && (status == PENCILFFT_NOT_POSSIBLE || status == PENCILFFT_NO_MEMORY);
    if (!status || status == PENCILFFT_MPI_ERROR || (!plan->chosen.recalled && !no_room))
        return status;
    pf_plan_clear(plan);
    if (!(status = pf_agree(pf_grid_again(plan, desc), plan->all)))
        status = choose_and_build(plan, desc, true);
    return status;
}

/* ---- create and destroy ---------------------------------------------------------------------------------------------- */

static int make(void *made, const void *of)
{
    pencilfft_plan plan = made;
    const pencilfft_desc *desc = of;
    int status = PENCILFFT_OK;
    for (int e = 0; e < PF_MAX_EXCHANGES; e++)
        plan->layout.group[e] = MPI_COMM_NULL;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && !status; i++)
        status = pf_agree(stages[i](plan, desc), plan->all);
    if (!status)
        status = make_rest(plan, desc);
    if (!status)
        status = pf_ends_make(plan);
    if (!status)
        status = pf_agree(pf_allocs_share(plan), plan->all);
    if (!status && plan->request.caller_work)
        pf_work_leave(plan);
    return status;
}

static void release_local(pencilfft_plan plan)
{
    free(plan->text);
    free(plan->chosen.grid_trial);
    free(plan->memory.alloc_of);
    pf_plan_clear(plan);
    for (int e = 0; e < plan->layout.exchanges; e++)
        free(plan->chosen.auto_seconds[e]);
}

static int release(void *made)
{
    pencilfft_plan plan = made;
    release_local(plan);
    pf_ends_release(plan);
    return pf_grid_leave(plan);
}

static const struct pf_kind kind = {
    .create = "pencilfft_plan_create",
    .destroy = "pencilfft_plan_destroy",
    .init = "pencilfft_desc_init",
    .defaults = &pf_desc_defaults,
    .desc_bytes = sizeof pf_desc_defaults,
    .bytes = sizeof(struct pencilfft_plan_s),
    .make = make,
    .release = release,
};

int pencilfft_plan_create(const pencilfft_desc *desc, MPI_Comm comm, pencilfft_plan *plan)
{
    void *made;
    int status = pf_handle_create(&kind, plan && desc, desc, comm, &made);
    if (plan)
        *plan = made;
    return status;
}

int pencilfft_plan_destroy(pencilfft_plan plan)
{
    return pf_handle_destroy(&kind, plan);
}
