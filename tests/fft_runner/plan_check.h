/* Checks of one plan, for the matrix and for plans at random: forward and backward, in place and out of place, by the runner's
 * verification (moved data exactly, a serial FFTW, direct sums), then both directions at once; or that it is refused as
 * documented. Ranks are numbered backwards, so that nobody takes one numbering for another. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "pencilfft.h"

/* When so many have failed, the rest will, too. */
enum { CASE_NAME_SIZE = 640, MOST_FAILURES = 20 };

struct plan_case {
    pencilfft_desc desc;
    bool tiny_pieces; /* small arrays are cut like large ones: tuning.h */
    char name[CASE_NAME_SIZE]; /* words that say all of it */
};

struct plan_check {
    char **words; /* NULL after the last; those that name a variant choose the variants that are run */
    const char *absent; /* an exchange that this MPI does not have, or NULL */
    bool list; /* tell each before it is run, should one crash */
    MPI_Comm grid;
    int rank, ranks; /* in it */
    int plans, transforms, refused; /* so far */
};

/* "forward", "in-place", .. */
bool plan_check_names_a_variant(const char *word);

/* MPI runs; words, absent and list are set. */
void plan_check_begin(struct plan_check *check);
/* Failures are printed and counted in check_failures. Collective. */
void plan_check_run(struct plan_check *check, const struct plan_case *plan);
/* Prints the counts; 0 if there was a plan and all was right. */
int plan_check_end(struct plan_check *check);
