#ifndef RUNNER_MAPFILE_H
#define RUNNER_MAPFILE_H

#include <stdint.h>

#include "torus.h"

struct mapfile {
    const char *path;
    int ranks;
    int64_t *place; /* of each grid rank */
    int *line;      /* of each grid rank, for messages */
};

/* Read a mapfile for that many ranks. On failure there is nothing to release. */
int mapfile_read(const char *path, int ranks, const struct torus *torus, int tasks_per_node, struct mapfile *mapfile);
void mapfile_release(struct mapfile *mapfile);

#endif
