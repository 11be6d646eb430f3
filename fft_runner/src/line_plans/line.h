/* A plan for distributed lines: the steps of its algorithm with their data on this rank. */
#pragma once

#include "exchange/line_move.h"
#include "exchange/sync.h"
#include "handle/given.h"
#include "handle/handle.h"
#include "lines/complex_calls.h"
#include "lines/distributed.h"
#include "lines/line_fft.h"
#include "pencilfft_line.h"

enum { PF_LINE_PHASES = 2 + 3 * PF_LINE_STEPS, PF_LINE_PHASE_NAME = 32 };

struct pf_line_work {
    struct pf_line_move move;
    struct pf_line_meet meet;
    double complex *root; /* of each member, for a PF_LINE_MEET */
    void *weights;        /* of each point of a line */
    struct pf_lines fft[2]; /* forward and backward */
    int exchange; /* its number; -1 for none */
};

struct pencilfft_line_plan_s {
    PF_HANDLE;
    int64_t lines;
    const struct pf_precision *precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;
    const struct pf_complex *numbers;
    struct pf_line_steps steps;
    struct pf_line_work work[PF_LINE_STEPS];
    int exchanges, step_of[PF_LINE_STEPS];
    void *raw[4], *buffer[2], *sent, *received; /* aligned, in `raw` */
    char phase[PF_LINE_PHASES][PF_LINE_PHASE_NAME];
    double seconds[PF_LINE_PHASES], last;
};

/* Points that this rank holds before (0) or after (1) a step. */
static inline int64_t pf_line_held(const struct pencilfft_line_plan_s *plan, int step, int after)
{
    const struct pf_line_step *s = &plan->steps.step[step];
    return pf_line_points(after ? &s->to : &s->from, plan->rank);
}

/* Complex numbers that a buffer of the caller must hold on this rank. */
int64_t pf_line_elements(const struct pencilfft_line_plan_s *plan);
/* Steps first..first+count-1, from an array of the points to another. Their backward transform begins with the last. */
int pf_line_run(pencilfft_line_plan plan, int backward, int first, int count, const void *in, void *out);

/* The steps of a descriptor on so many ranks. Local. */
int pf_line_plan_steps(const pencilfft_line_desc *desc, int ranks, struct pf_line_steps *steps);

/* Checks that any transform needs, while MPI runs; `all` is null without a plan. */
int pf_line_may_run(const char *function, MPI_Comm all, pencilfft_direction direction, const void *in, const void *out);
/* Checks that in and out are the same buffer, or two that share no memory, and that known buffers are long enough. */
int pf_line_check_arrays(const struct pf_wanted array[2], const struct pf_handle *plan);
