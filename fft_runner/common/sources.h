/* The location of each process, and a table of its sources. Works on a table of all processes; no MPI. */
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

enum { HOST_SIZE = 256 };

/* Clues to the location of a process, and the result. Plain data: a seat travels as bytes. */
struct seat {
    int launched;          /* rank before */
    char host[HOST_SIZE];  /* MPI's processor name */
    char named[HOST_SIZE]; /* PENCILMAP_HOST; empty if unset */
    bool located;
    struct coordinate node;
    int slot;
    int64_t place; /* -1 if not located */
    int rank;      /* in the grid */
};

struct seats_request {
    bool has_torus;
    struct torus torus;
    int tasks_per_node; /* 0: as few as hold all */
    const char *where;  /* SOURCE or SOURCE:ARGUMENT of the table; NULL: auto */
    const char *order;  /* launch order of `assumed` without an argument; NULL: USUAL_ORDER */
    bool may_assume;    /* auto ends with `assumed` rather than with a failure */
};

/* Whether `where` names a source. A status. */
int source_check(const char *where);
/* The i-th source, NULL after the last; its text in output; its number. */
const char *source_name(int i);
const char *source_usage(int i);

/* Node, slot and place of each process, in order of launch. *source is the number of the source, -1 without a torus;
 * *tasks_per_node is the result. A status. */
int seats_locate(const struct seats_request *request, struct seat *seats, int n, int *source, int *tasks_per_node);
/* The launch order by which that source located the processes; NULL unless the source is `assumed`. */
const char *seats_order(const struct seats_request *request, int source);
/* The rank of each process by a placing; without a placing its rank as launched. A status. */
int seats_rank(const struct torus *torus, int tasks_per_node, const struct placing *placing, struct seat *seats, int n);

/* Coordinates in a host name. False if the name has none of that form. */
bool coordinate_from_hostname(const char *host, int dims, struct coordinate *node, int *slot);
bool coordinate_from_blue_gene(const char *host, int dims, struct coordinate *node, int *slot);

/* A file of lines "NAME x y z": the coordinates of hosts. # starts a comment line; other text behind is not read. */
struct host_line {
    const char *name, *rest;
};

struct host_table {
    const char *path;
    char *text;
    int n;
    struct host_line *lines; /* by name */
};

int host_table_read(const char *path, struct host_table *table);
/* Coordinates of a host, by its name with or without its domain. A status. */
int host_table_find(const struct host_table *table, const char *host, int dims, struct coordinate *node);
void host_table_release(struct host_table *table);
