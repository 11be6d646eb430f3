/* The interface of an algorithm for distributed lines: one file distributed_<name>.c, which defines pf_line_<name>, and one
 * line in distributed_table.c. The algorithm lists the steps of a forward transform; line_plans/line.c makes and runs the
 * steps, forward in order, backward in reverse by adjoints. This is the unnormalised inverse. */
#pragma once

#include <stdbool.h>

#include "common/complex_value.h"
#include "common/names.h"
#include "geometry/line_layout.h"

enum pf_line_step_kind {
    PF_LINE_MOVE, /* an all-to-all: each point goes to the rank with its label in `to`; labels missing in `from` are 0 */
    PF_LINE_FFT, /* of every run of `length` points in memory */
    PF_LINE_SCALE, /* each point by its weight */
    PF_LINE_MEET, /* a rank's block with the blocks of its group: `radix` ranks `apart` from each other */
    PF_LINE_WHOLE /* all ranks gather the line, and transform the line for their own block */
};

struct pf_line_step {
    enum pf_line_step_kind kind;
    char name[24]; /* of an exchange; empty for none */
    struct pf_line_layout from, to; /* the same if nothing moves */
    bool backward; /* computes the adjoint */
    int64_t length;
    int radix, apart;
    bool scatter; /* of MEET and WHOLE: other ranks get and add products; else they get and multiply blocks */
    /* The weight of the point with that label on that rank. */
    double complex (*weight)(const struct pf_line_step *step, int rank, int64_t label);
    int filter_steps; /* above 0: so many preceding steps first transform the weights */
};

enum { PF_LINE_STEPS = 48 };

struct pf_line_steps {
    int64_t n;
    int ranks;
    int order; /* enum pf_line_wish */
    int count;
    struct pf_line_step step[PF_LINE_STEPS];
    struct pf_line_layout from, to; /* the next step begins at from, too */
};

enum pf_line_wish { PF_WISH_NATURAL, PF_WISH_TRANSPOSED, PF_WISH_TRANSPOSED_BOTH };

struct pf_line_algorithm {
    const char *name;
    /* Appends the steps for n points on so many ranks. Returns a status. */
    int (*plan)(struct pf_line_steps *steps);
};

extern const struct pf_table pf_line_algorithms; /* of pointers */

/* exp(-2 pi i of/n), for 0 <= of < n. */
double complex pf_root(int64_t of, int64_t n);

struct pf_line_layout pf_line_blocks(const struct pf_line_steps *steps);
/* The next step; its data move from the current layout to `to`. */
struct pf_line_step *pf_line_add(struct pf_line_steps *steps, enum pf_line_step_kind kind, const struct pf_line_layout *to);
void pf_line_add_move(struct pf_line_steps *steps, const char *name, const struct pf_line_layout *to);
void pf_line_add_fft(struct pf_line_steps *steps, int64_t length);
/* From here on the points of `from` have other labels. */
void pf_line_rename(struct pf_line_steps *steps, const struct pf_line_layout *layout);
/* The stages of a binary exchange over these factors of the ranks, the last first, and the FFT on each rank. P divides n. */
void pf_line_add_stages(struct pf_line_steps *steps, int factors, const int *factor);
/* The same with a radix; refused if P does not divide n. */
int pf_line_binary(struct pf_line_steps *steps, int radix);
