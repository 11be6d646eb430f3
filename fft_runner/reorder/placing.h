/* Placements: the place of every grid rank. Knows no MPI. */
#pragma once

#include "common/mapfile.h"

/* The placing named in a struct pm_request; a place_ranks of common/seating.h. */
int pm_place_ranks(const void *request, const struct torus *torus, int tasks_per_node, int ranks, struct placing *placing);
