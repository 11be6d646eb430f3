/* The machine as hwloc sees it from a process. */
#pragma once

enum { SET_SIZE = 128, PROCESSOR_SIZE = 128, BINDING_SIZE = 256 };

/* Plain data: it travels as bytes. Counts are 0 if unknown. */
struct topology {
    int sockets, cores, processors, numa_nodes; /* of the host; processors are hardware threads */
    long long memory_bytes;
    char processor[PROCESSOR_SIZE];
    char binding[BINDING_SIZE]; /* processors this process may run on, 0-1,4; empty if unknown */
    int bound_to;               /* number of these processors */
    char bound_sockets[SET_SIZE], bound_cores[SET_SIZE], bound_numa_nodes[SET_SIZE]; /* in hwloc's numbers, 0-1,4 */
};

void topology_describe(struct topology *topology);
const char *topology_hwloc_version(void);
