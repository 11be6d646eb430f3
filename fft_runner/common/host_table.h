/* A file of lines "NAME x y z": the coordinates of hosts. # starts a comment line; other text behind is not read. */
#pragma once

#include "common/torus.h"

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
