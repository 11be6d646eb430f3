/* Which process sits where, and which grid rank it becomes. Knows no MPI: works on a table of all processes. */
#ifndef RUNNER_PLACEMENT_H
#define RUNNER_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/names.h"
#include "mapfile.h"
#include "topology.h"
#include "torus.h"

enum { HOST_SIZE = 256, BINDING_SIZE = 256 };

/* One process. Plain data: it travels as bytes. */
struct process {
    int world_rank;
    char host[HOST_SIZE];
    char binding[BINDING_SIZE]; /* empty: not known */
    struct topology topology;
    bool located;
    struct coordinate node;
    int slot;
    int64_t place; /* -1 when not located */
    int grid_rank;
};

struct placement_request {
    bool has_torus;
    struct torus torus;
    int tasks_per_node;       /* 0: not given */
    const char *coordinates;  /* how to know a process's coordinate, a name of coordinate_sources */
    const char *launch_order; /* for the source "assumed" */
    const char *mapfile;      /* NULL: grid ranks as launched */
};

/* Names a coordinate can come from: auto, hostname, blue-gene, assumed. */
extern const struct pf_table coordinate_sources;

/* Coordinate, slot, place and grid rank of each process, in order of world rank. *source names where the coordinates
 * come from ("none" without a torus); *tasks_per_node is what holds. */
int placement_resolve(const struct placement_request *request, struct process *processes, int n, const char **source,
                      int *tasks_per_node, struct mapfile *mapfile);

/* Coordinates in a host name. False when it has none of that form. */
bool coordinate_from_hostname(const char *host, int dims, struct coordinate *node, int *slot);
bool coordinate_from_blue_gene(const char *host, int dims, struct coordinate *node, int *slot);

#endif
