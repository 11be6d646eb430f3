/* What a plan and the library are asked: arrays, exchanges, phases, names. buffers.c, traffic.c and print.c
 * tell the rest. */
#include "common/failure.h"
#include "plan/plan.h"

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
    *box = array == PENCILFFT_INPUT ? pf_input_box(plan, rank) : pf_array_box(&plan->geometry, array_of(plan, array), rank);
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

/* A function that tells one number of a plan. */
#define TELLS(function, type, value)                                                  \
    int function(pencilfft_plan plan, type *result)                                   \
    {                                                                                 \
        if (!plan || !result)                                                         \
            return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result", #function); \
        *result = value;                                                              \
        return PENCILFFT_OK;                                                          \
    }
TELLS(pencilfft_exchanges, int, plan->exchanges)
TELLS(pencilfft_phases, int, plan->phases.n)
TELLS(pencilfft_scale, double, plan->transform.scale)
TELLS(pencilfft_alloc_elements, int64_t, plan->alloc_elements)
TELLS(pencilfft_alloc_bytes, int64_t, plan->alloc_elements *(int64_t)plan->element_bytes)

const char *pencilfft_exchange_stage(pencilfft_plan plan, int e)
{
    return pf_is_exchange(plan, e) ? plan->geometry.decomposition->exchange[e].name : NULL;
}

/* A function that lists the names of a table. */
#define NAMES(function, table)             \
    const char *function(int i)            \
    {                                      \
        return pf_table_name(&(table), i); \
    }
NAMES(pencilfft_decomposition_name, pf_decompositions)
NAMES(pencilfft_exchange_name, pf_exchanges)
NAMES(pencilfft_type_name, pf_types)
NAMES(pencilfft_precision_name, pf_precisions)
NAMES(pencilfft_layout_name, pf_layouts)
NAMES(pencilfft_rigor_name, pf_rigors)
NAMES(pencilfft_sync_name, pf_syncs)

int pencilfft_grid_numbers(const char *name)
{
    const struct pf_decomposition *decomposition = pf_table_find(&pf_decompositions, name);
    return decomposition ? decomposition->dimensions : 0;
}

const char *pencilfft_error_message(void)
{
    return pf_message();
}

static int is_phase(pencilfft_plan plan, int phase)
{
    return plan && phase >= 0 && phase < plan->phases.n;
}

const char *pencilfft_phase_name(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? plan->phases.phase[phase].name : NULL;
}

int pencilfft_phase_kind(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? (int)plan->phases.phase[phase].kind : -1;
}

int pencilfft_phase_seconds(pencilfft_plan plan, double *seconds)
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_phase_seconds: null plan or result");
    for (int i = 0; i < plan->phases.n; i++)
        seconds[i] = plan->phases.phase[i].kind == PENCILFFT_TOTAL ? plan->clock.total : plan->clock.seconds[i];
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
    const struct pf_line *own = &plan->transform.line[axis];
    bool numbered = own->kind == PF_R2R;
    *line = (pencilfft_line){kind_of(own), numbered ? own->cosine_kind + own->sine_kind : 0};
    return PENCILFFT_OK;
}
