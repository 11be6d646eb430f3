/* The timed parts of a transform: how many, their names and numbers, from the description of the decomposition. */
#pragma once

#include "geometry/geometry.h"

enum { PF_PHASE_NAME = 32 };

struct pf_phases {
    int n;
    struct {
        char name[PF_PHASE_NAME];
        pencilfft_kind kind;
    } phase[PENCILFFT_MAX_PHASES];
    int fft[3]; /* numbers: of an axis, and of an exchange */
    struct pf_exchange_phases {
        int pack, exchange, unpack, wait, hidden;
    } of[PF_MAX_EXCHANGES], remap[2]; /* before and after a forward transform */
};

extern const char *const pf_remap_names[2];
/* Phases have the letters of the caller's axes; a third axis that is not there has none. `remapped` tells whether there is a
 * remap before and after the transform. */
void pf_phases_make(const struct pf_decomposition *decomposition, const struct pf_axes *axes, const bool remapped[2],
                    struct pf_phases *phases);
