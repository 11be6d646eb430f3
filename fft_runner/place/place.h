/* The placement of this process, and the functions of the MPI library behind the wrappers. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <stdbool.h>
#pragma GCC visibility push(default) /* the functions of MPI are all that the library shows */
#include <mpi.h>
#if defined OPEN_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* MPIX_Alltoall_init and its like */
#endif
#pragma GCC visibility pop

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs may call MPI_Attr_get */

struct place {
    MPI_Comm world;      /* in place of MPI_COMM_WORLD; MPI_COMM_WORLD itself if nothing is changed */
    bool for_topologies; /* only communicators with a topology and reorder get the placement */
    int ranks;
    int launched;       /* rank of this process in the real MPI_COMM_WORLD */
    const int *rank_of; /* by rank in the real MPI_COMM_WORLD; NULL if nothing is changed */
};

extern struct place place;

/* Print a line "pencilmap place: ..." on standard error. */
void place_say(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* On rank 0 of the communicator, print a line and end all processes; the others wait for the end. */
_Noreturn void place_refuse(MPI_Comm comm, const char *text);

/* The next function of that name, or an end in words if there is none. */
void *place_next(const char *name);

#define SHOWN __attribute__((visibility("default")))

#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (!next)                     \
    *(void **)&next = place_next(#name)

#define PLACED(comm) ((comm) == MPI_COMM_WORLD ? place.world : (comm))
