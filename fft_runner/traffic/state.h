/* The tracer of this rank: whether it counts, and what all its files share. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* FETCHED is one-sided data from the partner to this rank; the file has it as ONE_SIDED, the other way round. */
enum kind { POINT, ONE_SIDED, STATED, MODELLED, FETCHED };

struct state {
    bool active;   /* between MPI_Init and MPI_Finalize */
    bool counting; /* MPI_Pcontrol(0) stops it */
    bool threaded; /* MPI_THREAD_MULTIPLE */
    bool failed;   /* no memory: nothing is written */
    int ranks, rank;
    MPI_Group world;
    uint64_t outside_bytes, outside_messages; /* to processes that are not in this MPI_COMM_WORLD */
    double begin_s;
};

extern struct state traffic;

void traffic_lock(void);
void traffic_unlock(void);
void traffic_say(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Mix the bits of a number, so that sums of mixed numbers tell sets apart. */
static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
