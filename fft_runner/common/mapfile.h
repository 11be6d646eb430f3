#pragma once

#include <stdint.h>

#include "common/torus.h"

/* The place of every rank: node * tasks_per_node + slot. */
struct placing {
    const char *name; /* of the mapfile or placement, for messages */
    int ranks;
    int64_t *place;
    int *line; /* of the mapfile; NULL without a mapfile */
};

/* Read the mapfile of that name (a text) for that many ranks. On failure there is nothing to release. */
int mapfile_read(const void *path, const struct torus *torus, int tasks_per_node, int ranks, struct placing *placing);
void placing_release(struct placing *placing);
