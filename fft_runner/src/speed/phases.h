/* The stop-watch of a plan: time goes to the phase that just ended. */
#ifndef PF_PHASES_H
#define PF_PHASES_H

#include "pencilfft.h"

struct pf_clock {
    double seconds[PENCILFFT_N_PHASES];
    double started, last, unaccounted;
};

void pf_clock_start(struct pf_clock *clock);
void pf_clock_lap(struct pf_clock *clock, pencilfft_phase phase); /* time since the last call belongs to phase */
void pf_clock_wait(struct pf_clock *clock, pencilfft_phase phase); /* ... but not to the total */
void pf_clock_stop(struct pf_clock *clock);                       /* writes the total */

#endif
