/* The passes of a plan, and FFTW's plans in their place. */
#pragma once

#include "handle/plan.h"

/* ---- passes.c ------------------------------------------------------------------------------------------------------ */

/* Makes them in one direction; transfers, joints and work buffers are there. in and out are overwritten. */
int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out);
/* Is pass i one of all routes? And is it run lane by lane, or once? */
bool pf_pass_is_shared(const struct pencilfft_plan_s *plan, int backward, int i);
bool pf_pass_runs_by_lanes(const struct pencilfft_plan_s *plan, int backward, int i);

/* ---- whole.c ------------------------------------------------------------------------------------------------------- */

/* How many pairs of arrays the array of a single rank may be transformed with by FFTW's plans for several axes: none, two
 * arrays, or then also one for both. Sets the stages. */
int pf_whole_cases(pencilfft_plan plan, int backward, const void *in, void *out);
/* FFTW's plans for runs with these arrays, if it has them. in and out are overwritten. */
int pf_whole_plan(pencilfft_plan plan, int backward, const void *in, void *out);
/* Runs them, if they are there. The clock runs. */
bool pf_whole_run(pencilfft_plan plan, int backward, const void *in, void *out);
/* The plans for runs with two arrays, or with one for both; and all. */
void pf_whole_drop(const struct pencilfft_plan_s *plan, struct pf_whole *whole, bool same);
void pf_whole_release(const struct pencilfft_plan_s *plan, struct pf_whole *whole);
