/* The transform along each axis, as a caller sees it. */
#include "common/failure.h"
#include "plan/plan.h"

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
