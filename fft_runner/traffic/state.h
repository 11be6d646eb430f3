/* The tracer of this rank: whether it counts, and what all its files share. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* FETCHED is one-sided data from the partner to this rank; the file has it as ONE_SIDED, the other way round. */
enum kind { POINT, ONE_SIDED, STATED, MODELLED, FETCHED };

struct state {
    bool active;   /* between MPI_Init and MPI_Finalize */
    bool counting; /* MPI_Pcontrol(0) stops it */
    bool failed;   /* no memory: nothing is written */
    int ranks, rank;
    MPI_Group world;
    uint64_t outside_bytes, outside_messages; /* to processes that are not in this MPI_COMM_WORLD */
    struct timespec begin, begin_processor;
    clockid_t processor;   /* clock of the thread that has called MPI_Init */
    double ranks_per_core; /* the most on a host; 0 if it is not known */
    int64_t run;           /* a number of this run, the same on all ranks */
    void (*late)(void); /* if given, ends the program by a signal that came while the lock was taken */
};

extern struct state traffic;

void traffic_lock(void);
bool traffic_try_lock(void);
void traffic_unlock(void);

/* Since MPI_Init: seconds of the clock, and of a processor. */
double traffic_seconds(void);
double traffic_processor_seconds(void);
void traffic_say(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Mix the bits of a number, so that sums of mixed numbers tell sets apart. */
static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
