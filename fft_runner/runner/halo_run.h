/* The halo of an array, timed by itself. */
#pragma once

#include <stdint.h>

#include "measure.h"
#include "options.h"

struct halo_run {
    int width;                 /* planes on every side; 0: no halo requested */
    bool verified;             /* every element was exact */
    struct samples samples;    /* of a phase */
    int64_t *bytes, *messages; /* that each rank sends, on rank 0 of the grid */
};

/* Times halo exchanges of the input of a forward transform. Collective, fails on all or none; always release the results. */
int halo_run(const struct problem *problem, const struct options *options, struct halo_run *halo);
void halo_run_release(struct halo_run *halo);
