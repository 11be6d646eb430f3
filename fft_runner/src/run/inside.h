/* Calls between the files of the room. */
#pragma once

#include "run/run.h"

/* ---- steps.c ------------------------------------------------------------------------------------------------------- */

/* What execute is to do: the transform in one direction, and each of its exchanges alone. Passes and transfers are there. */
int pf_steps_make(pencilfft_plan plan, int backward);
/* And both directions at once, where the plan runs them so. */
int pf_steps_pair(pencilfft_plan plan);
void pf_steps_release(struct pf_steps *steps);

/* ---- whole_trial.c --------------------------------------------------------------------------------------------------- */

/* FFTW's plans for several axes where a trial finds them faster than the steps, which are there. in and out are
 * overwritten. */
int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out);
