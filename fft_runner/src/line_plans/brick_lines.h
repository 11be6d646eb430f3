/* A plan for bricks on which distributed lines run directly: a plan for the lines of every axis. */
#pragma once

#include "line_plans/line.h"

enum {
    PF_BRICK_EXCHANGES = 3 * PF_LINE_STEPS,
    PF_BRICK_PHASES = 3 * (3 + 3 * PF_LINE_STEPS) + 1,
    PF_BRICK_NAME = 40,
    PF_UNKNOWN_PHASE = -1
};

struct pf_brick_axis {
    int64_t n;
    int ranks, position; /* size of the group, own position */
    int apart;           /* of neighbours, as ranks of the plan */
    struct pf_line_layout ends[2]; /* of a line, before and after a forward transform */
    MPI_Comm group;            /* of the ranks that share its lines */
    pencilfft_line_plan lines; /* NULL: the axis has one point */
    int64_t count;       /* of its lines on this rank; may be 0 */
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
