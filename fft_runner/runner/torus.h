/* Torus text, coordinates and places. A place is a node and a slot in it; places are numbered slots first, then x,
 * y, z: place = node * tasks_per_node + slot, node = x + nx * (y + ny * z). Knows no MPI. */
#ifndef RUNNER_TORUS_H
#define RUNNER_TORUS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_DIMS = 8, COORDINATE_TEXT = 128 };

struct torus {
    int dims;
    int extent[MAX_DIMS];
    bool wrapped[MAX_DIMS];
};

struct coordinate {
    int dims;
    int at[MAX_DIMS];
};

/* "8x8x8" (all wrapped), "8x8x8:mesh" (none), "8wx8x4w" (those with w). A status. */
int torus_parse(const char *text, struct torus *torus);
int64_t torus_nodes(const struct torus *torus);
/* First dimension in which the coordinate is outside; -1 when it is inside. */
int torus_outside(const struct torus *torus, const struct coordinate *coordinate);
int64_t torus_node(const struct torus *torus, const struct coordinate *coordinate);
struct coordinate torus_coordinate(const struct torus *torus, int64_t node);
char torus_letter(int dims, int dim); /* xyz; abcdefgh when there are more than three */
void torus_text(const struct torus *torus, char text[COORDINATE_TEXT]); /* 8x8x8 */
void coordinate_text(const struct coordinate *coordinate, char text[COORDINATE_TEXT]); /* (4, 0, 2) */

#endif
