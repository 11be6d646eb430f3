/* Torus text, coordinates and places. A place is a node and a slot in it; places are numbered slots first, then x,
 * y, z: place = node * tasks_per_node + slot, node = x + nx * (y + ny * z). No MPI, no files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_DIMS = 8, COORDINATE_TEXT = 128, MAX_ORDER_DIGITS = 64 };

/* Most launchers fill a node before the next node. */
#define USUAL_ORDER "tn"

struct torus {
    int dims;
    int extent[MAX_DIMS];
    bool wrapped[MAX_DIMS];
    char letter[MAX_DIMS + 2]; /* of each axis, then t for the slots */
};

struct coordinate {
    int dims;
    int at[MAX_DIMS];
};

/* "8x8x8" (all wrapped), "8x8x8:mesh" (none), "8wx8x4w" (axes with w), and then ":axes=xyz" if the axes have other letters
 * than xyz (abcdefgh beyond three dimensions). A status. */
int torus_parse(const char *text, struct torus *torus);
int64_t torus_nodes(const struct torus *torus);
/* First dimension in which the coordinate is outside; -1 if it is inside. */
int torus_outside(const struct torus *torus, const struct coordinate *coordinate);
int64_t torus_node(const struct torus *torus, const struct coordinate *coordinate);
struct coordinate torus_coordinate(const struct torus *torus, int64_t node);
/* Dimension of that letter; torus->dims for t, the slots; -1 if there is none. */
int torus_axis(const struct torus *torus, char letter);
void torus_text(const struct torus *torus, char text[COORDINATE_TEXT]); /* 8x8x8 */
void coordinate_text(const struct coordinate *coordinate, char text[COORDINATE_TEXT]); /* (4, 0, 2) */

/* The order in which ranks fill the places, as digits: the first digit counts fastest. */
struct fill_order {
    int digits;
    struct order_digit {
        int64_t count, stride; /* steps, and places per step */
    } digit[MAX_ORDER_DIGITS];
};

/* Letters of the axes and t, fastest first: xyzt, tzyx, ...; tn and nt are the nodes in the order of their numbers with the
 * slots first or last. A number limits a letter to so many steps, and the rest follows later: t2nt, tx2y2xyz. NULL and ""
 * stand for USUAL_ORDER. A status. */
int torus_order(const struct torus *torus, int tasks_per_node, const char *order, struct fill_order *fill);
/* The place that comes i-th in that order. */
int64_t order_place(const struct fill_order *fill, int64_t i);
/* Tasks per node: as requested, or as few as hold all if the request is 0. A status if the processes do not fit. */
int torus_fit(const struct torus *torus, int processes, int asked, int *tasks_per_node);

#ifdef __cplusplus
}
#endif
