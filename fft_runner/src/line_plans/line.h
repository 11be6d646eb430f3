/* Plans for distributed lines: the steps of an algorithm with their data on this rank; and for bricks on which distributed
 * lines run directly, a plan for the lines of every axis. */
#pragma once

#include "exchange/line_move.h"
#include "exchange/messages.h"
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
    int exchanges, step_of[PF_LINE_STEPS], phases;
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

/* Steps first..first+count-1, from an array of the points to another. Their backward transform begins with the last. */
int pf_line_run(pencilfft_line_plan plan, int backward, int first, int count, const void *in, void *out);

/* The steps of a descriptor on so many ranks. Local. */
int pf_line_plan_steps(const pencilfft_line_desc *desc, int ranks, struct pf_line_steps *steps);

/* The checks before any transform; `plan` is null without a plan. in and out must be the same buffer, or two that share no
 * memory, and known buffers must be long enough: bytes_on tells the bytes before (0) and after (1) a forward transform. */
int pf_line_check_call(const char *function, const struct pf_handle *plan, pencilfft_direction direction, const void *in,
                       const void *out, int64_t (*bytes_on)(const void *plan, int after, int rank));

/* ---- bricks ----------------------------------------------------------------------------------------------------------- */

enum {
    PF_BRICK_EXCHANGES = 3 * PF_LINE_STEPS,
    PF_BRICK_PHASES = 3 * (3 + 3 * PF_LINE_STEPS) + 1,
    PF_BRICK_NAME = 40,
    PF_UNKNOWN_PHASE = -1
};

struct pf_brick_axis {
    int64_t n;
    int ranks, position; /* size of the group, own position */
    int apart; /* of neighbours, as ranks of the plan */
    struct pf_line_layout ends[2]; /* of a line, before and after a forward transform */
    MPI_Comm group; /* of the ranks that share its lines */
    pencilfft_line_plan lines; /* NULL: the axis has one point */
    int64_t count; /* of its lines on this rank; may be 0 */
    int exchanges, first_exchange;
    int turn_phase, fft_phase; /* of packing; unpacking is the next. The phases of the exchanges follow fft_phase */
};

struct pencilfft_brick_lines_s {
    PF_HANDLE;
    int fields;
    size_t element_bytes;
    struct pf_brick_axis axis[3];
    int64_t elements;
    void *raw[2], *turned,
        *between; /* aligned, in `raw`; for a brick transposed for its lines; NULL if in and out suffice */
    int exchanges, phases;
    char exchange[PF_BRICK_EXCHANGES][PF_BRICK_NAME], phase[PF_BRICK_PHASES][PF_BRICK_NAME];
    double seconds[PF_BRICK_PHASES], last;
};

/* Points along an axis of the rank at a position of the axis, before (0) or after (1) a forward transform. */
int64_t pf_brick_points(const struct pencilfft_brick_lines_s *plan, int axis, int after, int position);
/* Bytes of the brick of a rank, all fields, before or after a forward transform. */
int64_t pf_brick_bytes(const struct pencilfft_brick_lines_s *plan, int after, int rank);
/* Points of this rank along the three axes while an axis is transformed, along that axis before or after the transform. */
void pf_brick_extent(const struct pencilfft_brick_lines_s *plan, int axis, int after, int64_t extent[3]);
