#ifndef PF_PENCILS_H
#define PF_PENCILS_H

#include "common/names.h"
#include "pencilfft.h"

/* In which memory order each pencil is kept, by pencil: axes from slowest to fastest. */
struct pf_layout {
    const char *name;
    int order[3][3];
};
extern const struct pf_table pf_layouts;

/* Extents, process grid and layout; all that decides which rank holds what, and where. */
struct pf_geometry {
    int64_t n[3];
    int R, C;
    const struct pf_layout *layout; /* NULL: the first of the table */
};

/* The three pencils hold as many elements of the array as a double counts exactly, so that an index is a value. */
#define PF_MAX_ELEMENTS ((int64_t)1 << 53)

int pf_geometry_check(const struct pf_geometry *geometry, int ranks);
pencilfft_box pf_pencil_box(const struct pf_geometry *geometry, pencilfft_pencil pencil, int rank);
int64_t pf_box_elements(const pencilfft_box *box);
/* Common part of two boxes; its strides are those of `of`. */
pencilfft_box pf_box_common(const pencilfft_box *of, const pencilfft_box *with);
/* Local element of a box at which its part `part` begins. */
int64_t pf_box_start(const pencilfft_box *box, const pencilfft_box *part);

#endif
