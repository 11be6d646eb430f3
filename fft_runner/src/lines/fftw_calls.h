/* FFTW in one of its precisions, as a table of functions: fftw_calls.c has the same text (fftw_calls_body.h) for `fftw_` and
 * `fftwf_`. In addition, exchange_fftw.c calls FFTW's MPI library, and choose/wisdom.c keeps its wisdom. */
#pragma once

#include <fftw3.h>
#include <stddef.h>

#include "common/names.h"

enum pf_line_kind { PF_SKIP, PF_DFT, PF_R2C, PF_R2R };

enum { PF_MANY = 3, PF_MOST_AXES = 3 };

/* Lines to transform, or arrays of two or three axes, the last of which is the halved axis. Strides count FFTW's elements,
 * complex or real, separately on each side. */
struct pf_line_shape {
    enum pf_line_kind kind;
    int backward;
    int rank; /* number of axes */
    int r2r[PF_MOST_AXES]; /* an fftw_r2r_kind */
    fftw_iodim64 line[PF_MOST_AXES], many[PF_MANY];
    unsigned flags;
};

struct pf_fftw {
    size_t real_bytes;
    void *(*plan)(const struct pf_line_shape *shape, void *in, void *out);
    void (*execute)(const struct pf_line_shape *shape, void *plan, void *in, void *out);
    void (*destroy)(void *plan);
};

extern const struct pf_fftw pf_fftw_double, pf_fftw_single;
extern const struct pf_table pf_precisions; /* rows are `const struct pf_precision` */

struct pf_precision {
    const char *name;
    const struct pf_fftw *fftw;
};
