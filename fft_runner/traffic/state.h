/* The tracer of this rank: whether it counts, and what all its files share. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
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
    clockid_t computing;   /* the same if ranks share cores, else the usual one, which is read without the kernel */
    double ranks_per_core; /* the most on a host; 0 if it is not known */
    int64_t run;           /* a number of this run, the same on all ranks */
    void (*late)(void); /* if given, ends the program by a signal that came while the lock was taken */
};

extern struct state traffic;

void traffic_lock(void);
bool traffic_try_lock(void);
void traffic_unlock(void);

/* Since MPI_Init: seconds of the clock, of a processor, and of the clock for computing. */
double traffic_seconds(void);
double traffic_processor_seconds(void);
double traffic_computing_seconds(void);
void traffic_say(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Mix the bits of a number, so that sums of mixed numbers tell sets apart. */
static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Collective over MPI_COMM_WORLD: the most ranks for each logical processor that they may use on a host; 0 if it is not
 * known. */
double cores_shared_by(int rank, int ranks);

/* What is left of a program that does not come to MPI_Finalize: a time limit, MPI_Abort, or an end of a rank. */

/* Catch the signals with which launchers and schedulers end a program, unless the program has a use for them. */
void cut_begin(void);

/* Write the counts of this rank, at most once; the caller has the lock. */
void cut_write(void);

/* Open MPI's own counts of messages, which leave out the messages of the tracer. */

/* Let Open MPI count or not, if it counts at all. */
void monitoring_counts(bool counts);

/* Collective: replace each number by its sum over all ranks. */
static inline bool sums_of_all(uint64_t *numbers, size_t count, MPI_Comm comm)
{
    return PMPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_UINT64_T, MPI_SUM, comm) == MPI_SUCCESS;
}

/* The file of a trace. */

/* Collective over MPI_COMM_WORLD: rank 0 writes the traffic of all ranks to the file that PENCILMAP_TRAFFIC names, whole or
 * not at all. A failure is said on standard error, and the program goes on. */
void traffic_write(void);

/* The name of that file. */
const char *traffic_file(void);
