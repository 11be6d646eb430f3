/* Placements: the place of every grid rank. Knows no MPI. */
#pragma once

#include "common/grid.h"
#include "common/sources.h"

/* The placing named in a struct pm_request; a place_ranks of common/seating.h. */
int pm_place_ranks(const void *request, const struct torus *torus, int tasks_per_node, int ranks, struct placing *placing);

/* The request of a caller of pm_comm_reorder(). No MPI. */
enum { PM_VALUE_SIZE = 4096 };

struct pm_request {
    struct seats_request seats; /* torus, tasks per node, where */
    struct grid grid;
    const char *list; /* the file of a request for any network, in `placement`; NULL: a torus */
    char placement[PM_VALUE_SIZE];
    char where[PM_VALUE_SIZE];
};

/* Read both texts for that many processes. The request must not be moved. A status. */
int pm_request_parse(const char *machine, const char *grid, int processes, struct pm_request *request);

/* Lattice tilings. The groups of one dimension of the grid are the cosets of a lattice, the groups of the other are the
 * copies of a tile. */

/* Set the places of `p` from a text, for example "c=1.2.0/0.5.0/0.0.1,tile=0.5.1". It has the rows of the lattice's Hermite
 * normal form, whose columns are the dimensions and the slots, and the places of the tile as node + N * slot. A status. */
int tiling_place(const char *text, const struct torus *torus, const struct grid *grid, int tasks, struct placing *p);
