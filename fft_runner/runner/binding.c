/* Where the operating system lets this process run, by hwloc.
 * Only the processors matter here, so everything else is filtered out of the topology: a simulated run loads it once
 * for each of its ranks. */
#include "binding.h"

#include <hwloc.h>
#include <stdio.h>

static int load(hwloc_topology_t topology)
{
    return hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_load(topology) == 0;
}

void binding_text(char *text, size_t size)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    text[0] = '\0';
    if (set && hwloc_topology_init(&topology) == 0) {
        if (load(topology) && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0)
            hwloc_bitmap_list_snprintf(text, size, set);
        hwloc_topology_destroy(topology);
    }
    hwloc_bitmap_free(set);
}

void binding_hwloc_version(char *text, size_t size)
{
    snprintf(text, size, "%s", HWLOC_VERSION); /* as compiled; the library itself tells only its interface's version */
}
