/* Calls between the files of the room, and for the bindings. */
#pragma once

#include "handle/plan.h"

/* Questions to a plan that other files here ask too. */

/* Number of an array, 0 for the input of a forward transform; -1 if there is no such array. */
int pf_array_of(const struct pencilfft_plan_s *plan, int array);

/* Collective: PENCILFFT_MISMATCH, with the name of the member, if the ranks gave different descriptors. */
int pf_desc_same(const pencilfft_desc *desc, MPI_Comm comm);
extern const pencilfft_desc pf_desc_defaults;

/* Halos, for the bindings. */

/* pencilfft_halo_create_walls() after checks of the caller, whose status is `given`. Collective. */
int pf_halo_create(pencilfft_plan plan, int given, int array, const int64_t low[3], const int64_t high[3], const char *walls,
                   pencilfft_halo *halo);
MPI_Comm pf_halo_comm(pencilfft_halo halo);
