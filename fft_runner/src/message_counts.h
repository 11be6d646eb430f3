#ifndef PF_MESSAGE_COUNTS_H
#define PF_MESSAGE_COUNTS_H

#include "exchange.h"

/* Message lists in the form MPI's calls take: one row of p numbers per slice, in elements. */
struct pf_counts {
    int *count, *displacement;
};

/* PENCILFFT_TOO_LARGE when a number does not fit an int. Messages with member `without` get count 0 (-1: none). */
int pf_counts_make(const struct pf_messages *messages, int without, struct pf_counts *counts);
void pf_counts_release(struct pf_counts *counts);

#endif
