/* The machine as hwloc sees it from one process. */
#pragma once

enum { SET_SIZE = 128, PROCESSOR_SIZE = 128, BINDING_SIZE = 256 };

/* Plain data: it travels as bytes. Counts are 0 when not known. */
struct topology {
    int sockets, cores, processors, numa_nodes; /* of the host; processors are hardware threads */
    long long memory_bytes;
    char processor[PROCESSOR_SIZE];
    char binding[BINDING_SIZE]; /* processors this process may run on, 0-1,4; empty: not known */
    int bound_to;               /* how many of them */
    char bound_sockets[SET_SIZE], bound_cores[SET_SIZE], bound_numa_nodes[SET_SIZE]; /* as hwloc numbers them, 0-1,4 */
};

void topology_describe(struct topology *topology);
const char *topology_hwloc_version(void);
