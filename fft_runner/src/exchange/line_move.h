/* Moves between the steps of a distributed line: all points to another layout, or whole blocks between ranks. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#include "geometry/line_layout.h"

/* An all-to-all from one layout to another, and back. Side 0 is `from`, side 1 is `to`. */
struct pf_line_move {
    int ranks, rank;
    int64_t lines;
    size_t bytes; /* of an element */
    struct pf_line_side {
        int64_t points, listed;
        int64_t *at;                        /* points of a line, in the order of the messages; `listed` of them */
        int64_t *each;                      /* number in the message of each rank */
        int *count, *start;                 /* the same for all lines, as MPI counts them */
    } side[2];
};

/* Local. Release the move in any case. */
int pf_line_move_make(const struct pf_line_layout *from, const struct pf_line_layout *to, int rank, int64_t lines,
                      size_t bytes, struct pf_line_move *move);
void pf_line_move_release(struct pf_line_move *move);
void pf_line_move_pack(const struct pf_line_move *move, int backward, const void *from, void *messages);
int pf_line_move_exchange(const struct pf_line_move *move, int backward, MPI_Comm comm, const void *sent, void *received);
/* Points that no rank sends become 0. */
void pf_line_move_unpack(const struct pf_line_move *move, int backward, const void *messages, void *to);

/* Each rank of a group sends its whole block to all other ranks of the group. */
struct pf_line_meet {
    int peers, own;          /* without this rank; its place in the group */
    int *peer;               /* in ascending order of their place */
    int64_t mine, *elements, *start; /* elements sent; elements received from each, and their starts */
    MPI_Request *requests;
};

/* Local. `of` has the members, with this rank at `own`, and `elements` the elements that each holds; received blocks are
 * consecutive. */
int pf_line_meet_make(int members, const int *of, int own, const int64_t *elements, struct pf_line_meet *meet);
void pf_line_meet_release(struct pf_line_meet *meet);
int pf_line_meet_exchange(const struct pf_line_meet *meet, MPI_Comm comm, size_t bytes, const void *sent, void *received);
/* Each rank gets as many elements as it holds from every other rank. The blocks in `sent` lie like the received blocks of a
 * meet; the received blocks lie one behind the other. */
int pf_line_meet_scatter(const struct pf_line_meet *meet, MPI_Comm comm, size_t bytes, const void *sent, void *received);
