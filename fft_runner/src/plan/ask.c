/* Questions to a plan and the library: arrays, exchanges, phases, names. buffers.c, traffic.c and print.c answer the
 * rest. */
#include "ends/ends.h"
#include "layout/layout.h"
#include "plan/plan.h"

/* The remapped end of a transform with this array outside; PF_ENDS if there is none. */
static int end_of(const struct pencilfft_plan_s *plan, int array)
{
    int end = array == PENCILFFT_INPUT ? 0 : array == PENCILFFT_OUTPUT ? 1 : PF_ENDS;
    return end < PF_ENDS && plan->layout.end[end].remapped ? end : PF_ENDS;
}

int pf_array_of(const struct pencilfft_plan_s *plan, int array)
{
    if (array == PENCILFFT_INPUT || array == PENCILFFT_INNER_INPUT)
        return 0;
    if (array == PENCILFFT_OUTPUT || array == PENCILFFT_INNER_OUTPUT)
        return plan->layout.exchanges;
    if (array > PF_BEFORE && array <= PF_BEFORE + plan->layout.exchanges)
        return array;
    return array >= 0 && array <= plan->layout.exchanges ? array : -1;
}

static bool is_input(int array)
{
    return array == PENCILFFT_INPUT || array == PENCILFFT_INNER_INPUT;
}

/* The same, but the input of a forward transform stays apart from array 0. */
static int own_array_of(const struct pencilfft_plan_s *plan, int array)
{
    return is_input(array) ? PENCILFFT_INPUT : pf_array_of(plan, array);
}

static int parts_of(const struct pencilfft_plan_s *plan, int array)
{
    return end_of(plan, array) < PF_ENDS ? 1 : pf_parts_of(plan, own_array_of(plan, array));
}

static pencilfft_part inner_part_of(const struct pencilfft_plan_s *plan, int array, int rank, int i)
{
    int end = end_of(plan, array);
    if (end == PF_ENDS)
        return pf_part_of(plan, own_array_of(plan, array), rank, i);
    pencilfft_part part = {.box = pf_end_box(plan, end, rank), .fields = plan->request.fields};
    pf_part_lay(plan, &part);
    return part;
}

/* With the caller's axes. */
static pencilfft_part part_of(const struct pencilfft_plan_s *plan, int array, int rank, int i)
{
    pencilfft_part part = inner_part_of(plan, array, rank, i);
    part.box = pf_box_outside(plan->layout.geometry.axes, &part.box);
    return part;
}

