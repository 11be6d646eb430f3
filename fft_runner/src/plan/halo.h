/* Halos, for the bindings. */
#pragma once

#include "pencilfft.h"

/* pencilfft_halo_create() after checks of the caller, whose status is `given`. Collective. */
int pf_halo_create(pencilfft_plan plan, int given, int array, const int64_t low[3], const int64_t high[3],
                   pencilfft_halo *halo);
MPI_Comm pf_halo_comm(pencilfft_halo halo);
