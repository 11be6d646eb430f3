#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "geometry/geometry.h"
#include "lines/fftw_calls.h"

/* The transform along an axis. */
struct pf_line {
    enum pf_line_kind kind;
    int r2r[2];      /* FFTW's kinds, forward and backward, for PF_R2R */
    int cosine_kind; /* 1..4; 0 for other transforms */
    int sine_kind;
};

/* A plan's transform: the line transforms along x, y and z, and the element types of both sides. */
struct pf_transform {
    const struct pf_axes *axes; /* of the caller */
    struct pf_line line[3];
    bool real_input;    /* the forward input is real */
    bool real_output;   /* the forward output is real, and so are all arrays between */
    int64_t n[3];       /* extents without padding */
    int64_t points[3];  /* extents of the forward input, the lengths of the lines */
    int64_t modes[3];   /* extents of the forward output */
    double scale;       /* backward after forward gives this times the input */
};

extern const struct pf_table pf_types, pf_line_kinds;
int pf_transform_make(const pencilfft_desc *desc, struct pf_transform *transform);
