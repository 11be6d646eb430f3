/* Warnings about conditions that make times meaningless. */
#pragma once

#include "processes.h"

enum { MAX_WARNINGS = 4, WARNING_SIZE = 512 };

struct warnings {
    int n;
    char text[MAX_WARNINGS][WARNING_SIZE];
};

/* From the table of all processes; at most a warning of each kind, with the first case and the number of cases. Fails only
 * without memory. */
int warnings_find(const struct process *processes, int n, struct warnings *warnings);
