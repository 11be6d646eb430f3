/* Checks of a plan: forward and backward, in place and out of place, by the runner's verification (moved data exactly, a
 * serial FFTW, direct sums), and its traffic; or that it is refused as documented. Ranks are numbered backwards, so that a
 * mix-up of the two numberings shows. python_random_plans.py checks pairs, transforms in flight and norms. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "pencilfft.h"
#include "speed/tuning.h"

/* After so many failures, expect the rest to fail, too. */
enum { CASE_NAME_SIZE = 640, MOST_FAILURES = 20 };

struct plan_case {
    pencilfft_desc desc;
    int pieces; /* number of plan_pieces */
    char name[CASE_NAME_SIZE]; /* words that give all members */
};

struct plan_check {
    char **words; /* NULL after the last; words that name a variant select the variants to run */
    const char *absent; /* an exchange that this MPI does not have, or NULL */
    bool list; /* print each before its run, should one crash */
    MPI_Comm grid;
    int rank, ranks; /* of the communicator */
    int plans, transforms, refused; /* so far */
};

/* Sizes of pieces, by which small arrays are cut like large arrays: "usual", and so on; NULL after the last. */
extern const char *const plan_pieces[];
struct pf_tuning plan_tuning(int pieces, struct pf_tuning usual);

/* "forward", "in-place", .. */
bool plan_check_names_a_variant(const char *word);

/* MPI runs; words, absent and list are set. */
void plan_check_begin(struct plan_check *check);
/* Failures are printed and counted in check_failures. Collective. */
void plan_check_run(struct plan_check *check, const struct plan_case *plan);
/* Prints the counts; 0 if there was a plan and no failure. */
int plan_check_end(struct plan_check *check);
