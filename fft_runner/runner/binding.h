#ifndef RUNNER_BINDING_H
#define RUNNER_BINDING_H

#include <stddef.h>

/* The processors this process may run on, as a list like 0-1,4; empty when hwloc cannot tell. */
void binding_text(char *text, size_t size);
void binding_hwloc_version(char *text, size_t size);

#endif
