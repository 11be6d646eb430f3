#ifndef PF_LINE_FFT_H
#define PF_LINE_FFT_H

#include <fftw3.h>

#include "names.h"
#include "pencilfft.h"

struct pf_rigor {
    const char *name;
    unsigned flag;
};
extern const struct pf_table pf_rigors;

/* Plan of the 1D FFTs of a box along one axis; the axis has stride 1 and the rest lies densely behind it.
 * The plan may be run on other arrays that are aligned alike and are in place alike. Arrays are overwritten. */
struct pf_lines {
    const pencilfft_box *box;
    int axis;
    pencilfft_direction direction;
    const struct pf_rigor *rigor;
    int fields; /* lie behind each other */
    void *in, *out;
};
int pf_lines_plan(const struct pf_lines *lines, fftw_plan *plan);

#endif
