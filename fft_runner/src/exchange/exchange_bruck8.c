/* Transpose by few large messages that carry the blocks of many ranks, of radix 8.
 * Idea:  bruck.c.
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in
 *         multiport message-passing systems, 1997; FFTW's recursive transposes are of the same kind.
 * Cost:  log8 p rounds of seven messages; every block travels 7/8 log8(p) times on average.
 * Needs: no condition on p or on the extents; memory for up to three times what is sent. */
#include "exchange/bruck.h"

PF_BRUCK(8);
