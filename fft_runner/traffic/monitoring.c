/* Idea:  a variable of Open MPI says whether it counts now. The variables of MPI_T that say so are not valid in version 4.1,
 *        whose component is opened twice.
 * Source: comments of ompi/mca/common/monitoring/common_monitoring.c in Open MPI 4.1 and 5.0. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for RTLD_DEFAULT */
#endif
#include "state.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static const char name[] = "mca_common_monitoring_current_state";

static int *find_state(void)
{
    int *state = dlsym(RTLD_DEFAULT, name);
    const struct link_map *library = state ? NULL : _r_debug.r_map;
    while (library && !strstr(library->l_name, "libmca_common_monitoring"))
        library = library->l_next;
    void *handle = library ? dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return handle ? dlsym(handle, name) : state;
}

void monitoring_counts(bool counts)
{
    static int *state, before;
    if (!state)
        state = find_state();
    if (!state)
        return;
    if (!counts)
        before = *state;
    *state = counts ? before : 0;
}
