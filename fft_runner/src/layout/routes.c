/* The routes of a transform, and the parts of its arrays.
 * Idea:  a schedule may send some planes, or some fields, through the exchanges in the other order. Each array but the first
 *        then consists of two parts, in succession, each with a box of its own. If nothing is exchanged, the parts are the
 *        same, but there is one route. */
#include "layout/inside.h"

#include <string.h>

#include "speed/tuning.h"

enum { X, Y, Z };

/* ---- input of a schedule -------------------------------------------------------------------------------------------- */

static bool moves(const struct pencilfft_plan_s *plan)
{
    bool any = false;
    for (int e = 0; e < plan->layout.exchanges; e++)
        any |= plan->layout.p[e] > 1;
    return any;
}

/* Indices of the smallest non-empty block that may cut an axis. */
static int64_t smallest_block(const struct pf_geometry *g, int axis)
{
    int over = pf_cut_over(g->decomposition, axis);
    int64_t n = pf_array_extent(g, 0, axis);
    return over == PF_NOT_CUT ? 0 : over == PF_WHOLE ? n : pf_larger(1, n / g->grid[over]);
}

/* Ranks that divide z after the first exchange. */
static int64_t ranks_along_z(const struct pf_geometry *g, const struct pf_decomposition *route)
{
    int over = route->array[1].over[Z];
    return over == PF_WHOLE ? 1 : g->grid[over];
}

static void describe(const struct pencilfft_plan_s *plan, struct pf_shape *shape)
{
    const struct pf_geometry *g = &plan->layout.geometry;
    const struct pf_decomposition *other = g->decomposition->other_route;
    bool flat = g->axes->dimensions == 2;
    int64_t most = 1, bytes = plan->request.fields * (int64_t)plan->layout.sent_bytes;
    for (int axis = X; axis <= Z; axis++)
        bytes *= pf_array_extent(g, 0, axis);
    for (int e = 0; e < plan->layout.exchanges; e++)
        most = plan->layout.p[e] > most ? plan->layout.p[e] : most;
    *shape = (struct pf_shape){
        .most =
            {[PF_CUT_X] = smallest_block(g, X), [PF_CUT_Z] = smallest_block(g, Z), [PF_CUT_FIELD] = plan->request.fields},
        .message_bytes = bytes / plan->ranks / most,
        .enough_bytes = pf_tuning.message_bytes,
        .decomposition = flat ? "of two dimensions" : g->decomposition->name,
        .two_routes = other && !flat,
        .over = {ranks_along_z(g, g->decomposition), other ? ranks_along_z(g, other) : 1},
        .nz = g->n[Z],
        .fields = plan->request.fields,
    };
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

static void set_parts(pencilfft_plan plan, const struct pf_shape *shape)
{
    struct pf_share share[PF_MAX_ROUTES] = {{0, plan->layout.geometry.n[Z], 0, plan->request.fields}};
    const struct pf_decomposition *d = plan->layout.geometry.decomposition;
    if (plan->chosen.choice.schedule->divide)
        plan->chosen.choice.schedule->divide(shape, &plan->chosen.choice, share);
    plan->layout.parts = 0;
    for (int i = 0; i < PF_MAX_ROUTES; i++)
        if (share[i].field < share[i].field_end)
            plan->layout.part[plan->layout.parts++] = (struct pf_part){i ? d->other_route : d, share[i]};
}

static pencilfft_box part_box(const struct pencilfft_plan_s *plan, int array, int rank, int i)
{
    struct pf_geometry g = plan->layout.geometry;
    g.decomposition = plan->layout.part[i].decomposition;
    return pf_planes_box(&g, plan->layout.part[i].share.z, plan->layout.part[i].share.z_end, pf_array_number(array),
                         pf_axes_done(&g, array), rank);
}

int pf_parts_of(const struct pencilfft_plan_s *plan, int array)
{
    return array == PENCILFFT_INPUT || pf_array_number(array) == 0 ? 1 : plan->layout.parts;
}

pencilfft_part pf_part_of(const struct pencilfft_plan_s *plan, int array, int rank, int i)
{
    pencilfft_part part = {.fields = plan->request.fields};
    int64_t elements = 0; /* of the part before */
    if (array == PENCILFFT_INPUT || array == 0)
        part.box = array ? pf_input_box(plan, rank) : pf_array_box(&plan->layout.geometry, 0, rank);
    for (int j = 0; j <= i && array > 0; j++) {
        part.start += elements;
        part.box = part_box(plan, array, rank, j);
        part.first_field = plan->layout.part[j].share.field;
        part.fields = plan->layout.part[j].share.field_end - part.first_field;
        elements = pf_box_elements(&part.box) * part.fields;
    }
    pf_part_lay(plan, &part);
    return part;
}

int64_t pf_array_bytes(const struct pencilfft_plan_s *plan, int array, int rank)
{
    pencilfft_part last = pf_part_of(plan, array, rank, pf_parts_of(plan, array) - 1);
    int64_t elements = last.start + last.fields * pf_box_elements(&last.box);
    return elements * (int64_t)(array == PENCILFFT_INPUT ? plan->layout.input_bytes : plan->layout.element_bytes);
}

/* ---- routes --------------------------------------------------------------------------------------------------------- */

/* The plan's number of the exchange with the same name. */
static int number_of(const struct pencilfft_plan_s *plan, const char *name)
{
    int e = 0;
    while (strcmp(plan->layout.geometry.decomposition->exchange[e].name, name))
        e++;
    return e;
}

static void set_route(pencilfft_plan plan, int i, const struct pf_decomposition *d, struct pf_share share)
{
    struct pf_route *route = &plan->layout.route[i];
    struct pf_geometry g = plan->layout.geometry;
    *route = (struct pf_route){.decomposition = g.decomposition = d, .share = share};
    for (int e = 0; e < plan->layout.exchanges; e++)
        route->exchange[e] = number_of(plan, d->exchange[e].name);
    for (int array = 0; array <= plan->layout.exchanges; array++)
        for (int after = 0; after < 2; after++)
            route->mine[after][array] = pf_planes_box(&g, share.z, share.z_end, array,
                                                      pf_axes_done(&g, after ? array : PF_BEFORE + array), plan->rank);
    pf_forms_choose(plan, route);
}

static void set_routes(pencilfft_plan plan)
{
    struct pf_share all = {0, plan->layout.geometry.n[Z], 0, plan->request.fields};
    plan->layout.routes = plan->chosen.beside ? plan->layout.parts : 1;
    for (int i = 0; i < plan->layout.routes; i++)
        set_route(plan, i, plan->layout.part[i].decomposition, plan->chosen.beside ? plan->layout.part[i].share : all);
}

int pf_schedule_take(pencilfft_plan plan, const struct pf_choice *choice)
{
    struct pf_shape shape;
    describe(plan, &shape);
    plan->chosen.choice = *choice;
    int status = pf_choice_settle(&shape, &plan->chosen.choice);
    if (status)
        return status;
    plan->chosen.asked = plan->chosen.choice.schedule;
    if (!moves(plan) && plan->chosen.choice.schedule->keeps_boxes)
        plan->chosen.choice = (struct pf_choice){.schedule = &pf_schedule_sequence,
                                                 .letter = {choice->letter[0], choice->letter[1]}};
    plan->chosen.beside = plan->chosen.choice.schedule->beside && moves(plan);
    pf_choice_write(&plan->chosen.choice, plan->chosen.schedule);
    set_parts(plan, &shape);
    set_routes(plan);
    return PENCILFFT_OK;
}
