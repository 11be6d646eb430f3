/* The machine as hwloc sees it from one process. */
#ifndef RUNNER_TOPOLOGY_H
#define RUNNER_TOPOLOGY_H

enum { SET_SIZE = 128, PROCESSOR_SIZE = 128 };

/* Plain data: it travels as bytes. Counts are 0 when not known. */
struct topology {
    int sockets, cores, processors, numa_nodes; /* of the host; processors are hardware threads */
    long long memory_bytes;
    char processor[PROCESSOR_SIZE];
    int bound_to; /* processors this process may run on */
    char bound_sockets[SET_SIZE], bound_cores[SET_SIZE], bound_numa_nodes[SET_SIZE]; /* as hwloc numbers them, 0-1,4 */
};

void topology_describe(struct topology *topology);

#endif
