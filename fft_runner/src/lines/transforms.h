#ifndef PF_TRANSFORMS_H
#define PF_TRANSFORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lines/fftw_calls.h"
#include "pencilfft.h"

/* What is done along one axis. */
struct pf_line {
    enum pf_line_kind kind;
    int r2r[2];      /* FFTW's kinds, forward and backward, for PF_R2R */
    int cosine_kind; /* 1..4; 0 when it is no cosine transform */
    int sine_kind;
};

/* A plan's transform: what is done along x, y and z, and of what the two sides consist. */
struct pf_transform {
    struct pf_line line[3];
    bool real_input;    /* what forward takes is real */
    bool real_output;   /* ... gives is real, and so is all between */
    int64_t input_nz;   /* extents of what forward takes; x and y are the same on both sides */
    int64_t output_nz;
    double scale;       /* backward after forward gives this times the input */
};

extern const struct pf_table pf_types;
int pf_transform_make(const pencilfft_desc *desc, struct pf_transform *transform);

#endif
