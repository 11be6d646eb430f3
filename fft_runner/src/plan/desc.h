#pragma once

#include "pencilfft.h"

/* Collective: PENCILFFT_MISMATCH, and which member it is, where the ranks gave different descriptors. */
int pf_desc_same(const pencilfft_desc *desc, MPI_Comm comm);
