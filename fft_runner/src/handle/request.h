/* The request of a plan: its descriptor, with names looked up, and numbers as this rank takes them. */
#pragma once

#include "exchange/exchange.h"
#include "handle/handle.h"
#include "lines/line_fft.h"

struct pf_plan_request {
    int directions, fields;
    bool interleaved; /* the fields are nearest in the caller's arrays: A[x][y][z][field] */
    int threads; /* that share the work of this rank, the same number on all ranks */
    bool destroys_input; /* allowed if in and out differ */
    bool nonblocking; /* runs may be started: each exchange returns at once, on communicators of the plan */
    bool caller_work; /* the caller is to give the work buffers */
    bool open_grid; /* "auto" chooses the grid */
    bool any_schedule; /* not requested: "auto" chooses */
    pencilfft_norm norm[PF_DIRECTIONS]; /* of the next transforms */
    int bricks[3]; /* along the caller's x, y and z; 0 without bricks */
    const struct pf_exchange *exchange;
    const struct pf_precision *precision, *exchange_precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;
};
