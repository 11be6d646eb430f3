/* The passes of a plan, and FFTW's plans in their place. */
#pragma once

#include "handle/plan.h"

/* ---- passes.c ------------------------------------------------------------------------------------------------------ */

/* Makes the passes in one direction; transfers, joints and work buffers exist. in and out are overwritten. */
int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out);
/* Whether pass i belongs to all routes, and whether pass i runs lane by lane. */
bool pf_pass_is_shared(const struct pencilfft_plan_s *plan, int backward, int i);
bool pf_pass_runs_by_lanes(const struct pencilfft_plan_s *plan, int backward, int i);

/* ---- whole.c ------------------------------------------------------------------------------------------------------- */

/* The cases for FFTW's plans for several axes on a single rank: no pair of arrays (0), two arrays (1), or a single array too
 * (2). Sets the stages. */
int pf_whole_cases(pencilfft_plan plan, int backward, const void *in, void *out);
/* FFTW's plans for runs with these arrays, if there are any. in and out are overwritten. */
int pf_whole_plan(pencilfft_plan plan, int backward, const void *in, void *out);
/* Runs FFTW's plans, if there are any. The clock runs. */
bool pf_whole_run(pencilfft_plan plan, int backward, const void *in, void *out);
/* Drop the plans for runs with two arrays, or with a single array; and all plans. */
void pf_whole_drop(const struct pencilfft_plan_s *plan, struct pf_whole *whole, bool same);
void pf_whole_release(const struct pencilfft_plan_s *plan, struct pf_whole *whole);
