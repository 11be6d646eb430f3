/* Boxes of all ranks, from a file. */
#pragma once

#include "pencilfft.h"

/* Line i has the box of grid rank i: x y z of its first element, then the extents; blank lines and text after a # do not
 * count. Rank 0 reads the file. Collective; fails on all ranks or on none, with the option's name in the message. */
int boxes_read(const char *path, const char *option, MPI_Comm grid, pencilfft_box *mine);
