#pragma once

#include <stdbool.h>

#include "lines/transforms.h"

struct pf_rigor {
    const char *name;
    unsigned flag;
};
extern const struct pf_table pf_rigors;

/* The modes that are kept of a line's transform: `low` modes from the start, and the rest after the skipped modes. */
struct pf_modes {
    int64_t n, low, skipped;
    bool shared; /* the last of the low modes stands for two: n/2 and -n/2, the last of the skipped modes */
};

/* A kind of line transform over blocks of lines that differ only in their number. */
struct pf_lines {
    const struct pf_fftw *fftw;
    struct pf_line line;
    int backward;
    unsigned flags;
    int64_t n;                  /* points of a line, on the real side of r2c */
    struct pf_modes kept;
    int complex_elements;       /* a PF_R2R transform of complex numbers: real and imaginary parts separately */
    int phase;
    struct pf_lines_plan *plans; /* a list, a plan per number of lines seen */
};

/* The place of a block of lines: element strides on both sides, and the number of lines along each other axis. */
struct pf_lines_block {
    void *in, *out;
    int64_t in_stride, out_stride;          /* along a line */
    int64_t count[2], in_step[2], out_step[2]; /* from line to line */
};

/* Make the plan that pf_lines_run() needs for such a block. The arrays are overwritten. */
int pf_lines_plan(struct pf_lines *lines, const struct pf_lines_block *block);
/* Transform. The block's counts and strides must have been planned, with arrays of the same alignment. */
void pf_lines_run(const struct pf_lines *lines, const struct pf_lines_block *block);
void pf_lines_release(struct pf_lines *lines);
