/* The 1D FFTs of a pencil, by one FFTW plan.
 * Idea:  the transformed axis is contiguous in its pencil, so all lines are one "many" transform.
 * Source: FFTW's manual, guru interface; its 64-bit form, as a pencil may have more lines than an int counts.
 * Needs: when the plan is run on other arrays they must be aligned like these (fftw_alignment_of) and in place if and
 *        only if these were. Out of place, the input is kept. */
#include "line_fft.h"

#include "failure.h"
#include "pencils.h"

static const struct pf_rigor rows[] = {
    {"estimate", FFTW_ESTIMATE},
    {"measure", FFTW_MEASURE},
    {"patient", FFTW_PATIENT},
};
const struct pf_table pf_rigors = PF_TABLE("rigor", rows);

int pf_lines_plan(const struct pf_lines *lines, fftw_plan *plan)
{
    int64_t n = lines->box->extent[lines->axis];
    fftw_iodim64 line = {.n = n, .is = 1, .os = 1};
    fftw_iodim64 many = {.n = pf_box_elements(lines->box) / n * lines->fields, .is = n, .os = n};
    int sign = lines->direction == PENCILFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD;
    unsigned keep = lines->in == lines->out ? 0 : FFTW_PRESERVE_INPUT;
    *plan = fftw_plan_guru64_dft(1, &line, 1, &many, lines->in, lines->out, sign, lines->rigor->flag | keep);
    if (!*plan)
        return pf_fail(PENCILFFT_FFTW_ERROR, "FFTW made no plan for %lld lines of %lld", (long long)many.n,
                       (long long)n);
    return PENCILFFT_OK;
}
