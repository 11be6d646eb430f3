/* Traffic of each rank: totals per rank for the record, and the byte matrix as a file for mapping tools. */
#pragma once

#include <stdint.h>

#include "verify.h"

/* On rank 0 of the grid, by exchange and rank; a rank's own part is not counted. */
struct traffic {
    int ranks, exchanges;
    int number[MOST_MOVES]; /* of the exchange or remap, in the order of a forward transform */
    int64_t *bytes[MOST_MOVES], *messages[MOST_MOVES];
};

/* Collective; fails on all or none. */
int traffic_gather(const struct problem *problem, struct traffic *traffic);
void traffic_release(struct traffic *traffic);

/* "FILE", or "row=FILE" with the name of an exchange: all exchanges of a transform, or only this exchange. A name that ends
 * in .grf gives a Scotch graph (undirected; edge load: bytes in both directions); any other gives P lines of P numbers, line
 * i for the bytes from rank i, the format of TreeMatch and TopoMatch. Collective; fails on all or none. */
int traffic_write_matrix(const struct problem *problem, const char *request);
