/* Calls between the files of the room. */
#pragma once

#include "run/run.h"

/* ---- steps.c ------------------------------------------------------------------------------------------------------- */

/* The steps of execute: the transform in one direction, and each of its exchanges alone. Passes and transfers exist. */
int pf_steps_make(pencilfft_plan plan, int backward);
/* And both directions at once, if the plan runs pairs. */
int pf_steps_pair(pencilfft_plan plan);
void pf_steps_release(struct pf_steps *steps);

/* ---- arrays.c ------------------------------------------------------------------------------------------------------- */

/* The two arrays of a call. */
struct pf_call {
    pencilfft_plan plan;
    int array[2]; /* numbers of in and out */
    const void *in;
    void *out;
    int64_t bytes[2]; /* of the arrays; of the longer one if both are the same memory */
    bool is_full[2];  /* as long as buffers of pencilfft_alloc() */
};

struct pf_call pf_call_of(pencilfft_plan plan, int in_array, const void *in, int out_array, void *out);
/* Refuses arrays that overlap, and buffers of pencilfft_alloc() that are too short. */
int pf_call_check(const char *function, const struct pf_call *call);
bool pf_calls_meet(const struct pf_call *one, const struct pf_call *other);
/* Sets is_full. `other` has more arrays that must not be written; NULL: none. */
void pf_call_find_room(struct pf_call *call, const struct pf_call *other);
/* The arrays of a run with messages of so many bytes in output and input. */
int pf_room_get(const struct pf_call *call, int64_t room_bytes, int64_t work_bytes, struct pf_arrays *arrays);
/* The place of the array between a remap and the transform: the output, if it is long enough. */
int pf_inner_get(const struct pf_call *call, int64_t bytes, void **inner);

/* ---- execute.c ------------------------------------------------------------------------------------------------------ */

/* The legs of a run: none; a transform with the remaps at its ends; an exchange or remap alone; a transform in each
 * direction. */
void pf_legs_begin(pencilfft_plan plan);
int pf_legs_transform(const struct pf_call *call, int backward);
int pf_legs_exchange(const struct pf_call *call, int exchange, int backward);
int pf_legs_pair(const struct pf_call call[2]);
/* Runs the steps that are left, or those before the first wait; or all, and stops the clock. */
int pf_legs_go_on(pencilfft_plan plan, bool waits);
int pf_legs_run(pencilfft_plan plan);

/* ---- whole_trial.c --------------------------------------------------------------------------------------------------- */

/* FFTW's plans for several axes, if faster in a trial than the existing steps. in and out are overwritten. */
int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out);
