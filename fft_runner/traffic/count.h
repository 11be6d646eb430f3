/* Counting messages: at once, or into a list that a persistent request replays at each start. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "members.h"
#include "state.h"

struct counted {
    uint64_t key, bytes, messages;
};

struct list {
    struct counted *at;
    size_t used, places;
};

/* Messages of this rank to a member of a communicator. No message: to itself, or to no rank (MPI_PROC_NULL). */
void count(const struct members *m, enum kind kind, int member, uint64_t bytes, uint64_t messages);

/* What this thread counts until `record_end` goes into the list. */
void record_begin(struct list *list);
void record_end(void);

void request_keep(MPI_Request request, struct list list);
void request_start(MPI_Request request);
void request_forget(MPI_Request request);

uint64_t size_of(MPI_Datatype type);