int pencilfft_parts(pencilfft_plan plan, int array, int *n)
{
    if (!plan || !n || pf_array_of(plan, array) < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_parts: null plan or result, or no such array");
    *n = parts_of(plan, array);
    return PENCILFFT_OK;
}

/* Whether the plan has part i of an array on a rank. */
static int check_question(pencilfft_plan plan, int array, int rank, int i, const void *result, const char *function)
{
    if (!plan || !result || pf_array_of(plan, array) < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result, or no such array", function);
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: rank %d; ranks are 0..%d", function, rank, plan->ranks - 1);
    int parts = parts_of(plan, array);
    if (i < 0 || i >= parts)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: part %d; the array has parts 0..%d", function, i, parts - 1);
    return PENCILFFT_OK;
}

int pencilfft_part_of(pencilfft_plan plan, int array, int rank, int i, pencilfft_part *part)
{
    int status = check_question(plan, array, rank, i, part, "pencilfft_part_of");
    if (!status)
        *part = part_of(plan, array, rank, i);
    return status;
}

int pencilfft_part_mine(pencilfft_plan plan, int array, int i, pencilfft_part *part)
{
    return pencilfft_part_of(plan, array, plan ? plan->rank : 0, i, part);
}

int pencilfft_box_of(pencilfft_plan plan, int array, int rank, pencilfft_box *box)
{
    int status = check_question(plan, array, rank, 0, box, "pencilfft_box_of");
    if (!status && parts_of(plan, array) > 1)
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "pencilfft_box_of: under schedule %.200s this array has several parts; ask pencilfft_parts() and "
                         "pencilfft_part_of()",
                         plan->chosen.schedule);
    if (!status)
        *box = part_of(plan, array, rank, 0).box;
    return status;
}

int pencilfft_box_mine(pencilfft_plan plan, int array, pencilfft_box *box)
{
    return pencilfft_box_of(plan, array, plan ? plan->rank : 0, box);
}

int pencilfft_format_of(pencilfft_plan plan, int array, pencilfft_format *format)
{
    if (!plan || !format || pf_array_of(plan, array) < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_format_of: null plan or format, or no such array");
    bool input = is_input(array);
    *format = (pencilfft_format){
        .element_bytes = input ? plan->layout.input_bytes : plan->layout.element_bytes,
        .real_bytes = plan->request.precision->fftw->real_bytes,
        .is_complex = !(input ? plan->layout.transform.real_input : plan->layout.transform.real_output),
        .fields = plan->request.fields,
        .field_stride = parts_of(plan, array) > 1 ? 0 : part_of(plan, array, plan->rank, 0).field_stride,
    };
    for (int axis = 0; axis < 3; axis++)
        format->n[pf_axis_outside(plan->layout.geometry.axes, axis)] =
            pf_array_extent(&plan->layout.geometry, input ? PF_BEFORE : pf_array_of(plan, array), axis);
    return PENCILFFT_OK;
}

PF_TELLS(pencilfft_exchanges, pencilfft_plan, int, plan->layout.exchanges)
PF_TELLS(pencilfft_phases, pencilfft_plan, int, plan->program.phases.n)
PF_TELLS(pencilfft_threads, pencilfft_plan, int, plan->request.threads)
PF_TELLS(pencilfft_scale, pencilfft_plan, double, plan->layout.transform.scale)
PF_TELLS(pencilfft_alloc_elements, pencilfft_plan, int64_t, plan->memory.alloc_elements)
PF_TELLS(pencilfft_alloc_bytes, pencilfft_plan, int64_t, plan->memory.alloc_elements *(int64_t)plan->layout.element_bytes)

/* Each exchange and remap rounds each number once, by 2^-24 of the number at most. */
static double exchange_error(const struct pencilfft_plan_s *plan)
{
    int times = 0;
    for (int e = 0; e < plan->layout.exchanges; e++)
        times += plan->layout.p[e] > 1;
    for (int end = 0; end < PF_ENDS; end++)
        times += plan->layout.end[end].remapped && plan->ranks > 1;
    return pf_rounds(plan) ? times * 0x1p-24 : 0;
}
PF_TELLS(pencilfft_exchange_error, pencilfft_plan, double, exchange_error(plan))

const char *pencilfft_schedule_chosen(pencilfft_plan plan)
{
    return plan ? plan->chosen.schedule : NULL;
}

const char *pencilfft_exchange_stage(pencilfft_plan plan, int e)
{
    if (pf_is_remap(plan, e))
        return pf_remap_names[e - PENCILFFT_REMAP_IN];
    return pf_is_exchange(plan, e) ? plan->layout.geometry.decomposition->exchange[e].name : NULL;
}

int pencilfft_group(pencilfft_plan plan, int exchange, MPI_Comm *group)
{
    if (!plan)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_group: null plan");
    int status = pf_usable(plan->all, "pencilfft_group");
    if (status)
        return status;
    if (!group || !pf_is_exchange(plan, exchange))
        status = pf_fail(PENCILFFT_BAD_CALL, "pencilfft_group: null result, or no exchange %d; the plan has 0 to %d",
                         exchange, plan->layout.exchanges - 1);
    status = pf_same_directed_call(plan->all, plan->rank, plan->checks_calls, status, "pencilfft_group", 0, exchange, false);
    if ((status = pf_agree(status, plan->all)))
        return status;
    PF_MPI(MPI_Comm_dup(plan->layout.group[exchange], group));
    PF_MPI(MPI_Comm_set_errhandler(*group, MPI_ERRORS_ARE_FATAL));
    return PENCILFFT_OK;
}

/* A function that lists the names of a table. */
#define NAMES(function, table)             \
    const char *function(int i)            \
    {                                      \
        return pf_table_name(&(table), i); \
    }
NAMES(pencilfft_decomposition_name, pf_decompositions)
NAMES(pencilfft_exchange_name, pf_exchanges)
NAMES(pencilfft_schedule_name, pf_schedules)
NAMES(pencilfft_type_name, pf_types)
NAMES(pencilfft_line_kind_name, pf_line_kinds)
NAMES(pencilfft_precision_name, pf_precisions)
NAMES(pencilfft_layout_name, pf_layouts)
NAMES(pencilfft_order_name, pf_orders)
NAMES(pencilfft_rigor_name, pf_rigors)
NAMES(pencilfft_sync_name, pf_syncs)

int pencilfft_grid_numbers(const char *name)
{
    int bricks[3];
    const struct pf_decomposition *decomposition = pf_decomposition_find(name, 3, bricks);
    return decomposition ? decomposition->dimensions : 0;
}

const char *pencilfft_error_message(void)
{
    return pf_message();
}

static int is_phase(pencilfft_plan plan, int phase)
{
    return plan && phase >= 0 && phase < plan->program.phases.n;
}

const char *pencilfft_phase_name(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? plan->program.phases.phase[phase].name : NULL;
}

int pencilfft_phase_kind(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? (int)plan->program.phases.phase[phase].kind : -1;
}

int pencilfft_phase_seconds(pencilfft_plan plan, double *seconds)
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_phase_seconds: null plan or result");
    for (int i = 0; i < plan->program.phases.n; i++)
        seconds[i] = plan->program.phases.phase[i].kind == PENCILFFT_TOTAL ? plan->program.clock.total
                                                                           : plan->program.clock.seconds[i];
    return PENCILFFT_OK;
}

static pencilfft_line_kind kind_of(const struct pf_line *line)
{
    switch (line->kind) {
    case PF_SKIP: return PENCILFFT_LINE_NONE;
    case PF_R2C: return PENCILFFT_LINE_R2C;
    case PF_R2R: return line->cosine_kind ? PENCILFFT_LINE_COSINE : PENCILFFT_LINE_SINE;
    default: return PENCILFFT_LINE_DFT;
    }
}

int pencilfft_line_of(pencilfft_plan plan, int axis, pencilfft_line *line)
{
    if (!plan || !line || axis < 0 || axis > 2)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_of: null plan or result, or no such axis");
    int inside = pf_axis_inside(plan->layout.geometry.axes, axis);
    const struct pf_line *own = &plan->layout.transform.line[inside];
    bool numbered = own->kind == PF_R2R;
    *line = (pencilfft_line){kind_of(own), numbered ? own->cosine_kind + own->sine_kind : 0,
                             plan->layout.transform.n[inside], plan->layout.transform.points[inside]};
    return PENCILFFT_OK;
}
