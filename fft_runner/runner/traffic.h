/* Who sends how much: totals of each rank for the record, and the byte matrix as a file that mapping tools read. */
#ifndef RUNNER_TRAFFIC_H
#define RUNNER_TRAFFIC_H

#include <stdint.h>

#include "verify.h"

/* On rank 0 of the grid, by exchange and rank; what a rank keeps is not counted. */
struct traffic {
    int ranks;
    int64_t *bytes[2], *messages[2];
};

/* Collective; fails on all or none. */
int traffic_gather(const struct problem *problem, struct traffic *traffic);
void traffic_release(struct traffic *traffic);

/* "FILE", "row=FILE" or "column=FILE": both exchanges of a transform together, or one of them. A name that ends in .grf
 * gives a Scotch graph (undirected, edge load: bytes both ways), any other P lines of P numbers, line i what rank i sends,
 * as TreeMatch and TopoMatch read it. Collective; fails on all or none. */
int traffic_write_matrix(const struct problem *problem, const char *request);

#endif
