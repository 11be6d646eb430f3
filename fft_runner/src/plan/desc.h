#pragma once

#include "pencilfft.h"

/* Collective: PENCILFFT_MISMATCH, with the name of the member, if the ranks gave different descriptors. */
int pf_desc_same(const pencilfft_desc *desc, MPI_Comm comm);
extern const pencilfft_desc pf_desc_defaults;
