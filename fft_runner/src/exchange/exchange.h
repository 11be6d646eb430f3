/* What an exchange algorithm is: a file exchange_<name>.c, which defines pf_exchange_<name>, and a line in exchange_table.c.
 * Algorithms that differ by a radix are rows of one file: exchange_bruck.c.
 *
 * An exchange moves data and knows nothing of FFTs, the type of transform or its precision: it sees boxes, the bytes of an
 * element, and the number of fields that follow each other. There are two kinds:
 *
 * PF_MESSAGES  `plan` is given the number of elements of every message and where it begins, in the buffer that is sent
 *              from and in the one received into. Whoever runs the exchange has packed them (a transform does so while
 *              its lines are in the caches) and unpacks them. As given, messages lie densely, in the order of the members.
 *              `plan` may move them: change start[] and total (padding). The two lists live as long as
 *              the state; an exchange with `memory` moves them, when it connects, to where they lie in there.
 *              The part that a rank keeps is message `me`: it is already where it belongs in `to` and is not to be
 *              touched, unless it says moves_self; then it lies among the messages of `from` like any other.
 *              The contents of a message do not concern the exchange: it is the common part of from[i] and to[j], one field
 *              after the other, dense.
 * PF_BOXES     `from` and `to` are the whole boxes with their strides; the exchange finds the parts itself (MPI data types,
 *              other planners) and moves all of them, including its own.
 *
 * Running: whoever runs an exchange goes through these steps, in this order; all but start are optional:
 *     begin      before anything is written to where the messages will be
 *     start      when everything that is sent is there
 *     progress   any number of times between start and finish
 *     finish     before anything that was received is used, or anything that was sent is overwritten
 *     end        when all of it has been used
 * An exchange may do all in start, which then returns when everything has arrived. Where transpose->beside is set, it runs
 * beside passes and other exchanges: start returns at once, finish waits, and progress lets MPI work with one call of
 * MPI_Testany that does not wait. It is never called in a loop: a simulator charges time for it, or stops the clock at it.
 * Exchanges of one group that are in flight together have different lanes. All ranks of a group start, progress and finish
 * them in the same order.
 *
 * Buffers: start may overwrite `from` only with PF_BOXES and without `beside`. Both are aligned to 64 bytes. In PF_MESSAGES
 * they hold sent->total and received->total elements. With `memory` both are that. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "common/names.h"
#include "pencilfft.h"

/* Where the members of a group are in a torus: partner_order.h. */
struct pf_places;

/* One transpose in one direction: member j of the group holds from[j] before and to[j] after.
 * The boxes of `from` together are those of `to`; what passes from i to j is from[i] and to[j]'s common part.
 * Strides count elements. Field f of a box lies f times the elements of the box behind field 0. */
struct pf_transpose {
    MPI_Comm group;
    int p, me;
    const pencilfft_box *from, *to;
    size_t element_bytes; /* 4, 8 or 16 */
    int fields;
    int threads; /* that copies may be shared by */
    bool beside; /* runs beside passes or other exchanges; only for an exchange that offers it */
    bool sparse; /* most messages are empty: collectives over all members give way to single messages */
    int lane; /* tag of its messages: different for exchanges of one group that may be in flight together */
    const struct pf_places *places; /* of the members; NULL where they are not known */
    void *other_direction; /* state of the same exchange in the other direction, if that was planned before; else NULL */
};

/* The messages of one side. Number j is that with member j; everything is counted in elements. */
struct pf_messages {
    int p;
    int64_t *elements, *start;
    int64_t total; /* size of the buffer */
};

enum pf_takes { PF_MESSAGES, PF_BOXES };

struct pf_exchange {
    const char *name;
    /* Local, no communication. *state is NULL when it fails. With PF_BOXES the two lists are NULL. NULL: "auto". */
    int (*plan)(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received, void **state);
    /* Collective over the group, like the other steps of a run. */
    int (*start)(void *state, void *from, void *to);
    /* Collective over the group when connect has run, and local before. The two directions come in any order. */
    void (*destroy)(void *state);
    enum pf_takes takes;
    bool moves_self;
    bool beside; /* can run beside passes and other exchanges */
    int least_group; /* "auto" does not try it in groups of fewer ranks, where another one of the table is the same */
    bool transposes_alone; /* for boxes of a transpose alone, where messages are about equal */
    int (*begin)(void *state, void *to);
    int (*progress)(void *state); /* never waits; any rank may call it as often as it likes */
    int (*finish)(void *state);
    int (*end)(void *state);
    /* Optional. Collective over the group, after all ranks have planned: communicators, shared memory, other planners. With
     * PF_MESSAGES every run of this state uses these two buffers. Fails on the whole group or not at all, except for
     * failures of MPI. */
    int (*connect)(void *state, void *from, void *to);
    /* Optional. Bytes and messages that this rank sends to each member; by default, its messages as planned. */
    void (*traffic)(const void *state, int64_t *bytes, int64_t *messages);
    /* Optional, for PF_MESSAGES. Once connected, what is sent and received lies here and not in the plan's buffers; NULL in
     * a group of one. */
    void *(*memory)(const void *state);
    /* Optional. Makes FFTW know the algorithms of its own that this exchange uses, before its wisdom is read or written. */
    void (*prepare)(void);
    const char *means; /* optional: the MPI calls it uses, where that depends on the MPI */
};

enum { PF_MOST_EXCHANGES = 16 };
extern const struct pf_table pf_exchanges; /* of pointers */

/* MPI's type of an element of that many bytes; nothing is computed with it. */
MPI_Datatype pf_element_type(size_t bytes);
