/* What makes times mean little, in words. */
#ifndef RUNNER_WARNINGS_H
#define RUNNER_WARNINGS_H

#include "processes.h"

enum { MAX_WARNINGS = 4, WARNING_SIZE = 512 };

struct warnings {
    int n;
    char text[MAX_WARNINGS][WARNING_SIZE];
};

/* From the table of all processes; one warning of each kind at most, naming the first case and how many there are. Fails
 * when memory does. */
int warnings_find(const struct process *processes, int n, struct warnings *warnings);

#endif
