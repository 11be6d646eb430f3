/* The table of decompositions. */
#include "geometry/decomposition.h"

#define DECOMPOSITIONS(X) \
    X(pencil)             \
    X(slab)               \
    X(brick)

#define DECLARE(name) extern const struct pf_decomposition pf_decomposition_##name;
DECOMPOSITIONS(DECLARE)

#define ADDRESS(name) &pf_decomposition_##name,
static const struct pf_decomposition *const rows[] = {DECOMPOSITIONS(ADDRESS)};
const struct pf_table pf_decompositions = PF_TABLE_OF_POINTERS("decomposition", rows);
