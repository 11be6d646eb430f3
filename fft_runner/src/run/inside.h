/* Calls between the files of the room. */
#pragma once

#include "run/run.h"

/* ---- steps.c ------------------------------------------------------------------------------------------------------- */

/* The steps of execute: the transform in one direction, and each of its exchanges alone. Passes and transfers exist. */
int pf_steps_make(pencilfft_plan plan, int backward);
/* And both directions at once, if the plan runs pairs. */
int pf_steps_pair(pencilfft_plan plan);
void pf_steps_release(struct pf_steps *steps);

/* ---- whole_trial.c --------------------------------------------------------------------------------------------------- */

/* FFTW's plans for several axes, if faster in a trial than the existing steps. in and out are overwritten. */
int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out);
