/* What an exchange algorithm is: one file exchange_<name>.c and one line in exchange_table.c.
 *
 * An exchange moves data and knows nothing of FFTs, of the kind of transform or of its precision: it sees boxes, the
 * bytes of an element, and how many fields lie behind each other. It comes in two kinds:
 *
 * PF_MESSAGES  `plan` is given the number of elements of every message and where it begins, in the buffer that is sent
 *              from and in the one received into; `run` moves the messages. Who calls has packed them (a transform does
 *              so while its lines are in the caches) and unpacks them. As given, messages lie densely, in the order
 *              slice, member. `plan` may move them: change start[] and total (padding). The two lists live as long as
 *              the state; an exchange with `memory` moves them, when it connects, to where they lie in there.
 *              The part that a rank keeps is message `me`: it is already where it belongs in `to` and is not to be
 *              touched, unless the row says moves_self; then it lies among the messages of `from` like any other.
 *              What is inside a message is not the exchange's business: the part that from[i] and to[j] have in
 *              common, one field after the other, densely.
 * PF_BOXES     `from` and `to` are the whole boxes with their strides; the exchange finds the parts itself (data types
 *              of MPI, planners of others) and moves all of them, its own included.
 *
 * Slices: a row with `slices` cuts each message into that many, along transpose->slice_axis, evenly by pf_block_of();
 * slice k of a message with member j is message k * p + j. If the row `overlaps`, run calls
 *     pf_produce(run, k)   for k = 0 .. slices - 1 in this order: makes slice k of what is sent (FFTs and packing),
 *     pf_consume(run, k)   likewise: uses slice k of what was received (unpacking and FFTs),
 * each exactly once, all slices being made before the first is used, and may do other things between. Where the
 * transformed axis is the sliced one, all the work is done by the first produce or the last consume. Time in these two
 * is booked to their own phases. When a row does not overlap, all is made before run and used after it.
 *
 * Buffers: `from` may be overwritten by run only with PF_BOXES. Both are aligned to 64 bytes. In PF_MESSAGES they hold
 * sent->total and received->total elements, and while an exchange that overlaps runs, they change where messages are.
 * With `memory` both are that. */
#ifndef PF_EXCHANGE_H
#define PF_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>

#include "common/names.h"
#include "pencilfft.h"

/* One transpose, one way: member j of the group (a row or a column) holds from[j] before and to[j] after.
 * The boxes of `from` together are those of `to`; what passes from i to j is from[i] and to[j]'s common part.
 * Strides count elements. Field f of a box lies f times the elements of the box behind field 0. */
struct pf_transpose {
    MPI_Comm group;
    int p, me;
    const pencilfft_box *from, *to;
    size_t element_bytes; /* 4, 8 or 16 */
    int fields;
    int slice_axis;
    void *other_way; /* state of the same exchange the other way, when that was planned before; else NULL */
};

/* The messages of one side. Number k * p + j is slice k with member j; all is counted in elements. */
struct pf_messages {
    int p, slices;
    int64_t *elements, *start;
    int64_t total; /* the buffer holds this many */
};

/* What a run may need besides its buffers. */
struct pf_run {
    MPI_Comm all; /* the plan's whole communicator */
    void (*produce)(void *local, int slice);
    void (*consume)(void *local, int slice);
    void *local;
};

static inline void pf_produce(const struct pf_run *run, int slice)
{
    run->produce(run->local, slice);
}

static inline void pf_consume(const struct pf_run *run, int slice)
{
    run->consume(run->local, slice);
}

enum pf_takes { PF_MESSAGES, PF_BOXES };

struct pf_exchange {
    const char *name;
    /* Local, no communication. *state is NULL when it fails and may need nothing from destroy. With PF_BOXES the two
     * lists are NULL. */
    int (*plan)(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received, void **state);
    /* Collective over the group. */
    int (*run)(void *state, const struct pf_run *run, void *from, void *to);
    /* Collective over the group when connect has run, and local before. The two ways come in any order. */
    void (*destroy)(void *state);
    enum pf_takes takes;
    bool moves_self;
    bool overlaps;
    int (*slices)(const struct pf_transpose *transpose); /* optional, without it 1. The same on all of the group */
    /* Optional. Collective over the group, when all ranks have planned: communicators, shared memory, planners of
     * others. With PF_MESSAGES the two buffers are those of every run of this state. Fails on all of the group or on
     * none, but for failures of MPI. */
    int (*connect)(void *state, void *from, void *to);
    /* Optional. Bytes and messages this rank sends to each member; without it, its messages as planned. */
    void (*traffic)(const void *state, int64_t *bytes, int64_t *messages);
    /* Optional, for PF_MESSAGES. What is sent and received lies here, once it is connected, and in no buffer of the
     * plan's; NULL in a group of one. */
    void *(*memory)(const void *state);
    /* Optional, with `memory`. Waits until all have read what the last run left there; who calls does so before he writes
     * there ahead of run. */
    int (*wait_to_write)(void *state);
    const char *means; /* optional: by which calls, where that depends on the MPI */
};

extern const struct pf_table pf_exchanges; /* of pointers */

/* MPI's type of an element of that many bytes; nothing is computed with it. */
MPI_Datatype pf_element_type(size_t bytes);

#endif
