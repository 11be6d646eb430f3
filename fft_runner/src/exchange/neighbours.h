/* The halo of a box, filled from the owners of its elements, and in reverse: added to the owners' elements. */
#pragma once

#include "exchange/communicators.h"
#include "exchange/message_counts.h"
#include "geometry/geometry.h"

struct pf_neighbours;

struct pf_neighbours_request {
    struct pf_communicators *communicators;
    int ranks, me;
    const struct pf_geometry *geometry; /* gives the memory order */
    int array;
    int64_t n[3];
    const pencilfft_box *boxes; /* of all ranks */
    int64_t low[3], high[3];    /* planes of the halo, along each axis at most n */
    int fields;
    int threads; /* that may share copies */
    size_t element_bytes, real_bytes;
};

/* Collective; fails on all ranks or on none. Keeps nothing of the request but the communicators. */
int pf_neighbours_make(const struct pf_neighbours_request *request, struct pf_neighbours **neighbours);
int pf_neighbours_release(struct pf_neighbours *neighbours);
MPI_Comm pf_neighbours_comm(const struct pf_neighbours *neighbours);
/* My box with its halo, dense, in the memory order of the array. */
const pencilfft_box *pf_neighbours_box(const struct pf_neighbours *neighbours);

/* `array` is a dense box, `padded` a box with halo; NULL as array: the inner part of `padded`. Collective. */
int pf_neighbours_fill(struct pf_neighbours *neighbours, const void *array, void *padded);
int pf_neighbours_add(struct pf_neighbours *neighbours, void *padded, void *array);

/* Bytes and messages from this rank to each rank, of all fields; adding sends the data that filling receives. */
void pf_neighbours_sent(const struct pf_neighbours *neighbours, bool adding, int64_t *bytes, int64_t *messages);
