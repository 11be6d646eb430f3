/* Lattice tilings. The groups of one dimension of the grid are the cosets of a lattice, the groups of the other are the
 * copies of a tile. */
#pragma once

#include "common/grid.h"
#include "common/mapfile.h"

/* Set the places of `p` from a text, for example "c=1.2.0/0.5.0/0.0.1,tile=0.5.1". It has the rows of the lattice's Hermite
 * normal form, whose columns are the dimensions and the slots, and the places of the tile as node + N * slot. A status. */
int tiling_place(const char *text, const struct torus *torus, const struct grid *grid, int tasks, struct placing *p);
