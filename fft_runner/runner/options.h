#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/grid.h"
#include "common/sources.h"
#include "pencilfft.h"

enum { MAX_LABELS = 64, MAX_MATRICES = 16 };

struct options {
    pencilfft_desc fft;
    struct grid grid;
    pencilfft_direction direction;
    bool pair; /* a backward transform of other arrays runs beside the forward transform */
    bool has_direction, in_place;
    int reps, warmup;
    double time_limit_s; /* 0: none */
    int halo; /* planes; 0: no halo is timed */
    bool verify;
    bool per_rank;
    bool print_plan;
    const char *wisdom;      /* NULL: none */
    const char *byte_matrices[MAX_MATRICES]; /* [row=|column=]file */
    int n_matrices;
    const char *json; /* NULL: no record */
    const char *algorithm, *order; /* of decomposition line, and of bricks on which lines run; NULL: not given */
    int bricks[3]; /* along x, y and z, if lines run on bricks */
    const char *torus_text;
    struct seats_request seats;
    const char *mapfile; /* NULL: grid ranks as launched */
    const char *boxes[2]; /* files of input and output boxes; NULL: boxes of the decomposition */
    const char *labels[MAX_LABELS]; /* key=value */
    int n_labels;
    bool help, version;
};

/* A status; the options hold pointers into argv. */
int options_parse(int argc, char **argv, struct options *options);
void options_print_help(void);
/* Distributed lines: a single kind of line, or the lines of bricks. */
bool runs_lines(const struct options *options);
bool is_one_line(const struct options *options);
const char *direction_name(const struct options *options);

/* Boxes of all ranks, from a file. */

/* Line i has the box of grid rank i: x y z of its first element, then the extents; blank lines and text after a # do not
 * count. Rank 0 reads the file. Collective; fails on all ranks or on none, with the option's name in the message. */
int boxes_read(const char *path, const char *option, MPI_Comm grid, pencilfft_box *mine);
