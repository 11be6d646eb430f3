/* Phases: windows that are of one kind on every rank, as all ranks agree at the end. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#include "windows.h"

enum { MOST_PHASES = 64 }; /* the last has what is left, if there are more */

struct phases {
    int count;
    bool alike;    /* false: the ranks had different numbers of windows, so there is a single phase */
    bool has_rest; /* the last phase has different windows */
    uint64_t windows[MOST_PHASES];
    uint64_t of_kind[MOST_KINDS][MOST_PHASES]; /* windows of each kind of this rank */
};

/* Collective; return false without memory or if MPI fails, on this rank. */
bool phases_agree(struct phases *phases, MPI_Comm comm);

/* The part of an amount of a kind that belongs to a phase with `own` of all its windows, `before` of which are in earlier
 * phases. The parts of all phases have the amount as sum. */
uint64_t phase_share(uint64_t amount, uint64_t before, uint64_t own, uint64_t all);
