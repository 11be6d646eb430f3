/* The processes of the run: their seats, their bindings, and the communicator in which each has its grid rank. */
#pragma once

#include "common/seating.h"

/* The machine as hwloc sees it from a process. */
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

/* One process. Plain data: it travels as bytes. */
struct process {
    struct seat seat;
    struct topology topology;
};

struct processes {
    struct seating seating;
    struct process *table; /* in order of grid rank; on grid rank 0 only */
};

/* Seat the processes, at the places of a mapfile or (NULL) as launched, and gather the table. Collective; fails on all or
 * none. */
int processes_seat(const struct seats_request *request, const char *mapfile, struct processes *processes);
void processes_release(struct processes *processes);
