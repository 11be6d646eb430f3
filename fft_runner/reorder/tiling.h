/* Lattice tilings: groups of a dimension of the grid are the cosets of a lattice, groups of the other the moves of a
 * tile. */
#pragma once

#include "common/grid.h"
#include "common/mapfile.h"

/* Fill in the places of `p` from "c=1.2.0/0.5.0/0.0.1,tile=0.5.1": the rows of the lattice's Hermite normal form in
 * dimensions and slots, and the tile as node + N * slot. A status. */
int tiling_place(const char *text, const struct torus *torus, const struct grid *grid, int tasks, struct placing *p);
