/* Windows: what a rank sent between two collectives in which all ranks wait for each other, or two calls of MPI_Pcontrol.
 *
 * Idea:  total bytes hide that exchanges follow one another. Windows in which a rank talks to the same partners in the same
 *        communicators are of one kind and are added up, so memory does not grow with time. The kinds of all windows are
 *        kept in order; at the end the ranks agree on phases: windows that are of one kind on every rank. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pairs.h"

/* REST has the windows of further kinds, LATE the windows after the last that is kept in order. */
enum { REST, LATE, MOST_KINDS = 128, MOST_WINDOWS = 1 << 20 };

struct window_kind {
    uint64_t signature; /* equal for windows with the same partners */
    uint64_t windows;
    double seconds;
    struct pairs pairs;
};

void window_add(uint64_t key, uint64_t bytes, uint64_t messages);

/* End the window, at a collective that ends it or at the end of the program. MPI_Pcontrol may have switched that off. */
void window_synchronised(void);
void window_close(void);

/* MPI_Pcontrol(level), level >= 2: what follows belongs to the phase of this level, and collectives end no more windows. */
void window_level(int level);

/* What the window that is not ended has so far. */
const struct pairs *window_open(void);

const struct window_kind *window_kinds(int *count);

/* The kinds of the windows in order, for all but the LATE ones. */
const uint8_t *window_sequence(size_t *count);

/* The level of a kind, 0 without. */
int window_kind_level(int kind);
