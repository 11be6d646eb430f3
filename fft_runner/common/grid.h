/* Process grids as text: "RxC" of pencils, "P" of slabs, "PxQxS" of bricks. The first dimension varies fastest
 * with the rank. */
#pragma once

enum { MAX_GRID_DIMS = 3, GRID_TEXT = 36 };

struct grid {
    int dims;
    int extent[MAX_GRID_DIMS];
    const char *letters; /* of the dimensions, in digit patterns: rows and columns, slabs, axes of bricks */
};

/* 0, or a failure without a message: the caller knows the purpose of the grid. */
int grid_parse(const char *text, struct grid *grid);
void grid_text(const struct grid *grid, char text[GRID_TEXT]);
